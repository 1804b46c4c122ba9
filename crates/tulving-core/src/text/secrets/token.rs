//! Keys and tokens that are known by how they begin.

use super::Found;
use super::chance::{distinct, is_noise, is_random, is_stand_in};
use crate::vocabulary::SecretKind::{self, *};

/// What a token is made of after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Capitals and digits.
    Capital,
    /// Letters and digits.
    Letter,
    /// Those and `_`.
    Name,
    /// Those and `-`.
    Url,
    /// Those and `.`.
    Dotted,
}

impl Class {
    const COUNT: usize = 5;

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Letter => byte.is_ascii_alphanumeric(),
            Self::Name => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
        }
    }
}

/// How a token begins, of what it is made after that and how much of it there is.
struct Form(&'static str, Class, usize, SecretKind);

/// Longest body of a token.
const LONGEST: usize = 400;

/// The known forms. Of two that begin alike, the longer beginning comes first.
const FORMS: [Form; 61] = [
    Form("AKIA", Class::Capital, 16, AwsKeyId),
    Form("ASIA", Class::Capital, 16, AwsKeyId),
    Form("ghp_", Class::Letter, 36, GithubToken),
    Form("gho_", Class::Letter, 36, GithubToken),
    Form("ghu_", Class::Letter, 36, GithubToken),
    Form("ghs_", Class::Letter, 36, GithubToken),
    Form("ghr_", Class::Letter, 36, GithubToken),
    Form("github_pat_", Class::Name, 40, GithubToken),
    Form("glpat-", Class::Url, 20, GitlabToken),
    Form("gldt-", Class::Url, 20, GitlabToken),
    Form("glrt-", Class::Url, 20, GitlabToken),
    Form("glptt-", Class::Url, 20, GitlabToken),
    Form("glsoat-", Class::Url, 20, GitlabToken),
    Form("xoxb-", Class::Url, 20, SlackToken),
    Form("xoxp-", Class::Url, 20, SlackToken),
    Form("xoxa-", Class::Url, 20, SlackToken),
    Form("xoxr-", Class::Url, 20, SlackToken),
    Form("xoxs-", Class::Url, 20, SlackToken),
    Form("xoxe-", Class::Url, 20, SlackToken),
    Form("xapp-", Class::Url, 20, SlackToken),
    Form("sk_live_", Class::Letter, 16, StripeKey),
    Form("sk_test_", Class::Letter, 16, StripeKey),
    Form("rk_live_", Class::Letter, 16, StripeKey),
    Form("rk_test_", Class::Letter, 16, StripeKey),
    Form("whsec_", Class::Letter, 24, StripeKey),
    Form("sk-ant-", Class::Url, 24, AnthropicKey),
    Form("sk-proj-", Class::Url, 24, OpenaiKey),
    Form("sk-svcacct-", Class::Url, 24, OpenaiKey),
    Form("sk-admin-", Class::Url, 24, OpenaiKey),
    Form("sk-or-v1-", Class::Letter, 32, ServiceToken),
    Form("sk-", Class::Letter, 32, OpenaiKey),
    Form("AIza", Class::Url, 35, GoogleKey),
    Form("ya29.", Class::Url, 30, GoogleKey),
    Form("GOCSPX-", Class::Url, 24, GoogleKey),
    Form("npm_", Class::Letter, 36, NpmToken),
    Form("pypi-", Class::Url, 50, PypiToken),
    Form("hf_", Class::Letter, 30, HuggingFaceToken),
    Form("SG.", Class::Dotted, 50, ServiceToken),
    Form("dop_v1_", Class::Letter, 64, ServiceToken),
    Form("shpat_", Class::Letter, 32, ServiceToken),
    Form("shpss_", Class::Letter, 32, ServiceToken),
    Form("dckr_pat_", Class::Url, 24, ServiceToken),
    Form("gsk_", Class::Letter, 40, ServiceToken),
    Form("xai-", Class::Letter, 40, ServiceToken),
    Form("lin_api_", Class::Letter, 32, ServiceToken),
    Form("tvly-", Class::Url, 24, ServiceToken),
    Form("AGE-SECRET-KEY-1", Class::Capital, 50, PrivateKey),
    Form("tlv_", Class::Url, 40, ServiceToken),
    Form("hvs.", Class::Url, 24, ServiceToken),
    Form("glsa_", Class::Name, 32, ServiceToken),
    Form("dp.pt.", Class::Letter, 40, ServiceToken),
    Form("sntrys_", Class::Url, 40, ServiceToken),
    Form("sntryu_", Class::Letter, 60, ServiceToken),
    Form("NRAK-", Class::Capital, 27, ServiceToken),
    Form("PMAK-", Class::Url, 40, ServiceToken),
    Form("ATATT3", Class::Url, 60, ServiceToken),
    Form("sbp_", Class::Letter, 40, ServiceToken),
    Form("dapi", Class::Letter, 32, ServiceToken),
    Form("r8_", Class::Letter, 37, ServiceToken),
    Form("pplx-", Class::Letter, 40, ServiceToken),
    Form("ntn_", Class::Letter, 40, ServiceToken),
];

/// Fewest letters of a token that has no digit.
const LETTERS: usize = 24;

/// How the others begin: web tokens and webhooks.
const OTHERS: [&str; 2] = ["eyJ", "hooks."];

/// A bit for the first three bytes of each of them: almost no word has them, and then nothing else is looked at.
const STARTS: [u64; 1024] = {
    let mut starts = [0; 1024];
    let mut at = 0;
    while at < FORMS.len() + OTHERS.len() {
        let start =
            if at < FORMS.len() { FORMS[at].0.as_bytes() } else { OTHERS[at - FORMS.len()].as_bytes() };
        let bit = bit(start[0], start[1], start[2]);
        starts[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    starts
};

const fn bit(first: u8, second: u8, third: u8) -> usize {
    (first as usize * 961 + second as usize * 31 + third as usize) % (1024 * 64)
}

/// Whether something that is known may begin at this place.
fn may_begin(bytes: &[u8], at: usize) -> bool {
    let Some([first, second, third]) = bytes.get(at..at + 3) else { return false };
    let bit = bit(*first, *second, *third);
    STARTS[bit / 64] >> (bit % 64) & 1 == 1
}

/// The bytes of [`Class::Name`].
const NAMES: [bool; 256] = {
    let mut names = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        names[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    names
};

/// What the address of a Slack webhook has after its scheme.
const WEBHOOK: &str = "hooks.slack.com/services/";

/// Ends of runs that were looked at, so that no run is read twice.
#[derive(Default)]
struct Runs([usize; Class::COUNT]);

impl Runs {
    /// Where the run of a class ends that `at` stands in. To be asked with ascending places.
    fn end(&mut self, bytes: &[u8], class: Class, at: usize) -> usize {
        let known = &mut self.0[class as usize];
        if at >= *known {
            *known = end(bytes, class, at);
        }
        *known
    }
}

fn end(bytes: &[u8], class: Class, at: usize) -> usize {
    bytes[at..].iter().position(|byte| !class.has(*byte)).map_or(bytes.len(), |length| at + length)
}

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut runs = Runs::default();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':'
            && let Some(one) = bot_token(bytes, at)
        {
            at = one.range.end;
            found.push(one);
            continue;
        }
        // Only where a word begins.
        let before = at.checked_sub(1).map(|before| bytes[before]);
        if before.is_some_and(|byte| NAMES[usize::from(byte)]) || !may_begin(bytes, at) {
            at += 1;
            continue;
        }
        // Only where a run begins: a token of three runs would else be read again from each place in the first.
        let first = before.is_none_or(|byte| !Class::Url.has(byte));
        let one = of_form(text, at, &mut runs)
            .or_else(|| first.then(|| web_token(bytes, at)).flatten())
            .or_else(|| webhook(text, at));
        match one {
            Some(one) => {
                at = one.range.end;
                found.push(one);
            }
            None => at += 1,
        }
    }
}

fn of_form(text: &str, at: usize, runs: &mut Runs) -> Option<Found> {
    let bytes = text.as_bytes();
    let Form(start, class, least, what) =
        FORMS.iter().find(|Form(start, ..)| bytes[at..].starts_with(start.as_bytes()))?;
    let from = at + start.len();
    let end = if from < bytes.len() { runs.end(bytes, *class, from) } else { from };
    if !(*least..=LONGEST).contains(&(end - from)) || bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let body = &text[from..end];
    let likely = match class {
        // Of capitals only, some have no digit.
        Class::Capital => distinct(body.as_bytes()) >= 6 && !is_stand_in(body),
        _ => is_random(body) || is_noise(body, LETTERS),
    };
    likely.then_some(Found { range: at..end, what: *what })
}

/// The token of a bot of Telegram: its number, a colon and 35 letters that begin with two of the same.
fn bot_token(bytes: &[u8], colon: usize) -> Option<Found> {
    let from = colon + 1;
    if !bytes[from..].starts_with(b"AA") {
        return None;
    }
    let digits = bytes[..colon].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let end = end(bytes, Class::Url, from);
    let apart = start.checked_sub(1).is_none_or(|before| !Class::Name.has(bytes[before]));
    let fits = (8..=11).contains(&digits) && apart && end - from == 35;
    fits.then_some(Found { range: start..end, what: ServiceToken })
}

/// A signed JSON web token: three parts, the first two of which are JSON.
fn web_token(bytes: &[u8], at: usize) -> Option<Found> {
    const JSON: &[u8] = b"eyJ";
    if !bytes[at..].starts_with(JSON) {
        return None;
    }
    let head = end(bytes, Class::Url, at);
    let from = head + 1;
    if bytes.get(head) != Some(&b'.') || !bytes[from..].starts_with(JSON) {
        return None;
    }
    let body = end(bytes, Class::Url, from);
    if bytes.get(body) != Some(&b'.') {
        return None;
    }
    let last = end(bytes, Class::Url, body + 1);
    let long = head - at >= 12 && body - from >= 8 && last - body > 20;
    long.then_some(Found { range: at..last, what: JsonWebToken })
}

fn webhook(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !bytes[at..].starts_with(WEBHOOK.as_bytes()) {
        return None;
    }
    let from = at + WEBHOOK.len();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'/';
    let length = bytes[from..].iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
    let path = &text[from..from + length];
    let parts = path.split('/').filter(|part| part.len() >= 8).count();
    (parts == 3 && is_random(path)).then_some(Found { range: at..from + length, what: SlackToken })
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
        for (place, Form(start, ..)) in FORMS.iter().enumerate() {
            assert!(may_begin(start.as_bytes(), 0), "{start}");
            let before = FORMS[..place].iter().find(|Form(other, ..)| start.starts_with(other));
            assert!(before.is_none(), "{start}");
        }
    }
}
