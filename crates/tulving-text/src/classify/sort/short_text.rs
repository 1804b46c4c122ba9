//! Classifies texts of one or two sentences, which are the usual memories of an agent.
//!
//! Such a text gets the defaults of its memory type, unless the text or its label clearly states how to do something,
//! why something was chosen, what happened or what is true only now.

use super::RuleClassification;
use super::announced;
use super::clause::{acts, is_past, orders};
use super::cues::NAMES;
use super::heads::longest;
use super::label::label;
use super::signs::KindScores;
use super::words::{holds, names_day, spaced};
use crate::classify::lexicon::listed;
use crate::classify::page::{PageBlock, ParsedPage};
use crate::vocabulary::{Kind, Stability};
use crate::when::WEEKDAYS;

/// Maximum number of characters and of sentences of a short text.
const CHARS: usize = 320;
const SENTENCES: usize = 3;

/// Minimum weights of a label's words: to count as a heading, and to count as a heading regardless of the text after
/// them.
const NAMED: f32 = 2.5;
const LOUD: f32 = 3.5;

/// Returns true if a page is a short text and not a document.
pub(super) fn is_saying(page: &ParsedPage<'_>) -> bool {
    let [PageBlock::Paragraph(text)] = page.blocks.as_slice() else { return page.blocks.is_empty() };
    text.chars().nth(CHARS).is_none() && !text.contains('\n') && page.sentences().nth(SENTENCES).is_none()
}

/// Classifies a short text; `content` is the same text with its markup.
pub(super) fn sorted(page: &ParsedPage<'_>, content: &str) -> RuleClassification {
    let Some(PageBlock::Paragraph(text)) = page.blocks.first() else { return RuleClassification::default() };
    let said = spaced(text);
    if let Some(sorted) = labelled(page, text) {
        return sorted;
    }
    if let Some(sorted) = announced::sorted(text) {
        return sorted;
    }
    if happened(&said) || holds_now(&said) {
        return RuleClassification::new(Kind::Episodic, Stability::Volatile);
    }
    if gives_reason(&said) {
        return RuleClassification::new(Kind::Rationale, Stability::Stable);
    }
    if instructs(text, &said, content.contains('`')) {
        return RuleClassification::new(Kind::Procedural, Stability::Evolving);
    }
    if agrees(&said) {
        return RuleClassification { kind: None, stability: Some(Stability::Evolving) };
    }
    RuleClassification::default()
}

/// Classifies by a label at the start that names a kind of document, as a heading would: `Meeting notes: …`.
fn labelled(page: &ParsedPage<'_>, text: &str) -> Option<RuleClassification> {
    let (head, rest) = label(text).filter(|(_, rest)| !rest.is_empty())?;
    let named = longest(NAMES, &spaced(head)).map(|(_, weight)| weight).fold(0.0, f32::max);
    let sorted = (named >= NAMED).then(|| KindScores::of(page, None).sorted())?;
    let rest = spaced(rest);
    let words: Vec<&str> = rest.split_whitespace().collect();
    match sorted.kind {
        // "Daily standup: 9:30" is a schedule, not a report.
        Some(Kind::Episodic) if named < LOUD && !is_past(&words) => None,
        Some(Kind::Episodic | Kind::Rationale) => Some(sorted),
        // A name with a statement is a fact. Instructions are recognized by other signs.
        _ => None,
    }
}

/// Returns true if the text contains any of these phrases, separated by bars.
fn any(said: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| holds(said, phrase))
}

fn on_any_day(said: &str, before: &str) -> bool {
    WEEKDAYS.iter().any(|day| holds(said, &format!("{before} {day}")))
}

/// Returns true if the text reports a recent event.
fn happened(said: &str) -> bool {
    let words: Vec<&str> = said.split_whitespace().collect();
    let near = any(said, "yesterday|yesterday's|today|today's|tonight|last night|last week|just now")
        || any(said, "minutes ago|an hour ago|hours ago|a day ago|days ago")
        || any(said, "this morning|this afternoon|this evening")
        || on_any_day(said, "last")
        || (on_any_day(said, "on") && !names_day(said));
    // "today" is not in the list: "What is called so today was called otherwise" is not news.
    let passive = any(said, "yesterday|yesterday's|last night|ago") && any(said, "was|were");
    let just = words.first() == Some(&"just") && is_past(&words[..words.len().min(3)]);
    just || (near && (is_past(&words) || passive))
}

/// Returns true if the text is only true for the moment.
fn holds_now(said: &str) -> bool {
    let now = any(
        said,
        "currently|right now|at the moment|for now|as of now|today|this week|until tomorrow|temporarily",
    ) || on_any_day(said, "until");
    let wrong = any(said, "down|broken|blocked|failing|red|unavailable|offline|out of|stuck|frozen|paused")
        || any(said, "in the middle of|in progress");
    let open = any(said, "still open|still failing|still broken|still red|next i will|next i'll");
    (now && wrong) || open || is_busy(said) || is_at_work(said)
}

/// Returns true if the text notes current work: "Working on the login bug today".
fn is_at_work(said: &str) -> bool {
    let first = said.split_whitespace().next().unwrap_or_default();
    listed(
        "debugging fixing investigating looking migrating refactoring reviewing testing waiting working",
        first,
    ) && any(said, "today|now|this morning|this afternoon|this week|right now|at the moment|until tomorrow")
}

/// Returns true if the text states that a person is busy at the moment. "Currently debugging" is momentary, but "She is
/// currently learning Welsh" lasts.
fn is_busy(said: &str) -> bool {
    let words: Vec<&str> = said.split_whitespace().collect();
    let ours = words.first().is_some_and(|first| listed("i we i'm we're", first));
    let doing = words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        *word == "currently"
            && after.ends_with("ing")
            && !listed("learning living residing running studying using working", after)
            && (ours || !listed("is are was were", before))
    });
    let described = any(said, "currently working on|currently in the middle")
        && (ours || said.starts_with(" currently "));
    doing || described
}

/// Returns true if the text gives the reason for a choice.
fn gives_reason(said: &str) -> bool {
    let between = any(said, "chose|chosen|picked|selected|preferred");
    let choice = between || any(said, "decided|opted|went with|settled on|rejected|ruled out");
    // People also drop, switch and adopt things that are not tools, so these verbs count only with the words in `reason`.
    let change = any(said, "dropped|switched|adopted|replaced|moved");
    let reason =
        any(said, "because|instead of|rather than|in favour of|in favor of|due to|so that|would have");
    let weaker = any(said, "since|in order to|mainly for|the reason");
    let explained = any(said, "the reason|reason why|trade off|tradeoff")
        && any(said, "we|our|the team|accepted|decision|design");
    // "We decided against it; …", "It was considered and rejected: …".
    let declined = any(said, "decided against|decided not to|considered and rejected|considered and dropped");
    let ours = said.starts_with(" we ") && holds(said, "because");
    let stated =
        said.starts_with(" the reason for ") || (said.starts_with(" the reason ") && holds(said, "is that"));
    (choice && (reason || weaker))
        || (between && holds(said, "over"))
        || (change && reason)
        || explained
        || declined
        || ours
        || stated
}

/// Returns true if the text explains how to do something: it has several orders in a row, or one order with its
/// purpose.
fn instructs(text: &str, said: &str, shows_code: bool) -> bool {
    let aim = (said.starts_with(" to ") && !said.starts_with(" to do ")) || said.starts_with(" how to ");
    let in_a_row = any(said, "first|then|finally|afterwards");
    let first = said.split_whitespace().next().unwrap_or_default();
    let condition = listed("after before if once when", first) && acts(text);
    let text = text.strip_prefix("Always ").unwrap_or(text);
    // "Use" introduces a rule, unless the text shows a command to type.
    let typed = shows_code && (acts(text) || (first == "use" && holds(said, "to")));
    if typed || condition || is_done_by(said) {
        return true;
    }
    match orders(text) {
        0 => false,
        1 => aim || holds(said, "by running"),
        2 => aim || in_a_row || first == "if" || holds(said, "by running"),
        3 => aim || in_a_row || first == "if" || holds(said, "by running") || acts(text),
        _ => true,
    }
}

/// Returns true if the text explains how something is done: "by stopping the service, copying the file back and
/// starting it".
fn is_done_by(said: &str) -> bool {
    let Some((_, way)) = said.split_once(" by ") else { return false };
    let is_doing = |word: &str| word.len() > 5 && word.ends_with("ing");
    way.split_whitespace().next().is_some_and(is_doing)
        && way.split_whitespace().filter(|word| is_doing(word)).count() >= 3
}

/// Returns true if the text states an agreement, which is kept up to date.
fn agrees(said: &str) -> bool {
    any(
        said,
        "our convention|our conventions|the convention|by convention|our policy|our rule|our rules|we agreed that",
    )
}
