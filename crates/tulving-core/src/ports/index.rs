//! The port to the index. All data of the index is derived: the index follows the change log of the store and can be
//! rebuilt.

use crate::model::error::IndexError;
use crate::model::id::MemoryId;
use crate::model::search::{SearchQuery, SearchResults, SearchScope, TermUse};

/// Finds candidates for a question.
///
/// Every call sees every change that any process committed before the call began. While the index is being rebuilt, it may
/// contain only some of the memories; the answer then sets [`SearchResults::partial`]. Memories outside the scope do not affect an
/// answer: they are not scored or counted, and term rarity, item lengths and the expansion of terms are computed only from
/// memories within the scope. The same content gives the same answer, in whatever order the content was added to the index.
pub trait Index: Send + Sync {
    /// Returns the candidates of each lane and the neighbours of the candidates.
    fn search(&self, scope: &SearchScope, question: &SearchQuery) -> Result<SearchResults, IndexError>;

    /// Returns, for each term, the number of items within the scope that contain the term, and which of `items` do. An
    /// item is given by its memory and its chunk.
    fn uses(
        &self,
        scope: &SearchScope,
        terms: &[String],
        items: &[(MemoryId, u32)],
    ) -> Result<Vec<TermUse>, IndexError>;

    /// Returns the names of the speakers within the scope, each once, in any order.
    fn speakers(&self, scope: &SearchScope) -> Result<Vec<String>, IndexError>;
}
