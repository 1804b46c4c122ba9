//! An extractor that gives scripted answers and records its calls.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tulving_core::model::error::ExtractError;
use tulving_core::ports::{ExtractedText, Extractor};

/// An extractor that gives scripted answers.
#[derive(Default)]
pub struct ScriptedExtractor {
    script: Mutex<ExtractorScript>,
}

#[derive(Default)]
struct ExtractorScript {
    /// The answers for files of a type.
    of_type: BTreeMap<String, Result<ExtractedText, ExtractError>>,
    /// The answers for the next files. They are used before the answers by type.
    next: Vec<Result<ExtractedText, ExtractError>>,
    asked: Vec<(String, Vec<u8>)>,
}

impl ScriptedExtractor {
    /// An extractor that knows no type.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer for files of a type.
    pub fn answer(&self, media_type: &str, said: Result<ExtractedText, ExtractError>) {
        self.script().of_type.insert(media_type.to_owned(), said);
    }

    /// Sets the text of files of a type.
    pub fn answer_text(&self, media_type: &str, text: &str) {
        let extracted = ExtractedText { text: text.to_owned(), by: "script", ..ExtractedText::default() };
        self.answer(media_type, Ok(extracted));
    }

    /// Sets the answer for the next file, whatever its type. Each further call sets the answer for the file after that.
    pub fn answer_next(&self, said: Result<ExtractedText, ExtractError>) {
        self.script().next.push(said);
    }

    /// Returns the calls so far, in order.
    pub fn asked(&self) -> Vec<(String, Vec<u8>)> {
        self.script().asked.clone()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, ExtractorScript> {
        self.script.lock().expect("nobody panicked")
    }
}

impl Extractor for ScriptedExtractor {
    fn extract(&self, media_type: &str, bytes: &[u8]) -> Result<ExtractedText, ExtractError> {
        let mut script = self.script();
        script.asked.push((media_type.to_owned(), bytes.to_vec()));
        if !script.next.is_empty() {
            return script.next.remove(0);
        }
        let unsupported = || Err(ExtractError::Unsupported { media_type: media_type.to_owned() });
        script.of_type.get(media_type).cloned().unwrap_or_else(unsupported)
    }

    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_was_told_to_say_and_notes_what_it_was_asked() {
        let extractor = ScriptedExtractor::new();
        extractor.answer_text("application/pdf", "a page");
        extractor.answer_next(Err(ExtractError::Encrypted));
        assert_eq!(extractor.extract("application/pdf", b"one"), Err(ExtractError::Encrypted));
        assert_eq!(extractor.extract("application/pdf", b"two").expect("read").text, "a page");
        assert!(matches!(extractor.extract("image/png", b""), Err(ExtractError::Unsupported { .. })));
        let asked: Vec<Vec<u8>> = extractor.asked().into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(asked, [b"one".to_vec(), b"two".to_vec(), Vec::new()]);
    }
}
