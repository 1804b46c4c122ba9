//! Detects the form of a document: text, Markdown, code, data, a conversation, a link or a file.
//!
//! [`of_bytes`] is for files, and [`of_text`] is for text. Before a file is read, [`is_importable`] decides whether it
//! is worth reading. If the name and the content disagree, the content decides: a `.json` file that is not valid JSON
//! is text, with a [`FormMismatch`] that describes the error, and a `.md` file whose bytes are not text is a file.

mod decode;
mod guess;
mod importable;
mod language;
mod package;
mod valid;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use self::importable::{
    ImportableForm, NotImportableReason, endings, generated_folders, is_generated_folder, is_importable,
    is_version_control,
};
pub(super) use self::importable::{extension, file_name};
pub use self::valid::StructuredFormat;
use super::talk::{self, ConversationOrigin};
use crate::vocabulary::ContentType;

/// The form of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentForm {
    /// The content type.
    pub content_type: ContentType,
    /// The language of code or data: `rust`, `json`. `None` for the other forms.
    pub language: Option<&'static str>,
    /// The media type.
    pub media_type: &'static str,
    /// The mismatch between the document and its name, if there is one.
    pub note: Option<FormMismatch>,
}

/// A mismatch between a document and its name. The document was still imported, in another form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormMismatch {
    /// The document is not valid data of the format in its name.
    #[error("it is not valid {format} and is kept as text: {why} at line {line}, column {column}")]
    Invalid {
        /// The format in its name.
        format: StructuredFormat,
        /// The line of the error, counted from 1.
        line: usize,
        /// The column of the error, counted from 1.
        column: usize,
        /// The error.
        why: String,
    },
    /// The document was declared as data, but has no known format.
    #[error("it is not valid JSON, YAML or TOML and is kept as text")]
    NoData,
    /// The document is text in an encoding other than Unicode.
    #[error("it is not UTF-8 and was read as Windows-1252")]
    Western,
    /// The name indicates text, but the bytes are not text.
    #[error(
        "its name ends with `.{extension}`, but its bytes are not text; it is kept as a file ({media_type})"
    )]
    NotText {
        /// The extension of the document's name.
        extension: String,
        /// The media type of the document's bytes.
        media_type: &'static str,
    },
}

impl DocumentForm {
    /// Returns the form for a content type that is stored or that the caller gave.
    pub fn known(content_type: ContentType, language: Option<&str>) -> Self {
        match (content_type, language.and_then(language::named)) {
            (ContentType::Code, Some(language)) => Self::code(language),
            _ => Self::plain(content_type, ""),
        }
    }

    fn plain(content_type: ContentType, media_type: &'static str) -> Self {
        Self { content_type, language: None, media_type, note: None }
    }

    fn text() -> Self {
        Self::plain(ContentType::Text, "text/plain")
    }

    fn markdown() -> Self {
        Self::plain(ContentType::Markdown, "text/markdown")
    }

    fn code(language: &'static language::ProgrammingLanguage) -> Self {
        let plain = Self::plain(ContentType::Code, language.media_type);
        Self { language: Some(language.name), ..plain }
    }

    fn structured(format: StructuredFormat) -> Self {
        let plain = Self::plain(ContentType::Structured, format.media_type());
        Self { language: Some(format.as_str()), ..plain }
    }

    fn of_talk(talk: ConversationOrigin, media_type: &'static str) -> Self {
        let content_type = match talk {
            ConversationOrigin::Chat => ContentType::Chat,
            ConversationOrigin::Transcript => ContentType::Transcript,
        };
        Self::plain(content_type, media_type)
    }
}

/// A document read from bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedDocument<'a> {
    /// The form of the document.
    pub form: DocumentForm,
    /// The text of the document, without a byte order mark. `None` for a file whose text has to be extracted first.
    pub text: Option<Cow<'a, str>>,
}

/// Detects the form of bytes that may have a name.
///
/// UTF-8, and UTF-16 with a byte order mark, is text. Windows-1252 is text if the name indicates text. Anything else,
/// and any text with a NUL character, is a file. If possible, the bytes of a file determine its media type. The name
/// counts only for containers that do not show their type.
pub fn of_bytes<'a>(name: Option<&str>, bytes: &'a [u8]) -> DecodedDocument<'a> {
    if let Some(text) = decode::text(bytes) {
        return DecodedDocument { form: of_text(name, &text), text: Some(text) };
    }
    let lower = name.map(|name| file_name(name).to_lowercase());
    let extension = lower.as_deref().and_then(extension);
    let media_type = decode::media_type(bytes, extension);
    let claimed = lower.as_deref().and_then(importable::group);
    if !matches!(claimed, None | Some(ImportableForm::Attachment))
        && let Some(text) = decode::western(bytes)
    {
        let form = of_text(name, &text);
        let note = form.note.or(Some(FormMismatch::Western));
        return DecodedDocument { form: DocumentForm { note, ..form }, text: Some(text.into()) };
    }
    let note = match (claimed, extension) {
        (Some(ImportableForm::Attachment) | None, _) | (_, None) => None,
        (Some(_), Some(extension)) => {
            Some(FormMismatch::NotText { extension: extension.to_owned(), media_type })
        }
    };
    DecodedDocument {
        form: DocumentForm { note, ..DocumentForm::plain(ContentType::File, media_type) },
        text: None,
    }
}

/// Detects the form of a text that may have a path or a file name.
pub fn of_text(name: Option<&str>, text: &str) -> DocumentForm {
    let lower = name.map(|name| file_name(name).to_lowercase()).unwrap_or_default();
    match importable::group(&lower) {
        Some(ImportableForm::Code(name)) => {
            language::named(name).map_or_else(DocumentForm::text, DocumentForm::code)
        }
        Some(ImportableForm::Structured(format)) => structured(format, text),
        Some(ImportableForm::Subtitles) if talk::is_subtitles(text) => {
            DocumentForm::of_talk(ConversationOrigin::Transcript, subtitles(text))
        }
        Some(ImportableForm::Markdown | ImportableForm::Text | ImportableForm::Subtitles)
            if guess::is_link(text) =>
        {
            link()
        }
        Some(ImportableForm::Markdown) if talk::is_archive(text) => {
            DocumentForm::of_talk(ConversationOrigin::Transcript, "text/markdown")
        }
        // A conversation in a Markdown file that contains no Markdown.
        Some(ImportableForm::Markdown) if !guess::is_markdown(text) => {
            conversation(text).unwrap_or_else(DocumentForm::markdown)
        }
        Some(ImportableForm::Markdown) => DocumentForm::markdown(),
        // The log of a program has the same form as a conversation, so it is not checked for a conversation.
        Some(ImportableForm::Text) if extension(&lower) == Some("log") => DocumentForm::text(),
        Some(ImportableForm::Text | ImportableForm::Subtitles) => {
            conversation(text).unwrap_or_else(DocumentForm::text)
        }
        // The name of an attachment does not describe the text extracted from it.
        Some(ImportableForm::Attachment) | None => unnamed(text),
    }
}

/// Detects the form of a text without a name.
fn unnamed(text: &str) -> DocumentForm {
    if guess::is_link(text) {
        return link();
    }
    if let Some(format) = guess::format(text) {
        return exported(format, text).unwrap_or_else(|| DocumentForm::structured(format));
    }
    if let Some(form) = conversation(text) {
        return form;
    }
    match guess::code(text) {
        Some(language) => DocumentForm::code(language),
        None if guess::is_markdown(text) => DocumentForm::markdown(),
        None => DocumentForm::text(),
    }
}

fn link() -> DocumentForm {
    DocumentForm::plain(ContentType::Link, "text/uri-list")
}

fn conversation(text: &str) -> Option<DocumentForm> {
    talk::talk(text).map(|talk| {
        DocumentForm::of_talk(talk, if talk::is_archive(text) { "text/markdown" } else { subtitles(text) })
    })
}

/// Returns the media type of a conversation that is neither JSON nor Markdown.
fn subtitles(text: &str) -> &'static str {
    if text.trim_start().starts_with("WEBVTT") {
        "text/vtt"
    } else if talk::is_subtitles(text) {
        "application/x-subrip"
    } else {
        "text/plain"
    }
}

/// Returns the form of structured data that is an exported conversation.
fn exported(format: StructuredFormat, text: &str) -> Option<DocumentForm> {
    let is_chat = format == StructuredFormat::Json && talk::is_exported(text);
    is_chat.then(|| DocumentForm::of_talk(ConversationOrigin::Chat, format.media_type()))
}

/// Returns the form of a text that was declared as data. The format is the one of the given language or of the name;
/// without either, any format is tried. Text that is not valid data stays text.
pub fn of_data(name: Option<&str>, language: Option<&str>, text: &str) -> DocumentForm {
    let lower = name.map(|name| file_name(name).to_lowercase()).unwrap_or_default();
    let named = match importable::group(&lower) {
        Some(ImportableForm::Structured(format)) => Some(format),
        _ => None,
    };
    if let Some(format) = language.and_then(StructuredFormat::named).or(named) {
        return data(format, text);
    }
    let read = [StructuredFormat::Json, StructuredFormat::JsonLines, StructuredFormat::Toml]
        .map(|format| data(format, text));
    if let Some(valid) = read.iter().find(|form| form.note.is_none()) {
        return valid.clone();
    }
    let [json, ..] = read;
    match text.trim_start().starts_with(['{', '[']) {
        _ if valid::is_yaml_of_parts(text) => DocumentForm::structured(StructuredFormat::Yaml),
        true => json,
        false => DocumentForm { note: Some(FormMismatch::NoData), ..DocumentForm::text() },
    }
}

/// Returns the form of a text whose name is the name of a data file.
fn structured(format: StructuredFormat, text: &str) -> DocumentForm {
    exported(format, text).unwrap_or_else(|| data(format, text))
}

fn data(format: StructuredFormat, text: &str) -> DocumentForm {
    match valid::fault(format, text) {
        None => DocumentForm::structured(format),
        Some(valid::FormatSyntaxError { line, column, why }) => DocumentForm {
            note: Some(FormMismatch::Invalid { format, line, column, why }),
            ..DocumentForm::text()
        },
    }
}
