//! Schemas of closed lists and of names, for arguments and answers; and the formatting of a content within a list.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use tulving_core::model::answer::Strength;
use tulving_core::model::vocabulary::{
    Author, Boundary, CommandKind, ContentType, Derivable, FindingKind, JobState, Kind, LinkedBy, MemoryType,
    Origin, PassKind, PassOutcome, PrincipalKind, ProposedAct, Relation, Role, SpaceKind, Stability, State,
    Trust, TurnRole, VersionAct,
};

use crate::Dialect;

/// An id in either form, or a number.
const MEMORY: &str = "^(mem_[0-9a-f]{1,32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|#?[1-9][0-9]{0,17})$";

/// A closed list.
pub trait WordList {
    /// Its name where schemas share it.
    const NAME: &'static str;
    /// Its words.
    const WORDS: &'static [&'static str];
}

macro_rules! words {
    ($($name:ident as $shared:literal),+) => {$(
        impl WordList for $name {
            const NAME: &'static str = $shared;
            const WORDS: &'static [&'static str] = $name::WORDS;
        }
    )+};
}

words!(
    Author as "Author",
    Boundary as "Boundary",
    CommandKind as "CommandKind",
    ContentType as "ContentType",
    Derivable as "DerivedField",
    FindingKind as "FindingKind",
    JobState as "JobState",
    Kind as "MemoryKind",
    LinkedBy as "LinkedBy",
    MemoryType as "MemoryType",
    Origin as "Origin",
    PassKind as "PassKind",
    PassOutcome as "PassOutcome",
    PrincipalKind as "PrincipalKind",
    ProposedAct as "ProposedAct",
    Relation as "Relation",
    Role as "Role",
    SpaceKind as "SpaceKind",
    Stability as "Stability",
    State as "MemoryState",
    Trust as "Trust",
    TurnRole as "TurnRole",
    VersionAct as "VersionAct"
);

impl WordList for Strength {
    const NAME: &'static str = "EvidenceStrength";
    const WORDS: &'static [&'static str] = &["none", "weak", "strong"];
}

impl WordList for Dialect {
    const NAME: &'static str = "Dialect";
    const WORDS: &'static [&'static str] = &["native", "max", "memax", "groups", "maven", "spacebot"];
}

/// The schema of a closed list, under its own name where schemas are shared.
struct WordListSchema<W>(PhantomData<W>);

impl<W: WordList> JsonSchema for WordListSchema<W> {
    fn schema_name() -> Cow<'static, str> {
        W::NAME.into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("words::{}", W::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": W::WORDS })
    }
}

/// The schema of one word of a list.
pub fn word<W: WordList>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<WordListSchema<W>>()
}

/// The schema of one word of a list, or null.
pub fn maybe<W: WordList>(generator: &mut SchemaGenerator) -> Schema {
    if !generator.settings().inline_subschemas {
        return json_schema!({ "anyOf": [word::<W>(generator), { "type": "null" }] });
    }
    let words: Vec<Value> = W::WORDS.iter().map(|word| json!(word)).chain([Value::Null]).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

/// The schema of a reference to a memory: an id, or its number in the space.
pub fn memory(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer"], "pattern": MEMORY, "minimum": 1 })
}

/// The schema of several references to memories.
pub fn memories(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": ["string", "integer"], "pattern": MEMORY, "minimum": 1 }, "minItems": 1, "maxItems": 100 })
}

/// The schema of the name of a space or a principal.
pub fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$" })
}

/// The schema of a time.
pub fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// The schema of a time, or null.
pub fn maybe_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "format": "date-time" })
}

/// The schema of a time or a day, or null.
pub fn maybe_time_input(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"] })
}

/// The schema of several words of a list.
pub fn several<W: WordList>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": word::<W>(generator) })
}

/// Indents all lines of a content but the first, so that none of them looks like another entry.
pub fn hanging(content: &str, indent: &str) -> String {
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
