//! Reads the text of a PDF page by page, in the order in which it is drawn.
//!
//! `hayro` parses the file. [`fonts`] finds the text of characters, [`draw`] interprets the drawing of a page and
//! records the position of each character, and [`layout`] builds lines and paragraphs from the characters. Invisible
//! text is included, because it is the recognised text of a scan.

mod draw;
mod fonts;
mod layout;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use tulving_core::model::error::ExtractError;

use super::sink::ExtractTextBuilder;
use super::{DocumentText, title};
use draw::{DrawingBudget, PdfPageInterpreter};
use fonts::PdfFonts;

/// Reads a PDF.
pub(super) fn read(bytes: Vec<u8>, mut sink: ExtractTextBuilder) -> Result<DocumentText, ExtractError> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ExtractError::Encrypted,
        LoadPdfError::Decryption(_) => {
            ExtractError::Damaged { why: "its encryption is not supported".to_owned() }
        }
        LoadPdfError::Invalid => ExtractError::Damaged { why: "it is not a PDF, or has no pages".to_owned() },
    })?;
    let fonts = PdfFonts::new();
    let mut budget = DrawingBudget::default();
    for page in pdf.pages().iter() {
        sink.blank_line();
        PdfPageInterpreter::new(page, &fonts, &mut budget, &mut sink).follow(page);
        if budget.is_spent() {
            sink.close();
        }
        if sink.is_full() {
            break;
        }
    }
    let title = pdf.metadata().title.as_deref().and_then(|title| title::sensible(&title::decode(title)));
    let pages = u32::try_from(pdf.pages().len()).ok();
    Ok(DocumentText { sink, title, by: "pdf", pages })
}
