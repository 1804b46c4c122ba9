//! The pipes to a plugin's process: none blocks a thread after its session has released it, and input is cut into lines.

use std::io::{self, BufRead, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

/// The most bytes of one message, in either direction.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// A pipe that is closed for us once the session releases it: from then on reads are empty and writes fail.
pub(super) struct ReleasablePipe<T> {
    end: T,
    /// Ends once the pipe is released.
    looked_at: Arc<PipeReader>,
}

impl<T: AsFd> ReleasablePipe<T> {
    /// Makes only this end non-blocking; the other belongs to the process.
    pub(super) fn new(end: T, looked_at: &Arc<PipeReader>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Self { end, looked_at: looked_at.clone() })
    }

    /// Waits until it can be read or written. Returns false if this pipe was released.
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

/// The reason why there is no further line.
pub(super) enum PluginLineError {
    /// The other end is closed, perhaps in the middle of a line.
    Closed,
    /// The line has too many bytes.
    Endless,
}

/// One line without its end; `None` after the last.
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
