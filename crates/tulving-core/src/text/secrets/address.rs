//! Passwords in addresses, such as those of databases: `scheme://user:password@host`.

use super::Found;
use super::chance::{is_reference, is_stand_in};
use crate::vocabulary::SecretKind;

/// The schemes whose addresses have a user and a password.
const SCHEMES: [&str; 24] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mssql",
    "sqlserver",
    "oracle",
    "clickhouse",
    "cockroachdb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "kafka",
    "nats",
    "http",
    "https",
    "ftp",
    "ftps",
    "sftp",
    "smtp",
    "smtps",
];

/// Longest name of a scheme.
const SCHEME: usize = 24;
/// Longest user and password.
const LONGEST: usize = 300;
/// What everybody writes who shows what an address looks like.
const SHOWN: [&str; 11] = [
    "password",
    "pass",
    "passwd",
    "pwd",
    "pw",
    "secret",
    "user",
    "username",
    "token",
    "mypassword",
    "hostname",
];

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    // A single character is found much sooner than several.
    while let Some(at) = text[from..].find(':').map(|at| from + at) {
        let is_address = bytes[at..].starts_with(b"://");
        from = at + if is_address { 3 } else { 1 };
        if !is_address || !scheme(bytes, at) {
            continue;
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'`<>\\|".contains(byte);
        let length = bytes[from..].iter().take(LONGEST).take_while(|byte| !ends(byte)).count();
        let Some(host) = bytes[from..from + length].iter().rposition(|byte| *byte == b'@') else {
            continue;
        };
        let login = &text[from..from + host];
        if let Some((user, password)) = login.split_once(':')
            && !is_shown(user, password)
        {
            let end = from + host;
            found.push(Found { range: end - password.len()..end, what: SecretKind::AddressPassword });
            from = end;
        }
    }
}

/// Whether what stands before `at` is a scheme of such addresses.
fn scheme(bytes: &[u8], at: usize) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'+';
    let length = bytes[..at].iter().rev().take(SCHEME).take_while(|byte| is_name(byte)).count();
    let name = bytes[at - length..at].to_ascii_lowercase();
    // `postgresql+asyncpg` and the like say which driver to use.
    let driver = name.iter().position(|byte| *byte == b'+').map_or(name.as_slice(), |plus| &name[..plus]);
    SCHEMES.iter().any(|scheme| name == scheme.as_bytes() || driver == scheme.as_bytes())
}

/// Whether an address only shows where the password stands, or has one that everybody knows.
fn is_shown(user: &str, password: &str) -> bool {
    password.is_empty()
        || password.eq_ignore_ascii_case(user)
        || SHOWN.iter().any(|word| password.eq_ignore_ascii_case(word))
        || is_stand_in(password)
        || is_reference(password)
        || password.bytes().all(|byte| byte.is_ascii_digit()) && password.len() < 6 && user.contains('.')
}
