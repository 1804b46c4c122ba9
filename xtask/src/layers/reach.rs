//! The names that crates without I/O may not use: disk, network, processes, a database.

use super::shipped::ShippedFile;
use crate::finding::CheckFinding;
use crate::source::{lines_with, names_under};

/// The crates without I/O.
pub(super) const CLOSED: [&str; 3] = ["tulving-core", "tulving-dialects", "tulving-text"];

const STANDARD: [&str; 3] = ["fs", "net", "process"];
const CRATES: [&str; 1] = ["rusqlite"];

/// Returns every place in this file that reaches outside.
pub(super) fn check(source: &ShippedFile) -> Vec<CheckFinding> {
    let standard = names_under(&source.code, "std")
        .into_iter()
        .filter(|named| STANDARD.contains(&named.name))
        .map(|named| (named.line, format!("std::{}", named.name)));
    let foreign = CRATES
        .iter()
        .flat_map(|name| lines_with(&source.code, name).into_iter().map(|line| (line, (*name).to_owned())));
    standard
        .chain(foreign)
        .map(|(line, what)| {
            CheckFinding::at(
                &source.file,
                line,
                format!("`{what}` has no place in this crate; go through a port"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::shipped;
    use crate::repository::SourceFile;

    fn lines(text: &str) -> Vec<usize> {
        let source = SourceFile { file: "a.rs".to_owned(), text: text.to_owned() };
        shipped::read(&[source]).iter().flat_map(check).filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn reaching_outside_is_found() {
        assert_eq!(lines("use std::fmt;\nuse std::fs::File;\nuse std::{io, net};"), [2, 3]);
        assert_eq!(lines("fn f() { rusqlite::Connection::open(x) }"), [1]);
    }

    #[test]
    fn words_in_comments_and_tests_are_free() {
        assert_eq!(lines("//! No `std::fs` and no rusqlite here.\nfn f() { g(\"std::fs\") }"), [0; 0]);
        assert_eq!(lines("#[cfg(test)]\nmod tests {\n    use std::fs;\n}"), [0; 0]);
    }
}
