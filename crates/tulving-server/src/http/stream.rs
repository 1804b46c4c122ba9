//! The bytes of a connection: counted, and never waiting for ever on a client that does not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::tally::{Counted, Reason, Tally};

/// A client has to take so many bytes each time the clock runs: 2 KiB a second. One that takes a byte now and then would
/// hold an answer in memory for as long as it likes.
const LEAST: usize = 64 * 1024;

/// A connection that ends with an error when its client takes too little of what it is sent.
pub(super) struct Stream {
    inner: TcpStream,
    tally: Arc<Tally>,
    /// How long it may take to hand over [`LEAST`] bytes, or all there are.
    time: Duration,
    /// Runs while something was not taken at once.
    clock: Option<Pin<Box<Sleep>>>,
    /// What was taken since the clock runs.
    taken: usize,
    /// Counts it among those that are sending.
    writing: Option<Counted>,
}

impl Stream {
    pub(super) fn new(inner: TcpStream, tally: Arc<Tally>, time: Duration) -> Self {
        Self { inner, tally, time, clock: None, taken: 0, writing: None }
    }

    /// What came of sending, unless the clock has run out.
    fn sent(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if self.writing.is_none() {
            self.writing = Some(self.tally.write());
        }
        match result {
            Poll::Ready(Ok(count)) => {
                self.tally.sent(count);
                self.taken += count;
                if self.taken >= LEAST {
                    self.clock = None;
                }
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let time = self.time;
                if self.clock.is_none() {
                    self.taken = 0;
                }
                let clock = self
                    .clock
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + time)));
                ready!(clock.as_mut().poll(cx));
                self.tally.refused(Reason::SlowReader);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        self.tally.received(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.sent(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.sent(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// Asked for once everything was handed over.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.clock = None;
        self.writing = None;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
