//! Finds the process that listens on a port, from Linux's `/proc`.
//!
//! `/proc/net` lists the socket of each listener, and each process shows its own sockets to its user. If any of this
//! cannot be read, the process is unknown and no message names it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use tulving_core::model::preview;
use tulving_store::Home;

/// The state of a listening socket.
const LISTENS: &str = "0A";

/// A process that listens on a port.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PortOwner {
    /// Its id.
    pub(crate) id: u32,
    /// The name of its program.
    pub(crate) command: String,
    /// The home that it has open, if it is a Tulving process.
    pub(crate) home: Option<PathBuf>,
}

impl std::fmt::Display for PortOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (process {})", self.command, self.id)?;
        match &self.home {
            Some(home) => write!(f, ", which serves {}", home.display()),
            None => Ok(()),
        }
    }
}

/// Finds the process that keeps others from listening on `address`.
pub(crate) fn of(address: SocketAddr) -> Option<PortOwner> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listeners(&table, address))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let sockets: Vec<PathBuf> = inodes.iter().map(|inode| format!("socket:[{inode}]").into()).collect();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let open = open_files(&entry.path());
        if !open.iter().any(|file| sockets.contains(file)) {
            return None;
        }
        let command = fs::read_to_string(entry.path().join("comm")).ok()?;
        // A process that serves a home has its database open.
        let database = open.iter().find(|file| file.file_name().is_some_and(|name| name == Home::DATABASE));
        let home = database.and_then(|file| file.parent()).map(Path::to_owned);
        Some(PortOwner { id, command: preview::short(command.trim()), home })
    })
}

fn open_files(process: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).collect()
}

/// Returns the inodes of the sockets in a table of `/proc/net` that listen on this address, or on one that includes it.
fn listeners(table: &str, address: SocketAddr) -> Vec<String> {
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(3) == Some(&LISTENS))
        .filter(|row| row.get(1).and_then(|local| endpoint(local)).is_some_and(|it| meets(it, address)))
        .filter_map(|row| row.get(9).map(|inode| (*inode).to_owned()))
        .collect()
}

fn meets(taken: SocketAddr, wanted: SocketAddr) -> bool {
    let (one, other) = (taken.ip().to_canonical(), wanted.ip().to_canonical());
    taken.port() == wanted.port() && (one == other || one.is_unspecified() || other.is_unspecified())
}

/// Parses an address as the tables write it: 32-bit words in the machine's byte order, then the port.
fn endpoint(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Option<Vec<[u8; 4]>> = (0..ip.len() / 8)
        .map(|at| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect();
    let bytes = words?.concat();
    let ip = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table as a little-endian machine writes it.
    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1E61 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 100 0 0 10 0
   2: 0100007F:1E61 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100 0 0 10 0
";

    #[cfg(target_endian = "little")]
    #[test]
    fn the_socket_that_listens_is_found_by_its_address() {
        let at = |address: &str| listeners(TABLE, address.parse().expect("an address"));
        assert_eq!(at("127.0.0.1:7777"), ["111"]);
        assert_eq!(at("0.0.0.0:7777"), ["111"]);
        assert_eq!(at("127.0.0.1:8080"), ["222"]);
        assert_eq!(at("127.0.0.2:7777"), [""; 0]);
        assert_eq!(at("127.0.0.1:7778"), [""; 0]);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn addresses_of_both_kinds_are_read() {
        let read = |text| endpoint(text).map(|endpoint| endpoint.to_string());
        assert_eq!(read("0100007F:1E61").as_deref(), Some("127.0.0.1:7777"));
        assert_eq!(read("00000000000000000000000001000000:1E61").as_deref(), Some("[::1]:7777"));
        for wrong in ["", "0100007F", "0100007F:", "01:1E61", "0100007F:zz", "é100007F:1E61"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_its_own_listener() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let owner = of(listener.local_addr().expect("an address")).expect("found");
        assert_eq!((owner.id, owner.home), (std::process::id(), None));
        assert!(!owner.command.is_empty());
    }
}
