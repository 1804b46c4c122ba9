//! A connection's byte stream that counts the bytes, and that closes if the client does not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::counters::{CountGuard, RefusalReason, ServerCounters};

/// Minimum number of bytes that a client must receive within one time limit: about 2 KiB per second. Without this minimum, a
/// very slow client could keep an answer in memory for any length of time.
const LEAST: usize = 64 * 1024;

/// A connection that ends with an error if its client takes the sent bytes too slowly.
pub(super) struct CountedStream {
    inner: TcpStream,
    counters: Arc<ServerCounters>,
    /// The time limit for sending [`LEAST`] bytes, or all remaining bytes if there are fewer.
    time: Duration,
    /// The timer. It runs while some bytes wait to be sent.
    clock: Option<Pin<Box<Sleep>>>,
    /// Number of bytes sent since the timer started.
    taken: usize,
    /// Counts this connection as one with bytes to send.
    writing: Option<CountGuard>,
}

impl CountedStream {
    pub(super) fn new(inner: TcpStream, counters: Arc<ServerCounters>, time: Duration) -> Self {
        Self { inner, counters, time, clock: None, taken: 0, writing: None }
    }

    /// Returns the result of a write, or an error if the timer has expired.
    fn sent(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if self.writing.is_none() {
            self.writing = Some(self.counters.write());
        }
        match result {
            Poll::Ready(Ok(count)) => {
                self.counters.sent(count);
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
                self.counters.refused(RefusalReason::SlowReader);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        self.counters.received(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedStream {
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

    /// Called once everything was sent.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.clock = None;
        self.writing = None;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
