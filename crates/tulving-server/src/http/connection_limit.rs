//! Refuses connections beyond the limit: sends a refusal and closes them, without delaying the accepted connections.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::problem::Problem;

/// Number of file descriptors that are reserved for the store, its index and the log. If the system allows few files, half
/// of the files are reserved.
const OTHER_FILES: u64 = 128;
/// Maximum number of refused connections that stay open for a moment.
const LINGERING: usize = 64;
/// The interval between log messages about refused connections.
const SAYING: Duration = Duration::from_secs(10);

/// Refuses connections beyond the limit.
#[derive(Debug, Default)]
pub(super) struct ConnectionRefuser {
    /// The last few refused connections. A connection that the server closes before the client has written its request is
    /// reset, and the client may never read the reason. So these connections stay half-closed until newer ones replace them
    /// or a moment has passed.
    lingering: VecDeque<TcpStream>,
    unsaid: u64,
    said: Option<Instant>,
}

impl ConnectionRefuser {
    /// Answers without waiting: the stream does not block, and the send buffer of a new connection has room for this short
    /// answer. A TLS connection is closed without an answer.
    pub(super) fn turn_away(&mut self, mut stream: TcpStream, plain: bool, most: usize) {
        self.unsaid += 1;
        if plain && stream.write(&refusal(most)).is_ok() {
            let _ = stream.shutdown(Shutdown::Write);
            if self.lingering.len() >= LINGERING {
                self.lingering.pop_front().iter_mut().for_each(drain);
            }
            self.lingering.push_back(stream);
        }
        self.say(most);
    }

    /// Returns true if refused connections are waiting to be closed or to be logged.
    pub(super) fn waits(&self) -> bool {
        self.unsaid > 0 || !self.lingering.is_empty()
    }

    /// Closes and logs the refused connections. The listener calls this function after a moment, or if the
    /// process can open no more files.
    pub(super) fn disperse(&mut self, most: usize) {
        self.lingering.iter_mut().for_each(drain);
        self.lingering.clear();
        self.say(most);
    }

    fn say(&mut self, most: usize) {
        if self.unsaid > 0 && self.said.is_none_or(|said| said.elapsed() >= SAYING) {
            tracing::warn!(refused = self.unsaid, max_connections = most, "too many connections");
            (self.unsaid, self.said) = (0, Some(Instant::now()));
        }
    }
}

/// Reads and discards the received bytes, because closing a connection with unread bytes resets it.
fn drain(stream: &mut TcpStream) {
    let mut away = [0; 4_096];
    for _ in 0..16 {
        if !stream.read(&mut away).is_ok_and(|read| read > 0) {
            return;
        }
    }
}

/// Returns the whole refusal as bytes.
fn refusal(most: usize) -> Vec<u8> {
    let body = Problem::crowded(most).document(None);
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
                cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Returns the number of connections that are possible with this number of open files.
fn beside_others(files: u64) -> u64 {
    files - OTHER_FILES.min(files / 2)
}

/// Returns the number of wanted connections that are possible. The system limits the open files of a process, and a process
/// can raise this limit only up to a hard limit.
pub(super) fn allowed(wanted: usize) -> usize {
    let need = wanted as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= need);
    if enough(current) {
        return wanted;
    }
    let raised = maximum.map_or(need, |maximum| maximum.min(need));
    let granted = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => current.unwrap_or(need),
    };
    let allowed = usize::try_from(beside_others(granted)).unwrap_or(wanted).clamp(1, wanted);
    if allowed < wanted {
        tracing::warn!(
            max_connections = wanted,
            room = allowed,
            "the limit of open files is too low for all connections"
        );
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_few_files_are_allowed_half_of_them_are_for_connections_and_not_one_alone() {
        for (files, connections) in [(1_152, 1_024), (256, 128), (100, 50), (48, 24), (1, 1)] {
            assert_eq!(beside_others(files), connections, "{files}");
        }
    }
}
