//! Lets a language model decide about memories that say nearly the same, and does what it decided.
//!
//! Each case is asked about once: that it was judged is an act of its pass, whatever came of it.

use std::collections::HashSet;

use super::Engine;
use crate::access;
use crate::error::Error;
use crate::id::PassId;
use crate::ledger;
use crate::memory::Memory;
use crate::pass::{Pass, PassAct};
use crate::passes::records::{self, Decision};
use crate::preview;
use crate::quality::merge::{self, Decided};
use crate::request::Caller;
use crate::time::Timestamp;
use crate::vocabulary::{PassKind, PassOutcome, Role};

/// What came of memories that say nearly the same.
#[derive(Default)]
pub(super) struct Judged {
    /// The passes that changed something.
    pub(super) passes: Vec<PassId>,
    /// What would be changed, in words.
    pub(super) foreseen: Vec<String>,
}

impl Engine {
    /// Lets the model decide about memories of the caller's space that say nearly the same, and does it, or with `write` not set
    /// only tells what it would do: those that are private and those that are shared each as a pass of their own.
    pub(super) fn judge_records(&self, caller: &Caller, write: bool) -> Result<Judged, Error> {
        let parts = &self.parts;
        let mut judged = Judged::default();
        if self.built_in("a pass").is_err() {
            return Ok(judged);
        }
        match access::require(parts, caller, caller.space, Role::Writer) {
            Err(Error::Denied { .. }) => return Ok(judged),
            required => required?,
        };
        let of = (caller.space, PassKind::Records);
        let before = ledger::acts(parts, &caller.viewer, of, Timestamp::from_micros(0))?;
        let case = |act| if let PassAct::Judged { case } = act { Some(case) } else { None };
        let before: HashSet<String> = before.into_iter().filter_map(case).collect();
        for private in [false, true] {
            let cases = merge::cases(parts, caller, private, &before, records::GROUPS)?;
            if cases.is_empty() {
                continue;
            }
            let groups: Vec<Vec<&str>> =
                cases.iter().map(|case| case.memories.iter().map(content).collect()).collect();
            let reply = self.ask(records::PASS, &records::prompt(&groups))?;
            let decisions = records::decisions(&reply, cases.len());
            // What was left out of an answer is not to be decided; where there was none, it is asked for again.
            let answered = if decisions.is_some() { cases.as_slice() } else { &[] };
            let decided: Vec<Decided> = decisions
                .unwrap_or_default()
                .into_iter()
                .map(|Decision { group, verdict, reason }| Decided {
                    case: cases[group].clone(),
                    verdict,
                    reason,
                })
                .collect();
            let now = parts.clock.now();
            let by = caller.viewer.principal;
            let groups = preview::plural(cases.len(), "group", "groups");
            let pass = Pass {
                model: self.llm().map(|llm| llm.to_string()),
                note: Some(format!("{} {groups} of memories, {} decided", cases.len(), decided.len())),
                private_to: private.then_some(by),
                acts: answered.iter().map(|case| PassAct::Judged { case: case.digest() }).collect(),
                ..Pass::begun(PassId::mint(now), PassKind::Records, caller.space, by, now)
            };
            let pass = merge::settle(parts, caller, &pass, &decided, write)?;
            match write {
                true => judged.passes.extend((pass.outcome == PassOutcome::Done).then_some(pass.id)),
                false => {
                    let told = ledger::told(parts, caller, caller.space, pass.acts)?;
                    judged.foreseen.extend(told.into_iter().map(|(_, told)| told.text));
                }
            }
        }
        Ok(judged)
    }
}

fn content(memory: &Memory) -> &str {
    &memory.edition.text.content
}
