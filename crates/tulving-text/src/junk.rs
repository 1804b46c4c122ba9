//! Detects texts without content: only symbols, a greeting, one repeated word, random typing, or encoded data.
//!
//! The rules are pure and cautious: a text is junk only if it contains nothing except junk, so a short note is not
//! junk.

use crate::vocabulary::JunkKind;

/// Phrases without content, in lower case and without punctuation.
const PLEASANTRIES: [&str; 64] = [
    "ok",
    "okay",
    "okey",
    "k",
    "kk",
    "okie",
    "alright",
    "all right",
    "sure",
    "sure thing",
    "yes",
    "yep",
    "yeah",
    "yup",
    "no",
    "nope",
    "nah",
    "thanks",
    "thank you",
    "thank you very much",
    "thanks a lot",
    "many thanks",
    "thx",
    "ty",
    "cheers",
    "hi",
    "hello",
    "hey",
    "hi there",
    "hello there",
    "hey there",
    "hi all",
    "hello world",
    "good morning",
    "good evening",
    "good night",
    "good afternoon",
    "bye",
    "goodbye",
    "see you",
    "cool",
    "great",
    "nice",
    "awesome",
    "perfect",
    "lol",
    "haha",
    "hahaha",
    "got it",
    "sounds good",
    "no problem",
    "np",
    "you are welcome",
    "youre welcome",
    "welcome",
    "well done",
    "danke",
    "hallo",
    "merci",
    "salut",
    "gracias",
    "hola",
    "ok thanks",
    "ok thank you",
];
/// Texts that people type as a test.
const TRIES: [&str; 12] = [
    "test",
    "testing",
    "test test",
    "test 1",
    "test 123",
    "testing 123",
    "testing testing",
    "test message",
    "foo",
    "foo bar",
    "foobar",
    "lorem ipsum",
];
/// The rows of a keyboard.
const ROWS: [&str; 5] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop"];

/// Maximum length of a text that gets all checks, in bytes. A longer text is checked only for encoded data and
/// repetition.
const SHORT: usize = 400;
/// Minimum number of repetitions of a word that make a text junk.
const AGAIN: usize = 3;
/// Minimum number of repetitions of a character that make a text junk.
const LETTERS_AGAIN: usize = 4;
/// Minimum number of letters of a run along a keyboard row.
const KEYS: usize = 5;
/// Minimum number of letters of a word without vowels that counts as junk.
const UNSPEAKABLE: usize = 9;
/// Minimum number of letters of encoded data.
const BLOB: usize = 200;

/// Returns the kind of junk that a text is, or `None` if it has content.
pub fn kind(text: &str) -> Option<JunkKind> {
    let text = text.trim();
    if !text.contains(char::is_alphanumeric) {
        return Some(JunkKind::Marks);
    }
    if text.len() > SHORT {
        let repetition = || is_repeated(text).then_some(JunkKind::Repetition);
        return is_blob(text).then_some(JunkKind::Blob).or_else(repetition);
    }
    let words = words(text);
    let said = words.join(" ");
    if PLEASANTRIES.contains(&said.as_str()) {
        return Some(JunkKind::Pleasantry);
    }
    if is_repeated(text) {
        return Some(JunkKind::Repetition);
    }
    if TRIES.contains(&said.as_str()) || words.iter().all(|word| is_noise(word)) {
        return Some(JunkKind::Noise);
    }
    is_blob(text).then_some(JunkKind::Blob)
}

/// The words of a text in lower case, without apostrophes.
fn words(text: &str) -> Vec<String> {
    let apart = text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
    let bare = apart.map(|word| word.replace(['\'', '’'], "").to_lowercase());
    bare.filter(|word| !word.is_empty()).collect()
}

/// Returns true if a text is one letter or one word, repeated. Repeated digits do not count, because a number may have
/// a meaning: 1111 may be a year, a door or a code.
fn is_repeated(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphanumeric());
    let Some(first) = letters.next() else { return false };
    if first.is_alphabetic() && letters.clone().count() + 1 >= LETTERS_AGAIN && letters.all(|c| c == first) {
        return true;
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    first.contains(char::is_alphabetic)
        && words.clone().count() + 1 >= AGAIN
        && words.all(|word| word.eq_ignore_ascii_case(first))
}

/// Returns true if a word appears to be random typing.
fn is_noise(word: &str) -> bool {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    let keys = word.len() >= KEYS && word.as_bytes().windows(2).all(|pair| are_beside(pair[0], pair[1]));
    let unspeakable = word.len() >= UNSPEAKABLE && !word.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    keys || unspeakable || word == "asdf" || word == "qwer" || word == "zxcv"
}

fn are_beside(one: u8, other: u8) -> bool {
    let place = |row: &str, key: u8| row.bytes().position(|of| of == key);
    ROWS.iter().any(|row| match (place(row, one), place(row, other)) {
        (Some(one), Some(other)) => one.abs_diff(other) == 1,
        _ => false,
    })
}

/// Returns true if a text is one long piece of encoded data, possibly in several lines, without words around the data.
fn is_blob(text: &str) -> bool {
    let is_data = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-\n\r".contains(&byte);
    let body =
        text.strip_prefix("data:").and_then(|rest| rest.split_once(',')).map_or(text, |(_, body)| body);
    let long = body.len() >= BLOB && body.bytes().all(is_data);
    let lines = || body.lines().filter(|line| !line.is_empty());
    let first = lines().next().map_or(0, str::len);
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    // Encoders write lines of equal length except for the last line. Lines of words have different lengths.
    long && digits * 50 >= body.len() && lines().rev().skip(1).all(|line| line.len() == first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_says_nothing_is_told() {
        for (text, why) in [
            ("", JunkKind::Marks),
            ("  \n", JunkKind::Marks),
            ("?!… —", JunkKind::Marks),
            ("👍👍🏽", JunkKind::Marks),
            ("OK", JunkKind::Pleasantry),
            ("thanks!!", JunkKind::Pleasantry),
            ("Thank you :)", JunkKind::Pleasantry),
            ("You're welcome.", JunkKind::Pleasantry),
            ("aaaaaaaa", JunkKind::Repetition),
            ("test, test, test, TEST", JunkKind::Repetition),
            ("asdfghjkl", JunkKind::Noise),
            ("qwerty asdf", JunkKind::Noise),
            ("sdfkjhsdkfjhg", JunkKind::Noise),
            ("test 123", JunkKind::Noise),
        ] {
            assert_eq!(kind(text), Some(why), "{text}");
        }
        let data = "iVBORw0KGgoAAAANSUhEUgAA9".repeat(40);
        assert_eq!(kind(&data), Some(JunkKind::Blob));
        assert_eq!(kind(&format!("data:image/png;base64,{data}")), Some(JunkKind::Blob));
        let lines: Vec<&str> = (0..10).map(|line| &data[line * 76..(line + 1) * 76]).collect();
        assert_eq!(kind(&lines.join("\n")), Some(JunkKind::Blob));
        assert_eq!(kind(&"spam ".repeat(500)), Some(JunkKind::Repetition));
    }

    #[test]
    fn what_is_short_and_says_something_stays() {
        for text in [
            "Anna",
            "42",
            "1111",
            "no meat",
            "yes to oat milk",
            "thanks to Ana we have Postgres 16",
            "hello world program is in src/main.rs",
            "test the backup on Fridays",
            "TODO",
            "kubectl",
            "were",
            "nginx",
            "rhythm",
            "日本語",
            "はい、木曜日です",
            "https://example.org",
            "v1.2.3",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "sha256 of the image: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "bora bora",
            "work work balance",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
        let code = "pub const fn long_name() -> usize { 12 }\n".repeat(40);
        assert_eq!(kind(&code), None);
        let names: Vec<String> = (0..60).map(|n| format!("host-{n}-{}", "x".repeat(n % 5))).collect();
        assert_eq!(kind(&names.join("\n")), None, "a list of names");
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for piece in ["a", "a ", "\n", "a\n", "-", "é ", "0"] {
            let _ = kind(&piece.repeat(1_000_000 / piece.len()));
        }
    }

    #[test]
    fn data_below_many_empty_lines_takes_linear_time() {
        let data = format!("data:,{}{}", "\n".repeat(500_000), "a1\n".repeat(160_000));
        assert_eq!(kind(&data), Some(JunkKind::Blob));
    }

    proptest! {
        #[test]
        fn it_never_panics(text in "\\PC*|[a-z ]{0,40}|[0-9a-f\n]{0,300}") {
            let _ = kind(&text);
        }
    }
}
