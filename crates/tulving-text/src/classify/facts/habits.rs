//! Routines: events that recur, and things that somebody usually does.

use super::clause::Clause;
use super::rules::{FactMatch, FactSpeaker, points, said};
use super::third_person;
use crate::classify::lexicon::listed;
use crate::vocabulary::MemoryType;
use crate::when::WEEKDAYS;

pub(super) fn routine(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let content = usual(clause, voice).or_else(|| regular(clause, voice)).or_else(|| meeting(clause))?;
    Some(FactMatch::new(MemoryType::Routine, content))
}

/// Matches "I usually start work around seven."
fn usual(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let (often, verb) = (clause.word(1), clause.word(2));
    let speaks =
        listed("i we", clause.word(0)) && listed("usually normally typically generally always", often);
    let mental = "get forget see wonder think thought want wanted need end find mess am are have love like hate prefer enjoy struggle fail had was were";
    if !speaks || listed(mental, verb) || verb.ends_with("ed") || points(clause, 3) && clause.left(3) < 3 {
        return None;
    }
    Some(match clause.word(0) {
        "i" => voice.does(&format!("{often} {}", third_person::verb(verb)), clause, 3),
        _ => said(clause),
    })
}

/// Matches "Every Monday we review the budget", "I go to the gym on Tuesdays".
fn regular(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let at = (0..clause.words.len()).find(|at| recurs(clause, *at))?;
    let person = (0..clause.words.len()).find(|at| listed("i we", clause.word(*at)))?;
    let verb = clause.word(person + 1);
    let past = verb.ends_with("ed") || listed("had was were did went got made took", verb);
    if past
        || listed("will would can could should might may need want wish do", verb)
        || clause.left(person) < 3
    {
        return None;
    }
    if at < person {
        // For "Every Monday we …", only the subject is replaced and the other words are not changed.
        return Some(match clause.word(person) {
            "i" if verb != "am" => {
                let when = clause.turn[clause.span(0).start..clause.words[person].place.start].trim();
                let does = voice.does(&third_person::verb(verb), clause, person + 2);
                third_person::capital(&format!("{when} {does}"))
            }
            _ => said(clause),
        });
    }
    Some(match (clause.word(person), verb) {
        ("i", "am") => voice.does("is", clause, person + 2),
        ("i", verb) => voice.does(&third_person::verb(verb), clause, person + 2),
        _ => said(clause),
    })
}

/// Returns true if the words at a position name a recurring time.
fn recurs(clause: &Clause<'_>, at: usize) -> bool {
    let next = clause.word(at + 1);
    match clause.word(at) {
        "every" | "each" => {
            WEEKDAYS.contains(&next)
                || listed(
                    "day weekday morning afternoon evening night week weekend month quarter year sprint other second two three spring summer autumn winter",
                    next,
                )
        }
        "on" => {
            WEEKDAYS.iter().any(|day| next.strip_suffix('s') == Some(day))
                || listed("weekdays weekends", next)
        }
        "daily" | "weekly" | "monthly" | "biweekly" => true,
        "twice" | "once" => listed("a per", next),
        day => at == 0 && WEEKDAYS.iter().any(|one| day.strip_suffix('s') == Some(one)),
    }
}

/// Matches "Daily standup is at 9:30", "our retro is on the last Friday of the month".
fn meeting(clause: &Clause<'_>) -> Option<String> {
    let named = (0..5).find(|at| listed(MEETINGS, clause.word(*at)))?;
    let verb = (named + 1..named + 5)
        .find(|at| listed("is are happens happen takes starts moved begins was", clause.word(*at)))?;
    let when = (verb..clause.words.len()).any(|at| {
        recurs(clause, at)
            || (listed("at on from", clause.word(at)) && is_time(clause, at + 1))
            || clause.says(at, "of the month")
    });
    let once =
        ["today", "tomorrow", "yesterday", "canceled", "cancelled"].iter().any(|word| clause.holds(word));
    (when && !once && clause.word(verb) != "was").then(|| said(clause))
}

const MEETINGS: &str = "standup stand-up standups retro retrospective sync planning demo 1:1 one-on-one all-hands meeting review lunch training class practice office rehearsal";

fn is_time(clause: &Clause<'_>, at: usize) -> bool {
    let word = clause.word(at);
    word.starts_with(|c: char| c.is_ascii_digit())
        || listed(
            "noon midnight one two three four five six seven eight nine ten eleven twelve half mondays tuesdays wednesdays thursdays fridays saturdays sundays",
            word,
        )
}
