//! The port to the extractor, which reads the text of files that are not text.

use crate::model::error::ExtractError;

/// Extracts the text of files that are not text.
pub trait Extractor: Send + Sync {
    /// Extracts the text of a file. Time and memory stay within the configured limits, whatever the file contains.
    fn extract(&self, media_type: &str, bytes: &[u8]) -> Result<ExtractedText, ExtractError>;

    /// Returns the tools that some files need and that are missing on this machine, as text for people. The list is empty if
    /// no tool is missing.
    fn missing(&self) -> Vec<String>;
}

/// The text extracted from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// The text. Lines end in `\n`; a blank line separates paragraphs, pages, slides and sheets. The text is empty if the
    /// file has none.
    pub text: String,
    /// The title given in the file.
    pub title: Option<String>,
    /// The tool that read the file: `pdf`, `ocr`, `docx` …
    pub by: &'static str,
    /// Number of pages, slides or sheets, if the file has any.
    pub pages: Option<u32>,
    /// True if the text was cut because it exceeds the limit.
    pub cut: bool,
}

/// An extractor that reads no file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtractor;

impl Extractor for NoExtractor {
    fn extract(&self, media_type: &str, _: &[u8]) -> Result<ExtractedText, ExtractError> {
        Err(ExtractError::Unsupported { media_type: media_type.to_owned() })
    }

    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
}
