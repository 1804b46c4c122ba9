//! The table of open connections. It chooses the connection to drop for a new one.
//!
//! Anybody who reaches the port can open connections, so untrusted connections can be dropped. The table first drops a
//! connection that has sent no request for a moment, then an idle connection that has not shown a valid token, then the
//! oldest of the new connections. A connection that showed a valid token is never dropped for another. All programs of a
//! machine share 127.0.0.1, so the limit per address never refuses a new connection, but drops an older connection from that
//! address.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The time that a connection has for its first request before it becomes the first candidate to be dropped. An honest
/// client sends a request at once. Without this time, a flood of new connections would replace the honest client's
/// connection, while idle connections stay.
const MOMENT: Duration = Duration::from_secs(1);

/// The open connections of a server.
#[derive(Debug, Default)]
pub(super) struct ConnectionTable(Mutex<ConnectionTableState>);

#[derive(Debug, Default)]
struct ConnectionTableState {
    next: u64,
    open: HashMap<u64, ConnectionEntry>,
    /// Connections without a valid token, ordered by status; within a status, the oldest first.
    strangers: BTreeSet<(ConnectionStatus, u64)>,
    /// Connections without a valid token by address, in the same order.
    by_address: HashMap<IpAddr, BTreeSet<(ConnectionStatus, u64)>>,
}

#[derive(Debug)]
struct ConnectionEntry {
    address: IpAddr,
    status: ConnectionStatus,
    since: Instant,
    dropped: Arc<Notify>,
}

/// The progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionStatus {
    /// No complete request head has arrived yet.
    Silent,
    /// The connection sent a request, and is now idle or is receiving the answer.
    Answered,
    /// The server is working on a request without a known token.
    Asking,
    /// The connection showed a valid token.
    Trusted,
}

/// The error that a new connection cannot be admitted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConnectionTableFull;

/// The table entry of one connection. Dropping the value removes the entry.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    table: Arc<ConnectionTable>,
    number: u64,
    dropped: Arc<Notify>,
}

/// A new connection that was admitted.
#[derive(Debug)]
pub(super) struct AdmittedConnection {
    pub(super) seat: ConnectionSlot,
    /// True if another connection was dropped for the new connection.
    pub(super) displaced: bool,
}

impl ConnectionTable {
    /// Admits a new connection. `most` is the maximum number of connections, and `strangers` is the maximum number of
    /// connections without a token per address.
    pub(super) fn admit(
        self: &Arc<Self>,
        address: IpAddr,
        most: usize,
        strangers: usize,
        now: Instant,
    ) -> Result<AdmittedConnection, ConnectionTableFull> {
        let mut table = self.lock();
        let own = table.by_address.get(&address).filter(|own| own.len() >= strangers.max(1));
        let victim = match own.and_then(|own| table.least(own, now)) {
            Some(victim) => Some(victim),
            None if table.open.len() < most => None,
            None => Some(table.least(&table.strangers, now).ok_or(ConnectionTableFull)?),
        };
        if let Some(number) = victim
            && let Some(entry) = table.remove(number)
        {
            entry.dropped.notify_one();
        }
        let (number, dropped) = (table.next, Arc::new(Notify::new()));
        table.next += 1;
        table.open.insert(
            number,
            ConnectionEntry {
                address,
                status: ConnectionStatus::Silent,
                since: now,
                dropped: Arc::clone(&dropped),
            },
        );
        table.list(number, address, ConnectionStatus::Silent);
        let seat = ConnectionSlot { table: Arc::clone(self), number, dropped };
        Ok(AdmittedConnection { seat, displaced: victim.is_some() })
    }

    /// Drops up to `most` connections without a valid token, because the process cannot open more files. Returns the number
    /// of dropped connections.
    pub(super) fn relieve(&self, most: usize, now: Instant) -> usize {
        let mut table = self.lock();
        let mut dropped = 0;
        while dropped < most
            && let Some(number) = table.least(&table.strangers, now)
            && let Some(entry) = table.remove(number)
        {
            entry.dropped.notify_one();
            dropped += 1;
        }
        dropped
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTableState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTableState {
    /// Returns the connection to drop: the oldest connection that sent no request within [`MOMENT`]; otherwise the oldest
    /// idle connection; otherwise the oldest connection.
    fn least(&self, strangers: &BTreeSet<(ConnectionStatus, u64)>, now: Instant) -> Option<u64> {
        let (status, first) = *strangers.first()?;
        let had_its_moment = |number| self.open.get(&number).is_some_and(|entry| now - entry.since >= MOMENT);
        if status == ConnectionStatus::Silent && had_its_moment(first) {
            return Some(first);
        }
        let idle =
            strangers.range((ConnectionStatus::Answered, 0)..=(ConnectionStatus::Answered, u64::MAX)).next();
        Some(idle.map_or(first, |(_, number)| *number))
    }

    fn list(&mut self, number: u64, address: IpAddr, status: ConnectionStatus) {
        if status != ConnectionStatus::Trusted {
            self.strangers.insert((status, number));
            self.by_address.entry(address).or_default().insert((status, number));
        }
    }

    fn unlist(&mut self, number: u64, address: IpAddr, status: ConnectionStatus) {
        self.strangers.remove(&(status, number));
        if let Some(own) = self.by_address.get_mut(&address) {
            own.remove(&(status, number));
            if own.is_empty() {
                self.by_address.remove(&address);
            }
        }
    }

    fn remove(&mut self, number: u64) -> Option<ConnectionEntry> {
        let entry = self.open.remove(&number)?;
        self.unlist(number, entry.address, entry.status);
        Some(entry)
    }
}

impl ConnectionSlot {
    /// Records that a complete request has arrived. The request is in progress until the returned value is dropped.
    pub(super) fn asks(self: &Arc<Self>) -> RequestInProgress {
        self.stand(ConnectionStatus::Asking);
        RequestInProgress(Arc::clone(self))
    }

    /// Records that the connection showed a valid token.
    pub(super) fn trust(&self) {
        self.stand(ConnectionStatus::Trusted);
    }

    /// Waits until this connection is dropped for another.
    pub(super) async fn dropped(&self) {
        self.dropped.notified().await;
    }

    /// Returns true if no complete request has arrived yet.
    pub(super) fn is_silent(&self) -> bool {
        let table = self.table.lock();
        table.open.get(&self.number).is_none_or(|entry| entry.status == ConnectionStatus::Silent)
    }

    fn stand(&self, status: ConnectionStatus) {
        let mut table = self.table.lock();
        let Some(entry) = table.open.get_mut(&self.number) else { return };
        // A connection stays trusted until it is closed.
        if entry.status == ConnectionStatus::Trusted {
            return;
        }
        let before = std::mem::replace(&mut entry.status, status);
        let address = entry.address;
        table.unlist(self.number, address, before);
        table.list(self.number, address, status);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.table.lock().remove(self.number);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct RequestInProgress(Arc<ConnectionSlot>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.stand(ConnectionStatus::Answered);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    /// Admits a connection that arrives this many seconds after the first.
    fn admit(
        table: &Arc<ConnectionTable>,
        address: IpAddr,
        bounds: (usize, usize),
        seconds: u64,
    ) -> (Arc<ConnectionSlot>, bool) {
        let AdmittedConnection { seat, displaced } =
            try_admit(table, address, bounds, seconds).expect("a place");
        (Arc::new(seat), displaced)
    }

    fn try_admit(
        table: &Arc<ConnectionTable>,
        address: IpAddr,
        (most, strangers): (usize, usize),
        seconds: u64,
    ) -> Result<AdmittedConnection, ConnectionTableFull> {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        table.admit(address, most, strangers, *START + Duration::from_secs(seconds))
    }

    /// Returns true if the connection was dropped for another.
    fn is_dropped(table: &Arc<ConnectionTable>, seat: &ConnectionSlot) -> bool {
        !table.lock().open.contains_key(&seat.number)
    }

    #[test]
    fn a_full_table_drops_the_oldest_that_never_asked_then_the_oldest_without_a_token() {
        let table = Arc::new(ConnectionTable::default());
        let [asked, silent, trusted] = [(); 3].map(|()| admit(&table, HERE, (3, 10), 0).0);
        drop(asked.asks());
        trusted.asks();
        trusted.trust();
        let (first, displaced) = admit(&table, HERE, (3, 10), 1);
        assert!(displaced && is_dropped(&table, &silent), "it never asked");
        let busy = first.asks();
        let (second, _) = admit(&table, HERE, (3, 10), 1);
        assert!(is_dropped(&table, &asked), "it is idle without a token");
        second.asks();
        second.trust();
        let (third, _) = admit(&table, HERE, (3, 10), 1);
        assert!(is_dropped(&table, &first), "its request has no known token");
        drop(busy);
        third.trust();
        assert_eq!(try_admit(&table, HERE, (3, 10), 1).expect_err("all have tokens"), ConnectionTableFull);
        for seat in [&trusted, &second, &third] {
            assert!(!is_dropped(&table, seat));
        }
    }

    #[test]
    fn a_new_connection_has_a_moment_to_ask_while_others_are_idle() {
        let table = Arc::new(ConnectionTable::default());
        let idle: Vec<Arc<ConnectionSlot>> = (0..3).map(|_| admit(&table, HERE, (4, 10), 0).0).collect();
        idle.iter().for_each(|seat| drop(seat.asks()));
        let (honest, _) = admit(&table, HERE, (4, 10), 5);
        // The number of new connections equals the number of idle connections.
        let flood: Vec<Arc<ConnectionSlot>> = (0..3).map(|_| admit(&table, HERE, (4, 10), 5).0).collect();
        assert!(idle.iter().all(|seat| is_dropped(&table, seat)), "the idle ones go first");
        assert!(!is_dropped(&table, &honest));
        let (_next, _) = admit(&table, HERE, (4, 10), 5);
        assert!(is_dropped(&table, &honest), "then the oldest");
        assert!(flood.iter().all(|seat| !is_dropped(&table, seat)));
    }

    #[test]
    fn an_address_at_its_bound_loses_its_own_oldest_and_nobody_else_does() {
        let table = Arc::new(ConnectionTable::default());
        let (other, _) = admit(&table, THERE, (100, 2), 0);
        let [oldest, second] = [(); 2].map(|()| admit(&table, HERE, (100, 2), 0).0);
        let (newest, displaced) = admit(&table, HERE, (100, 2), 0);
        assert!(displaced && is_dropped(&table, &oldest));
        assert!(!is_dropped(&table, &other) && !is_dropped(&table, &second));
        // A connection with a valid token does not count against its address.
        newest.trust();
        assert!(!admit(&table, HERE, (100, 2), 0).1, "one of the two places is free");
    }

    #[test]
    fn a_shortage_of_file_handles_costs_those_without_a_token() {
        let table = Arc::new(ConnectionTable::default());
        let seats: Vec<Arc<ConnectionSlot>> = (0..5).map(|_| admit(&table, HERE, (9, 9), 0).0).collect();
        seats[0].trust();
        let now = Instant::now();
        assert_eq!((table.relieve(2, now), table.relieve(9, now), table.relieve(9, now)), (2, 2, 0));
        assert!(!is_dropped(&table, &seats[0]));
    }

    #[test]
    fn a_closed_connection_leaves_nothing_behind() {
        let table = Arc::new(ConnectionTable::default());
        let (seat, _) = admit(&table, HERE, (1, 1), 0);
        assert!(seat.is_silent());
        drop(seat.asks());
        assert!(!seat.is_silent());
        drop(seat);
        let table = table.lock();
        assert!(table.open.is_empty() && table.strangers.is_empty() && table.by_address.is_empty());
    }
}
