//! Claims: the record that a request began, so that it runs once even if it is sent several times.

use crate::model::time::Timestamp;

/// A request that began, under the key that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    /// Time at which it began or, later, was answered.
    pub at: Timestamp,
    /// The answer, if there is one; empty if the answer is not kept.
    pub answer: Option<String>,
}
