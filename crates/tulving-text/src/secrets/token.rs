//! Finds keys and tokens with a prefix listed in [`forms`](super::forms), or with a marker inside them.

use super::SecretMatch;
use super::forms::{FORMS, TokenCharacters, TokenForm};
use super::random_values::{distinct, is_noise, is_random, is_stand_in};
use super::triples::ByteTripleSet;
use crate::vocabulary::SecretKind::{self, *};

/// Maximum length of a token after its prefix, and of a token that contains data, in bytes.
const LONGEST: usize = 400;
const LONGEST_DATA: usize = 16_384;

/// The first byte of each form. The bytes are contiguous, so that few forms have to be compared.
const FIRSTS: [u8; FORMS.len()] = {
    let mut firsts = [0; FORMS.len()];
    let mut at = 0;
    while at < FORMS.len() {
        firsts[at] = FORMS[at].0.as_bytes()[0];
        at += 1;
    }
    firsts
};

/// Minimum number of letters of a token without a digit.
const LETTERS: usize = 18;

/// Prefixes of tokens that are not listed in `FORMS`: web tokens, webhooks, and the first letters of Discord tokens (a
/// number in Base64) and Twilio keys.
const OTHERS: [&str; 5] = ["eyJ", "hooks.", "discord", "webhook.", "outlook."];
const DISCORD: [&[u8]; 3] = [b"MNO", b"DTjz", b"AEIMQUYcgk"];
const TWILIO: [&[u8]; 3] = [b"S", b"K", b"0123456789abcdef"];

/// The first three bytes of each token. Almost no word begins with such bytes, and for other words no further check is
/// needed.
static STARTS: ByteTripleSet = {
    let mut starts = ByteTripleSet::new();
    let mut at = 0;
    while at < FORMS.len() + OTHERS.len() {
        let start =
            if at < FORMS.len() { FORMS[at].0.as_bytes() } else { OTHERS[at - FORMS.len()].as_bytes() };
        starts.add([start[0], start[1], start[2]]);
        at += 1;
    }
    add_all(&mut starts, DISCORD);
    add_all(&mut starts, TWILIO);
    starts
};

/// Adds every combination of three bytes, with one byte from each list.
const fn add_all(starts: &mut ByteTripleSet, [first, second, third]: [&[u8]; 3]) {
    let mut at = 0;
    while at < first.len() * second.len() * third.len() {
        let (a, b) = (at / third.len() / second.len(), at / third.len() % second.len());
        starts.add([first[a], second[b], third[at % third.len()]]);
        at += 1;
    }
}

/// Returns true if a known token may begin at this position.
fn may_begin(bytes: &[u8], at: usize) -> bool {
    bytes[at..].first_chunk().is_some_and(|start| STARTS.has(*start))
}

/// The bytes of [`TokenCharacters::Name`].
const NAMES: [bool; 256] = {
    let mut names = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        names[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    names
};

/// The part of webhook addresses after the scheme. Anyone who knows such an address can post messages.
const WEBHOOKS: [(&str, SecretKind); 8] = [
    ("hooks.slack.com/services/", SlackToken),
    ("hooks.slack.com/workflows/", SlackToken),
    ("hooks.slack.com/triggers/", SlackToken),
    ("discord.com/api/webhooks/", ServiceToken),
    ("discord.com/api/v10/webhooks/", ServiceToken),
    ("discordapp.com/api/webhooks/", ServiceToken),
    ("webhook.office.com/webhookb2/", ServiceToken),
    ("outlook.office.com/webhook/", ServiceToken),
];
/// Minimum number of letters of the random part of a webhook address.
const WEBHOOK: usize = 20;

/// A marker inside a token, and the parts before and after it. Each part has its characters, minimum length and maximum
/// length.
struct TokenMarker(&'static str, (TokenCharacters, usize, usize), (TokenCharacters, usize, usize));

/// The tokens with a marker inside: tokens of Telegram bots, Terraform, Mailchimp and Azure.
const MIDDLES: [TokenMarker; 4] = [
    TokenMarker(":AA", (TokenCharacters::Letter, 8, 14), (TokenCharacters::Url, 33, 33)),
    TokenMarker(".atlasv1.", (TokenCharacters::Letter, 14, 14), (TokenCharacters::Url, 60, 70)),
    TokenMarker("-us", (TokenCharacters::Letter, 32, 32), (TokenCharacters::Letter, 1, 2)),
    TokenMarker("~", (TokenCharacters::Dotted, 5, 5), (TokenCharacters::Dotted, 31, 34)),
];

/// The first bytes of the markers. No such byte occurs in a name.
const MIDDLE: [bool; 256] = {
    let mut begins = [false; 256];
    let mut at = 0;
    while at < MIDDLES.len() {
        begins[MIDDLES[at].0.as_bytes()[0] as usize] = true;
        at += 1;
    }
    begins
};

/// Ends of runs that were already read. They ensure that no run is read twice.
#[derive(Default)]
struct TokenRunEnds([usize; TokenCharacters::COUNT]);

impl TokenRunEnds {
    /// Returns the end of the run of a character class around `at`. Successive calls must have ascending positions.
    fn end(&mut self, bytes: &[u8], class: TokenCharacters, at: usize) -> usize {
        let known = &mut self.0[class as usize];
        if at >= *known {
            *known = end(bytes, class, at);
        }
        *known
    }
}

fn end(bytes: &[u8], class: TokenCharacters, at: usize) -> usize {
    bytes[at..].iter().position(|byte| !class.has(*byte)).map_or(bytes.len(), |length| at + length)
}

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut runs = TokenRunEnds::default();
    let mut at = 0;
    while at < bytes.len() {
        let one = if !NAMES[usize::from(bytes[at])] {
            if MIDDLE[usize::from(bytes[at])] { around(text, at) } else { None }
        } else if may_begin(bytes, at) {
            begun(text, at, &mut runs)
        } else {
            None
        };
        if let Some(one) = one {
            at = one.range.end;
            found.push(one);
        } else if NAMES[usize::from(bytes[at])] {
            // A token begins only at the beginning of a word.
            at += bytes[at..].iter().take_while(|byte| NAMES[usize::from(**byte)]).count();
        } else {
            at += 1;
        }
    }
}

/// Returns the token that begins at this position, which must be the beginning of a word.
fn begun(text: &str, at: usize, runs: &mut TokenRunEnds) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    // A web token begins only at the beginning of a run. Otherwise a token of three runs would be read again from each
    // position in the first run.
    let first = at.checked_sub(1).is_none_or(|before| !TokenCharacters::Url.has(bytes[before]));
    of_form(text, at, runs)
        .or_else(|| first.then(|| web_token(bytes, at).or_else(|| discord_token(text, at))).flatten())
        .or_else(|| twilio_key(text, at))
        .or_else(|| webhook(text, at))
}

fn of_form(text: &str, at: usize, runs: &mut TokenRunEnds) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    let mut forms = memchr::memchr_iter(bytes[at], &FIRSTS).map(|place| &FORMS[place]);
    let TokenForm(start, class, least, what) =
        forms.find(|TokenForm(start, ..)| bytes[at..].starts_with(start.as_bytes()))?;
    // A prefix that contains only letters and digits may occur by chance within encoded data.
    let in_data = at.checked_sub(1).is_some_and(|before| matches!(bytes[before], b'+' | b'/'));
    if in_data && start.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let from = at + start.len();
    let end = if from < bytes.len() { runs.end(bytes, *class, from) } else { from };
    let longest = if *class == TokenCharacters::Base64 { LONGEST_DATA } else { LONGEST };
    if !(*least..=longest).contains(&(end - from)) || bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    // The dot at the end of a sentence is not part of the token.
    let body = text[from..end].trim_end_matches('.');
    let end = from + body.len();
    let likely = match class {
        // Some tokens that consist of capitals have no digit.
        TokenCharacters::Capital => distinct(body.as_bytes()) >= 6 && !is_stand_in(body),
        _ => is_random(body) || is_noise(body, LETTERS),
    };
    likely.then_some(SecretMatch { range: at..end, what: *what })
}

/// Returns the token around the marker at this position.
fn around(text: &str, at: usize) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    let TokenMarker(mark, (before, least, most), (after, fewest, longest)) =
        MIDDLES.iter().find(|TokenMarker(mark, ..)| bytes[at..].starts_with(mark.as_bytes()))?;
    let head = bytes[..at].iter().rev().take(most + 1).take_while(|byte| before.has(**byte)).count();
    let from = at + mark.len();
    let tail = bytes[from..].iter().take(longest + 1).take_while(|byte| after.has(**byte)).count();
    if !(*least..=*most).contains(&head) || !(*fewest..=*longest).contains(&tail) {
        return None;
    }
    let mut range = at - head..from + tail;
    let (head, tail) = (&text[range.start..at], &text[from..range.end]);
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let likely = match *mark {
        ":AA" => {
            // In addresses of the service, the word "bot" precedes the number.
            let number = head.trim_start_matches("bot");
            range.start = at - number.len();
            (8..=11).contains(&number.len()) && digits(number)
        }
        "-us" => digits(tail) && head.bytes().all(is_hex),
        "~" => head.as_bytes()[3].is_ascii_digit() && head.ends_with('Q') && is_random(tail),
        _ => is_random(tail),
    };
    likely.then_some(SecretMatch { range, what: ServiceToken })
}

/// Returns the token of a Discord bot: its number in Base64, a time and a signature.
fn discord_token(text: &str, at: usize) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    let part = |from: usize| end(bytes, TokenCharacters::Url, from.min(bytes.len()));
    let id = part(at);
    let starts = DISCORD.iter().zip(&bytes[at..]).all(|(letters, byte)| letters.contains(byte));
    if !starts || !(23..=28).contains(&(id - at)) || bytes.get(id) != Some(&b'.') {
        return None;
    }
    let time = part(id + 1);
    if time - id != 7 || bytes.get(time) != Some(&b'.') {
        return None;
    }
    let last = part(time + 1);
    let fits = (27..=45).contains(&(last - time - 1)) && is_random(&text[at..last]);
    fits.then_some(SecretMatch { range: at..last, what: ServiceToken })
}

/// Returns a Twilio key: two letters and 32 hexadecimal digits.
fn twilio_key(text: &str, at: usize) -> Option<SecretMatch> {
    if !text.as_bytes()[at..].starts_with(b"SK") {
        return None;
    }
    let end = end(text.as_bytes(), TokenCharacters::Name, at);
    let digits = text.get(at + 2..end).filter(|digits| digits.len() == 32)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
    (is_hex && is_random(digits)).then_some(SecretMatch { range: at..end, what: ServiceToken })
}

/// Returns a signed JSON web token. It has three parts, and the first two parts are JSON.
fn web_token(bytes: &[u8], at: usize) -> Option<SecretMatch> {
    const JSON: &[u8] = b"eyJ";
    if !bytes[at..].starts_with(JSON) {
        return None;
    }
    let head = end(bytes, TokenCharacters::Url, at);
    let from = head + 1;
    if bytes.get(head) != Some(&b'.') || !bytes[from..].starts_with(JSON) {
        return None;
    }
    let body = end(bytes, TokenCharacters::Url, from);
    if bytes.get(body) != Some(&b'.') {
        return None;
    }
    let last = end(bytes, TokenCharacters::Url, body + 1);
    let long = head - at >= 12 && body - from >= 8 && last - body > 20;
    long.then_some(SecretMatch { range: at..last, what: JsonWebToken })
}

fn webhook(text: &str, at: usize) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    let (address, what) = WEBHOOKS.iter().find(|(address, _)| bytes[at..].starts_with(address.as_bytes()))?;
    let from = at + address.len();
    let is_part = |byte: &u8| TokenCharacters::Url.has(*byte) || matches!(byte, b'/' | b'@');
    let length = bytes[from..].iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
    let path = &text[from..from + length];
    let long = path.split('/').any(|part| part.len() >= WEBHOOK);
    (long && is_random(path)).then_some(SecretMatch { range: at..from + length, what: *what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_letters_alone_is_one_and_a_name_is_none() {
        for (text, due) in [
            ("HF_TOKEN=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", 1),
            ("hf_theLongNameOfSomethingInHumpsHere", 0),
            ("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", 0),
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert_eq!(found.len(), due, "{text}");
        }
    }

    #[test]
    fn no_form_hides_another() {
        for (place, TokenForm(start, ..)) in FORMS.iter().enumerate() {
            assert!(may_begin(start.as_bytes(), 0), "{start}");
            let before = FORMS[..place].iter().find(|TokenForm(other, ..)| start.starts_with(other));
            assert!(before.is_none(), "{start}");
        }
    }
}
