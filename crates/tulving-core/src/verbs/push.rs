//! Imports documents. A text is saved directly; any other file is saved as an attachment, and its text is extracted
//! later.

use std::borrow::Cow;

use tulving_text::classify::form::{self, DecodedDocument, DocumentForm, FormMismatch};

use crate::model::answer::Receipt;
use crate::model::error::{Error, Field};
use crate::model::limits;
use crate::model::memory::Attachment;
use crate::model::request::{Caller, SaveRequest};
use crate::model::vocabulary::ContentType;
use crate::text::{front, normalize};
use crate::verbs::access::{self, Ports};
use crate::verbs::objects::{self, UnsavedFile};
use crate::verbs::save::{self, SaveOptions};

/// The name given to a file that has no name.
const UNNAMED: &str = "unnamed file";

/// A document to import.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The name of the document, with its path if known.
    pub name: Option<String>,
    /// The content of the document in bytes.
    pub bytes: Vec<u8>,
    /// The fields of the save. The content comes from the bytes.
    pub about: SaveRequest,
}

/// The result of examining a document: the save request and additional data.
pub(crate) struct ExaminedDocument {
    pub(crate) request: SaveRequest,
    /// A note about the form of the document, for the receipt.
    pub(crate) note: Option<String>,
    /// The stored file, if the document is not text.
    pub(crate) kept: Option<UnsavedFile>,
    /// True if the document itself contains metadata.
    pub(crate) described: bool,
}

/// Saves a document.
pub(crate) fn push(ports: &Ports, caller: &Caller, document: Document) -> Result<Receipt, Error> {
    access::workplace(ports, caller)?;
    let seen = look(ports, document)?;
    let order = SaveOptions { described: seen.described, note: seen.note, ..SaveOptions::of(seen.request) };
    let saved = save::only(save::save_with_options(ports, caller, vec![order]));
    settle(ports, saved, seen.kept)
}

/// Finishes a push: keeps the stored file if the save succeeded, otherwise deletes the file.
pub(crate) fn settle(
    ports: &Ports,
    saved: Result<Receipt, Error>,
    kept: Option<UnsavedFile>,
) -> Result<Receipt, Error> {
    if let Some(kept) = kept {
        match &saved {
            Ok(_) => kept.stays(ports),
            Err(_) => kept.goes(ports),
        }
    }
    saved
}

/// Determines the type of a document. Stores its file if the document is not text.
pub(crate) fn look(ports: &Ports, document: Document) -> Result<ExaminedDocument, Error> {
    look_by(document, |bytes, media_type, name| {
        let kept = objects::keep(ports, bytes, media_type, name)?;
        Ok((kept.attachment.clone(), Some(kept)))
    })
}

/// Returns the request that would save a document. Stores nothing.
pub(crate) fn predict(ports: &Ports, document: Document) -> Result<ExaminedDocument, Error> {
    look_by(document, |bytes, media_type, name| {
        Ok((objects::describe(ports, bytes, media_type, name)?, None))
    })
}

/// Detects the type of a document, and builds the request that saves the document. `attach` handles a file that is not
/// text.
fn look_by(
    document: Document,
    attach: impl FnOnce(&[u8], &str, &str) -> Result<(Attachment, Option<UnsavedFile>), Error>,
) -> Result<ExaminedDocument, Error> {
    let Document { name, bytes, about } = document;
    let DecodedDocument { form, text } = form::of_bytes(name.as_deref(), &bytes);
    if let Some(text) = text {
        return Ok(written(name.as_deref(), text, about, form));
    }
    let name = name.as_deref().and_then(|name| name.rsplit(['/', '\\']).next());
    let name = normalize::line(Field::File, name.unwrap_or(UNNAMED), limits::NOTE_CHARS)?;
    let (attachment, kept) = attach(&bytes, form.media_type, &name)?;
    let note = form.note.map(|note| note.to_string());
    let request = SaveRequest {
        content: name,
        content_type: Some(ContentType::File),
        attachment: Some(attachment),
        ..about
    };
    Ok(ExaminedDocument { request, note, kept, described: false })
}

/// Prepares a document that is text.
fn written(
    name: Option<&str>,
    text: Cow<'_, str>,
    about: SaveRequest,
    form: DocumentForm,
) -> ExaminedDocument {
    let legible = normalize::legible(&text);
    let left_out = legible.is_some().then(|| "control characters were left out".to_owned());
    let content = legible.unwrap_or_else(|| text.into_owned());
    let wrong = name.filter(|name| is_markdown(name)).and_then(|_| wrong_fields(&content));
    let (about, described) = itself(name, SaveRequest { content, ..about });
    let (request, note) = save::form::apply(name, about, |_| form);
    ExaminedDocument { request, note: note.or(wrong).or(left_out), kept: None, described }
}

/// Returns the error in the front matter of a Markdown text, if the front matter cannot be read.
fn wrong_fields(text: &str) -> Option<String> {
    let (head, toml) = front::head(text)?;
    match form::of_data(None, Some(if toml { "toml" } else { "yaml" }), head).note? {
        FormMismatch::Invalid { format, line, column, why } => Some(format!(
            "the fields above the text are not valid {format} and stay in it: {why} at line {}, column {column}",
            line + 1
        )),
        _ => None,
    }
}

/// Adds the metadata of a Markdown document to a request. Returns true if the document had metadata.
fn itself(name: Option<&str>, request: SaveRequest) -> (SaveRequest, bool) {
    let Some(name) = name.filter(|name| is_markdown(name)) else { return (request, false) };
    let (mut request, mut described) = (request, false);
    if let Some(front) = front::front(&request.content) {
        // If a document consists only of front matter, the front matter stays in the content.
        if !front.text.trim().is_empty() {
            request = front::described(SaveRequest { content: front.text, ..request }, front.about);
            described = true;
        }
    }
    let known = front::instructions(name).unwrap_or_default();
    (front::described(request, known), described)
}

fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "md" | "mdx" | "markdown"))
}
