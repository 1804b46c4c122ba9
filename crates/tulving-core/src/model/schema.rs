//! JSON schemas of values that are written as a text or a plain number: ids, times, scores. Types with fields derive their
//! schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::model::answer::Cursor;
use crate::model::id::{
    JobId, MemoryId, MemoryNumber, MemoryRef, OrgId, PassId, PrincipalId, ProposalId, SpaceId, TeamId,
    TokenId, TurnId, Version,
};
use crate::model::memory::{ContentHash, DerivedFields};
use crate::model::request::WholeNumber;
use crate::model::score::{Importance, Score, Weight};
use crate::model::vocabulary::Derivable;

/// Implements schemas that are inlined wherever their types are used.
macro_rules! inline_schemas {
    ($($name:ident => $schema:tt),+ $(,)?) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

inline_schemas! {
    TurnId => { "type": "string", "format": "uuid" },
    MemoryId => { "type": "string", "pattern": "^mem_[0-9a-f]{32}$" },
    // The pattern allows both forms of an id, and a number in the space with or without `#`.
    MemoryRef => {
        "type": ["string", "integer"],
        "pattern": "^(mem_[0-9a-f]{1,32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|#?[1-9][0-9]{0,17})$",
        "minimum": 1
    },
    SpaceId => { "type": "string", "format": "uuid" },
    TeamId => { "type": "string", "format": "uuid" },
    OrgId => { "type": "string", "format": "uuid" },
    PrincipalId => { "type": "string", "format": "uuid" },
    PassId => { "type": "string", "format": "uuid" },
    JobId => { "type": "string", "format": "uuid" },
    TokenId => { "type": "string", "format": "uuid" },
    ProposalId => { "type": "string" },
    MemoryNumber => { "type": "integer", "minimum": 1 },
    Version => { "type": "integer", "minimum": 1 },
    ContentHash => { "type": "string", "pattern": "^[0-9a-f]{64}$" },
    WholeNumber => { "type": "integer" },
    Cursor => { "type": "string" },
    Importance => { "type": "number", "minimum": 0, "maximum": 1 },
    Weight => { "type": "number", "minimum": 0, "maximum": 1 },
    Score => { "type": "number", "minimum": 0, "maximum": 1 },
}

impl JsonSchema for DerivedFields {
    fn schema_name() -> Cow<'static, str> {
        "Auto".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Vec<Derivable>>()
    }
}
