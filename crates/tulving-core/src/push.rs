//! Takes documents in: what is text as it is, other files as attachments whose text is read later.

use std::borrow::Cow;

use crate::access::{self, Parts};
use crate::answer::{Receipt, Warning};
use crate::classify::form::{self, Form, Note, Reading};
use crate::error::{Error, Field};
use crate::limits;
use crate::objects::{self, Kept};
use crate::request::{Caller, SaveRequest};
use crate::save::{self, Order};
use crate::text::{front, normalize};
use crate::vocabulary::ContentType;

/// What a file without a name is called.
const UNNAMED: &str = "unnamed file";

/// A document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What it is called, with its path where that is known.
    pub name: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What is said of it. Its content is that of the bytes.
    pub about: SaveRequest,
}

/// A document that was looked at: what is saved of it, and what goes along.
pub(crate) struct Seen {
    pub(crate) request: SaveRequest,
    /// What is to be told.
    pub(crate) warning: Option<Warning>,
    /// The file, where it is kept as one.
    pub(crate) kept: Option<Kept>,
    /// Whether the document itself says what is said of it.
    pub(crate) told: bool,
}

/// Saves a document.
pub(crate) fn push(parts: &Parts, caller: &Caller, document: Document) -> Result<Receipt, Error> {
    access::workplace(parts, caller)?;
    let seen = look(parts, document)?;
    let order = Order { told: seen.told, ..Order::of(seen.request) };
    let saved = save::only(save::save_orders(parts, caller, vec![order]));
    settle(parts, saved, seen.warning, seen.kept)
}

/// What became of a document, and its file with it.
pub(crate) fn settle(
    parts: &Parts,
    saved: Result<Receipt, Error>,
    warning: Option<Warning>,
    kept: Option<Kept>,
) -> Result<Receipt, Error> {
    match saved {
        Ok(mut receipt) => {
            if let Some(kept) = kept {
                kept.stays(parts);
            }
            receipt.warnings.extend(warning);
            Ok(receipt)
        }
        Err(error) => {
            if let Some(kept) = kept {
                kept.goes(parts);
            }
            Err(error)
        }
    }
}

/// Finds out what a document is, and keeps its file where it is not text.
pub(crate) fn look(parts: &Parts, document: Document) -> Result<Seen, Error> {
    let Document { name, bytes, about } = document;
    let Reading { form, text } = form::of_bytes(name.as_deref(), &bytes);
    if let Some(text) = text {
        return Ok(written(name.as_deref(), text, about, form));
    }
    let name = name.as_deref().and_then(|name| name.rsplit(['/', '\\']).next());
    let name = normalize::line(Field::File, name.unwrap_or(UNNAMED), limits::NOTE_CHARS)?;
    let kept = objects::keep(parts, &bytes, form.media_type, &name)?;
    let warning = form.note.map(|note| Warning::Form { note: note.to_string() });
    let request = SaveRequest {
        content: name,
        content_type: Some(ContentType::File),
        attachment: Some(kept.attachment.clone()),
        ..about
    };
    Ok(Seen { request, warning, kept: Some(kept), told: false })
}

/// A document that is text.
fn written(name: Option<&str>, text: Cow<'_, str>, about: SaveRequest, form: Form) -> Seen {
    let legible = normalize::legible(&text);
    let left_out = legible.is_some().then(|| "control characters were left out".to_owned());
    let content = legible.unwrap_or_else(|| text.into_owned());
    let wrong = name.filter(|name| is_markdown(name)).and_then(|_| wrong_fields(&content));
    let (about, told) = itself(name, SaveRequest { content, ..about });
    let (request, warning) = formed(name, about, form);
    let warning = warning.or_else(|| wrong.or(left_out).map(|note| Warning::Form { note }));
    Seen { request, warning, kept: None, told }
}

/// What would be saved of a document that is text. Nothing is kept of any other, of which only what is to be told is given.
pub(crate) fn foresee(document: Document) -> Result<Seen, Option<Warning>> {
    let Document { name, bytes, about } = document;
    let Reading { form, text } = form::of_bytes(name.as_deref(), &bytes);
    match text {
        Some(text) => Ok(written(name.as_deref(), text, about, form)),
        None => Err(form.note.map(|note| Warning::Form { note: note.to_string() })),
    }
}

/// What is wrong with the fields above a Markdown text, where they cannot be read.
fn wrong_fields(text: &str) -> Option<String> {
    let (head, toml) = front::head(text)?;
    match form::of_data(None, Some(if toml { "toml" } else { "yaml" }), head).note? {
        Note::Invalid { format, line, column, why } => Some(format!(
            "the fields above the text are not valid {format} and stay in it: {why} at line {}, column {column}",
            line + 1
        )),
        _ => None,
    }
}

/// A request with what a Markdown document says of itself, and whether it says anything.
fn itself(name: Option<&str>, request: SaveRequest) -> (SaveRequest, bool) {
    let Some(name) = name.filter(|name| is_markdown(name)) else { return (request, false) };
    let (mut request, mut told) = (request, false);
    if let Some(front) = front::front(&request.content) {
        // A document of nothing but fields is kept whole.
        if !front.text.trim().is_empty() {
            request = front::told(SaveRequest { content: front.text, ..request }, front.about);
            told = true;
        }
    }
    let known = front::instructions(name).unwrap_or_default();
    (front::told(request, known), told)
}

fn is_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "md" | "mdx" | "markdown"))
}

/// A request about a text, in the form that it has where nobody named one.
pub(crate) fn text(request: SaveRequest) -> (SaveRequest, Option<Warning>) {
    let name = request.source_path.clone();
    let form = form::of_text(name.as_deref(), &request.content);
    formed(name.as_deref(), request, form)
}

/// A request in the form that was named, else in the one that was told. That something is data can be seen, and is not
/// believed.
fn formed(name: Option<&str>, request: SaveRequest, told: Form) -> (SaveRequest, Option<Warning>) {
    let form = match request.content_type {
        None => told,
        Some(ContentType::Structured) => form::of_data(name, request.language.as_deref(), &request.content),
        Some(_) => return (request, None),
    };
    let language = match form.content_type {
        ContentType::Text => None,
        _ => request.language.or_else(|| form.language.map(str::to_owned)),
    };
    let request = SaveRequest { content_type: Some(form.content_type), language, ..request };
    (request, form.note.map(|note| Warning::Form { note: note.to_string() }))
}
