//! That a request was begun, so that it is done once however often it is sent.

use crate::time::Timestamp;

/// A request that was begun, under the key that its maker gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What it asks, as a digest.
    pub fingerprint: [u8; 32],
    /// When it was begun or, later, answered.
    pub at: Timestamp,
    /// What was answered, where that is so; empty where the answer is not kept.
    pub answer: Option<String>,
}
