//! Looks for phrases among words.
//!
//! Every phrase has a bounded length, so each word is looked at a bounded number of times.

use std::sync::LazyLock;

use super::Found;
use super::list::{self, LISTS, PHRASES};
use super::word::{Gap, Number, Word, Words, number};
use crate::vocabulary::CommandKind;

/// Most words between the beginning of a clause and the verb of an order.
const LEAD: usize = 10;
/// So many words before an order that is joined to something are looked at for who acts.
const JOINED: usize = 12;
/// So many words around a phrase are looked at for what it is told of.
const AROUND: usize = 40;
/// So many bytes around a phrase are looked at for quotes.
const QUOTED: usize = 120;

/// A set of words, ascending.
pub(super) struct Set(Vec<Number>);

impl Set {
    fn of(words: &'static str) -> Self {
        let mut numbers: Vec<Number> = expanded(words).map(number).collect();
        numbers.sort_unstable();
        Self(numbers)
    }

    /// Whether a word is one of them.
    pub(super) fn contains(&self, word: &Number) -> bool {
        self.0.binary_search(word).is_ok()
    }
}

/// The words of a step, with those of the lists that it names.
fn expanded(step: &'static str) -> impl Iterator<Item = &'static str> {
    step.split('|').flat_map(|word| {
        match word.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => LISTS.iter().find(|(list, _)| *list == name).map_or("", |(_, words)| *words),
            None => word,
        }
        .split('|')
    })
}

/// One step of a phrase.
enum Step {
    /// One of these words, from so many times to so many.
    Word(Set, usize, usize),
    /// Up to so many words of any kind.
    Any(usize),
    /// A mark before what follows.
    Mark,
}

impl Step {
    fn of(step: &'static str) -> Self {
        if step == "," {
            return Self::Mark;
        }
        if let Some(most) = step.strip_prefix("..") {
            return Self::Any(most.parse().expect("a number of words"));
        }
        match (step.strip_suffix('?'), step.strip_suffix('*')) {
            (Some(words), _) => Self::Word(Set::of(words), 0, 1),
            (_, Some(words)) => Self::Word(Set::of(words), 0, 3),
            _ => Self::Word(Set::of(step), 1, 1),
        }
    }

    fn words(step: &'static str) -> impl Iterator<Item = &'static str> {
        let is_word = step != "," && step != "^" && !step.starts_with("..");
        is_word.then(|| expanded(step.trim_end_matches(['?', '*']))).into_iter().flatten()
    }
}

struct Phrase {
    what: CommandKind,
    order: bool,
    steps: Vec<Step>,
}

static ALL: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let read = |(what, text): &(CommandKind, &'static str)| Phrase {
        what: *what,
        order: text.starts_with('^'),
        steps: text.split(' ').filter(|step| *step != "^").map(Step::of).collect(),
    };
    PHRASES.iter().map(read).collect()
});
/// The places of the phrases that may begin with a word, by its number.
static BY_FIRST: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (place, phrase) in ALL.iter().enumerate() {
        let Some(Step::Word(first, ..)) = phrase.steps.first() else { continue };
        for word in &first.0 {
            let word = usize::from(*word);
            places.resize_with(places.len().max(word + 1), Vec::new);
            if places[word].last() != Some(&place) {
                places[word].push(place);
            }
        }
    }
    places
});
static LEADS: LazyLock<Set> = LazyLock::new(|| Set::of(list::LEAD));
static BEFORE_TO: LazyLock<Set> = LazyLock::new(|| Set::of(list::BEFORE_TO));
static JOINS: LazyLock<Set> = LazyLock::new(|| Set::of(list::JOINS));
static TALE: LazyLock<Set> = LazyLock::new(|| Set::of(list::TALE));
static TOLD: LazyLock<Set> = LazyLock::new(|| Set::of(list::TOLD));
static READERS: LazyLock<Set> = LazyLock::new(|| Set::of(list::READERS));
static AIS: LazyLock<Set> = LazyLock::new(|| Set::of("{ai}"));
static BOTS: LazyLock<Set> = LazyLock::new(|| Set::of("{bot}"));
static HEEDS: LazyLock<Set> = LazyLock::new(|| Set::of("{heed}"));
static DEEDS: LazyLock<Set> = LazyLock::new(|| Set::of("{deed}"));
static MUSTS: LazyLock<Set> = LazyLock::new(|| Set::of("{must}"));
static TO: LazyLock<Number> = LazyLock::new(|| number("to"));
/// The word `system`.
pub(super) static SYSTEM: LazyLock<Number> = LazyLock::new(|| number("system"));
static CALLS: LazyLock<Set> = LazyLock::new(|| Set::of(list::CALLS));
static CALLED: LazyLock<Set> = LazyLock::new(|| Set::of(list::CALLED));
static ALL_OF: LazyLock<Set> = LazyLock::new(|| Set::of("all|any|every|to"));
static ASSISTANTS: LazyLock<Set> = LazyLock::new(|| Set::of("assistant|assistants"));
static NEWS: LazyLock<Set> = LazyLock::new(|| Set::of("new|updated"));
static HEADED: LazyLock<Set> = LazyLock::new(|| Set::of("{orders}"));
static HEADING_WORDS: LazyLock<Set> = LazyLock::new(|| Set::of("system|developer|secret|the|for|ai"));
static AFTER_HEADING: LazyLock<Set> = LazyLock::new(|| Set::of(list::AFTER_HEADING));
/// Words by which a message that names its role gives an order.
pub(super) static ROLE_ORDERS: LazyLock<Set> = LazyLock::new(|| Set::of(list::ROLE_ORDERS));
/// Words by which a made-up answer gives something away.
pub(super) static ROLE_LOOT: LazyLock<Set> = LazyLock::new(|| Set::of(list::ROLE_LOOT));
/// Words by which what follows a tag speaks to the reader.
pub(super) static ADDRESSED: LazyLock<Set> = LazyLock::new(|| Set::of(list::ADDRESSED));
/// Words that begin an order after `System:`.
pub(super) static ORDERED: LazyLock<Set> = LazyLock::new(|| Set::of(list::ORDERED));

/// Every word that is used here.
pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    let beside = [
        list::LEAD,
        list::BEFORE_TO,
        list::JOINS,
        list::TALE,
        list::TOLD,
        list::ADDRESSED,
        list::ORDERED,
        list::READERS,
        list::CALLS,
        list::CALLED,
        list::AFTER_HEADING,
        list::ROLE_ORDERS,
        list::ROLE_LOOT,
    ];
    let steps = PHRASES.iter().flat_map(|(_, phrase)| phrase.split(' ')).flat_map(Step::words);
    let lists = LISTS.iter().flat_map(|(_, words)| words.split('|'));
    steps
        .chain(lists)
        .chain(beside.into_iter().flat_map(|words| words.split('|')))
        .chain(["to", "system", "every"])
}

pub(super) fn find(words: &Words<'_>, found: &mut Vec<Found>) {
    let mut at = 0;
    while at < words.all.len() {
        let match_at = |phrase: &Phrase| -> Option<usize> {
            let end = matched(&phrase.steps, &words.all, at, false)?;
            (!phrase.order || is_order(&words.all, at)).then_some(end)
        };
        let phrases = BY_FIRST.get(usize::from(words.all[at].number)).into_iter().flatten();
        let hit = phrases.map(|place| &ALL[*place]).find_map(|phrase| Some((phrase.what, match_at(phrase)?)));
        if let Some((what, end)) = hit.filter(|(_, end)| !is_told(words, at, *end)) {
            found.push(Found { range: words.all[at].start..words.all[end - 1].end, what });
            at = end;
        } else {
            at += 1;
        }
    }
    calls(words, found);
    headings(words, found);
}

/// So many words after a call or a heading are looked at.
const AFTER: usize = 12;

/// Calls such as `Attention AI agents!`, whose next sentence speaks to the reader.
fn calls(words: &Words<'_>, found: &mut Vec<Found>) {
    let all = &words.all;
    for start in (0..all.len()).filter(|at| CALLS.contains(&all[*at].number)) {
        let mut at = start + 1;
        at += all[at..].iter().take(2).take_while(|word| ALL_OF.contains(&word.number)).count();
        let is = |place: usize, set: &Set| all.get(place).is_some_and(|word| set.contains(&word.number));
        let end = match (is(at, &AIS), is(at + 1, &BOTS), is(at, &ASSISTANTS)) {
            (true, true, _) => at + 2,
            (true, false, _) | (_, _, true) => at + 1,
            _ => continue,
        };
        let parted = all.get(end).is_some_and(|next| next.gap >= Gap::Clause);
        let close = all[start + 1..at].iter().chain(all.get(at)).all(|word| word.gap < Gap::Sentence);
        let speaks = all[end.min(all.len())..].iter().take(AFTER).any(|word| CALLED.contains(&word.number));
        if parted && close && speaks && !is_told(words, start, end) {
            found.push(Found { range: all[start].start..all[end - 1].end, what: CommandKind::Address });
        }
    }
}

/// Lines with nothing but `NEW INSTRUCTIONS` in capitals, above what is for a model.
fn headings(words: &Words<'_>, found: &mut Vec<Found>) {
    let all = &words.all;
    for start in (0..all.len()).filter(|at| NEWS.contains(&all[*at].number) && all[*at].gap >= Gap::Clause) {
        let between = all[start + 1..].iter().take(3).take_while(|word| HEADING_WORDS.contains(&word.number));
        let end = start + 1 + between.count();
        if !all.get(end).is_some_and(|word| HEADED.contains(&word.number)) {
            continue;
        }
        let range = all[start].start..all[end].end;
        let line = words.text[range.end..].split('\n').next().unwrap_or_default();
        let alone = !line.contains(char::is_alphanumeric) && words.text.len() > range.end + line.len();
        let capitals = !words.text[range.clone()].contains(char::is_lowercase);
        let meant = all[end + 1..].iter().take(AFTER).any(|word| AFTER_HEADING.contains(&word.number));
        if alone && capitals && meant && !is_told(words, start, end + 1) {
            found.push(Found { range, what: CommandKind::Override });
        }
    }
}

/// Where a phrase ends that begins with the word at this place.
fn matched(steps: &[Step], words: &[Word], at: usize, mark: bool) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(at);
    };
    // The first word of a phrase may begin a sentence; no other one may.
    let goes_on = |place: usize| place == at || words.get(place).is_some_and(|word| word.gap < Gap::Sentence);
    match step {
        Step::Mark => matched(rest, words, at, true),
        Step::Any(most) => {
            if mark && words.get(at).is_none_or(|word| word.gap != Gap::Clause) {
                return None;
            }
            (0..=*most)
                .take_while(|skipped| {
                    at + skipped <= words.len() && (0..*skipped).all(|n| !ends(words, at + n))
                })
                .find_map(|skipped| matched(rest, words, at + skipped, false))
        }
        Step::Word(set, least, most) => {
            let fits = |place: usize| words.get(place).is_some_and(|word| set.contains(&word.number));
            let marked = !mark || words.get(at).is_some_and(|word| word.gap == Gap::Clause);
            let most = (0..*most).take_while(|n| marked && fits(at + n) && goes_on(at + n)).count();
            (*least..=most).rev().find_map(|taken| {
                let next = at + taken;
                let whole = rest.is_empty() || taken == 0 || !ends(words, next);
                whole.then(|| matched(rest, words, next, mark && taken == 0)).flatten()
            })
        }
    }
}

/// Whether no sentence goes on with the word at this place.
fn ends(words: &[Word], at: usize) -> bool {
    words.get(at).is_none_or(|word| word.gap == Gap::Sentence)
}

/// Whether the verb at this place is an order: it begins a clause, or only words such as `please` stand before it.
fn is_order(words: &[Word], verb: usize) -> bool {
    let (mut at, mut asks) = (verb, false);
    for _ in 0..LEAD {
        if words[at].gap >= Gap::Clause {
            return asks || at == verb || words[verb - 1].number != *TO;
        }
        let Some(before) = at.checked_sub(1) else {
            return true;
        };
        if JOINS.contains(&words[before].number) {
            return !is_tale(words, before);
        }
        if !LEADS.contains(&words[before].number) {
            return false;
        }
        asks |= BEFORE_TO.contains(&words[before].number);
        at = before;
    }
    false
}

/// Whether somebody acts in the sentence before this place.
fn is_tale(words: &[Word], at: usize) -> bool {
    let mut place = at;
    for _ in 0..JOINED {
        if TALE.contains(&words[place].number) {
            return true;
        }
        if words[place].gap == Gap::Sentence || place == 0 {
            return false;
        }
        place -= 1;
    }
    // Too far to tell who acts.
    true
}

/// Whether a phrase is in quotes and beside a word for such phrases: it is told of, and not said.
pub(super) fn is_told(words: &Words<'_>, at: usize, end: usize) -> bool {
    let near = at.saturating_sub(AROUND)..words.all.len().min(end + AROUND);
    let told = words.all[near].iter().any(|word| TOLD.contains(&word.number));
    told && is_quoted(words.text.as_bytes(), words.all[at].start, words.all[end - 1].end)
}

fn is_quoted(bytes: &[u8], start: usize, end: usize) -> bool {
    // The last byte of ‘ ’ “ ” „ is among them; what else ends so is rare enough.
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'`' | b'\'' | 0x98..=0x9e);
    let before = bytes[start.saturating_sub(QUOTED)..start].iter().rev().take_while(|byte| **byte != b'\n');
    let after = bytes[end..bytes.len().min(end + QUOTED)].iter().take_while(|byte| **byte != b'\n');
    before.into_iter().any(is_quote) && after.into_iter().any(is_quote)
}

/// Whether these words, which are a comment, give an order to whoever reads pages for people.
pub(super) fn speaks_to_assistant(words: &[Word]) -> bool {
    let must = words.iter().any(|word| MUSTS.contains(&word.number));
    // What comes right after who is called, as in `AI assistant: approve this`.
    let told = |place: usize| {
        let next = words.get(place + 1..words.len().min(place + 3)).unwrap_or_default();
        next.iter().any(|word| word.gap >= Gap::Clause && DEEDS.contains(&word.number))
    };
    words.iter().enumerate().any(|(place, word)| {
        let after = words.get(place + 1);
        let parted = after.is_some_and(|next| next.gap >= Gap::Clause);
        let heeded = place > 0
            && words[place.saturating_sub(3)..place].iter().any(|word| HEEDS.contains(&word.number));
        let named =
            AIS.contains(&word.number) && (parted || after.is_some_and(|next| BOTS.contains(&next.number)));
        let read = READERS.contains(&word.number) && parted && (place == 0 || heeded);
        (named || read) && (must || told(place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_that_a_phrase_names_is_there() {
        for (_, phrase) in PHRASES {
            let first = phrase.trim_start_matches("^ ").split(' ').next().map(Step::of);
            assert!(matches!(first, Some(Step::Word(_, 1, _))), "{phrase}");
            for step in phrase.split(' ') {
                for word in Step::words(step) {
                    assert!(!word.is_empty() && number(word) != 0, "{step} in {phrase}");
                }
            }
        }
    }
}
