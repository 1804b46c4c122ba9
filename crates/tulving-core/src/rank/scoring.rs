//! The engine's own ranking: a weighted sum of the scores of lanes, neighbours, speakers, sessions and dates.
//!
//! One set of constants is used for all kinds of content. The constants were tuned on development conversations and
//! documents, and checked on other sets. `cargo xtask eval` measures their effect. Change a constant only together with new
//! measurements.

use std::collections::HashSet;

use tulving_text::person::{GrammaticalPerson, QuestionPeople};
use tulving_text::properties::name_hash;
use tulving_text::when::QuestionInterval;

use crate::model::answer::{PartName, ScorePart};
use crate::model::search::{Item, SearchResults, Session, is_person};
use crate::model::time::Timestamp;

/// The weight of meaning and the weight of words in the score.
const MEANING: f64 = 0.6;
const WORDS: f64 = 0.4;
/// An item also gets a share of the word scores of its neighbours: two items before it and two items after it. Each entry
/// is the offset of the neighbour and its share.
const LENT_WORDS: [(i64, f64); 4] = [(-1, 0.5), (-2, 0.25), (1, 0.25), (2, 0.125)];
/// The same for the meaning scores.
const LENT_MEANING: [(i64, f64); 2] = [(-1, 0.25), (1, 0.125)];
/// Number of terms up to which an item borrows the full share from its neighbours. A longer item borrows proportionally
/// less, because a long text is usually clear without its neighbours.
const BORROWS_IN_FULL: f64 = 30.0;
/// The factor by which an answer borrows more from the question directly before it.
const ANSWERS: f64 = 1.5;
/// The share of the word score of a whole document in the word score of each chunk.
const DOCUMENT: f64 = 0.5;
/// The weight of the speaker, if the question is about the speaker.
const SPEAKER: f64 = 0.15;
/// The weights of the whole session: by the words of the session, and by the meaning of its most similar item.
const SESSION_WORDS: f64 = 0.10;
const SESSION_MEANING: f64 = 0.10;
/// The penalty of an item that asks a question, if another speaker answers next.
const ASKS: f64 = -0.15;
/// The weight of the time that the question names.
const DATE: f64 = 0.5;
/// The weight of the named time if the question asks for nothing else, as "what happened last week?" does. Then every item
/// of that time comes before all other items, because another item reaches at most half of this weight plus the maximum
/// score of meaning.
const DATE_ALONE: f64 = 1.5;
/// Number of days outside an interval after which the match with the interval has fallen to 1/e.
const DATE_FADES: f64 = 7.0;
/// The match of a named time with items that were said after that time and may still be about it.
const TOLD_LATER: f64 = 0.5;
/// The weight of an item that names a time, if the question asks for one.
const WHEN: f64 = 0.10;
/// The weights of the signs that a turn between people states something: names, a time, the first person, what the
/// speaker did, many different words, and a mere reaction. They do not depend on the question. Turns of a user and an
/// assistant do not get them, because there they lower recall.
const STATES_NAMES: f64 = 0.10;
const STATES_TIME: f64 = 0.05;
const STATES_OWN: f64 = 0.05;
const STATES_ACTS: f64 = 0.05;
const STATES_MUCH: f64 = 0.05;
const REACTS: f64 = -0.03;
/// The numbers of names, of own acts and of different words that get the whole weight.
const ENOUGH_NAMES: u8 = 3;
const ENOUGH_ACTS: u8 = 2;
const ENOUGH_WORDS: u8 = 12;
/// The weight of all signs together.
const STATES: f64 = STATES_NAMES + STATES_TIME + STATES_OWN + STATES_ACTS + STATES_MUCH;
/// The weight of the rare words that an item shares with the best items, in conversations between people.
const SHARED: f64 = 0.1;
/// The penalty of an item that was said in a conversation after the question was asked, because the question cannot refer to
/// such an item. The penalty is as large as the weight of a named time. On hay48, 29 % of the turns are such items. There,
/// mean average precision rises steadily from 88.8 without the penalty to 92.2 at -0.3 and 92.5 at -0.5; all@5 rises from
/// 90.0 to 92.5 at both values. A larger penalty improves neither figure. Sets without such turns are unaffected.
const UNSAID: f64 = -0.5;

/// Similarity above which an item is really near, and not only nearer than the other items: see [`ItemScores::of`].
const NEAR: f64 = 0.3;
/// The share of the worth of all words of the question that an item must have for the full score of words, if no item
/// has more. A single common word must not lift an item over the nearest one by meaning.
const SOME_WORDS: f64 = 0.3;
/// Similarity below which an item without any word of the question is only noise.
const FAINT: f64 = 0.1;

const MICROS_PER_DAY: f64 = 86_400_000_000.0;
/// The speaker names of the user and of the assistant.
const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// The features of a question other than its words and its meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QueryFeatures {
    /// The people that the question is about.
    pub(crate) addressed: QuestionPeople,
    /// The times that the question names.
    pub(crate) intervals: Vec<QuestionInterval>,
    /// True if the question asks only for these times.
    pub(crate) of_time_alone: bool,
    /// True if the question asks for a time.
    pub(crate) asks_when: bool,
    /// Time from which items count as later than the question, if the question was asked some time ago.
    pub(crate) unsaid_from: Option<Timestamp>,
    /// The proper names of the question: a bit for each of its first 64 different terms.
    pub(crate) names: u64,
}

impl QueryFeatures {
    /// Returns the maximum possible score.
    pub(crate) fn most(&self) -> f64 {
        let about = !self.addressed.named.is_empty() || self.addressed.person != GrammaticalPerson::Other;
        let asked = [(about, SPEAKER), (!self.intervals.is_empty(), self.date()), (self.asks_when, WHEN)];
        let asked = asked.into_iter().filter(|(is, _)| *is).map(|(_, weight)| weight);
        MEANING + WORDS + SESSION_WORDS + SESSION_MEANING + asked.sum::<f64>()
    }

    /// Returns the past time that the question names, if it names exactly one time, and that has ended.
    pub(crate) fn past(&self, now: Timestamp) -> Option<QuestionInterval> {
        match self.intervals.as_slice() {
            [one] if one.until <= now && one.from > Timestamp::from_micros(i64::MIN) => Some(*one),
            _ => None,
        }
    }

    /// Returns true if the question asks only for a time, and the item is of that time.
    pub(crate) fn asks_for_time_of(&self, item: &Item) -> bool {
        self.of_time_alone && self.intervals.iter().any(|interval| interval.has(item.at))
    }

    /// Returns the weight of the named times.
    fn date(&self) -> f64 {
        if self.of_time_alone { DATE_ALONE } else { DATE }
    }
}

/// Returns the sum of the parts, added in their order.
pub(crate) fn sum(parts: &[ScorePart]) -> f64 {
    parts.iter().map(|part| part.value).sum()
}

/// The scores of all items that were found: candidates and neighbours.
#[derive(Debug)]
pub(crate) struct ItemScores<'a> {
    found: &'a SearchResults,
    features: &'a QueryFeatures,
    /// True for each item that is noise: the item is not near and has none of the words, even with the shares of its
    /// neighbours.
    noise: Vec<bool>,
    meaning: Vec<f64>,
    words: Vec<f64>,
    session_words: Vec<f64>,
    session_meaning: Vec<f64>,
    /// True for each speaker that the question is about.
    spoken_of: Vec<bool>,
    /// True for each speaker who is the user.
    user: Vec<bool>,
    /// The hashes of the names of all speakers, and of their short forms.
    called: HashSet<u16>,
    /// The share of each item in the walk from the best items, if there was one.
    shared: Vec<f64>,
    dates: Option<DateMatch<'a>>,
    /// True if some items have vectors. Items without a vector then use their word score in place of the meaning score, so
    /// that they are not at a disadvantage.
    compared: bool,
}

impl<'a> ItemScores<'a> {
    /// Scales the scores of the items so that they are comparable.
    pub(crate) fn of(found: &'a SearchResults, features: &'a QueryFeatures) -> Self {
        let items = &found.items;
        let near: Vec<f64> = items.iter().map(|item| f64::from(item.closeness())).collect();
        let words: Vec<f64> = items.iter().map(|item| lexical(found, item)).collect();
        let (near, words) = (borrowed(found, &near, &LENT_MEANING), borrowed(found, &words, &LENT_WORDS));
        let nearest = items.iter().map(|item| f64::from(item.closeness())).fold(NEAR, f64::max);
        let mut session_words =
            scaled(found.sessions.iter().map(|session| f64::from(session.lexical)).collect(), 0.0);
        let behind = behind_single_items(found);
        session_words.iter_mut().for_each(|words| *words *= behind);
        Self {
            noise: near.iter().zip(&words).map(|(near, words)| *near < FAINT && *words <= 0.0).collect(),
            // If no item is near, the nearest item must not get the full score of a near item.
            meaning: scaled(near, NEAR),
            words: scaled(words, SOME_WORDS * found.worth.iter().map(|worth| f64::from(*worth)).sum::<f64>()),
            session_words,
            // A session is also compared with single items. Otherwise the best of a few sessions would get a bonus only
            // because there are few.
            session_meaning: scaled(
                found.sessions.iter().map(|session| f64::from(session.closeness)).collect(),
                nearest,
            ),
            spoken_of: found.speakers.iter().map(|name| spoken_of(name, &features.addressed)).collect(),
            user: found.speakers.iter().map(|name| name.eq_ignore_ascii_case(USER)).collect(),
            called: found.speakers.iter().flat_map(|name| forms(name)).collect(),
            shared: Vec::new(),
            dates: DateMatch::of(found, features),
            compared: items.iter().any(|item| item.whole.is_some()),
            found,
            features,
        }
    }

    /// Returns the score of an item: the sum of the item's parts, added in their order.
    pub(crate) fn score(&self, at: usize) -> f64 {
        let mut sum = 0.0;
        self.each(at, |part| sum += part.value);
        sum
    }

    /// Returns true if an item is not noise, or if the item is of a time that the question names.
    pub(crate) fn says_something(&self, at: usize) -> bool {
        !self.noise[at] || self.dates.as_ref().is_some_and(|dates| dates.has(&self.found.items[at]))
    }

    /// Returns the parts of an item's score, without parts of value zero.
    pub(crate) fn parts(&self, at: usize) -> Vec<ScorePart> {
        let mut parts = Vec::new();
        self.each(at, |part| parts.push(part));
        parts
    }

    fn each(&self, at: usize, mut take: impl FnMut(ScorePart)) {
        let item = &self.found.items[at];
        let mut add = |name: PartName, raw: f64, weight: f64| {
            if raw * weight != 0.0 {
                take(ScorePart::new(name, raw, weight));
            }
        };
        // A single item is its own session, so that it does not lose to items of larger sessions.
        let session = several(self.found, item);
        let (of_meaning, of_words) = match session {
            Some(_) => (MEANING, WORDS),
            None => (MEANING + SESSION_MEANING, WORDS + SESSION_WORDS),
        };
        match item.whole {
            None if self.compared => add(PartName::Unembedded, self.words[at], of_meaning),
            _ => add(PartName::Meaning, self.meaning[at], of_meaning),
        }
        add(PartName::Words, self.words[at], of_words);
        add(PartName::Speaker, is(says(&self.spoken_of, item)), SPEAKER);
        if let Some(session) = session {
            add(PartName::SessionWords, self.session_words[session], SESSION_WORDS);
            add(PartName::SessionMeaning, self.session_meaning[session], SESSION_MEANING);
        }
        add(PartName::Asks, self.asks(at), ASKS);
        if let Some(dates) = &self.dates {
            add(PartName::Date, dates.pull(item), self.features.date());
        }
        add(PartName::When, is(self.features.asks_when && item.properties.time_word), WHEN);
        add(PartName::Unsaid, is(self.unsaid(item)), UNSAID);
        if self.is_of_people(at) {
            add(PartName::States, self.states(item), STATES);
            add(PartName::SharedWords, self.shared.get(at).copied().unwrap_or(0.0), SHARED);
        }
    }

    /// Sets the share of each item in the [walk](super::walk) from the best items.
    pub(crate) fn set_shared(&mut self, shared: Vec<f64>) {
        self.shared = shared;
    }

    /// Returns the maximum possible score.
    pub(crate) fn most(&self) -> f64 {
        let between_people = (0..self.found.items.len()).any(|at| self.is_of_people(at));
        self.features.most() + if between_people { STATES + SHARED } else { 0.0 }
    }

    /// Returns true if an item is a turn of a person in a conversation of several people with names.
    pub(crate) fn is_of_people(&self, at: usize) -> bool {
        let item = &self.found.items[at];
        let speaker = item.speaker.and_then(|speaker| self.found.speakers.get(speaker as usize));
        speaker.is_some_and(|name| is_person(name))
            && session(self.found, item).is_some_and(|(_, session)| session.people > 1)
    }

    /// Returns how much the text of a turn states by its form, as a share of [`STATES`].
    fn states(&self, item: &Item) -> f64 {
        let said = &item.properties;
        let share = |count: usize, enough: u8| (count as f64 / f64::from(enough)).min(1.0);
        let others = said.names.iter().filter(|name| **name != 0 && !self.called.contains(name)).count();
        let signs = STATES_NAMES * share(others, ENOUGH_NAMES)
            + STATES_TIME * is(said.time_word)
            + STATES_OWN * is(said.first_person)
            + STATES_ACTS * share(said.own_acts.into(), ENOUGH_ACTS)
            + STATES_MUCH * share(said.distinct.into(), ENOUGH_WORDS)
            + REACTS * is(said.reacts);
        let gate = (BORROWS_IN_FULL / f64::from(said.length.max(1))).min(1.0);
        gate * signs / STATES
    }

    /// Returns true if the item was said in a conversation after the question was asked. Outside of conversations, the time
    /// of an item is that of its subject, which may have been known before the question.
    fn unsaid(&self, item: &Item) -> bool {
        let said = || session(self.found, item).is_some_and(|(_, session)| !session.document);
        self.features.unsaid_from.is_some_and(|from| item.at >= from) && said()
    }

    /// Returns the share of questions in the item, if another speaker speaks next and the item's speaker is not the user.
    fn asks(&self, at: usize) -> f64 {
        let item = &self.found.items[at];
        if item.properties.questions == 0.0 || says(&self.user, item) {
            return 0.0;
        }
        match neighbour(self.found, at, 1) {
            Some(next) if self.found.items[next].speaker != item.speaker => {
                f64::from(item.properties.questions)
            }
            _ => 0.0,
        }
    }
}

/// Returns the hashes of a speaker's name, of each word of it, and of the first three and four letters of each word, by
/// which friends may call the speaker.
fn forms(name: &str) -> Vec<u16> {
    let short = |word: &str, letters: usize| name_hash(&word.chars().take(letters).collect::<String>());
    let words = name.split_whitespace();
    words.flat_map(|word| [name_hash(word), short(word, 3), short(word, 4)]).collect()
}

fn is(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// Returns the flag of the item's speaker; false if the item has no speaker.
fn says(of_speakers: &[bool], item: &Item) -> bool {
    item.speaker.and_then(|speaker| of_speakers.get(speaker as usize)).is_some_and(|holds| *holds)
}

/// Returns the word score of an item. The score of a document's chunk includes a share of the word score of the whole
/// document, because a question asks for the document.
fn lexical(found: &SearchResults, item: &Item) -> f64 {
    let own = f64::from(item.lexical);
    match session(found, item) {
        Some((_, session)) if session.document => {
            (1.0 - DOCUMENT) * own + DOCUMENT * f64::from(session.lexical)
        }
        _ => own,
    }
}

/// Divides all values by the largest value, so that the best value is 1; the divisor is at least `least`. This method gave
/// better results than every other method of making lanes comparable.
fn scaled(mut values: Vec<f64>, least: f64) -> Vec<f64> {
    let largest = values.iter().copied().fold(least, f64::max);
    if largest > 0.0 {
        values.iter_mut().for_each(|value| *value /= largest);
    }
    values
}

/// Returns the best word score of an item of a session as a share of the best word score of all items. The word scores
/// of sessions themselves cannot be compared with those of single items, because sessions are longer.
fn behind_single_items(found: &SearchResults) -> f64 {
    let best = |of_session: bool| {
        let items = found.items.iter().filter(|item| several(found, item).is_some() == of_session);
        items.map(|item| f64::from(item.lexical)).fold(0.0, f64::max)
    };
    let (in_sessions, single) = (best(true), best(false));
    if single > in_sessions { in_sessions / single } else { 1.0 }
}

/// Adds to each value the shares that the neighbours of the item lend.
fn borrowed(found: &SearchResults, values: &[f64], lent: &[(i64, f64)]) -> Vec<f64> {
    let own = values.iter().enumerate();
    own.map(|(at, value)| {
        let item = &found.items[at];
        if !talks(found, item) {
            return *value;
        }
        let gate = (BORROWS_IN_FULL / f64::from(item.properties.length.max(1))).min(1.0);
        let shares = lent.iter().filter_map(|(offset, share)| {
            let other = neighbour(found, at, *offset)?;
            let answers = *offset == -1
                && found.items[other].properties.ends_with_question
                && found.items[other].speaker != item.speaker;
            Some(share * values[other] * if answers { ANSWERS } else { 1.0 })
        });
        value + gate * shares.sum::<f64>()
    })
    .collect()
}

/// Returns true if the item's session has several speakers. Only then do the neighbours of an item indicate the subject of
/// the item.
fn talks(found: &SearchResults, item: &Item) -> bool {
    session(found, item).is_some_and(|(_, session)| session.speakers > 1)
}

/// Returns the turns directly before and after an item in the same conversation of several speakers, if they were
/// found.
pub(crate) fn talking_neighbours(found: &SearchResults, at: usize) -> impl Iterator<Item = usize> {
    let talks = talks(found, &found.items[at]);
    [-1, 1].into_iter().filter(move |_| talks).filter_map(move |offset| neighbour(found, at, offset))
}

/// Returns the item at this offset in the same session, if it was found.
fn neighbour(found: &SearchResults, at: usize, offset: i64) -> Option<usize> {
    let item = &found.items[at];
    let session = item.session?;
    let order = i64::from(item.order).checked_add(offset)?;
    // Items of a session are adjacent and in order, so a neighbour at offset n is at most n positions away.
    let reach = usize::try_from(offset.unsigned_abs()).ok()?;
    let (first, last) = (at.saturating_sub(reach), (at + reach).min(found.items.len() - 1));
    (first..=last).find(|other| {
        let other = &found.items[*other];
        other.session == Some(session) && i64::from(other.order) == order
    })
}

fn session<'a>(found: &'a SearchResults, item: &Item) -> Option<(usize, &'a Session)> {
    let at = item.session? as usize;
    found.sessions.get(at).map(|session| (at, session))
}

/// Returns the item's session if it has several items.
fn several(found: &SearchResults, item: &Item) -> Option<usize> {
    session(found, item).filter(|(_, session)| session.items > 1).map(|(at, _)| at)
}

/// Returns true if the question is about the speaker with this name.
fn spoken_of(speaker: &str, addressed: &QuestionPeople) -> bool {
    addressed.named.iter().any(|named| named == speaker)
        || match addressed.person {
            GrammaticalPerson::First => speaker.eq_ignore_ascii_case(USER),
            GrammaticalPerson::Second => speaker.eq_ignore_ascii_case(ASSISTANT),
            GrammaticalPerson::Other => false,
        }
}

/// The match of items with the times that a question names.
#[derive(Debug)]
struct DateMatch<'a> {
    intervals: &'a [QuestionInterval],
    /// The informative value of the times, 0 to 1. A time that matches every item has the value 0.
    telling: f64,
    /// True if the question asks only for these times.
    alone: bool,
}

impl<'a> DateMatch<'a> {
    fn of(found: &SearchResults, features: &'a QueryFeatures) -> Option<Self> {
        if features.intervals.is_empty() || found.items.is_empty() {
            return None;
        }
        let mut dates = Self { intervals: &features.intervals, telling: 1.0, alone: features.of_time_alone };
        let fitting: f64 = found.items.iter().map(|item| dates.fit(item)).sum();
        // The items found are a sample of all items within the scope.
        #[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
        let (found_items, within) = (found.items.len() as f64, found.within.max(1) as f64);
        let fitting = (fitting * within / found_items).max(1.0);
        dates.telling = ((within / fitting).ln() / 3.0).clamp(0.0, 1.0);
        Some(dates)
    }

    fn pull(&self, item: &Item) -> f64 {
        match self.alone {
            true if self.has(item) => 1.0,
            true => TOLD_LATER * self.fit(item),
            false => self.fit(item) * self.telling,
        }
    }

    /// Returns true if an item falls into one of the times.
    fn has(&self, item: &Item) -> bool {
        self.fit(item) >= 1.0
    }

    /// Returns how well an item matches the times: 1 within an interval, and less with each day outside the nearest
    /// interval. The result is at least [`TOLD_LATER`] while an item may still be about the interval.
    fn fit(&self, item: &Item) -> f64 {
        let fits = self.intervals.iter().map(|interval| {
            let (from, until) =
                if item.at.is_day() { interval.days } else { (interval.from, interval.until) };
            let (at, from, until) = (item.at.as_micros(), from.as_micros(), until.as_micros());
            let outside = from.saturating_sub(at).max(at.saturating_sub(until)).max(0);
            #[expect(clippy::cast_precision_loss, reason = "a few microseconds in a century do not matter")]
            let days = outside as f64 / MICROS_PER_DAY;
            let faded = (-days / DATE_FADES).exp();
            if (interval.from..interval.mentioned_until).contains(&item.at) {
                faded.max(TOLD_LATER)
            } else {
                faded
            }
        });
        fits.fold(0.0, f64::max)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::id::MemoryId;
    use crate::model::score::Importance;
    use crate::model::search::{TextProperties, Weights};
    use crate::model::vocabulary::{Stability, State};

    pub(crate) fn item(n: u8, lexical: f32, near: f32) -> Item {
        Item {
            memory: MemoryId::from_bytes([n; 16]),
            chunk: 0,
            candidate: true,
            lexical,
            coverage: 0.0,
            terms: 0,
            whole: Some(near),
            sentence: Some(near),
            session: None,
            order: 0,
            speaker: None,
            at: Timestamp::from_micros(0),
            properties: TextProperties { length: 10, ..TextProperties::default() },
            weights: Weights {
                stability: Stability::Stable,
                state: State::Active,
                importance: Importance::new(0.5).expect("an importance"),
            },
        }
    }

    /// Returns the items of one session, in the order of the session.
    pub(crate) fn talk(items: Vec<Item>, speakers: u32) -> SearchResults {
        let count = u32::try_from(items.len()).expect("few");
        let items = (0..).zip(items).map(|(order, item)| Item { session: Some(0), order, ..item });
        let session = Session { items: count, speakers, ..Session::default() };
        SearchResults {
            items: items.collect(),
            sessions: vec![session],
            speakers: ["Ada", "Grace", "user"].map(str::to_owned).into(),
            within: u64::from(count),
            ..SearchResults::default()
        }
    }

    fn value(parts: &[ScorePart], name: PartName) -> f64 {
        parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.value)
    }

    /// Returns the score parts of each item.
    fn score(found: &SearchResults, features: &QueryFeatures) -> Vec<Vec<ScorePart>> {
        let scores = ItemScores::of(found, features);
        (0..found.items.len()).map(|at| scores.parts(at)).collect()
    }

    #[test]
    fn neighbours_lend_to_short_items_of_a_talk_and_not_in_a_monologue() {
        let words = |speakers, length| {
            let mut items = vec![item(1, 4.0, 0.0), item(2, 0.0, 0.0)];
            items[1].properties.length = length;
            value(&score(&talk(items, speakers), &QueryFeatures::default())[1], PartName::Words)
        };
        assert_eq!(words(2, 10), 0.4 * 0.5);
        assert_eq!(words(2, 60), 0.4 * 0.25, "a long item borrows half of it");
        assert_eq!(words(1, 10), 0.0);
    }

    #[test]
    fn an_answer_borrows_more_of_the_question_before_it() {
        let words = |ends_with_question| {
            let mut items = vec![item(1, 4.0, 0.0), item(2, 0.0, 0.0)];
            items[0].speaker = Some(0);
            items[1].speaker = Some(1);
            items[0].properties.ends_with_question = ends_with_question;
            value(&score(&talk(items, 2), &QueryFeatures::default())[1], PartName::Words)
        };
        assert_eq!(words(true), 1.5 * words(false));
    }

    #[test]
    fn what_only_asks_loses_where_somebody_else_answers() {
        let mut items = vec![item(1, 1.0, 0.5), item(2, 1.0, 0.5)];
        items[0].speaker = Some(0);
        items[0].properties.questions = 0.5;
        items[1].properties.questions = 1.0;
        let scored = score(&talk(items.clone(), 2), &QueryFeatures::default());
        assert_eq!(value(&scored[0], PartName::Asks), -0.075);
        assert_eq!(value(&scored[1], PartName::Asks), 0.0, "nobody speaks after it");
        items[0].speaker = Some(2);
        let scored = score(&talk(items, 2), &QueryFeatures::default());
        assert_eq!(value(&scored[0], PartName::Asks), 0.0, "the user's questions tell something of the user");
    }

    #[test]
    fn a_time_that_fits_everything_tells_nothing() {
        let day = |n: i64| Timestamp::from_micros(n * 86_400_000_000);
        let items = (0..40).map(|n| Item { at: day(i64::from(n)), ..item(n, 1.0, 0.5) }).collect();
        let found = SearchResults { items, within: 40, ..SearchResults::default() };
        let pull = |from, until, at: usize| {
            let intervals = vec![QuestionInterval {
                from: day(from),
                until: day(until),
                mentioned_until: day(until),
                days: (day(from), day(until)),
            }];
            value(
                &score(&found, &QueryFeatures { intervals, ..QueryFeatures::default() })[at],
                PartName::Date,
            )
        };
        assert_eq!(pull(0, 40, 7), 0.0);
        assert!(pull(7, 8, 7) > 0.1 && pull(7, 8, 7) > pull(7, 8, 12));
        assert!(pull(7, 8, 39) < 0.01);
    }

    #[test]
    fn what_is_told_after_a_time_counts_half_while_one_may_tell_of_it() {
        let day = |n: i64| Timestamp::from_micros(n * 86_400_000_000);
        let items = (0..100).map(|n| Item { at: day(i64::from(n)), ..item(n, 1.0, 0.5) }).collect();
        let found = SearchResults { items, within: 100, ..SearchResults::default() };
        let intervals = vec![QuestionInterval {
            from: day(40),
            until: day(45),
            mentioned_until: day(80),
            days: (day(40), day(45)),
        }];
        let scored = score(&found, &QueryFeatures { intervals, ..QueryFeatures::default() });
        let pull = |at: usize| value(&scored[at], PartName::Date);
        assert_eq!(pull(79), TOLD_LATER * pull(42));
        assert!(pull(46) > pull(79), "near the time it still counts more");
        assert!(pull(85) < 0.01 * pull(42), "it is too late to tell of it");
        assert!(pull(20) < 0.1 * pull(42), "nobody tells of it before");
    }

    #[test]
    fn what_was_said_only_after_the_asking_steps_back() {
        let day = |n: i64| Timestamp::from_micros(n * 86_400_000_000);
        let items = [1, 2, 3].map(|n| Item { at: day(n.into()), ..item(n, 1.0, 0.5) });
        let mut found = talk(items.to_vec(), 1);
        let unsaid = |found: &SearchResults, from: Option<i64>| -> Vec<f64> {
            let features = QueryFeatures { unsaid_from: from.map(day), ..QueryFeatures::default() };
            score(found, &features).iter().map(|parts| value(parts, PartName::Unsaid)).collect()
        };
        assert_eq!(unsaid(&found, Some(2)), [0.0, UNSAID, UNSAID]);
        assert_eq!(unsaid(&found, None), [0.0; 3], "it is asked now");
        found.sessions[0].document = true;
        assert_eq!(unsaid(&found, Some(2)), [0.0; 3], "a document tells of its time and was not said then");
        found.items.iter_mut().for_each(|item| item.session = None);
        assert_eq!(unsaid(&found, Some(2)), [0.0; 3], "it stands alone");
    }

    #[test]
    fn words_stand_for_the_meaning_of_what_is_not_embedded() {
        let waiting = Item { whole: None, sentence: None, ..item(1, 4.0, 0.0) };
        let found =
            SearchResults { items: vec![waiting, item(2, 0.0, 0.3)], within: 2, ..SearchResults::default() };
        let scored = score(&found, &QueryFeatures::default());
        assert!(sum(&scored[0]) > sum(&scored[1]));
        assert_eq!(value(&scored[0], PartName::Unembedded), 0.7);
    }

    /// Returns the score parts of a turn of this speaker, in a session of this many people, that states something.
    fn stated(speaker: Option<u32>, people: u32, names: &[&str]) -> f64 {
        let mut turn = Item { speaker, ..item(1, 1.0, 0.5) };
        turn.properties.first_person = true;
        turn.properties.own_acts = 1;
        turn.properties.names.iter_mut().zip(names).for_each(|(hash, name)| *hash = name_hash(name));
        let mut found = talk(vec![turn, Item { speaker: Some(1), ..item(2, 1.0, 0.5) }], 2);
        found.sessions[0].people = people;
        value(&score(&found, &QueryFeatures::default())[0], PartName::States)
    }

    #[test]
    fn only_a_turn_between_people_with_names_states_something() {
        let (ada, user) = (Some(0), Some(2));
        assert!((stated(ada, 2, &[]) - (STATES_OWN + STATES_ACTS / 2.0)).abs() < 1e-12);
        assert_eq!(stated(user, 2, &[]), 0.0, "the user has no name");
        assert_eq!(stated(ada, 1, &[]), 0.0, "the others are no people");
        assert_eq!(stated(None, 2, &[]), 0.0, "nobody speaks");
    }

    #[test]
    fn the_names_of_the_speakers_are_no_news() {
        let ada = Some(0);
        let one = STATES_NAMES / f64::from(ENOUGH_NAMES);
        let gain = |names: &[&str]| stated(ada, 2, names) - stated(ada, 2, &[]);
        assert!((gain(&["Olga"]) - one).abs() < 1e-12);
        assert!((gain(&["Olga", "Graz"]) - 2.0 * one).abs() < 1e-12);
        assert_eq!(gain(&["Grace", "Ada", "Gra"]), 0.0, "as people call each other");
    }

    #[test]
    fn shared_words_count_only_between_people_and_raise_the_most() {
        let turns = || (0..2).map(|n| Item { speaker: Some(n.into()), ..item(n, 1.0, 0.5) }).collect();
        let features = QueryFeatures::default();
        for (people, due) in [(2, SHARED), (1, 0.0)] {
            let mut found = talk(turns(), 2);
            found.sessions[0].people = people;
            let mut scores = ItemScores::of(&found, &features);
            scores.set_shared(vec![0.0, 1.0]);
            assert_eq!(value(&scores.parts(1), PartName::SharedWords), due);
            assert_eq!(value(&scores.parts(0), PartName::SharedWords), 0.0);
            assert_eq!(scores.most() > features.most(), people > 1);
        }
    }

    #[test]
    fn a_session_is_compared_with_single_items_too() {
        let mut found = talk(vec![item(1, 1.0, 0.4), item(2, 1.0, 0.4)], 1);
        found.sessions[0] = Session { lexical: 5.0, closeness: 0.4, ..found.sessions[0] };
        let alone = |found: &SearchResults| {
            let features = QueryFeatures::default();
            let scores = ItemScores::of(found, &features);
            (scores.session_words[0], scores.session_meaning[0])
        };
        assert_eq!(alone(&found), (1.0, 1.0));
        found.items.push(item(3, 4.0, 0.8));
        assert_eq!(alone(&found), (0.25, 0.5));
    }

    proptest! {
        #[test]
        fn no_score_is_beyond_the_most(
            values in proptest::collection::vec((0.0_f32..30.0, -0.5_f32..1.0, 0u32..80), 1..20),
        ) {
            let items = (0..).zip(&values).map(|(n, (lexical, near, length))| {
                let mut item = item(n, *lexical, *near);
                item.properties.length = *length;
                item
            });
            for scored in score(&talk(items.collect(), 2), &QueryFeatures::default()) {
                prop_assert!(sum(&scored) <= QueryFeatures::default().most() + 1e-9 && sum(&scored).is_finite());
            }
        }
    }
}
