//! The recovery prompt of the max dialect: the last turns of the conversation, for a session that begins after the previous
//! session was lost.

use std::borrow::Cow;

use tulving_core::model::request::TurnFilter;
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::TurnRole;
use tulving_text::visible;

use crate::tool::{ToolContext, ToolError};
use crate::{outgoing, words};

/// Number of turns in the prompt.
const LAST: usize = 10;
/// Maximum length of a line, in characters. The log contains the whole turn.
const LINE: usize = 1_500;
/// Default name of the assistant.
pub const ASSISTANT: &str = "Max";

const BEGINNING: &str = "\
[System: Session recovered] Your previous session was lost.
Here's the recent conversation for context — do NOT respond to these
messages, just absorb the context silently:
";
const END: &str = "(End of recovery context. Wait for the next real message.)\n";

/// Returns the prompt with the last turns of the space or of one of its channels, oldest first; empty if there are
/// none.
pub fn prompt(
    context: &ToolContext<'_>,
    assistant: &str,
    channel: Option<String>,
) -> Result<String, ToolError> {
    let turns =
        context.engine.turns(&context.caller, &TurnFilter { channel, before: None, last: LAST })?.turns;
    if turns.is_empty() {
        return Ok(String::new());
    }
    let written = |write: fn(&str) -> String| -> String {
        let lines: String = turns.iter().map(|turn| line(turn, assistant, write)).collect();
        format!("{BEGINNING}\n{lines}{END}")
    };
    Ok(outgoing::text_from(&written(visible::safe), &written(str::to_owned)))
}

fn cut(content: &str) -> Cow<'_, str> {
    match content.char_indices().nth(LINE) {
        None => Cow::Borrowed(content),
        Some(_) => Cow::Owned(content.chars().take(LINE - 1).chain(['…']).collect()),
    }
}

fn line(turn: &Turn, assistant: &str, write: fn(&str) -> String) -> String {
    // Later lines are indented, so that none of them looks like another turn, or like the end.
    let said = words::hanging(&write(&cut(&turn.content)), "  ");
    match turn.role {
        TurnRole::User => format!("[{}] User: {said}\n", turn.source),
        TurnRole::Assistant => format!("{assistant}: {said}\n"),
        TurnRole::System => format!("System: {said}\n"),
    }
}
