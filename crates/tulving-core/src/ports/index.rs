//! What the engine asks of the index. The index is derived: it follows the store's change log and can be made anew.

use crate::error::IndexError;
use crate::search::{Found, Question, Scope};

/// Finds what a question may be about.
///
/// Every call sees every change that was committed, by any process, before it began; where the index is being made anew,
/// it may know only a part of the memories, and says so ([`Found::partial`]). What is not within the scope changes nothing
/// of an answer: it is neither scored nor counted, and how rare a term is, how long items are and what a term stands for
/// come from what is within it. The same content gives the same answer, however it came into the index.
pub trait Index: Send + Sync {
    /// The candidates of each lane and their neighbours.
    fn search(&self, scope: &Scope, question: &Question) -> Result<Found, IndexError>;

    /// The names of those who said something within the scope, each once, in any order.
    fn speakers(&self, scope: &Scope) -> Result<Vec<String>, IndexError>;
}
