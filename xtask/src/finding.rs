//! One problem that a check found, and its place.

use std::fmt;

/// A problem and its place, printed as `file:line: text` so that editors can jump to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CheckFinding {
    /// Relative to the root of the repository, with `/` between the parts; `commit ID` if it is about a commit.
    pub(crate) file: String,
    /// Counted from 1; `None` if the finding is about the whole file.
    pub(crate) line: Option<usize>,
    pub(crate) text: String,
}

impl CheckFinding {
    pub(crate) fn at(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), text: text.into() }
    }

    pub(crate) fn about(file: &str, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, text: text.into() }
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.text),
            None => write!(out, "{}: {}", self.file, self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_file_line_and_text() {
        assert_eq!(CheckFinding::at("docs/a.md", 3, "is odd").to_string(), "docs/a.md:3: is odd");
        assert_eq!(CheckFinding::about("docs/a.md", "is odd").to_string(), "docs/a.md: is odd");
    }
}
