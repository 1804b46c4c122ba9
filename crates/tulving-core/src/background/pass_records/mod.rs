//! The records of passes: stores the acts of each pass, lists them, and [undoes them](mod@undo).
//!
//! A pass on memories is recorded in the same transaction as its writes. A pass on files is recorded, with the new text,
//! before it writes: if the pass is interrupted, the files show which of its writes were done.

mod file;
mod latest;
mod undo;

use std::collections::HashSet;

use tulving_text::{secrets, visible};

use crate::model::change::{Actor, ChangeSet, Write};
use crate::model::error::{Error, Field};
use crate::model::id::{MemoryId, PassId, SpaceId};
use crate::model::limits;
use crate::model::memory::Memory;
use crate::model::pass::{DescribedAct, DescribedPass, Pass, PassAct, PassFilter};
use crate::model::preview;
use crate::model::request::{Caller, ForgottenFilter};
use crate::model::space::Viewer;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{PassKind, PassOutcome};
use crate::verbs::access::{self, Ports};
use crate::verbs::read;

pub(crate) use self::latest::undo_last;
pub(crate) use self::undo::undo;

/// Maximum number of characters of a memory in the description of an act.
const PREVIEW: usize = 80;

/// Records a pass in the name of its principal.
pub(crate) fn note(ports: &Ports, from: Option<PassOutcome>, pass: &Pass) -> Result<(), Error> {
    note_with(ports, from, pass, Vec::new())
}

/// Records a pass together with further writes, in one transaction.
pub(crate) fn note_with(
    ports: &Ports,
    from: Option<PassOutcome>,
    pass: &Pass,
    mut writes: Vec<Write>,
) -> Result<(), Error> {
    let by = Actor { principal: pass.by, agent: None };
    writes.push(Write::Pass { from, to: Box::new(pass.clone()) });
    ports.store.apply(&ChangeSet { by, at: ports.clock.now(), rights: Vec::new(), writes })?;
    Ok(())
}

/// Returns the passes that the caller may see, newest first. Acts on memories that the caller may not see are left out.
pub(crate) fn list(ports: &Ports, caller: &Caller, filter: &PassFilter) -> Result<Vec<Pass>, Error> {
    read::bounded(Field::Limit, filter.limit, limits::PAGE)?;
    let mut passes = ports.store.passes(&caller.viewer, filter)?;
    let ids: Vec<MemoryId> = passes.iter().flat_map(|pass| &pass.acts).flat_map(PassAct::memories).collect();
    let mut seen: HashSet<MemoryId> =
        ports.store.memories(&caller.viewer, &ids)?.into_iter().map(|memory| memory.id).collect();
    for id in ids {
        if !seen.contains(&id) && access::find_forgotten(ports, caller, id.into())?.is_some() {
            seen.insert(id);
        }
    }
    for pass in &mut passes {
        pass.acts.retain(|act| act.is_deed() && act.memories().iter().all(|id| seen.contains(id)));
    }
    Ok(passes)
}

/// Returns a pass with a description of each act.
pub(crate) fn get(ports: &Ports, caller: &Caller, id: PassId) -> Result<DescribedPass, Error> {
    let mut pass = found(ports, caller, id)?;
    let acts = std::mem::take(&mut pass.acts);
    let (acts, described) = described(ports, caller, pass.space, acts)?.into_iter().unzip();
    pass.acts = acts;
    Ok(DescribedPass { pass, described })
}

/// Describes the done or planned acts on memories that the caller may see.
pub(crate) fn described(
    ports: &Ports,
    caller: &Caller,
    space: SpaceId,
    acts: Vec<PassAct>,
) -> Result<Vec<(PassAct, DescribedAct)>, Error> {
    let mut described = Vec::new();
    for act in acts.into_iter().filter(PassAct::is_deed) {
        let Some(memories) = find_all(ports, caller, &act)? else { continue };
        let diff = file::diff(ports, caller, space, &act)?;
        described.push((act.clone(), DescribedAct { text: text(&act, &memories), diff }));
    }
    Ok(described)
}

/// Returns the acts of passes of one kind in a space since a given time, limited to passes that the viewer may see.
pub(crate) fn acts(
    ports: &Ports,
    viewer: &Viewer,
    (space, kind): (SpaceId, PassKind),
    since: Timestamp,
) -> Result<Vec<PassAct>, Error> {
    let mut filter = PassFilter { space: Some(space), kind: Some(kind), before: None, limit: limits::PAGE };
    let mut acts = Vec::new();
    loop {
        let page = ports.store.passes(viewer, &filter)?;
        let full = page.len() == filter.limit;
        filter.before = page.last().map(|pass| pass.id);
        let last = page.last().is_none_or(|pass| pass.began_at < since);
        acts.extend(page.into_iter().filter(|pass| pass.began_at >= since).flat_map(|pass| pass.acts));
        if last || !full {
            return Ok(acts);
        }
    }
}

fn found(ports: &Ports, caller: &Caller, id: PassId) -> Result<Pass, Error> {
    ports.store.pass(&caller.viewer, id)?.ok_or(Error::NoPass { id })
}

/// Returns the current memories of an act; `None` if a memory no longer exists or is not visible to the caller.
fn find_all(ports: &Ports, caller: &Caller, act: &PassAct) -> Result<Option<Vec<Memory>>, Error> {
    let ids = act.memories();
    let mut found = Vec::new();
    for id in &ids {
        found.extend(find(ports, caller, *id)?);
    }
    Ok((found.len() == ids.len()).then_some(found))
}

/// Returns a memory, forgotten or not, if the caller may see it.
fn find(ports: &Ports, caller: &Caller, id: MemoryId) -> Result<Option<Memory>, Error> {
    match ports.store.memory(&caller.viewer, caller.space, id.into(), ForgottenFilter::Without)? {
        None => access::find_forgotten(ports, caller, id.into()),
        found => Ok(found),
    }
}

/// Describes an act.
fn text(act: &PassAct, memories: &[Memory]) -> String {
    let shown = |at: usize| memories.get(at).map_or_else(String::new, shown);
    match act {
        PassAct::Saved { aside: false, .. } => format!("saved {}", shown(0)),
        PassAct::Saved { aside: true, .. } => format!("saved and quarantined {}", shown(0)),
        PassAct::Forgot { .. } => format!("forgot {}", shown(0)),
        PassAct::Edited { from, to, .. } => format!("edited {}: version {from} became {to}", shown(0)),
        PassAct::Unlinked { .. } => format!("removed the link from {} to {}", shown(0), shown(1)),
        PassAct::Linked { relation, .. } => format!("linked {} {relation} {}", shown(0), shown(1)),
        PassAct::Noted { file, .. } => format!("noted an entry in {file}"),
        PassAct::Replaced { file, added, removed, .. } => {
            let lines = preview::plural(*added, "line", "lines");
            format!("rewrote {file}: {added} {lines} added, {removed} removed")
        }
        PassAct::Judged { .. } => "judged memories that say nearly the same".to_owned(),
    }
}

/// Returns the name of a memory and the beginning of its content.
fn shown(memory: &Memory) -> String {
    let said = visible::plain(&secrets::redacted(&memory.fields.text.content));
    format!("{} ({})", memory.label(), preview::cut(&said, PREVIEW))
}

/// Returns the space of a pass. It determines the folder of the files.
fn space(ports: &Ports, caller: &Caller, id: SpaceId) -> Result<crate::model::space::Space, Error> {
    access::space_by_id(ports, caller, id)?.ok_or_else(|| Error::NoSpace { name: id.to_string() })
}
