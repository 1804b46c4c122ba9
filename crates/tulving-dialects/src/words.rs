//! Schemas of closed lists and of names, for arguments and answers; and the formatting of a content within a list.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema of one word of a list.
pub fn word<W: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<W>()
}

/// The schema of the name of a space or a principal.
pub fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$" })
}

/// The schema of a time.
pub fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// The schema of a list of words.
pub fn several<W: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Vec<W>>()
}

/// Indents all lines of a content but the first, so that none of them looks like another entry.
pub fn hanging(content: &str, indent: &str) -> String {
    content.replace('\n', &format!("\n{indent}"))
}
