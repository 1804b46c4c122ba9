//! A tool as programs read it in a list.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::tool::{Effect, Tool};

/// What there is to know of a tool before it is called.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read_only: bool,
    destructive: bool,
    input_schema: &'a Map<String, Value>,
    output_schema: Option<&'a Map<String, Value>>,
}

impl<'a> From<&'a Tool> for Listed<'a> {
    fn from(tool: &'a Tool) -> Self {
        Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            read_only: tool.effect == Effect::Reads,
            destructive: tool.effect == Effect::Removes,
            input_schema: &tool.input,
            output_schema: tool.output.as_ref(),
        }
    }
}
