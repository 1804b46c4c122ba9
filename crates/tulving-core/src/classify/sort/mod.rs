//! What a document is for, and how soon it goes stale: its kind and its stability, by rules.
//!
//! A document speaks through its name and title, its headings and labels, and the way its sentences are made; each sign
//! counts for one kind, and the kind with most of them wins, if it wins clearly. One sentence has no headings: there only a
//! few turns of phrase count, because an agent's facts are to keep what follows from their type. The rules are English.

mod clause;
mod cues;
mod heads;
mod label;
mod saying;
mod signs;
mod words;

use self::signs::Signs;
use super::form::Form;
use super::page::Page;
use crate::vocabulary::{ContentType, Kind, Stability};

/// What the rules say of a document. `None` is for what follows from the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    /// What it is for.
    pub kind: Option<Kind>,
    /// How soon it goes stale.
    pub stability: Option<Stability>,
}

impl Sorted {
    fn new(kind: Kind, stability: Stability) -> Self {
        Self { kind: Some(kind), stability: Some(stability) }
    }
}

/// What a document is for and how soon it goes stale, as far as the rules are sure.
pub fn sorted(content: &str, form: &Form, name: Option<&str>) -> Sorted {
    match form.content_type {
        ContentType::Chat | ContentType::Transcript => {
            return Sorted::new(Kind::Episodic, Stability::Volatile);
        }
        ContentType::Structured => return of_data(content, name),
        // A program says how, but not to a reader; a link and a file say nothing yet.
        ContentType::Code | ContentType::Link | ContentType::File => return Sorted::default(),
        ContentType::Text | ContentType::Markdown => {}
    }
    let page = Page::of(content, form, name);
    if name.is_none() && saying::is_saying(&page) {
        return saying::sorted(&page);
    }
    Signs::of(&page, name).sorted()
}

/// Data is a reference where it describes an interface, and may be anything else.
fn of_data(content: &str, name: Option<&str>) -> Sorted {
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
    Sorted { kind, stability: None }
}

#[cfg(test)]
mod tests;
