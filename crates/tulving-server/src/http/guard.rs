//! Limits requests per token, and wrong tokens per address.
//!
//! After too many wrong tokens from an address, the server checks no more unknown tokens from this address, so that nobody
//! can find a token by trial. Tokens that were valid recently still work: all clients on one machine, or behind one proxy,
//! have the same address, and one client must not lock out the others.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::time::Instant;

use tulving_core::model::space::Secret;

use super::counters::{RefusalReason, ServerCounters};
use super::problem::Problem;
use super::rate::RateLimiter;
use super::rules::RequestLimits;

/// Counts requests by token and failures by address.
#[derive(Debug, Default)]
pub(super) struct AuthRateLimiter {
    /// The secret key for hashing tokens. It exists only in this process.
    state: RandomState,
    asked: RateLimiter<u64>,
    failed: RateLimiter<IpAddr>,
}

impl AuthRateLimiter {
    /// Refuses to check a token if its address has sent too many wrong tokens.
    pub(super) fn hear(
        &self,
        limits: &RequestLimits,
        counters: &ServerCounters,
        from: Option<IpAddr>,
        token: &Secret,
    ) -> Result<(), Problem> {
        let Some(from) = from else { return Ok(()) };
        match self.failed.check(from, limits.failures_per_minute, Instant::now()) {
            Err(wait) if !self.asked.knows(self.key(token)) => {
                counters.refused(RefusalReason::Failures);
                Err(Problem::too_many("too many wrong tokens came from this address", wait))
            }
            _ => Ok(()),
        }
    }

    /// Counts a wrong token.
    pub(super) fn wrong(&self, limits: &RequestLimits, from: Option<IpAddr>) {
        if let Some(from) = from {
            let _ = self.failed.take(from, limits.failures_per_minute, Instant::now());
        }
    }

    /// Counts a request with a valid token, or refuses the request if the token has reached its rate limit.
    pub(super) fn right(
        &self,
        limits: &RequestLimits,
        counters: &ServerCounters,
        token: &Secret,
    ) -> Result<(), Problem> {
        self.asked.take(self.key(token), limits.requests_per_minute, Instant::now()).map_err(|wait| {
            counters.refused(RefusalReason::Rate);
            let said = format!("the token is limited to {}requests per minute", limits.requests_per_minute);
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
        let (guard, counters) = (AuthRateLimiter::default(), ServerCounters::default());
        let limits = RequestLimits { failures_per_minute: 3, ..RequestLimits::default() };
        let (here, there) = (Some([127, 0, 0, 1].into()), Some([10, 0, 0, 1].into()));
        let [good, other] = ["good", "other"].map(|token| Secret::new(token.to_owned()));
        guard.right(&limits, &counters, &good).expect("a share");
        for _ in 0..3 {
            guard.hear(&limits, &counters, here, &other).expect("heard");
            guard.wrong(&limits, here);
        }
        let refused = guard.hear(&limits, &counters, here, &other).expect_err("too many");
        assert_eq!(refused.code(), "too_many_requests");
        guard.hear(&limits, &counters, here, &good).expect("it was right before");
        guard.hear(&limits, &counters, there, &other).expect("another address");
        assert_eq!(counters.refusals(RefusalReason::Failures), 1);
    }
}
