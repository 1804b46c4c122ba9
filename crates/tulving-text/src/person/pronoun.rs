//! Detects whether a question is about the person who asks or about the person or agent that is asked.

use super::{GrammaticalPerson, QuestionWord};

/// Words that show that a question is English. They are needed where a pronoun could be a word of another language.
const ENGLISH: [&str; 38] = [
    "about", "are", "can", "could", "did", "does", "for", "give", "have", "help", "how", "if", "list",
    "remind", "said", "say", "share", "should", "show", "tell", "than", "that", "the", "there", "was",
    "were", "what", "when", "where", "which", "who", "whose", "why", "with", "would", "you", "your", "yours",
];

/// Verbs that only ask for an answer: "can you remind me".
const ASKING: [&str; 25] = [
    "check",
    "confirm",
    "describe",
    "explain",
    "find",
    "give",
    "help",
    "know",
    "list",
    "look",
    "name",
    "point",
    "provide",
    "recall",
    "recap",
    "refresh",
    "remember",
    "remind",
    "repeat",
    "search",
    "see",
    "show",
    "summarise",
    "summarize",
    "tell",
];

/// Words after which a capital I is a number: "World War I".
const NUMBERED: [&str; 14] = [
    "act", "appendix", "book", "chapter", "class", "figure", "grade", "level", "part", "phase", "stage",
    "type", "volume", "war",
];

pub(super) fn person(question: &str, words: &[QuestionWord]) -> GrammaticalPerson {
    let english = words.iter().any(|word| ENGLISH.binary_search(&word.form.as_str()).is_ok());
    let mut second = false;
    for (at, word) in words.iter().enumerate() {
        let written = &question[word.range.clone()];
        let before = at.checked_sub(1).map_or("", |at| words[at].form.as_str());
        let first = match word.form.as_str() {
            "my" | "myself" | "our" | "ours" | "ourselves" => true,
            "i" if written == "I" => !NUMBERED.contains(&before) && !is_abbreviated(question, word),
            "us" => english && written != "US" && !is_abbreviated(question, word),
            "i" | "me" | "we" => english && !is_abbreviated(question, word),
            "mine" => {
                english && !matches!(before, "a" | "the" | "coal" | "gold" | "salt" | "silver" | "copper")
            }
            _ => false,
        };
        if first {
            return GrammaticalPerson::First;
        }
        second |= match word.form.as_str() {
            "your" | "yours" | "yourself" => true,
            "you" => before != "thank" && !is_only_asked(before, &words[at + 1..]),
            _ => false,
        };
    }
    if second { GrammaticalPerson::Second } else { GrammaticalPerson::Other }
}

/// Returns true if a dot and a letter follow a word, as in "i.e.".
fn is_abbreviated(question: &str, word: &QuestionWord) -> bool {
    let mut after = question[word.range.end..].chars();
    after.next() == Some('.') && after.next().is_some_and(char::is_alphabetic)
}

/// Returns true if the "you" between these words is only asked to give the answer, and the question is not about "you".
fn is_only_asked(before: &str, after: &[QuestionWord]) -> bool {
    let verb = after.iter().map(|word| word.form.as_str()).find(|word| {
        !matches!(*word, "please" | "kindly" | "also" | "still" | "perhaps" | "maybe" | "quickly" | "even")
    });
    matches!(before, "can" | "could" | "do" | "would" | "will" | "might" | "if" | "don")
        && verb.is_some_and(|verb| ASKING.binary_search(&verb).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::address;
    use super::*;

    fn of(question: &str) -> GrammaticalPerson {
        address(question, &[]).person
    }

    #[test]
    fn the_lists_are_in_order() {
        assert!(ENGLISH.is_sorted() && ASKING.is_sorted() && NUMBERED.is_sorted());
    }

    #[test]
    fn a_question_about_the_asker_is_in_the_first_person() {
        for question in [
            "What did I buy?",
            "what did i buy",
            "When I'm home, what do I drink?",
            "my dog's name",
            "Where did we go?",
            "What did you tell me about rust?",
            "Which of the books is mine?",
            "Can you remind me what I said?",
        ] {
            assert_eq!(of(question), GrammaticalPerson::First, "{question}");
        }
    }

    #[test]
    fn a_question_about_the_answerer_is_in_the_second_person() {
        for question in ["What did you recommend?", "What is your name?", "Which did you say was yours?"] {
            assert_eq!(of(question), GrammaticalPerson::Second, "{question}");
        }
    }

    #[test]
    fn to_ask_somebody_is_not_to_ask_about_them() {
        for question in [
            "Can you recall where the keys are?",
            "Could you please tell what the plan was?",
            "Do you remember the name of the dog?",
            "What is in the U.S. news?",
            "Which US state was it?",
            "What ended World War I?",
            "Where is the coal mine?",
        ] {
            assert_eq!(of(question), GrammaticalPerson::Other, "{question}");
        }
    }

    #[test]
    fn other_languages_are_left_alone() {
        for question in
            ["i ragazzi e il cane", "Kawa i herbata", "me gusta el té", "Was hat er gekauft", "de we i oni"]
        {
            assert_eq!(of(question), GrammaticalPerson::Other, "{question}");
        }
    }
}
