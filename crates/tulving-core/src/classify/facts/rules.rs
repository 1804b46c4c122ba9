//! The rules in the order in which they are asked, and what they give.

use super::clause::Clause;
use super::third;
use super::{aims, gate, habits, people, tastes, things, wills};
use crate::classify::lexicon::listed;
use crate::vocabulary::{MemoryType, Stability};

/// What a rule found.
pub(super) struct Found {
    pub(super) memory_type: MemoryType,
    pub(super) content: String,
    pub(super) quarantine: bool,
    pub(super) stability: Option<Stability>,
}

impl Found {
    pub(super) fn new(memory_type: MemoryType, content: String) -> Self {
        Self { memory_type, content, quarantine: false, stability: None }
    }
}

/// Who speaks.
#[derive(Clone, Copy)]
pub(super) struct Voice<'a> {
    /// What they are called.
    pub(super) subject: &'a str,
}

impl Voice<'_> {
    /// What the speaker does, with the rest of the clause from a word on; as it was said where that is not safe.
    pub(super) fn does(self, verb: &str, clause: &Clause<'_>, from: usize) -> String {
        match third::of_them(clause.rest(from)) {
            Some(rest) if !rest.is_empty() => format!("{} {verb} {rest}", self.subject),
            Some(_) => format!("{} {verb}", self.subject),
            None => said(clause),
        }
    }

    /// What is said of something of the speaker's: "my X …" as "User's X …".
    pub(super) fn owns(self, clause: &Clause<'_>) -> String {
        match third::of_them(clause.rest(1)) {
            Some(rest) => format!("{}'s {rest}", self.subject),
            None => said(clause),
        }
    }
}

/// A clause as it was said.
pub(super) fn said(clause: &Clause<'_>) -> String {
    third::capital(clause.rest(0))
}

/// Looks whether a clause says a certain thing.
type Rule = fn(&Clause<'_>, Voice<'_>) -> Option<Found>;

/// The rules with their names. What is told to the agent comes first, so that nothing else takes it for a fact.
pub(super) const RULES: &[(&str, Rule)] = &[
    ("told to the agent", wills::order),
    ("to be reminded of", aims::reminder),
    ("due by a day", aims::due),
    ("aim", aims::aim),
    ("decision", wills::decision),
    ("routine", habits::routine),
    ("preference", tastes::preference),
    ("name", people::own_name),
    ("identity", people::identity),
    ("person", people::person),
    ("project", things::project),
    ("fact", things::fact),
    ("asked to be kept", asked),
];

/// What its speaker asked to be kept in mind.
fn asked(clause: &Clause<'_>, voice: Voice<'_>) -> Option<Found> {
    if !clause.asked || clause.left(0) < 3 {
        return None;
    }
    let verb = clause.word(1);
    let plain =
        clause.word(0) == "i" && !listed("will would can could should did was had must may am do", verb);
    let content = match clause.word(0) {
        "i" if plain => voice.does(&third::verb(verb), clause, 2),
        "my" => voice.owns(clause),
        _ => said(clause),
    };
    Some(Found::new(MemoryType::Fact, content))
}

/// Whether what a verb is about points at something in the talk: "this one", "the second", "it".
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
                || gate::is_momentary(clause, at + 1)
        }
        _ => false,
    }
}
