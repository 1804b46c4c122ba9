//! The ledger of passes: what they did is noted here, told, and [taken back](mod@undo).
//!
//! A pass on memories is noted in the very act that it is. One on files is noted before it writes them, with what they shall say:
//! where it was interrupted, the files themselves tell how far it came.

mod file;
mod undo;

use std::collections::HashSet;

use crate::access::{self, Parts};
use crate::change::{Actor, ChangeSet, Write};
use crate::error::{Error, Field};
use crate::id::{MemoryId, PassId, SpaceId};
use crate::limits;
use crate::memory::Memory;
use crate::pass::{Pass, PassAct, PassFilter, ToldAct, ToldPass};
use crate::preview;
use crate::read;
use crate::request::{Caller, Forgotten};
use crate::space::Viewer;
use crate::text::{secrets, visible};
use crate::time::Timestamp;
use crate::vocabulary::{PassKind, PassOutcome};

pub(crate) use self::undo::undo;

/// Most characters of a memory that an act repeats.
const PREVIEW: usize = 80;

/// Notes what is known of a pass, by who is said to have done it.
pub(crate) fn note(parts: &Parts, from: Option<PassOutcome>, pass: &Pass) -> Result<(), Error> {
    note_with(parts, from, pass, Vec::new())
}

/// The same with further writes, as one act.
pub(crate) fn note_with(
    parts: &Parts,
    from: Option<PassOutcome>,
    pass: &Pass,
    mut writes: Vec<Write>,
) -> Result<(), Error> {
    let by = Actor { principal: pass.by, agent: None };
    writes.push(Write::Pass { from, to: Box::new(pass.clone()) });
    parts.store.apply(&ChangeSet { by, at: parts.clock.now(), rights: Vec::new(), writes })?;
    Ok(())
}

/// The passes that the caller may be told of, newest first, without acts on what it may not see.
pub(crate) fn list(parts: &Parts, caller: &Caller, filter: &PassFilter) -> Result<Vec<Pass>, Error> {
    read::bounded(Field::Limit, filter.limit, limits::PAGE)?;
    let mut passes = parts.store.passes(&caller.viewer, filter)?;
    let ids: Vec<MemoryId> = passes.iter().flat_map(|pass| &pass.acts).flat_map(PassAct::memories).collect();
    let mut seen: HashSet<MemoryId> =
        parts.store.memories(&caller.viewer, &ids)?.into_iter().map(|memory| memory.id).collect();
    for id in ids {
        if !seen.contains(&id) && access::find_forgotten(parts, caller, id.into())?.is_some() {
            seen.insert(id);
        }
    }
    for pass in &mut passes {
        pass.acts.retain(|act| act.is_deed() && act.memories().iter().all(|id| seen.contains(id)));
    }
    Ok(passes)
}

/// One pass, with its acts in words.
pub(crate) fn get(parts: &Parts, caller: &Caller, id: PassId) -> Result<ToldPass, Error> {
    let mut pass = found(parts, caller, id)?;
    let acts = std::mem::take(&mut pass.acts);
    let (acts, told) = told(parts, caller, pass.space, acts)?.into_iter().unzip();
    pass.acts = acts;
    Ok(ToldPass { pass, told })
}

/// What was done by these acts, or would be, in words: of those on what the caller may see.
pub(crate) fn told(
    parts: &Parts,
    caller: &Caller,
    space: SpaceId,
    acts: Vec<PassAct>,
) -> Result<Vec<(PassAct, ToldAct)>, Error> {
    let mut told = Vec::new();
    for act in acts.into_iter().filter(PassAct::is_deed) {
        let Some(memories) = find_all(parts, caller, &act)? else { continue };
        let diff = file::diff(parts, caller, space, &act)?;
        told.push((act.clone(), ToldAct { text: text(&act, &memories), diff }));
    }
    Ok(told)
}

/// What passes of a kind have done in a space since then, of those that the viewer is told of.
pub(crate) fn acts(
    parts: &Parts,
    viewer: &Viewer,
    (space, kind): (SpaceId, PassKind),
    since: Timestamp,
) -> Result<Vec<PassAct>, Error> {
    let mut filter = PassFilter { space: Some(space), kind: Some(kind), before: None, limit: limits::PAGE };
    let mut acts = Vec::new();
    loop {
        let page = parts.store.passes(viewer, &filter)?;
        let full = page.len() == filter.limit;
        filter.before = page.last().map(|pass| pass.id);
        let last = page.last().is_none_or(|pass| pass.began_at < since);
        acts.extend(page.into_iter().filter(|pass| pass.began_at >= since).flat_map(|pass| pass.acts));
        if last || !full {
            return Ok(acts);
        }
    }
}

fn found(parts: &Parts, caller: &Caller, id: PassId) -> Result<Pass, Error> {
    parts.store.pass(&caller.viewer, id)?.ok_or(Error::NoPass { id })
}

/// The memories that an act is about, as they are now; `None` where one of them is gone or not for the caller.
fn find_all(parts: &Parts, caller: &Caller, act: &PassAct) -> Result<Option<Vec<Memory>>, Error> {
    let ids = act.memories();
    let mut found = Vec::new();
    for id in &ids {
        found.extend(find(parts, caller, *id)?);
    }
    Ok((found.len() == ids.len()).then_some(found))
}

/// A memory, forgotten or not, where the caller may see it.
fn find(parts: &Parts, caller: &Caller, id: MemoryId) -> Result<Option<Memory>, Error> {
    match parts.store.memory(&caller.viewer, caller.space, id.into(), Forgotten::Without)? {
        None => access::find_forgotten(parts, caller, id.into()),
        found => Ok(found),
    }
}

/// An act in words.
fn text(act: &PassAct, memories: &[Memory]) -> String {
    let shown = |at: usize| {
        memories.get(at).map_or_else(String::new, |memory| {
            let said = visible::plain(&secrets::redacted(&memory.edition.text.content));
            format!("{} ({})", memory.label(), preview::cut(&said, PREVIEW))
        })
    };
    match act {
        PassAct::Saved { aside: false, .. } => format!("saved {}", shown(0)),
        PassAct::Saved { aside: true, .. } => format!("saved {} and put it aside", shown(0)),
        PassAct::Forgot { .. } => format!("forgot {}", shown(0)),
        PassAct::Edited { from, to, .. } => format!("edited {}: version {from} became {to}", shown(0)),
        PassAct::Unlinked { .. } => format!("took the link from {} to {} away", shown(0), shown(1)),
        PassAct::Linked { relation, .. } => format!("linked {} {relation} {}", shown(0), shown(1)),
        PassAct::Noted { file, .. } => format!("noted an entry in {file}"),
        PassAct::Replaced { file, added, removed, .. } => {
            let lines = preview::plural(*added, "line", "lines");
            format!("rewrote {file}: {added} {lines} added, {removed} removed")
        }
        PassAct::Judged { .. } => "judged memories that say nearly the same".to_owned(),
    }
}

/// The space of a pass, by which its files are found.
fn space(parts: &Parts, caller: &Caller, id: SpaceId) -> Result<crate::space::Space, Error> {
    access::space_by_id(parts, caller, id)?.ok_or_else(|| Error::NoSpace { name: id.to_string() })
}
