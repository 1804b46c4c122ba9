//! Detects whether the text after a name for a secret looks like a password, a key, a code or a login.

use super::place::ValuePlacement;
use super::random_values::{distinct, is_mixed, is_noise, is_random, is_stand_in, turns};

/// Minimum number of letters of a password without digits and symbols.
const NOISE: usize = 10;
/// Minimum number of characters of a key.
const KEY: usize = 16;
/// Symbols that occur in passwords but not within a word of prose.
pub(super) const SIGNS: &str = "!@#$%^&*+?~";
/// Words in values that describe the storage of passwords, in lower case.
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
/// Names of validation rules for form fields.
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

/// Returns true if a value can be a password and is not a description of a password.
pub(super) fn is_password(value: &str, way: ValuePlacement, least: usize) -> bool {
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
        _ if is_passphrase(core) => true,
        ValuePlacement::Prose => {
            let whole = has_sign || !core.contains('-') || is_grouped(core);
            number || mixed && whole && !value.contains(' ')
        }
        ValuePlacement::Sign | ValuePlacement::Tag | ValuePlacement::Blank | ValuePlacement::Line => {
            mixed || number
        }
    }
}

/// Returns true if a value with hyphens is a password and not a compound such as `12-character`. Such a password has
/// three groups of six characters, as Apple generates them, or groups without complete words that mix letters and
/// digits.
fn is_grouped(core: &str) -> bool {
    let groups = || core.split('-');
    let varied = core.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    let solid =
        groups().all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if solid && varied && groups().count() == 3 && groups().all(|group| group.len() == 6) {
        return true;
    }
    let has = |is: fn(&u8) -> bool| core.as_bytes().iter().any(is);
    let mixed = |group: &str| {
        group.contains(|c: char| c.is_ascii_digit()) && group.contains(|c: char| c.is_ascii_alphabetic())
    };
    let spelled = |group: &str| {
        group.len() >= 4 && group.bytes().all(|byte| byte.is_ascii_lowercase())
            || group.as_bytes().windows(5).any(|part| part.iter().all(u8::is_ascii_lowercase))
    };
    core.len() >= 8
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && groups().any(mixed)
        && !groups().any(spelled)
}

/// Words that do not occur in passphrases. Most compounds that describe a password contain one of these words.
const SPOKEN: [&str; 52] = [
    "the",
    "and",
    "not",
    "for",
    "with",
    "from",
    "only",
    "until",
    "case",
    "sensitive",
    "end",
    "per",
    "all",
    "any",
    "same",
    "one",
    "you",
    "your",
    "user",
    "see",
    "ask",
    "stored",
    "required",
    "hashed",
    "encrypted",
    "protected",
    "based",
    "specific",
    "level",
    "time",
    "day",
    "days",
    "week",
    "month",
    "characters",
    "character",
    "minimum",
    "least",
    "password",
    "default",
    "reset",
    "change",
    "write",
    "read",
    "use",
    "used",
    "self",
    "known",
    "made",
    "than",
    "that",
    "once",
];

/// Returns true if a value is a generated passphrase: at least four words with hyphens between them.
fn is_passphrase(core: &str) -> bool {
    let is_word = |group: &str| {
        (3..=9).contains(&group.len())
            && group.bytes().all(|byte| byte.is_ascii_lowercase())
            && !SPOKEN.contains(&group)
    };
    core.split('-').count() >= 4 && core.split('-').all(is_word) && !is_stand_in(core)
}

/// Returns true if a value without other evidence can be a password: it must look random.
pub(super) fn is_made(value: &str) -> bool {
    is_mixed(value) && !is_spoken(value.trim_end_matches(['!', '?', '.', ',']))
}

/// Returns true if a value is a text that often occurs next to passwords and is not a password.
fn is_spoken(core: &str) -> bool {
    let lower = core.to_ascii_lowercase();
    WAYS_TO_KEEP.iter().any(|way| lower.contains(way))
        || core.contains("://")
        || is_mail(core)
        || is_numbered(core)
        || is_constant(core)
        || is_rule(core)
}

/// Returns true if a value can be a recovery code: letters and digits alternate, or the code has groups of digits.
pub(super) fn is_code(value: &str) -> bool {
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

/// Returns true if a value is an email address.
fn is_mail(value: &str) -> bool {
    let Some((name, host)) = value.split_once('@') else { return false };
    let last = host.rsplit('.').next().unwrap_or_default();
    !name.is_empty() && host.contains('.') && last.len() >= 2 && last.chars().all(char::is_alphabetic)
}

/// Returns true if a value is an issue number, a date, a time or a version.
fn is_numbered(value: &str) -> bool {
    let number = value.trim_start_matches(['#', 'v']);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let rest = number.bytes().filter(|byte| !byte.is_ascii_digit()).count();
    let marks = number.bytes().all(|byte| byte.is_ascii_digit() || b"-./:TZ".contains(&byte));
    digits > 0 && marks && (rest > 0 || number.len() < value.len())
}

/// Returns true if a value is the name of a constant or an environment variable.
fn is_constant(value: &str) -> bool {
    let is_part = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let parts = || value.split('_').map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    value.contains('_') && parts().filter(|part| !part.is_empty()).all(is_part)
}

/// Returns true if a value is a list of validation rules: `required|min:8`.
fn is_rule(value: &str) -> bool {
    let mut known = false;
    let is_one = |rule: &str| {
        let name = rule.split([':', '=']).next().unwrap_or_default();
        known |= RULES.contains(&name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    value.split(['|', ',']).all(is_one) && known
}

/// Returns true if a value is a UUID.
pub(super) fn is_uuid(value: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match dashes.contains(&at) {
            true => byte == b'-',
            false => byte.is_ascii_hexdigit(),
        })
}

/// Returns true if a value is the address of a contract or an account on a blockchain. Such an address is public.
pub(super) fn is_account(value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true if a value is a user name and a password in Base64.
pub(super) fn is_login(value: &str) -> bool {
    let bare = value.trim_end_matches('=');
    let Ok(login) = data_encoding::BASE64_NOPAD.decode(bare.as_bytes()) else { return false };
    let Ok(login) = std::str::from_utf8(&login) else { return false };
    let printed = !login.contains(|c: char| c.is_control());
    login.split_once(':').is_some_and(|(user, password)| printed && !super::address::is_shown(user, password))
}

/// Returns true if a value can be a key or a token.
pub(super) fn is_key(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~:|%".contains(&byte);
    value.len() >= KEY && value.bytes().all(allowed) && is_random(value)
}
