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
    /// Letters, digits and the signs of Base64.
    Base64,
}

impl Class {
    const COUNT: usize = 6;

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Letter => byte.is_ascii_alphanumeric(),
            Self::Name => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'),
        }
    }
}

/// How a token begins, of what it is made after that and how much of it there is.
struct Form(&'static str, Class, usize, SecretKind);

/// Longest body of a token, and of one that holds data.
const LONGEST: usize = 400;
const LONGEST_DATA: usize = 16_384;

/// The known forms. Of two that begin alike, the longer beginning comes first.
const FORMS: [Form; 208] = [
    Form("AKIA", Class::Capital, 16, AwsKeyId),
    Form("ASIA", Class::Capital, 16, AwsKeyId),
    Form("ghp_", Class::Letter, 36, GithubToken),
    Form("gho_", Class::Letter, 36, GithubToken),
    Form("ghu_", Class::Letter, 36, GithubToken),
    Form("ghs_", Class::Letter, 36, GithubToken),
    Form("ghr_", Class::Letter, 36, GithubToken),
    Form("github_pat_", Class::Name, 40, GithubToken),
    Form("glpat-", Class::Dotted, 20, GitlabToken),
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
    Form("sk-None-", Class::Url, 40, OpenaiKey),
    Form("sk-lf-", Class::Url, 32, ServiceToken),
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
    Form("ABIA", Class::Capital, 16, AwsKeyId),
    Form("ACCA", Class::Capital, 16, AwsKeyId),
    Form("ABSK", Class::Base64, 100, AwsSecretKey),
    Form("glcbt-", Class::Url, 20, GitlabToken),
    Form("glffct-", Class::Url, 20, GitlabToken),
    Form("glft-", Class::Url, 20, GitlabToken),
    Form("glimt-", Class::Url, 20, GitlabToken),
    Form("glagent-", Class::Url, 20, GitlabToken),
    Form("gloas-", Class::Url, 20, GitlabToken),
    Form("GR1348941", Class::Url, 20, GitlabToken),
    Form("xoxc-", Class::Url, 20, SlackToken),
    Form("xoxd-", Class::Url, 20, SlackToken),
    Form("xoxo-", Class::Url, 20, SlackToken),
    Form("xoxe.xoxp-", Class::Url, 20, SlackToken),
    Form("xoxe.xoxb-", Class::Url, 20, SlackToken),
    Form("xwfp-", Class::Url, 20, SlackToken),
    Form("sk_prod_", Class::Letter, 16, StripeKey),
    Form("rk_prod_", Class::Letter, 16, StripeKey),
    Form("sess-", Class::Letter, 40, OpenaiKey),
    Form("AQ.Ab", Class::Url, 40, GoogleKey),
    Form("1//0", Class::Url, 40, GoogleKey),
    Form("api_org_", Class::Letter, 30, HuggingFaceToken),
    Form("tskey-", Class::Url, 20, ServiceToken),
    Form("figd_", Class::Url, 36, ServiceToken),
    Form("figo_", Class::Url, 36, ServiceToken),
    Form("figor_", Class::Url, 36, ServiceToken),
    Form("doo_v1_", Class::Letter, 64, ServiceToken),
    Form("dor_v1_", Class::Letter, 64, ServiceToken),
    Form("dp.st.", Class::Dotted, 40, ServiceToken),
    Form("dp.ct.", Class::Dotted, 40, ServiceToken),
    Form("dp.sa.", Class::Dotted, 40, ServiceToken),
    Form("dp.scim.", Class::Dotted, 40, ServiceToken),
    Form("dp.audit.", Class::Dotted, 40, ServiceToken),
    Form("duffel_test_", Class::Url, 40, ServiceToken),
    Form("duffel_live_", Class::Url, 40, ServiceToken),
    Form("dt0c01.", Class::Dotted, 80, ServiceToken),
    Form("dt0s01.", Class::Dotted, 80, ServiceToken),
    Form("EZAK", Class::Letter, 54, ServiceToken),
    Form("EZTK", Class::Letter, 54, ServiceToken),
    Form("EAAA", Class::Url, 56, ServiceToken),
    Form("EAA", Class::Letter, 100, ServiceToken),
    Form("FLWSECK_TEST-", Class::Url, 12, ServiceToken),
    Form("FLWSECK-", Class::Url, 30, ServiceToken),
    Form("fo1_", Class::Url, 40, ServiceToken),
    Form("fm1a_", Class::Base64, 80, ServiceToken),
    Form("fm1r_", Class::Base64, 80, ServiceToken),
    Form("fm2_", Class::Base64, 80, ServiceToken),
    Form("fio-u-", Class::Url, 60, ServiceToken),
    Form("glc_", Class::Base64, 32, ServiceToken),
    Form("eyJrIjoi", Class::Base64, 60, ServiceToken),
    Form("pat-na1-", Class::Url, 36, ServiceToken),
    Form("pat-na2-", Class::Url, 36, ServiceToken),
    Form("pat-eu1-", Class::Url, 36, ServiceToken),
    Form("pat.", Class::Dotted, 60, ServiceToken),
    Form("pat", Class::Dotted, 79, ServiceToken),
    Form("HRKU-", Class::Url, 36, ServiceToken),
    Form("ico-", Class::Letter, 32, ServiceToken),
    Form("key-", Class::Letter, 32, ServiceToken),
    Form("lin_oauth_", Class::Letter, 32, ServiceToken),
    Form("shpca_", Class::Letter, 32, ServiceToken),
    Form("shppa_", Class::Letter, 32, ServiceToken),
    Form("p8e-", Class::Letter, 32, ServiceToken),
    Form("sk.eyJ", Class::Dotted, 60, ServiceToken),
    Form("nfp_", Class::Letter, 36, ServiceToken),
    Form("nfo_", Class::Letter, 36, ServiceToken),
    Form("nfc_", Class::Letter, 36, ServiceToken),
    Form("nfu_", Class::Letter, 36, ServiceToken),
    Form("pnu_", Class::Letter, 36, ServiceToken),
    Form("pnb_", Class::Letter, 36, ServiceToken),
    Form("ddp_", Class::Letter, 36, ServiceToken),
    Form("ddo_", Class::Letter, 36, ServiceToken),
    Form("NRII-", Class::Url, 32, ServiceToken),
    Form("secret_", Class::Letter, 43, ServiceToken),
    Form("oy2", Class::Letter, 43, ServiceToken),
    Form("API-", Class::Capital, 26, ServiceToken),
    Form("sha256~", Class::Url, 43, ServiceToken),
    Form("pscale_tkn_", Class::Dotted, 32, ServiceToken),
    Form("pscale_oauth_", Class::Dotted, 32, ServiceToken),
    Form("pscale_pw_", Class::Dotted, 32, ServiceToken),
    Form("pul-", Class::Letter, 40, ServiceToken),
    Form("shippo_live_", Class::Letter, 40, ServiceToken),
    Form("shippo_test_", Class::Letter, 40, ServiceToken),
    Form("squ_", Class::Letter, 40, ServiceToken),
    Form("sqp_", Class::Letter, 40, ServiceToken),
    Form("sqa_", Class::Letter, 40, ServiceToken),
    Form("bkua_", Class::Letter, 40, ServiceToken),
    Form("csk-", Class::Letter, 40, ServiceToken),
    Form("phx_", Class::Letter, 40, ServiceToken),
    Form("rdme_", Class::Letter, 70, ServiceToken),
    Form("rubygems_", Class::Letter, 48, ServiceToken),
    Form("sk_", Class::Letter, 48, ServiceToken),
    Form("tk-us-", Class::Url, 48, ServiceToken),
    Form("xkeysib-", Class::Url, 60, ServiceToken),
    Form("xsmtpsib-", Class::Url, 60, ServiceToken),
    Form("nvapi-", Class::Url, 60, ServiceToken),
    Form("ATCTT3", Class::Url, 60, ServiceToken),
    Form("ATSTT3", Class::Url, 60, ServiceToken),
    Form("ATBB", Class::Letter, 28, ServiceToken),
    Form("sgp_", Class::Name, 40, ServiceToken),
    Form("lsv2_pt_", Class::Name, 40, ServiceToken),
    Form("lsv2_sk_", Class::Name, 40, ServiceToken),
    Form("pcsk_", Class::Name, 40, ServiceToken),
    Form("slk_", Class::Letter, 64, ServiceToken),
    Form("mlsn.", Class::Letter, 64, ServiceToken),
    Form("sq0atp-", Class::Url, 22, ServiceToken),
    Form("sq0csp-", Class::Url, 22, ServiceToken),
    Form("tfp_", Class::Dotted, 50, ServiceToken),
    Form("hvb.", Class::Url, 24, ServiceToken),
    Form("hvr.", Class::Url, 24, ServiceToken),
    Form("dckr_oat_", Class::Url, 24, ServiceToken),
    Form("AQVN", Class::Url, 35, ServiceToken),
    Form("LTAI", Class::Letter, 20, ServiceToken),
    Form("AKCp", Class::Letter, 69, ServiceToken),
    Form("cmVmd", Class::Letter, 59, ServiceToken),
    Form("CLOJARS_", Class::Letter, 60, ServiceToken),
    Form("v1.0-", Class::Url, 171, ServiceToken),
    Form("ops_eyJ", Class::Base64, 200, ServiceToken),
    Form("A3-", Class::Url, 33, ServiceToken),
    Form("CCIPAT_", Class::Name, 60, ServiceToken),
    Form("CCIPRJ_", Class::Name, 60, ServiceToken),
    Form("CFPAT-", Class::Url, 40, ServiceToken),
    Form("tgp_v1_", Class::Url, 40, ServiceToken),
    Form("pa-", Class::Url, 40, ServiceToken),
    Form("sb_secret_", Class::Url, 24, ServiceToken),
    Form("vcp_", Class::Letter, 24, ServiceToken),
    Form("vck_", Class::Letter, 24, ServiceToken),
    Form("vca_", Class::Letter, 24, ServiceToken),
    Form("vci_", Class::Letter, 24, ServiceToken),
    Form("sl.", Class::Dotted, 100, ServiceToken),
    Form("cflt", Class::Base64, 60, ServiceToken),
    Form("snyk_uat.", Class::Dotted, 40, ServiceToken),
    Form("snyk_sat.", Class::Dotted, 40, ServiceToken),
    Form("re_", Class::Name, 30, ServiceToken),
    Form("fw_", Class::Letter, 22, ServiceToken),
    Form("jina_", Class::Letter, 50, ServiceToken),
    Form("cio", Class::Letter, 32, ServiceToken),
    Form("packagist_uut_", Class::Letter, 40, ServiceToken),
    Form("packagist_ort_", Class::Letter, 40, ServiceToken),
    Form("LS0tLS1CRUdJTiBSU0EgUFJJVkFURS", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBQUklWQVRF", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBFQyBQUklWQVRF", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBPUEVOU1NI", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBEU0EgUFJJVkFURS", Class::Base64, 60, PrivateKey),
    Form("LS0tLS1CRUdJTiBQR1AgUFJJVkFURS", Class::Base64, 60, PrivateKey),
];

/// The first byte of each form, side by side, so that few of them have to be compared.
const FIRSTS: [u8; FORMS.len()] = {
    let mut firsts = [0; FORMS.len()];
    let mut at = 0;
    while at < FORMS.len() {
        firsts[at] = FORMS[at].0.as_bytes()[0];
        at += 1;
    }
    firsts
};

/// Fewest letters of a token that has no digit.
const LETTERS: usize = 18;

/// How the others begin: web tokens, webhooks, and the letters that tokens of Discord (a number in Base64) and keys of Twilio
/// begin with.
const OTHERS: [&str; 5] = ["eyJ", "hooks.", "discord", "webhook.", "outlook."];
const DISCORD: [&[u8]; 3] = [b"MNO", b"DTjz", b"AEIMQUYcgk"];
const TWILIO: [&[u8]; 3] = [b"S", b"K", b"0123456789abcdef"];

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
    with_all(with_all(starts, DISCORD), TWILIO)
};

/// The same with a bit for every three bytes, one of each list.
const fn with_all(mut starts: [u64; 1024], [first, second, third]: [&[u8]; 3]) -> [u64; 1024] {
    let mut at = 0;
    while at < first.len() * second.len() * third.len() {
        let (a, b) = (at / third.len() / second.len(), at / third.len() % second.len());
        let bit = bit(first[a], second[b], third[at % third.len()]);
        starts[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    starts
}

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

/// What the addresses of webhooks have after their scheme. Whoever knows one may post.
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
/// Fewest letters of the part of such an address that was made by chance.
const WEBHOOK: usize = 20;

/// A mark that stands within a token, and what is before and after it: of what it is made, how much of it at least and at the
/// most.
struct Middle(&'static str, (Class, usize, usize), (Class, usize, usize));

/// The tokens that are known by such a mark: of bots of Telegram, Terraform, Mailchimp and Azure.
const MIDDLES: [Middle; 4] = [
    Middle(":AA", (Class::Letter, 8, 14), (Class::Url, 33, 33)),
    Middle(".atlasv1.", (Class::Letter, 14, 14), (Class::Url, 60, 70)),
    Middle("-us", (Class::Letter, 32, 32), (Class::Letter, 1, 2)),
    Middle("~", (Class::Dotted, 5, 5), (Class::Dotted, 31, 34)),
];

/// The bytes that such a mark begins with, none of which is of a name.
const MIDDLE: [bool; 256] = {
    let mut begins = [false; 256];
    let mut at = 0;
    while at < MIDDLES.len() {
        begins[MIDDLES[at].0.as_bytes()[0] as usize] = true;
        at += 1;
    }
    begins
};

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
            // Only where a word begins.
            at += bytes[at..].iter().take_while(|byte| NAMES[usize::from(**byte)]).count();
        } else {
            at += 1;
        }
    }
}

/// The token that begins here, at the beginning of a word.
fn begun(text: &str, at: usize, runs: &mut Runs) -> Option<Found> {
    let bytes = text.as_bytes();
    // Only where a run begins: a token of three runs would else be read again from each place in the first.
    let first = at.checked_sub(1).is_none_or(|before| !Class::Url.has(bytes[before]));
    of_form(text, at, runs)
        .or_else(|| first.then(|| web_token(bytes, at).or_else(|| discord_token(text, at))).flatten())
        .or_else(|| twilio_key(text, at))
        .or_else(|| webhook(text, at))
}

fn of_form(text: &str, at: usize, runs: &mut Runs) -> Option<Found> {
    let bytes = text.as_bytes();
    let mut forms = memchr::memchr_iter(bytes[at], &FIRSTS).map(|place| &FORMS[place]);
    let Form(start, class, least, what) =
        forms.find(|Form(start, ..)| bytes[at..].starts_with(start.as_bytes()))?;
    // What begins with letters alone may begin so by chance within data in letters.
    let in_data = at.checked_sub(1).is_some_and(|before| matches!(bytes[before], b'+' | b'/'));
    if in_data && start.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let from = at + start.len();
    let end = if from < bytes.len() { runs.end(bytes, *class, from) } else { from };
    let longest = if *class == Class::Base64 { LONGEST_DATA } else { LONGEST };
    if !(*least..=longest).contains(&(end - from)) || bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    // The end of a sentence is not a part of it.
    let body = text[from..end].trim_end_matches('.');
    let end = from + body.len();
    let likely = match class {
        // Of capitals only, some have no digit.
        Class::Capital => distinct(body.as_bytes()) >= 6 && !is_stand_in(body),
        _ => is_random(body) || is_noise(body, LETTERS),
    };
    likely.then_some(Found { range: at..end, what: *what })
}

/// A token that is known by a mark in it, which stands here.
fn around(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let Middle(mark, (before, least, most), (after, fewest, longest)) =
        MIDDLES.iter().find(|Middle(mark, ..)| bytes[at..].starts_with(mark.as_bytes()))?;
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
            // Addresses of its service have a word before the number.
            let number = head.trim_start_matches("bot");
            range.start = at - number.len();
            (8..=11).contains(&number.len()) && digits(number)
        }
        "-us" => digits(tail) && head.bytes().all(is_hex),
        "~" => head.as_bytes()[3].is_ascii_digit() && head.ends_with('Q') && is_random(tail),
        _ => is_random(tail),
    };
    likely.then_some(Found { range, what: ServiceToken })
}

/// The token of a bot of Discord: its number in Base64, a time and a signature.
fn discord_token(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let part = |from: usize| end(bytes, Class::Url, from.min(bytes.len()));
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
    fits.then_some(Found { range: at..last, what: ServiceToken })
}

/// A key of Twilio: two letters and 32 digits.
fn twilio_key(text: &str, at: usize) -> Option<Found> {
    if !text.as_bytes()[at..].starts_with(b"SK") {
        return None;
    }
    let end = end(text.as_bytes(), Class::Name, at);
    let digits = text.get(at + 2..end).filter(|digits| digits.len() == 32)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
    (is_hex && is_random(digits)).then_some(Found { range: at..end, what: ServiceToken })
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
    let (address, what) = WEBHOOKS.iter().find(|(address, _)| bytes[at..].starts_with(address.as_bytes()))?;
    let from = at + address.len();
    let is_part = |byte: &u8| Class::Url.has(*byte) || matches!(byte, b'/' | b'@');
    let length = bytes[from..].iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
    let path = &text[from..from + length];
    let long = path.split('/').any(|part| part.len() >= WEBHOOK);
    (long && is_random(path)).then_some(Found { range: at..from + length, what: *what })
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
