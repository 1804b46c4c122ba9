//! The rules, in the order in which they are evaluated, and their results.

use super::clause::Clause;
use super::third_person;
use super::{decisions, filter, goals, habits, people, preferences, things};
use crate::classify::lexicon::listed;
use crate::vocabulary::{MemoryType, Stability};

/// The result of a rule.
pub(super) struct FactMatch {
    pub(super) memory_type: MemoryType,
    pub(super) content: String,
    pub(super) quarantine: bool,
    pub(super) stability: Option<Stability>,
}

impl FactMatch {
    pub(super) fn new(memory_type: MemoryType, content: String) -> Self {
        Self { memory_type, content, quarantine: false, stability: None }
    }
}

/// The speaker.
#[derive(Clone, Copy)]
pub(super) struct FactSpeaker<'a> {
    /// The speaker's name.
    pub(super) subject: &'a str,
}

impl FactSpeaker<'_> {
    /// Returns a sentence of the speaker as the subject, the verb, and the clause from a word on.
    /// Returns the original words if a rewriting is not safe.
    pub(super) fn does(self, verb: &str, clause: &Clause<'_>, from: usize) -> String {
        match third_person::of_them(clause.rest(from)) {
            Some(rest) if !rest.is_empty() => format!("{} {verb} {rest}", self.subject),
            Some(_) => format!("{} {verb}", self.subject),
            None => said(clause),
        }
    }

    /// Rewrites a statement about something that belongs to the speaker: "my X …" becomes "User's X …".
    pub(super) fn owns(self, clause: &Clause<'_>) -> String {
        match third_person::of_them(clause.rest(1)) {
            Some(rest) => format!("{}'s {rest}", self.subject),
            None => said(clause),
        }
    }
}

/// Returns a clause in its original words.
pub(super) fn said(clause: &Clause<'_>) -> String {
    third_person::capital(clause.rest(0))
}

/// Checks a clause for one kind of statement.
type FactRule = fn(&Clause<'_>, FactSpeaker<'_>) -> Option<FactMatch>;

/// The rules with their names. The rule for instructions to the agent comes first, so that no other rule treats an
/// instruction as a fact.
pub(super) const RULES: &[(&str, FactRule)] = &[
    ("told to the agent", decisions::order),
    ("to be reminded of", goals::reminder),
    ("due by a day", goals::due),
    ("aim", goals::aim),
    ("decision", decisions::decision),
    ("routine", habits::routine),
    ("preference", preferences::preference),
    ("name", people::own_name),
    ("identity", people::identity),
    ("person", people::person),
    ("project", things::project),
    ("fact", things::fact),
    ("asked to be kept", asked),
];

/// Matches statements that the speaker asked the agent to remember.
fn asked(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    if !clause.asked || clause.left(0) < 3 {
        return None;
    }
    let verb = clause.word(1);
    let plain =
        clause.word(0) == "i" && !listed("will would can could should did was had must may am do", verb);
    let content = match clause.word(0) {
        "i" if plain => voice.does(&third_person::verb(verb), clause, 2),
        "my" => voice.owns(clause),
        _ => said(clause),
    };
    Some(FactMatch::new(MemoryType::Fact, content))
}

/// Returns true if the object of a verb refers to something in the conversation: "this one", "the second", "it".
pub(super) fn points(clause: &Clause<'_>, at: usize) -> bool {
    let (word, next) = (clause.word(at), clause.word(at + 1));
    if clause.holds("below") || clause.holds("above") {
        return true;
    }
    let ordinal = "first second third fourth last latter former other new old previous next one ones above below same current way";
    match word {
        "" => true,
        "it" => !listed("when if that", next),
        "this" | "that" | "these" | "those" | "you" | "your" | "either" | "neither" | "both" | "them"
        | "him" | "her" | "how" | "what" | "option" | "something" | "someone" | "everything" | "nothing"
        | "anything" | "number" => true,
        "the" => {
            listed(ordinal, next)
                || listed(
                    "flow idea look sound option version result output plan original function variable method class code file script following",
                    next,
                )
                || filter::is_momentary(clause, at + 1)
        }
        _ => false,
    }
}
