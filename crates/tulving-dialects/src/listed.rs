//! The description of a tool in a tool list.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::tool::{DialectTool, ToolEffect};

/// The description of a tool, for clients.
#[derive(Debug, Serialize)]
pub struct ToolDescription<'a> {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read_only: bool,
    destructive: bool,
    input_schema: &'a Map<String, Value>,
    output_schema: Option<&'a Map<String, Value>>,
}

impl<'a> From<&'a DialectTool> for ToolDescription<'a> {
    fn from(tool: &'a DialectTool) -> Self {
        Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            read_only: tool.effect == ToolEffect::Reads,
            destructive: tool.effect == ToolEffect::Removes,
            input_schema: &tool.input,
            output_schema: tool.output.as_ref(),
        }
    }
}
