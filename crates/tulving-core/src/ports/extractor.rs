//! What the engine asks of whoever reads the text out of files that are not text.

use crate::error::ExtractError;

/// Reads the text out of files that are not text.
pub trait Extractor: Send + Sync {
    /// The text of a file. Whatever the file is, it costs at most the limits that this was made with.
    fn extract(&self, media_type: &str, bytes: &[u8]) -> Result<Extracted, ExtractError>;

    /// What is missing on this machine that some files would need, in words for people; empty where nothing is.
    fn missing(&self) -> Vec<String>;
}

/// What was read out of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// The text. Lines end in `\n`; paragraphs, pages, slides and sheets are apart by a blank line. Empty where the file has none.
    pub text: String,
    /// What the file says that it is called.
    pub title: Option<String>,
    /// What read it: `pdf`, `ocr`, `docx` …
    pub by: &'static str,
    /// How many pages, slides or sheets the file has, where it has such.
    pub pages: Option<u32>,
    /// Whether there was more text than is taken.
    pub cut: bool,
}

/// Reads no file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtractor;

impl Extractor for NoExtractor {
    fn extract(&self, media_type: &str, _: &[u8]) -> Result<Extracted, ExtractError> {
        Err(ExtractError::Unsupported { media_type: media_type.to_owned() })
    }

    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
}
