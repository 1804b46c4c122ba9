//! The pipes to a plugin's process. After its session releases a pipe, the pipe blocks no thread any more. Input is
//! split into lines.

use std::io::{self, BufRead, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

/// Maximum size of a message in either direction, in bytes.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// A pipe that its session can release: from then on, reads return no bytes and writes fail.
pub(super) struct ReleasablePipe<T> {
    end: T,
    /// The session closes the other end of this pipe when it releases the pipes.
    looked_at: Arc<PipeReader>,
}

impl<T: AsFd> ReleasablePipe<T> {
    /// Makes only this end of the pipe non-blocking, because the other end belongs to the process.
    pub(super) fn new(end: T, looked_at: &Arc<PipeReader>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Self { end, looked_at: looked_at.clone() })
    }

    /// Waits until the pipe can be read or written. Returns false if the pipe was released.
    fn is_ready(&self, ready: PollFlags) -> io::Result<bool> {
        let mut pipes = [PollFd::new(&self.end, ready), PollFd::new(&*self.looked_at, PollFlags::IN)];
        loop {
            match rustix::event::poll(&mut pipes, None) {
                Ok(_) => return Ok(pipes[1].revents().is_empty()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<T: AsFd + Read> Read for ReleasablePipe<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.is_ready(PollFlags::IN)? {
            match self.end.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
        Ok(0)
    }
}

impl<T: AsFd + Write> Write for ReleasablePipe<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.is_ready(PollFlags::OUT)? {
            match self.end.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
        }
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end.flush()
    }
}

/// The reason why no further line can be read.
pub(super) enum PluginLineError {
    /// The other end of the pipe was closed, possibly in the middle of a line.
    Closed,
    /// The line is longer than the limit.
    Endless,
}

/// Reads a line without its line break; `None` at the end of the input.
pub(super) fn line(output: &mut impl BufRead) -> Result<Option<Vec<u8>>, PluginLineError> {
    let mut line = Vec::new();
    let read = output
        .take(LINE_BYTES as u64 + 1)
        .read_until(b'\n', &mut line)
        .map_err(|_| PluginLineError::Closed)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if read > LINE_BYTES => Err(PluginLineError::Endless),
        Some(_) => Err(PluginLineError::Closed),
    }
}
