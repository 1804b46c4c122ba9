//! Detects the form of a sentence: an instruction, a rule or a report.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::words::{holds, spaced};
use crate::classify::lexicon::{listed, words};

/// The form of a sentence. The counts of a document are the sums over its sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SentenceForm {
    /// True if the sentence tells the reader to do something now.
    pub(super) acts: bool,
    /// True if the sentence states a rule for the way in which things are done.
    pub(super) rules: bool,
    /// True if the sentence reports an event.
    pub(super) tells: bool,
    /// True if the sentence reports an action of a person.
    pub(super) recounts: bool,
    /// True if the sentence defines something.
    pub(super) defines: bool,
    /// True if the sentence guides the reader through a sequence: "you fill in", "once it is here", "it then goes to".
    pub(super) leads: bool,
    /// True if the sentence is about the future.
    pub(super) predicts: bool,
}

/// Returns the form of a sentence.
pub(super) fn make(sentence: &str) -> SentenceForm {
    let said = spaced(sentence);
    let words: Vec<&str> = said.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let any = |cues: &[&str]| cues.iter().any(|cue| holds(&said, cue));
    let rules = rules(&said, &words);
    let tells = is_past(&words);
    let in_turn = listed("once after afterwards then next finally if", first) || any(IN_TURN);
    SentenceForm {
        acts: !rules && acts(sentence),
        rules,
        tells,
        recounts: tells && is_of_person(sentence, &words),
        defines: any(DEFINING),
        leads: in_turn && !tells && !sentence.trim_end().ends_with('?'),
        predicts: any(FUTURE),
    }
}

const IN_TURN: &[&str] = &["you", "is then", "are then", "then it", "it goes to", "by then"];
const FUTURE: &[&str] =
    &["will", "is planned", "are planned", "not planned", "going to", "next year", "this year"];
const DEFINING: &[&str] = &[
    "is a",
    "is an",
    "is the",
    "are the",
    "means",
    "consists of",
    "consist of",
    "refers to",
    "has many",
    "is called",
    "is built on",
];

/// Returns true if a sentence tells the reader to do something. Such a sentence begins with an imperative verb, or has
/// an imperative verb after its opening words.
pub(super) fn acts(sentence: &str) -> bool {
    clauses(sentence).next().is_some_and(is_order) || after_condition(sentence).is_some_and(is_order)
}

/// Returns the number of clauses that tell the reader to do something.
pub(super) fn orders(sentence: &str) -> usize {
    clauses(sentence).filter(|clause| is_order(clause)).count()
}

/// Splits a sentence at commas and similar marks, and after "and" and "then".
pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split([',', ';', ':', '.', '(', '!'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// Returns the text after a condition or an aim at the beginning: "forward it" for "If it is older, forward it".
fn after_condition(sentence: &str) -> Option<&str> {
    let head = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = head.split_whitespace().next()?.to_lowercase();
    let opens = listed("if when once to after before for as in should on", &first);
    let (_, rest) = head.split_once(',').filter(|_| opens)?;
    Some(rest.trim())
}

/// Returns true if a clause begins with a verb that is an order.
fn is_order(clause: &str) -> bool {
    let said = spaced(clause);
    let opening = "then next first finally now please afterwards lastly just also and or";
    let mut words = said.split_whitespace().skip_while(|word| listed(opening, word));
    let Some(verb) = words.next().filter(|verb| ACTS.contains(verb)) else { return false };
    let next = words.next().unwrap_or_default();
    let by_doing = next == "by" && words.next().is_some_and(|word| word.ends_with("ing"));
    // In "Run is a name" and "Order of things", the word is not a verb.
    let noun = next.is_empty() || listed("are by can does for had has is may must of s was were will", next);
    by_doing || !noun || listed("ask go look search stop wait", verb)
}

fn rules(said: &str, words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or_default();
    let opening = "use avoid prefer keep never always don't nobody everyone everybody anyone whoever who";
    if listed(opening, first) || said.starts_with(" do not ") {
        return true;
    }
    let cue = ["must", "should", "never", "always", "do not", "does not", "are not", "not allowed"]
        .iter()
        .any(|cue| holds(said, cue));
    let ours = words.windows(2).any(|pair| pair[0] == "we" && is_habit(pair[1]));
    ours || (cue && !words.contains(&"was") && words.len() <= 40)
}

/// Returns true if a verb after "we" describes a habit.
fn is_habit(verb: &str) -> bool {
    let others = "are will have can could would might may need should all also both then just now see";
    !verb.ends_with("ed") && !PAST.contains(verb) && !listed(others, verb)
}

/// Returns true if the words report an event: they have a verb in the past tense that is not part of a present passive.
pub(super) fn is_past(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        if matches!(*word, "was" | "were") {
            // "was saved" describes what happens to things, and "was calm" describes what a person was.
            return !after.ends_with("ed") && !after.ends_with("en") && !matches!(after, "not" | "");
        }
        if PAST.contains(word) {
            return !listed("to a an the is are be been", before);
        }
        // In "is stored", "a revoked right" and "sorted by size", the word is not a main verb.
        let regular = word.len() >= 5 && word.ends_with("ed");
        regular
            && after != "by"
            && !NOT_BEFORE.contains(before)
            && !listed("need speed indeed exceed based hundred named related", word)
    })
}

/// Returns true if the words report an action of a person: the subject is "I", "she" or a name, or the verb comes
/// first, as in notes.
fn is_of_person(sentence: &str, words: &[&str]) -> bool {
    let past = |word: &str| word.ends_with("ed") || PAST.contains(word);
    let pronoun = || words.iter().any(|word| listed("i we he she they everyone nobody people", word));
    // A name is a single word with a capital directly before the verb.
    let named = || {
        let bare = |word: &'_ str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let written: Vec<String> = sentence.split_whitespace().map(bare).collect();
        written.windows(2).any(|pair| is_name(&pair[0]) && past(&pair[1]))
    };
    words.first().is_some_and(|first| past(first)) || pronoun() || named()
}

fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && word.len() > 2
        && letters.all(char::is_lowercase)
        && !listed("The This That These Those What All Some Most And Which", word)
}

/// Words after which a form that ends with "ed" is not a verb.
static NOT_BEFORE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        is are be been being was were not get gets a an the of with by in for as no any each every or \
        never only once its their our has have two than it's must also if when",
    )
});

/// Verbs that begin instructions.
static ACTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        add adjust announce append apply approve archive ask assign attach back bake boil book branch \
        bring brush build bump call cancel carry change check cherry choose clean clear click clone \
        close collect commit compare compile complete configure confirm connect contact copy cover \
        create cut decide delete deploy describe disable disconnect divide download drag drain drop dry \
        edit enable ensure enter escalate execute export extend extract fetch fill find follow force \
        fork forward gather generate get give go grant hand have hit hold import increase inform insert \
        inspect install introduce invite join kill knead launch leave let load lock log look make mark \
        merge mix monitor mount move name navigate note notify open order paste pause peel pick ping \
        place plug point post pour preheat prepare press print promote publish pull push put quit raise read \
        reboot rebuild record redeploy register reinstall release reload remove rename repeat replace \
        report reset resolve restart restore resume retry revert review revoke rinse roll rollback \
        rotate run save scale scan schedule scroll search season select send serve set share sign simmer \
        slice speak squash stage start stir stop submit subscribe swap swipe switch sync tag take tap \
        tell terminate test tick toggle transfer trigger try turn type uncordon undo uninstall unlock \
        unmount unpack unplug unzip update upgrade upload verify visit wait wash watch wipe write",
    )
});

/// Verbs in the past that do not end with "ed".
static PAST: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        ate became began bought broke brought came caught chose did drank drew drove fell felt flew \
        forgot fought found gave got grew had heard held hid hung kept knew led left lost made met paid \
        ran rang rose said sang sat saw sent showed slept spent spoke stood stuck swam taught thought \
        threw told took was went were won wore wrote",
    )
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_instruction_is_known_by_its_verb() {
        for sentence in [
            "Run `make`.",
            "Then open the menu.",
            "If it is older, forward the case.",
            "First drain the node with kubectl.",
            "To remove it again, run `make uninstall`.",
            "Start by creating a key.",
            "Look the order up.",
        ] {
            assert!(make(sentence).acts, "{sentence}");
        }
        for sentence in [
            "Run is the name of the scheduler.",
            "The server runs twice.",
            "Order of arguments",
            "We run it nightly.",
            "Use the active voice.",
            "Never push to main.",
            "",
        ] {
            assert!(!make(sentence).acts, "{sentence}");
        }
        assert_eq!(orders("branch off the tag, bump the version, then push the tag"), 3);
    }

    #[test]
    fn a_rule_is_no_instruction_and_no_story() {
        for sentence in
            ["We squash on merge.", "Avoid mocks.", "Every fix must have a test.", "Nobody pushes to main."]
        {
            assert!(make(sentence).rules, "{sentence}");
        }
        for sentence in ["We met on Monday.", "We had lunch.", "The server stores it.", "We decided to go."] {
            assert!(!make(sentence).rules, "{sentence}");
        }
    }

    #[test]
    fn a_story_is_in_the_past() {
        for sentence in
            ["We met with Ann.", "Worked on the talk.", "Karl said it is fine.", "Ann demoed the editor."]
        {
            assert!(make(sentence).tells, "{sentence}");
        }
        for sentence in [
            "It is stored in a bucket.",
            "A revoked right must not be used.",
            "Fields are quoted by hand.",
            "We meet daily.",
        ] {
            assert!(!make(sentence).tells, "{sentence}");
        }
    }

    proptest! {
        #[test]
        fn no_sentence_panics(sentence in "([a-z ,.:;']|run|then|if |\\PC){0,80}") {
            let _ = (make(&sentence), orders(&sentence));
        }
    }
}
