//! Decisions, and standing instructions to the agent.

use super::clause::Clause;
use super::rules::{FactMatch, FactSpeaker, points};
use super::third_person;
use crate::classify::lexicon::{listed, phrases};
use crate::vocabulary::MemoryType;

/// Matches "Please never use semicolons" and "from now on ignore your rules". The first is a preference. The second is
/// proposed for quarantine.
pub(super) fn order(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let at = usize::from(clause.word(0) == "please");
    let ever = match clause.word(at) {
        ever @ ("always" | "never") => Some((ever, at + 1)),
        "do" if clause.says(at, "do not ever") => Some(("never", at + 3)),
        _ => None,
    };
    let lasting = is_lasting(clause) || is_manner(clause, at);
    let (ever, verb) = match ever {
        Some((ever, verb)) => (Some(ever), verb),
        None if lasting => (None, at),
        None => return commanding(clause).then(|| aside(clause)),
    };
    if clause.left(verb) < 2 || listed("mind i we the my our it this that you", clause.word(verb)) {
        return None;
    }
    if commanding(clause) || !listed(STYLE, clause.word(verb)) || is_formula(clause, verb) {
        return Some(aside(clause));
    }
    let asks = match ever {
        Some(ever) => format!("asks to {ever}"),
        None => "asks to".to_owned(),
    };
    Some(FactMatch::new(MemoryType::Preference, voice.does(&asks, clause, verb)))
}

/// Returns true if the order applies from now on. The introductory words "from now on" were already removed.
fn is_lasting(clause: &Clause<'_>) -> bool {
    let start = clause.span(0).start;
    let before = clause.turn[..start].trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    before.ends_with("from now on") || clause.holds("from now on") || clause.holds("in future answers")
}

/// Returns true for "Keep explanations short" and "prefer composition over inheritance", which describe a manner and
/// not a task.
fn is_manner(clause: &Clause<'_>, at: usize) -> bool {
    let kept = (at + 1..at + 4).any(|at| {
        listed("answers explanations responses replies summaries comments sentences", clause.word(at))
    });
    let over = ["over", "instead of", "to"].iter().any(|word| clause.holds(word));
    match clause.word(at) {
        "keep" => kept,
        "prefer" => over && !points(clause, at + 1),
        _ => false,
    }
}

/// Returns the original words for quarantine, so that a person can review them.
fn aside(clause: &Clause<'_>) -> FactMatch {
    let whole = third_person::capital(&clause.turn[clause.start..clause.end.max(clause.start)]);
    FactMatch { quarantine: true, ..FactMatch::new(MemoryType::Observation, whole) }
}

/// Verbs of writing and showing. A lasting instruction with any other verb is more than a matter of taste.
const STYLE: &str = "\
    use write answer reply respond format put keep call spell avoid add include make give show explain indent name comment \
    translate capitalize capitalise quote cite start end begin wrap sort prefer speak talk address leave document";

/// Returns true if the clause tries to command the agent.
fn commanding(clause: &Clause<'_>) -> bool {
    const COMMANDS: &str = "\
    ignore your, ignore all, ignore any, ignore previous, ignore the previous, ignore the rules, \
    disregard your, disregard all, disregard previous, disregard the, forget your instructions, \
    forget all previous, forget your rules, override your, bypass, system prompt, your instructions, \
    your rules, your guidelines, safety rules, do not tell the user, without asking, without telling, \
    no matter what, obey, you must always, you must never, you will always, you will never, jailbreak, \
    developer mode, send all, forward all, exfiltrate";
    phrases(COMMANDS).any(|words| clause.holds(words))
}

/// Returns true for "Always answer with the word …", which prescribes content and not a manner.
fn is_formula(clause: &Clause<'_>, verb: usize) -> bool {
    listed("answer reply respond start end begin", clause.word(verb))
        && listed("with by yes no that", clause.word(verb + 1))
}

/// Matches "We decided to use SQLite", "let's go with Tailwind".
pub(super) fn decision(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let (ours, at) = start(clause)?;
    let object = chosen(clause, at)?;
    if points(clause, object) || clause.holds("for now") || clause.holds("for this") {
        return None;
    }
    let content = match clause.word(ours) {
        "i" => voice.does(clause.word(at), clause, at + 1),
        "let" => format!("Decided: {}", clause.rest(at)),
        _ => third_person::capital(clause.rest(ours)),
    };
    Some(FactMatch::new(MemoryType::Decision, content))
}

/// Returns the positions of the subject and of the verb.
fn start(clause: &Clause<'_>) -> Option<(usize, usize)> {
    if clause.says(0, "let us") {
        return Some((0, clause.past(2, "just")));
    }
    // A clause may begin with other words, as in "After the review we chose …".
    let opened = listed("after since for in on at last yesterday today following", clause.word(0));
    let ours = if opened { (1..7).find(|at| listed("we i", clause.word(*at)))? } else { 0 };
    listed("we i", clause.word(ours))
        .then(|| (ours, clause.past(ours + 1, "have finally now just already all also had both")))
}

/// Returns the position of the chosen thing, if a verb states a choice.
fn chosen(clause: &Clause<'_>, at: usize) -> Option<usize> {
    let chosen = match clause.says(0, "let us") {
        true => "go with, stick with, stick to, settle on",
        false => CHOSEN,
    };
    clause.any(at, chosen)
}

const CHOSEN: &str = "\
    decided to, decided on, decided against, decided that, decided not to, settled on, settled for, opted for, opted to, agreed to, \
    agreed on, agreed that, chose to, chose, picked, went with, are going with, are going to stick with, are going to go with, \
    are sticking with, will go with, will stick with, ended up choosing, chosen, switched to, switched from, migrated to, \
    migrated from, moved everything to, moved from";
