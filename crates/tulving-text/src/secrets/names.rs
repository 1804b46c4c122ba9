//! The names of secrets, in several languages.

use std::ops::Range;

use super::triples::ByteTripleSet;

/// The kind of name by which a value is labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretNameKind {
    Password,
    /// A password that may be short and have only digits.
    Code,
    /// A short word for a password that has other meanings. It counts only as a complete word.
    Pass,
    Key,
    /// A name for a key that is also common in other texts.
    Token,
    /// The secret part of an AWS key.
    Aws,
    /// A name that is followed by its value without a separator, as in a header.
    Bearer,
    /// A user name and a password in Base64.
    Login,
    /// The part of an address that grants access to anyone who has it.
    Signature,
    /// A position in a list, or another value that is called a token but is not secret.
    Cursor,
    /// A name for a password that includes the verb in the same word.
    Said,
    /// Codes that open an account whose password is lost. A text often lists several of them.
    Recovery,
    /// The header that identifies a browser.
    Cookie,
    /// A code that a phone reads to join a network: `WIFI:S:…;P:…;;`.
    Wifi,
}

/// Endings of names, in lower case and without `-`, `_` and spaces. If one name ends with another name, the longer name
/// comes first.
const NAMES: [(&str, SecretNameKind); 106] = [
    ("secretaccesskey", SecretNameKind::Aws),
    ("awssecretkey", SecretNameKind::Aws),
    ("awssecret", SecretNameKind::Aws),
    ("password", SecretNameKind::Password),
    ("passwd", SecretNameKind::Password),
    ("passphrase", SecretNameKind::Password),
    ("passwort", SecretNameKind::Password),
    ("kennwort", SecretNameKind::Password),
    ("wachtwoord", SecretNameKind::Password),
    ("lösenord", SecretNameKind::Password),
    ("passord", SecretNameKind::Password),
    ("adgangskode", SecretNameKind::Password),
    ("kodeord", SecretNameKind::Password),
    ("salasana", SecretNameKind::Password),
    ("jelszó", SecretNameKind::Password),
    ("hasło", SecretNameKind::Password),
    ("heslo", SecretNameKind::Password),
    ("parola", SecretNameKind::Password),
    ("şifre", SecretNameKind::Password),
    ("Şifre", SecretNameKind::Password),
    ("contraseña", SecretNameKind::Password),
    ("contraseÑa", SecretNameKind::Password),
    ("contrasena", SecretNameKind::Password),
    ("contrasenya", SecretNameKind::Password),
    ("senha", SecretNameKind::Password),
    ("palavrapasse", SecretNameKind::Password),
    ("depasse", SecretNameKind::Password),
    ("ароль", SecretNameKind::Password),
    ("АРОЛЬ", SecretNameKind::Password),
    ("סיסמה", SecretNameKind::Password),
    ("المرور", SecretNameKind::Password),
    ("mậtkhẩu", SecretNameKind::Password),
    ("katasandi", SecretNameKind::Password),
    ("รหัสผ่าน", SecretNameKind::Password),
    ("पासवर्ड", SecretNameKind::Password),
    ("密码", SecretNameKind::Password),
    ("密碼", SecretNameKind::Password),
    ("パスワード", SecretNameKind::Password),
    ("비밀번호", SecretNameKind::Password),
    ("pwd", SecretNameKind::Password),
    ("密码是", SecretNameKind::Said),
    ("密碼是", SecretNameKind::Said),
    ("密码为", SecretNameKind::Said),
    ("密碼為", SecretNameKind::Said),
    ("パスワードは", SecretNameKind::Said),
    ("비밀번호는", SecretNameKind::Said),
    ("passcode", SecretNameKind::Code),
    ("dbpass", SecretNameKind::Password),
    ("userpass", SecretNameKind::Password),
    ("pass", SecretNameKind::Pass),
    ("pw", SecretNameKind::Pass),
    ("mdp", SecretNameKind::Pass),
    ("pagetoken", SecretNameKind::Cursor),
    ("nexttoken", SecretNameKind::Cursor),
    ("continuationtoken", SecretNameKind::Cursor),
    ("synctoken", SecretNameKind::Cursor),
    ("skiptoken", SecretNameKind::Cursor),
    ("resumetoken", SecretNameKind::Cursor),
    ("startingtoken", SecretNameKind::Cursor),
    ("paginationtoken", SecretNameKind::Cursor),
    ("pagingtoken", SecretNameKind::Cursor),
    ("cursortoken", SecretNameKind::Cursor),
    ("publickeytoken", SecretNameKind::Cursor),
    ("apikey", SecretNameKind::Key),
    ("apisecret", SecretNameKind::Key),
    ("secretkey", SecretNameKind::Key),
    ("accesskey", SecretNameKind::Key),
    ("privatekey", SecretNameKind::Key),
    ("signingkey", SecretNameKind::Key),
    ("encryptionkey", SecretNameKind::Key),
    ("masterkey", SecretNameKind::Key),
    ("accountkey", SecretNameKind::Key),
    ("sharedkey", SecretNameKind::Key),
    ("authkey", SecretNameKind::Key),
    ("apitoken", SecretNameKind::Key),
    ("accesstoken", SecretNameKind::Key),
    ("authtoken", SecretNameKind::Key),
    ("licensekey", SecretNameKind::Key),
    ("licencekey", SecretNameKind::Key),
    ("activationkey", SecretNameKind::Key),
    ("openaikey", SecretNameKind::Key),
    ("anthropickey", SecretNameKind::Key),
    ("claudekey", SecretNameKind::Key),
    ("geminikey", SecretNameKind::Key),
    ("mistralkey", SecretNameKind::Key),
    ("groqkey", SecretNameKind::Key),
    ("stripekey", SecretNameKind::Key),
    ("twiliokey", SecretNameKind::Key),
    ("sendgridkey", SecretNameKind::Key),
    ("azurekey", SecretNameKind::Key),
    ("secret", SecretNameKind::Key),
    ("credential", SecretNameKind::Key),
    ("credentials", SecretNameKind::Key),
    ("token", SecretNameKind::Token),
    ("bearer", SecretNameKind::Bearer),
    ("basic", SecretNameKind::Login),
    ("auth", SecretNameKind::Login),
    ("sig", SecretNameKind::Signature),
    ("signature", SecretNameKind::Signature),
    ("recoverycode", SecretNameKind::Recovery),
    ("recoverycodes", SecretNameKind::Recovery),
    ("recoverykey", SecretNameKind::Recovery),
    ("backupcode", SecretNameKind::Recovery),
    ("backupcodes", SecretNameKind::Recovery),
    ("cookie", SecretNameKind::Cookie),
    ("wifi", SecretNameKind::Wifi),
];

/// Words before "pass" that show that it means a ticket.
const TICKETS: [&str; 18] = [
    "boarding",
    "season",
    "ski",
    "day",
    "bus",
    "train",
    "rail",
    "hall",
    "press",
    "mountain",
    "museum",
    "backstage",
    "first",
    "second",
    "single",
    "render",
    "test",
    "gate",
];

/// Maximum number of bytes that are read of a name and of the word before it.
const TAIL: usize = 40;

/// The last three bytes of each name. Almost no word ends with such bytes, and for other words no further check is
/// needed.
static ENDS: ByteTripleSet = {
    let mut ends = ByteTripleSet::new();
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].0.as_bytes();
        let (last, second) = (name[name.len() - 1], name[name.len() - 2]);
        // A name of two letters may be preceded by any byte.
        let (mut third, until) =
            if name.len() > 2 { (name[name.len() - 3], name[name.len() - 3]) } else { (0, u8::MAX) };
        loop {
            ends.add([third, second, last]);
            if third == until {
                break;
            }
            third += 1;
        }
        at += 1;
    }
    ends
};

/// Returns true if a word may be the end of a name.
pub(super) fn may_end(bytes: &[u8], word: &Range<usize>) -> bool {
    let third = match word.len() {
        0 | 1 => return false,
        2 => 0,
        _ => bytes[word.end - 3].to_ascii_lowercase(),
    };
    let (second, last) = (bytes[word.end - 2].to_ascii_lowercase(), bytes[word.end - 1].to_ascii_lowercase());
    ENDS.has([third, second, last])
}

/// Returns the kind of name that a word is. The word before it is part of the name if only a space separates the two
/// words.
pub(super) fn of(bytes: &[u8], before: Option<&Range<usize>>, word: &Range<usize>) -> Option<SecretNameKind> {
    let (mut name, mut length) = ([0; 2 * TAIL], 0);
    for part in before.into_iter().chain([word]) {
        let tail = &bytes[part.end.saturating_sub(TAIL).max(part.start)..part.end];
        for byte in tail.iter().filter(|byte| !matches!(byte, b'_' | b'-')) {
            name[length] = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    let name = &name[..length];
    let is = |end: &str, what: SecretNameKind| {
        name.last() == end.as_bytes().last()
            && name.ends_with(end.as_bytes())
            && (what != SecretNameKind::Pass || is_whole(&bytes[word.clone()], end.len()))
    };
    NAMES.iter().find(|(end, what)| is(end, *what)).map(|(_, what)| *what)
}

/// Returns true if the last letters form a separate word: true for `db_pass` and `dbPass`, and false for `bypass`.
fn is_whole(word: &[u8], length: usize) -> bool {
    let Some(start) = word.len().checked_sub(length) else { return false };
    let Some(before) = start.checked_sub(1).map(|before| word[before]) else { return true };
    matches!(before, b'_' | b'-') || word[start].is_ascii_uppercase() && before.is_ascii_lowercase()
}

/// Returns true if "pass" after this word means a ticket.
pub(super) fn is_ticket(before: &str) -> bool {
    TICKETS.iter().any(|word| before.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_hides_another() {
        for (place, (name, _)) in NAMES.iter().enumerate() {
            let whole = 0..name.len();
            assert!(may_end(name.as_bytes(), &whole), "{name}");
            let before = NAMES[..place].iter().find(|(other, _)| name.ends_with(other));
            assert!(before.is_none(), "{name}");
        }
    }
}
