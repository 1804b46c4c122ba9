//! The text of a PDF, page by page, in the order in which it is drawn.
//!
//! `hayro` reads the file; [`fonts`] know what characters mean, [`draw`] follows what a page draws and notes each character with its place, and
//! [`lay`] makes lines and paragraphs of these. What is drawn invisibly is taken, too: it is what a scanner has recognised.

mod draw;
mod fonts;
mod lay;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use tulving_core::error::ExtractError;

use super::sink::Sink;
use super::{Read, title};
use draw::{Budget, Drawing};
use fonts::Fonts;

/// Reads a PDF.
pub(super) fn read(bytes: Vec<u8>, mut sink: Sink) -> Result<Read, ExtractError> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ExtractError::Encrypted,
        LoadPdfError::Decryption(_) => {
            ExtractError::Damaged { why: "it is encrypted in a way that is not known".to_owned() }
        }
        LoadPdfError::Invalid => ExtractError::Damaged { why: "it is not a PDF, or has no pages".to_owned() },
    })?;
    let fonts = Fonts::new();
    let mut budget = Budget::default();
    for page in pdf.pages().iter() {
        sink.blank_line();
        Drawing::new(page, &fonts, &mut budget, &mut sink).follow(page);
        if budget.is_spent() {
            sink.close();
        }
        if sink.is_full() {
            break;
        }
    }
    let title = pdf.metadata().title.as_deref().and_then(|title| title::sensible(&title::decode(title)));
    let pages = u32::try_from(pdf.pages().len()).ok();
    Ok(Read { sink, title, by: "pdf", pages })
}
