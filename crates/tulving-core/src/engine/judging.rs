//! Asks a language model to decide about memories with nearly the same content, and applies its decisions.
//!
//! The model is asked about each case once: the pass records that the case was judged, whatever the result.

use std::collections::HashSet;

use super::Engine;
use crate::background::pass_records;
use crate::background::passes::records::{self, GroupDecision};
use crate::model::error::Error;
use crate::model::id::PassId;
use crate::model::memory::Memory;
use crate::model::pass::{Pass, PassAct};
use crate::model::preview;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{PassKind, PassOutcome, Role};
use crate::verbs::access;
use crate::verbs::quality::merge::{self, MergeDecision};

/// The result of judging memories with nearly the same content.
#[derive(Default)]
pub(super) struct RecordJudgingReport {
    /// The passes that changed something.
    pub(super) passes: Vec<PassId>,
    /// Descriptions of the changes that would be made.
    pub(super) predicted: Vec<String>,
}

impl Engine {
    /// Asks the model to judge memories of the caller's space with nearly the same content, and applies its decisions;
    /// without `write`, only previews them. Private and shared memories are judged in two separate passes.
    pub(super) fn judge_records(&self, caller: &Caller, write: bool) -> Result<RecordJudgingReport, Error> {
        let ports = &self.ports;
        let mut judged = RecordJudgingReport::default();
        if self.built_in("a pass").is_err() {
            return Ok(judged);
        }
        match access::require(ports, caller, caller.space, Role::Writer) {
            Err(Error::Denied { .. }) => return Ok(judged),
            required => required?,
        };
        let of = (caller.space, PassKind::Records);
        let before = pass_records::acts(ports, &caller.viewer, of, Timestamp::from_micros(0))?;
        let case = |act| if let PassAct::Judged { case } = act { Some(case) } else { None };
        let before: HashSet<String> = before.into_iter().filter_map(case).collect();
        for private in [false, true] {
            let cases = merge::cases(ports, caller, private, &before, records::GROUPS)?;
            if cases.is_empty() {
                continue;
            }
            let groups: Vec<Vec<&str>> =
                cases.iter().map(|case| case.memories.iter().map(content).collect()).collect();
            let reply = self.ask(records::PASS, &records::prompt(&groups))?;
            let decisions = records::decisions(&reply, cases.len());
            // A case missing from an answer remains undecided and counts as judged. If there was no answer, the model is
            // asked about all cases again later.
            let answered = if decisions.is_some() { cases.as_slice() } else { &[] };
            let decided: Vec<MergeDecision> = decisions
                .unwrap_or_default()
                .into_iter()
                .map(|GroupDecision { group, verdict, reason }| MergeDecision {
                    case: cases[group].clone(),
                    verdict,
                    reason,
                })
                .collect();
            let now = ports.clock.now();
            let by = caller.viewer.principal;
            let groups = preview::plural(cases.len(), "group", "groups");
            let pass = Pass {
                model: self.llm().map(|llm| llm.to_string()),
                note: Some(format!("{} {groups} of memories, {} decided", cases.len(), decided.len())),
                private_to: private.then_some(by),
                acts: answered.iter().map(|case| PassAct::Judged { case: case.digest() }).collect(),
                ..Pass::begun(PassId::mint(now), PassKind::Records, caller.space, by, now)
            };
            let pass = merge::settle(ports, caller, &pass, &decided, write)?;
            match write {
                true => judged.passes.extend((pass.outcome == PassOutcome::Done).then_some(pass.id)),
                false => {
                    let described = pass_records::described(ports, caller, caller.space, pass.acts)?;
                    judged.predicted.extend(described.into_iter().map(|(_, described)| described.text));
                }
            }
        }
        Ok(judged)
    }
}

fn content(memory: &Memory) -> &str {
    &memory.fields.text.content
}
