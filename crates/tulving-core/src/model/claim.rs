//! Claims: the record that a request began, so that it runs once even if it is sent several times.

use crate::model::time::Timestamp;

/// A request that began, under the key that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    /// Time at which the request began or, if there is an answer, was answered.
    pub at: Timestamp,
    /// The answer, if there is one; an empty text if the answer is not stored.
    pub answer: Option<String>,
}
