//! Connections beyond the limit: they get a refusal and are closed, at no cost to the others.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::problem::Problem;

/// Files that are open besides connections: the store, its index, the log. If the system allows few files, half of
/// them.
const OTHER_FILES: u64 = 128;
/// Number of refused connections that are kept open for a moment.
const LINGERING: usize = 64;
/// The interval between log messages about refused connections.
const SAYING: Duration = Duration::from_secs(10);

/// Refuses connections.
#[derive(Debug, Default)]
pub(super) struct ConnectionRefuser {
    /// A connection that is closed before the client has written its request is reset, and the client may never read
    /// the reason. So the last few stay open, half-closed, until others take their place or a moment has passed.
    lingering: VecDeque<TcpStream>,
    unsaid: u64,
    said: Option<Instant>,
}

impl ConnectionRefuser {
    /// Answers without waiting: the stream does not block, and a new one has room for these few bytes. A TLS
    /// connection is closed without an answer.
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

    /// Returns true if there is work to do once a moment has passed.
    pub(super) fn waits(&self) -> bool {
        self.unsaid > 0 || !self.lingering.is_empty()
    }

    /// Closes the refused connections. Called once a moment has passed.
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

/// Reads and drops the received bytes: closing a connection with unread bytes resets it.
fn drain(stream: &mut TcpStream) {
    let mut away = [0; 4_096];
    for _ in 0..16 {
        if !stream.read(&mut away).is_ok_and(|read| read > 0) {
            return;
        }
    }
}

/// The whole answer, as bytes.
fn refusal(most: usize) -> Vec<u8> {
    let body = Problem::crowded(most).document(None);
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
                cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The number of connections that this many files allow.
fn beside_others(files: u64) -> u64 {
    files - OTHER_FILES.min(files / 2)
}

/// The number of connections that are possible, of those that are wanted: the system limits the open files of a
/// process, and lets it raise that limit to a point.
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
