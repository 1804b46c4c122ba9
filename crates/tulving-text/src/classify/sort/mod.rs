//! Classifies a document by rules: its kind and its stability.
//!
//! The rules look for signs in the name and title of a document, in its headings and labels, and in the form of its
//! sentences. Each sign counts for one kind. The kind with the highest score wins if its lead is large enough. A single
//! sentence has no headings, so only a few phrases count for it, because an agent's facts should have the defaults of
//! their memory type. The rules are English.

mod announced;
mod clause;
mod cues;
mod heads;
mod label;
mod short_text;
mod signs;
mod words;

use self::signs::KindScores;
use super::form::DocumentForm;
use super::page::ParsedPage;
use crate::vocabulary::{ContentType, Kind, Stability};

/// The result of the rules. For a field that is `None`, the default of the memory type applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleClassification {
    /// The kind of the document.
    pub kind: Option<Kind>,
    /// The stability of the document.
    pub stability: Option<Stability>,
}

impl RuleClassification {
    fn new(kind: Kind, stability: Stability) -> Self {
        Self { kind: Some(kind), stability: Some(stability) }
    }
}

/// Returns the kind and the stability of a document. A field is `None` if the rules are not certain.
pub fn sorted(content: &str, form: &DocumentForm, name: Option<&str>) -> RuleClassification {
    match form.content_type {
        ContentType::Chat | ContentType::Transcript => {
            return RuleClassification::new(Kind::Episodic, Stability::Volatile);
        }
        ContentType::Structured => return of_data(content, name),
        // Code shows how something is done, but it is not written for a reader. A link and a file have no text yet.
        ContentType::Code | ContentType::Link | ContentType::File => return RuleClassification::default(),
        ContentType::Text | ContentType::Markdown => {}
    }
    let page = ParsedPage::of(content, form, name);
    if name.is_none() && short_text::is_saying(&page) {
        return short_text::sorted(&page, content);
    }
    KindScores::of(&page, name).sorted()
}

/// Classifies data. Data that describes an interface is a reference; the kind of other data is unknown.
fn of_data(content: &str, name: Option<&str>) -> RuleClassification {
    let head = &content[..content.floor_char_boundary(2_000)];
    let describes =
        ["openapi:", "\"openapi\"", "swagger:", "\"swagger\"", "asyncapi:", "\"$schema\": \"http"];
    let named = name.is_some_and(|name| {
        let words = words::of_path(name);
        ["openapi", "swagger", "asyncapi", "schema", "glossary"]
            .iter()
            .any(|word| words.file.contains(&format!(" {word} ")))
    });
    let kind = (named || describes.iter().any(|word| head.contains(word))).then_some(Kind::Semantic);
    RuleClassification { kind, stability: None }
}

#[cfg(test)]
mod tests;
