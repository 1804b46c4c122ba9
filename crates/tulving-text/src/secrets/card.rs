//! Finds the numbers of payment cards. Such a number has the length and the prefix of an issuer and a valid check
//! digit. It is also grouped like a card number, or near a word for a card.

use super::SecretMatch;
use crate::vocabulary::SecretKind;

/// Minimum and maximum number of digits of a card number.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// Maximum distance from a number back to a word for a card, in bytes.
const BESIDE: usize = 48;
/// Words for a card, in lower case.
const NAMES: [&str; 8] =
    ["card", "visa", "mastercard", "amex", "american express", "credit", "debit", "karte"];
/// Test numbers that payment services publish.
const TESTS: [&str; 20] = [
    "4242424242424242",
    "4111111111111111",
    "4012888888881881",
    "4000056655665556",
    "4000000000000002",
    "5555555555554444",
    "5105105105105100",
    "2223003122003222",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "6011000990139424",
    "5500000000000004",
    "5454545454545454",
    "5200828282828210",
    "4000002500003155",
    "4000000000009995",
    "3566002020360505",
    "3530111333300000",
    "6011000000000004",
];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
        at += next;
        let first = digits(bytes, at);
        let apart = at.checked_sub(1).is_none_or(|before| !is_tied(bytes[before]));
        let long = first == 4 || DIGITS.contains(&first);
        match (apart && long).then(|| number(text, at)).flatten() {
            Some(end) => {
                found.push(SecretMatch { range: at..end, what: SecretKind::CardNumber });
                at = end;
            }
            None => at += first,
        }
    }
}

/// Returns true if a number next to this byte is part of a longer word or number.
fn is_tied(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+' | b'/' | b'#' | b'=')
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the end of a card number that begins at this position.
fn number(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut groups, mut end) = (vec![digits(bytes, at)], at + digits(bytes, at));
    let gap = bytes.get(end).copied().filter(|byte| matches!(byte, b' ' | b'-'));
    while groups.len() < 5 && gap.is_some() && bytes.get(end).copied() == gap {
        let next = digits(bytes, end + 1);
        if next == 0 {
            break;
        }
        groups.push(next);
        end += 1 + next;
        if groups.iter().sum::<usize>() > *DIGITS.end() {
            return None;
        }
    }
    if !DIGITS.contains(&groups.iter().sum()) {
        return None;
    }
    let ends =
        bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'-');
    let number: String = text[at..end].chars().filter(char::is_ascii_digit).collect();
    let grouped = match groups.as_slice() {
        [_] => is_named(text, at),
        [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4] | [4, 4, 4, 4, 3] => true,
        _ => false,
    };
    let valid = ends && grouped && is_issued(&number) && is_checked(&number);
    (valid && !TESTS.contains(&number.as_str())).then_some(end)
}

/// Returns true if a word for a card precedes a number on the same line.
fn is_named(text: &str, at: usize) -> bool {
    let from = (at.saturating_sub(BESIDE)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    let before = text[from..at].rsplit('\n').next().unwrap_or_default().to_ascii_lowercase();
    // The label of a redacted card number does not count as a word for a card.
    let before = before.replace(&format!("{}]", SecretKind::CardNumber), "");
    NAMES.iter().any(|name| before.contains(name))
}

/// Returns true if an issuer uses numbers with this prefix and length.
fn is_issued(number: &str) -> bool {
    let head = |digits: usize| number[..digits].parse::<u32>().unwrap_or_default();
    match number.len() {
        13 => head(1) == 4,
        14 => matches!(head(2), 36 | 38 | 39) || (300..=305).contains(&head(3)),
        15 => matches!(head(2), 34 | 37),
        16 => {
            head(1) == 4
                || (51..=55).contains(&head(2))
                || (2221..=2720).contains(&head(4))
                || head(4) == 6011
                || head(2) == 65
                || (644..=649).contains(&head(3))
                || (3528..=3589).contains(&head(4))
                || head(2) == 62
        }
        19 => head(1) == 4 || head(2) == 62,
        _ => head(2) == 62,
    }
}

/// Returns true if the check digit is valid (Luhn algorithm).
fn is_checked(number: &str) -> bool {
    let sum: u32 = number
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| match (place % 2, u32::from(byte - b'0')) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10) && super::random_values::distinct(number.as_bytes()) >= 3
}
