//! The answer of the child process to its parent: a line of JSON, followed by the text.
//!
//! If another program has replaced the child process and writes the text, the length of the text is not known in
//! advance. In that case the text ends with the output, and it is valid only if that program succeeded.

use serde::{Deserialize, Serialize};
use tulving_core::model::error::ExtractError;
use tulving_core::model::preview;
use tulving_core::ports::ExtractedText;

/// Maximum length of the JSON line, in bytes.
pub(super) const LONGEST_HEAD: usize = 16_384;

/// Maximum length of an error message, in characters.
const LONGEST_WHY: usize = 200;

/// The names of all readers, as answers use them.
const READERS: [&str; 9] = ["pdf", "ocr", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"];

/// The JSON line before the text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExtractReplyHeader {
    /// The text follows the line.
    Read {
        by: String,
        title: Option<String>,
        pages: Option<u32>,
        cut: bool,
        /// The length of the text in bytes; `None` if another program writes the text.
        bytes: Option<usize>,
    },
    /// There is no text.
    Failed(ExtractReplyFailure),
}

/// The reason why there is no text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExtractReplyFailure {
    Unsupported { media_type: String },
    NotInstalled { program: String },
    Damaged { why: String },
    Encrypted,
    TooLarge { why: String },
}

impl ExtractReplyHeader {
    /// Encodes the line.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("all of its values can be written as JSON");
        line.push(b'\n');
        line
    }
}

impl From<ExtractError> for ExtractReplyHeader {
    fn from(error: ExtractError) -> Self {
        // The message may contain names and texts from the file, so it is cut.
        let cut = |words: &str| preview::cut(words, LONGEST_WHY);
        Self::Failed(match error {
            ExtractError::Unsupported { media_type } => {
                ExtractReplyFailure::Unsupported { media_type: cut(&media_type) }
            }
            ExtractError::NotInstalled { program } => ExtractReplyFailure::NotInstalled { program },
            ExtractError::Encrypted => ExtractReplyFailure::Encrypted,
            ExtractError::TooLarge { why } => ExtractReplyFailure::TooLarge { why: cut(&why) },
            ExtractError::Damaged { why } => ExtractReplyFailure::Damaged { why: cut(&why) },
            // The parent detects all other errors itself.
            other => ExtractReplyFailure::Damaged { why: cut(&other.to_string()) },
        })
    }
}

impl From<ExtractReplyFailure> for ExtractError {
    fn from(failed: ExtractReplyFailure) -> Self {
        match failed {
            ExtractReplyFailure::Unsupported { media_type } => Self::Unsupported { media_type },
            ExtractReplyFailure::NotInstalled { program } => Self::NotInstalled { program },
            ExtractReplyFailure::Encrypted => Self::Encrypted,
            ExtractReplyFailure::TooLarge { why } => Self::TooLarge { why },
            ExtractReplyFailure::Damaged { why } => Self::Damaged { why },
        }
    }
}

/// The part of an answer that could be read.
pub(super) enum ExtractReply {
    /// A complete text.
    Whole(ExtractedText),
    /// A text that is valid only if the program that wrote it succeeded.
    Open(ExtractedText),
    /// There is no text.
    Failed(ExtractError),
    /// The answer is missing or incomplete.
    Nothing,
}

/// Reads an answer.
pub(super) fn said(output: &[u8]) -> ExtractReply {
    let Some(end) = output.iter().position(|byte| *byte == b'\n') else {
        return ExtractReply::Nothing;
    };
    let (line, text) = (&output[..end], &output[end + 1..]);
    match serde_json::from_slice(line) {
        Ok(ExtractReplyHeader::Failed(failed)) => ExtractReply::Failed(failed.into()),
        Ok(ExtractReplyHeader::Read { by, title, pages, cut, bytes }) => {
            let Some(by) = READERS.into_iter().find(|reader| *reader == by) else {
                return ExtractReply::Nothing;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            let extracted = ExtractedText { text, title, by, pages, cut };
            match bytes {
                None => ExtractReply::Open(extracted),
                Some(bytes) if bytes == extracted.text.len() => ExtractReply::Whole(extracted),
                Some(_) => ExtractReply::Nothing,
            }
        }
        Err(_) => ExtractReply::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: Option<usize>) -> ExtractReplyHeader {
        ExtractReplyHeader::Read {
            by: "pdf".to_owned(),
            title: Some("T\n".to_owned()),
            pages: Some(2),
            cut: false,
            bytes,
        }
    }

    #[test]
    fn what_is_said_is_understood() {
        let output = [head(Some(5)).line(), b"a\nb\nc".to_vec()].concat();
        let ExtractReply::Whole(whole) = said(&output) else { panic!("it is whole") };
        assert_eq!((whole.text.as_str(), whole.title.as_deref(), whole.by), ("a\nb\nc", Some("T\n"), "pdf"));
        let open = [head(None).line(), b"so far".to_vec()].concat();
        assert!(matches!(said(&open), ExtractReply::Open(text) if text.text == "so far"));
        let failed =
            ExtractReplyHeader::Failed(ExtractReplyFailure::NotInstalled { program: "tesseract".to_owned() })
                .line();
        assert!(matches!(said(&failed), ExtractReply::Failed(ExtractError::NotInstalled { .. })));
        let long = ExtractReplyHeader::from(ExtractError::Damaged { why: "x\n".repeat(100_000) }).line();
        assert!(
            long.len() < 1_000 && matches!(said(&long), ExtractReply::Failed(ExtractError::Damaged { .. }))
        );
    }

    #[test]
    fn what_is_not_all_there_is_nothing() {
        let short = [head(Some(5)).line(), b"a\nb".to_vec()].concat();
        let unknown = String::from_utf8_lossy(&head(Some(0)).line()).replace("pdf", "magic").into_bytes();
        for output in [&b""[..], b"{}\n", b"no line", b"\xff\n", &short, &unknown] {
            assert!(matches!(said(output), ExtractReply::Nothing));
        }
    }
}
