//! Copies lasting facts from the journals to `MEMORY.md`, with a model, or with rules if no model is available.
//!
//! The pass takes text and returns text; it reads and writes no file. Secrets and private passages are removed before a
//! model sees the text, and [`guard`] checks the model's answer.

mod accept;
pub(crate) mod guard;
mod repeated;

use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tulving_text::secrets;

pub use self::accept::{DroppedLine, RejectedLine};
use self::guard::{LongTermRewrite, RewriteRefusal};
use crate::model::answer::UnreadableFile;
use crate::model::id::PassId;
use crate::model::llm::{LlmReply, Message, Prompt, Tool};
use crate::model::preview;
use crate::model::time::Timestamp;
use crate::text::redact;

/// The name of the pass in the record of token use.
pub(crate) const PASS: &str = "mem-consolidate";
/// Number of days of journals that are read, including today.
pub(crate) const DAYS: usize = 7;
/// Maximum number of questions to the model: a first question, and a second one if the first answer is refused.
pub(crate) const ROUNDS: usize = 2;
/// Maximum number of characters of each journal.
const JOURNAL_CHARS: usize = 4_000;
/// Maximum number of tokens of the answer, which may contain the complete file.
const ANSWER_TOKENS: u32 = 8_192;
/// Time limit for one answer.
const WITHIN: Duration = Duration::from_secs(120);

const INSTRUCTIONS: &str = include_str!("../prompts/consolidate.md");
/// The tool that rewrites the file, and its arguments.
const REWRITE: &str = "rewrite_memory";
const CONTENT: &str = "content";
const DROPPED: &str = "dropped";

/// The settings of consolidation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsolidationSettings {
    /// True if a server consolidates automatically.
    pub enabled: bool,
    /// The time between two passes.
    pub interval: Duration,
    /// Maximum share of the lines of `MEMORY.md` that may be removed without a reason.
    pub max_loss: f64,
    /// True if a server also applies proposals about memories after a model approves them.
    pub apply: bool,
}

impl Default for ConsolidationSettings {
    fn default() -> Self {
        Self { enabled: false, interval: Duration::from_secs(24 * 3_600), max_loss: 0.3, apply: false }
    }
}

/// The result of consolidating one space, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConsolidationSummary {
    /// The pass, if anything was written.
    pub pass: Option<PassId>,
    /// The language model that was used; `None` if rules were used.
    pub model: Option<String>,
    /// The number of journals that the pass read.
    pub journals: usize,
    /// The journals that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadableFile>,
    /// The number of new lines in the file.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The lines removed from the file (`-`) and added to it (`+`).
    pub diff: String,
    /// Proposed lines that were left out.
    pub left_out: Vec<RejectedLine>,
    /// The pass that saved the doubtful left-out lines to quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<PassId>,
    /// Lines that the rewrite removed and the check restored, because no note and no new text is about the same subject.
    pub put_back: Vec<String>,
    /// Removed lines, each with its replacement.
    pub gone: Vec<DroppedLine>,
    /// The model's reason for removing lines.
    pub dropped: Option<String>,
    /// The reason why the file is unchanged.
    pub stays: Option<String>,
    /// The passes that applied proposals about memories.
    pub records: Vec<PassId>,
    /// Descriptions of the planned changes to memories, for a dry run.
    pub predicted: Vec<String>,
    /// The reason why judging memories failed although the rest of the pass succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

/// A journal prepared for the model: without secrets and private passages, and cut if it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalExcerpt {
    day: String,
    text: String,
}

impl JournalExcerpt {
    /// Prepares the journal of a day, given as `YYYY-MM-DD`. Returns `None` if the journal is empty.
    pub(crate) fn of(day: String, text: &str) -> Option<Self> {
        let text = redact::public(text);
        (!text.trim().is_empty())
            .then(|| Self { day, text: preview::beginning(text.trim_end(), JOURNAL_CHARS) })
    }
}

/// The input of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConsolidationInput {
    /// The journals of some days, newest first.
    pub(crate) pages: Vec<JournalExcerpt>,
    /// The text of `MEMORY.md`.
    pub(crate) known: String,
    /// Digests of the journal entries that passes wrote. All other entries come from a person, or from an agent that was
    /// asked to note them; a file does not distinguish these two.
    pub(crate) by_passes: HashSet<String>,
}

/// Returns a new, unused session name for a pass that begins now.
pub(crate) fn session(now: Timestamp) -> String {
    format!("isolated:{PASS}:{}", i128::from(now.as_micros()) * 1_000)
}

/// Builds the prompt for a model. `known` is the text in every prompt of the space, with its heading.
pub(crate) fn prompt(material: &ConsolidationInput, known: &str) -> Prompt {
    let mut system = INSTRUCTIONS.to_owned();
    if !known.trim().is_empty() {
        system.push('\n');
        system.push_str(&secrets::redacted(known));
    }
    let page = |page: &JournalExcerpt| format!("## {}\n\n{}\n", page.day, page.text);
    let pages: Vec<String> = material.pages.iter().map(page).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            CONTENT: { "type": "string", "description": "The whole new text of MEMORY.md, in Markdown" },
            DROPPED: { "type": "string", "description": "Why lines of the old text are missing; empty if none are" },
        },
        "required": [CONTENT],
        "additionalProperties": false,
    });
    let tool = Tool {
        name: REWRITE.to_owned(),
        description: "Replaces the text of MEMORY.md. The old text is kept and can be brought back."
            .to_owned(),
        schema,
    };
    let mut prompt = Prompt::new(system, pages.join("\n"));
    prompt.tools.push(tool);
    prompt.max_tokens = ANSWER_TOKENS;
    prompt.within = WITHIN;
    prompt
}

/// Continues the conversation by sending the model the reason why its answer was refused.
pub(crate) fn again(mut prompt: Prompt, reply: &LlmReply, refused: &RewriteRefusal) -> Prompt {
    let (message, why) = (reply.message(), refused.described());
    prompt.messages.push(message);
    prompt.messages.extend(reply.calls.iter().map(|call| Message::ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        content: why.clone(),
        failed: true,
    }));
    prompt
}

/// Returns the text that a model proposes, or `None` if the model leaves the file unchanged.
pub(crate) fn wanted(reply: &LlmReply) -> Result<Option<LongTermRewrite>, RewriteRefusal> {
    let call = match reply.calls.as_slice() {
        [] => return Ok(None),
        calls if calls.iter().any(|call| call.name != REWRITE) => return Err(RewriteRefusal::UnknownTool),
        [call] => call,
        _ => return Err(RewriteRefusal::TooMany),
    };
    let arguments = call.arguments.as_ref().map_err(|_| RewriteRefusal::Garbled)?;
    let arguments = arguments.as_object().ok_or(RewriteRefusal::Garbled)?;
    if arguments.keys().any(|key| ![CONTENT, DROPPED].contains(&key.as_str())) {
        return Err(RewriteRefusal::UnknownArgument);
    }
    let content = arguments.get(CONTENT).and_then(Value::as_str).ok_or(RewriteRefusal::Garbled)?;
    let dropped = arguments.get(DROPPED).and_then(Value::as_str).map(str::trim);
    let dropped = dropped.filter(|why| !why.is_empty()).map(str::to_owned);
    Ok(Some(LongTermRewrite { content: content.to_owned(), dropped }))
}

/// Returns the text that the rules propose: the old text, and notes that were repeated on several days. Returns `None` if
/// there are no such notes.
pub(crate) fn by_rules(material: &ConsolidationInput) -> Option<LongTermRewrite> {
    repeated::added(material).map(|content| LongTermRewrite { content, dropped: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::llm::{StopReason, Tokens, ToolCall};

    fn material() -> ConsolidationInput {
        let page = |(day, text): (&str, String)| JournalExcerpt::of(day.to_owned(), &text);
        let pages = [
            ("2026-05-27", "Ana joined the team\nthe password is: hunter2-Zq9!x\n".to_owned()),
            ("2026-05-26", "long ".repeat(2_000)),
            ("2026-05-25", " \n\n".to_owned()),
        ];
        ConsolidationInput {
            pages: pages.into_iter().filter_map(page).collect(),
            known: "- Deploys are on Friday\n".to_owned(),
            ..ConsolidationInput::default()
        }
    }

    fn reply(calls: &[(&str, &str)]) -> LlmReply {
        let call = |(name, arguments): &(&str, &str)| {
            ToolCall::written("1".to_owned(), (*name).to_owned(), arguments)
        };
        let calls = calls.iter().map(call).collect();
        LlmReply {
            text: "UNCHANGED".to_owned(),
            calls,
            tokens: Tokens::default(),
            ended: StopReason::ToolCalls,
        }
    }

    #[test]
    fn a_prompt_has_what_is_known_and_each_day_cut_and_without_secrets() {
        let prompt = prompt(&material(), "# Long-term Memory\n\n- Deploys are on Friday\n");
        let [Message::System(system), Message::User(said)] = prompt.messages.as_slice() else {
            panic!("{:?}", prompt.messages)
        };
        assert!(system.contains("only include what clearly should persist indefinitely"), "{system}");
        assert!(system.contains("leave the file unchanged"), "{system}");
        assert!(system.ends_with("# Long-term Memory\n\n- Deploys are on Friday\n"), "{system}");
        assert!(said.starts_with("## 2026-05-27\n\nAna joined the team\n"), "{said}");
        assert!(!said.contains("hunter2"), "no model sees a secret");
        let second = said.split("## 2026-05-26\n\n").nth(1).expect("a second day");
        assert_eq!(second.trim_end().chars().count(), 4_001, "cut, and marked as such");
        assert_eq!(prompt.tools.len(), 1);
    }

    #[test]
    fn what_a_model_wants_is_read_from_its_call_and_nothing_else() {
        let rewrite = wanted(&reply(&[(REWRITE, r#"{"content": "new", "dropped": " "}"#)])).expect("read");
        assert_eq!(rewrite, Some(LongTermRewrite { content: "new".to_owned(), dropped: None }));
        assert_eq!(wanted(&reply(&[])), Ok(None));
        for (calls, refused) in [
            (vec![(REWRITE, "{")], RewriteRefusal::Garbled),
            (vec![(REWRITE, "[]")], RewriteRefusal::Garbled),
            (vec![(REWRITE, r#"{"content": 5}"#)], RewriteRefusal::Garbled),
            (
                vec![(REWRITE, r#"{"content": "x", "path": "../../api-token"}"#)],
                RewriteRefusal::UnknownArgument,
            ),
            (vec![("write_file", r#"{"path": "/etc/passwd", "content": "x"}"#)], RewriteRefusal::UnknownTool),
            (vec![(REWRITE, r#"{"content": "x"}"#), ("rm", "{}")], RewriteRefusal::UnknownTool),
            (vec![(REWRITE, r#"{"content": "x"}"#); 100], RewriteRefusal::TooMany),
        ] {
            assert_eq!(wanted(&reply(&calls)), Err(refused), "{calls:?}");
        }
    }

    #[test]
    fn a_session_is_named_for_its_moment() {
        let now: Timestamp = "2026-05-27T09:30:00Z".parse().expect("a time");
        assert_eq!(session(now), "isolated:mem-consolidate:1779874200000000000");
    }
}
