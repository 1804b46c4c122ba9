//! Schemas of the closed lists, for arguments and answers.

use schemars::{Schema, SchemaGenerator, json_schema};
use tulving_core::vocabulary::{
    Author, Boundary, ContentType, Kind, MemoryType, Origin, Relation, Role, Stability, State,
};

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

words!(Author, Boundary, ContentType, Kind, MemoryType, Origin, Relation, Role, Stability, State);

/// One word of a list.
pub(crate) fn word<W: Words>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": W::WORDS })
}

/// A content among others: its further lines stand below the first, so that none of them looks like an entry.
pub(crate) fn hanging(content: &str, indent: &str) -> String {
    content.replace('\n', &format!("\n{indent}"))
}

/// Some words of a list.
pub(crate) fn several<W: Words>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": W::WORDS } })
}
