//! Schemas of closed word lists and of names, for arguments and answers. Also formats a content within a list.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Returns the schema of one word from a closed list.
pub fn word<W: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<W>()
}

/// Returns the schema of a name, which is that of a space or a principal.
pub fn name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$" })
}

/// Returns the schema of a time.
pub fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// Returns the schema of a list of words.
pub fn several<W: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Vec<W>>()
}

/// Indents all lines of a content except the first, so that no line looks like another entry.
pub fn hanging(content: &str, indent: &str) -> String {
    content.replace('\n', &format!("\n{indent}"))
}
