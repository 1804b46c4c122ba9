//! The tables that the columns of a segment refer to: classes, spaces, owners, speakers, sessions.

use std::collections::{BTreeMap, HashMap};

use super::doc::{NONE, SegmentDoc};
use super::view::{ClassRow, DocCounts, SessionRow};

/// A count or a position, as it is stored.
pub(super) fn ordinal(n: usize) -> u32 {
    u32::try_from(n).expect("a segment has fewer docs, terms and names than this counts")
}

/// The classes of docs, with the tables that they refer to.
pub(super) struct DocClassTable<'a> {
    pub(super) of_doc: Vec<u32>,
    pub(super) table: Vec<ClassRow>,
    pub(super) spaces: Vec<[u32; 8]>,
    pub(super) owners: Vec<[u8; 16]>,
    pub(super) speakers: Vec<&'a str>,
}

impl<'a> DocClassTable<'a> {
    pub(super) fn of(docs: &[SegmentDoc<'a>], rows: &[u32]) -> Self {
        let owners = ordinals(docs.iter().map(|doc| doc.owner));
        let speakers = ordinals(docs.iter().filter_map(|doc| doc.speaker));
        let spaces = ordinals(docs.iter().map(|doc| doc.space));
        let row_of = |doc: &SegmentDoc<'a>| {
            let speaker = doc.speaker.map_or(NONE, |name| speakers[name]);
            [spaces[&doc.space], owners[&doc.owner], doc.facets.0, speaker]
        };
        let classes = ordinals(docs.iter().map(row_of));
        let of_doc: Vec<u32> = docs.iter().map(|doc| classes[&row_of(doc)]).collect();
        let mut all_counts = vec![DocCounts::default(); classes.len()];
        for (range, counts) in memories(docs, rows) {
            all_counts[of_doc[range.start] as usize].add(counts);
        }
        let table = classes.keys().zip(&all_counts).map(|(&[space, owner, facets, speaker], counts)| {
            let DocCounts { items, memories, vectored_items, vectored_memories, bare_memories, length } =
                *counts;
            let [low, high] = bytemuck::cast::<u64, [u32; 2]>(length);
            let [vectored, bare] = [vectored_memories, bare_memories];
            [space, owner, facets, speaker, items, memories, vectored_items, vectored, bare, low, high]
        });
        let table: Vec<ClassRow> = table.collect();
        let space_rows = spaces.iter().map(|(id, &space)| {
            let docs_from = docs.partition_point(|doc| doc.space < *id);
            let docs_to = docs.partition_point(|doc| doc.space <= *id);
            let classes_from = table.partition_point(|row| row[0] < space);
            let classes_to = table.partition_point(|row| row[0] <= space);
            let [a, b, c, d] = bytemuck::cast::<[u8; 16], [u32; 4]>(*id);
            let [e, f, g, h] = [docs_from, docs_to, classes_from, classes_to].map(ordinal);
            [a, b, c, d, e, f, g, h]
        });
        Self {
            spaces: space_rows.collect(),
            owners: owners.keys().copied().collect(),
            speakers: speakers.keys().copied().collect(),
            of_doc,
            table,
        }
    }
}

/// The different values in ascending order, each with its position.
fn ordinals<T: Ord + Copy + std::hash::Hash>(values: impl Iterator<Item = T>) -> BTreeMap<T, u32> {
    let mut last = None;
    let mut found: BTreeMap<T, u32> = BTreeMap::new();
    for value in values {
        // Adjacent values are often equal, so this skips most insertions.
        if last != Some(value) {
            found.insert(value, 0);
            last = Some(value);
        }
    }
    found.values_mut().enumerate().for_each(|(place, ordinal_of)| *ordinal_of = ordinal(place));
    found
}

/// The docs of each memory and the counts of these docs.
fn memories<'a>(
    docs: &'a [SegmentDoc<'_>],
    rows: &'a [u32],
) -> impl Iterator<Item = (std::ops::Range<usize>, DocCounts)> + use<'a> {
    let (mut start, mut row) = (0, 0);
    std::iter::from_fn(move || {
        let from = start;
        let id = docs.get(from)?.id;
        let (mut vectored_items, mut length) = (0, 0);
        while let Some(doc) = docs.get(start).filter(|doc| doc.id == id) {
            length += u64::from(doc.properties.length);
            if rows.get(row).is_some_and(|&doc| doc as usize == start) {
                (row, vectored_items) = (row + 1, vectored_items + 1);
            }
            start += 1;
        }
        Some((from..start, DocCounts::of_memory(ordinal(start - from), vectored_items, length)))
    })
}

impl DocCounts {
    /// The counts for one memory with this many docs and this total number of terms.
    pub(crate) fn of_memory(items: u32, vectored_items: u32, length: u64) -> Self {
        Self {
            items,
            memories: 1,
            vectored_items,
            vectored_memories: u32::from(vectored_items > 0),
            bare_memories: u32::from(vectored_items < items),
            length,
        }
    }
}

/// The sessions of docs.
pub(super) struct DocSessionTable {
    pub(super) of_doc: Vec<u32>,
    pub(super) table: Vec<SessionRow>,
    pub(super) names: Vec<u8>,
}

impl DocSessionTable {
    pub(super) fn of(docs: &[SegmentDoc<'_>]) -> Self {
        let mut made = Self { of_doc: Vec::with_capacity(docs.len()), table: Vec::new(), names: Vec::new() };
        let mut spaces: HashMap<[u8; 16], u64> = HashMap::new();
        let mut last = None;
        for (doc, about) in docs.iter().enumerate() {
            let count = spaces.len() as u64;
            let space = *spaces.entry(about.space).or_insert(count);
            let Some(key) = about.session else {
                made.of_doc.push(NONE);
                continue;
            };
            if last == Some((about.space, key)) {
                if let Some(row) = made.table.last_mut() {
                    row[1] += 1;
                }
            } else {
                last = Some((about.space, key));
                let name = (made.names.len() as u64) << 32 | key.name.len() as u64;
                made.names.extend_from_slice(key.name);
                made.table.push([key.hash, (doc as u64) << 32 | 1, name, space << 1 | key.kind as u64]);
            }
            made.of_doc.push(ordinal(made.table.len() - 1));
        }
        made
    }
}
