//! The seed of random tests. It is part of every panic, and `TULVING_TEST_SEED` sets it.

use std::fmt;

/// The seed of a random test. Its `Display` explains how to repeat the test.
#[derive(Clone, Copy, Debug)]
pub struct RandomSeed(u64);

impl RandomSeed {
    /// The seed from `TULVING_TEST_SEED`, or else a new one.
    pub fn from_environment() -> Self {
        let chosen = std::env::var("TULVING_TEST_SEED").ok();
        Self(
            chosen.map_or_else(
                || fastrand::u64(..),
                |text| text.parse().expect("TULVING_TEST_SEED is a number"),
            ),
        )
    }

    /// The random numbers of this seed.
    pub fn random(self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.0)
    }
}

impl fmt::Display for RandomSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TULVING_TEST_SEED={}", self.0)
    }
}

/// Prints the seed when a test panics.
pub struct SeedPanicGuard(RandomSeed);

impl SeedPanicGuard {
    /// Creates the guard. Keep it until the end of the code that uses the seed.
    pub fn new(seed: RandomSeed) -> Self {
        Self(seed)
    }
}

impl Drop for SeedPanicGuard {
    #[expect(clippy::print_stderr, reason = "a failing test has no other way to name its seed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat it: {}", self.0);
        }
    }
}
