//! The pipes to a plugin's process: none keeps a thread once its session has let it go, and what comes is cut into lines.

use std::io::{self, BufRead, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

/// Most bytes of one message, either way.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// A pipe that is left alone once the session lets it go: from then on there is nothing to be read and nobody to be written to.
pub(super) struct Pipe<T> {
    end: T,
    /// Has an end once it is let go.
    looked_at: Arc<PipeReader>,
}

impl<T: AsFd> Pipe<T> {
    /// Only this end of it does not wait; the other is that of the process.
    pub(super) fn new(end: T, looked_at: &Arc<PipeReader>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Self { end, looked_at: looked_at.clone() })
    }

    /// Waits until something may be read or written, and says whether it is not let go.
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

impl<T: AsFd + Read> Read for Pipe<T> {
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

impl<T: AsFd + Write> Write for Pipe<T> {
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

/// Why there is no further line.
pub(super) enum Broken {
    /// The other end is closed, in the middle of one perhaps.
    Closed,
    /// It has more bytes than are taken.
    Endless,
}

/// One line without its end; `None` after the last.
pub(super) fn line(output: &mut impl BufRead) -> Result<Option<Vec<u8>>, Broken> {
    let mut line = Vec::new();
    let read = output.take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(|_| Broken::Closed)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if read > LINE_BYTES => Err(Broken::Endless),
        Some(_) => Err(Broken::Closed),
    }
}
