//! Forgets memories, softly or permanently, and restores softly forgotten memories.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::answer::{
    EditedMemory, ForgetWherePreview, ForgottenMatches, ForgottenMemories, ForgottenMemory, Warning,
};
use crate::model::change::{RequiredRole, Write};
use crate::model::error::{Error, Field, Invalid};
use crate::model::id::{MemoryRef, PassId, SpaceId};
use crate::model::limits;
use crate::model::memory::{Memory, Sources, Status};
use crate::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, ForgottenFilter, Sort, TurnFilter,
};
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::{AuditAct, PassKind, Role, State};
use crate::verbs::access::{self, Ports};
use crate::verbs::objects;
use crate::verbs::read;
use crate::verbs::retract::named;
use crate::verbs::save::sources::SourceChange;
use crate::verbs::save::{dedupe, intake};
use crate::verbs::status;
use crate::verbs::succession::{self, PointInTime};

/// Number of memories read at a time.
const SLICE: usize = 64;

/// Forgets a memory, and returns the memory as it was before. A soft forget keeps the row for audit, and can be undone.
/// A hard forget deletes the row, versions, chunks and vectors, even if the memory was softly forgotten before. A
/// delete does not change a memory that was softly forgotten before.
pub(crate) fn forget(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    request: &ForgetRequest,
) -> Result<EditedMemory, Error> {
    let (reason, mut warnings) = reason(ports, caller, request)?;
    let (mut gone, turns) = access::decide_again(|| {
        let act = ForgetBatch::new(ports, caller, request.mode, reason.clone());
        let leaving = act.decide(which)?;
        act.write(vec![leaving])
    })?;
    warnings.extend(turns);
    Ok(EditedMemory { memory: gone.pop().expect("one memory was forgotten"), warnings })
}

/// Forgets several memories in one transaction. Memories that do not exist are skipped. If one memory may not be
/// forgotten, none is forgotten.
pub(crate) fn forget_many(
    ports: &Ports,
    caller: &Caller,
    which: &[MemoryRef],
    request: &ForgetRequest,
) -> Result<ForgottenMemories, Error> {
    let (reason, mut warnings) = reason(ports, caller, request)?;
    let ((forgotten, turns), missing) = access::decide_again(|| {
        let act = ForgetBatch::new(ports, caller, request.mode, reason.clone());
        let (leaving, missing) = access::several(which, limits::FORGETS, |which| {
            let leaving = act.decide(which)?;
            Ok((leaving.memory.id, leaving))
        })?;
        Ok((act.write(leaving)?, missing))
    })?;
    warnings.extend(turns);
    Ok(ForgottenMemories { forgotten, missing, warnings })
}

/// Previews [`forget_where`]: returns the memories that it would forget, or the error that it would return. Writes
/// nothing.
pub(crate) fn foresee_where(
    ports: &Ports,
    caller: &Caller,
    asked: &ForgetWhere,
) -> Result<ForgetWherePreview, Error> {
    reason(ports, caller, &asked.request)?;
    let act = ForgetBatch::new(ports, caller, asked.request.mode, None);
    let leaving = act.matching(asked)?;
    let count = leaving.len() as u64;
    let newest = leaving.into_iter().take(limits::FORESEEN).map(|leaving| leaving.memory).collect();
    Ok(ForgetWherePreview { count, newest })
}

/// Forgets all records of the caller's space that match a condition, in one transaction. If one of them may not be
/// forgotten, or if their number differs from the expected number, none is forgotten.
pub(crate) fn forget_where(
    ports: &Ports,
    caller: &Caller,
    asked: &ForgetWhere,
) -> Result<ForgottenMatches, Error> {
    let (reason, mut warnings) = reason(ports, caller, &asked.request)?;
    let (gone, turns) = access::decide_again(|| {
        let act = ForgetBatch::new(ports, caller, asked.request.mode, reason.clone());
        let leaving = act.matching(asked)?;
        act.write(leaving)
    })?;
    warnings.extend(turns);
    let forgone =
        |memory: Memory| ForgottenMemory { id: memory.id, number: memory.number, owner: memory.owner };
    Ok(ForgottenMatches { forgotten: gone.into_iter().map(forgone).collect(), warnings })
}

/// Returns the filter for a condition. The filter matches records of the caller's space; it matches archived records
/// only if the condition names that state.
fn condition(filter: &Filter, caller: &Caller, now: Timestamp) -> Result<Filter, Error> {
    if filter.is_empty() {
        return Err(Invalid::ConditionMissing.into());
    }
    // A blank text would match every memory.
    if filter.substring.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Invalid::Empty { field: Field::Text }.into());
    }
    let mut filter = read::fitted(filter, now)?;
    filter.space = Some(caller.space);
    filter.records_only = true;
    filter.forgotten = ForgottenFilter::Without;
    if filter.states.is_empty() {
        filter.states = State::unarchived();
    }
    Ok(filter)
}

/// Returns the reason in its normal form without secrets, and warnings about the redactions.
pub(crate) fn reason(
    ports: &Ports,
    caller: &Caller,
    request: &ForgetRequest,
) -> Result<(Option<String>, Vec<Warning>), Error> {
    let mut reason = intake::given(Field::Reason, request.reason.as_deref(), limits::NOTE_CHARS)?;
    if reason.is_none() {
        return Ok((None, Vec::new()));
    }
    let mut redactor = ports.redactor_for(&caller.viewer, caller.space)?;
    intake::withhold_line(&mut redactor, Field::Reason, &mut reason, limits::NOTE_CHARS)?;
    Ok((reason, redactor.withheld().warnings()))
}

/// A forget operation.
struct ForgetBatch<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    now: Timestamp,
    mode: ForgetMode,
    reason: Option<String>,
}

/// A memory that the caller may forget, and the right that allows this.
struct ForgettableMemory {
    memory: Memory,
    right: RequiredRole,
}

impl<'a> ForgetBatch<'a> {
    fn new(ports: &'a Ports, caller: &'a Caller, mode: ForgetMode, reason: Option<String>) -> Self {
        Self { ports, caller, now: ports.clock.now(), mode, reason }
    }

    fn decide(&self, which: MemoryRef) -> Result<ForgettableMemory, Error> {
        let (ports, caller) = (self.ports, self.caller);
        if self.mode == ForgetMode::Soft {
            let (memory, right) = access::find_editable(ports, caller, which)?;
            return Ok(ForgettableMemory { memory, right });
        }
        let forgotten = match self.mode {
            ForgetMode::Hard => access::find_forgotten(ports, caller, which)?,
            ForgetMode::Soft | ForgetMode::Delete => None,
        };
        let memory = match forgotten.map_or_else(|| access::find(ports, caller, which), Ok) {
            Err(Error::Forgotten { .. }) => return Err(access::absent(ports, caller, which)?),
            found => found?,
        };
        let right = access::require_over(ports, caller, which, &memory)?;
        access::refuse_mirror(&memory)?;
        Ok(ForgettableMemory { memory, right })
    }

    /// Returns all memories that match a condition, newest first. Returns an error if their number differs from the
    /// expected number, or if one of them may not be forgotten.
    fn matching(&self, asked: &ForgetWhere) -> Result<Vec<ForgettableMemory>, Error> {
        let (ports, caller) = (self.ports, self.caller);
        let filter = condition(&asked.filter, caller, self.now)?;
        let right = access::require(ports, caller, caller.space, Role::Writer)?;
        let memories = self.load(&filter)?;
        let found = memories.len() as u64;
        if let Some(expected) = asked.expect.filter(|expected| *expected != found) {
            return Err(Error::CountChanged { expected, found });
        }
        let is_own = |memory: &Memory| memory.owner == caller.viewer.principal;
        let others = memories.iter().filter(|memory| !is_own(memory)).count();
        let over_others = match self.mode {
            ForgetMode::Hard | ForgetMode::Delete if others > 0 => {
                self.right_over_others(others, memories.len())?
            }
            _ => right,
        };
        let leaving = memories.into_iter().map(|memory| {
            let right = if is_own(&memory) { right } else { over_others };
            ForgettableMemory { right: RequiredRole { over: Some(memory.id), ..right }, memory }
        });
        Ok(leaving.collect())
    }

    /// Returns the right to erase memories that other principals saved in the caller's space.
    fn right_over_others(&self, count: usize, of: usize) -> Result<RequiredRole, Error> {
        let right = access::require(self.ports, self.caller, self.caller.space, Role::Admin);
        right.map_err(|error| match error {
            Error::Denied { .. } => Error::OfOthers { count, of },
            error => error,
        })
    }

    /// Returns the memories that match a filter, newest first. Only the [first few](limits::FORESEEN) have their
    /// content, because contents may be long.
    fn load(&self, filter: &Filter) -> Result<Vec<Memory>, Error> {
        let (store, viewer) = (&self.ports.store, &self.caller.viewer);
        let ids = store.ids(viewer, filter, Sort::Newest)?;
        let (got, limit) = (ids.len(), limits::BATCH);
        if got > limit {
            return Err(Invalid::TooManyMatch { got, limit }.into());
        }
        let mut memories: Vec<Memory> = Vec::with_capacity(got);
        for slice in ids.chunks(SLICE) {
            for mut memory in store.memories(viewer, slice)? {
                // The memory was edited, moved or quarantined since the ids were read.
                if memory.status.quarantined_at.is_some() || !filter.admits(&memory) {
                    continue;
                }
                if memories.len() >= limits::FORESEEN {
                    memory.fields.text.content = String::new();
                }
                memories.push(memory);
            }
        }
        Ok(memories)
    }

    /// Returns a warning about turns that stay in the log although memories captured from them are erased. The source
    /// note that a proactive pass writes names the turn.
    fn turns_that_stay(&self, leaving: &[ForgettableMemory]) -> Result<Option<Warning>, Error> {
        let (store, viewer) = (&self.ports.store, &self.caller.viewer);
        let passes: BTreeSet<PassId> = match self.mode {
            ForgetMode::Soft => BTreeSet::new(),
            ForgetMode::Hard | ForgetMode::Delete => {
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
        let all = TurnFilter { last: usize::MAX, ..TurnFilter::default() };
        for (space, noted) in noted {
            let log = store.turns(viewer, space, &all, usize::MAX)?;
            turns.extend(log.iter().map(|turn| turn.position).filter(|turn| noted.contains(turn)));
        }
        Ok((!turns.is_empty()).then_some(Warning::TurnsStay { turns }))
    }

    /// Forgets these memories. Returns the memories as they were before, and a warning about turns that stay in the
    /// log.
    fn write(self, leaving: Vec<ForgettableMemory>) -> Result<(Vec<Memory>, Option<Warning>), Error> {
        let turns = self.turns_that_stay(&leaving)?;
        let Self { ports, caller, now, mode, reason } = self;
        let (mut rights, mut writes, mut gone, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ForgettableMemory { memory, right } in leaving {
            let (id, status) = (memory.id, memory.status);
            let (write, act) = match mode {
                ForgetMode::Soft => {
                    let to = Status { forgotten_at: Some(now), ..status };
                    (Write::Move { id, from: status, to }, AuditAct::Forgot)
                }
                ForgetMode::Hard | ForgetMode::Delete => {
                    (Write::Erase { id, from: Some(memory.version) }, AuditAct::Erased)
                }
            };
            writes.push(write);
            writes.push(Write::Audit(status::audit(caller, now, act, &memory, reason.clone(), None)));
            if let (ForgetMode::Hard | ForgetMode::Delete, Some(attachment)) =
                (mode, &memory.provenance.attachment)
            {
                let (write, job) = objects::leaves(attachment, now);
                writes.push(write);
                files.push(job);
            }
            rights.push(right);
            gone.push(memory);
        }
        if !writes.is_empty() {
            ports.store.apply(&access::changes(caller, now, rights, writes))?;
        }
        files.into_iter().for_each(|file| objects::drop_now(ports, file));
        Ok((gone, turns))
    }
}

/// Restores a softly forgotten memory. A memory that is not forgotten is returned unchanged.
pub(crate) fn restore(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<EditedMemory, Error> {
    access::decide_again(|| {
        let Some(memory) = access::find_forgotten(ports, caller, which)? else {
            let memory = access::find(ports, caller, which)?;
            return Ok(EditedMemory { memory, warnings: Vec::new() });
        };
        let right = access::require_in_place(ports, caller, &memory, Role::Writer)?;
        let now = ports.clock.now();
        let (mut memory, mut writes, warnings) = without_taken_paths(ports, caller, now, memory)?;
        dedupe::refuse_held(ports, &caller.viewer, &memory, &memory.fields)?;
        let to = Status { forgotten_at: None, ..memory.status };
        let audit = status::audit(caller, now, AuditAct::Restored, &memory, None, None);
        writes.push(Write::Move { id: memory.id, from: memory.status, to });
        writes.push(Write::Audit(audit));
        succession::settle(ports, caller, [&mut memory], PointInTime::Now(now))?;
        ports.store.apply(&access::changes(caller, now, vec![right], writes))?;
        Ok(EditedMemory { memory: Memory { status: to, ..memory }, warnings })
    })
}

/// Removes from a forgotten memory the paths that now belong to other memories. Returns the resulting memory, the
/// writes and the warnings.
fn without_taken_paths(
    ports: &Ports,
    caller: &Caller,
    now: Timestamp,
    mut memory: Memory,
) -> Result<(Memory, Vec<Write>, Vec<Warning>), Error> {
    let (mut writes, mut warnings) = (Vec::new(), Vec::new());
    for path in memory.provenance.paths().to_vec() {
        let Some(by) = dedupe::path_holder(ports, &caller.viewer, &memory, &path)? else { continue };
        let from = memory.provenance.sources();
        let to = from.clone().without(&path).unwrap_or(Sources::NONE);
        if let Some(change) = SourceChange::between(&from, &to) {
            writes.push(Write::Audit(change.audit(caller, now, &memory)));
        }
        writes.push(Write::SetSources { id: memory.id, from, to: to.clone() });
        memory.provenance.set_sources(to);
        let (restored, by) = (named(caller, &memory), named(caller, &by));
        warnings.push(Warning::PathLeftOut { memory: restored, path, by });
    }
    Ok((memory, writes, warnings))
}
