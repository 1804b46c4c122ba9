//! Schemas of the closed lists and of names, for arguments and answers; and how a content is written among others.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use tulving_core::answer::Strength;
use tulving_core::vocabulary::{
    Author, Boundary, CommandKind, ContentType, Derivable, FindingKind, JobState, Kind, LinkedBy, MemoryType,
    Origin, PassKind, PassOutcome, PrincipalKind, ProposedAct, Relation, Role, SpaceKind, Stability, State,
    Trust, TurnRole, VersionAct,
};

use crate::Dialect;

/// An id in either form, or a number.
const MEMORY: &str = "^(mem_[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|#?[1-9][0-9]{0,17})$";

/// A closed list.
pub(crate) trait Words {
    const WORDS: &'static [&'static str];
}

macro_rules! words {
    ($($name:ident),+) => {$(
        impl Words for $name {
            const WORDS: &'static [&'static str] = $name::WORDS;
        }
    )+};
}

words!(
    Author,
    Boundary,
    CommandKind,
    ContentType,
    Derivable,
    FindingKind,
    JobState,
    Kind,
    LinkedBy,
    MemoryType,
    Origin,
    PassKind,
    PassOutcome,
    PrincipalKind,
    ProposedAct,
    Relation,
    Role,
    SpaceKind,
    Stability,
    State,
    Trust,
    TurnRole,
    VersionAct
);

impl Words for Strength {
    const WORDS: &'static [&'static str] = &["none", "weak", "strong"];
}

impl Words for Dialect {
    const WORDS: &'static [&'static str] = &["native", "max", "memax", "groups", "maven", "spacebot"];
}

/// One word of a list.
pub(crate) fn word<W: Words>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": W::WORDS })
}

/// One word of a list, or null.
pub(crate) fn maybe<W: Words>(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<Value> = W::WORDS.iter().map(|word| json!(word)).chain([Value::Null]).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

/// What a memory is called: an id, or its number in the space.
pub(crate) fn memory(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer"], "pattern": MEMORY, "minimum": 1 })
}

/// Several of them.
pub(crate) fn memories(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": ["string", "integer"], "pattern": MEMORY, "minimum": 1 }, "minItems": 1, "maxItems": 100 })
}

/// What a space or a principal is called.
pub(crate) fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$" })
}

/// A time.
pub(crate) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// A time, or null.
pub(crate) fn maybe_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "format": "date-time" })
}

/// A time or a day, or nothing.
pub(crate) fn maybe_time_input(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"] })
}

/// Some words of a list.
pub(crate) fn several<W: Words>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": W::WORDS } })
}

/// A content among others: its further lines stand below the first, so that none of them looks like an entry.
pub(crate) fn hanging(content: &str, indent: &str) -> String {
    content.replace('\n', &format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_written_here_have_the_words_of_what_they_list() {
        assert_eq!(Dialect::WORDS, Dialect::ALL.map(Dialect::as_str));
        let strengths = [Strength::None, Strength::Weak, Strength::Strong];
        assert_eq!(Strength::WORDS, strengths.map(|strength| strength.as_str()));
    }
}
