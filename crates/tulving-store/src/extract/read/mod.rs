//! The readers, one for each file format. They run in a limited process, but do not depend on its limits.

mod epub;
mod image;
mod office;
mod pdf;
mod sink;
mod title;

#[cfg(test)]
mod tests;

use tulving_core::model::error::ExtractError;
use tulving_core::model::preview;

use super::limits::ExtractLimits;
use super::wire::ExtractReplyHeader;
use sink::ExtractTextBuilder;

/// The text read from a file.
#[derive(Debug)]
pub(super) struct DocumentText {
    sink: ExtractTextBuilder,
    title: Option<String>,
    by: &'static str,
    pages: Option<u32>,
}

impl DocumentText {
    /// Returns the header of the answer and the text.
    pub(super) fn into_parts(self) -> (ExtractReplyHeader, String) {
        let Self { sink, title, by, pages } = self;
        let (text, cut) = sink.finish();
        (ExtractReplyHeader::Read { by: by.to_owned(), title, pages, cut, bytes: Some(text.len()) }, text)
    }
}

/// The result of reading a file.
pub(super) enum DocumentReadOutcome {
    /// The text of the file.
    Read(DocumentText),
    /// The file is an image, which another program must read.
    Image,
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentFormat {
    Pdf,
    Word,
    Slides,
    Sheets,
    OpenText,
    OpenSheets,
    OpenSlides,
    Book,
    Image,
}

impl DocumentFormat {
    /// Returns the format of files of this media type; `None` if no reader supports it.
    pub(super) fn of(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Some(match essence.as_str() {
            "application/pdf" | "application/x-pdf" => Self::Pdf,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
            | "application/vnd.ms-word.document.macroenabled.12" => Self::Word,
            "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            | "application/vnd.ms-powerpoint.presentation.macroenabled.12" => Self::Slides,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            | "application/vnd.ms-excel.sheet.macroenabled.12" => Self::Sheets,
            "application/vnd.oasis.opendocument.text" => Self::OpenText,
            "application/vnd.oasis.opendocument.spreadsheet" => Self::OpenSheets,
            "application/vnd.oasis.opendocument.presentation" => Self::OpenSlides,
            "application/epub+zip" => Self::Book,
            "image/png" | "image/jpeg" | "image/webp" | "image/tiff" | "image/gif" | "image/bmp"
            | "image/x-ms-bmp" => Self::Image,
            _ => return None,
        })
    }
}

/// Returns the error for an unsupported media type.
pub(super) fn unsupported(media_type: &str) -> ExtractError {
    ExtractError::Unsupported { media_type: preview::short(media_type) }
}

/// Reads a file of this media type.
pub(super) fn read(
    media_type: &str,
    bytes: Vec<u8>,
    limits: &ExtractLimits,
) -> Result<DocumentReadOutcome, ExtractError> {
    let sink = ExtractTextBuilder::new(limits.text);
    let form = DocumentFormat::of(media_type).ok_or_else(|| unsupported(media_type))?;
    let read = match form {
        DocumentFormat::Pdf => pdf::read(bytes, sink),
        DocumentFormat::Word => office::read_word(&bytes, sink),
        DocumentFormat::Slides => office::read_slides(&bytes, sink),
        DocumentFormat::Sheets => office::read_sheets(&bytes, sink),
        DocumentFormat::OpenText => office::read_open(&bytes, sink, "odt"),
        DocumentFormat::OpenSheets => office::read_open(&bytes, sink, "ods"),
        DocumentFormat::OpenSlides => office::read_open(&bytes, sink, "odp"),
        DocumentFormat::Book => epub::read(&bytes, sink),
        DocumentFormat::Image => {
            return image::check(&bytes, limits.pixels).map(|()| DocumentReadOutcome::Image);
        }
    };
    read.map(DocumentReadOutcome::Read)
}
