//! Reads the forms of a question for a list: a memory type with only filler words around it, or a fixed phrase.

use crate::vocabulary::MemoryType;

use super::ListQuestionForm;
use super::words::{
    is_open_by_name, may_follow, may_lead, says_done, says_open, singular, type_at, without_now,
};

/// Reads a question whose time was already removed.
pub(super) fn read(words: &[&str]) -> Option<ListQuestionForm> {
    phrase(without_now(words)).or_else(|| named(words))
}

/// Reads a memory type with words around it: "how many todos are still open".
fn named(words: &[&str]) -> Option<ListQuestionForm> {
    let start = (0..words.len()).find(|at| type_at(&words[*at..]).is_some())?;
    let (types, end, open_by_name) = types_from(words, start);
    let (before, after) = (&words[..start], &words[end..]);
    let person = types.contains(&MemoryType::Person);
    if !leads(before, person) || !follows(after, person) {
        return None;
    }
    let asks_done = after.contains(&"did") && after.ends_with(&["do"]);
    let (said_open, said_done) = (says(before, after, says_open), says(before, after, says_done));
    let negated = [before, after].iter().any(|part| part.contains(&"not"));
    let done = match (said_open || open_by_name, said_done || asks_done) {
        (true, true) | (false, false) => None,
        (true, false) => Some(negated),
        (false, true) => Some(!negated),
    };
    let counts = before.iter().any(|word| matches!(*word, "many" | "number" | "count"));
    let both = said_open && said_done;
    let all = both || before.iter().any(|word| matches!(*word, "all" | "every" | "each"));
    Some(ListQuestionForm { types, done, counts, all: all && done.is_none(), to_do: open_by_name })
}

/// Returns the types named from this position on, the position after them, and true if one of the types is named as
/// open work.
fn types_from(words: &[&str], start: usize) -> (Vec<MemoryType>, usize, bool) {
    let (mut types, mut at, mut open) = (Vec::new(), start, false);
    let mut end = start;
    while let Some((memory_type, length)) = type_at(&words[at..]) {
        open |= is_open_by_name(&words[at..]);
        if !types.contains(&memory_type) {
            types.push(memory_type);
        }
        end = at + length;
        let joined = matches!(words.get(end), Some(&("and" | "or" | "&")));
        let own = usize::from(joined && matches!(words.get(end + 1), Some(&("my" | "our" | "the" | "all"))));
        at = end + usize::from(joined) + own;
        if at >= words.len() {
            break;
        }
    }
    (types, end, open)
}

fn says(before: &[&str], after: &[&str], what: fn(&str) -> bool) -> bool {
    before.iter().chain(after).any(|word| what(word))
}

/// Returns true if the words before a type ask for all memories of the type.
fn leads(words: &[&str], person: bool) -> bool {
    let known = |(at, word): (usize, &&str)| match *word {
        "how" => words.get(at + 1) == Some(&"many"),
        "many" => at > 0 && words[at - 1] == "how",
        "name" | "read" | "find" => at == 0,
        "who" => person,
        "do" | "did" | "have" | "had" => is_asked_of_us(words, at),
        "and" => at > 0 && (says_open(words[at - 1]) || says_done(words[at - 1])),
        word => may_lead(word) || says_open(word) || says_done(word),
    };
    words.iter().enumerate().all(known)
}

/// Returns true if the words after a type do not add a subject.
fn follows(words: &[&str], person: bool) -> bool {
    let known = |(at, word): (usize, &&str)| match *word {
        "do" | "did" | "have" | "had" | "has" => is_asked_of_us(words, at),
        // "How many people were there?" is about a particular event.
        "was" | "were" | "happened" | "came" | "come" => !person,
        "about" => at + 1 == words.len(),
        "off" => at > 0 && matches!(words[at - 1], "ticked" | "checked"),
        "and" => at > 0 && (says_open(words[at - 1]) || says_done(words[at - 1])),
        word => may_follow(word) || says_open(word) || says_done(word),
    };
    words.iter().enumerate().all(known)
}

/// Returns true if the subject of the verb at this position is the speaker or the listener: "do I have", but not "do
/// people have".
fn is_asked_of_us(words: &[&str], at: usize) -> bool {
    let is_us = |word: &&str| matches!(*word, "i" | "we" | "you");
    words.get(at + 1).is_some_and(|next| is_us(next) || matches!(*next, "been" | "not" | "to" | "there"))
        || at.checked_sub(1).is_some_and(|before| is_us(&words[before]) || words[before] == "to")
}

/// Returns true for words that do not change the meaning of a phrase.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "still"
            | "yet"
            | "already"
            | "please"
            | "now"
            | "currently"
            | "all"
            | "exactly"
            | "just"
            | "else"
            | "again"
            | "thanks"
    )
}

/// Reads a fixed phrase: "what is left to do?", "who do I know?", "todo".
fn phrase(words: &[&str]) -> Option<ListQuestionForm> {
    match words {
        [word] if singular(word).is_some() => return singular(word).map(ListQuestionForm::of),
        ["to", "do"] => return Some(ListQuestionForm::of(MemoryType::Todo)),
        _ => {}
    }
    let still = words.contains(&"still");
    let bare: Vec<&str> = words.iter().copied().filter(|word| !is_filler(word)).collect();
    if is_to_do(&bare) || (still && bare == ["what", "is", "open"]) {
        return Some(ListQuestionForm {
            done: Some(false),
            to_do: true,
            ..ListQuestionForm::of(MemoryType::Todo)
        });
    }
    match bare.as_slice() {
        ["what", "have", "i" | "we", "finished" | "completed" | "accomplished"]
        | ["what", "did", "i" | "we", "finish" | "complete" | "accomplish"]
        | ["what", "did", "i" | "we", "get", "done" | "finished"]
        | ["what", "have", "i" | "we", "got" | "gotten", "done" | "finished"]
        | ["what", "is", "done" | "finished" | "completed"]
        | ["what", "has" | "have", "been", "finished" | "completed" | "accomplished"] => {
            Some(ListQuestionForm { done: Some(true), ..ListQuestionForm::of(MemoryType::Todo) })
        }
        ["what", "have", "i" | "we", "achieved" | "reached"]
        | ["what", "did", "i" | "we", "achieve" | "reach"] => {
            Some(ListQuestionForm { done: Some(true), ..ListQuestionForm::of(MemoryType::Goal) })
        }
        ["what", "did", "i" | "we", "decide"]
        | ["what", "did", "i" | "we", "decide", "on"]
        | ["what", "have", "i" | "we", "decided"]
        | ["what", "have", "i" | "we", "decided", "on"]
        | ["what", "was" | "is", "decided"]
        | ["what", "has", "been", "decided"] => Some(ListQuestionForm::of(MemoryType::Decision)),
        ["who" | "whom", "do", "i" | "we" | "you", "know"]
        | ["who" | "whom", "do", "i" | "we" | "you", "know", "about" | "of"]
        | ["who" | "whom", "have", "i" | "we", "told", "you", "about"]
        | ["who" | "whom", "have", "i" | "we", "mentioned"] => Some(ListQuestionForm::of(MemoryType::Person)),
        ["what", "do", "i" | "we", "prefer" | "like" | "dislike"]
        | ["what", "do", "i" | "we", "like", "and" | "or", "dislike"] => {
            Some(ListQuestionForm::of(MemoryType::Preference))
        }
        ["what", "do", "i" | "we", "want", "to", "achieve" | "reach" | "accomplish"]
        | ["what", "am" | "are", "i" | "we", "trying", "to", "achieve" | "reach" | "accomplish"]
        | ["what", "am" | "are", "i" | "we", "aiming", "for"] => {
            Some(ListQuestionForm { done: Some(false), ..ListQuestionForm::of(MemoryType::Goal) })
        }
        ["what", "am" | "are", "i" | "we", "working", "on"] => {
            Some(ListQuestionForm::of(MemoryType::Project))
        }
        ["who", "am", "i"] => Some(ListQuestionForm::of(MemoryType::Identity)),
        _ => None,
    }
}

/// Returns true if a phrase asks for open work.
fn is_to_do(words: &[&str]) -> bool {
    match words {
        ["what", "is" | "remains", rest @ ..] => matches!(
            rest,
            ["left", "to", "do"]
                | ["left", "to", "be", "done"]
                | ["left", "for", "me" | "us", "to", "do"]
                | ["left", "on", "my" | "our" | "the", "list" | "plate" | "agenda"]
                | ["there", "to", "do"]
                | ["there", "left", "to", "do"]
                | ["to", "do"]
                | ["to", "be", "done"]
                | ["on", "my" | "our", "plate" | "agenda"]
                | ["not", "done" | "finished" | "completed"]
                | ["outstanding" | "pending" | "unfinished" | "undone" | "incomplete"]
        ),
        ["what", "needs", "to", "be", "done"]
        | ["what", "needs", "doing"]
        | ["what", "has", "to", "be", "done"]
        | ["what", "must", "be", "done"]
        | ["what", "do", "i" | "we", "have" | "need", "to", "do" | "finish" | "complete"]
        | ["what", "i" | "we", "have" | "need", "to", "do" | "finish" | "complete"]
        | ["what", "do", "i" | "we", "have", "left", "to", "do"]
        | ["what", "have", "i" | "we", "left" | "got", "to", "do"]
        | ["what", "have", "i" | "we", "not", "done" | "finished" | "completed"]
        | ["what", "must", "i" | "we", "do"]
        | ["what", "has", "not", "been", "done" | "finished" | "completed"] => true,
        _ => false,
    }
}
