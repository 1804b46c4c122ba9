//! Rejects content that could make a parser hang, exhaust memory or crash.
//!
//! The parsers and their scanners are written in C. Their faults were found by reading the scanners and by parsing
//! generated texts under an address sanitizer. The conditions in this file reject the texts that trigger those faults.

use super::grammar::Grammar;

/// Maximum length of code that is parsed, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Maximum number of brackets that are open at once. Broken code with deeper nesting makes the parser try too many
/// alternatives: 10 KB of `%w(`, parsed as Rust, take half a minute and 3 GB.
const NESTED: u32 = 128;

/// Maximum number of different indentations. Python's scanner writes 2 bytes for each open indentation into a buffer of
/// 1 KB, without a bounds check.
const INDENTATIONS: usize = 128;

/// Returns true if the content is safe to parse.
pub(super) fn lets_pass(content: &str, grammar: Grammar) -> bool {
    content.len() <= MOST_BYTES
        && is_flat(content)
        && match grammar {
            Grammar::Python => has_few_indentations(content),
            Grammar::Ruby => !has_heredoc(content),
            _ => true,
        }
}

/// Returns true if the brackets are nested no deeper than in code that people write. Also rejects NUL, because only
/// some of the scanners treat NUL as the end of the text.
fn is_flat(content: &str) -> bool {
    let mut open = 0_u32;
    content.bytes().all(|byte| {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        byte != 0 && open <= NESTED
    })
}

fn has_few_indentations(content: &str) -> bool {
    let mut known = Vec::new();
    for line in content.split(['\n', '\r', '\u{c}']) {
        let text = line.trim_start_matches([' ', '\t']);
        // The indentation of a line with only a backslash is added to the indentation of the next line.
        if text == "\\" {
            return false;
        }
        let indentation = &line[..line.len() - text.len()];
        let width: usize = indentation.bytes().map(|byte| if byte == b'\t' { 8 } else { 1 }).sum();
        if !known.contains(&width) {
            known.push(width);
        }
        if known.len() > INDENTATIONS {
            return false;
        }
    }
    true
}

/// Returns true if the content may contain the start of a here-document. Ruby's scanner writes one byte beyond its
/// buffer for a here-document, and aborts the process if the delimiter has more than 255 letters.
fn has_heredoc(content: &str) -> bool {
    content.match_indices("<<").any(|(at, _)| {
        let rest = content[at + 2..].trim_start_matches(['-', '~']);
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '`'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_people_passes() {
        let rust = "fn a() { if b { c(&[1, (2)]) } }\n".repeat(1_000);
        assert!(lets_pass(&rust, Grammar::Rust));
        let python = "def a():\n    if b:\n\treturn c\n".repeat(1_000);
        assert!(lets_pass(&python, Grammar::Python));
        assert!(lets_pass("class << self\n  list << item\n  1 << 2\nend", Grammar::Ruby));
    }

    #[test]
    fn what_may_harm_does_not() {
        assert!(!lets_pass(&"(".repeat(200_000), Grammar::C));
        assert!(!lets_pass("a\0b", Grammar::C));
        assert!(!lets_pass(&"a ".repeat(MOST_BYTES), Grammar::C));
        let deep: String = (0..600).map(|n| format!("{}if 1:\n", " ".repeat(n))).collect();
        assert!(!lets_pass(&deep, Grammar::Python) && lets_pass(&deep, Grammar::Rust));
        assert!(!lets_pass("if 1:\n  \\\n  \\\n    a", Grammar::Python));
        for heredoc in ["a(<<~SQL)", "<<A", "x = <<-'a b'", "<<\"X\""] {
            assert!(!lets_pass(heredoc, Grammar::Ruby), "{heredoc}");
        }
    }
}
