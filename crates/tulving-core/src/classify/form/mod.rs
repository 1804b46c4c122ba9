//! What form a document has: text, Markdown, code, data, a conversation, a link or a file.
//!
//! [`of_bytes`] is for files, [`of_text`] for what is text already; [`is_importable`] says beforehand which files are
//! worth reading. The name is a claim and the content decides: a `.json` that is none is text, with a [`Note`] that says
//! where it goes wrong, and a `.md` of bytes is a file.

mod decode;
mod guess;
mod importable;
mod language;
mod package;
mod valid;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use self::importable::{Group, Reason, endings, is_importable};
pub(super) use self::importable::{extension, file_name};
pub use self::valid::Format;
use super::talk::{self, Talk};
use crate::vocabulary::ContentType;

/// What form a document has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The form.
    pub content_type: ContentType,
    /// What code or data is written in: `rust`, `json`. `None` for the other forms.
    pub language: Option<&'static str>,
    /// The media type.
    pub media_type: &'static str,
    /// What is not as the name says.
    pub note: Option<Note>,
}

/// What is not as the name of a document says. It was taken in all the same, as something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// It is no data of the format that its name says.
    #[error("it is not valid {format} and is kept as text: {why} at line {line}, column {column}")]
    Invalid {
        /// The format that its name says.
        format: Format,
        /// Where it goes wrong, counted from 1.
        line: usize,
        /// The same, within the line.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// It was said to be data, and is of no format that is known.
    #[error("it is not valid JSON, YAML or TOML and is kept as text")]
    NoData,
    /// It is text in another encoding than Unicode's.
    #[error("it is not UTF-8 and was read as Windows-1252")]
    Western,
    /// Its name says that it is text, and its bytes are none.
    #[error(
        "its name ends with `.{extension}`, but its bytes are not text; it is kept as a file ({media_type})"
    )]
    NotText {
        /// What its name ends with.
        extension: String,
        /// What its bytes are.
        media_type: &'static str,
    },
}

impl Form {
    /// The form of a content that was told before, or that somebody named.
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

    fn code(language: &'static language::Language) -> Self {
        let plain = Self::plain(ContentType::Code, language.media_type);
        Self { language: Some(language.name), ..plain }
    }

    fn structured(format: Format) -> Self {
        let plain = Self::plain(ContentType::Structured, format.media_type());
        Self { language: Some(format.as_str()), ..plain }
    }

    fn of_talk(talk: Talk, media_type: &'static str) -> Self {
        let content_type = match talk {
            Talk::Chat => ContentType::Chat,
            Talk::Transcript => ContentType::Transcript,
        };
        Self::plain(content_type, media_type)
    }
}

/// A document as it was read from bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// Its form.
    pub form: Form,
    /// Its text, without a byte order mark; `None` for a file, whose text has to be extracted first.
    pub text: Option<Cow<'a, str>>,
}

/// What bytes are, which may come with a name.
///
/// UTF-8, and UTF-16 with a byte order mark, is text; so is Windows-1252 where the name says that it is text. Anything else,
/// and everything with a NUL in it, is a file. The media type of a file is told by its bytes, where they say it; the name is
/// believed only about what a container has inside that does not say it.
pub fn of_bytes<'a>(name: Option<&str>, bytes: &'a [u8]) -> Reading<'a> {
    if let Some(text) = decode::text(bytes) {
        return Reading { form: of_text(name, &text), text: Some(text) };
    }
    let lower = name.map(|name| file_name(name).to_lowercase());
    let extension = lower.as_deref().and_then(extension);
    let media_type = decode::media_type(bytes, extension);
    let claimed = lower.as_deref().and_then(importable::group);
    if !matches!(claimed, None | Some(Group::Attachment))
        && let Some(text) = decode::western(bytes)
    {
        let form = of_text(name, &text);
        let note = form.note.or(Some(Note::Western));
        return Reading { form: Form { note, ..form }, text: Some(text.into()) };
    }
    let note = match (claimed, extension) {
        (Some(Group::Attachment) | None, _) | (_, None) => None,
        (Some(_), Some(extension)) => Some(Note::NotText { extension: extension.to_owned(), media_type }),
    };
    Reading { form: Form { note, ..Form::plain(ContentType::File, media_type) }, text: None }
}

/// What a text is, which may come with the path or the name of its file.
pub fn of_text(name: Option<&str>, text: &str) -> Form {
    let lower = name.map(|name| file_name(name).to_lowercase()).unwrap_or_default();
    match importable::group(&lower) {
        Some(Group::Code(name)) => language::named(name).map_or_else(Form::text, Form::code),
        Some(Group::Structured(format)) => structured(format, text),
        Some(Group::Subtitles) if talk::is_subtitles(text) => {
            Form::of_talk(Talk::Transcript, subtitles(text))
        }
        Some(Group::Markdown | Group::Text | Group::Subtitles) if guess::is_link(text) => link(),
        Some(Group::Markdown) if talk::is_archive(text) => Form::of_talk(Talk::Transcript, "text/markdown"),
        // People who talk in a file of Markdown that has nothing of it.
        Some(Group::Markdown) if !guess::is_markdown(text) => {
            conversation(text).unwrap_or_else(Form::markdown)
        }
        Some(Group::Markdown) => Form::markdown(),
        // A program that logs looks like people who talk.
        Some(Group::Text) if extension(&lower) == Some("log") => Form::text(),
        Some(Group::Text | Group::Subtitles) => conversation(text).unwrap_or_else(Form::text),
        // The name of an attachment says nothing of the text that was found in it.
        Some(Group::Attachment) | None => unnamed(text),
    }
}

/// What a text is by itself.
fn unnamed(text: &str) -> Form {
    if guess::is_link(text) {
        return link();
    }
    if let Some(format) = guess::format(text) {
        return exported(format, text).unwrap_or_else(|| Form::structured(format));
    }
    if let Some(form) = conversation(text) {
        return form;
    }
    match guess::code(text) {
        Some(language) => Form::code(language),
        None if guess::is_markdown(text) => Form::markdown(),
        None => Form::text(),
    }
}

fn link() -> Form {
    Form::plain(ContentType::Link, "text/uri-list")
}

fn conversation(text: &str) -> Option<Form> {
    talk::talk(text).map(|talk| {
        Form::of_talk(talk, if talk::is_archive(text) { "text/markdown" } else { subtitles(text) })
    })
}

/// The media type of a conversation that is neither JSON nor Markdown.
fn subtitles(text: &str) -> &'static str {
    if text.trim_start().starts_with("WEBVTT") {
        "text/vtt"
    } else if talk::is_subtitles(text) {
        "application/x-subrip"
    } else {
        "text/plain"
    }
}

/// The form of data that is a conversation.
fn exported(format: Format, text: &str) -> Option<Form> {
    let is_chat = format == Format::Json && talk::is_exported(text);
    is_chat.then(|| Form::of_talk(Talk::Chat, format.media_type()))
}

/// The form of a text that somebody said is data: of the format that its language or its name says, else of any. Where it is
/// not valid, it is text.
pub(crate) fn of_data(name: Option<&str>, language: Option<&str>, text: &str) -> Form {
    let lower = name.map(|name| file_name(name).to_lowercase()).unwrap_or_default();
    let named = match importable::group(&lower) {
        Some(Group::Structured(format)) => Some(format),
        _ => None,
    };
    if let Some(format) = language.and_then(Format::named).or(named) {
        return data(format, text);
    }
    let read = [Format::Json, Format::JsonLines, Format::Toml].map(|format| data(format, text));
    if let Some(valid) = read.iter().find(|form| form.note.is_none()) {
        return valid.clone();
    }
    let [json, ..] = read;
    match text.trim_start().starts_with(['{', '[']) {
        _ if valid::is_yaml_of_parts(text) => Form::structured(Format::Yaml),
        true => json,
        false => Form { note: Some(Note::NoData), ..Form::text() },
    }
}

/// The form of a text whose name says that it is data.
fn structured(format: Format, text: &str) -> Form {
    exported(format, text).unwrap_or_else(|| data(format, text))
}

fn data(format: Format, text: &str) -> Form {
    match valid::fault(format, text) {
        None => Form::structured(format),
        Some(valid::Fault { line, column, why }) => {
            Form { note: Some(Note::Invalid { format, line, column, why }), ..Form::text() }
        }
    }
}
