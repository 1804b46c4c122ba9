//! The expansion of a term of the question. If a visible doc contains the term, the expansion is the term itself.
//! Otherwise it is the terms that begin with it or contain it, or of which it may be a misspelling.
//!
//! Only memories within the scope count. Memories outside the scope neither prevent an expansion nor add terms to it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tulving_core::model::search::WordBeginning;
use tulving_text::terms::spelling;

use super::errors::DamagedIndexFile;
use super::segment::{Postings, SegmentView};
use super::visible::VisibleDocs;

/// Maximum number of terms that replace an unknown term.
const MOST: usize = 16;
/// Maximum number of terms that begin with the letters of an incomplete word.
const MOST_BEGUN: usize = 50;
/// The weight of a term that replaces an unknown term, or that begins with the letters of an incomplete word.
pub(super) const SHARE: f32 = 0.6;

/// The docs of a term, part by part, and the number of visible docs.
pub(super) type VisiblePostings<'a> = (Vec<Postings<'a>>, usize);

/// The docs of a term; `None` if no visible doc contains the term.
pub(super) fn itself<'a>(
    term: &str,
    parts: &[VisibleDocs<'a>],
) -> Result<Option<VisiblePostings<'a>>, DamagedIndexFile> {
    let found = seen(term.as_bytes(), parts)?;
    Ok(Some(found).filter(|(_, count)| *count > 0))
}

/// The docs of the terms that replace an unknown term.
pub(super) fn others<'a>(
    term: &str,
    parts: &[VisibleDocs<'a>],
) -> Result<Vec<VisiblePostings<'a>>, DamagedIndexFile> {
    let asked = term.as_bytes();
    let mut found = BTreeSet::new();
    if spelling::may_be_part(term) {
        found = first(parts, |view| view.beginning_with(asked))?;
        if found.is_empty() {
            found = first(parts, |view| view.containing(asked))?;
        }
    }
    if found.is_empty() && spelling::may_be_misspelt(term) {
        let is_meant =
            |known: &[u8]| str::from_utf8(known).is_ok_and(|known| spelling::is_misspelt(term, known));
        found = first(parts, |view| {
            let mut like: Vec<usize> = view.beginning_with(&asked[..1]).collect();
            like.retain(|ordinal| is_meant(view.term(*ordinal)));
            like
        })?;
    }
    found.into_iter().map(|(_, term)| seen(term, parts)).collect()
}

/// The docs of the terms that begin with the letters of an incomplete word, or whose words do, without the docs of the
/// term itself. If there are too many terms, the terms of the most visible docs.
pub(super) fn begun<'a>(
    beginning: &WordBeginning,
    term: &str,
    parts: &[VisibleDocs<'a>],
) -> Result<Vec<VisiblePostings<'a>>, DamagedIndexFile> {
    let mut counts: BTreeMap<&'a [u8], usize> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.counts.items > 0) {
        for ordinal in part.view.beginning_with(beginning.letters.as_bytes()) {
            let count = part.count(part.view.postings_of(ordinal)?);
            *counts.entry(part.view.term(ordinal)).or_default() += count;
        }
    }
    counts.retain(|known, count| *known != term.as_bytes() && *count > 0);
    let mut most: Vec<(&[u8], usize)> = counts.into_iter().collect();
    most.sort_by_key(|(term, count)| (Reverse(*count), *term));
    most.truncate(MOST_BEGUN);
    let stems = beginning.stems.iter().map(String::as_bytes).filter(|stem| *stem != term.as_bytes());
    let mut found = Vec::new();
    for known in most.into_iter().map(|(term, _)| term).chain(stems) {
        found.push(seen(known, parts)?);
    }
    found.retain(|(_, count)| *count > 0);
    Ok(found)
}

/// The first visible terms that are similar to the requested term: the shortest first, then in alphabetical order.
///
/// A term is checked only if it would be among the first. So a hidden term costs at most one check. The search never
/// stops early because of hidden terms, because the missing results would reveal that there are many.
fn first<'a, T: IntoIterator<Item = usize>>(
    parts: &[VisibleDocs<'a>],
    like: impl Fn(&SegmentView<'a>) -> T,
) -> Result<BTreeSet<(usize, &'a [u8])>, DamagedIndexFile> {
    let mut first = BTreeSet::new();
    for part in parts.iter().filter(|part| part.counts.items > 0) {
        for ordinal in like(&part.view) {
            let term = part.view.term(ordinal);
            let place = (term.len(), term);
            let late = first.len() == MOST && first.last().is_some_and(|last| *last < place);
            if late || first.contains(&place) || !part.has_any(part.view.postings_of(ordinal)?) {
                continue;
            }
            first.insert(place);
            if first.len() > MOST {
                first.pop_last();
            }
        }
    }
    Ok(first)
}

/// The docs of a term, and the number of visible docs that have it.
pub(super) fn seen<'a>(
    term: &[u8],
    parts: &[VisibleDocs<'a>],
) -> Result<VisiblePostings<'a>, DamagedIndexFile> {
    let (mut all, mut count) = (Vec::with_capacity(parts.len()), 0);
    for part in parts {
        // If no item of the part is visible, its postings need not be read.
        let postings = if part.counts.items > 0 { part.view.postings(term)? } else { Postings::default() };
        count += part.count(postings);
        all.push(postings);
    }
    Ok((all, count))
}
