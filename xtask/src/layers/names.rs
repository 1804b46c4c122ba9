//! The name of a type is unique in its crate, so that a search for it finds one type.
//!
//! Structs, enums, traits and type aliases of modules are checked. Those in functions, implementations and macros are
//! not.

use std::collections::BTreeMap;

use super::shipped::ShippedFile;
use crate::finding::CheckFinding;
use crate::source::{PathName, is_word, line_of};

/// The crates with unique type names: all of them.
pub(super) const CHECKED: &[&str] = &[
    "tulving",
    "tulving-core",
    "tulving-dialects",
    "tulving-models",
    "tulving-server",
    "tulving-store",
    "tulving-testkit",
    "tulving-text",
    "xtask",
];

const KEYWORDS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Returns every type of a crate that has the name of another one.
pub(super) fn check(files: &[ShippedFile]) -> Vec<CheckFinding> {
    let mut first: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        for PathName { name, line } in types(&file.code) {
            if let Some((other, at)) = first.get(name) {
                let text = format!(
                    "the type `{name}` has the name of another one, at {other}:{at}; rename one of them"
                );
                findings.push(CheckFinding::at(&file.file, line, text));
            } else {
                first.insert(name, (&file.file, line));
            }
        }
    }
    findings
}

/// The types that a file defines at the level of a module.
fn types(code: &str) -> Vec<PathName<'_>> {
    let mut types = Vec::new();
    // One entry for each open brace: true if it is that of a module.
    let mut open = Vec::new();
    let mut before = ["", ""];
    for (at, token) in tokens(code) {
        match token {
            "{" => open.push(before[0] == "mod"),
            "}" => _ = open.pop(),
            name if KEYWORDS.contains(&before[1]) && name.starts_with(is_word) && !open.contains(&false) => {
                types.push(PathName { name, line: line_of(code, at) });
            }
            _ => {}
        }
        before = [before[1], token];
    }
    types
}

/// The words and the single other characters of `code`, with their offsets.
fn tokens(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = code[at..].trim_start();
        let start = code.len() - rest.len();
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let length = word.max(rest.chars().next()?.len_utf8());
        at = start + length;
        Some((start, &rest[..length]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str) -> Vec<&str> {
        types(code).into_iter().map(|named| named.name).collect()
    }

    #[test]
    fn every_kind_of_type_counts() {
        let code =
            "pub struct A;\nstruct B<'a>(&'a str);\npub(crate) enum C { D }\nunsafe trait E {}\ntype F = G;";
        assert_eq!(names(code), ["A", "B", "C", "E", "F"]);
    }

    #[test]
    fn inline_modules_are_modules() {
        assert_eq!(names("mod a { struct A; pub mod b { enum B {} } fn f() {} struct C; }"), ["A", "B", "C"]);
    }

    #[test]
    fn what_is_in_functions_implementations_and_macros_does_not_count() {
        let code = "fn f() { struct A; }\nimpl Iterator for B { type Item = u8; }\ntrait C { type D; }\n\
                    macro_rules! e { () => { struct F; } }\nconst G: H = H { r#type: i };";
        assert_eq!(names(code), ["C"]);
    }

    #[test]
    fn a_second_type_of_a_name_is_told_with_the_first() {
        let file = |file: &str, code: &str| ShippedFile { file: file.to_owned(), code: code.to_owned() };
        let files = [
            file("a.rs", "struct Report;\nstruct Other;"),
            file("b.rs", "use crate::a::Other;\ntrait Report {}"),
            file("c.rs", "mod inner { type Report = u8; }"),
        ];
        let told: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(
            told[0],
            "b.rs:2: the type `Report` has the name of another one, at a.rs:1; rename one of them"
        );
        assert!(told[1].starts_with("c.rs:1: "), "{told:?}");
    }
}
