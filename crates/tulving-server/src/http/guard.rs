//! How often a token may ask, and how often an address may be wrong about one.
//!
//! Who was wrong too often gets no more answers about tokens, so that none can be found by trying. Tokens that were right
//! lately are heard all the same: all clients of one machine, or behind one proxy, have the same address, and one of them
//! must not lock the others out.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::time::Instant;

use tulving_core::space::Secret;

use super::problem::Problem;
use super::rate::Rate;
use super::rules::Limits;
use super::tally::{Reason, Tally};

/// Counts requests by token and failures by address.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Tokens are kept as hashes that only this process can make.
    state: RandomState,
    asked: Rate<u64>,
    failed: Rate<IpAddr>,
}

impl Guard {
    /// Whether a token from this address is looked at at all.
    pub(super) fn hear(
        &self,
        limits: &Limits,
        tally: &Tally,
        from: Option<IpAddr>,
        token: &Secret,
    ) -> Result<(), Problem> {
        let Some(from) = from else { return Ok(()) };
        match self.failed.check(from, limits.failures_per_minute, Instant::now()) {
            Err(wait) if !self.asked.knows(self.key(token)) => {
                tally.refused(Reason::Failures);
                Err(Problem::too_many("too many wrong tokens came from this address", wait))
            }
            _ => Ok(()),
        }
    }

    /// The token was wrong.
    pub(super) fn wrong(&self, limits: &Limits, from: Option<IpAddr>) {
        if let Some(from) = from {
            let _ = self.failed.take(from, limits.failures_per_minute, Instant::now());
        }
    }

    /// The token was right; whether it may ask once more.
    pub(super) fn right(&self, limits: &Limits, tally: &Tally, token: &Secret) -> Result<(), Problem> {
        self.asked.take(self.key(token), limits.requests_per_minute, Instant::now()).map_err(|wait| {
            tally.refused(Reason::Rate);
            let said = format!("the token may ask {} times a minute", limits.requests_per_minute);
            Problem::too_many(said, wait)
        })
    }

    fn key(&self, token: &Secret) -> u64 {
        self.state.hash_one(token.reveal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_is_no_longer_heard_but_for_tokens_that_were_right() {
        let (guard, tally) = (Guard::default(), Tally::default());
        let limits = Limits { failures_per_minute: 3, ..Limits::default() };
        let (here, there) = (Some([127, 0, 0, 1].into()), Some([10, 0, 0, 1].into()));
        let [good, other] = ["good", "other"].map(|token| Secret::new(token.to_owned()));
        guard.right(&limits, &tally, &good).expect("a share");
        for _ in 0..3 {
            guard.hear(&limits, &tally, here, &other).expect("heard");
            guard.wrong(&limits, here);
        }
        let refused = guard.hear(&limits, &tally, here, &other).expect_err("too many");
        assert_eq!(refused.code(), "too_many_requests");
        guard.hear(&limits, &tally, here, &good).expect("it was right before");
        guard.hear(&limits, &tally, there, &other).expect("another address");
        assert_eq!(tally.refusals(Reason::Failures), 1);
    }
}
