//! What the process that reads a file says to the one that started it: a line of JSON, then the text.
//!
//! Where the text is made by another program that took the place of the first, its length is not known before; it ends with the
//! output, and counts only if that program ended well.

use serde::{Deserialize, Serialize};
use tulving_core::error::ExtractError;
use tulving_core::ports::Extracted;
use tulving_core::preview;

/// The line may have so many bytes.
pub(super) const LONGEST_HEAD: usize = 16_384;

/// So many characters are said of what is wrong.
const LONGEST_WHY: usize = 200;

/// All that reads files, by the names that answers carry.
const READERS: [&str; 9] = ["pdf", "ocr", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"];

/// The line before the text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Head {
    /// A text comes.
    Read {
        by: String,
        title: Option<String>,
        pages: Option<u32>,
        cut: bool,
        /// How many bytes it has; unknown where another program makes it.
        bytes: Option<usize>,
    },
    /// There is none.
    Failed(Failed),
}

/// Why there is no text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failed {
    Unsupported { media_type: String },
    NotInstalled { program: String },
    Damaged { why: String },
    Encrypted,
    TooLarge { why: String },
}

impl Head {
    /// As it is written.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("it has nothing in it that JSON has not");
        line.push(b'\n');
        line
    }
}

impl From<ExtractError> for Head {
    fn from(error: ExtractError) -> Self {
        // Names and texts of the file may be among the words.
        let cut = |words: &str| preview::cut(words, LONGEST_WHY);
        Self::Failed(match error {
            ExtractError::Unsupported { media_type } => Failed::Unsupported { media_type: cut(&media_type) },
            ExtractError::NotInstalled { program } => Failed::NotInstalled { program },
            ExtractError::Encrypted => Failed::Encrypted,
            ExtractError::TooLarge { why } => Failed::TooLarge { why: cut(&why) },
            ExtractError::Damaged { why } => Failed::Damaged { why: cut(&why) },
            // The others are for the one who started it to find out.
            other => Failed::Damaged { why: cut(&other.to_string()) },
        })
    }
}

impl From<Failed> for ExtractError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Unsupported { media_type } => Self::Unsupported { media_type },
            Failed::NotInstalled { program } => Self::NotInstalled { program },
            Failed::Encrypted => Self::Encrypted,
            Failed::TooLarge { why } => Self::TooLarge { why },
            Failed::Damaged { why } => Self::Damaged { why },
        }
    }
}

/// What was said, as far as it can be understood.
pub(super) enum Said {
    /// All of a text.
    Whole(Extracted),
    /// A text that is one if what made it has ended well.
    Open(Extracted),
    /// That there is none.
    Failed(ExtractError),
    /// Nothing, or not all of it.
    Nothing,
}

/// Reads what was said.
pub(super) fn said(output: &[u8]) -> Said {
    let Some(end) = output.iter().position(|byte| *byte == b'\n') else {
        return Said::Nothing;
    };
    let (line, text) = (&output[..end], &output[end + 1..]);
    match serde_json::from_slice(line) {
        Ok(Head::Failed(failed)) => Said::Failed(failed.into()),
        Ok(Head::Read { by, title, pages, cut, bytes }) => {
            let Some(by) = READERS.into_iter().find(|reader| *reader == by) else {
                return Said::Nothing;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            let extracted = Extracted { text, title, by, pages, cut };
            match bytes {
                None => Said::Open(extracted),
                Some(bytes) if bytes == extracted.text.len() => Said::Whole(extracted),
                Some(_) => Said::Nothing,
            }
        }
        Err(_) => Said::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: Option<usize>) -> Head {
        Head::Read { by: "pdf".to_owned(), title: Some("T\n".to_owned()), pages: Some(2), cut: false, bytes }
    }

    #[test]
    fn what_is_said_is_understood() {
        let output = [head(Some(5)).line(), b"a\nb\nc".to_vec()].concat();
        let Said::Whole(whole) = said(&output) else { panic!("it is whole") };
        assert_eq!((whole.text.as_str(), whole.title.as_deref(), whole.by), ("a\nb\nc", Some("T\n"), "pdf"));
        let open = [head(None).line(), b"so far".to_vec()].concat();
        assert!(matches!(said(&open), Said::Open(text) if text.text == "so far"));
        let failed = Head::Failed(Failed::NotInstalled { program: "tesseract".to_owned() }).line();
        assert!(matches!(said(&failed), Said::Failed(ExtractError::NotInstalled { .. })));
        let long = Head::from(ExtractError::Damaged { why: "x\n".repeat(100_000) }).line();
        assert!(long.len() < 1_000 && matches!(said(&long), Said::Failed(ExtractError::Damaged { .. })));
    }

    #[test]
    fn what_is_not_all_there_is_nothing() {
        let short = [head(Some(5)).line(), b"a\nb".to_vec()].concat();
        let unknown = String::from_utf8_lossy(&head(Some(0)).line()).replace("pdf", "magic").into_bytes();
        for output in [&b""[..], b"{}\n", b"no line", b"\xff\n", &short, &unknown] {
            assert!(matches!(said(output), Said::Nothing));
        }
    }
}
