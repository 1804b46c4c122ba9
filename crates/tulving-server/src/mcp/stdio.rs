//! MCP on standard input and output, for a client that started this process.
//!
//! Input and output each have their own thread. So a read that never ends cannot delay the end of the process, and two
//! answers are never mixed in one line.

use std::io::{self, BufRead, Write};
use std::thread;

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::sync::{mpsc, oneshot};

use super::McpServer;
use super::lines::{InputLine, MessageLines};
use super::pipe::{OutputLine, StdioLimits, StdioTransport};

/// The reason why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum StdioServerError {
    /// The runtime could not start.
    #[error("the server could not start: {0}")]
    Start(#[from] io::Error),
    /// The first message of the client does not start a session.
    #[error("the client did not start a session: {0}")]
    Begin(String),
    /// The client disconnected before it received an answer.
    #[error("the client closed standard output before it got an answer")]
    Gone,
    /// Answers cannot be written.
    #[error("standard output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// Requests cannot be read.
    #[error("standard input cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The server failed.
    #[error("the server stopped: {0}")]
    Failed(String),
}

/// The result of a thread.
type ThreadResult = oneshot::Receiver<io::Result<()>>;

/// Serves until the client closes standard input, and then answers the requests in progress. No other code may write to
/// standard output during this time.
pub fn on_stdio(server: McpServer, bounds: StdioLimits) -> Result<(), StdioServerError> {
    between(server, || io::stdin().lock(), io::stdout(), bounds)
}

fn between<R: BufRead>(
    server: impl ServerHandler,
    input: impl FnOnce() -> R + Send + 'static,
    output: impl Write + Send + 'static,
    bounds: StdioLimits,
) -> Result<(), StdioServerError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (lines, mut reader) = reading(input, bounds.line_bytes)?;
    let (answers, writer) = writing(output)?;
    let ended = runtime.block_on(async {
        let served = serve(server, StdioTransport::new(lines, answers, bounds)).await;
        // The transport sends no more answers to the writer.
        match tokio::time::timeout(bounds.time, writer).await {
            Ok(Ok(Err(error))) if error.kind() == io::ErrorKind::BrokenPipe => Err(StdioServerError::Gone),
            Ok(Ok(Err(error))) => Err(StdioServerError::Output(error)),
            _ => served,
        }
    });
    // Work that has begun is completed even if no client waits for it.
    runtime.shutdown_timeout(bounds.time);
    match reader.try_recv() {
        Ok(Err(error)) => ended.and(Err(StdioServerError::Input(error))),
        _ => ended,
    }
}

async fn serve(server: impl ServerHandler, pipe: StdioTransport) -> Result<(), StdioServerError> {
    let running = match server.serve(pipe).await {
        Ok(running) => running,
        // The client disconnected before it began a session.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioServerError::Begin(error.to_string())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioServerError::Failed(error.to_string())),
        Ok(_) => Ok(()),
    }
}

fn reading<R: BufRead>(
    input: impl FnOnce() -> R + Send + 'static,
    limit: usize,
) -> io::Result<(mpsc::Receiver<InputLine>, ThreadResult)> {
    // The reader thread reads one line ahead.
    let (sender, lines) = mpsc::channel(1);
    let ended = begin("mcp-input", move || {
        for line in MessageLines::new(input(), limit) {
            if sender.blocking_send(line?).is_err() {
                break;
            }
        }
        Ok(())
    })?;
    Ok((lines, ended))
}

fn writing(
    mut output: impl Write + Send + 'static,
) -> io::Result<(mpsc::UnboundedSender<OutputLine>, ThreadResult)> {
    let (sender, mut answers) = mpsc::unbounded_channel::<OutputLine>();
    let ended = begin("mcp-output", move || {
        while let Some(answer) = answers.blocking_recv() {
            output.write_all(&answer.line)?;
            output.flush()?;
        }
        Ok(())
    })?;
    Ok((sender, ended))
}

fn begin(name: &str, work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<ThreadResult> {
    let (tell, ended) = oneshot::channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _ = tell.send(work());
    })?;
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const BOUNDS: StdioLimits = StdioLimits { line_bytes: 120, time: Duration::from_secs(30) };

    struct Nothing;

    impl ServerHandler for Nothing {}

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("whole").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A line, with the id and the code of its answer. The code 0 means success.
    type Told = (Vec<u8>, Option<(Value, i64)>);

    fn described(kind: usize, id: usize) -> Told {
        let long = "x".repeat(BOUNDS.line_bytes + 1);
        let (line, answer) = match kind {
            0 => (" \t".to_owned(), None),
            1 => (format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), Some((json!(id), 0))),
            2 => ("garbage".to_owned(), Some((Value::Null, -32700))),
            3 => return (b"{\"id\":\"\xff\"}".to_vec(), Some((Value::Null, -32700))),
            4 => ("[]".to_owned(), Some((Value::Null, -32600))),
            5 => (format!(r#"{{"jsonrpc":"1.0","id":{id}}}"#), Some((json!(id), -32600))),
            6 => (
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":[]}}"#),
                Some((json!(id), -32602)),
            ),
            7 => (format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/y"}}"#), Some((json!(id), -32601))),
            8 => (format!(r#"{{"id":{id},"params":"{long}"}}"#), Some((json!(id), -32600))),
            9 => (format!(r#"{{"params":"{long}","id":"{id}"}}"#), Some((json!(id.to_string()), -32600))),
            10 => (long, Some((Value::Null, -32600))),
            11 => (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_owned(), None),
            _ => (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#), None),
        };
        (line.into_bytes(), answer)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_line_that_wants_an_answer_has_one(
            kinds in prop::collection::vec(0usize..13, 0..30),
            at_once in 1usize..50,
            returns in any::<bool>(),
            ends in any::<bool>(),
        ) {
            let lines: Vec<Told> = kinds.iter().enumerate().map(|(id, kind)| described(*kind, id)).collect();
            let end: &[u8] = if returns { b"\r\n" } else { b"\n" };
            let mut input = lines.iter().map(|(line, _)| line.as_slice()).collect::<Vec<_>>().join(end);
            input.extend_from_slice(if ends { end } else { b"" });
            let written = Written::default();
            between(Nothing, move || BufReader::with_capacity(at_once, Cursor::new(input)), written.clone(), BOUNDS)
                .expect("it ends well");
            let written = String::from_utf8(written.0.lock().expect("whole").clone()).expect("text");
            let answers: Vec<(Value, i64)> = written
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).expect("one document in each line"))
                .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or_default()))
                .collect();
            let expected: Vec<(Value, i64)> = lines.into_iter().filter_map(|(_, answer)| answer).collect();
            prop_assert_eq!(answers, expected);
        }
    }

    /// A stream that fails every read and write.
    struct FailingStream(io::ErrorKind);

    impl Write for FailingStream {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl io::Read for FailingStream {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
    }

    #[test]
    fn it_is_told_apart_who_went_away() {
        let ask = || Cursor::new(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let gone = between(Nothing, ask, FailingStream(io::ErrorKind::BrokenPipe), BOUNDS);
        assert!(matches!(gone, Err(StdioServerError::Gone)), "{gone:?}");
        let full = between(Nothing, ask, FailingStream(io::ErrorKind::StorageFull), BOUNDS);
        assert!(matches!(full, Err(StdioServerError::Output(_))), "{full:?}");
        let unread = || BufReader::new(FailingStream(io::ErrorKind::IsADirectory));
        let unread = between(Nothing, unread, Written::default(), BOUNDS);
        assert!(matches!(unread, Err(StdioServerError::Input(_))), "{unread:?}");
    }
}
