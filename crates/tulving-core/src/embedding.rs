//! Vectors: who makes them, for what, and what becomes of memories that wait for theirs.
//!
//! The store says whose vectors answer. Another model may be set up; where its user wishes, its vectors are made beside
//! the old ones, and when none is missing it takes over in one step. Two models are never compared.
//!
//! To be set up is no such wish: of two processes with different settings, each would undo what the other has done.

use std::sync::Arc;

use crate::access::{self, Parts};
use crate::association::Association;
use crate::change::{Actor, ChangeSet, Write};
use crate::error::{Error, ModelError, StoreError};
use crate::id::{MemoryId, MemoryRef, Number, PrincipalId, Seq, SpaceId};
use crate::memory::{Chunk, Edition, Embedding, Memory};
use crate::ports::Embedder;
use crate::request::{Caller, Filter};
use crate::score::Weight;
use crate::search::{Entry, Meaning, Question, Scope};
use crate::space::Viewer;
use crate::text;
use crate::text::chunk::Form;
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, ChangeKind, LinkedBy, Relation, State};

/// From this cosine on a new memory is linked to an old one by itself.
const SAME: f32 = 0.9;
/// Most links made for one memory.
pub(crate) const LINKS: usize = 5;
/// Of what was written while a save was being decided, so many entries of the log are looked at.
const LATE: usize = 1_000;
/// How many near memories are looked at, since some may be of another boundary.
const LOOKED_AT: usize = 32;
/// How many sections are embedded before their vectors are written, and how many memories are read at the most for it.
/// What was written stays, whatever happens to the rest.
const AT_A_TIME: usize = 64;
/// How often a memory that cannot be embedded is tried, before only who asks for it tries again.
const TRIES: u32 = 3;
/// What every model can embed; where it does not, the model is at fault and not the texts.
const PROBE: &str = "memory";

/// What is to be embedded: a content and the title above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The content.
    pub(crate) content: &'a str,
    /// What form it has.
    pub(crate) form: Form<'a>,
    /// The title that was given.
    pub(crate) title: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// What of an edition is embedded.
    pub(crate) fn of(edition: &'a Edition) -> Self {
        Self { content: &edition.text.content, form: Form::of(&edition.text), title: edition.given_title() }
    }
}

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

/// The embedder of a model, where it is at hand.
pub(crate) fn embedder_of<'a>(parts: &'a Parts, model: &str) -> Option<&'a Arc<dyn Embedder>> {
    let mut all = std::iter::once(&parts.embedder).chain(&parts.former);
    all.find(|embedder| embedder.makes(model).is_ok_and(|its| its))
}

/// The embedder whose vectors answer: that of the store's model, or the one set up where the store has none yet. Where no
/// model is set up none answers, whatever the store holds.
pub(crate) fn answering(parts: &Parts) -> Result<&Arc<dyn Embedder>, ModelError> {
    let failed = |error: StoreError| ModelError::Failed { model: String::new(), why: error.to_string() };
    let Some(model) = parts.store.model().map_err(failed)? else {
        return Ok(&parts.embedder);
    };
    match parts.embedder.makes(&model) {
        Ok(true) => Ok(&parts.embedder),
        Err(ModelError::None) => Err(ModelError::None),
        set_up => {
            let mut former = parts.former.iter();
            let former = former.find(|embedder| embedder.makes(&model).is_ok_and(|its| its));
            former.ok_or_else(|| set_up.err().unwrap_or(ModelError::NotAtHand { model }))
        }
    }
}

/// Gives each chunk its vectors: one of the whole, one of each sentence.
pub(crate) fn vectors(
    embedder: &dyn Embedder,
    pieces: Vec<(Source<'_>, &mut Chunk)>,
) -> Result<(), ModelError> {
    let model = embedder.model()?;
    let mut texts: Vec<String> = Vec::new();
    let mut counts = Vec::with_capacity(pieces.len());
    for (source, chunk) in &pieces {
        let body = source.content.get(chunk.start..chunk.end).unwrap_or_default();
        let before = texts.len();
        texts.push(text::whole(body, source.title, &chunk.heading_path));
        let sentences = text::sentence::segments(body);
        if sentences.len() > 1 {
            texts.extend(sentences.into_iter().map(|range| body[range].to_owned()));
        }
        counts.push(texts.len() - before);
    }
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut made = embedder.embed(&borrowed)?.into_iter();
    for ((_, chunk), count) in pieces.into_iter().zip(counts) {
        let mut vectors = made.by_ref().take(count);
        let Some(vector) = vectors.next() else {
            let why = "it gave fewer vectors than texts".to_owned();
            return Err(ModelError::Failed { model, why });
        };
        chunk.embedding = Some(Embedding { model: model.clone(), vector, sentences: vectors.collect() });
    }
    Ok(())
}

/// Where a new memory stands among those that it may be linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newcomer {
    /// Its space.
    pub(crate) space: SpaceId,
    /// Its boundary.
    pub(crate) boundary: Boundary,
    /// Its owner.
    pub(crate) owner: PrincipalId,
}

impl Newcomer {
    /// Where a memory stands.
    pub(crate) fn of(memory: &Memory) -> Self {
        Self { space: memory.space, boundary: memory.edition.boundary, owner: memory.owner }
    }

    /// Whether a memory that its owner may see stands where links to it are made by themselves.
    fn meets(self, memory: &Memory) -> bool {
        memory.space == self.space
            && memory.edition.boundary == self.boundary
            && memory.standing.quarantined_at.is_none()
    }
}

/// How alike two texts are, where that is so near that they are linked.
pub(crate) fn alike(one: &Embedding, other: &Embedding) -> Option<Weight> {
    if one.model != other.model || one.vector.len() != other.vector.len() {
        return None;
    }
    let cosine: f32 = one.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
    (cosine > SAME).then(|| weight(cosine))
}

fn weight(cosine: f32) -> Weight {
    Weight::new(f64::from(cosine).clamp(0.0, 1.0)).unwrap_or(Weight::DEFAULT)
}

/// The memories that others have written from `after` up to `last`, in the order of the log, at most [`LATE`].
pub(crate) fn written_between(
    parts: &Parts,
    space: SpaceId,
    after: Seq,
    last: Seq,
) -> Result<Vec<MemoryId>, Error> {
    let changes = parts.store.changes(after, LATE)?;
    let mut ids: Vec<MemoryId> = changes
        .into_iter()
        .filter(|change| change.seq <= last && change.space == space)
        .filter(|change| matches!(change.kind, ChangeKind::Saved | ChangeKind::Embedded))
        .map(|change| change.memory)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Those of these entries that say nearly the same, nearest first: what [`near`] would find among them.
pub(crate) fn near_among(
    newcomer: Newcomer,
    embedding: &Embedding,
    entries: &[Entry],
    now: Timestamp,
) -> Vec<(MemoryId, Option<Number>, Weight)> {
    let owned = |memory: &Memory| newcomer.boundary != Boundary::Private || memory.owner == newcomer.owner;
    let stands =
        |memory: &Memory| memory.standing.forgotten_at.is_none() && memory.state_at(now) != State::Archived;
    let mut near: Vec<(MemoryId, Option<Number>, Weight)> = entries
        .iter()
        .filter(|Entry { memory, .. }| newcomer.meets(memory) && owned(memory) && stands(memory))
        .filter_map(|Entry { memory, chunks }| {
            let cosines = chunks.iter().filter_map(|chunk| alike(embedding, chunk.embedding.as_ref()?));
            let nearest = cosines.max_by(|a, b| a.get().total_cmp(&b.get()))?;
            Some((memory.id, memory.number, nearest))
        })
        .collect();
    near.sort_by(|a, b| b.2.get().total_cmp(&a.2.get()).then(a.0.cmp(&b.0)));
    near
}

/// The memories of the same space and boundary that say nearly the same as this vector, nearest first, at most
/// [`LINKS`]. An index that does not answer costs the links, never the memory.
pub(crate) fn near(
    parts: &Parts,
    newcomer: Newcomer,
    embedding: &Embedding,
    before: Option<MemoryId>,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let viewer = Viewer { principal: newcomer.owner, within: Some(vec![newcomer.space]) };
    let states = State::ALL.iter().copied().filter(|state| *state != State::Archived).collect();
    let states_at = Some(parts.clock.now());
    let filter = Filter { space: Some(newcomer.space), states, states_at, ..Filter::default() };
    let scope = Scope { sight: parts.store.sight(&viewer)?, filter, among: None };
    let meaning = Meaning { model: embedding.model.clone(), vector: embedding.vector.clone() };
    let question = Question { meaning: Some(meaning), depth: LOOKED_AT, ..Question::default() };
    let Ok(found) = parts.index.search(&scope, &question) else {
        return Ok(Vec::new());
    };
    let mut nearest: Vec<(MemoryId, f32)> = found
        .items
        .iter()
        .filter_map(|item| item.whole.filter(|cosine| *cosine > SAME).map(|cosine| (item.memory, cosine)))
        .filter(|(memory, _)| before.is_none_or(|newer| *memory < newer))
        .collect();
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut seen = std::collections::HashSet::new();
    nearest.retain(|(memory, _)| seen.insert(*memory));
    let ids: Vec<MemoryId> = nearest.iter().map(|(memory, _)| *memory).collect();
    let memories = parts.store.memories(&viewer, &ids)?;
    let of =
        |memory: &Memory| nearest.iter().find(|(id, _)| *id == memory.id).map_or(0.0, |(_, cosine)| *cosine);
    let same = memories.into_iter().filter(|memory| newcomer.meets(memory));
    let weighed = same.map(|memory| {
        let weight = weight(of(&memory));
        (memory, weight)
    });
    Ok(weighed.take(LINKS).collect())
}

/// The link from a new memory to one that says nearly the same. It relates and does not demote.
pub(crate) fn link(new: MemoryId, old: MemoryId, weight: Weight, at: Timestamp) -> Write {
    Write::Link(Association {
        source: new,
        target: old,
        relation: Relation::Updates,
        weight,
        linked_by: LinkedBy::Auto,
        created_at: at,
    })
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
        match parts.store.apply(&act(parts, vec![choose])) {
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
    parts.store.apply(&act(parts, failed.iter().map(write).collect()))?;
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
    match parts.store.apply(&act(parts, writes)) {
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
        Err(ModelError::None) => return Ok(0),
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

/// An act of the engine's own.
pub(crate) fn act(parts: &Parts, writes: Vec<Write>) -> ChangeSet {
    let by = Actor { principal: PrincipalId::USER, agent: None };
    ChangeSet { by, at: parts.clock.now(), rights: Vec::new(), writes }
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
