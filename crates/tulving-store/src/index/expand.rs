//! What a term of the question stands for: itself, or, where no text has it, terms that begin with it or hold it.

use super::dead::Dead;
use super::segment::{Postings, View};
use super::trouble::Damaged;

/// How many terms one that is nowhere stands for, at the most.
const MOST: usize = 16;
/// What such a term counts.
pub(super) const SHARE: f32 = 0.6;
/// From so many characters on a term is also looked for inside of others.
const INSIDE: usize = 4;

/// The docs of a term part by part, and how many of them live.
pub(super) type Living<'a> = (Vec<Postings<'a>>, usize);

/// The docs of a term; `None` where it is nowhere. One that only the dead have is nowhere.
pub(super) fn itself<'a>(term: &str, parts: &[(View<'a>, &Dead)]) -> Result<Option<Living<'a>>, Damaged> {
    let found = living(term.as_bytes(), parts)?;
    Ok(Some(found).filter(|(_, count)| *count > 0))
}

/// The docs of the terms that one stands for that is nowhere.
pub(super) fn others<'a>(term: &str, parts: &[(View<'a>, &Dead)]) -> Result<Vec<Living<'a>>, Damaged> {
    let views = || parts.iter().map(|(view, _)| view);
    let beginning = views().flat_map(|view| {
        view.beginning_with(term.as_bytes()).map(|ordinal| view.term(ordinal)).collect::<Vec<_>>()
    });
    let mut found = first(beginning.collect(), parts)?;
    if found.is_empty() && term.chars().count() >= INSIDE {
        let holding = views().flat_map(|view| {
            view.containing(term.as_bytes()).into_iter().map(|ordinal| view.term(ordinal)).collect::<Vec<_>>()
        });
        found = first(holding.collect(), parts)?;
    }
    Ok(found)
}

/// The first that live: the shortest, then by the alphabet.
fn first<'a>(mut terms: Vec<&[u8]>, parts: &[(View<'a>, &Dead)]) -> Result<Vec<Living<'a>>, Damaged> {
    terms.sort_unstable_by_key(|term| (term.len(), *term));
    terms.dedup();
    let mut found = Vec::new();
    for term in terms {
        let living = living(term, parts)?;
        if living.1 > 0 {
            found.push(living);
        }
        if found.len() == MOST {
            break;
        }
    }
    Ok(found)
}

fn living<'a>(term: &[u8], parts: &[(View<'a>, &Dead)]) -> Result<Living<'a>, Damaged> {
    let (mut all, mut count) = (Vec::with_capacity(parts.len()), 0);
    for (view, dead) in parts {
        let postings = view.postings(term)?;
        count += dead.living(postings);
        all.push(postings);
    }
    Ok((all, count))
}
