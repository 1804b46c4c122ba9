//! What of the journals shall always be known: by a model, or by rules where there is none.
//!
//! Gets texts and gives a text; it reads and writes no file. Secrets and private parts are taken out before anybody sees them, and
//! what comes back is believed only as far as [`guard`] lets it.

pub(crate) mod guard;
mod repeated;
mod sift;

use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use self::guard::{Refused, Rewrite};
pub use self::sift::{Declined, Gone};
use crate::answer::Unread;
use crate::id::PassId;
use crate::llm::{Message, Prompt, Reply, Tool};
use crate::preview;
use crate::text::{secrets, withhold};
use crate::time::Timestamp;

/// As what it is known in the record of what was spent.
pub(crate) const PASS: &str = "mem-consolidate";
/// How many days of journals are looked at, today among them.
pub(crate) const DAYS: usize = 7;
/// How often the model may be asked: once, and once more where what it wants is refused.
pub(crate) const ROUNDS: usize = 2;
/// Most characters of each journal.
const JOURNAL_CHARS: usize = 4_000;
/// Most tokens of the answer: the file may be rewritten as a whole.
const ANSWER_TOKENS: u32 = 8_192;
/// How long one answer may take.
const WITHIN: Duration = Duration::from_secs(120);

const INSTRUCTIONS: &str = include_str!("../prompts/consolidate.md");
/// The tool by which the model rewrites the file, and what it takes.
const REWRITE: &str = "rewrite_memory";
const CONTENT: &str = "content";
const DROPPED: &str = "dropped";

/// Whether and how journals are consolidated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Consolidation {
    /// Whether a server does it by itself.
    pub enabled: bool,
    /// How much time is between two passes.
    pub interval: Duration,
    /// The share of the lines of `MEMORY.md` that may be gone without a word.
    pub max_loss: f64,
    /// Whether a server also does what is proposed about memories, where a model finds it right.
    pub apply: bool,
}

impl Default for Consolidation {
    fn default() -> Self {
        Self { enabled: false, interval: Duration::from_secs(24 * 3_600), max_loss: 0.3, apply: false }
    }
}

/// What came of the journals of a space, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Consolidated {
    /// The pass that it was, where anything was written.
    pub pass: Option<PassId>,
    /// The language model that was asked; `None` where rules did it.
    pub model: Option<String>,
    /// How many journals were looked at.
    pub journals: usize,
    /// The journals that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// How many lines of the file are new.
    pub added: usize,
    /// How many are gone.
    pub removed: usize,
    /// The lines that the file loses (`-`) and gets (`+`).
    pub diff: String,
    /// Lines that were to be added and are not.
    pub left_out: Vec<Declined>,
    /// The pass that saved those of them that are in doubt, as memories that wait for review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<PassId>,
    /// Lines that were to go and stay: nothing that was noted or written speaks of the same.
    pub put_back: Vec<String>,
    /// Lines that are gone, each with what took its place.
    pub gone: Vec<Gone>,
    /// Why lines are gone, in the words of the model.
    pub dropped: Option<String>,
    /// Why the file stays as it is.
    pub stays: Option<String>,
    /// The passes that did what was proposed about memories.
    pub records: Vec<PassId>,
    /// What would be done about memories, in words, where nothing is written.
    pub foreseen: Vec<String>,
    /// Why nothing was decided about memories, where that failed and the rest did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

/// A journal, as it is looked at: without secrets and private parts, and cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    day: String,
    text: String,
}

impl Page {
    /// The journal of a day, as `YYYY-MM-DD`; `None` where it says nothing.
    pub(crate) fn of(day: String, text: &str) -> Option<Self> {
        let text = withhold::public(text);
        (!text.trim().is_empty())
            .then(|| Self { day, text: preview::beginning(text.trim_end(), JOURNAL_CHARS) })
    }
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Material {
    /// The journals of some days, newest first.
    pub(crate) pages: Vec<Page>,
    /// What `MEMORY.md` says.
    pub(crate) known: String,
    /// The entries of journals that passes wrote, by their digests. All others are somebody's: a person's, or an agent's that
    /// was asked to note them, which a file does not tell apart.
    pub(crate) by_passes: HashSet<String>,
}

/// The session of a pass that begins now, which nothing else is ever said in.
pub(crate) fn session(now: Timestamp) -> String {
    format!("isolated:{PASS}:{}", i128::from(now.as_micros()) * 1_000)
}

/// The prompt for a model. `known` is what stands in every prompt of the space, with its heading.
pub(crate) fn prompt(material: &Material, known: &str) -> Prompt {
    let mut system = INSTRUCTIONS.to_owned();
    if !known.trim().is_empty() {
        system.push('\n');
        system.push_str(&secrets::redacted(known));
    }
    let page = |page: &Page| format!("## {}\n\n{}\n", page.day, page.text);
    let pages: Vec<String> = material.pages.iter().map(page).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            CONTENT: { "type": "string", "description": "The whole new text of MEMORY.md, in Markdown" },
            DROPPED: { "type": "string", "description": "Why lines of the old text are not in it; empty where all are" },
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

/// The same conversation once the model was told why what it wants is not done.
pub(crate) fn again(mut prompt: Prompt, reply: &Reply, refused: &Refused) -> Prompt {
    let (message, why) = (reply.message(), refused.told());
    prompt.messages.push(message);
    prompt.messages.extend(reply.calls.iter().map(|call| Message::ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        content: why.clone(),
        failed: true,
    }));
    prompt
}

/// What a model wants the file to say; `None` where it shall stay as it is.
pub(crate) fn wanted(reply: &Reply) -> Result<Option<Rewrite>, Refused> {
    let call = match reply.calls.as_slice() {
        [] => return Ok(None),
        calls if calls.iter().any(|call| call.name != REWRITE) => return Err(Refused::UnknownTool),
        [call] => call,
        _ => return Err(Refused::TooMany),
    };
    let arguments = call.arguments.as_ref().map_err(|_| Refused::Garbled)?;
    let arguments = arguments.as_object().ok_or(Refused::Garbled)?;
    if arguments.keys().any(|key| ![CONTENT, DROPPED].contains(&key.as_str())) {
        return Err(Refused::UnknownArgument);
    }
    let content = arguments.get(CONTENT).and_then(Value::as_str).ok_or(Refused::Garbled)?;
    let dropped = arguments.get(DROPPED).and_then(Value::as_str).map(str::trim);
    let dropped = dropped.filter(|why| !why.is_empty()).map(str::to_owned);
    Ok(Some(Rewrite { content: content.to_owned(), dropped }))
}

/// What the rules want the file to say: what it says, and what was noted on several days. `None` where there is no such.
pub(crate) fn by_rules(material: &Material) -> Option<Rewrite> {
    repeated::added(material).map(|content| Rewrite { content, dropped: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Ended, Tokens, ToolCall};

    fn material() -> Material {
        let page = |(day, text): (&str, String)| Page::of(day.to_owned(), &text);
        let pages = [
            ("2026-05-27", "Ana joined the team\nthe password is: hunter2-Zq9!x\n".to_owned()),
            ("2026-05-26", "long ".repeat(2_000)),
            ("2026-05-25", " \n\n".to_owned()),
        ];
        Material {
            pages: pages.into_iter().filter_map(page).collect(),
            known: "- Deploys are on Friday\n".to_owned(),
            ..Material::default()
        }
    }

    fn reply(calls: &[(&str, &str)]) -> Reply {
        let call = |(name, arguments): &(&str, &str)| {
            ToolCall::written("1".to_owned(), (*name).to_owned(), arguments)
        };
        let calls = calls.iter().map(call).collect();
        Reply { text: "UNCHANGED".to_owned(), calls, tokens: Tokens::default(), ended: Ended::ToolCalls }
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
        assert_eq!(rewrite, Some(Rewrite { content: "new".to_owned(), dropped: None }));
        assert_eq!(wanted(&reply(&[])), Ok(None));
        for (calls, refused) in [
            (vec![(REWRITE, "{")], Refused::Garbled),
            (vec![(REWRITE, "[]")], Refused::Garbled),
            (vec![(REWRITE, r#"{"content": 5}"#)], Refused::Garbled),
            (vec![(REWRITE, r#"{"content": "x", "path": "../../api-token"}"#)], Refused::UnknownArgument),
            (vec![("write_file", r#"{"path": "/etc/passwd", "content": "x"}"#)], Refused::UnknownTool),
            (vec![(REWRITE, r#"{"content": "x"}"#), ("rm", "{}")], Refused::UnknownTool),
            (vec![(REWRITE, r#"{"content": "x"}"#); 100], Refused::TooMany),
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
