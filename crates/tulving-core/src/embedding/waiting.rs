//! Embeds the memories that wait for their vectors, portion by portion, and lets a model that was set up take over.
//!
//! What was written stays, whatever happens to the rest. A memory that a model fails on waits behind the others.

use crate::access::{self, Parts};
use crate::change::Write;
use crate::error::{Error, ModelError, StoreError};
use crate::id::{MemoryId, MemoryRef};
use crate::memory::{Chunk, Memory};
use crate::ports::Embedder;
use crate::request::Caller;
use crate::search::Entry;

use super::near::{Newcomer, link, near};
use super::{Source, answering, embedder_of, vectors};

/// How many sections are embedded before their vectors are written, and how many memories are read at the most for it.
const AT_A_TIME: usize = 64;
/// How often a memory that cannot be embedded is tried, before only who asks for it tries again.
const TRIES: u32 = 3;
/// What every model can embed; where it does not, the model is at fault and not the texts.
const PROBE: &str = "memory";

/// What became of the memories that waited for vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// How many got theirs, all of them.
    pub done: u64,
    /// How many sections did, of these and of others.
    pub sections: usize,
    /// How many still wait, of the model that answers or of the one that shall.
    pub left: u64,
    /// Those of them that the model failed on, while it embeds others.
    pub failed: Vec<Failed>,
    /// The model that took over just now.
    pub took_over: Option<String>,
}

impl Embedded {
    /// Whether another step may do more: one that ends no memory has still done some sections of a long one.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.left > 0 && self.sections > 0
    }
}

/// A memory that a model failed on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Which.
    pub memory: MemoryId,
    /// Why.
    pub why: String,
}

/// Which model is embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The one that answers; where none does, the one that is set up.
    Answering,
    /// That one, then the one that is set up, which takes over once it has embedded everything.
    SetUp,
}

/// Embeds up to `most` sections of the memories that wait, oldest first.
pub(crate) fn embed_waiting(parts: &Parts, aim: Aim, most: usize) -> Result<Embedded, Error> {
    let mut report = Embedded::default();
    let set_up = match parts.embedder.model() {
        Err(ModelError::None) => return Ok(report),
        set_up => set_up?,
    };
    let answers = parts.store.model()?;
    if let Some(model) = &answers {
        if let Some(embedder) = embedder_of(parts, model) {
            embed_for(parts, embedder.as_ref(), aim, most, &mut report)?;
        }
        report.left = parts.store.unembedded(model)?;
    }
    if answers.as_ref() == Some(&set_up) || (aim == Aim::Answering && answers.is_some()) {
        return Ok(report);
    }
    let room = most.saturating_sub(report.sections);
    report.failed.clear();
    embed_for(parts, parts.embedder.as_ref(), aim, room, &mut report)?;
    report.left = parts.store.unembedded(&set_up)?;
    // What it fails on is found by its words, with the old model as with the new one.
    let all_tried = report.left <= report.failed.len() as u64;
    // A store without any model takes the first that embeds something.
    if aim == Aim::SetUp && all_tried && parts.store.model()?.as_ref() != Some(&set_up) {
        let choose = Write::ChooseModel { from: answers, to: set_up.clone() };
        match parts.store.apply(&access::own_changes(parts.clock.now(), vec![choose])) {
            Ok(_) => report.took_over = Some(set_up),
            // Somebody else did, or a memory came in between; the next call sees.
            Err(StoreError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(report)
}

fn embed_for(
    parts: &Parts,
    embedder: &dyn Embedder,
    aim: Aim,
    most: usize,
    report: &mut Embedded,
) -> Result<(), Error> {
    let model = embedder.model()?;
    let tried = if aim == Aim::SetUp { u32::MAX } else { TRIES };
    let mut room = most;
    while room > 0 {
        let at_a_time = room.min(AT_A_TIME);
        let mut ids = parts.store.unembedded_ids(&model, tried, at_a_time + report.failed.len())?;
        ids.retain(|id| report.failed.iter().all(|failed| failed.memory != *id));
        ids.truncate(at_a_time);
        if ids.is_empty() {
            break;
        }
        let mut works = portion(parts.store.entries(&ids, Some(&model))?, at_a_time);
        let unlinked = parts.store.unlinked(&ids)?;
        let failed = match embed_works(embedder, &mut works) {
            Ok(()) => Vec::new(),
            Err(error) => one_by_one(embedder, &mut works, error)?,
        };
        let before = room;
        for work in works {
            let (made, last) = (work.bare.len(), work.last);
            room = room.saturating_sub(made);
            let links = unlinked.contains(&work.memory.id);
            if keep(parts, work, links)? {
                report.sections += made;
                report.done += u64::from(last);
            }
        }
        if room == before && failed.is_empty() {
            break;
        }
        set_back(parts, &model, &failed)?;
        report.failed.extend(failed);
    }
    Ok(())
}

/// A memory, and those of its chunks that get their vectors now.
struct Work {
    memory: Memory,
    /// Whether it has no other chunks.
    alone: bool,
    bare: Vec<(u32, Chunk)>,
    /// Whether none is left to do after these.
    last: bool,
}

/// The first chunks that lack a vector, at most so many, memory by memory: those that lack few come first, so that a long
/// one holds up none of them.
fn portion(entries: Vec<Entry>, most: usize) -> Vec<Work> {
    let mut works: Vec<Work> = entries.into_iter().map(Work::of).collect();
    works.sort_by_key(|work| work.bare.len());
    let mut left = most;
    for work in &mut works {
        work.last = work.bare.len() <= left;
        work.bare.truncate(left);
        left -= work.bare.len();
    }
    works.retain(|work| !work.bare.is_empty());
    works
}

impl Work {
    /// All that a memory lacks.
    fn of(Entry { memory, chunks }: Entry) -> Self {
        let alone = chunks.len() == 1;
        let bare = (0..).zip(chunks).filter(|(_, chunk)| chunk.embedding.is_none()).collect();
        Self { memory, alone, bare, last: true }
    }
}

/// Gives the chunks their vectors.
fn embed_works(embedder: &dyn Embedder, works: &mut [Work]) -> Result<(), ModelError> {
    let mut pieces = Vec::new();
    for work in works {
        let source = Source::of(&work.memory.edition);
        pieces.extend(work.bare.iter_mut().map(|(_, chunk)| (source, chunk)));
    }
    vectors(embedder, pieces)
}

/// Embeds each memory by itself after all of them together have failed. Takes those out that still fail. Where the model
/// embeds nothing at all, the failure is its own.
fn one_by_one(
    embedder: &dyn Embedder,
    works: &mut Vec<Work>,
    together: ModelError,
) -> Result<Vec<Failed>, Error> {
    if embedder.embed(&[PROBE]).is_err() {
        return Err(together.into());
    }
    let mut failed = Vec::new();
    works.retain_mut(|work| match embed_works(embedder, std::slice::from_mut(work)) {
        Ok(()) => true,
        Err(error) => {
            failed.push(Failed { memory: work.memory.id, why: error.to_string() });
            false
        }
    });
    Ok(failed)
}

/// Lets others go before those that failed.
fn set_back(parts: &Parts, model: &str, failed: &[Failed]) -> Result<(), Error> {
    if failed.is_empty() {
        return Ok(());
    }
    let write = |failed: &Failed| Write::NotEmbedded { id: failed.memory, model: model.to_owned() };
    parts.store.apply(&access::own_changes(parts.clock.now(), failed.iter().map(write).collect()))?;
    Ok(())
}

/// Writes the vectors of a memory and, where that is due, links it to what says nearly the same. Of one that was loaded or
/// is embedded once more, the links are there already, but for those that somebody took away. False where the memory
/// changed meanwhile.
fn keep(parts: &Parts, work: Work, links: bool) -> Result<bool, Error> {
    let now = parts.clock.now();
    let memory = work.memory;
    let links = match work.bare.as_slice() {
        [(_, Chunk { embedding: Some(embedding), .. })]
            if links && work.alone && memory.provenance.mirror.is_none() =>
        {
            near(parts, Newcomer::of(&memory), embedding, Some(memory.id))?
        }
        _ => Vec::new(),
    };
    let embeddings = work.bare.into_iter().filter_map(|(at, chunk)| Some((at, chunk.embedding?))).collect();
    let mut writes = vec![Write::Embed { id: memory.id, from: memory.version, embeddings }];
    writes.extend(links.iter().map(|(old, weight)| link(memory.id, old.id, *weight, now)));
    match parts.store.apply(&access::own_changes(now, writes)) {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Embeds up to `most` sections of one memory, and says how many of it are left.
pub(crate) fn embed_memory(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    most: usize,
) -> Result<usize, Error> {
    let id = access::find(parts, caller, which)?.id;
    let embedder = match answering(parts) {
        Err(Error::Model(ModelError::None)) => return Ok(0),
        embedder => embedder?,
    };
    let model = embedder.model()?;
    let mut room = most;
    loop {
        let entries = parts.store.entries(&[id], Some(&model))?;
        let bare = |entry: &Entry| entry.chunks.iter().filter(|chunk| chunk.embedding.is_none()).count();
        let left = entries.iter().map(bare).sum();
        if left == 0 || room == 0 {
            return Ok(left);
        }
        let mut works = portion(entries, room.min(AT_A_TIME));
        embed_works(embedder.as_ref(), &mut works)?;
        let links = parts.store.unlinked(&[id])?.contains(&id);
        for work in works {
            room = room.saturating_sub(work.bare.len());
            keep(parts, work, links)?;
        }
    }
}

/// Whether somebody who embeds what waits here would find something to do.
pub(crate) fn is_due(parts: &Parts) -> Result<bool, Error> {
    let answers = parts.store.model()?;
    // A service is not asked what it is where nothing waits.
    if let Some(model) = &answers
        && parts.store.unembedded_ids(model, TRIES, 1)?.is_empty()
    {
        return Ok(false);
    }
    let set_up = match parts.embedder.model() {
        Err(ModelError::None) => return Ok(false),
        set_up => set_up?,
    };
    match answers {
        Some(model) => Ok(embedder_of(parts, &model).is_some()),
        None => Ok(!parts.store.unembedded_ids(&set_up, TRIES, 1)?.is_empty()),
    }
}

/// How many memories wait for vectors of the model that answers, or will; for an admin of the org.
pub(crate) fn waiting(parts: &Parts, caller: &Caller) -> Result<u64, Error> {
    access::require_org_admin(parts, caller)?;
    let model = match parts.store.model()? {
        Some(model) => model,
        None => match parts.embedder.model() {
            Ok(model) => model,
            Err(_) => return Ok(0),
        },
    };
    Ok(parts.store.unembedded(&model)?)
}
