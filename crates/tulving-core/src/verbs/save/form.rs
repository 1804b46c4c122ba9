//! Detects the form of a content: text, Markdown, code, a conversation, structured data, a link.
//!
//! Every save uses this module, so that the same content has the same form on every surface.

use tulving_text::classify::form::{self, DocumentForm};

use crate::model::request::SaveRequest;
use crate::model::vocabulary::ContentType;

/// Sets the form of a content from its path and its text if none was given, and returns a note if the content does not
/// match its path or the given form.
pub(super) fn detect(request: SaveRequest) -> (SaveRequest, Option<String>) {
    let path = request.source_path.clone();
    apply(path.as_deref(), request, |request| form::of_text(request.source_path.as_deref(), &request.content))
}

/// Sets the given form or, if none was given, the detected form. A given form of structured data is checked, because it
/// usually comes only from a file name.
pub(crate) fn apply(
    name: Option<&str>,
    request: SaveRequest,
    detected: impl FnOnce(&SaveRequest) -> DocumentForm,
) -> (SaveRequest, Option<String>) {
    let form = match request.content_type {
        None => detected(&request),
        Some(ContentType::Structured) => form::of_data(name, request.language.as_deref(), &request.content),
        Some(_) => return (request, None),
    };
    // If the given form is wrong, the language given with it is dropped too.
    let language = match (request.content_type, form.content_type) {
        (Some(_), ContentType::Text) => None,
        _ => request.language.or_else(|| form.language.map(str::to_owned)),
    };
    let request = SaveRequest { content_type: Some(form.content_type), language, ..request };
    (request, form.note.map(|note| note.to_string()))
}
