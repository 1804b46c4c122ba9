//! Preferences: likes, dislikes and choices of the speaker.

use super::clause::Clause;
use super::rules::{FactMatch, FactSpeaker, points};
use super::third_person;
use crate::classify::lexicon::listed;
use crate::vocabulary::MemoryType;

const ADVERBS: &str = "really much strongly generally personally also just still mostly do very absolutely definitely always actually quite usually";

pub(super) fn preference(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let content =
        favourite(clause, voice).or_else(|| liked(clause, voice)).or_else(|| unloved(clause, voice));
    let content = content.or_else(|| fond(clause, voice)).or_else(|| rather(clause, voice))?;
    Some(FactMatch::new(MemoryType::Preference, content))
}

/// Matches "My favourite editor is Helix."
fn favourite(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let named = clause.word(0) == "my" && listed("favorite favourite preferred", clause.word(1));
    (named && (clause.holds("is") || clause.holds("are"))).then(|| voice.owns(clause))
}

/// Matches "I really like hiking."
fn liked(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let at = clause.past(1, ADVERBS);
    let verb = clause.word(at);
    let likes = listed("prefer like love enjoy hate dislike detest loathe adore favor favour despise", verb);
    (clause.word(0) == "i" && likes && !points(clause, at + 1))
        .then(|| voice.does(&third_person::verb(verb), clause, at + 1))
}

/// Matches "I can't stand slow tests."
fn unloved(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let at = clause.past(1, "really just also personally");
    if clause.word(0) != "i" || clause.word(at + 1) != "not" {
        return None;
    }
    let verb = clause.past(at + 2, "really much particularly");
    let described = match (clause.word(at), clause.word(verb)) {
        ("do", like @ ("like" | "enjoy" | "love" | "care" | "eat" | "drink")) => format!("doesn't {like}"),
        ("can", bear @ ("stand" | "bear")) => format!("can't {bear}"),
        _ => return None,
    };
    (!points(clause, verb + 1)).then(|| voice.does(&described, clause, verb + 1))
}

/// Matches "I'm not a fan of meetings."
fn fond(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    if !clause.says(0, "i am") {
        return None;
    }
    let at = clause.past(2, "not really very a big huge great");
    let of = clause.any(at, "fan of, fond of, keen on")?;
    (!points(clause, of)).then(|| voice.does("is", clause, 2))
}

/// Matches "I'd rather have bullet points than paragraphs."
fn rather(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let from = clause.any(0, "i would rather, i would much rather")?;
    let compares = ["than", "instead of", "over", "not"].iter().any(|word| clause.holds(word));
    (compares && !points(clause, from + 1)).then(|| voice.does("would rather", clause, from))
}
