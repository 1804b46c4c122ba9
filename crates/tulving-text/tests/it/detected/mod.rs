//! Accuracy of the detectors of secrets and of commands, on texts that were labelled by hand.
//!
//! The floors are the present results: a change of the rules may raise them. Every secret here is made up.

use serde::Deserialize;
use tulving_text::vocabulary::SecretKind;
use tulving_text::{commands, secrets};

const COMMANDS: &str = include_str!("commands.toml");
const HELD_OUT: &str = include_str!("held_out.toml");
const HELD_OUT_2: &str = include_str!("held_out_2.toml");
const HELD_OUT_3: &str = include_str!("held_out_3.toml");
const SECRETS: &str = include_str!("secrets.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    hostile: Vec<String>,
    innocent: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secrets {
    with: Vec<With>,
    without: Without,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct With {
    what: SecretKind,
    texts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Without {
    texts: Vec<String>,
}

/// Pseudo-random numbers, the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % below as u64).expect("a small number")
    }

    fn of(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..length).map(|_| letters[self.next(letters.len())]).collect()
    }

    /// Returns the value for a name in braces.
    fn filled(&mut self, name: &str) -> String {
        const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let length = || name[1..].parse::<usize>().expect("a length");
        match name {
            "visa4" => grouped(&self.card("4539", 16)),
            "master4" => grouped(&self.card("5412", 16)),
            "master" => self.card("5312", 16),
            "amex" => self.card("3799", 15),
            // A bare tilde is removed from the text.
            "tilde" => "~".to_owned(),
            _ if name.starts_with('C') => self.of(CAPITALS, length()),
            _ if name.starts_with('h') => self.of("0123456789abcdef", length()),
            _ if name.starts_with('p') => format!("{}7!", self.of(LETTERS, length() - 2)),
            _ if name.starts_with('b') => self.of(&format!("{LETTERS}+/"), length()),
            _ => self.of(LETTERS, length()),
        }
    }

    /// Returns a made-up card number with the right check digit.
    fn card(&mut self, start: &str, length: usize) -> String {
        let rest = self.of("0123456789", length - 1 - start.len());
        let body = format!("{start}{rest}");
        let double = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
        let digits = body.chars().rev().map(|c| c.to_digit(10).expect("a digit"));
        let sum: u32 =
            digits.enumerate().map(|(n, digit)| if n % 2 == 0 { double(digit) } else { digit }).sum();
        format!("{body}{}", (10 - sum % 10) % 10)
    }
}

fn grouped(number: &str) -> String {
    let groups: Vec<&str> = (0..4).map(|n| &number[n * 4..n * 4 + 4]).collect();
    groups.join(" ")
}

/// Returns a text with its pieces joined and its values filled in.
fn meant(text: &str, chance: &mut Chance) -> String {
    let text = text.replace('~', "");
    let mut whole = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find('{') {
        whole.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let name = after.split('}').next().unwrap_or_default();
        let is_name =
            after.len() > name.len() && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
        if is_name {
            whole.push_str(&chance.filled(name));
            rest = &after[name.len() + 1..];
        } else {
            whole.push('{');
            rest = after;
        }
    }
    whole + rest
}

/// Measures a set, and names the texts that were missed or marked wrongly.
#[track_caller]
fn assert_measured(set: &str, hostile_floor: usize, innocent_most: usize) {
    let set: Commands = toml::from_str(set).expect("labelled texts");
    assert!(set.hostile.len() >= 30 && set.innocent.len() >= 50, "there are enough of both");
    let marked = |text: &&String| !commands::find(text).is_empty();
    let missed: Vec<&String> = set.hostile.iter().filter(|text| !marked(text)).collect();
    let wrong: Vec<&String> = set.innocent.iter().filter(marked).collect();
    let found = set.hostile.len() - missed.len();
    let (all, none) = (set.hostile.len(), set.innocent.len());
    assert!(found >= hostile_floor, "{found} of {all} found, missed: {missed:#?}");
    assert!(wrong.len() <= innocent_most, "{} of {none} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn commands_are_told_from_what_looks_like_them() {
    assert_measured(COMMANDS, 128, 0);
}

#[test]
fn there_are_many_commands_and_more_that_only_look_like_them() {
    let sets = [COMMANDS, HELD_OUT, HELD_OUT_2, HELD_OUT_3]
        .map(|set| toml::from_str::<Commands>(set).expect("labelled texts"));
    let count = |of: fn(&Commands) -> usize| sets.iter().map(of).sum::<usize>();
    assert!(count(|set| set.hostile.len()) >= 280);
    assert!(count(|set| set.innocent.len()) >= 450);
}

#[test]
fn commands_that_the_rules_were_not_made_with_are_told_too() {
    assert_measured(HELD_OUT, 27, 0);
}

#[test]
fn templates_roles_links_and_other_languages_were_not_told() {
    assert_measured(HELD_OUT_2, 78, 0);
}

#[test]
fn the_same_forms_are_told_in_other_words() {
    assert_measured(HELD_OUT_3, 49, 0);
}

#[test]
fn secrets_are_found_by_their_kind() {
    let set: Secrets = toml::from_str(SECRETS).expect("labelled texts");
    let mut chance = Chance(20_260_527);
    let mut wrong = Vec::new();
    let mut count = 0;
    // Several times, because the values are random.
    for _ in 0..20 {
        for (what, text) in set.with.iter().flat_map(|with| with.texts.iter().map(|text| (with.what, text))) {
            let text = meant(text, &mut chance);
            let found = secrets::find(&text);
            count += 1;
            if found.len() != 1 || found[0].what != what {
                wrong.push((what, text.clone(), found));
                continue;
            }
            let safe = secrets::redacted(&text);
            assert!(!safe.contains(&text[found[0].range.clone()]), "{text}");
            assert_eq!(secrets::find(&safe), [], "{safe}");
        }
    }
    assert!(count >= 40 * 20);
    assert!(wrong.len() * 100 <= count, "{} of {count}: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

#[test]
fn what_is_no_secret_stays() {
    let set: Secrets = toml::from_str(SECRETS).expect("labelled texts");
    let mut chance = Chance(20_260_528);
    let mut wrong = Vec::new();
    for text in (0..20).flat_map(|_| &set.without.texts) {
        let text = meant(text, &mut chance);
        let found = secrets::find(&text);
        if !found.is_empty() {
            wrong.push((text, found));
        }
    }
    assert!(set.without.texts.len() > 300, "{}", set.without.texts.len());
    assert_eq!(wrong, []);
}
