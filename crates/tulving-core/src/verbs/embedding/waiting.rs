//! Embeds the memories that wait for their vectors, in batches, and makes a configured model the answering model.
//!
//! Vectors that are already written stay, even if later embeddings fail. A memory that the model cannot embed is moved
//! to the end of the queue.

use crate::model::change::Write;
use crate::model::error::{Error, ModelError, StoreError};
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::memory::{Chunk, Memory};
use crate::model::request::Caller;
use crate::model::search::IndexEntry;
use crate::ports::Embedder;
use crate::verbs::access::{self, Ports};

use super::near_duplicates::{LinkCandidate, link, near};
use super::{Source, answering, embedder_of, pinned, vectors};

/// Number of sections embedded before their vectors are written. Also the maximum number of memories read for one such
/// batch.
const AT_A_TIME: usize = 64;
/// Number of attempts for a memory that cannot be embedded. After that, only an explicit request tries again.
const TRIES: u32 = 3;
/// A text that every model can embed. If it fails, the fault is in the model, not in the texts.
const PROBE: &str = "memory";

/// The result of embedding the waiting memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Number of memories that now have all their vectors.
    pub done: u64,
    /// Number of sections embedded, in these and other memories.
    pub sections: usize,
    /// Number of memories that still wait for vectors of the answering model or of the model that will replace it.
    pub left: u64,
    /// The waiting memories that the model could not embed, although it embeds other memories.
    pub failed: Vec<FailedEmbedding>,
    /// The model that this call has made the answering model, if any.
    pub took_over: Option<String>,
}

impl EmbeddingProgress {
    /// Returns true if another call may embed more. A call that completes no memory may still have embedded some
    /// sections of a long memory.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.left > 0 && self.sections > 0
    }
}

/// A memory that a model could not embed, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedEmbedding {
    /// The memory.
    pub memory: MemoryId,
    /// The reason.
    pub why: String,
}

/// The model to embed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmbeddingTarget {
    /// The answering model or, if there is none, the configured model. If the change to the configured model was requested,
    /// continues it.
    Answering,
    /// The answering model first, then the configured model. Once the configured model has embedded all memories, it
    /// becomes the answering model.
    SetUp,
}

/// Embeds up to `most` sections of the waiting memories, oldest first.
pub(crate) fn embed_waiting(
    ports: &Ports,
    aim: EmbeddingTarget,
    most: usize,
) -> Result<EmbeddingProgress, Error> {
    let mut report = EmbeddingProgress::default();
    let embedder = pinned(&ports.embedder);
    let set_up = match embedder.model() {
        Err(ModelError::None) => return Ok(report),
        set_up => set_up?,
    };
    let answers = ports.store.model()?;
    if let Some(model) = &answers {
        if let Some(embedder) = embedder_of(ports, model) {
            embed_for(ports, embedder.as_ref(), aim, most, &mut report)?;
        }
        report.left = ports.store.unembedded(model)?;
    }
    let changes = match aim {
        EmbeddingTarget::SetUp => true,
        EmbeddingTarget::Answering => {
            answers.is_some() && ports.store.next_model()?.as_ref() == Some(&set_up)
        }
    };
    if answers.as_ref() == Some(&set_up) || (!changes && answers.is_some()) {
        return Ok(report);
    }
    let room = most.saturating_sub(report.sections);
    report.failed.clear();
    embed_for(ports, embedder.as_ref(), aim, room, &mut report)?;
    report.left = ports.store.unembedded(&set_up)?;
    // Memories that the new model cannot embed do not stop the change: keyword search finds them with either model.
    let all_tried = match aim {
        EmbeddingTarget::SetUp => report.left <= report.failed.len() as u64,
        EmbeddingTarget::Answering => ports.store.unembedded_ids(&set_up, TRIES, 1)?.is_empty(),
    };
    // In a store without a model, the first model that embeds a memory becomes the answering model.
    if changes && all_tried && ports.store.model()?.as_ref() != Some(&set_up) {
        let choose = Write::ChooseModel { from: answers, to: set_up.clone() };
        match ports.store.apply(&access::own_changes(ports.clock.now(), vec![choose])) {
            Ok(_) => report.took_over = Some(set_up),
            // Another process changed the model, or a memory was added in the meantime; the next call handles both
            // cases.
            Err(StoreError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(report)
}

fn embed_for(
    ports: &Ports,
    embedder: &dyn Embedder,
    aim: EmbeddingTarget,
    most: usize,
    report: &mut EmbeddingProgress,
) -> Result<(), Error> {
    let model = embedder.model()?;
    let tried = if aim == EmbeddingTarget::SetUp { u32::MAX } else { TRIES };
    let mut room = most;
    while room > 0 {
        let at_a_time = room.min(AT_A_TIME);
        let mut ids = ports.store.unembedded_ids(&model, tried, at_a_time + report.failed.len())?;
        ids.retain(|id| report.failed.iter().all(|failed| failed.memory != *id));
        ids.truncate(at_a_time);
        if ids.is_empty() {
            break;
        }
        let mut works = portion(ports.store.entries(&ids, Some(&model))?, at_a_time);
        let unlinked = ports.store.unlinked(&ids)?;
        let failed = match embed_works(embedder, &mut works) {
            Ok(()) => Vec::new(),
            Err(error) => one_by_one(embedder, &mut works, error)?,
        };
        let before = room;
        for work in works {
            let (made, last) = (work.bare.len(), work.last);
            room = room.saturating_sub(made);
            let links = unlinked.contains(&work.memory.id);
            if keep(ports, work, links)? {
                report.sections += made;
                report.done += u64::from(last);
            }
        }
        if room == before && failed.is_empty() {
            break;
        }
        set_back(ports, &model, &failed)?;
        report.failed.extend(failed);
    }
    Ok(())
}

/// A memory, and the chunks of the memory to embed in this batch.
struct EmbeddingTask {
    memory: Memory,
    /// True if the memory has no other chunks.
    alone: bool,
    bare: Vec<(u32, Chunk)>,
    /// True if no other chunk of the memory lacks a vector.
    last: bool,
}

/// Returns at most `most` chunks without a vector, memory by memory. Memories that lack few vectors come first, so that
/// a long memory does not delay them.
fn portion(entries: Vec<IndexEntry>, most: usize) -> Vec<EmbeddingTask> {
    let mut works: Vec<EmbeddingTask> = entries.into_iter().map(EmbeddingTask::of).collect();
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

impl EmbeddingTask {
    /// Returns all chunks of a memory that lack a vector.
    fn of(IndexEntry { memory, chunks }: IndexEntry) -> Self {
        let alone = chunks.len() == 1;
        let bare = (0..).zip(chunks).filter(|(_, chunk)| chunk.embedding.is_none()).collect();
        Self { memory, alone, bare, last: true }
    }
}

/// Computes the vectors of the chunks.
fn embed_works(embedder: &dyn Embedder, works: &mut [EmbeddingTask]) -> Result<(), ModelError> {
    let mut pieces = Vec::new();
    for work in works {
        let source = Source::of(&work.memory.fields);
        pieces.extend(work.bare.iter_mut().map(|(_, chunk)| (source, chunk)));
    }
    vectors(embedder, pieces)
}

/// Embeds each memory separately after the batch has failed, and removes the memories that still fail. If the model
/// cannot embed any text, returns the error of the batch.
fn one_by_one(
    embedder: &dyn Embedder,
    works: &mut Vec<EmbeddingTask>,
    together: ModelError,
) -> Result<Vec<FailedEmbedding>, Error> {
    if embedder.embed(&[PROBE]).is_err() {
        return Err(together.into());
    }
    let mut failed = Vec::new();
    works.retain_mut(|work| match embed_works(embedder, std::slice::from_mut(work)) {
        Ok(()) => true,
        Err(error) => {
            failed.push(FailedEmbedding { memory: work.memory.id, why: error.to_string() });
            false
        }
    });
    Ok(failed)
}

/// Moves memories that failed to the end of the queue.
fn set_back(ports: &Ports, model: &str, failed: &[FailedEmbedding]) -> Result<(), Error> {
    if failed.is_empty() {
        return Ok(());
    }
    let write = |failed: &FailedEmbedding| Write::NotEmbedded { id: failed.memory, model: model.to_owned() };
    ports.store.apply(&access::own_changes(ports.clock.now(), failed.iter().map(write).collect()))?;
    Ok(())
}

/// Writes the vectors of a memory. If `links` is true and the memory has only one chunk and is no mirror, also links the
/// memory to memories with nearly the same statement. A memory that was loaded from a dump or is re-embedded already
/// has its links, and links that somebody removed must not return. Returns false if the memory changed in the meantime.
fn keep(ports: &Ports, work: EmbeddingTask, links: bool) -> Result<bool, Error> {
    let now = ports.clock.now();
    let memory = work.memory;
    let links = match work.bare.as_slice() {
        [(_, Chunk { embedding: Some(embedding), .. })]
            if links && work.alone && memory.provenance.mirror.is_none() =>
        {
            near(ports, LinkCandidate::of(&memory), embedding, Some(memory.id))?
        }
        _ => Vec::new(),
    };
    let embeddings = work.bare.into_iter().filter_map(|(at, chunk)| Some((at, chunk.embedding?))).collect();
    let mut writes = vec![Write::Embed { id: memory.id, from: memory.version, embeddings }];
    writes.extend(links.iter().map(|(old, weight)| link(memory.id, old.id, *weight, now)));
    match ports.store.apply(&access::own_changes(now, writes)) {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Embeds up to `most` sections of one memory, and returns the number of sections left.
pub(crate) fn embed_memory(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    most: usize,
) -> Result<usize, Error> {
    let id = access::find(ports, caller, which)?.id;
    let embedder = match answering(ports) {
        Err(Error::Model(ModelError::None)) => return Ok(0),
        embedder => embedder?,
    };
    let model = embedder.model()?;
    let mut room = most;
    loop {
        let entries = ports.store.entries(&[id], Some(&model))?;
        let bare = |entry: &IndexEntry| entry.chunks.iter().filter(|chunk| chunk.embedding.is_none()).count();
        let left = entries.iter().map(bare).sum();
        if left == 0 || room == 0 {
            return Ok(left);
        }
        let mut works = portion(entries, room.min(AT_A_TIME));
        embed_works(embedder.as_ref(), &mut works)?;
        let links = ports.store.unlinked(&[id])?.contains(&id);
        for work in works {
            room = room.saturating_sub(work.bare.len());
            keep(ports, work, links)?;
        }
    }
}

/// Returns true if memories wait that this process can embed.
pub(crate) fn is_due(ports: &Ports) -> Result<bool, Error> {
    let (answers, next) = (ports.store.model()?, ports.store.next_model()?);
    let waits = |model: &String| -> Result<bool, StoreError> {
        Ok(!ports.store.unembedded_ids(model, TRIES, 1)?.is_empty())
    };
    // If no memory waits, the embedding service is not called.
    let waiting = answers.as_ref().map_or(Ok(true), waits)?;
    if !waiting && next.is_none() {
        return Ok(false);
    }
    let set_up = match ports.embedder.model() {
        Err(ModelError::None) => return Ok(false),
        set_up => set_up?,
    };
    match answers {
        Some(_) if next.as_ref() == Some(&set_up) => Ok(true),
        Some(model) => Ok(waiting && embedder_of(ports, &model).is_some()),
        None => Ok(!ports.store.unembedded_ids(&set_up, TRIES, 1)?.is_empty()),
    }
}

/// The state of the models of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelStatus {
    /// The model whose vectors recall uses; `None` before the first vector.
    pub answers: Option<String>,
    /// Number of memories with vectors of this model.
    pub embedded: u64,
    /// The model that will replace it.
    pub next: Option<String>,
    /// Number of memories that wait for vectors of the next model or, if there is none, of the answering model.
    pub waiting: u64,
}

/// Requests that the configured model becomes the answering model. The memories are embedded by `embed_waiting`. Only an
/// admin of the org may call this.
pub(crate) fn request_model(ports: &Ports, caller: &Caller) -> Result<ModelStatus, Error> {
    access::require_org_admin(ports, caller)?;
    let model = pinned(&ports.embedder).model()?;
    let write = Write::RequestModel { model };
    ports.store.apply(&access::own_changes(ports.clock.now(), vec![write]))?;
    model_status(ports, caller)
}

/// Returns the state of the models. Only an admin of the org may call this.
pub(crate) fn model_status(ports: &Ports, caller: &Caller) -> Result<ModelStatus, Error> {
    access::require_org_admin(ports, caller)?;
    let (answers, next) = (ports.store.model()?, ports.store.next_model()?);
    let waiting = match next.as_ref().or(answers.as_ref()) {
        Some(model) => ports.store.unembedded(model)?,
        None => waiting(ports, caller)?,
    };
    let embedded = answers.as_ref().map_or(Ok(0), |model| ports.store.embedded(model))?;
    Ok(ModelStatus { answers, embedded, next, waiting })
}

/// Returns the number of memories that wait for vectors of the answering or the future model. Only an admin of the org
/// may call this.
pub(crate) fn waiting(ports: &Ports, caller: &Caller) -> Result<u64, Error> {
    access::require_org_admin(ports, caller)?;
    let model = match ports.store.model()? {
        Some(model) => model,
        None => match ports.embedder.model() {
            Ok(model) => model,
            Err(_) => return Ok(0),
        },
    };
    Ok(ports.store.unembedded(&model)?)
}
