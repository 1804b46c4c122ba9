//! Finds secrets in a text: keys and tokens of known forms, private keys, recovery phrases, passwords in addresses,
//! card numbers, and values that are labelled as a password or a key.
//!
//! The functions are pure, and linear in the length of any text. A random value counts only if it has a known form or
//! is near a word for a secret, so hashes, ids, checksums and encoded data are not redacted.

mod address;
mod block;
mod card;
mod forms;
mod mnemonic;
mod named;
mod names;
mod place;
mod random_values;
mod shell;
mod table;
mod token;
mod triples;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use crate::vocabulary::SecretKind;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    /// The range of the secret, in bytes. Both ends are on character boundaries.
    pub range: Range<usize>,
    /// The kind of the secret.
    pub what: SecretKind,
}

/// Finds the secrets in a text, in order and without overlap.
pub fn find(text: &str) -> Vec<SecretMatch> {
    let mut found = Vec::new();
    token::find(text, &mut found);
    block::find(text, &mut found);
    address::find(text, &mut found);
    card::find(text, &mut found);
    named::find(text, &mut found);
    shell::find(text, &mut found);
    table::find(text, &mut found);
    mnemonic::find(text, &mut found);
    apart(found)
}

/// Replaces each secret in a text with its kind, such as `[redacted: password]`. A second redaction changes nothing.
pub fn redacted(text: &str) -> Cow<'_, str> {
    redact(text, &mut |_| ())
}

/// Redacts a text, and calls `note` for each secret.
pub fn redact<'a>(text: &'a str, note: &mut dyn FnMut(SecretKind)) -> Cow<'a, str> {
    replaced(text, false, note)
}

/// Redacts a text and preserves its number of lines, so that text after a secret stays on the same line.
pub fn redact_in_lines(text: &str) -> Cow<'_, str> {
    replaced(text, true, &mut |_| ())
}

fn replaced<'a>(text: &'a str, lines: bool, note: &mut dyn FnMut(SecretKind)) -> Cow<'a, str> {
    let mut safe = Cow::Borrowed(text);
    // After a replacement, the text may contain a new match. One round is enough for almost every text with secrets.
    for _ in 0..ROUNDS {
        let found = find(&safe);
        if found.is_empty() {
            break;
        }
        found.iter().for_each(|one| note(one.what));
        safe = Cow::Owned(put(&safe, &found, lines));
    }
    safe
}

/// Replaces the given secrets with their kinds.
fn put(text: &str, found: &[SecretMatch], lines: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    for SecretMatch { range, what } in found {
        safe.push_str(&text[at..range.start]);
        safe.push_str(REDACTED);
        safe.push_str(what.as_str());
        safe.push(']');
        if lines {
            safe.extend(text[range.clone()].bytes().filter(|byte| *byte == b'\n').map(char::from));
        }
        at = range.end;
    }
    safe.push_str(&text[at..]);
    safe
}

/// The prefix of the mark that replaces a secret.
pub const REDACTED: &str = "[redacted: ";
/// Maximum number of rounds of a redaction.
const ROUNDS: usize = 8;

/// Sorts the matches and merges overlapping matches. The more specific kind has priority: a known form before a label.
fn apart(mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    found.sort_by_key(|one| one.range.start);
    let mut apart: Vec<SecretMatch> = Vec::with_capacity(found.len());
    for one in found {
        match apart.last_mut().filter(|last| one.range.start < last.range.end) {
            None => apart.push(one),
            Some(last) => {
                last.range.end = last.range.end.max(one.range.end);
                last.what = last.what.min(one.what);
            }
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes a random-looking value that is not in use. The value is built from parts, so that secret scanners of
    /// repositories do not report it as a key.
    fn made_up(length: usize) -> String {
        "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3Jp5Gc0".chars().cycle().take(length).collect()
    }

    #[test]
    fn a_secret_is_found_where_it_stands() {
        let token = format!("gh{}_{}", "p", made_up(36));
        let text = format!("the token of CI is {token}, café");
        let found = find(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].range.clone()], token);
        assert_eq!(redacted(&text), "the token of CI is [redacted: github_token], café");
        assert_eq!(redacted("nothing here"), "nothing here");
    }

    #[test]
    fn what_overlaps_is_one_of_the_kind_that_says_more() {
        let token = format!("gl{}-{}", "pat", made_up(20));
        let text = format!("password={token} and https://ci:{token}@example.org/repo");
        let kinds: Vec<_> = find(&text).into_iter().map(|one| one.what).collect();
        assert_eq!(kinds, [SecretKind::GitlabToken, SecretKind::GitlabToken]);
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        const BYTES: usize = 300_000;
        for piece in [
            "a",
            "-",
            "sk-",
            "eyJ-",
            "eyJa.",
            "4 ",
            "4111-",
            "://",
            "http://a:",
            "http://a:b",
            "password:",
            "password='",
            "token is ",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ",
            "AKIA",
            "é",
            "\u{200b}",
            "\"key\": ",
            "api key ",
            "--secret ",
            " -p",
            " -pAb1c",
            "password for ",
            "http://a:b#",
            "password's ",
            "aB3dE6gH is the password ",
            "password [",
            "password: |\n",
            "Cookie: a=b; ",
            "cookie=a=",
            "WIFI:S:;P:",
            "recovery code: 12345678 ",
            "login a pass ",
            "password:\n",
            "|password|\n|-|\n",
            "password|",
            "abandon ",
            "legal winner thank year wave sausage worth useful ",
            "seed phrase ",
            "password is a-b-",
        ] {
            let text = piece.repeat(BYTES / piece.len());
            let found = find(&text);
            assert!(found.iter().all(|one| text.is_char_boundary(one.range.end)), "{piece}");
        }
        // The limit of the test allows linear time: a text of ten times the length takes ten times as long.
        let long = "sk-eyJa.4 password: http://a:b -----BEGIN PRIVATE KEY-----".repeat(10 * BYTES / 58);
        let _ = find(&long);
    }

    proptest! {
        #[test]
        fn ranges_are_in_order_and_between_characters(
            pieces in prop::collection::vec("password|[:=\"' ]|é|ß\u{301}|https://|a:b@|eyJhbGciOi|\\.|sk-|[a-zA-Z0-9]{1,30}|\\PC|\n|4111 1111|-----BEGIN RSA PRIVATE KEY-----", 0..30),
        ) {
            let text = pieces.concat();
            let mut end = 0;
            for one in find(&text) {
                prop_assert!(one.range.start >= end && one.range.start < one.range.end);
                prop_assert!(text.get(one.range.clone()).is_some());
                end = one.range.end;
            }
            let safe = redacted(&text).into_owned();
            prop_assert_eq!(redacted(&safe), safe.as_str(), "{}", text);
            prop_assert!(safe.len() <= 4 * text.len(), "{} {}", safe.len(), text.len());
            let lined = redact_in_lines(&text);
            prop_assert_eq!(lined.matches('\n').count(), text.matches('\n').count());
        }

        #[test]
        fn whatever_is_in_a_text_redaction_ends(text in "\\PC{0,60}|[\\x00-\\x7f]{0,200}") {
            let safe = redacted(&text).into_owned();
            prop_assert_eq!(redacted(&safe), safe.as_str());
        }

        #[test]
        fn what_is_named_twice_is_redacted_once_and_for_all(
            pieces in prop::collection::vec(
                "(password|card|token|my secret|api_key|pwd|bearer|cookie|recovery code)(: |=| is |\\] is | |'s | \\[x\\] |: \\|\n)| (is|as) the |a=|dStC9hkuC7%|48210593|Winter2031!|4539 1488 0343 6467|5312345678901234|a8Kd93jfLq02xmZ7b5|\\[redacted: password\\]|\"|\\.| ",
                0..14,
            ),
        ) {
            let text = pieces.concat();
            let safe = redacted(&text).into_owned();
            prop_assert_eq!(find(&safe), Vec::new(), "{}", text);
        }
    }
}
