//! What is said to be a password, a key or a token: a name, a sign and a value, such as `password: …`.
//!
//! Passwords may be short and are told from prose by digits and signs in them. Keys and tokens must look as if they were
//! made by chance, because much else is called so.

use std::ops::Range;

use super::chance::{distinct, is_mixed, is_noise, is_random, is_reference, is_stand_in, turns};
use super::names::{self, Name};
use super::{Found, REDACTED};
use crate::vocabulary::SecretKind;

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

/// Longest value.
const LONGEST: usize = 256;
/// Fewest characters of a password, and of one that is called a code.
const PASSWORD: usize = 6;
const CODE: usize = 4;
/// Fewest letters of a password that has neither digit nor sign.
const NOISE: usize = 10;
/// Fewest characters of a key, and of one that follows its name with nothing but a blank between them.
const KEY: usize = 16;
const BARE_KEY: usize = 20;
const BARE_TOKEN: usize = 32;
/// Fewest characters of a signature in an address.
const SIGNATURE: usize = 27;
/// Most words between a name and its sign, as in `password for the vpn: …`.
const BETWEEN: usize = 7;
/// Signs that passwords have, and prose has not within a word.
const SIGNS: &str = "!@#$%^&*+?~";
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
/// Rules that the value of a form has to keep.
const RULES: [&str; 17] = [
    "required",
    "nullable",
    "optional",
    "sometimes",
    "string",
    "confirmed",
    "min",
    "max",
    "between",
    "size",
    "len",
    "regex",
    "omitempty",
    "gte",
    "lte",
    "alphanum",
    "eqfield",
];
/// Words that may follow a name whose value stood before it.
const GOES_ON: [&str; 12] =
    ["now", "and", "until", "but", "here", "there", "again", "when", "if", "so", "or", "then"];
/// Most words between a value and its name after it, as in `… is the new admin password`.
const BACK: usize = 5;
/// Most codes in a row, and most pairs in a cookie.
const IN_A_ROW: usize = 24;
/// Words by which a sentence says what something is.
const VERBS: [&str; 16] = [
    "is", "ist", "es", "est", "è", "é", "är", "er", "jest", "это", "lautet", "was", "has", "wurde", "será",
    "era",
];
/// Words that may stand after those.
const FILLERS: [&str; 14] = [
    "now",
    "still",
    "currently",
    "actually",
    "just",
    "simply",
    "set",
    "changed",
    "reset",
    "been",
    "to",
    "jetzt",
    "ahora",
    "maintenant",
];
/// Words that say what a name is the name of.
const OF: [&str; 32] = [
    "for", "of", "to", "on", "at", "in", "from", "für", "fürs", "von", "vom", "zum", "zur", "beim", "der",
    "des", "del", "de", "da", "do", "para", "du", "pour", "per", "di", "van", "voor", "från", "för", "от",
    "для", "к",
];
/// Whose a pass is that is no ticket.
const OWNERS: [&str; 19] = [
    "my", "our", "his", "her", "their", "wifi", "wi-fi", "root", "admin", "db", "login", "user", "vpn",
    "ssh", "mail", "email", "router", "guest", "server",
];

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
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
        // Almost no word may be a name, and what tells what was redacted names nothing.
        if names::may_end(bytes, &word) && !bytes[..word.start].ends_with(REDACTED.as_bytes()) {
            let joined = !before.is_empty() && word.start == before.end + 1 && bytes[before.end] == b' ';
            let before = joined.then_some(&before);
            if let Some(name) = names::of(bytes, before, &word) {
                if let Some(range) = earlier(text, &word, name) {
                    found.push(Found { what: kind(name, &range), range });
                }
                let values = match name {
                    Name::Cookie => pairs(text, &word),
                    Name::Wifi => network(text, &word).into_iter().collect(),
                    _ => value(text, before, &word, name).into_iter().collect(),
                };
                for range in values {
                    at = range.end.max(at);
                    found.push(Found { what: kind(name, &range), range });
                }
            }
        }
        before = word;
    }
}

fn kind(name: Name, range: &Range<usize>) -> SecretKind {
    match name {
        Name::Password | Name::Code | Name::Pass | Name::Said | Name::Recovery | Name::Wifi => {
            SecretKind::Password
        }
        Name::Aws if range.len() == 40 => SecretKind::AwsSecretKey,
        _ => SecretKind::Credential,
    }
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

/// How many bytes of what stands here are no part of a word: one sign, or none. The text must have a character here.
fn gap(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        byte if !IN_NAMES[usize::from(byte)] => 1,
        0xe2..=0xef if is_mark(bytes, at) => 3,
        _ => 0,
    }
}

/// Whether a mark of three bytes stands here: a dash, a quote, an arrow, or one of those that Chinese and Japanese use.
fn is_mark(bytes: &[u8], at: usize) -> bool {
    match (bytes[at], bytes.get(at + 1), bytes.get(at + 2)) {
        (0xe2, Some(0x80 | 0x86 | 0x87), _) | (0xe3, Some(0x80), _) => true,
        (0xef, Some(0xbc), Some(last)) => matches!(last, 0x81..=0x8f | 0x9a..=0xa0),
        _ => false,
    }
}

/// Where a word ends. Letters of languages without blanks and Latin ones make no word together.
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

/// Whether a letter that begins with this byte is of a language without blanks.
fn is_dense(lead: u8) -> bool {
    matches!(lead, 0xe3..=0xed)
}

/// Where the value stands that follows a name, where it looks like a secret.
fn value(text: &str, before: Option<&Range<usize>>, word: &Range<usize>, name: Name) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (way, from) = sign(bytes, word, name)?;
    let range = extent(text, word, way, from)?;
    let said = &text[range.clone()];
    let asked = is_asked(bytes, word);
    let before = || before.map_or("", |before| &text[before.clone()]);
    let likely = match name {
        _ if said.starts_with(REDACTED.trim_end()) || is_reference(said) || is_stand_in(said) => false,
        Name::Cursor | Name::Cookie | Name::Wifi => false,
        Name::Recovery => is_code(said),
        Name::Password | Name::Code if way == Way::Blank && !is_flag(bytes, word) => is_made(said),
        Name::Password | Name::Said => is_password(said, way, PASSWORD),
        Name::Code => is_password(said, way, CODE),
        Name::Pass if way == Way::Prose => {
            OWNERS.iter().any(|owner| before().eq_ignore_ascii_case(owner))
                && is_password(said, way, PASSWORD)
        }
        Name::Pass => {
            let outcome = &bytes[word.clone()] == b"PASS" || said.contains(['_', '/']);
            let signed = said.contains(|c: char| SIGNS.contains(c));
            !names::is_ticket(before()) && (signed || !outcome) && is_password(said, Way::Prose, PASSWORD)
        }
        Name::Login => is_login(said) || &bytes[word.clone()] == b"_auth" && way == Way::Sign && is_key(said),
        Name::Signature => asked && said.len() >= SIGNATURE && is_key(said),
        Name::Token if is_uuid(said) || is_account(said) => false,
        Name::Token | Name::Key if way == Way::Blank && !is_flag(bytes, word) => {
            let header = authorizes(&bytes[..word.start]);
            let least = if name == Name::Key { BARE_KEY } else { BARE_TOKEN };
            is_key(said) && (header || said.len() >= least) && !is_uuid(said)
        }
        Name::Key | Name::Token | Name::Aws | Name::Bearer => is_key(said),
    };
    likely.then(|| if name == Name::Recovery { codes(text, range) } else { range })
}

/// Where the value stands that a sentence says before its name: `use … as the password`, `… is the admin password`.
fn earlier(text: &str, word: &Range<usize>, name: Name) -> Option<Range<usize>> {
    if !matches!(name, Name::Password | Name::Code | Name::Key) || !ends_there(text.as_bytes(), word.end) {
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

/// The value that ends before this place, where it looks like a secret.
fn before_verb(text: &str, at: usize, name: Name) -> Option<Range<usize>> {
    let bytes = text[..at].strip_suffix(' ')?.as_bytes();
    let solid = bytes.iter().rev().take(LONGEST).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let whole = text.get(bytes.len() - solid..bytes.len()).filter(|_| solid < LONGEST)?;
    let is_edge = |c: char| "\"'`*(,“”‘’".contains(c);
    let said = whole.trim_matches(is_edge);
    let start = bytes.len() - whole.trim_start_matches(is_edge).len();
    let likely = match name {
        _ if is_reference(said) || is_stand_in(said) => false,
        Name::Key => said.len() >= BARE_KEY && is_key(said) && !is_uuid(said),
        _ => is_made(said),
    };
    likely.then(|| start..start + said.len())
}

/// Whether a name is the last of what it is a part of: `password policy` names a policy.
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

/// The values of a cookie that look as if they were made by chance.
fn pairs(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let Some((Way::Sign, from)) = sign(bytes, word, Name::Cookie) else { return Vec::new() };
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

/// The password of a network, as phones read it.
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
    let likely = !is_reference(said) && !is_stand_in(said) && is_password(said, Way::Sign, PASSWORD);
    likely.then_some(start..end)
}

/// A code and those that follow it.
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

fn skip(bytes: &[u8], from: usize, what: &[u8], most: usize) -> usize {
    from + bytes[from..].iter().take(most).take_while(|byte| what.contains(byte)).count()
}

/// Whether a word is a flag of a command.
fn is_flag(bytes: &[u8], word: &Range<usize>) -> bool {
    bytes[word.start..].starts_with(b"--")
}

/// Whether a name is in the question of an address.
fn is_asked(bytes: &[u8], word: &Range<usize>) -> bool {
    word.start > 0 && matches!(bytes[word.start - 1], b'?' | b'&')
}

/// Whether what stands before says that a value gives access.
fn authorizes(before: &[u8]) -> bool {
    const HEADER: &[u8] = b"authorization";
    let marks = before.iter().rev().take(6).take_while(|byte| b":\"'= ".contains(byte)).count();
    let near = &before[..before.len() - marks];
    near.len() >= HEADER.len() && near[near.len() - HEADER.len()..].eq_ignore_ascii_case(HEADER)
}

/// How a value follows, and where.
fn sign(bytes: &[u8], word: &Range<usize>, name: Name) -> Option<(Way, usize)> {
    if let Some(found) = owned(bytes, word.end) {
        return Some(found);
    }
    let end = skip(bytes, word.end, b"\"'`*]\\", 4);
    if bytes.get(end) == Some(&b'>') && bytes[..word.start].ends_with(b"<") {
        return Some((Way::Tag, end + 1));
    }
    let at = skip(bytes, end, b" \t", 8);
    if let Some(found) = mark(bytes, at, at > end) {
        return Some(found);
    }
    if name == Name::Said {
        return Some((Way::Prose, at));
    }
    if at == end || at == bytes.len() {
        return None;
    }
    if matches!(name, Name::Bearer | Name::Login) || is_flag(bytes, word) {
        return Some((Way::Blank, at));
    }
    verb(bytes, at).or_else(|| beyond(bytes, at)).or_else(|| {
        let bare = matches!(name, Name::Key | Name::Token | Name::Password | Name::Code);
        bare.then(|| (Way::Blank, past_remark(bytes, at)))
    })
}

/// Where a value is that follows a name and a short `is`: `the password's …`.
fn owned(bytes: &[u8], end: usize) -> Option<(Way, usize)> {
    let verb = match &bytes[end..] {
        [b'\'', b's', b' ', ..] => 2,
        [0xe2, 0x80, 0x99, b's', b' ', ..] => 4,
        _ => return None,
    };
    Some((Way::Blank, filled(bytes, end + verb)?))
}

/// Where the rest goes on after a short remark: `[prod] …`, `to …`. A value may be in brackets itself.
fn past_remark(bytes: &[u8], at: usize) -> usize {
    if word_at(bytes, at).eq_ignore_ascii_case(b"to") {
        return skip(bytes, at + 2, b" ", 4);
    }
    let close = match bytes[at] {
        b'[' if !bytes[at..].starts_with(REDACTED.as_bytes()) => b']',
        b'(' => b')',
        _ => return at,
    };
    let end = bytes[at..].iter().take(32).position(|byte| *byte == close || *byte == b'\n');
    match end.map(|length| at + length) {
        Some(end) if std::str::from_utf8(&bytes[at + 1..end]).is_ok_and(is_mixed) => at + 1,
        Some(end) if bytes[end] == close && bytes.get(end + 1) == Some(&b' ') => {
            skip(bytes, end + 1, b" ", 4)
        }
        _ => at,
    }
}

/// Where a value is that stands in lines of its own, as in YAML: `password: |`.
fn in_block(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'|' | b'>')) {
        return at;
    }
    let line = skip(bytes, skip(bytes, at + 1, b"-+", 1), b" \r", 4);
    if bytes.get(line) == Some(&b'\n') { skip(bytes, line + 1, b" \t", 40) } else { at }
}

/// A sign that a value follows, and where the value is. A dash counts only after a blank.
fn mark(bytes: &[u8], at: usize, apart: bool) -> Option<(Way, usize)> {
    let rest = &bytes[at.min(bytes.len())..];
    let after = |way: Way, length: usize| {
        let from = skip(bytes, at + length, b"*", 2);
        let from = skip(bytes, from, b" \t", 8);
        Some((way, if way == Way::Sign { in_block(bytes, from) } else { from }))
    };
    match rest {
        // A comparison says nothing of what the value is.
        [b'=', b'=', ..] | [b':', b':', ..] => None,
        [b':' | b'=', ..] => after(Way::Sign, skip(rest, 0, b":=>", 2)),
        [b'-', b'>', ..] | [b'-', b'-', b'>', ..] => after(Way::Prose, skip(rest, 0, b"->", 3)),
        [b'-', b' ', ..] if apart => after(Way::Prose, 1),
        // `：`, `＝`, and arrows and dashes.
        [0xef, 0xbc, 0x9a | 0x9d, ..] => after(Way::Sign, 3),
        [0xe2, 0x86, 0x92, ..] | [0xe2, 0x87, 0x92, ..] => after(Way::Prose, 3),
        [0xe2, 0x80, 0x93 | 0x94, b' ', ..] if apart => after(Way::Prose, 3),
        _ => None,
    }
}

/// The word that begins here.
fn word_at(bytes: &[u8], at: usize) -> &[u8] {
    let length = bytes[at..].iter().take(32).take_while(|byte| IN_NAMES[usize::from(**byte)]).count();
    &bytes[at..at + length]
}

fn is_one(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Where a value is that a sentence says, from its verb on.
fn verb(bytes: &[u8], at: usize) -> Option<(Way, usize)> {
    let word = word_at(bytes, at);
    if !is_one(&VERBS, word) {
        return None;
    }
    Some((Way::Prose, filled(bytes, at + word.len())?))
}

/// Where a value is after a verb, and after the words that may stand between them.
fn filled(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at;
    for _ in 0..4 {
        let colon = skip(bytes, from, b":", 1);
        let next = skip(bytes, colon, b" \t", 4);
        if next == colon || next == bytes.len() {
            return None;
        }
        from = next;
        let filler = word_at(bytes, next);
        if !is_one(&FILLERS, filler) {
            break;
        }
        from += filler.len();
    }
    Some(from)
}

/// Where a value is whose name says first what it is for: `password for the vpn: …`.
fn beyond(bytes: &[u8], at: usize) -> Option<(Way, usize)> {
    let mut at = at;
    if !is_one(&OF, word_at(bytes, at)) && !matches!(bytes[at], b'(' | b'[') {
        return None;
    }
    for place in 0..BETWEEN {
        at = skip(bytes, at, b"\"'`*([", 2);
        let in_word = |byte: &u8| IN_NAMES[usize::from(*byte)] || b".'/@#&+".contains(byte);
        let end = at + bytes[at..].iter().take(64).take_while(|byte| in_word(byte)).count();
        if end == at || bytes[end - 1] == b'.' {
            return None;
        }
        let close = skip(bytes, end, b"\"'`*)]", 3);
        let next = skip(bytes, close, b" \t", 4);
        if let Some(found) = mark(bytes, next, next > close) {
            return Some(found);
        }
        if next == close || next == bytes.len() {
            return None;
        }
        if place > 0
            && let Some(found) = verb(bytes, next)
        {
            return Some(found);
        }
        at = next;
    }
    None
}

/// From where to where a value is.
fn extent(text: &str, word: &Range<usize>, way: Way, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(from..)?;
    let quoted = |start: usize, end: Option<usize>| end.filter(|end| *end > start).map(|end| start..end);
    match rest {
        [quote @ (b'"' | b'\'' | b'`'), ..] => {
            return quoted(from + 1, closing(bytes, from + 1, *quote));
        }
        [b'\\', quote @ (b'"' | b'\''), ..] => {
            return quoted(from + 2, escaped_closing(bytes, from + 2, *quote));
        }
        _ => {}
    }
    // An opening quote of three bytes.
    let start = if matches!(rest, [0xe2, 0x80, 0x98..=0x9f, ..] | [0xe3, 0x80, 0x8c..=0x8f, ..]) {
        from + 3
    } else {
        from
    };
    let asked = is_asked(bytes, word);
    let dense = bytes[word.clone()].iter().any(|byte| is_dense(*byte));
    let ends = |at: usize| match (bytes[at], way) {
        (byte, Way::Tag) => byte == b'<' || byte == b'\n',
        (b';', _) => is_setting(&bytes[at + 1..]),
        (b'&', _) => asked,
        (byte @ 0xe2.., _) => is_mark(bytes, at) || dense && is_dense(byte),
        (byte, _) => byte.is_ascii_whitespace() || b"\"'`".contains(&byte),
    };
    let length = (start..bytes.len()).take(LONGEST).take_while(|at| !ends(*at)).count();
    if length == LONGEST {
        return None;
    }
    let trailing = |byte: &&u8| b".,;:)]}*\\".contains(*byte);
    let length = length - bytes[start..start + length].iter().rev().take_while(trailing).count();
    (length > 0).then_some(start..start + length)
}

/// Where what is in quotes ends. A quote after a backslash is a part of it, unless nothing ends it then.
fn closing(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let most = bytes.len().min(start + LONGEST);
    let plain = (start..most).find(|at| bytes[*at] == quote || bytes[*at] == b'\n').unwrap_or(most);
    let mut at = start;
    while at < most && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    (plain < start + LONGEST).then_some(plain)
}

/// The same where the quotes themselves stand after backslashes, as in JSON within JSON.
fn escaped_closing(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let most = bytes.len().min(start + LONGEST);
    let mut at = start;
    while at < most && bytes[at] != b'\n' {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'\\')) => at += 4,
            (b'\\', Some(next)) if *next == quote => return Some(at),
            (byte, _) if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Whether the next setting of a connection begins here: `Name=`.
fn is_setting(rest: &[u8]) -> bool {
    let name = rest.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    name > 1 && rest.get(name) == Some(&b'=')
}

/// Whether a value can be a password, and not what is said about passwords.
fn is_password(value: &str, way: Way, least: usize) -> bool {
    let core = value.trim_end_matches(['!', '?', '.', ',']);
    let (has_letter, has_digit) =
        (core.contains(char::is_alphabetic), core.contains(|c: char| c.is_ascii_digit()));
    let has_sign = core.contains(|c: char| SIGNS.contains(c));
    if value.chars().count() < least || value.contains(' ') && !(has_digit && has_letter) {
        return false;
    }
    let mixed = has_letter && (has_digit || has_sign) || is_noise(core, NOISE);
    let number = core.bytes().all(|byte| byte.is_ascii_digit()) && distinct(core.as_bytes()) > 1;
    match way {
        _ if is_spoken(core) => false,
        Way::Prose => number || mixed && (has_sign || !core.contains('-')) && !value.contains(' '),
        Way::Sign | Way::Tag | Way::Blank => mixed || number,
    }
}

/// Whether a value that nothing but its place says to be a password can be one: it must look as if it was made by chance.
fn is_made(value: &str) -> bool {
    is_mixed(value) && !is_spoken(value.trim_end_matches(['!', '?', '.', ',']))
}

/// Whether a value is something that is said beside passwords.
fn is_spoken(core: &str) -> bool {
    let lower = core.to_ascii_lowercase();
    WAYS_TO_KEEP.iter().any(|way| lower.contains(way))
        || core.contains("://")
        || is_mail(core)
        || is_numbered(core)
        || is_constant(core)
        || is_rule(core)
}

/// Whether a value can be a code that opens an account: letters and digits in turn, or groups of digits.
fn is_code(value: &str) -> bool {
    let solid: Vec<u8> = value.bytes().filter(|byte| *byte != b'-').collect();
    let digits = solid.iter().filter(|byte| byte.is_ascii_digit()).count();
    let first = value.split('-').next().map_or(0, str::len);
    let even = value.split('-').all(|group| group.len() == first);
    solid.len() >= 8
        && solid.iter().all(u8::is_ascii_alphanumeric)
        && digits >= 2
        && distinct(&solid) >= 5
        && even
        && (digits == solid.len() || turns(&solid) * 5 >= solid.len())
        && !is_stand_in(value)
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

/// Whether it is the name of a constant or a variable of the environment.
fn is_constant(value: &str) -> bool {
    let is_part = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let parts = || value.split('_').map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    value.contains('_') && parts().filter(|part| !part.is_empty()).all(is_part)
}

/// Whether it is a list of rules for the value of a form: `required|min:8`.
fn is_rule(value: &str) -> bool {
    let mut known = false;
    let is_one = |rule: &str| {
        let name = rule.split([':', '=']).next().unwrap_or_default();
        known |= RULES.contains(&name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    value.split(['|', ',']).all(is_one) && known
}

/// Whether a value is a UUID.
fn is_uuid(value: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match dashes.contains(&at) {
            true => byte == b'-',
            false => byte.is_ascii_hexdigit(),
        })
}

/// Whether a value is the address of a contract or an account on a chain, which everybody may know.
fn is_account(value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a value is a user and a password in Base64.
fn is_login(value: &str) -> bool {
    let bare = value.trim_end_matches('=');
    let Ok(login) = data_encoding::BASE64_NOPAD.decode(bare.as_bytes()) else { return false };
    let Ok(login) = std::str::from_utf8(&login) else { return false };
    let printed = !login.contains(|c: char| c.is_control());
    login.split_once(':').is_some_and(|(user, password)| printed && !super::address::is_shown(user, password))
}

/// Whether a value can be a key or a token.
fn is_key(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~:|%".contains(&byte);
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
            ("new password dStC9hkuC7%, from today", "dStC9hkuC7%"),
            ("use `dStC9hkuC7%` as the password", "dStC9hkuC7%"),
            ("(dStC9hkuC7% is the admin password)", "dStC9hkuC7%"),
            ("The password's dStC9hkuC7%.", "dStC9hkuC7%"),
            ("the password’s been changed to dStC9hkuC7%", "dStC9hkuC7%"),
            ("password [prod] dStC9hkuC7%", "dStC9hkuC7%"),
            ("password: |-\n  dStC9hkuC7%\nuser: ana", "dStC9hkuC7%"),
            ("WIFI:S:x;T:WPA;P:dS\\;C9hku;;", "dS\\;C9hku"),
            ("recovery codes: a1b2c-3d4e5, f6a7b-8c9d0\n- then log in", "a1b2c-3d4e5, f6a7b-8c9d0"),
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
        ] {
            assert_eq!(values(text), Vec::<&str>::new(), "{text}");
        }
    }
}
