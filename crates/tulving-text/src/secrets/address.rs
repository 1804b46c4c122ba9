//! Finds passwords in addresses, such as those of databases: `scheme://user:password@host`.

use super::SecretMatch;
use super::random_values::{is_random, is_reference, is_stand_in};
use crate::vocabulary::SecretKind;

/// Schemes of addresses with a user and a password. A `+` separates the scheme from a driver.
const SCHEMES: [&str; 52] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mssql",
    "sqlserver",
    "oracle",
    "clickhouse",
    "cockroachdb",
    "redshift",
    "snowflake",
    "cassandra",
    "neo4j",
    "bolt",
    "couchdb",
    "influxdb",
    "elasticsearch",
    "mongodb",
    "redis",
    "rediss",
    "memcached",
    "amqp",
    "amqps",
    "kafka",
    "nats",
    "mqtt",
    "mqtts",
    "stomp",
    "http",
    "https",
    "ws",
    "wss",
    "git",
    "svn",
    "ssh",
    "ftp",
    "ftps",
    "sftp",
    "smb",
    "ldap",
    "ldaps",
    "smtp",
    "smtps",
    "imap",
    "imaps",
    "pop3",
    "pop3s",
    "socks5",
    "socks5h",
    "rtsp",
    "rtmp",
    "vnc",
];

/// Maximum length of the name of a scheme, in bytes.
const SCHEME: usize = 24;
/// Maximum length of the user and password together, in bytes.
const LONGEST: usize = 300;
/// Minimum number of characters of a token that is used without a password.
const TOKEN: usize = 20;
/// A name that occurs in the hosts of error trackers.
const ERRORS: &[u8] = b"sentry";
/// Passwords that are used in examples of addresses.
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

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    // Searching for a single character is much faster than for several.
    while let Some(at) = text[from..].find(':').map(|at| from + at) {
        let is_address = bytes[at..].starts_with(b"://");
        from = at + if is_address { 3 } else { 1 };
        if !is_address || !scheme(bytes, at) {
            continue;
        }
        let Some(end) = login(bytes, from) else { continue };
        let secret = match text[from..end].split_once(':') {
            Some((user, password)) if !is_shown(user, password) => end - password.len()..end,
            // A token may take the position of the user, as in addresses of repositories. For error trackers, the user
            // is a public key.
            None if is_token(&text[from..end]) && !counts_errors(&bytes[end..]) => from..end,
            _ => continue,
        };
        from = end;
        found.push(SecretMatch { range: secret, what: SecretKind::AddressPassword });
    }
}

/// Returns the end of the user and password that begin at this position.
fn login(bytes: &[u8], from: usize) -> Option<usize> {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\|".contains(byte);
    let rest = &bytes[from..];
    let whole = &rest[..rest.iter().take(LONGEST).position(ends).unwrap_or(rest.len().min(LONGEST))];
    let place = whole.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(whole.len());
    let at = |part: &[u8]| part.iter().rposition(|byte| *byte == b'@').map(|at| from + at);
    // If the text between the colon and the next sign is not a port number, the sign is part of the password.
    let odd = || {
        let colon = whole[..place].iter().position(|byte| *byte == b':')?;
        let port = whole[colon + 1..place].iter().all(u8::is_ascii_digit) || whole[0] == b'[';
        (!port).then(|| at(whole)).flatten()
    };
    at(&whole[..place]).or_else(odd)
}

/// Returns true if the user name in an address is a token.
fn is_token(name: &str) -> bool {
    name.len() >= TOKEN
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && is_random(name)
}

/// Returns true if the host after a user name is an error tracker.
fn counts_errors(host: &[u8]) -> bool {
    let length = host.iter().take(LONGEST).take_while(|byte| !b"/ \n".contains(byte)).count();
    host[..length].windows(ERRORS.len()).any(|part| part.eq_ignore_ascii_case(ERRORS))
}

/// Returns true if the text before `at` is one of the schemes.
fn scheme(bytes: &[u8], at: usize) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'+';
    let length = bytes[..at].iter().rev().take(SCHEME).take_while(|byte| is_name(byte)).count();
    let name = bytes[at - length..at].to_ascii_lowercase();
    let driver = name.iter().position(|byte| *byte == b'+').map_or(name.as_slice(), |plus| &name[..plus]);
    SCHEMES.iter().any(|scheme| driver == scheme.as_bytes())
}

/// Returns true if the password in an address is a placeholder or a well-known example.
pub(super) fn is_shown(user: &str, password: &str) -> bool {
    password.is_empty()
        || password.eq_ignore_ascii_case(user)
        || SHOWN.iter().any(|word| password.eq_ignore_ascii_case(word))
        || is_stand_in(password)
        || is_reference(password)
        || password.bytes().all(|byte| byte.is_ascii_digit()) && password.len() < 6 && user.contains('.')
}
