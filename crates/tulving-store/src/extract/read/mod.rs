//! The readers, one for each form of files. They run in a process that is limited, and know nothing of it.

mod epub;
mod image;
mod office;
mod pdf;
mod sink;
mod title;

#[cfg(test)]
mod tests;

use tulving_core::error::ExtractError;
use tulving_core::preview;

use super::limits::Limits;
use super::wire::Head;
use sink::Sink;

/// What was read out of a file.
#[derive(Debug)]
pub(super) struct Read {
    sink: Sink,
    title: Option<String>,
    by: &'static str,
    pages: Option<u32>,
}

impl Read {
    /// What is said of the text, and the text.
    pub(super) fn into_parts(self) -> (Head, String) {
        let Self { sink, title, by, pages } = self;
        let (text, cut) = sink.finish();
        (Head::Read { by: by.to_owned(), title, pages, cut, bytes: Some(text.len()) }, text)
    }
}

/// What was found of a file.
pub(super) enum Found {
    /// Its text.
    Read(Read),
    /// That it is an image, which another program is to look at.
    Image,
}

/// A form of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
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

impl Form {
    /// The form that files of this type have; `None` where nothing reads them.
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

/// That nothing reads files of this type.
pub(super) fn unsupported(media_type: &str) -> ExtractError {
    ExtractError::Unsupported { media_type: preview::short(media_type) }
}

/// Reads a file of this type.
pub(super) fn read(media_type: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Found, ExtractError> {
    let sink = Sink::new(limits.text);
    let form = Form::of(media_type).ok_or_else(|| unsupported(media_type))?;
    let read = match form {
        Form::Pdf => pdf::read(bytes, sink),
        Form::Word => office::read_word(&bytes, sink),
        Form::Slides => office::read_slides(&bytes, sink),
        Form::Sheets => office::read_sheets(&bytes, sink),
        Form::OpenText => office::read_open(&bytes, sink, "odt"),
        Form::OpenSheets => office::read_open(&bytes, sink, "ods"),
        Form::OpenSlides => office::read_open(&bytes, sink, "odp"),
        Form::Book => epub::read(&bytes, sink),
        Form::Image => return image::check(&bytes, limits.pixels).map(|()| Found::Image),
    };
    read.map(Found::Read)
}
