//! Finds values that are labelled as a password, a key or a token: a name, a separator and a value, such as `password:
//! …`.
//!
//! Passwords may be short; digits and symbols distinguish them from prose. Keys and tokens must look random, because
//! their names have many other uses.

use std::ops::Range;

use super::names::{self, SecretNameKind};
use super::place::{
    IN_NAMES, LONGEST, OF, ValuePlacement, extent, is_alone, is_asked, is_dense, is_flag, is_mark, is_one,
    sign, skip, word_at,
};
use super::random_values::{is_reference, is_stand_in};
use super::value::{SIGNS, is_account, is_code, is_key, is_login, is_made, is_password, is_uuid};
use super::{REDACTED, SecretMatch};
use crate::vocabulary::SecretKind;

/// Minimum number of characters of a password, and of a password that is called a code.
const PASSWORD: usize = 6;
const CODE: usize = 4;
/// Minimum number of characters of a key or token that is separated from its name only by a space.
const BARE_KEY: usize = 20;
const BARE_TOKEN: usize = 32;
/// Minimum number of characters of a signature in an address.
const SIGNATURE: usize = 27;
/// Words that may follow a name if the value precedes the name.
const GOES_ON: [&str; 12] =
    ["now", "and", "until", "but", "here", "there", "again", "when", "if", "so", "or", "then"];
/// Maximum number of words between a value and the name after the value, as in `… is the new admin password`.
const BACK: usize = 5;
/// Maximum number of consecutive codes, and maximum number of pairs in a cookie.
const IN_A_ROW: usize = 24;
/// Words that precede the name of a user.
const USERS: [&str; 7] = ["login", "logon", "user", "username", "usr", "account", "benutzer"];
/// Words that may follow a word of [`USERS`] but are not user names.
const MODALS: [&str; 18] = [
    "can", "may", "must", "should", "could", "might", "will", "would", "shall", "to", "does", "did", "do",
    "not", "or", "tests", "test", "cannot",
];
/// Distance before a name in which a user name is searched, in bytes.
const USER: usize = 64;
/// Words before "pass" that show that it means a password and not a ticket.
const OWNERS: [&str; 19] = [
    "my", "our", "his", "her", "their", "wifi", "wi-fi", "root", "admin", "db", "login", "user", "vpn",
    "ssh", "mail", "email", "router", "guest", "server",
];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut before = 0..0;
    let mut at = 0;
    while at < bytes.len() {
        let gap = gap(bytes, at);
        if gap > 0 {
            at += gap;
            continue;
        }
        let word = at..word_end(bytes, at);
        at = word.end;
        // Almost no word can be the end of a name, and the label of a redacted secret is not a name.
        if names::may_end(bytes, &word) && !bytes[..word.start].ends_with(REDACTED.as_bytes()) {
            let joined = !before.is_empty() && word.start == before.end + 1 && bytes[before.end] == b' ';
            let before = joined.then_some(&before);
            if let Some(name) = names::of(bytes, before, &word) {
                if let Some(range) = earlier(text, &word, name) {
                    found.push(SecretMatch { what: kind(name, &range), range });
                }
                let values = match name {
                    SecretNameKind::Cookie => pairs(text, &word),
                    SecretNameKind::Wifi => network(text, &word).into_iter().collect(),
                    _ => value(text, before, &word, name).into_iter().collect(),
                };
                for range in values {
                    at = range.end.max(at);
                    found.push(SecretMatch { what: kind(name, &range), range });
                }
            }
        }
        before = word;
    }
}

fn kind(name: SecretNameKind, range: &Range<usize>) -> SecretKind {
    match name {
        SecretNameKind::Password
        | SecretNameKind::Code
        | SecretNameKind::Pass
        | SecretNameKind::Said
        | SecretNameKind::Recovery
        | SecretNameKind::Wifi => SecretKind::Password,
        SecretNameKind::Aws if range.len() == 40 => SecretKind::AwsSecretKey,
        _ => SecretKind::Credential,
    }
}

/// Returns the length of the separator at this position, in bytes: the length of one symbol, or 0. The text must have a
/// character at this position.
fn gap(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        byte if !IN_NAMES[usize::from(byte)] => 1,
        0xe2..=0xef if is_mark(bytes, at) => 3,
        _ => 0,
    }
}

/// Returns the end of a word. A letter of a language without spaces and a Latin letter are not part of the same word.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    let mut dense = false;
    loop {
        let ascii = |byte: &&u8| **byte < 0x80 && IN_NAMES[usize::from(**byte)];
        let length = bytes[end..].iter().take_while(ascii).count();
        if dense && length > 0 {
            return end;
        }
        end += length;
        match bytes.get(end) {
            Some(lead) if *lead >= 0x80 && !is_mark(bytes, end) => dense = is_dense(*lead),
            _ => return end,
        }
        end += 1 + bytes[end + 1..].iter().take_while(|byte| matches!(byte, 0x80..=0xbf)).count();
    }
}

/// Returns the range of the value after a name, if it looks like a secret.
fn value(
    text: &str,
    before: Option<&Range<usize>>,
    word: &Range<usize>,
    name: SecretNameKind,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (way, from) = sign(bytes, word, name)?;
    let range = extent(text, word, way, from)?;
    let said = &text[range.clone()];
    let asked = is_asked(bytes, word);
    let before = || before.map_or("", |before| &text[before.clone()]);
    let likely = match name {
        _ if said.starts_with(REDACTED.trim_end()) || is_reference(said) || is_stand_in(said) => false,
        SecretNameKind::Cursor | SecretNameKind::Cookie | SecretNameKind::Wifi => false,
        _ if way == ValuePlacement::Line => is_alone(bytes, &range) && is_made(said),
        SecretNameKind::Recovery => is_code(said),
        SecretNameKind::Pass if way == ValuePlacement::Blank && !is_flag(bytes, word) => {
            is_made(said) && follows_user(&text[..word.start])
        }
        SecretNameKind::Password | SecretNameKind::Code
            if way == ValuePlacement::Blank && !is_flag(bytes, word) =>
        {
            is_made(said)
        }
        SecretNameKind::Password | SecretNameKind::Said => is_password(said, way, PASSWORD),
        SecretNameKind::Code => is_password(said, way, CODE),
        SecretNameKind::Pass if way == ValuePlacement::Prose => {
            OWNERS.iter().any(|owner| before().eq_ignore_ascii_case(owner))
                && is_password(said, way, PASSWORD)
        }
        SecretNameKind::Pass => {
            let outcome = &bytes[word.clone()] == b"PASS" || said.contains(['_', '/']);
            let signed = said.contains(|c: char| SIGNS.contains(c));
            !names::is_ticket(before())
                && (signed || !outcome)
                && is_password(said, ValuePlacement::Prose, PASSWORD)
        }
        SecretNameKind::Login => {
            is_login(said) || &bytes[word.clone()] == b"_auth" && way == ValuePlacement::Sign && is_key(said)
        }
        SecretNameKind::Signature => asked && said.len() >= SIGNATURE && is_key(said),
        SecretNameKind::Token if is_uuid(said) || is_account(said) => false,
        SecretNameKind::Token | SecretNameKind::Key
            if way == ValuePlacement::Blank && !is_flag(bytes, word) =>
        {
            let header = authorizes(&bytes[..word.start]);
            let least = if name == SecretNameKind::Key { BARE_KEY } else { BARE_TOKEN };
            is_key(said) && (header || said.len() >= least) && !is_uuid(said)
        }
        SecretNameKind::Key | SecretNameKind::Token | SecretNameKind::Aws | SecretNameKind::Bearer => {
            is_key(said)
        }
    };
    likely.then(|| if name == SecretNameKind::Recovery { codes(text, range) } else { range })
}

/// Returns true if a user name directly precedes this position on the same line: `login ana pass …`. In `the user can
/// pass …`, `can` is not a user name.
fn follows_user(before: &str) -> bool {
    let from = before.bytes().rev().take(USER).take_while(|byte| *byte != b'\n').count();
    let Some(near) = before.get(before.len() - from..) else { return false };
    let mut words = near.rsplit([' ', '\t', ',', ';', '/', ':', '=', '(']).filter(|word| !word.is_empty());
    let mut user = words.next();
    if user == Some("and") {
        user = words.next();
    }
    let (Some(user), Some(named)) = (user, words.next()) else { return false };
    is_one(&USERS, named.as_bytes()) && !is_one(&MODALS, user.as_bytes())
}

/// Returns the range of a value that precedes its name in a sentence: `use … as the password`, `… is the admin
/// password`.
fn earlier(text: &str, word: &Range<usize>, name: SecretNameKind) -> Option<Range<usize>> {
    if !matches!(name, SecretNameKind::Password | SecretNameKind::Code | SecretNameKind::Key)
        || !ends_there(text.as_bytes(), word.end)
    {
        return None;
    }
    let mut at = word.start;
    for _ in 0..BACK {
        let bytes = &text.as_bytes()[..at.checked_sub(1).filter(|gap| text.as_bytes()[*gap] == b' ')?];
        let length = bytes.iter().rev().take(32).take_while(|byte| IN_NAMES[usize::from(**byte)]).count();
        at = bytes.len() - length;
        if is_one(&["as", "is"], &bytes[at..]) {
            return before_verb(text, at, name);
        }
    }
    None
}

/// Returns the range of the value that ends before this position, if the value looks like a secret.
fn before_verb(text: &str, at: usize, name: SecretNameKind) -> Option<Range<usize>> {
    let bytes = text[..at].strip_suffix(' ')?.as_bytes();
    let solid = bytes.iter().rev().take(LONGEST).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let whole = text.get(bytes.len() - solid..bytes.len()).filter(|_| solid < LONGEST)?;
    let is_edge = |c: char| "\"'`*(,“”‘’".contains(c);
    let said = whole.trim_matches(is_edge);
    let start = bytes.len() - whole.trim_start_matches(is_edge).len();
    let likely = match name {
        _ if is_reference(said) || is_stand_in(said) => false,
        SecretNameKind::Key => said.len() >= BARE_KEY && is_key(said) && !is_uuid(said),
        _ => is_made(said),
    };
    likely.then(|| start..start + said.len())
}

/// Returns false if the next word makes the name an attribute: `password policy` names a policy.
fn ends_there(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end..) {
        Some([b' ', next, ..]) if IN_NAMES[usize::from(*next)] => {
            let next = word_at(bytes, end + 1);
            is_one(&OF, next) || is_one(&GOES_ON, next)
        }
        Some([b'\'' | b'/' | b'(' | b'.', next, ..]) => !IN_NAMES[usize::from(*next)],
        _ => true,
    }
}

/// Returns the values of a cookie that look random.
fn pairs(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let Some((ValuePlacement::Sign, from)) = sign(bytes, word, SecretNameKind::Cookie) else {
        return Vec::new();
    };
    let mut at = skip(bytes, from, b"\"'`", 1);
    let mut values = Vec::new();
    for _ in 0..IN_A_ROW {
        let in_name = |byte: &&u8| IN_NAMES[usize::from(**byte)] || b".:%".contains(byte);
        let name = bytes[at..].iter().take(64).take_while(in_name).count();
        let start = at + name + 1;
        if name == 0 || bytes.get(at + name) != Some(&b'=') {
            break;
        }
        let in_value = |byte: &&u8| byte.is_ascii_graphic() && !b";,\"'`".contains(byte);
        let mut end = start + bytes[start..].iter().take(LONGEST).take_while(in_value).count();
        let said = &text[start..end];
        if is_key(said) && !is_reference(said) {
            end += bytes[end..].iter().take_while(in_value).count();
            values.push(start..end);
        }
        if bytes.get(end) != Some(&b';') {
            break;
        }
        at = skip(bytes, end + 1, b" ", 2);
    }
    values
}

/// Returns the password in a Wi-Fi code, in the format that phones read.
fn network(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let fields = bytes.get(word.end..).filter(|rest| rest.first() == Some(&b':'))?;
    if !bytes[word.clone()].eq_ignore_ascii_case(b"wifi") || fields.get(2) != Some(&b':') {
        return None;
    }
    let line = fields.iter().take(LONGEST).take_while(|byte| **byte != b'\n').count();
    let head = fields[..line].windows(3).position(|part| matches!(part, [b':' | b';', b'P', b':']))?;
    let start = word.end + head + 3;
    let mut end = start;
    while bytes.get(end).is_some_and(|byte| !matches!(byte, b';' | b'\n')) && end < start + LONGEST {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let said = text.get(start..end)?;
    let likely =
        !is_reference(said) && !is_stand_in(said) && is_password(said, ValuePlacement::Sign, PASSWORD);
    likely.then_some(start..end)
}

/// Extends the range of a code by the codes that follow it.
fn codes(text: &str, first: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let mut end = first.end;
    for _ in 0..IN_A_ROW {
        let start = skip(bytes, end, b" ,;\n\r\t*", 8);
        let length = bytes[start..]
            .iter()
            .take(64)
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
            .count();
        if start == end || !is_code(&text[start..start + length]) {
            break;
        }
        end = start + length;
    }
    first.start..end
}

/// Returns true if the text before a value is an authorization header.
fn authorizes(before: &[u8]) -> bool {
    const HEADER: &[u8] = b"authorization";
    let marks = before.iter().rev().take(6).take_while(|byte| b":\"'= ".contains(byte)).count();
    let near = &before[..before.len() - marks];
    near.len() >= HEADER.len() && near[near.len() - HEADER.len()..].eq_ignore_ascii_case(HEADER)
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
            ("new password dStC9hkuC7%, from today", "dStC9hkuC7%"),
            ("use `dStC9hkuC7%` as the password", "dStC9hkuC7%"),
            ("(dStC9hkuC7% is the admin password)", "dStC9hkuC7%"),
            ("The password's dStC9hkuC7%.", "dStC9hkuC7%"),
            ("the password’s been changed to dStC9hkuC7%", "dStC9hkuC7%"),
            ("password [prod] dStC9hkuC7%", "dStC9hkuC7%"),
            ("password: |-\n  dStC9hkuC7%\nuser: ana", "dStC9hkuC7%"),
            ("WIFI:S:x;T:WPA;P:dS\\;C9hku;;", "dS\\;C9hku"),
            ("recovery codes: a1b2c-3d4e5, f6a7b-8c9d0\n- then log in", "a1b2c-3d4e5, f6a7b-8c9d0"),
            ("login ana pass Xk29!fqp, from today", "Xk29!fqp"),
            ("login ana pwd Xk29!fqp", "Xk29!fqp"),
            ("user ana@db.internal and pass `Xk29!fqp`", "Xk29!fqp"),
            ("The **password:**\n`Xk29!fqp`\nis new", "Xk29!fqp"),
            ("Password for the vpn:\r\n\tXk29!fqp.\r\n", "Xk29!fqp"),
            ("Cookie: theme=dark; sid=a8Kd93jfLq02xmZ7; lang=en", "a8Kd93jfLq02xmZ7"),
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
            "the user can pass Xk29!fqp",
            "they pass Xk29!fqp",
            "login ana\npass Xk29!fqp",
            "login ana pass sunflower42",
            "password:\nsunflower42",
            "password:\n\nXk29!fqp",
            "password:\nXk29!fqp is what it was",
            "DB_PASSWORD=\nOTHER=Xk29!fqp",
            "token:\nXk29!fqp",
        ] {
            assert_eq!(values(text), Vec::<&str>::new(), "{text}");
        }
    }
}
