//! Takes in the log of a conversation: the newest turns that are not older than what the log has.

use std::collections::HashSet;

use crate::access;
use crate::change::Write;
use crate::error::{Error, Field, Invalid};
use crate::foreign::{self, ForeignTurn, Skipped};
use crate::id::TurnId;
use crate::limits;
use crate::request::TurnFilter;
use crate::save::intake;
use crate::space::Space;
use crate::text::normalize;
use crate::text::withhold::{Sieve, Withheld};
use crate::time::Timestamp;
use crate::turn::{TURNS_KEPT, Turn};

use super::Taking;

impl Taking<'_> {
    /// The log is in the order of time, and nothing is put into its middle: a turn that is older than the newest of the log is
    /// left out.
    pub(super) fn turns(&mut self, turns: &[ForeignTurn], space: &Space) -> Result<(), Error> {
        let kept = usize::try_from(TURNS_KEPT).unwrap_or(usize::MAX);
        let beyond = turns.len().saturating_sub(kept);
        self.report.turns.left_out += beyond as u64;
        if beyond > 0 {
            self.report
                .notes
                .push(format!("of the log of conversations the newest {TURNS_KEPT} turns are kept"));
        }
        let mut read = Vec::new();
        let mut last = Timestamp::from_micros(0);
        for turn in &turns[beyond..] {
            last = turn.at.unwrap_or(last);
            let mut sieve = self.parts.sieve(space);
            match self.turn(turn, last, &mut sieve) {
                Ok(turn) => read.push((turn, sieve.withheld())),
                Err(invalid) => {
                    let skipped = Skipped { what: format!("turn {}", turn.name), why: invalid.to_string() };
                    self.report.skipped.push(skipped);
                }
            }
        }
        if read.is_empty() {
            return Ok(());
        }
        let (turns, withheld): (Vec<Turn>, Vec<Withheld>) = read.into_iter().unzip();
        let read = turns;
        let (new, known) = access::decide_again(|| self.log(&read))?;
        if new > 0 {
            withheld.iter().for_each(|withheld| self.withheld.add(withheld));
        }
        self.report.turns.new += new;
        self.report.turns.known += known;
        self.report.turns.left_out += (read.len() as u64).saturating_sub(new + known);
        Ok(())
    }

    fn turn(&self, turn: &ForeignTurn, at: Timestamp, sieve: &mut Sieve) -> Result<Turn, Invalid> {
        let (got, limit) = (turn.content.len(), limits::TURN_BYTES);
        if got > limit {
            return Err(Invalid::TooLong { field: Field::Content, got, limit, unit: "bytes" });
        }
        let content = normalize::content(&turn.content)?;
        if content.is_empty() {
            return Err(Invalid::Empty { field: Field::Content });
        }
        let content = sieve.content(Field::Content, content)?;
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
            at: at.min(self.parts.clock.now()),
        })
    }

    /// Logs those that are not in the log and follow it, and says how many these are and how many were there.
    fn log(&self, read: &[Turn]) -> Result<(u64, u64), Error> {
        let (_, right) = access::workplace(self.parts, self.caller)?;
        let (viewer, space) = (&self.caller.viewer, self.caller.space);
        let all = TurnFilter { channel: None, last: limits::PAGE };
        let log = self.parts.store.turns(viewer, space, &all, usize::MAX)?;
        let ids: HashSet<TurnId> = log.iter().map(|turn| turn.id).collect();
        let newest = log.iter().map(|turn| turn.at).max();
        let known = read.iter().filter(|turn| ids.contains(&turn.id)).count() as u64;
        let follows = |turn: &&Turn| !ids.contains(&turn.id) && newest.is_none_or(|newest| turn.at >= newest);
        let mut writes: Vec<Write> = read.iter().filter(follows).cloned().map(Write::LogTurn).collect();
        let new = writes.len() as u64;
        if new > 0 && !self.options.dry_run {
            writes.push(Write::PruneTurns { space, keep: TURNS_KEPT });
            let now = self.parts.clock.now();
            self.parts.store.apply(&access::changes(self.caller, now, vec![right], writes))?;
        }
        Ok((new, known))
    }
}
