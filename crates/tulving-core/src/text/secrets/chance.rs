//! Whether a value was made by chance, or stands for one.

/// Parts of what stands in the place of a secret in examples and templates, in lower case.
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

/// How a value begins that only tells where the secret is, in lower case.
const REFERENCES: [&str; 27] = [
    "$",
    "<",
    "{",
    "[",
    "%s",
    "%(",
    "(",
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
];

/// Whether an ASCII value looks as if it was made by chance: letters and digits in turn, many of them different.
pub(super) fn is_random(value: &str) -> bool {
    let solid: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let turns = solid.windows(2).filter(|pair| sort(pair[0]) != sort(pair[1])).count();
    let has = |is: fn(&u8) -> bool| solid.iter().any(is);
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && distinct(&solid) >= 8
        && turns * 6 >= solid.len()
        && !is_stand_in(value)
}

/// Whether letters alone look as if they were made by chance: large and small ones in turn, and large ones side by side, as
/// no name has them that is written in humps.
pub(super) fn is_noise(value: &str, least: usize) -> bool {
    let pairs = || value.as_bytes().windows(2);
    let large = pairs().filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    let turns = pairs().filter(|pair| sort(pair[0]) != sort(pair[1])).count();
    value.len() >= least
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && large > 0
        && turns >= 4
        && turns * 4 >= value.len()
        && distinct(value.as_bytes()) >= 8
        && !is_stand_in(value)
}

/// How many different bytes there are.
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

/// Whether a value stands for a secret that is not said.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    STAND_INS.iter().any(|part| lower.contains(part)) || distinct(lower.as_bytes()) < 3
}

/// Whether a value is code, a path or a name that tells where the secret is.
pub(super) fn is_reference(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    REFERENCES.iter().any(|start| lower.starts_with(start))
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
    fn what_tells_where_it_is_is_a_reference() {
        for reference in
            ["$TOKEN", "process.env.KEY_2", "<token>", "getpass()", "/run/secrets/db1", "${{ secrets.X }}"]
        {
            assert!(is_reference(reference), "{reference}");
        }
        assert!(!is_reference("Winter2024!"));
    }
}
