//! Imports the log of a conversation: the newest turns that are not older than the existing log.

use std::collections::HashSet;

use crate::model::change::Write;
use crate::model::error::{Error, Field, Invalid};
use crate::model::foreign::{self, ForeignTurn, SkippedItem};
use crate::model::id::TurnId;
use crate::model::limits;
use crate::model::request::TurnFilter;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::turn::{TURNS_KEPT, Turn};
use crate::text::redact::Redactor;
use crate::verbs::access;
use crate::verbs::conversation;
use crate::verbs::save::intake;

use super::ForeignImport;

impl ForeignImport<'_> {
    /// Imports turns. The log is in time order and only grows at its end, so a turn that is older than the newest
    /// logged turn is left out.
    pub(super) fn turns(&mut self, turns: &[ForeignTurn], space: &Space) -> Result<(), Error> {
        let kept = usize::try_from(TURNS_KEPT).unwrap_or(usize::MAX);
        let beyond = turns.len().saturating_sub(kept);
        self.report.turns.left_out += beyond as u64;
        if beyond > 0 {
            self.report.notes.push(format!("the log of conversations keeps the newest {TURNS_KEPT} turns"));
        }
        let (mut read, mut withheld) = (Vec::new(), Vec::new());
        let mut last = Timestamp::from_micros(0);
        for turn in &turns[beyond..] {
            last = turn.at.unwrap_or(last);
            let mut redactor = self.ports.redactor(space);
            match self.turn(turn, last, &mut redactor) {
                Ok(turn) => {
                    withheld.push((turn.id, redactor.withheld()));
                    read.push(turn);
                }
                Err(invalid) => {
                    let skipped =
                        SkippedItem { what: format!("turn {}", turn.name), why: invalid.to_string() };
                    self.report.skipped.push(skipped);
                }
            }
        }
        if read.is_empty() {
            return Ok(());
        }
        let (logged, known) = access::decide_again(|| self.log(&read))?;
        // Only redactions in newly logged turns count, not those in turns that were in the log before or that are left
        // out.
        for (_, withheld) in withheld.iter().filter(|(id, _)| logged.contains(id)) {
            self.withheld.add(withheld);
        }
        let new = logged.len() as u64;
        self.report.turns.new += new;
        self.report.turns.known += known;
        self.report.turns.left_out += (read.len() as u64).saturating_sub(new + known);
        Ok(())
    }

    fn turn(&self, turn: &ForeignTurn, at: Timestamp, redactor: &mut Redactor) -> Result<Turn, Invalid> {
        let content = redactor.content(Field::Content, conversation::content(&turn.content)?)?;
        let (space, by) = (self.caller.space, self.caller.viewer.principal);
        let name = foreign::name(&[
            space.as_bytes(),
            by.as_bytes(),
            self.system.as_str().as_bytes(),
            b"turn",
            turn.name.as_bytes(),
        ]);
        let source = intake::given(Field::Source, turn.source.as_deref(), limits::NOTE_CHARS)?;
        Ok(Turn {
            id: TurnId::derived(at, &name),
            space,
            logged_by: by,
            channel: None,
            position: 0,
            role: turn.role,
            speaker: None,
            content,
            source: source.unwrap_or_else(|| "unknown".to_owned()),
            at: at.min(self.ports.clock.now()),
        })
    }

    /// Logs the turns that are missing in the log and are newer than its last turn. Returns their ids, and the number
    /// of turns that were in the log already.
    fn log(&self, read: &[Turn]) -> Result<(HashSet<TurnId>, u64), Error> {
        let (_, right) = access::workplace(self.ports, self.caller)?;
        let (viewer, space) = (&self.caller.viewer, self.caller.space);
        let all = TurnFilter { last: usize::MAX, ..TurnFilter::default() };
        let log = self.ports.store.turns(viewer, space, &all, usize::MAX)?;
        let ids: HashSet<TurnId> = log.iter().map(|turn| turn.id).collect();
        let newest = log.iter().map(|turn| turn.at).max();
        let known = read.iter().filter(|turn| ids.contains(&turn.id)).count() as u64;
        let follows = |turn: &&Turn| !ids.contains(&turn.id) && newest.is_none_or(|newest| turn.at >= newest);
        let new: Vec<&Turn> = read.iter().filter(follows).collect();
        if !new.is_empty() && !self.options.dry_run {
            let mut writes: Vec<Write> = new.iter().map(|turn| Write::LogTurn((*turn).clone())).collect();
            writes.push(Write::PruneTurns { space, keep: TURNS_KEPT });
            let now = self.ports.clock.now();
            self.ports.store.apply(&access::changes(self.caller, now, vec![right], writes))?;
        }
        Ok((new.into_iter().map(|turn| turn.id).collect(), known))
    }
}
