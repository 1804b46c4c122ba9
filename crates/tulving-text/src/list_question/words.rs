//! The English words that questions for a list consist of.

use crate::vocabulary::MemoryType;

/// Returns the words with contractions expanded: "what's" becomes "what is".
pub(super) fn spelled_out(words: &[String]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let (stem, rest) = match word.as_str() {
            "haven't" => ("have", "not"),
            "hasn't" => ("has", "not"),
            "isn't" => ("is", "not"),
            "aren't" => ("are", "not"),
            "let's" => ("let", "us"),
            word => match word.split_once('\'') {
                Some((stem @ ("what" | "who" | "that" | "there" | "which"), "s")) => (stem, "is"),
                Some((stem, "ve")) => (stem, "have"),
                Some((stem, "re")) => (stem, "are"),
                Some((stem, "d")) => (stem, "would"),
                Some((stem, "m")) => (stem, "am"),
                // Some people write the plural as "todo's".
                Some(("todo", "s")) => ("todos", ""),
                _ => (word, ""),
            },
        };
        whole.push(stem.to_owned());
        if !rest.is_empty() {
            whole.push(rest.to_owned());
        }
    }
    whole
}

/// Returns the words without a final "at the moment" or a similar phrase.
pub(super) fn without_now<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    match words {
        [rest @ .., "at", "the", "moment"] => rest,
        [rest @ .., "right", "now"] | [rest @ .., "so", "far"] | [rest @ .., "these", "days"] => rest,
        _ => words,
    }
}

/// Returns the words without a greeting or a request at the beginning: "hey, could you please".
pub(super) fn without_courtesy<'a>(mut words: &'a [&'a str]) -> &'a [&'a str] {
    loop {
        words = match words {
            [
                "please" | "hey" | "hi" | "hello" | "ok" | "okay" | "so" | "well" | "and" | "now" | "then",
                rest @ ..,
            ] => rest,
            ["can" | "could" | "would" | "will", "you" | "i", rest @ ..] => rest,
            ["i", "want" | "need", "to", rest @ ..] | ["i", "would", "like", "to", rest @ ..] => rest,
            ["let", "me" | "us", rest @ ..] => rest,
            ["tell" | "remind" | "show", "me" | "us", "what" | "which" | "who" | "how", ..] => &words[2..],
            _ => return words,
        };
    }
}

/// Returns the words without a final "by importance" or a similar phrase, and true if the words ended with such a
/// phrase.
pub(super) fn without_order<'a>(words: &'a [&'a str]) -> (&'a [&'a str], bool) {
    match words {
        [rest @ .., "sorted" | "ordered" | "ranked", "by", "importance" | "priority"]
        | [rest @ .., "by", "importance" | "priority"]
        | [rest @ .., "in", "order", "of", "importance" | "priority"]
        | [rest @ .., "most", "important", "first"] => (rest, true),
        _ => (words, false),
    }
}

/// Returns true if the word can introduce a time, as in "from Monday".
pub(super) fn leads_to_time(word: &str) -> bool {
    matches!(word, "from" | "in" | "of" | "on" | "during" | "over" | "within" | "for" | "at" | "throughout")
}

/// Returns the type that is named at the beginning of these words, and the number of words in its name.
pub(super) fn type_at(words: &[&str]) -> Option<(MemoryType, usize)> {
    let first = *words.first()?;
    let next = words.get(1).copied().unwrap_or_default();
    let is_list = |word: &str| matches!(word, "list" | "lists" | "items" | "memories" | "entries");
    match (first, next) {
        ("to", "dos") | ("action", "items" | "points") => return Some((MemoryType::Todo, 2)),
        ("to", "do") if words.get(2).is_some_and(|word| is_list(word)) => return Some((MemoryType::Todo, 3)),
        ("likes", "and") if words.get(2) == Some(&"dislikes") => return Some((MemoryType::Preference, 3)),
        ("everyone" | "everybody" | "anyone" | "anybody", "i" | "we" | "you")
            if words.get(2) == Some(&"know") =>
        {
            return Some((MemoryType::Person, 3));
        }
        ("identity", next) => return Some((MemoryType::Identity, 1 + usize::from(is_list(next)))),
        _ => {}
    }
    if let Some(found) = things_to_do(words) {
        return Some((MemoryType::Todo, found));
    }
    if let Some(memory_type) = plural(first) {
        return Some((memory_type, 1));
    }
    let memory_type = singular(first).filter(|_| is_list(next))?;
    Some((memory_type, 2))
}

/// Returns the length, in words, of a phrase such as "things that I still have to do".
fn things_to_do(words: &[&str]) -> Option<usize> {
    if !matches!(words.first(), Some(&("things" | "stuff" | "anything" | "everything" | "something"))) {
        return None;
    }
    let between = words[1..].iter().take_while(|word| {
        matches!(
            **word,
            "that"
                | "do"
                | "i"
                | "we"
                | "are"
                | "is"
                | "still"
                | "left"
                | "have"
                | "need"
                | "got"
                | "for"
                | "me"
                | "us"
        )
    });
    let end = 1 + between.count();
    (words.get(end..end + 2)? == ["to", "do"]).then_some(end + 2)
}

/// Returns true if these words name todos as open work.
pub(super) fn is_open_by_name(words: &[&str]) -> bool {
    things_to_do(words).is_some()
}

fn plural(word: &str) -> Option<MemoryType> {
    Some(match word {
        "todos" | "tasks" | "chores" | "errands" => MemoryType::Todo,
        "goals" | "objectives" | "aims" | "ambitions" => MemoryType::Goal,
        "decisions" => MemoryType::Decision,
        "preferences" | "likes" | "dislikes" => MemoryType::Preference,
        "people" | "persons" | "contacts" | "acquaintances" => MemoryType::Person,
        "projects" => MemoryType::Project,
        "routines" | "habits" => MemoryType::Routine,
        "events" => MemoryType::Event,
        "facts" => MemoryType::Fact,
        "observations" | "insights" => MemoryType::Observation,
        _ => return None,
    })
}

/// Returns the type that a single word names.
pub(super) fn singular(word: &str) -> Option<MemoryType> {
    Some(match word {
        "todo" | "task" => MemoryType::Todo,
        "goal" => MemoryType::Goal,
        "decision" => MemoryType::Decision,
        "preference" => MemoryType::Preference,
        "person" | "people" | "contact" => MemoryType::Person,
        "project" => MemoryType::Project,
        "routine" | "habit" => MemoryType::Routine,
        "event" => MemoryType::Event,
        "fact" => MemoryType::Fact,
        "observation" => MemoryType::Observation,
        _ => return None,
    })
}

/// Returns true if a word means "not done yet".
pub(super) fn says_open(word: &str) -> bool {
    matches!(
        word,
        "open"
            | "pending"
            | "outstanding"
            | "unfinished"
            | "undone"
            | "remaining"
            | "left"
            | "incomplete"
            | "uncompleted"
            | "unresolved"
    )
}

/// Returns true if a word means "done".
pub(super) fn says_done(word: &str) -> bool {
    matches!(
        word,
        "done"
            | "finished"
            | "finish"
            | "completed"
            | "complete"
            | "closed"
            | "close"
            | "achieved"
            | "achieve"
            | "reached"
            | "reach"
            | "accomplished"
            | "accomplish"
            | "fulfilled"
            | "ticked"
            | "checked"
            | "resolved"
    )
}

/// Returns true if a word may precede the name of a type without adding a subject.
pub(super) fn may_lead(word: &str) -> bool {
    matches!(
        word,
        "what"
            | "which"
            | "who"
            | "are"
            | "is"
            | "were"
            | "was"
            | "many"
            | "number"
            | "total"
            | "count"
            | "of"
            | "the"
            | "a"
            | "an"
            | "list"
            | "lists"
            | "overview"
            | "summary"
            | "show"
            | "give"
            | "tell"
            | "display"
            | "print"
            | "get"
            | "see"
            | "view"
            | "recall"
            | "remind"
            | "enumerate"
            | "me"
            | "us"
            | "my"
            | "our"
            | "your"
            | "all"
            | "every"
            | "each"
            | "any"
            | "some"
            | "do"
            | "did"
            | "i"
            | "we"
            | "you"
            | "have"
            | "had"
            | "know"
            | "got"
            | "there"
            | "about"
            | "on"
            | "else"
            | "other"
            | "still"
            | "currently"
            | "current"
            | "now"
            | "recent"
            | "latest"
            | "new"
            | "newest"
            | "different"
            | "various"
            | "existing"
            | "saved"
            | "stored"
            | "remembered"
            | "known"
            | "recorded"
            | "noted"
            | "full"
            | "whole"
            | "entire"
            | "those"
            | "these"
            | "please"
            | "active"
            | "not"
            | "yet"
            | "already"
    )
}

/// Returns true if a word may follow the name of a type without adding a subject.
pub(super) fn may_follow(word: &str) -> bool {
    matches!(
        word,
        "are"
            | "is"
            | "were"
            | "was"
            | "be"
            | "been"
            | "am"
            | "there"
            | "still"
            | "do"
            | "did"
            | "have"
            | "had"
            | "has"
            | "got"
            | "i"
            | "we"
            | "you"
            | "me"
            | "us"
            | "my"
            | "our"
            | "your"
            | "mine"
            | "in"
            | "on"
            | "of"
            | "to"
            | "for"
            | "at"
            | "the"
            | "so"
            | "far"
            | "now"
            | "right"
            | "currently"
            | "moment"
            | "yet"
            | "already"
            | "ever"
            | "made"
            | "make"
            | "take"
            | "taken"
            | "took"
            | "come"
            | "came"
            | "up"
            | "know"
            | "known"
            | "remember"
            | "remembered"
            | "saved"
            | "stored"
            | "recorded"
            | "noted"
            | "set"
            | "myself"
            | "ourselves"
            | "memory"
            | "list"
            | "plate"
            | "working"
            | "exist"
            | "happened"
            | "happen"
            | "place"
            | "occurred"
            | "all"
            | "total"
            | "altogether"
            | "please"
            | "thanks"
            | "that"
            | "which"
            | "not"
            | "off"
            | "about"
            | "active"
    )
}
