//! Commands to an agent in the texts of a memory.

pub(crate) use tulving_text::commands::kinds;

use crate::model::memory::VersionFields;
use crate::model::vocabulary::CommandKind;

/// Returns the kinds of command in the texts of a memory, each once.
pub(crate) fn marks(fields: &VersionFields) -> Vec<CommandKind> {
    kinds(fields.texts().map(|(_, text)| text))
}
