//! Detects random values, and detects placeholders and references that are used instead of values.

/// Parts of placeholders for secrets in examples and templates, in lower case.
const STAND_INS: [&str; 14] = [
    "example",
    "xxxx",
    "your-",
    "your_",
    "yourkey",
    "placeholder",
    "changeme",
    "redacted",
    "dummy",
    "insert",
    "replace",
    "<",
    "${",
    "…",
];

/// Prefixes of values that only refer to a secret, in lower case.
const REFERENCES: [&str; 24] = [
    "$",
    "[",
    "%s",
    "@",
    "&",
    "os.",
    "process.",
    "env",
    "config",
    "settings.",
    "self.",
    "this.",
    "args.",
    "params.",
    "request.",
    "secrets.",
    "vault",
    "file:",
    "op:",
    "http:",
    "https:",
    "getenv",
    "!vault",
    "enc[",
];

/// YAML tags that precede a reference, in lower case.
const MARKS: [&str; 8] = ["!secret", "!ref", "!sub", "!env", "!env_var", "!getatt", "!include", "!reference"];

/// Returns true if an ASCII value looks random: letters and digits alternate, and many of them differ.
pub(super) fn is_random(value: &str) -> bool {
    let solid: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let has = |is: fn(&u8) -> bool| solid.iter().any(is);
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && distinct(&solid) >= 8
        && turns(&solid) * 6 >= solid.len()
        && !is_stand_in(value)
}

/// Returns true if a value of letters alone looks random: upper and lower case alternate, and some capitals are
/// adjacent. Camel-case names have no adjacent capitals.
pub(super) fn is_noise(value: &str, least: usize) -> bool {
    let pairs = || value.as_bytes().windows(2);
    let large = pairs().filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    let turns = turns(value.as_bytes());
    value.len() >= least
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && large > 0
        && turns >= 4
        && turns * 4 >= value.len()
        && distinct(value.as_bytes()) >= 8
        && !is_stand_in(value)
}

/// Returns true if a short value that contains several kinds of characters looks random.
pub(super) fn is_mixed(value: &str) -> bool {
    let core = value.trim_end_matches(['!', '?', '.', ',']);
    let solid: Vec<u8> = core.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let is_sign = |byte: u8| b"!@#$%^&*?~".contains(&byte);
    let sorts = [
        value.bytes().any(|byte| byte.is_ascii_lowercase()),
        value.bytes().any(|byte| byte.is_ascii_uppercase()),
        value.bytes().any(|byte| byte.is_ascii_digit()),
        value.bytes().any(is_sign),
    ];
    let sorts = sorts.into_iter().filter(|has| *has).count();
    let turns = turns(&solid);
    // Camel-case names contain complete words.
    let spelled = solid.windows(4).any(|part| part.iter().all(u8::is_ascii_lowercase));
    value.len() >= 8
        && value.is_ascii()
        && (sorts == 4 || sorts == 3 && (turns * 2 >= solid.len() || !spelled))
        && core.bytes().any(|byte| byte.is_ascii_digit() || is_sign(byte))
        && distinct(&solid) >= 6
        && turns * 3 >= solid.len()
}

/// Counts the positions at which a letter or digit is of another kind than the character before it.
pub(super) fn turns(solid: &[u8]) -> usize {
    solid.windows(2).filter(|pair| sort(pair[0]) != sort(pair[1])).count()
}

/// Returns the number of different bytes.
pub(super) fn distinct(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    bytes.iter().filter(|byte| !std::mem::replace(&mut seen[usize::from(**byte)], true)).count()
}

fn sort(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    }
}

/// Returns true if a value is a placeholder for a secret.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    STAND_INS.iter().any(|part| lower.contains(part)) || distinct(lower.as_bytes()) < 3
}

/// Returns true if the name after an asterisk is a YAML alias: `*default_password`.
fn is_alias(name: &str) -> bool {
    let parted = name.contains(['_', '-']);
    let in_name =
        |byte: u8| byte.is_ascii_lowercase() || b"_-".contains(&byte) || parted && byte.is_ascii_digit();
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(in_name)
}

/// Returns true if a value is code, a path or a name that refers to a secret.
pub(super) fn is_reference(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    REFERENCES.iter().any(|start| lower.starts_with(start))
        || MARKS.contains(&lower.as_str())
        || value.strip_prefix('*').is_some_and(is_alias)
        || (lower.starts_with(['/', '.', '~']) && lower.contains('/'))
        || lower.contains(['(', ')', '<', '>', '{', '}'])
        || lower.contains("[\"")
        || lower.contains("['")
        || lower.contains("[:")
        || lower.contains("[-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_told_from_words() {
        for random in ["Zq7Xw2Lr9Bv4Nt6K", "9f86d081884c7d659a2f", "a8Kd-93jf_Lq02-xmZ7"] {
            assert!(is_random(random), "{random}");
        }
        for made in [
            "my_super_secret_value_1",
            "xxxxxxxxxxxx1234",
            "your-api-key-12a4Bc9",
            "abcabcabc1",
            "1234567890123456",
        ] {
            assert!(!is_random(made), "{made}");
        }
    }

    #[test]
    fn short_chance_is_told_from_names() {
        for mixed in ["dStC9hkuC7%", "a8Kd93jfLq", "x7!Lm2#q", "7GtR2pQz"] {
            assert!(is_mixed(mixed), "{mixed}");
        }
        for name in [
            "Windows11",
            "iPhone15",
            "Text2Field",
            "Ctrl+Alt+Del",
            "a1b2c3d4e5f6",
            "Winter2031",
            "ISO-27001-based",
        ] {
            assert!(!is_mixed(name), "{name}");
        }
    }

    #[test]
    fn what_tells_where_it_is_is_a_reference() {
        for reference in [
            "$TOKEN",
            "process.env.KEY_2",
            "<token>",
            "getpass()",
            "/run/secrets/db1",
            "${{ secrets.X }}",
            "!secret",
            "*default_password",
            "ENC[AES256_GCM,data:abc",
        ] {
            assert!(is_reference(reference), "{reference}");
        }
        for value in ["Winter2024!", "!secret99", "*hunter2", "*Winter_2024"] {
            assert!(!is_reference(value), "{value}");
        }
    }
}
