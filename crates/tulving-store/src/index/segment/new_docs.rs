//! Docs made from the memories of the store.

use std::collections::HashMap;

use tulving_core::model::memory::Embedding;
use tulving_core::model::search::IndexEntry;
use tulving_core::text::terms;
use tulving_text::properties;
use tulving_text::terms::ChunkTerms;

use super::doc::{Facets, NEVER, SegmentDoc, SessionKey, ValidityTimes};
use super::vectors::DocVectors;
use super::write::{SegmentContent, stride};
use crate::index::errors::DamagedIndexFile;
use crate::index::quantise::quantised;

/// The docs of some memories. Forgotten and quarantined memories have no docs.
pub(crate) struct NewSegmentContent<'a> {
    docs: Vec<SegmentDoc<'a>>,
    model: Option<(String, usize)>,
    /// The vectors of each doc.
    vectors: Vec<Option<QuantisedVectors>>,
    /// The terms in ascending order, each with its postings.
    terms: Vec<(String, Vec<u64>)>,
}

#[derive(Default)]
struct QuantisedVectors {
    whole: Vec<i8>,
    scale: f32,
    sentences: Vec<i8>,
    sentence_scales: Vec<f32>,
}

/// A doc with its terms and vectors.
struct PreparedDoc<'a> {
    doc: SegmentDoc<'a>,
    terms: Vec<(String, u8)>,
    embedding: Option<&'a Embedding>,
}

impl<'a> NewSegmentContent<'a> {
    /// Prepares the docs of these memories, with their vectors of this model. Each memory occurs once.
    pub(crate) fn of(entries: &'a [IndexEntry], model: Option<&str>) -> Self {
        let mut made: Vec<PreparedDoc<'a>> = in_parallel(entries, docs_of);
        made.sort_unstable_by(|one, other| one.doc.order(&other.doc));
        for one in &mut made {
            let fits = |found: &&Embedding| Some(found.model.as_str()) == model && !found.vector.is_empty();
            one.embedding = one.embedding.filter(fits);
        }
        let dimensions = made.iter().find_map(|one| Some(one.embedding?.vector.len()));
        let vectors = made.iter().map(|one| rows(one.embedding?, dimensions?)).collect();
        let mut terms: HashMap<String, Vec<u64>> = HashMap::new();
        for (doc, one) in made.iter_mut().enumerate() {
            for (term, count) in one.terms.drain(..) {
                terms.entry(term).or_default().push((doc as u64) << 8 | u64::from(count));
            }
        }
        let mut terms: Vec<_> = terms.into_iter().collect();
        terms.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Self {
            docs: made.into_iter().map(|one| one.doc).collect(),
            model: model.map(str::to_owned).zip(dimensions),
            vectors,
            terms,
        }
    }
}

impl SegmentContent for NewSegmentContent<'_> {
    fn docs(&self) -> &[SegmentDoc<'_>] {
        &self.docs
    }

    fn model(&self) -> Option<(&str, usize)> {
        self.model.as_ref().map(|(model, dimensions)| (model.as_str(), *dimensions))
    }

    fn terms(&self, each: &mut dyn FnMut(&[u8], &[u64])) -> Result<(), DamagedIndexFile> {
        self.terms.iter().for_each(|(term, postings)| each(term.as_bytes(), postings));
        Ok(())
    }

    fn vectors(&self, doc: usize) -> Result<Option<DocVectors<'_>>, DamagedIndexFile> {
        Ok(self.vectors[doc].as_ref().map(|rows| DocVectors {
            whole: &rows.whole,
            scale: rows.scale,
            sentences: &rows.sentences,
            sentence_scales: &rows.sentence_scales,
        }))
    }
}

/// Prepares the docs of a memory.
fn docs_of(entry: &IndexEntry) -> Vec<PreparedDoc<'_>> {
    let (memory, status) = (&entry.memory, &entry.memory.status);
    if status.forgotten_at.is_some() || status.quarantined_at.is_some() {
        return Vec::new();
    }
    let span = &memory.fields.span;
    let times = ValidityTimes::of(span);
    let facets = Facets::of(memory, times);
    let made = entry.chunks.iter().zip(0_u32..).map(|(chunk, ordinal)| {
        let said = terms::of_chunk(memory, chunk);
        let body = memory.fields.text.content.get(chunk.start..chunk.end).unwrap_or_default();
        let doc = SegmentDoc {
            id: *memory.id.as_bytes(),
            chunk: ordinal,
            space: *memory.space.as_bytes(),
            owner: *memory.owner.as_bytes(),
            facets,
            speaker: memory.place.speaker.as_deref(),
            session: SessionKey::of(memory, entry.chunks.len()),
            place: memory.place.position.unwrap_or(NEVER),
            at: span.occurred_at.unwrap_or(memory.usage.created_at).as_micros(),
            created: memory.usage.created_at.as_micros(),
            times,
            importance: memory.fields.class.importance.get(),
            properties: properties::of(body, &said.body),
        };
        PreparedDoc { doc, terms: counted(said), embedding: chunk.embedding.as_ref() }
    });
    made.collect()
}

/// The count of each term in the chunk and in its labels.
fn counted(said: ChunkTerms) -> Vec<(String, u8)> {
    let mut terms: Vec<String> = said.body;
    terms.extend(said.labels);
    // In the file, a zero byte ends a term, so a term must not contain one.
    terms.retain(|term| !term.is_empty() && !term.as_bytes().contains(&0));
    terms.sort_unstable();
    let mut counts: Vec<(String, u8)> = Vec::with_capacity(terms.len());
    for term in terms {
        match counts.last_mut() {
            Some((last, count)) if *last == term => *count = count.saturating_add(1),
            _ => counts.push((term, 1)),
        }
    }
    counts
}

/// An embedding as bytes; `None` if it cannot be compared with embeddings of `dimensions` numbers.
fn rows(embedding: &Embedding, dimensions: usize) -> Option<QuantisedVectors> {
    let width = stride(dimensions);
    if embedding.vector.len() != dimensions {
        return None;
    }
    let (whole, scale) = quantised(&embedding.vector, width)?;
    let mut rows = QuantisedVectors { whole, scale, ..QuantisedVectors::default() };
    for sentence in embedding.sentences.iter().filter(|sentence| sentence.len() == dimensions) {
        let (bytes, scale) = quantised(sentence, width)?;
        rows.sentences.extend(bytes);
        rows.sentence_scales.push(scale);
    }
    Some(rows)
}

/// Minimum number of memories for which starting a thread is worth it.
const WORTH_A_THREAD: usize = 64;

/// The results of `work` for all entries, in the order of the entries, computed on all cores.
fn in_parallel<'a, T: Send>(
    entries: &'a [IndexEntry],
    work: impl Fn(&'a IndexEntry) -> Vec<T> + Sync,
) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = entries.len().div_ceil(cores).max(WORTH_A_THREAD);
    if entries.len() <= share {
        return entries.iter().flat_map(work).collect();
    }
    std::thread::scope(|threads| {
        let work = &work;
        let shares: Vec<_> = entries
            .chunks(share)
            .map(|some| threads.spawn(move || some.iter().flat_map(work).collect::<Vec<T>>()))
            .collect();
        let done = shares.into_iter().flat_map(|share| match share.join() {
            Ok(made) => made,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}
