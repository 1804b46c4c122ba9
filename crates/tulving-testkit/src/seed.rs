//! Where random tests begin. The seed stands in every panic, and `TULVING_TEST_SEED` sets it.

use std::fmt;

/// The seed of a random test. Its `Display` says how to run the test again as it was.
#[derive(Clone, Copy, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The seed that `TULVING_TEST_SEED` names, else a new one.
    pub fn from_environment() -> Self {
        let chosen = std::env::var("TULVING_TEST_SEED").ok();
        Self(
            chosen.map_or_else(
                || fastrand::u64(..),
                |text| text.parse().expect("TULVING_TEST_SEED is a number"),
            ),
        )
    }

    /// The random numbers that follow from it.
    pub fn random(self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.0)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TULVING_TEST_SEED={}", self.0)
    }
}

/// Says the seed when a test panics.
pub struct SaidOnPanic(Seed);

impl SaidOnPanic {
    /// Keep it alive for as long as the seed matters.
    pub fn new(seed: Seed) -> Self {
        Self(seed)
    }
}

impl Drop for SaidOnPanic {
    #[expect(clippy::print_stderr, reason = "a failing test has no other way to name its seed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat it: {}", self.0);
        }
    }
}
