//! A rate limit per minute. A client may send all allowed requests at once or spread over the minute.
//!
//! For each key, the limiter stores one point in time: past requests have used up the key's limit until then (the generic
//! cell rate algorithm). If there are too many keys, the limiter first forgets the keys with the lowest usage.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of stored keys, which need a few hundred kilobytes.
const MOST: usize = 4_096;
const MINUTE: Duration = Duration::from_secs(60);

/// The time until which each key's limit is used up.
#[derive(Debug)]
pub(super) struct RateLimiter<K>(Mutex<HashMap<K, Instant>>);

impl<K> Default for RateLimiter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash> RateLimiter<K> {
    /// Counts one request of `key`. If `key` has reached the limit of `per_minute`, counts nothing and returns the time to
    /// wait. 0 means no limit.
    pub(super) fn take(&self, key: K, per_minute: u32, now: Instant) -> Result<(), Duration> {
        let mut used = self.lock();
        let until = used.get(&key).copied();
        wait(until, per_minute, now)?;
        if until.is_none() && used.len() >= MOST {
            make_room(&mut used, now);
        }
        used.insert(key, until.unwrap_or(now).max(now) + step(per_minute));
        Ok(())
    }

    /// Checks the limit like [`take`](Self::take), without counting.
    pub(super) fn check(&self, key: K, per_minute: u32, now: Instant) -> Result<(), Duration> {
        wait(self.lock().get(&key).copied(), per_minute, now)
    }

    /// Returns true if the key was counted recently.
    pub(super) fn knows(&self, key: K) -> bool {
        self.lock().contains_key(&key)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn step(per_minute: u32) -> Duration {
    MINUTE.checked_div(per_minute).unwrap_or_default()
}

fn wait(until: Option<Instant>, per_minute: u32, now: Instant) -> Result<(), Duration> {
    let ahead = until.unwrap_or(now).saturating_duration_since(now);
    // A request is allowed if the used time plus one more step is at most a minute ahead.
    match (ahead + step(per_minute)).checked_sub(MINUTE) {
        Some(over) if !over.is_zero() => Err(over),
        _ => Ok(()),
    }
}

/// Forgets keys without current usage. If that is not enough, forgets the half of the keys with the lowest usage, so that a
/// flood of new keys does not cause a scan of all keys each time.
fn make_room<K: Copy + Eq + Hash>(used: &mut HashMap<K, Instant>, now: Instant) {
    used.retain(|_, until| *until > now);
    if used.len() >= MOST {
        let mut all: Vec<Instant> = used.values().copied().collect();
        let (_, middle, _) = all.select_nth_unstable(MOST / 2);
        used.retain(|_, until| *until > *middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_one_for_each_share_of_the_minute() {
        let (rate, now) = (RateLimiter::default(), Instant::now());
        for _ in 0..6 {
            assert_eq!(rate.take("a", 6, now), Ok(()));
        }
        assert_eq!(rate.take("a", 6, now), Err(Duration::from_secs(10)));
        assert_eq!(rate.check("a", 6, now), Err(Duration::from_secs(10)));
        assert_eq!(rate.take("b", 6, now), Ok(()), "another key has its own share");
        let later = now + Duration::from_secs(10);
        assert_eq!(rate.take("a", 6, later), Ok(()));
        assert!(rate.take("a", 6, later).is_err());
    }

    #[test]
    fn nobody_gets_more_than_two_shares_in_any_minute() {
        let (rate, start) = (RateLimiter::default(), Instant::now());
        let served =
            (0..60_000u64).filter(|at| rate.take(0, 100, start + Duration::from_millis(*at)).is_ok());
        assert!((199..=200).contains(&served.count()));
    }

    #[test]
    fn nought_is_no_bound_and_the_key_is_known_all_the_same() {
        let (rate, now) = (RateLimiter::default(), Instant::now());
        assert!(!rate.knows(1));
        assert!((0..1_000).all(|_| rate.take(1, 0, now).is_ok()));
        assert!(rate.knows(1));
    }

    #[test]
    fn there_are_never_too_many_keys_and_who_owes_most_is_kept() {
        let (rate, now) = (RateLimiter::default(), Instant::now());
        while rate.take(u32::MAX, 10, now).is_ok() {}
        for key in 0..20_000 {
            let _ = rate.take(key, 10, now);
        }
        assert!(rate.lock().len() <= MOST);
        assert!(rate.take(u32::MAX, 10, now).is_err(), "a flood of others does not wipe it out");
    }
}
