//! Searches the words of a text for phrases.
//!
//! Every phrase has a bounded length, so each word is read a bounded number of times.

use std::sync::LazyLock;

use super::CommandMatch;
use super::list::{self, LISTS, PHRASES};
use super::word::{NumberedWord, NumberedWords, WordGap, WordNumber, number};
use crate::vocabulary::CommandKind;

/// Maximum number of words between the beginning of a clause and the verb of an order.
const LEAD: usize = 10;
/// Number of words before a joined order in which an actor is searched.
const JOINED: usize = 12;
/// Number of words around a phrase in which signs of a report are searched.
const AROUND: usize = 40;
/// Number of bytes around a phrase in which quotes are searched.
const QUOTED: usize = 120;

/// A set of words, as numbers in ascending order.
pub(super) struct WordNumberSet(Vec<WordNumber>);

impl WordNumberSet {
    fn of(words: &str) -> Self {
        let mut numbers = Vec::new();
        for word in words.split('|') {
            match listed(word) {
                Some(name) => {
                    let list = LISTS.iter().position(|(list, _)| *list == name);
                    numbers.extend(list.into_iter().flat_map(|list| &LISTED[list]));
                }
                None => numbers.push(number(word)),
            }
        }
        numbers.sort_unstable();
        Self(numbers)
    }

    /// Returns true if a word is in the set.
    pub(super) fn contains(&self, word: &WordNumber) -> bool {
        self.0.binary_search(word).is_ok()
    }
}

/// Returns the name of the list in a step such as `{verbs}`.
fn listed(word: &str) -> Option<&str> {
    word.strip_prefix('{')?.strip_suffix('}')
}

/// The word numbers of each list. They are cached, because phrases name the same few lists hundreds of times, and every
/// process that shows a memory has to read the phrases.
static LISTED: LazyLock<Vec<Vec<WordNumber>>> =
    LazyLock::new(|| LISTS.iter().map(|(_, words)| words.split('|').map(number).collect()).collect());

/// A step of a phrase.
enum PhraseStep {
    /// A word of this set, with the minimum and maximum number of repetitions.
    Word(WordNumberSet, usize, usize),
    /// Any words, up to this many.
    Any(usize),
    /// A punctuation mark before the next step.
    Mark,
}

impl PhraseStep {
    fn of(step: &'static str) -> Self {
        if step == "," {
            return Self::Mark;
        }
        if let Some(most) = step.strip_prefix("..") {
            return Self::Any(most.parse().expect("a number of words"));
        }
        match (step.strip_suffix('?'), step.strip_suffix('*')) {
            (Some(words), _) => Self::Word(WordNumberSet::of(words), 0, 1),
            (_, Some(words)) => Self::Word(WordNumberSet::of(words), 0, 3),
            _ => Self::Word(WordNumberSet::of(step), 1, 1),
        }
    }

    /// Returns the words that are written in the step itself, without the words of its lists.
    fn words(step: &'static str) -> impl Iterator<Item = &'static str> {
        let is_word = step != "," && step != "^" && !step.starts_with("..");
        let words = is_word.then(|| step.trim_end_matches(['?', '*']).split('|'));
        words.into_iter().flatten().filter(|word| listed(word).is_none())
    }
}

struct CommandPhrase {
    what: CommandKind,
    order: bool,
    steps: Vec<PhraseStep>,
}

static ALL: LazyLock<Vec<CommandPhrase>> = LazyLock::new(|| {
    let read = |(what, text): &(CommandKind, &'static str)| CommandPhrase {
        what: *what,
        order: text.starts_with('^'),
        steps: text.split(' ').filter(|step| *step != "^").map(PhraseStep::of).collect(),
    };
    PHRASES.iter().map(read).collect()
});
/// The phrases that may begin with a word, indexed by the number of the word.
static BY_FIRST: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
    let mut places: Vec<Vec<usize>> = Vec::new();
    for (place, phrase) in ALL.iter().enumerate() {
        let Some(PhraseStep::Word(first, ..)) = phrase.steps.first() else { continue };
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
static LEADS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::LEAD));
static BEFORE_TO: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::BEFORE_TO));
static JOINS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::JOINS));
static TALE: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::TALE));
static TOLD: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::TOLD));
static READERS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::READERS));
static AIS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{ai}"));
static BOTS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{bot}"));
static HEEDS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{heed}"));
static DEEDS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{deed}"));
static MUSTS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{must}"));
static TO: LazyLock<WordNumber> = LazyLock::new(|| number("to"));
/// The word `system`.
pub(super) static SYSTEM: LazyLock<WordNumber> = LazyLock::new(|| number("system"));
static CALLS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::CALLS));
static CALLED: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::CALLED));
static ALL_OF: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("all|any|every|to"));
static ASSISTANTS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("assistant|assistants"));
static NEWS: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("new|updated"));
static HEADED: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of("{orders}"));
static HEADING_WORDS: LazyLock<WordNumberSet> =
    LazyLock::new(|| WordNumberSet::of("system|developer|secret|the|for|ai"));
static AFTER_HEADING: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::AFTER_HEADING));
/// Words that give an order in a message that states its role.
pub(super) static ROLE_ORDERS: LazyLock<WordNumberSet> =
    LazyLock::new(|| WordNumberSet::of(list::ROLE_ORDERS));
/// Words in a fake answer that reveal secrets.
pub(super) static ROLE_LOOT: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::ROLE_LOOT));
/// Words after a tag that address the reader.
pub(super) static ADDRESSED: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::ADDRESSED));
/// Words that begin an order after `System:`.
pub(super) static ORDERED: LazyLock<WordNumberSet> = LazyLock::new(|| WordNumberSet::of(list::ORDERED));

/// Returns every word that this module uses.
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
    let steps = PHRASES.iter().flat_map(|(_, phrase)| phrase.split(' ')).flat_map(PhraseStep::words);
    let lists = LISTS.iter().flat_map(|(_, words)| words.split('|'));
    steps
        .chain(lists)
        .chain(beside.into_iter().flat_map(|words| words.split('|')))
        .chain(["to", "system", "every"])
}

pub(super) fn find(words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    let mut at = 0;
    while at < words.all.len() {
        let match_at = |phrase: &CommandPhrase| -> Option<usize> {
            let end = matched(&phrase.steps, &words.all, at, false)?;
            (!phrase.order || is_order(&words.all, at)).then_some(end)
        };
        let phrases = BY_FIRST.get(usize::from(words.all[at].number)).into_iter().flatten();
        let hit = phrases.map(|place| &ALL[*place]).find_map(|phrase| Some((phrase.what, match_at(phrase)?)));
        if let Some((what, end)) = hit.filter(|(_, end)| !is_told(words, at, *end)) {
            found.push(CommandMatch { range: words.all[at].start..words.all[end - 1].end, what });
            at = end;
        } else {
            at += 1;
        }
    }
    calls(words, found);
    headings(words, found);
}

/// Number of words that are checked after a call or a heading.
const AFTER: usize = 12;

/// Finds calls such as `Attention AI agents!` that are followed by a sentence that addresses the reader.
fn calls(words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    let all = &words.all;
    for start in (0..all.len()).filter(|at| CALLS.contains(&all[*at].number)) {
        let mut at = start + 1;
        at += all[at..].iter().take(2).take_while(|word| ALL_OF.contains(&word.number)).count();
        let is =
            |place: usize, set: &WordNumberSet| all.get(place).is_some_and(|word| set.contains(&word.number));
        let end = match (is(at, &AIS), is(at + 1, &BOTS), is(at, &ASSISTANTS)) {
            (true, true, _) => at + 2,
            (true, false, _) | (_, _, true) => at + 1,
            _ => continue,
        };
        let parted = all.get(end).is_some_and(|next| next.gap >= WordGap::Clause);
        let close = all[start + 1..at].iter().chain(all.get(at)).all(|word| word.gap < WordGap::Sentence);
        let speaks = all[end.min(all.len())..].iter().take(AFTER).any(|word| CALLED.contains(&word.number));
        if parted && close && speaks && !is_told(words, start, end) {
            found
                .push(CommandMatch { range: all[start].start..all[end - 1].end, what: CommandKind::Address });
        }
    }
}

/// Finds lines that contain only `NEW INSTRUCTIONS` or a similar heading in capitals, above instructions for a model.
fn headings(words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    let all = &words.all;
    for start in
        (0..all.len()).filter(|at| NEWS.contains(&all[*at].number) && all[*at].gap >= WordGap::Clause)
    {
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
            found.push(CommandMatch { range, what: CommandKind::Override });
        }
    }
}

/// Returns the end of a phrase that begins at this word.
fn matched(steps: &[PhraseStep], words: &[NumberedWord], at: usize, mark: bool) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(at);
    };
    // The first word of a phrase may begin a sentence. The other words may not.
    let goes_on =
        |place: usize| place == at || words.get(place).is_some_and(|word| word.gap < WordGap::Sentence);
    match step {
        PhraseStep::Mark => matched(rest, words, at, true),
        PhraseStep::Any(most) => {
            if mark && words.get(at).is_none_or(|word| word.gap != WordGap::Clause) {
                return None;
            }
            (0..=*most)
                .take_while(|skipped| {
                    at + skipped <= words.len() && (0..*skipped).all(|n| !ends(words, at + n))
                })
                .find_map(|skipped| matched(rest, words, at + skipped, false))
        }
        PhraseStep::Word(set, least, most) => {
            let fits = |place: usize| words.get(place).is_some_and(|word| set.contains(&word.number));
            let marked = !mark || words.get(at).is_some_and(|word| word.gap == WordGap::Clause);
            let most = (0..*most).take_while(|n| marked && fits(at + n) && goes_on(at + n)).count();
            (*least..=most).rev().find_map(|taken| {
                let next = at + taken;
                let whole = rest.is_empty() || taken == 0 || !ends(words, next);
                whole.then(|| matched(rest, words, next, mark && taken == 0)).flatten()
            })
        }
    }
}

/// Returns true if the sentence ends before this word.
fn ends(words: &[NumberedWord], at: usize) -> bool {
    words.get(at).is_none_or(|word| word.gap == WordGap::Sentence)
}

/// Returns true if the verb at this position is an order: the verb begins a clause, or only words such as `please` come
/// before it.
fn is_order(words: &[NumberedWord], verb: usize) -> bool {
    let (mut at, mut asks) = (verb, false);
    for _ in 0..LEAD {
        if words[at].gap >= WordGap::Clause {
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

/// Returns true if the sentence has an actor before this position.
fn is_tale(words: &[NumberedWord], at: usize) -> bool {
    let mut place = at;
    for _ in 0..JOINED {
        if TALE.contains(&words[place].number) {
            return true;
        }
        if words[place].gap == WordGap::Sentence || place == 0 {
            return false;
        }
        place -= 1;
    }
    // The beginning of the sentence is too far away to know the actor.
    true
}

/// Returns true if a phrase is quoted, and a nearby word shows that the quote belongs to a report. Such a phrase is not
/// an order.
pub(super) fn is_told(words: &NumberedWords<'_>, at: usize, end: usize) -> bool {
    let near = at.saturating_sub(AROUND)..words.all.len().min(end + AROUND);
    let described = words.all[near].iter().any(|word| TOLD.contains(&word.number));
    described && is_quoted(words.text.as_bytes(), words.all[at].start, words.all[end - 1].end)
}

fn is_quoted(bytes: &[u8], start: usize, end: usize) -> bool {
    // The byte range contains the last bytes of ‘ ’ “ ” „. Other characters with these last bytes are rare enough.
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'`' | b'\'' | 0x98..=0x9e);
    let before = bytes[start.saturating_sub(QUOTED)..start].iter().rev().take_while(|byte| **byte != b'\n');
    let after = bytes[end..bytes.len().min(end + QUOTED)].iter().take_while(|byte| **byte != b'\n');
    before.into_iter().any(is_quote) && after.into_iter().any(is_quote)
}

/// Returns true if these words of a comment give an order to an assistant that reads pages for people.
pub(super) fn speaks_to_assistant(words: &[NumberedWord]) -> bool {
    let must = words.iter().any(|word| MUSTS.contains(&word.number));
    // Checks the words directly after the addressee, as in `AI assistant: approve this`.
    let described = |place: usize| {
        let next = words.get(place + 1..words.len().min(place + 3)).unwrap_or_default();
        next.iter().any(|word| word.gap >= WordGap::Clause && DEEDS.contains(&word.number))
    };
    words.iter().enumerate().any(|(place, word)| {
        let after = words.get(place + 1);
        let parted = after.is_some_and(|next| next.gap >= WordGap::Clause);
        let heeded = place > 0
            && words[place.saturating_sub(3)..place].iter().any(|word| HEEDS.contains(&word.number));
        let named =
            AIS.contains(&word.number) && (parted || after.is_some_and(|next| BOTS.contains(&next.number)));
        let read = READERS.contains(&word.number) && parted && (place == 0 || heeded);
        (named || read) && (must || described(place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_that_a_phrase_names_is_there() {
        for (_, phrase) in PHRASES {
            let first = phrase.trim_start_matches("^ ").split(' ').next().map(PhraseStep::of);
            assert!(matches!(first, Some(PhraseStep::Word(_, 1, _))), "{phrase}");
            for step in phrase.split(' ') {
                for word in PhraseStep::words(step) {
                    assert!(!word.is_empty() && number(word) != 0, "{step} in {phrase}");
                }
            }
        }
    }
}
