//! A transport over lines, with one writer. Every request gets an answer, and a line that is not a valid message gets an
//! error.
//!
//! Only requests are passed on to the library rmcp. rmcp would stop at a notification before the start of a session, and
//! would answer only one of two requests with the same id. The transport ignores all notifications except the cancellation
//! of a request: it then does not send the answer, but the work is completed.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};

use super::lines::InputLine;
use super::message::{RefusedMessage, read};

/// Maximum number of unanswered lines. At this number, no more lines are read until an answer was sent.
const MOST: u32 = 1_024;

/// The limits of a server over lines.
#[derive(Clone, Copy, Debug)]
pub struct StdioLimits {
    /// Maximum length of a line, in bytes.
    pub line_bytes: usize,
    /// The time limit for work in progress after the end of the input.
    pub time: Duration,
}

/// A line to write. Its slot becomes free after the write.
pub(super) struct OutputLine {
    pub(super) line: Vec<u8>,
    _place: Option<OwnedSemaphorePermit>,
}

/// A request that is not answered yet.
struct PendingRequest {
    wanted: bool,
    place: OwnedSemaphorePermit,
}

/// The transport: receives lines from a reader thread and sends lines to a writer thread.
pub(super) struct StdioTransport {
    lines: mpsc::Receiver<InputLine>,
    answers: mpsc::UnboundedSender<OutputLine>,
    open: HashMap<RequestId, PendingRequest>,
    places: Arc<Semaphore>,
    bounds: StdioLimits,
    deadline: Option<Instant>,
}

impl StdioTransport {
    pub(super) fn new(
        lines: mpsc::Receiver<InputLine>,
        answers: mpsc::UnboundedSender<OutputLine>,
        bounds: StdioLimits,
    ) -> Self {
        let places = Arc::new(Semaphore::new(MOST as usize));
        Self { lines, answers, open: HashMap::new(), places, bounds, deadline: None }
    }

    /// Returns the request in this line. Any other line is answered or ignored here and returns nothing.
    fn request(
        &mut self,
        line: InputLine,
        place: OwnedSemaphorePermit,
    ) -> Option<JsonRpcRequest<rmcp::model::ClientRequest>> {
        let message = match line {
            InputLine::Whole(bytes) => read(&bytes),
            InputLine::TooLong(id) => Err(RefusedMessage::too_long(id, self.bounds.line_bytes)),
        };
        match message {
            Ok(JsonRpcMessage::Request(request)) if self.open.contains_key(&request.id) => {
                self.refuse(&RefusedMessage::twice(request.id), place);
            }
            Ok(JsonRpcMessage::Request(request)) => {
                self.open.insert(request.id.clone(), PendingRequest { wanted: true, place });
                return Some(request);
            }
            Ok(JsonRpcMessage::Notification(described)) => {
                if let ClientNotification::CancelledNotification(given_up) = described.notification
                    && let Some(open) = given_up.params.request_id.and_then(|id| self.open.get_mut(&id))
                {
                    open.wanted = false;
                }
            }
            // The server sends no requests, so it expects no responses from the client.
            Ok(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => {}
            Err(refused) => self.refuse(&refused, place),
        }
        None
    }

    fn refuse(&self, refused: &RefusedMessage, place: OwnedSemaphorePermit) {
        // The error can be ignored: if the writer has ended, `receive` ends too.
        let _ = self.write(refused.json(), Some(place));
    }

    fn answer(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        match id.and_then(|id| self.open.remove(id)) {
            Some(PendingRequest { wanted: false, .. }) => Ok(()),
            open => self.write(serde_json::to_vec(message)?, open.map(|open| open.place)),
        }
    }

    fn write(&self, mut line: Vec<u8>, place: Option<OwnedSemaphorePermit>) -> io::Result<()> {
        line.push(b'\n');
        let answer = OutputLine { line, _place: place };
        self.answers.send(answer).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Waits until all answers are written, or until the time limit.
    async fn end(&mut self) {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.bounds.time);
        let _ = timeout_at(deadline, self.places.acquire_many(MOST)).await;
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn name() -> std::borrow::Cow<'static, str> {
        "standard input and output".into()
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.answer(&message))
    }

    /// This method is cancel safe: there is no `await` between receiving a line and handling it.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            let line = tokio::select! {
                line = self.lines.recv() => line,
                () = self.answers.closed() => return None,
            };
            let Some(line) = line else {
                drop(place);
                self.end().await;
                return None;
            };
            if let Some(request) = self.request(line, place) {
                return Some(JsonRpcMessage::Request(request));
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerResult;
    use serde_json::{Value, json};

    use super::*;

    struct StreamEnds {
        lines: mpsc::Sender<InputLine>,
        answers: mpsc::UnboundedReceiver<OutputLine>,
    }

    fn pipe() -> (StdioTransport, StreamEnds) {
        let (lines, from_lines) = mpsc::channel(9);
        let (to_answers, answers) = mpsc::unbounded_channel();
        let bounds = StdioLimits { line_bytes: 99, time: Duration::from_millis(20) };
        (StdioTransport::new(from_lines, to_answers, bounds), StreamEnds { lines, answers })
    }

    impl StreamEnds {
        fn send(&self, message: &Value) {
            let line = InputLine::Whole(message.to_string().into_bytes());
            self.lines.try_send(line).expect("there is room");
        }

        fn answered(&mut self) -> Option<Value> {
            let answer = self.answers.try_recv().ok()?;
            assert_eq!(answer.line.last(), Some(&b'\n'));
            Some(serde_json::from_slice(&answer.line).expect("JSON"))
        }
    }

    fn ping(id: i64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
    }

    async fn passed_on(pipe: &mut StdioTransport) -> i64 {
        match pipe.receive().await {
            Some(JsonRpcMessage::Request(JsonRpcRequest { id: RequestId::Number(id), .. })) => id,
            other => panic!("{other:?}"),
        }
    }

    fn done(pipe: &mut StdioTransport, id: i64) {
        let message = ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id));
        pipe.answer(&message).expect("somebody writes");
    }

    #[tokio::test]
    async fn an_id_may_be_used_again_once_it_was_answered() {
        let (mut pipe, mut ends) = pipe();
        for id in [1, 1, 2] {
            ends.send(&ping(id));
        }
        assert_eq!((passed_on(&mut pipe).await, passed_on(&mut pipe).await), (1, 2));
        let refused = ends.answered().expect("the second is answered too");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
        done(&mut pipe, 1);
        assert_eq!(ends.answered().expect("answered")["id"], 1);
        ends.send(&ping(1));
        assert_eq!(passed_on(&mut pipe).await, 1);
    }

    #[tokio::test]
    async fn the_answer_to_what_was_given_up_is_not_sent() {
        let (mut pipe, mut ends) = pipe();
        let give_up =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        for message in [&give_up, &ping(1), &give_up, &ping(1), &ping(2)] {
            ends.send(message);
        }
        assert_eq!((passed_on(&mut pipe).await, passed_on(&mut pipe).await), (1, 2));
        assert_eq!(ends.answered().expect("its id is taken until it is done")["error"]["code"], -32600);
        done(&mut pipe, 1);
        assert_eq!(ends.answered(), None);
        done(&mut pipe, 2);
        assert_eq!(ends.answered().expect("answered")["id"], 2);
    }

    #[tokio::test]
    async fn the_end_waits_for_what_was_begun_but_not_for_ever() {
        let (mut pipe, mut ends) = pipe();
        ends.send(&ping(1));
        assert_eq!(passed_on(&mut pipe).await, 1);
        let StreamEnds { lines, answers } = ends;
        drop(lines);
        assert!(pipe.receive().await.is_none(), "it gives up after a time");
        done(&mut pipe, 1);
        ends = StreamEnds { lines: mpsc::channel(1).0, answers };
        assert_eq!(ends.answered().expect("answered")["id"], 1);
        pipe.deadline = Some(Instant::now() + Duration::from_secs(600));
        assert!(pipe.receive().await.is_none(), "nothing is left to wait for");
    }

    #[tokio::test]
    async fn it_ends_where_nobody_writes_any_more() {
        let (mut pipe, ends) = pipe();
        let StreamEnds { lines: _lines, answers } = ends;
        drop(answers);
        assert!(pipe.receive().await.is_none());
    }
}
