//! Finds passwords in shell commands: `curl -u user:password`, `sshpass -p password`.

use std::ops::Range;

use super::SecretMatch;
use super::address::is_shown;
use super::random_values::{is_random, is_reference, is_stand_in};
use super::value::SIGNS;
use crate::vocabulary::SecretKind;

/// The way in which a command takes a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasswordFlagStyle {
    /// A password after a space, or right after its flag.
    Either,
    /// A password after a space.
    Apart,
    /// A password right after its flag. The flag alone would prompt for a password.
    Joined,
    /// A password after a user and this separator.
    User(char),
}

/// The programs, each with its password flag and the way in which it takes the password.
const PROGRAMS: [(&str, &str, PasswordFlagStyle); 33] = [
    ("curl", "-u", PasswordFlagStyle::User(':')),
    ("curl", "--user", PasswordFlagStyle::User(':')),
    ("curl", "-U", PasswordFlagStyle::User(':')),
    ("curl", "--proxy-user", PasswordFlagStyle::User(':')),
    ("http", "-a", PasswordFlagStyle::User(':')),
    ("https", "-a", PasswordFlagStyle::User(':')),
    ("lftp", "-u", PasswordFlagStyle::User(',')),
    ("smbclient", "-U", PasswordFlagStyle::User('%')),
    ("rpcclient", "-U", PasswordFlagStyle::User('%')),
    ("sshpass", "-p", PasswordFlagStyle::Either),
    ("mysql", "-p", PasswordFlagStyle::Joined),
    ("mysqldump", "-p", PasswordFlagStyle::Joined),
    ("mysqladmin", "-p", PasswordFlagStyle::Joined),
    ("mysqlimport", "-p", PasswordFlagStyle::Joined),
    ("mariadb", "-p", PasswordFlagStyle::Joined),
    ("mariadb-dump", "-p", PasswordFlagStyle::Joined),
    ("7z", "-p", PasswordFlagStyle::Joined),
    ("login", "-p", PasswordFlagStyle::Apart),
    ("mongo", "-p", PasswordFlagStyle::Apart),
    ("mongosh", "-p", PasswordFlagStyle::Apart),
    ("mongodump", "-p", PasswordFlagStyle::Apart),
    ("mongorestore", "-p", PasswordFlagStyle::Apart),
    ("cqlsh", "-p", PasswordFlagStyle::Apart),
    ("sqlcmd", "-P", PasswordFlagStyle::Either),
    ("mosquitto_pub", "-P", PasswordFlagStyle::Apart),
    ("mosquitto_sub", "-P", PasswordFlagStyle::Apart),
    ("ipmitool", "-P", PasswordFlagStyle::Apart),
    ("zip", "-P", PasswordFlagStyle::Apart),
    ("unzip", "-P", PasswordFlagStyle::Apart),
    ("redis-cli", "-a", PasswordFlagStyle::Apart),
    ("ldapsearch", "-w", PasswordFlagStyle::Apart),
    ("ldapmodify", "-w", PasswordFlagStyle::Apart),
    ("plink", "-pw", PasswordFlagStyle::Apart),
];

/// Number of bytes before a flag in which its program is searched.
const COMMAND: usize = 240;
/// A value of this many bytes or more is not a password.
const LONGEST: usize = 200;
/// Minimum number of characters of a password.
const FEWEST: usize = 4;
/// Commands that `sshpass` starts. Before one of them, any word is a password.
const STARTED: [&str; 4] = ["ssh ", "scp ", "rsync ", "sftp "];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memchr::memchr_iter(b'-', bytes) {
        // Almost no text contains a flag.
        let begins = at > 0 && matches!(bytes[at - 1], b' ' | b'\t');
        if at < done
            || !begins
            || !PROGRAMS.iter().any(|(_, flag, _)| bytes[at..].starts_with(flag.as_bytes()))
        {
            continue;
        }
        // The text after the flag is checked first. If it is not a password, the text before the flag need not be read.
        let likely = |(program, flag, takes): &(&'static str, &str, PasswordFlagStyle)| {
            let fits = bytes[at..].starts_with(flag.as_bytes());
            let range = fits.then(|| password(text, at + flag.len(), *takes)).flatten()?;
            Some((*program, range))
        };
        let ways: Vec<(&str, Range<usize>)> = PROGRAMS.iter().filter_map(likely).collect();
        let is_end = |c: char| c.is_whitespace() || "(\"'/".contains(c);
        let mut words = if ways.is_empty() { "" } else { command(text, at) }.split(is_end);
        let one = words.find_map(|word| ways.iter().find(|(program, _)| *program == word));
        if let Some((_, range)) = one {
            done = range.end;
            found.push(SecretMatch { range: range.clone(), what: SecretKind::Password });
        }
    }
}

/// Returns the part of a command before its flag.
fn command(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let least = at.saturating_sub(COMMAND);
    let parts = |place: &usize| {
        let goes_on = *place > 0 && bytes[place - 1] == b'\\';
        matches!(bytes[*place], b'|' | b';' | b'`') || bytes[*place] == b'\n' && !goes_on
    };
    let from = (least..at).rev().find(parts).map_or(least, |place| place + 1);
    let from = (from..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    &text[from..at]
}

/// Returns the range of the password after a flag.
fn password(text: &str, flag: usize, takes: PasswordFlagStyle) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let blanks = bytes[flag..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'=')).count();
    match takes {
        PasswordFlagStyle::Apart if blanks == 0 => return None,
        PasswordFlagStyle::Joined if blanks > 0 => return None,
        _ => {}
    }
    let quote = bytes.get(flag + blanks).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = flag + blanks + usize::from(quote.is_some());
    let ends = |byte: &u8| match quote {
        Some(quote) => *byte == quote || *byte == b'\n',
        None => byte.is_ascii_whitespace() || b"\"'`;|".contains(byte),
    };
    let length = bytes[start..].iter().take(LONGEST).take_while(|byte| !ends(byte)).count();
    let value =
        text.get(start..start + length).filter(|value| length < LONGEST && !value.starts_with('-'))?;
    let PasswordFlagStyle::User(sign) = takes else {
        let started = STARTED.iter().any(|program| text[start + length..].trim_start().starts_with(program));
        let likely = value.len() >= FEWEST && !is_shown("", value) && (started || is_unlike_words(value));
        return likely.then_some(start..start + length);
    };
    let (user, password) = value.split_once(sign)?;
    // Some services take a key in the position of the user, and no password.
    if password.is_empty() && user.len() >= 16 && is_random(user) && !is_reference(user) {
        return Some(start..start + user.len());
    }
    let likely = !user.contains('/') && !is_shown(user, password);
    likely.then(|| start + length - password.len()..start + length)
}

/// Returns true if a value is not a plain word.
fn is_unlike_words(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    (has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase) || value.contains(|c: char| SIGNS.contains(c)))
        && !is_stand_in(value)
        && !value.ends_with([':', ',', '.'])
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
    fn passwords_of_commands_are_found() {
        for (text, value) in [
            ("curl -u ana:Winter2031 https://example.org", "Winter2031"),
            ("curl -sS \\\n  -u \"ana:letmein\" \\\n  https://example.org", "letmein"),
            ("curl --user ana:letmein https://example.org", "letmein"),
            ("curl https://example.org -uana:letmein", "letmein"),
            ("sshpass -p letmein ssh root@host", "letmein"),
            ("sshpass -p'Winter 2031' scp a b:", "Winter 2031"),
            ("mysql -uroot -pS3kret shop", "S3kret"),
            ("docker login -u ana -p Winter2031 registry.example.org", "Winter2031"),
            ("redis-cli -h cache -a Winter2031 ping", "Winter2031"),
            ("lftp -u ana,Winter2031 ftp.example.org", "Winter2031"),
        ] {
            assert_eq!(values(text), [value], "{text}");
        }
    }

    #[test]
    fn flags_of_other_programs_are_none() {
        for text in [
            "docker run -p 8080:80 nginx",
            "curl -u \"$USER:$TOKEN\" https://example.org",
            "curl -u user:password https://example.org",
            "sort -u names:Winter2031",
            "sshpass -p \"$PASS\" ssh root@host",
            "sshpass -p is not safe",
            "mysql -p shop2026",
            "mkdir -p Photos2026",
            "curl -u asks for the password: it is safer",
            "ssh -p 2222 host",
        ] {
            assert_eq!(values(text), Vec::<&str>::new(), "{text}");
        }
    }
}
