//! Questions that ask for a value of a certain form, such as a phone number, and texts that contain such a value.
//!
//! Uses English rules. If a question asks for no such form, the result is `None`, and nothing is expected of its
//! answer.

/// The form of the value that a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedForm {
    /// A phone number.
    Phone,
    /// An e-mail address.
    Email,
    /// An amount of money.
    Price,
    /// The address of a page.
    Website,
    /// A number or a count.
    Number,
    /// A year.
    Year,
}

/// Words that ask for each form, alone or as two words.
const ASKED: [(&str, AskedForm); 22] = [
    ("phone number", AskedForm::Phone),
    ("telephone number", AskedForm::Phone),
    ("mobile number", AskedForm::Phone),
    ("cell number", AskedForm::Phone),
    ("phone", AskedForm::Phone),
    ("email", AskedForm::Email),
    ("e-mail", AskedForm::Email),
    ("mail address", AskedForm::Email),
    ("price", AskedForm::Price),
    ("how much did", AskedForm::Price),
    ("how much does", AskedForm::Price),
    ("how expensive", AskedForm::Price),
    ("website", AskedForm::Website),
    ("web site", AskedForm::Website),
    ("url", AskedForm::Website),
    ("homepage", AskedForm::Website),
    ("how many", AskedForm::Number),
    ("what number", AskedForm::Number),
    ("which number", AskedForm::Number),
    ("what year", AskedForm::Year),
    ("which year", AskedForm::Year),
    ("in what year", AskedForm::Year),
];
/// Words that introduce a question for a value. A noun asks for a value only after one of these words.
const ASKING: [&str; 5] = ["what", "what's", "which", "whats", "how"];
/// Numbers written as words. "One" is left out, because it is mostly a pronoun.
const NUMBERS: [&str; 19] = [
    "zero", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "dozen", "hundred", "thousand", "couple", "several", "twice", "both",
];
/// Signs and names of currencies.
const MONEY: [&str; 16] = [
    "$", "€", "£", "¥", "usd", "eur", "euro", "euros", "dollar", "dollars", "bucks", "cents", "gbp",
    "pounds", "chf", "yen",
];

/// Returns the words of a text in lower case, without marks at their ends.
fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

/// Returns the form of the value that a question asks for.
pub fn asked_form(question: &str) -> Option<AskedForm> {
    let words = words(question);
    let asking = words.iter().position(|word| ASKING.contains(&word.as_str()))?;
    // The noun stands close to the word that asks: "what is Olga's phone number".
    let near = &words[asking..words.len().min(asking + 7)];
    let joined = format!(" {} ", near.join(" "));
    ASKED.iter().find(|(phrase, _)| joined.contains(&format!(" {phrase} "))).map(|(_, form)| *form)
}

/// Returns true if a text contains a value of this form.
pub fn has_form(text: &str, form: AskedForm) -> bool {
    match form {
        AskedForm::Phone => text
            .split(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-' | '/' | '(' | ')' | '+' | '.')))
            .any(|run| run.bytes().filter(u8::is_ascii_digit).count() >= 6),
        AskedForm::Email => text.split_whitespace().any(|word| {
            word.split_once('@').is_some_and(|(name, host)| {
                name.ends_with(char::is_alphanumeric) && host.contains('.') && host.len() > 3
            })
        }),
        AskedForm::Price => {
            let is_money = |word: &String| MONEY.contains(&word.as_str());
            text.contains(['$', '€', '£', '¥']) || words(text).iter().any(is_money) || text.contains("free")
        }
        AskedForm::Website => {
            let dotted = |word: &str| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                word.rsplit_once('.').is_some_and(|(name, end)| {
                    !name.is_empty()
                        && (2..=6).contains(&end.len())
                        && end.chars().all(|c| c.is_ascii_lowercase())
                })
            };
            text.contains("://") || text.contains("www.") || text.split([' ', '/', '\n']).any(dotted)
        }
        AskedForm::Number => {
            let is_number =
                |word: &String| NUMBERS.contains(&word.as_str()) || matches!(word.as_str(), "a" | "an");
            text.contains(|c: char| c.is_ascii_digit()) || words(text).iter().any(is_number)
        }
        AskedForm::Year => {
            let is_year = |word: &str| {
                let digits: String = word.chars().filter(char::is_ascii_digit).collect();
                digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
            };
            text.split_whitespace().any(is_year) || words(text).iter().any(|word| word.starts_with("year"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_for_a_value_of_a_form_is_known() {
        for (question, form) in [
            ("What is Olga's phone number?", Some(AskedForm::Phone)),
            ("what's the email of the landlord", Some(AskedForm::Email)),
            ("How much did the bike cost?", Some(AskedForm::Price)),
            ("Which website has the slides?", Some(AskedForm::Website)),
            ("How many dogs does Ana have?", Some(AskedForm::Number)),
            ("In what year was he born?", Some(AskedForm::Year)),
            ("What do I think of phones in class, and how should I say it?", None),
            ("Who called?", None),
            ("Did she email me?", None),
        ] {
            assert_eq!(asked_form(question), form, "{question}");
        }
    }

    #[test]
    fn a_value_of_a_form_is_found_in_a_text() {
        for (text, form) in [
            ("Call her at +43 664 12 34 567.", AskedForm::Phone),
            ("Write to ana@example.org, please.", AskedForm::Email),
            ("It cost 30 euros.", AskedForm::Price),
            ("See docs.example.org/start", AskedForm::Website),
            ("She has two dogs.", AskedForm::Number),
            ("Born in 1987.", AskedForm::Year),
        ] {
            assert!(has_form(text, form), "{text}");
            assert!(!has_form("She likes the blue one best", form), "{form:?}");
        }
        assert!(!has_form("She likes dogs.", AskedForm::Number));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,80}") {
            if let Some(form) = asked_form(&text) {
                let _ = has_form(&text, form);
            }
        }
    }
}
