//! The port to the index. The index is derived: it follows the store's change log and can be rebuilt.

use crate::model::error::IndexError;
use crate::model::search::{Found, Question, SearchScope};

/// Finds candidates for a question.
///
/// Every call sees every change that any process committed before it began. While the index is being rebuilt it may know
/// only some of the memories, and says so ([`Found::partial`]). Memories outside the scope do not affect an answer: they
/// are neither scored nor counted, and term rarity, item lengths and the meaning of terms come only from memories within
/// it. The same content gives the same answer, however it came into the index.
pub trait Index: Send + Sync {
    /// Returns the candidates of each lane and their neighbours.
    fn search(&self, scope: &SearchScope, question: &Question) -> Result<Found, IndexError>;

    /// Returns the names of the speakers within the scope, each once, in any order.
    fn speakers(&self, scope: &SearchScope) -> Result<Vec<String>, IndexError>;
}
