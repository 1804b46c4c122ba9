//! Forgets memories, softly or for good, and brings a softly forgotten one back.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{self, Parts};
use crate::answer::{Edited, Foreseen, Forgone, Gone, Swept, Warning};
use crate::change::{Right, Write};
use crate::error::{Error, Field, Invalid};
use crate::id::{MemoryRef, PassId, SpaceId};
use crate::limits;
use crate::memory::{Memory, Standing};
use crate::objects;
use crate::read;
use crate::request::{Caller, Filter, ForgetRequest, ForgetWhere, Forgotten, Manner, Sort, TurnFilter};
use crate::save::{dedupe, intake};
use crate::standing;
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::{AuditAct, PassKind, Role, State};

/// How many memories are read at a time.
const SLICE: usize = 64;

/// Forgets a memory and gives it as it was. Softly, the row stays for audit and can be restored; hard, row, versions,
/// chunks and vectors go, also those of a memory that was softly forgotten before. To delete leaves the latter alone.
pub(crate) fn forget(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    request: &ForgetRequest,
) -> Result<Edited, Error> {
    let (reason, mut warnings) = reason(parts, caller, request)?;
    let (mut gone, turns) = access::decide_again(|| {
        let act = Act::new(parts, caller, request.manner, reason.clone());
        let leaving = act.decide(which)?;
        act.write(vec![leaving])
    })?;
    warnings.extend(turns);
    Ok(Edited { memory: gone.pop().expect("one memory was forgotten"), warnings })
}

/// Forgets several memories as one act: all that are there, or none where one may not be forgotten.
pub(crate) fn forget_many(
    parts: &Parts,
    caller: &Caller,
    which: &[MemoryRef],
    request: &ForgetRequest,
) -> Result<Gone, Error> {
    let (reason, mut warnings) = reason(parts, caller, request)?;
    let ((forgotten, turns), missing) = access::decide_again(|| {
        let act = Act::new(parts, caller, request.manner, reason.clone());
        let (leaving, missing) = access::several(which, limits::FORGETS, |which| {
            let leaving = act.decide(which)?;
            Ok((leaving.memory.id, leaving))
        })?;
        Ok((act.write(leaving)?, missing))
    })?;
    warnings.extend(turns);
    Ok(Gone { forgotten, missing, warnings })
}

/// What [`forget_where`] would forget, or why it would not. Nothing is written.
pub(crate) fn foresee_where(parts: &Parts, caller: &Caller, asked: &ForgetWhere) -> Result<Foreseen, Error> {
    reason(parts, caller, &asked.request)?;
    let act = Act::new(parts, caller, asked.request.manner, None);
    let leaving = act.matching(asked)?;
    let count = leaving.len() as u64;
    let newest = leaving.into_iter().take(limits::FORESEEN).map(|leaving| leaving.memory).collect();
    Ok(Foreseen { count, newest })
}

/// Forgets all records of the caller's space that a condition holds of, as one act: all or, where one may not be forgotten
/// or another number was expected, none.
pub(crate) fn forget_where(parts: &Parts, caller: &Caller, asked: &ForgetWhere) -> Result<Swept, Error> {
    let (reason, mut warnings) = reason(parts, caller, &asked.request)?;
    let (gone, turns) = access::decide_again(|| {
        let act = Act::new(parts, caller, asked.request.manner, reason.clone());
        let leaving = act.matching(asked)?;
        act.write(leaving)
    })?;
    warnings.extend(turns);
    let forgone = |memory: Memory| Forgone { id: memory.id, number: memory.number, owner: memory.owner };
    Ok(Swept { forgotten: gone.into_iter().map(forgone).collect(), warnings })
}

/// The condition as it is looked up: within the caller's space, of records, and of archived ones only where they are named.
fn condition(filter: &Filter, caller: &Caller, now: Timestamp) -> Result<Filter, Error> {
    if filter.is_empty() {
        return Err(Invalid::ConditionMissing.into());
    }
    // It would be in every memory.
    if filter.substring.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Invalid::Empty { field: Field::Text }.into());
    }
    let mut filter = read::fitted(filter, now)?;
    filter.space = Some(caller.space);
    filter.records_only = true;
    filter.forgotten = Forgotten::Without;
    if filter.states.is_empty() {
        filter.states = State::unarchived();
    }
    Ok(filter)
}

/// The reason in its normal form, without what must not be stored, and what was held back of it.
pub(crate) fn reason(
    parts: &Parts,
    caller: &Caller,
    request: &ForgetRequest,
) -> Result<(Option<String>, Vec<Warning>), Error> {
    let mut reason = intake::given(Field::Reason, request.reason.as_deref(), limits::NOTE_CHARS)?;
    if reason.is_none() {
        return Ok((None, Vec::new()));
    }
    let mut sieve = parts.sieve_of(&caller.viewer, caller.space)?;
    intake::withhold_line(&mut sieve, Field::Reason, &mut reason, limits::NOTE_CHARS)?;
    Ok((reason, sieve.withheld().warnings()))
}

/// One act of forgetting.
struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    now: Timestamp,
    manner: Manner,
    reason: Option<String>,
}

/// A memory that may be forgotten, and by what right.
struct Leaving {
    memory: Memory,
    right: Right,
}

impl<'a> Act<'a> {
    fn new(parts: &'a Parts, caller: &'a Caller, manner: Manner, reason: Option<String>) -> Self {
        Self { parts, caller, now: parts.clock.now(), manner, reason }
    }

    fn decide(&self, which: MemoryRef) -> Result<Leaving, Error> {
        let (parts, caller) = (self.parts, self.caller);
        if self.manner == Manner::Soft {
            let (memory, right) = access::find_editable(parts, caller, which)?;
            return Ok(Leaving { memory, right });
        }
        let forgotten = match self.manner {
            Manner::Hard => access::find_forgotten(parts, caller, which)?,
            Manner::Soft | Manner::Delete => None,
        };
        let memory = match forgotten.map_or_else(|| access::find(parts, caller, which), Ok) {
            Err(Error::Forgotten { .. }) => return Err(access::absent(parts, caller, which)?),
            found => found?,
        };
        let right = access::require_over(parts, caller, which, &memory)?;
        access::refuse_mirror(&memory)?;
        Ok(Leaving { memory, right })
    }

    /// All that a condition holds of, newest first, where they are as many as expected and all of them may be forgotten.
    fn matching(&self, asked: &ForgetWhere) -> Result<Vec<Leaving>, Error> {
        let (parts, caller) = (self.parts, self.caller);
        let filter = condition(&asked.filter, caller, self.now)?;
        let right = access::require(parts, caller, caller.space, Role::Writer)?;
        let memories = self.load(&filter)?;
        let found = memories.len() as u64;
        if let Some(expected) = asked.expect.filter(|expected| *expected != found) {
            return Err(Error::CountChanged { expected, found });
        }
        let is_own = |memory: &Memory| memory.owner == caller.viewer.principal;
        let others = memories.iter().filter(|memory| !is_own(memory)).count();
        let over_others = match self.manner {
            Manner::Hard | Manner::Delete if others > 0 => self.right_over_others(others, memories.len())?,
            _ => right,
        };
        let leaving = memories.into_iter().map(|memory| {
            let right = if is_own(&memory) { right } else { over_others };
            Leaving { right: Right { over: Some(memory.id), ..right }, memory }
        });
        Ok(leaving.collect())
    }

    /// The right to erase what others saved in the caller's space.
    fn right_over_others(&self, count: usize, of: usize) -> Result<Right, Error> {
        let right = access::require(self.parts, self.caller, self.caller.space, Role::Admin);
        right.map_err(|error| match error {
            Error::Denied { .. } => Error::OfOthers { count, of },
            error => error,
        })
    }

    /// The memories that a filter means, newest first. Beyond the [first](limits::FORESEEN) they come without their contents,
    /// which may be long.
    fn load(&self, filter: &Filter) -> Result<Vec<Memory>, Error> {
        let (store, viewer) = (&self.parts.store, &self.caller.viewer);
        let ids = store.ids(viewer, filter, Sort::Newest)?;
        let (got, limit) = (ids.len(), limits::BATCH);
        if got > limit {
            return Err(Invalid::TooManyMatch { got, limit }.into());
        }
        let mut memories: Vec<Memory> = Vec::with_capacity(got);
        for slice in ids.chunks(SLICE) {
            for mut memory in store.memories(viewer, slice)? {
                // One that was edited, moved or put aside since the ids were read.
                if memory.standing.quarantined_at.is_some() || !filter.admits(&memory) {
                    continue;
                }
                if memories.len() >= limits::FORESEEN {
                    memory.edition.text.content = String::new();
                }
                memories.push(memory);
            }
        }
        Ok(memories)
    }

    /// That turns stay in the log which the memories were noted of, where they are erased and the turns are there. A look at
    /// turns names its turn in its note.
    fn turns_that_stay(&self, leaving: &[Leaving]) -> Result<Option<Warning>, Error> {
        let (store, viewer) = (&self.parts.store, &self.caller.viewer);
        let passes: BTreeSet<PassId> = match self.manner {
            Manner::Soft => BTreeSet::new(),
            Manner::Hard | Manner::Delete => {
                leaving.iter().filter_map(|leaving| leaving.memory.provenance.pass).collect()
            }
        };
        let mut noted: BTreeMap<SpaceId, BTreeSet<u64>> = BTreeMap::new();
        for pass in passes {
            let looked = store.pass(viewer, pass)?.filter(|pass| pass.kind == PassKind::Proactive);
            let turn = looked.as_ref().and_then(|pass| pass.note.as_deref()).and_then(Turn::noted);
            if let (Some(pass), Some(turn)) = (looked, turn) {
                noted.entry(pass.space).or_default().insert(turn);
            }
        }
        let mut turns = Vec::new();
        let all = TurnFilter { channel: None, last: usize::MAX };
        for (space, noted) in noted {
            let log = store.turns(viewer, space, &all, usize::MAX)?;
            turns.extend(log.iter().map(|turn| turn.position).filter(|turn| noted.contains(turn)));
        }
        Ok((!turns.is_empty()).then_some(Warning::TurnsStay { turns }))
    }

    /// Forgets all of them and gives them as they were, and says what they came from where that stays.
    fn write(self, leaving: Vec<Leaving>) -> Result<(Vec<Memory>, Option<Warning>), Error> {
        let turns = self.turns_that_stay(&leaving)?;
        let Self { parts, caller, now, manner, reason } = self;
        let (mut rights, mut writes, mut gone, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for Leaving { memory, right } in leaving {
            let (id, standing) = (memory.id, memory.standing);
            let (write, act) = match manner {
                Manner::Soft => {
                    let to = Standing { forgotten_at: Some(now), ..standing };
                    (Write::Move { id, from: standing, to }, AuditAct::Forgot)
                }
                Manner::Hard | Manner::Delete => {
                    (Write::Erase { id, from: Some(memory.version) }, AuditAct::Erased)
                }
            };
            writes.push(write);
            writes.push(Write::Audit(standing::audit(caller, now, act, &memory, reason.clone(), None)));
            if let (Manner::Hard | Manner::Delete, Some(attachment)) = (manner, &memory.provenance.attachment)
            {
                let (write, job) = objects::leaves(attachment, now);
                writes.push(write);
                files.push(job);
            }
            rights.push(right);
            gone.push(memory);
        }
        if !writes.is_empty() {
            parts.store.apply(&access::changes(caller, now, rights, writes))?;
        }
        files.into_iter().for_each(|file| objects::drop_now(parts, file));
        Ok((gone, turns))
    }
}

/// Brings a softly forgotten memory back. One that is not forgotten is given as it is.
pub(crate) fn restore(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let Some(memory) = access::find_forgotten(parts, caller, which)? else {
            return access::find(parts, caller, which);
        };
        let right = access::require_in_place(parts, caller, &memory, Role::Writer)?;
        dedupe::refuse_held(parts, &caller.viewer, &memory, &memory.edition)?;
        let to = Standing { forgotten_at: None, ..memory.standing };
        standing::put(parts, caller, right, memory, to, (AuditAct::Restored, None))
    })
}
