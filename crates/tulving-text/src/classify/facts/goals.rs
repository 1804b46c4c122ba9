//! Reminders, tasks and goals.

use super::clause::Clause;
use super::day;
use super::rules::{FactMatch, FactSpeaker, points, said};
use super::third_person;
use crate::classify::lexicon::listed;
use crate::vocabulary::MemoryType;

/// Matches "Remind me to renew the certificate tomorrow."
pub(super) fn reminder(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let at = usize::from(clause.word(0) == "please");
    let asks = "\
        remind me to, remind me that, do not let me forget to, i must not forget to, i should not forget to";
    let from = clause.any(at, asks)?;
    if points(clause, from) {
        return None;
    }
    let that = clause.word(from - 1);
    let content = voice.does(&format!("wants to be reminded {that}"), clause, from);
    Some(FactMatch::new(MemoryType::Todo, content))
}

/// Matches "I need to send the forms by Friday". Without a day, the statement is only a momentary wish.
pub(super) fn due(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let at = clause.past(1, "still also really just");
    let (verb, from) = match clause.word(at) {
        "need" | "have" if clause.word(at + 1) == "to" => (third_person::verb(clause.word(at)), at + 1),
        "must" => ("must".to_owned(), at + 1),
        _ => return None,
    };
    let person = listed("i we", clause.word(0));
    if !person || !day::is_dated(clause) || points(clause, from + 1) {
        return None;
    }
    let content = if clause.word(0) == "we" { said(clause) } else { voice.does(&verb, clause, from) };
    Some(FactMatch::new(MemoryType::Todo, content))
}

/// Matches "My goal is to run a marathon", "I'm trying to learn Portuguese".
pub(super) fn aim(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let owned = listed("my our", clause.word(0));
    if owned
        && listed("goal goals aim ambition dream resolution target objective", clause.word(1))
        && clause.left(2) > 2
    {
        let content = if clause.word(0) == "my" { voice.owns(clause) } else { said(clause) };
        return Some(FactMatch::new(MemoryType::Goal, content));
    }
    if let Some(to) =
        clause.any(0, "i am training for, i am saving for, i am studying for, i am preparing for")
    {
        return (!points(clause, to)).then(|| FactMatch::new(MemoryType::Goal, voice.does("is", clause, 2)));
    }
    let (verb, act) = aimed(clause)?;
    let from = if verb == "is" { 2 } else { act - 1 };
    let lasting = listed(LASTING, clause.word(act)) && !points(clause, act + 1);
    lasting.then(|| FactMatch::new(MemoryType::Goal, voice.does(&verb, clause, from)))
}

/// Returns the verb that states a goal, and the position of the goal.
fn aimed(clause: &Clause<'_>) -> Option<(String, usize)> {
    if let Some(act) = clause.any(0, "i want to, i would love to") {
        return Some(("wants".to_owned(), act));
    }
    if let Some(act) = clause.any(0, "i am trying to, i am planning to, i am hoping to") {
        return Some(("is".to_owned(), act));
    }
    clause.any(0, "i plan to, i hope to, i aim to").map(|act| (third_person::verb(clause.word(1)), act))
}

/// Verbs for goals that last longer than the conversation.
const LASTING: &str =
    "become learn lose save quit launch master publish retire travel move ship study graduate climb";
