//! What a term of the question stands for: itself, or, where nothing visible has it, terms that begin with it or hold
//! it.
//!
//! Only what is within the scope counts. What others have saved neither keeps a term from standing for others nor is
//! among those that it stands for.

use std::collections::BTreeSet;

use super::segment::{Postings, View};
use super::trouble::Damaged;
use super::visible::Visible;

/// How many terms one that is nowhere stands for, at the most.
const MOST: usize = 16;
/// What such a term counts.
pub(super) const SHARE: f32 = 0.6;
/// From so many characters on a term is also looked for inside of others.
const INSIDE: usize = 4;

/// The docs of a term part by part, and how many of them are visible.
pub(super) type Seen<'a> = (Vec<Postings<'a>>, usize);

/// The docs of a term; `None` where nothing visible has it.
pub(super) fn itself<'a>(term: &str, parts: &[Visible<'a>]) -> Result<Option<Seen<'a>>, Damaged> {
    let found = seen(term.as_bytes(), parts)?;
    Ok(Some(found).filter(|(_, count)| *count > 0))
}

/// The docs of the terms that one stands for that is nowhere.
pub(super) fn others<'a>(term: &str, parts: &[Visible<'a>]) -> Result<Vec<Seen<'a>>, Damaged> {
    let asked = term.as_bytes();
    let mut found = first(parts, |view| view.beginning_with(asked))?;
    if found.is_empty() && term.chars().count() >= INSIDE {
        found = first(parts, |view| view.containing(asked))?;
    }
    found.into_iter().map(|(_, term)| seen(term, parts)).collect()
}

/// The first visible ones among those that are like the one asked for: the shortest, then by the alphabet.
///
/// A term is looked at only where it would still come among the first, so that hidden ones cost no more than a look
/// each. None of them is passed over unseen: to give up after many would tell that there are many.
fn first<'a, T: IntoIterator<Item = usize>>(
    parts: &[Visible<'a>],
    like: impl Fn(&View<'a>) -> T,
) -> Result<BTreeSet<(usize, &'a [u8])>, Damaged> {
    let mut first = BTreeSet::new();
    for part in parts.iter().filter(|part| part.tally.items > 0) {
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

fn seen<'a>(term: &[u8], parts: &[Visible<'a>]) -> Result<Seen<'a>, Damaged> {
    let (mut all, mut count) = (Vec::with_capacity(parts.len()), 0);
    for part in parts {
        // Where nothing is visible, nothing needs to be read.
        let postings = if part.tally.items > 0 { part.view.postings(term)? } else { Postings::default() };
        count += part.count(postings);
        all.push(postings);
    }
    Ok((all, count))
}
