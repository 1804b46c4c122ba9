//! Asks a model what to do about memories with nearly the same content.
//!
//! The pass takes texts and returns a verdict on each group. The caller applies each verdict that can be undone.

use std::time::Duration;

use serde_json::{Value, json};
use tulving_text::secrets;

use crate::model::llm::{LlmReply, Prompt, Tool};
use crate::model::preview;
use crate::model::vocabulary::Verdict;
use crate::text::redact;

/// The name of the pass in the record of token use.
pub(crate) const PASS: &str = "records";
/// Maximum number of groups in one prompt.
pub(crate) const GROUPS: usize = 20;
/// Maximum number of characters of one memory.
const CHARS: usize = 1_000;
/// Maximum number of characters of a reason.
const REASON: usize = 300;
const WITHIN: Duration = Duration::from_secs(120);
const ANSWER_TOKENS: u32 = 4_096;

const INSTRUCTIONS: &str = include_str!("prompts/records.md");
const DECIDE: &str = "decide";

/// A model's decision about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupDecision {
    /// The index of the group, from 0.
    pub(crate) group: usize,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The reason, on one line and without secrets.
    pub(crate) reason: String,
}

/// Builds the prompt for groups of contents. Each group begins with the newest content.
pub(crate) fn prompt(groups: &[Vec<&str>]) -> Prompt {
    let mut said = String::new();
    for (at, group) in groups.iter().enumerate() {
        said += &format!("## Group {}\n\n", at + 1);
        for text in group {
            said += &format!("- {}\n", preview::cut(&secrets::redacted(text), CHARS));
        }
        said.push('\n');
    }
    let decision = json!({
        "type": "object",
        "properties": {
            "group": { "type": "integer", "description": "The number of the group" },
            "decision": { "type": "string", "enum": Verdict::WORDS },
            "reason": { "type": "string", "description": "Why, in one sentence" },
        },
        "required": ["group", "decision", "reason"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": { "decisions": { "type": "array", "items": decision } },
        "required": ["decisions"],
        "additionalProperties": false,
    });
    let mut prompt = Prompt::new(INSTRUCTIONS, said);
    prompt.tools.push(Tool {
        name: DECIDE.to_owned(),
        description: "Decides about each group of memories. Each decision can be undone.".to_owned(),
        schema,
    });
    prompt.max_tokens = ANSWER_TOKENS;
    prompt.within = WITHIN;
    prompt
}

/// Returns a model's decisions, at most one for each group, or `None` if its answer contains no list of decisions. Decisions
/// that cannot be parsed are left out, and their memories stay unchanged.
pub(crate) fn decisions(reply: &LlmReply, groups: usize) -> Option<Vec<GroupDecision>> {
    let calls = reply.calls.iter().filter(|call| call.name == DECIDE);
    let said = calls.filter_map(|call| call.arguments.as_ref().ok()?.get("decisions")?.as_array().cloned());
    let said: Vec<Vec<Value>> = said.collect();
    if said.is_empty() {
        return None;
    }
    let mut decided: Vec<GroupDecision> = Vec::new();
    for one in said.into_iter().flatten() {
        if let Some(decision) = decision(&one, groups)
            && decided.iter().all(|known| known.group != decision.group)
        {
            decided.push(decision);
        }
    }
    Some(decided)
}

fn decision(said: &Value, groups: usize) -> Option<GroupDecision> {
    let number = usize::try_from(said.get("group")?.as_u64()?).ok()?;
    let group = number.checked_sub(1).filter(|group| *group < groups)?;
    let verdict = said.get("decision")?.as_str()?.parse().ok()?;
    let reason = preview::cut(&redact::public(said.get("reason")?.as_str()?), REASON);
    (!reason.is_empty()).then_some(GroupDecision { group, verdict, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::llm::{Message, StopReason, Tokens, ToolCall};

    fn reply(name: &str, arguments: &str) -> LlmReply {
        let call = ToolCall::written("1".to_owned(), name.to_owned(), arguments);
        LlmReply {
            text: String::new(),
            calls: vec![call],
            tokens: Tokens::default(),
            ended: StopReason::ToolCalls,
        }
    }

    #[test]
    fn a_prompt_holds_each_group_without_secrets() {
        let prompt =
            prompt(&[vec!["Standup is at 10", "Standup is\nat 9"], vec!["the password is: hunter2-Zq9!x"]]);
        let Message::User(said) = &prompt.messages[1] else { panic!("what is asked comes second") };
        assert!(
            said.starts_with("## Group 1\n\n- Standup is at 10\n- Standup is at 9\n\n## Group 2\n"),
            "{said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
    }

    #[test]
    fn only_what_can_be_read_is_decided_and_each_group_once() {
        let decided = |arguments: Value| decisions(&reply(DECIDE, &arguments.to_string()), 2);
        let one = |group: Value, word: &str| json!({ "group": group, "decision": word, "reason": "why" });
        let said = json!({ "decisions": [
            one(json!(2), "updates"), one(json!(2), "distinct"), one(json!(3), "updates"), one(json!(0), "updates"),
            one(json!(-1), "updates"), one(json!("1"), "updates"), one(json!(1), "erase"),
            { "group": 1, "decision": "updates" }, { "group": 1, "decision": "updates", "reason": " " }, 7,
        ] });
        let due = GroupDecision { group: 1, verdict: Verdict::Updates, reason: "why".to_owned() };
        assert_eq!(decided(said), Some(vec![due]));
        assert_eq!(decided(json!({ "decisions": [] })), Some(Vec::new()), "that is an answer too");
        for wrong in [json!([]), json!({ "decisions": "all" }), json!({})] {
            assert_eq!(decided(wrong), None);
        }
        assert_eq!(decisions(&reply("forget", "{}"), 2), None);
        assert_eq!(decisions(&reply(DECIDE, "{"), 2), None);
    }
}
