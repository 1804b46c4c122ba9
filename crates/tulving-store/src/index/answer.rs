//! One search of one snapshot, from the scope to the results.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use tulving_core::model::id::MemoryId;
use tulving_core::model::score::Importance;
use tulving_core::model::search::{Item, SearchQuery, SearchResults, SearchScope, Session, TermUse, Weights};
use tulving_core::model::time::Timestamp;

use super::errors::DamagedIndexFile;
use super::expand;
use super::keyword::{LengthNormalization, QueryTerms};
use super::segment::{DocDetailFields as _, Postings, SegmentView};
use super::sessions::{self, CandidateSession, ResultDoc};
use super::snapshot::IndexSnapshot;
use super::top::TopDocs;
use super::vector::{DocSimilarity, VectorResults};
use super::visible::VisibleDocs;

/// Searches a snapshot for a question within a scope.
pub(super) fn search(
    snapshot: &IndexSnapshot,
    scope: &SearchScope,
    question: &SearchQuery,
) -> Result<SearchResults, DamagedIndexFile> {
    let parts = snapshot.views()?;
    let views: Vec<SegmentView<'_>> = parts.iter().map(|(view, _)| *view).collect();
    let visible = parts.iter().map(|(view, dead)| VisibleDocs::of(*view, dead, scope));
    let visible: Vec<VisibleDocs<'_>> = visible.collect::<Result<_, _>>()?;
    let words = QueryTerms::of(question, &visible)?;
    let (by_terms, with_terms) = words.best(&visible, TopDocs::new(&views, question.depth));
    let compared = VectorResults::of(question.meaning.as_ref(), &visible, &views, question.depth)?;

    let hits = by_terms.iter().chain(&compared.best).map(|hit| (hit.part, hit.doc));
    let hits = hits.chain(of_times(&visible, &question.times, question.depth));
    let candidates: Vec<(u32, u32)> = hits.collect::<BTreeSet<_>>().into_iter().collect();
    let (picked, gathered) = sessions::gather(&visible, &candidates);
    let matches = matches(&words, &views, &picked);
    let mut sessions = sessions_of(&words, &visible, &gathered);
    let mut items = Vec::with_capacity(picked.len());
    let mut names = SpeakerNames::new(views.len());
    let near = compared.near(picked.iter().map(|picked| (picked.part, picked.doc)), &views)?;
    for ((picked, matched), near) in picked.iter().zip(matches).zip(near) {
        items.push(item(picked, matched, near, &views[picked.part as usize], &mut names)?);
    }
    for (session, gathered) in sessions.iter_mut().zip(&gathered) {
        let near = gathered.docs.iter().flat_map(|(part, docs)| compared.among(*part, docs));
        session.closeness = near.map(DocSimilarity::closeness).fold(0.0, f32::max);
    }
    for item in &items {
        if let Some(session) = item.session.and_then(|session| sessions.get_mut(session as usize)) {
            session.closeness = session.closeness.max(item.closeness());
        }
    }
    let speakers = names.spoken.into_iter().map(str::to_owned).collect();
    let (rarities, worth, partial) = (words.rarities, words.worth, snapshot.partial);
    let mut found = SearchResults {
        items,
        speakers,
        sessions,
        with_terms,
        rarities,
        worth,
        partial,
        ..SearchResults::default()
    };
    for (part, visible) in visible.iter().enumerate() {
        found.within += u64::from(visible.counts.items);
        if question.meaning.is_some() {
            let compared = compared.fits(part);
            let counts = &visible.counts;
            found.with_meaning += u64::from(if compared { counts.vectored_memories } else { 0 });
            found.unembedded += u64::from(if compared { counts.bare_memories } else { counts.memories });
        }
    }
    Ok(found)
}

/// The newest docs whose time is in one of these ranges, by part and doc.
fn of_times(visible: &[VisibleDocs<'_>], times: &[Range<Timestamp>], limit: usize) -> Vec<(u32, u32)> {
    if times.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (part, visible) in (0..).zip(visible) {
        for doc in visible.ranges.iter().cloned().flatten().filter(|doc| visible.sees(*doc)) {
            let detail = &visible.view.details[doc as usize];
            let at = Timestamp::from_micros(detail.at());
            if times.iter().any(|time| time.contains(&at)) {
                found.push((Reverse(at), visible.view.ids[doc as usize], detail.chunk(), part, doc));
            }
        }
    }
    found.sort_unstable();
    found.into_iter().take(limit).map(|(.., part, doc)| (part, doc)).collect()
}

/// The use of each term by these items; see [`Index::uses`](tulving_core::ports::Index::uses).
pub(super) fn uses(
    snapshot: &IndexSnapshot,
    scope: &SearchScope,
    terms: &[String],
    items: &[(MemoryId, u32)],
) -> Result<Vec<TermUse>, DamagedIndexFile> {
    let parts = snapshot.views()?;
    let visible = parts.iter().map(|(view, dead)| VisibleDocs::of(*view, dead, scope));
    let visible: Vec<VisibleDocs<'_>> = visible.collect::<Result<_, _>>()?;
    let mut wanted: Vec<Vec<(u32, u32)>> = vec![Vec::new(); visible.len()];
    for (item, (memory, chunk)) in (0..).zip(items) {
        for (part, visible) in visible.iter().enumerate() {
            let docs = visible.view.docs_of(memory.as_bytes())?;
            let doc = docs.start.saturating_add(*chunk);
            if docs.contains(&doc) && visible.sees(doc) {
                wanted[part].push((doc, item));
                break;
            }
        }
    }
    wanted.iter_mut().for_each(|docs| docs.sort_unstable());
    let uses = terms.iter().map(|term| {
        let (postings, count) = expand::seen(term.as_bytes(), &visible)?;
        let mut among = Vec::new();
        for (wanted, Postings { docs, .. }) in wanted.iter().zip(postings) {
            let mut at = 0;
            for (doc, item) in wanted {
                at = seek(docs, at, *doc);
                among.extend((docs.get(at) == Some(doc)).then_some(*item));
            }
        }
        among.sort_unstable();
        Ok(TermUse { items: count as u64, among })
    });
    uses.collect()
}

/// The names of the speakers within the scope.
pub(super) fn speakers(
    snapshot: &IndexSnapshot,
    scope: &SearchScope,
) -> Result<Vec<String>, DamagedIndexFile> {
    let parts = snapshot.views()?;
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (view, dead) in &parts {
        let classes = VisibleDocs::of(*view, dead, scope)?.classes();
        names.extend(classes.into_iter().filter_map(|class| view.class_speaker(class)));
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// The match of an item with the terms of the question.
#[derive(Clone, Copy, Debug, Default)]
struct KeywordMatch {
    lexical: f32,
    coverage: f32,
    /// A bit for each of the first terms of the question.
    terms: u64,
    /// The index of the last matched term of the question, plus one.
    covered: usize,
}

/// Returns the match of each item with the terms. The gains are added in the same order as in the keyword lane.
fn matches(words: &QueryTerms<'_>, views: &[SegmentView<'_>], picked: &[ResultDoc]) -> Vec<KeywordMatch> {
    let mut matches = vec![KeywordMatch::default(); picked.len()];
    for (part, view) in views.iter().enumerate() {
        let mut here: Vec<(u32, usize)> = (0..picked.len())
            .filter(|&n| picked[n].part as usize == part)
            .map(|n| (picked[n].doc, n))
            .collect();
        here.sort_unstable();
        for word in &words.words {
            let Postings { docs, counts } = word.postings[part];
            let (mut at, mut next) = (0, 0);
            // Both lists ascend, so each cursor can skip the entries that the other list lacks.
            while let (Some(&(doc, n)), true) = (here.get(next), at < docs.len()) {
                at = seek(docs, at, doc);
                let Some(&found) = docs.get(at) else {
                    break;
                };
                if found != doc {
                    next += here[next..].partition_point(|(doc, _)| *doc < found);
                    continue;
                }
                next += 1;
                let (matched, length) = (&mut matches[n], view.lengths[doc as usize] as f32);
                matched.lexical += words.lengths.gain(word.weight, f32::from(counts[at]), length);
                if matched.covered <= word.asked {
                    matched.covered = word.asked + 1;
                    matched.coverage += words.worth[word.asked];
                    matched.terms |=
                        u32::try_from(word.asked).map_or(0, |at| 1_u64.checked_shl(at).unwrap_or(0));
                }
            }
        }
    }
    // The total is added up in the same order as each coverage, so that an item with all terms gets exactly 1.
    let total: f32 = words.worth.iter().sum();
    matches.iter_mut().filter(|matched| matched.covered > 0).for_each(|matched| matched.coverage /= total);
    matches
}

/// The sessions in the form that ranking uses, without their closeness.
fn sessions_of(
    words: &QueryTerms<'_>,
    parts: &[VisibleDocs<'_>],
    gathered: &[CandidateSession],
) -> Vec<Session> {
    let total: u64 = gathered.iter().map(|session| session.length).sum();
    let lengths = LengthNormalization::around(total as f64 / gathered.len().max(1) as f64);
    let mut sessions: Vec<Session> = gathered
        .iter()
        .map(|session| Session {
            document: session.document,
            items: session.items,
            speakers: session.speakers,
            people: session.people,
            ..Session::default()
        })
        .collect();
    // The sessions are sorted by their docs, so that each list of postings is read once.
    let mut runs: Vec<(u32, &Range<u32>, usize)> = Vec::new();
    for (n, session) in gathered.iter().enumerate() {
        runs.extend(session.docs.iter().map(|(part, docs)| (*part, docs, n)));
    }
    runs.sort_unstable_by_key(|(part, docs, _)| (*part, docs.start));
    let mut counts = vec![0_u32; gathered.len()];
    for word in &words.words {
        let (mut at, mut last) = (0, None);
        for &(part, run, n) in &runs {
            let Postings { docs, counts: times } = word.postings[part as usize];
            if docs.is_empty() {
                continue;
            }
            at = seek(docs, if last == Some(part) { at } else { 0 }, run.start);
            last = Some(part);
            while docs.get(at).is_some_and(|doc| *doc < run.end) {
                if parts[part as usize].sees(docs[at]) {
                    counts[n] += u32::from(times[at]);
                }
                at += 1;
            }
        }
        for (n, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let length = gathered[n].length as f32;
            sessions[n].lexical += lengths.gain(word.weight, *count as f32, length);
            *count = 0;
        }
    }
    sessions
}

/// Returns the first position from `at` on whose number is not below `wanted`. The numbers ascend. The search is fast
/// if that position is close to `at`.
fn seek(numbers: &[u32], at: usize, wanted: u32) -> usize {
    let mut step = 1;
    while numbers.get(at + step).is_some_and(|number| *number < wanted) {
        step *= 2;
    }
    let from = at + step / 2;
    let to = numbers.len().min(at + step + 1);
    match numbers.get(from..to) {
        Some(some) => from + some.partition_point(|number| *number < wanted),
        None => numbers.len(),
    }
}

/// Collects the speakers of the results, each speaker once.
struct SpeakerNames<'a> {
    spoken: Vec<&'a str>,
    /// For each part and each class, the position of the speaker's name. The outer `None` means that it was not looked
    /// up yet.
    places: Vec<Vec<Option<Option<u32>>>>,
}

impl<'a> SpeakerNames<'a> {
    fn new(parts: usize) -> Self {
        Self { spoken: Vec::new(), places: vec![Vec::new(); parts] }
    }

    /// Returns the position of the speaker's name of a class.
    fn place(&mut self, part: u32, class: u32, view: &SegmentView<'a>) -> Option<u32> {
        let places = &mut self.places[part as usize];
        if places.is_empty() {
            places.resize(view.class_count(), None);
        }
        *places[class as usize].get_or_insert_with(|| {
            let name = view.class_speaker(class)?;
            let known = self.spoken.iter().position(|known| *known == name);
            let place = known.unwrap_or_else(|| {
                self.spoken.push(name);
                self.spoken.len() - 1
            });
            u32::try_from(place).ok()
        })
    }
}

fn item<'a>(
    picked: &ResultDoc,
    matched: KeywordMatch,
    near: Option<DocSimilarity>,
    view: &SegmentView<'a>,
    names: &mut SpeakerNames<'a>,
) -> Result<Item, DamagedIndexFile> {
    let place = picked.doc as usize;
    let (detail, class) = (&view.details[place], view.classes[place]);
    let facets = view.facets(class);
    let importance = Importance::new(detail.importance());
    let importance =
        importance.map_err(|_| view.segment.damaged("its importance is not a number from 0 to 1"))?;
    Ok(Item {
        memory: MemoryId::from_bytes(view.ids[place]),
        chunk: detail.chunk(),
        candidate: picked.candidate,
        lexical: matched.lexical,
        coverage: matched.coverage,
        terms: matched.terms,
        whole: near.map(|near| near.whole),
        sentence: near.and_then(|near| near.sentence),
        session: picked.session,
        order: picked.order,
        speaker: names.place(picked.part, class, view),
        at: Timestamp::from_micros(detail.at()),
        properties: detail.properties(view.lengths[place]),
        weights: Weights { stability: facets.stability(), state: facets.state(), importance },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeking_finds_the_first_that_is_not_below() {
        let numbers: Vec<u32> = (0..100).map(|n| n * 3).collect();
        for at in 0..=100 {
            for wanted in 0..310 {
                let expected = numbers.partition_point(|number| *number < wanted).max(at);
                assert_eq!(seek(&numbers, at, wanted), expected, "{at} {wanted}");
            }
        }
    }
}
