//! Classifies a short text by its start: a label such as `Team conventions: …`, or a question that it answers.
//!
//! The words of a label count like the words of a title. A label may also name a thing ("Daily standup: 9:30"), so the
//! text after the label must match the kind: a report after a meeting, or instructions or a list after a runbook.

use super::RuleClassification;
use super::clause::{clauses, is_past, orders};
use super::cues::{DocumentTrait, HEADINGS, NAMES, TRAITS};
use super::heads::longest;
use super::words::{holds, names_day, spaced};
use crate::classify::lexicon::listed;
use crate::vocabulary::{Kind, Stability};
use crate::when::WEEKDAYS;

/// Maximum number of characters of a label.
const CHARS: usize = 60;

/// Minimum weights of a label's words: to indicate a kind, to decide the kind alone, and to indicate instructions if
/// the text after the label consists of orders.
const NAMED: f32 = 2.0;
const LOUD: f32 = 3.0;
const LIKELY: f32 = 1.5;

/// Maximum number of words of a list item.
const ITEM_WORDS: usize = 4;

/// Classifies a short text by its start, if the start announces the kind.
pub(super) fn sorted(text: &str) -> Option<RuleClassification> {
    if let Some((question, answer)) = asked(text) {
        return answered(&question, answer);
    }
    let label = LeadLabel::of(text)?;
    if let Some(stability) = label.kept_up() {
        return Some(RuleClassification { kind: Some(Kind::Semantic), stability: Some(stability) });
    }
    if label.reports() {
        Some(RuleClassification::new(Kind::Episodic, Stability::Volatile))
    } else if label.reasons() {
        Some(RuleClassification::new(Kind::Rationale, Stability::Stable))
    } else if label.instructs() {
        Some(RuleClassification::new(Kind::Procedural, Stability::Evolving))
    } else {
        None
    }
}

/// Splits a text into a question at the start and the answer after it.
fn asked(text: &str) -> Option<(String, &str)> {
    let (question, answer) = text.split_once('?')?;
    let answer = answer.trim();
    (answer.split_whitespace().count() >= 2).then(|| (spaced(question), answer))
}

fn answered(question: &str, answer: &str) -> Option<RuleClassification> {
    let begins = |words: &str| question.starts_with(&format!(" {words} "));
    if begins("why") {
        return Some(RuleClassification::new(Kind::Rationale, Stability::Stable));
    }
    let how =
        ["how to", "how do", "how can", "how should", "what do i do", "what to do"].into_iter().any(begins);
    (how && orders(answer) > 0).then(|| RuleClassification::new(Kind::Procedural, Stability::Evolving))
}

/// A label and the text after it.
struct LeadLabel<'a> {
    head: &'a str,
    /// The label as words.
    words: String,
    rest: &'a str,
    /// The weight of the words for each kind.
    counts: [f32; Kind::ALL.len()],
}

impl<'a> LeadLabel<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (head, rest) = text.split_once(": ")?;
        let rest = rest.trim();
        if rest.is_empty() || head.chars().nth(CHARS).is_some() || head.contains(['.', '!', ';', ',']) {
            return None;
        }
        let words = spaced(head);
        let mut counts = [0.0_f32; Kind::ALL.len()];
        for (kind, weight) in longest(NAMES, &words) {
            counts[kind as usize] += weight;
        }
        for (cue, kind, weight) in HEADINGS {
            if words[1..].strip_prefix(cue).is_some_and(|rest| rest.starts_with(' ')) {
                counts[*kind as usize] = counts[*kind as usize].max(*weight);
            }
        }
        Some(Self { head, words, rest, counts })
    }

    fn count(&self, kind: Kind) -> f32 {
        self.counts[kind as usize]
    }

    /// Returns true if the label indicates this kind more than any other kind.
    fn names(&self, kind: Kind, least: f32) -> bool {
        let other = Kind::ALL.iter().any(|other| *other != kind && self.count(*other) > self.count(kind));
        self.count(kind) >= least && !other
    }

    fn holds(&self, words: &str) -> bool {
        holds(&self.words, words)
    }

    /// Returns the stability of conventions and plans, which are valid now and change over time.
    fn kept_up(&self) -> Option<Stability> {
        let kept = |(words, found): &(&str, DocumentTrait)| {
            matches!(found, DocumentTrait::Convention | DocumentTrait::Plan) && self.holds(words)
        };
        let is_of_another = Kind::ALL.iter().any(|kind| *kind != Kind::Semantic && self.names(*kind, NAMED));
        (TRAITS.iter().any(kept) && !is_of_another).then_some(Stability::Evolving)
    }

    /// Returns true if the label names a meeting or a day, and the text after it is a report and not a schedule.
    fn reports(&self) -> bool {
        let with = ["with", "from"].iter().any(|word| self.holds(word));
        let one_on_one = self.head.starts_with("1:1") || self.head.contains(" 1:1");
        let day = if names_day(&self.words) { 2.0 } else { 0.0 };
        let personal = if one_on_one { LOUD } else { 0.0 };
        let count = self.count(Kind::Episodic) + day + personal;
        let rival = self.count(Kind::Rationale).max(self.count(Kind::Procedural));
        if count < LIKELY || count <= rival || is_schedule(self.rest) {
            return false;
        }
        let said = spaced(self.rest);
        let words: Vec<&str> = said.split_whitespace().collect();
        let described = is_past(&words) || clauses(self.rest).nth(1).is_some();
        (count >= LOUD && words.len() >= 2) || (with && words.len() >= 3) || described
    }

    /// Returns true if the label names a decision or its reasons, and the text after it gives reasons.
    fn reasons(&self) -> bool {
        let pros = self.words.starts_with(" pros ") && holds(&spaced(self.rest), "cons");
        // "Why: unknown" and "Decision: pending" give no reasons.
        pros || (self.names(Kind::Rationale, NAMED) && self.rest.split_whitespace().nth(2).is_some())
    }

    /// Returns true if the label names instructions and the text after it has orders or a list, or if that text
    /// consists of orders.
    fn instructs(&self) -> bool {
        let (parts, orders) = (clauses(self.rest).count(), orders(self.rest));
        let first = self.words.split_whitespace().next().unwrap_or_default();
        // "Before you merge: …", "If it fails: …".
        let condition = listed("after before if once when", first) && orders > 0;
        (self.names(Kind::Procedural, NAMED) && (orders > 0 || is_list(self.rest)))
            || (self.names(Kind::Procedural, LIKELY) && orders > 1)
            || (orders > 1 && orders * 3 >= parts * 2)
            || condition
            || self.aims()
    }

    /// Returns true if the label states an aim: "To get the logs: …". In a title, the next word has a capital.
    fn aims(&self) -> bool {
        let aim = self.head.strip_prefix("To ").or_else(|| self.head.strip_prefix("to "));
        aim.is_some_and(|aim| aim.starts_with(|c: char| c.is_lowercase()) && !aim.starts_with("do"))
    }
}

/// Returns true if the words are a schedule: a time of day, "every", or weekdays in general.
fn is_schedule(rest: &str) -> bool {
    let said = spaced(rest);
    let is_time = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        word.split_once(':').is_some_and(|(hour, minute)| {
            (1..=2).contains(&hour.len())
                && hour.bytes().all(|b| b.is_ascii_digit())
                && minute.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let weekdays = || WEEKDAYS.iter().any(|day| holds(&said, &format!("{day}s")));
    rest.split_whitespace().any(is_time)
        || ["every", "daily", "weekly", "monthly", "am", "pm"].iter().any(|word| holds(&said, word))
        || weekdays()
}

/// Returns true if the text is a list of short or numbered items.
fn is_list(rest: &str) -> bool {
    let items: Vec<&str> = rest.split([',', ';']).map(str::trim).filter(|item| !item.is_empty()).collect();
    let short = |item: &&str| item.split_whitespace().count() <= ITEM_WORDS;
    let numbered = rest.starts_with("1.") || rest.starts_with("1)") || rest.starts_with("(1)");
    numbered || (items.len() >= 3 && items.iter().all(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_label_must_fit_it() {
        let kind = |text: &str| sorted(text).and_then(|sorted| sorted.kind);
        for (text, expected) in [
            ("Standup: Ana fixed search, Ben reviewed.", Some(Kind::Episodic)),
            ("Standup: at 9:30 in the blue room.", None),
            ("Sync with legal: Thursdays at noon", None),
            ("Runbook: stop the worker, start it again", Some(Kind::Procedural)),
            ("Runbook: the file is in the wiki", None),
            ("Decision: one database, for simplicity", Some(Kind::Rationale)),
            ("Decision: pending", None),
            ("Why: unknown", None),
            ("To Kill a Mockingbird: a novel by Harper Lee", None),
            ("To do: buy milk", None),
            ("Policy: two reviews for each change", Some(Kind::Semantic)),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn a_question_wants_an_answer() {
        for text in ["Why Redis?", "Why is the sky blue? ", "How do I deploy?", "What is a hub? A space."] {
            assert_eq!(sorted(text), None, "{text}");
        }
    }
}
