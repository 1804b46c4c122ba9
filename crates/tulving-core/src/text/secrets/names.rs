//! What secrets are called, in several languages.

use std::ops::Range;

use super::triples::Triples;

/// What a value is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Password,
    /// One that may be short and of digits alone.
    Code,
    /// A short word for a password that means other things too: only where it is a word of its own.
    Pass,
    Key,
    /// A key by a name that much else has.
    Token,
    /// The secret part of a key of AWS.
    Aws,
    /// What follows it without a sign, as in a header.
    Bearer,
    /// A user and a password in Base64.
    Login,
    /// What makes an address good for whoever has it.
    Signature,
    /// A place in a list, or something else that is called a token and is no secret.
    Cursor,
    /// A password, with the verb in the same word.
    Said,
    /// What opens an account whose password is lost, often several of them.
    Recovery,
    /// The header by which a browser shows who it is.
    Cookie,
    /// What a phone reads to join a network: `WIFI:S:…;P:…;;`.
    Wifi,
}

/// Ends of names, in lower case and without `-`, `_` and blanks. Of two that end alike, the longer comes first.
const NAMES: [(&str, Name); 106] = [
    ("secretaccesskey", Name::Aws),
    ("awssecretkey", Name::Aws),
    ("awssecret", Name::Aws),
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("passphrase", Name::Password),
    ("passwort", Name::Password),
    ("kennwort", Name::Password),
    ("wachtwoord", Name::Password),
    ("lösenord", Name::Password),
    ("passord", Name::Password),
    ("adgangskode", Name::Password),
    ("kodeord", Name::Password),
    ("salasana", Name::Password),
    ("jelszó", Name::Password),
    ("hasło", Name::Password),
    ("heslo", Name::Password),
    ("parola", Name::Password),
    ("şifre", Name::Password),
    ("Şifre", Name::Password),
    ("contraseña", Name::Password),
    ("contraseÑa", Name::Password),
    ("contrasena", Name::Password),
    ("contrasenya", Name::Password),
    ("senha", Name::Password),
    ("palavrapasse", Name::Password),
    ("depasse", Name::Password),
    ("ароль", Name::Password),
    ("АРОЛЬ", Name::Password),
    ("סיסמה", Name::Password),
    ("المرور", Name::Password),
    ("mậtkhẩu", Name::Password),
    ("katasandi", Name::Password),
    ("รหัสผ่าน", Name::Password),
    ("पासवर्ड", Name::Password),
    ("密码", Name::Password),
    ("密碼", Name::Password),
    ("パスワード", Name::Password),
    ("비밀번호", Name::Password),
    ("pwd", Name::Password),
    ("密码是", Name::Said),
    ("密碼是", Name::Said),
    ("密码为", Name::Said),
    ("密碼為", Name::Said),
    ("パスワードは", Name::Said),
    ("비밀번호는", Name::Said),
    ("passcode", Name::Code),
    ("dbpass", Name::Password),
    ("userpass", Name::Password),
    ("pass", Name::Pass),
    ("pw", Name::Pass),
    ("mdp", Name::Pass),
    ("pagetoken", Name::Cursor),
    ("nexttoken", Name::Cursor),
    ("continuationtoken", Name::Cursor),
    ("synctoken", Name::Cursor),
    ("skiptoken", Name::Cursor),
    ("resumetoken", Name::Cursor),
    ("startingtoken", Name::Cursor),
    ("paginationtoken", Name::Cursor),
    ("pagingtoken", Name::Cursor),
    ("cursortoken", Name::Cursor),
    ("publickeytoken", Name::Cursor),
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
    ("accesstoken", Name::Key),
    ("authtoken", Name::Key),
    ("licensekey", Name::Key),
    ("licencekey", Name::Key),
    ("activationkey", Name::Key),
    ("openaikey", Name::Key),
    ("anthropickey", Name::Key),
    ("claudekey", Name::Key),
    ("geminikey", Name::Key),
    ("mistralkey", Name::Key),
    ("groqkey", Name::Key),
    ("stripekey", Name::Key),
    ("twiliokey", Name::Key),
    ("sendgridkey", Name::Key),
    ("azurekey", Name::Key),
    ("secret", Name::Key),
    ("credential", Name::Key),
    ("credentials", Name::Key),
    ("token", Name::Token),
    ("bearer", Name::Bearer),
    ("basic", Name::Login),
    ("auth", Name::Login),
    ("sig", Name::Signature),
    ("signature", Name::Signature),
    ("recoverycode", Name::Recovery),
    ("recoverycodes", Name::Recovery),
    ("recoverykey", Name::Recovery),
    ("backupcode", Name::Recovery),
    ("backupcodes", Name::Recovery),
    ("cookie", Name::Cookie),
    ("wifi", Name::Wifi),
];

/// Words before a pass that is a ticket.
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

/// So much of a name is looked at, and so much of the word before.
const TAIL: usize = 40;

/// The last three bytes of each name: almost no word has them, and then nothing else is looked at.
static ENDS: Triples = {
    let mut ends = Triples::new();
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].0.as_bytes();
        let (last, second) = (name[name.len() - 1], name[name.len() - 2]);
        // What stands before a name of two letters may be anything.
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

/// Whether a word may be the end of a name.
pub(super) fn may_end(bytes: &[u8], word: &Range<usize>) -> bool {
    let third = match word.len() {
        0 | 1 => return false,
        2 => 0,
        _ => bytes[word.end - 3].to_ascii_lowercase(),
    };
    let (second, last) = (bytes[word.end - 2].to_ascii_lowercase(), bytes[word.end - 1].to_ascii_lowercase());
    ENDS.has([third, second, last])
}

/// What a word names, with the one before it where only a blank is between them.
pub(super) fn of(bytes: &[u8], before: Option<&Range<usize>>, word: &Range<usize>) -> Option<Name> {
    let (mut name, mut length) = ([0; 2 * TAIL], 0);
    for part in before.into_iter().chain([word]) {
        let tail = &bytes[part.end.saturating_sub(TAIL).max(part.start)..part.end];
        for byte in tail.iter().filter(|byte| !matches!(byte, b'_' | b'-')) {
            name[length] = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    let name = &name[..length];
    let is = |end: &str, what: Name| {
        name.last() == end.as_bytes().last()
            && name.ends_with(end.as_bytes())
            && (what != Name::Pass || is_whole(&bytes[word.clone()], end.len()))
    };
    NAMES.iter().find(|(end, what)| is(end, *what)).map(|(_, what)| *what)
}

/// Whether the last letters of a word are a word of their own: `db_pass`, `dbPass`, and not `bypass`.
fn is_whole(word: &[u8], length: usize) -> bool {
    let Some(start) = word.len().checked_sub(length) else { return false };
    let Some(before) = start.checked_sub(1).map(|before| word[before]) else { return true };
    matches!(before, b'_' | b'-') || word[start].is_ascii_uppercase() && before.is_ascii_lowercase()
}

/// Whether a pass with this word before it is a ticket.
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
