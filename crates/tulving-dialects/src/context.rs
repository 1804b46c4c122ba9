//! The context block for the system prompt of a new session, and the opening: the part of the block that an MCP server sends
//! without a request.

use schemars::JsonSchema;
use serde::Serialize;
use tulving_core::model::answer::Briefing;
use tulving_core::model::request::BriefingRequest;
use tulving_core::text::block;
use tulving_text::commands;

pub use crate::opening::OPENING_CHARS;
use crate::opening::opened;
use crate::tool::{ToolContext, ToolError};
use crate::{Dialect, max, outgoing};

/// The context for the start of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionContext {
    /// The block for the system prompt, fenced as data. Empty if there are no memories for it.
    pub context: String,
    /// The memories of the block, section by section, if they were requested.
    #[serde(flatten)]
    pub briefing: Option<Briefing>,
}

/// Returns the native context, with its memories section by section.
pub fn in_sections(
    context: &ToolContext<'_>,
    request: &BriefingRequest,
) -> Result<SessionContext, ToolError> {
    let briefing = context.engine.briefing(&context.caller, request)?;
    Ok(SessionContext { context: block::block(&briefing), briefing: Some(briefing) })
}

/// Returns the context of a dialect as its block only.
pub fn as_block(
    context: &ToolContext<'_>,
    dialect: Dialect,
    request: &BriefingRequest,
) -> Result<SessionContext, ToolError> {
    Ok(SessionContext { context: block(context, dialect, request)?, briefing: None })
}

/// Returns the context block of a dialect. The blocks of max and maven have neither a token budget nor a subject.
pub fn block(
    context: &ToolContext<'_>,
    dialect: Dialect,
    request: &BriefingRequest,
) -> Result<String, ToolError> {
    match dialect {
        Dialect::Max => max::summary(context),
        Dialect::Maven => {
            let known = context.engine.long_term(&context.caller)?;
            // The prompt contains a heading and a blank line above the content.
            Ok(outgoing::text_from(&known.prompt(), &format!("\n\n{}", known.content)))
        }
        // The block's token budget includes room for a mark in each line.
        _ => Ok(block::block(&context.engine.briefing(&context.caller, request)?)),
    }
}

/// Returns the memories that max and maven put into every session, for a host that does not request the context block;
/// `None` in other dialects, and if there are no memories. The length is limited. Text that is untrusted, quarantined or
/// tries to give orders is left out.
pub fn opening(context: &ToolContext<'_>, dialect: Dialect) -> Result<Option<String>, ToolError> {
    match dialect {
        Dialect::Max => max::opening(context),
        Dialect::Maven => long_term(context),
        _ => Ok(None),
    }
}

/// Returns the opening of maven: `MEMORY.md`, cut at the end of a line.
fn long_term(context: &ToolContext<'_>) -> Result<Option<String>, ToolError> {
    let mut known = context.engine.long_term(&context.caller)?;
    // The text is checked both before and after hidden characters are stripped, because hidden characters can contain an
    // order, or can split the words of an order.
    let (content, hidden) = commands::without_lines(&known.content);
    known.content = content;
    let whole = known.prompt();
    let (said, plain) = commands::without_lines(&whole);
    let (text, is_cut) = within(&said, OPENING_CHARS);
    if said.trim().is_empty() || known.content.trim().is_empty() {
        return Ok(None);
    }
    let mut pointers = Vec::new();
    if is_cut {
        pointers.push(
            "It is the beginning of memory/MEMORY.md; the resource memory://files/memory/MEMORY.md has all of it."
                .to_owned(),
        );
    }
    let left_out = hidden + plain;
    if left_out > 0 {
        let lines = match left_out {
            1 => "line was left out because it gives orders",
            _ => "lines were left out because they give orders",
        };
        pointers.push(format!("{left_out} {lines}."));
    }
    Ok(Some(opened(&pointers, text)))
}

/// Returns the whole lines that fit within `chars` characters, and true if any are missing. A first line that is too long is
/// cut.
fn within(text: &str, chars: usize) -> (&str, bool) {
    let Some((end, _)) = text.char_indices().nth(chars) else { return (text, false) };
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    (&text[..end], true)
}
