//! One thing that a check found wrong, and where.

use std::fmt;

/// What is wrong and where, printed as `file:line: text` so that editors can jump to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Relative to the root of the repository, with `/` between the parts.
    pub(crate) file: String,
    /// Counted from 1; none when the whole file is meant.
    pub(crate) line: Option<usize>,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn at(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), text: text.into() }
    }

    pub(crate) fn about(file: &str, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, text: text.into() }
    }
}

impl fmt::Display for Finding {
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
        assert_eq!(Finding::at("docs/a.md", 3, "is odd").to_string(), "docs/a.md:3: is odd");
        assert_eq!(Finding::about("docs/a.md", "is odd").to_string(), "docs/a.md: is odd");
    }
}
