//! What is said to be a password, a key or a token: a name, a sign and a value, such as `password: …`.
//!
//! Passwords may be short and are told from prose by digits and signs in them. Keys and tokens must look as if they were
//! made by chance, because much else is called so.

use std::ops::Range;

use super::chance::{distinct, is_noise, is_random, is_reference, is_stand_in};
use super::{Found, REDACTED};
use crate::vocabulary::SecretKind;

/// What a value is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Password,
    Key,
    /// The secret part of a key of AWS.
    Aws,
    /// What follows it without a sign, as in a header.
    Bearer,
}

/// How a value follows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By a sign: `:` or `=`.
    Sign,
    /// In a sentence: `is`.
    Prose,
    /// Between tags.
    Tag,
    /// By a blank.
    Blank,
}

/// Ends of names, in lower case and without `-`, `_` and blanks.
const NAMES: [(&str, Name); 31] = [
    ("secretaccesskey", Name::Aws),
    ("awssecretkey", Name::Aws),
    ("awssecret", Name::Aws),
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("passphrase", Name::Password),
    ("passcode", Name::Password),
    ("passwort", Name::Password),
    ("kennwort", Name::Password),
    ("contraseña", Name::Password),
    ("senha", Name::Password),
    ("pwd", Name::Password),
    ("dbpass", Name::Password),
    ("userpass", Name::Password),
    ("apikey", Name::Key),
    ("apisecret", Name::Key),
    ("secretkey", Name::Key),
    ("accesskey", Name::Key),
    ("privatekey", Name::Key),
    ("signingkey", Name::Key),
    ("encryptionkey", Name::Key),
    ("masterkey", Name::Key),
    ("accountkey", Name::Key),
    ("sharedkey", Name::Key),
    ("authkey", Name::Key),
    ("apitoken", Name::Key),
    ("token", Name::Key),
    ("secret", Name::Key),
    ("credential", Name::Key),
    ("credentials", Name::Key),
    ("bearer", Name::Bearer),
];

/// So much of a name is looked at, and so much of the word before.
const TAIL: usize = 40;
/// Longest value.
const LONGEST: usize = 256;
/// Fewest characters of a password.
const PASSWORD: usize = 6;
/// Fewest letters of a password that has neither digit nor sign.
const NOISE: usize = 10;
/// Fewest characters of a key.
const KEY: usize = 16;
/// Words of which a value has one where it tells how passwords are kept, in lower case.
const WAYS_TO_KEEP: [&str; 12] = [
    "sha1",
    "sha-",
    "sha2",
    "sha5",
    "md5",
    "bcrypt",
    "argon2",
    "scrypt",
    "pbkdf2",
    "base64",
    "utf-8",
    "1password",
];

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut before = 0..0;
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_name(bytes[at]) {
            at += 1;
        }
        let word = start..at;
        let joined =
            start.checked_sub(1) == Some(before.end) && bytes[before.end] == b' ' && !before.is_empty();
        if may_be_followed(bytes, &word)
            && let Some(name) = named(bytes, joined.then_some(&before), &word)
            && let Some(range) = value(text, &word, name)
        {
            let what = match name {
                Name::Password => SecretKind::Password,
                Name::Aws if range.len() == 40 => SecretKind::AwsSecretKey,
                _ => SecretKind::Credential,
            };
            at = range.end.max(at);
            found.push(Found { range, what });
        }
        before = word;
    }
}

/// Whether what stands after a word may say its value. Cheaper than to find out what the word names, and almost no word has
/// it. A word that tells what was redacted names nothing.
fn may_be_followed(bytes: &[u8], word: &Range<usize>) -> bool {
    let bare = || {
        let bearer = NAMES[NAMES.len() - 1].0.as_bytes();
        let from = word.end.saturating_sub(bearer.len()).max(word.start);
        bytes[word.start] == b'-' || bytes[from..word.end].eq_ignore_ascii_case(bearer)
    };
    let near = &bytes[word.end..bytes.len().min(word.end + 16)];
    let skipped = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'*' | b']' | b'\\' | b'\t');
    let at = near.iter().position(|byte| !skipped(byte)).unwrap_or(near.len());
    let follows = match near.get(at) {
        Some(b':' | b'=' | b'>') => true,
        // `is`, `ist`, `es`.
        Some(b'i' | b'e') => near.get(at + 1) == Some(&b's'),
        _ => false,
    };
    (follows || bare()) && !bytes[..word.start].ends_with(REDACTED.as_bytes())
}

/// The bytes that names and other words are made of.
const IN_NAMES: [bool; 256] = {
    let mut in_names = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        in_names[byte] = ascii.is_ascii_alphanumeric() || matches!(ascii, b'_' | b'-') || ascii >= 0x80;
        byte += 1;
    }
    in_names
};

fn is_name(byte: u8) -> bool {
    IN_NAMES[usize::from(byte)]
}

/// What a word names, with the one before it where only a blank is between them.
fn named(bytes: &[u8], before: Option<&Range<usize>>, word: &Range<usize>) -> Option<Name> {
    let (mut name, mut length) = ([0; 2 * TAIL], 0);
    for part in before.into_iter().chain([word]) {
        let tail = &bytes[part.end.saturating_sub(TAIL).max(part.start)..part.end];
        for byte in tail.iter().filter(|byte| !matches!(byte, b'_' | b'-')) {
            name[length] = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    let name = &name[..length];
    let is = |end: &str| name.last() == end.as_bytes().last() && name.ends_with(end.as_bytes());
    NAMES.iter().find(|(end, _)| is(end)).map(|(_, name)| *name)
}

/// Where the value stands that follows a name, where it looks like a secret.
fn value(text: &str, word: &Range<usize>, name: Name) -> Option<Range<usize>> {
    let (way, from) = sign(text.as_bytes(), word, name)?;
    let range = extent(text, word.start, way, from)?;
    let said = &text[range.clone()];
    let likely = match name {
        _ if said.starts_with(REDACTED.trim_end()) || is_reference(said) || is_stand_in(said) => false,
        Name::Password => is_password(said, way),
        Name::Key | Name::Aws | Name::Bearer => is_key(said),
    };
    likely.then_some(range)
}

/// How a value follows, and where.
fn sign(bytes: &[u8], word: &Range<usize>, name: Name) -> Option<(Way, usize)> {
    let skip = |from: usize, what: &[u8], most: usize| {
        from + bytes[from..].iter().take(most).take_while(|byte| what.contains(byte)).count()
    };
    let at = skip(word.end, b"\"'`*]\\", 4);
    if bytes.get(at) == Some(&b'>') && bytes[..word.start].ends_with(b"<") {
        return Some((Way::Tag, at + 1));
    }
    let blank = at;
    let at = skip(at, b" \t", 8);
    match bytes.get(at)? {
        b':' | b'=' => {
            let from = skip(at, b":=>", 2);
            // A comparison says nothing of what the value is.
            let compares = bytes[at..].starts_with(b"==") || bytes[at..].starts_with(b"::");
            (!compares).then(|| (Way::Sign, skip(skip(from, b"*", 2), b" \t", 8)))
        }
        _ if at == blank => None,
        _ if name == Name::Bearer || bytes[word.start..].starts_with(b"--") => Some((Way::Blank, at)),
        _ => ["is ", "ist ", "is: ", "es "]
            .iter()
            .find(|verb| bytes[at..].starts_with(verb.as_bytes()))
            .map(|verb| (Way::Prose, skip(at + verb.len(), b" \t", 4))),
    }
}

/// From where to where a value is.
fn extent(text: &str, name: usize, way: Way, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let quote = bytes.get(from).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let asked = name > 0 && matches!(bytes[name - 1], b'?' | b'&');
    let start = from + usize::from(quote.is_some());
    let ends = |byte: u8| match (quote, way) {
        (Some(quote), _) => byte == quote || byte == b'\n',
        (None, Way::Tag) => byte == b'<' || byte == b'\n',
        _ => byte.is_ascii_whitespace() || b"\"'`".contains(&byte) || (asked && byte == b'&'),
    };
    let length = bytes[start..].iter().take(LONGEST).take_while(|byte| !ends(**byte)).count();
    if length == LONGEST {
        return None;
    }
    let mut end = start + length;
    if quote.is_none() {
        let trailing = |byte: &u8| b".,;:)]}*\\".contains(byte);
        end -= bytes[start..end].iter().rev().take_while(|byte| trailing(byte)).count();
    }
    (end > start).then_some(start..end)
}

/// Whether a value can be a password, and not what is said about passwords.
fn is_password(value: &str, way: Way) -> bool {
    let core = value.trim_end_matches(['!', '?', '.', ',']);
    let (has_letter, has_digit) =
        (core.contains(char::is_alphabetic), core.contains(|c: char| c.is_ascii_digit()));
    let has_sign = core.contains(|c: char| "!@#$%^&*+?~".contains(c));
    let lower = core.to_ascii_lowercase();
    if value.chars().count() < PASSWORD || value.contains(' ') && !(has_digit && has_letter) {
        return false;
    }
    let spoken = WAYS_TO_KEEP.iter().any(|way| lower.contains(way)) || is_mail(core) || is_numbered(core);
    let mixed = has_letter && (has_digit || has_sign) || is_noise(core, NOISE);
    match way {
        _ if spoken || value.contains("://") => false,
        Way::Prose => mixed && (has_sign || !core.contains('-')) && !value.contains(' '),
        Way::Sign | Way::Tag | Way::Blank => {
            mixed || (core.bytes().all(|byte| byte.is_ascii_digit()) && distinct(core.as_bytes()) > 1)
        }
    }
}

/// Whether it is an address of mail.
fn is_mail(value: &str) -> bool {
    let Some((name, host)) = value.split_once('@') else { return false };
    let last = host.rsplit('.').next().unwrap_or_default();
    !name.is_empty() && host.contains('.') && last.len() >= 2 && last.chars().all(char::is_alphabetic)
}

/// Whether it is the number of an issue, a date, a time or a version.
fn is_numbered(value: &str) -> bool {
    let number = value.trim_start_matches(['#', 'v']);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let rest = number.bytes().filter(|byte| !byte.is_ascii_digit()).count();
    let marks = number.bytes().all(|byte| byte.is_ascii_digit() || b"-./:TZ".contains(&byte));
    digits > 0 && marks && (rest > 0 || number.len() < value.len())
}

/// Whether a value can be a key or a token.
fn is_key(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~:|".contains(&byte);
    value.len() >= KEY && value.bytes().all(allowed) && is_random(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|one| &text[one.range]).collect()
    }

    #[test]
    fn a_value_ends_where_it_ends() {
        for (text, value) in [
            ("password: Winter2031!", "Winter2031!"),
            ("password is jljENUhJduRH", "jljENUhJduRH"),
            ("\"db_password\": \"Winter 2031\", \"x\": 1", "Winter 2031"),
            ("the wifi password is sunflower42.", "sunflower42"),
            ("**Password:** `Tr0ub4dor&3`", "Tr0ub4dor&3"),
            ("mysql --password S3kret-42 -u root", "S3kret-42"),
            ("<password>Blau7Pferd</password>", "Blau7Pferd"),
            ("Das Passwort ist Blau7Pferd", "Blau7Pferd"),
            ("la contraseña es Azul7Caballo", "Azul7Caballo"),
            ("?token=a8Kd93jfLq02xmZ7&page=2", "a8Kd93jfLq02xmZ7"),
        ] {
            assert_eq!(values(text), [value], "{text}");
        }
    }

    #[test]
    fn what_is_said_about_passwords_is_none() {
        for text in [
            "password: required",
            "password: PostgreSQLOnly",
            "password: userDefinedByTheOwner",
            "the password is stored as SHA-256.",
            "password == \"Winter2031!\"",
            "password: std::env::var(\"PW1\")",
            "password: [redacted: password]",
            "the password is 12-character",
            "password: see #4521",
            "Password: 2031-01-01",
            "password_hash: 9f86d081884c7d659a2f",
            "token: 1024",
            "API key: none",
        ] {
            assert_eq!(values(text), Vec::<&str>::new(), "{text}");
        }
    }
}
