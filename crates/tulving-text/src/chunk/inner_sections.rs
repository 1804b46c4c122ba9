//! Finds the sections that were joined into one chunk, each with its own headings.
//!
//! A chunk is stored with the headings of its first section only. An answer that shows a chunk computes the other
//! headings with this module from the current content. The computed headings are not stored.

use std::ops::Range;

use super::code::CodeStructure;
use super::form::{CodeOutlineMethod, ContentForm};
use super::outline::Outline;
use super::pieces::TextLanguage;
use crate::sentence::trimmed;

/// Maximum size of code or data that is parsed for an answer, in bytes. A parse takes about a millisecond for each 20
/// kB.
const CODE_BYTES: usize = 64 << 10;

/// A heading with the text below it, up to the next heading, inside a part of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadedPart {
    /// The range of the part in the content.
    pub range: Range<usize>,
    /// The headings of the part, outermost first.
    pub path: Vec<String>,
    /// A number for each heading in `path`. Two headings with the same words have different numbers.
    pub headings: Vec<usize>,
    /// True if the part is a heading without text, which belongs to the next part.
    pub bare: bool,
}

/// Returns the parts of a chunk below different headings, in order. Empty if the chunk has at most one heading.
pub fn parts_within(content: &str, form: ContentForm<'_>, chunk: Range<usize>) -> Vec<HeadedPart> {
    let Some(text) = content.get(chunk.clone()) else { return Vec::new() };
    let outline = match form.reading(content) {
        // A chunk of prose begins outside code blocks. The outline of the chunk's own text therefore shows whether it
        // contains several headings, and only then is the text above the chunk read.
        None if Outline::of(text).sections.len() < 2 => return Vec::new(),
        None => Outline::of(&content[..chunk.end]),
        Some(_) if content.len() > CODE_BYTES => return Vec::new(),
        Some(reading) => of_code(content, reading),
    };
    let inside = outline.sections.iter().filter_map(|section| {
        let (start, end) = (section.range.start.max(chunk.start), section.range.end.min(chunk.end));
        let range = (start < end).then(|| trimmed(content, start..end)).flatten()?;
        Some(HeadedPart {
            range,
            path: outline.path(section.heading),
            headings: outline.places(section.heading),
            bare: section.blocks.is_empty(),
        })
    });
    let parts: Vec<HeadedPart> = inside.collect();
    if parts.len() < 2 { Vec::new() } else { parts }
}

fn of_code(content: &str, reading: CodeOutlineMethod) -> Outline {
    CodeStructure::read(content, reading).outline(content, TextLanguage::of(content))
}

#[cfg(test)]
mod tests {
    use super::super::split;
    use super::*;
    use crate::vocabulary::ContentType;

    #[test]
    fn a_packed_chunk_gives_each_section_with_its_own_headings() {
        let text = "# Guide\n\nIntro.\n\n## Pump\n\nIt pumps.\n\n```sh\n# Not a heading\n```\n\n### Oil\n\nMonthly.\n\nValve\n-----\n\nIt opens.";
        let parts = parts_within(text, ContentForm::PROSE, 0..text.len());
        let paths: Vec<String> = parts.iter().map(|part| part.path.join(" > ")).collect();
        assert_eq!(paths, ["Guide", "Guide > Pump", "Guide > Pump > Oil", "Guide > Valve"]);
        assert!(text[parts[1].range.clone()].contains("# Not a heading"));
        assert_eq!(&text[parts[3].range.clone()], "Valve\n-----\n\nIt opens.");
        assert_eq!(parts_within("# Guide\n\nOnly one.", ContentForm::PROSE, 0..18), []);
    }

    #[test]
    fn headings_above_the_chunk_are_known() {
        let text = "# Guide\n\n## Pump\n\nIt pumps.\n\n## Valve\n\nIt opens.\n\n## Hose\n\nIt bends.";
        let start = text.find("## Valve").expect("it is there");
        let parts = parts_within(text, ContentForm::PROSE, start..text.len());
        assert_eq!(
            parts.iter().map(|part| part.path.join(" > ")).collect::<Vec<_>>(),
            ["Guide > Valve", "Guide > Hose"]
        );
        assert_eq!(parts[0].headings[0], parts[1].headings[0]);
        assert_eq!(
            parts_within(text, ContentForm::PROSE, 5..9_999),
            [],
            "a range that the content does not have"
        );
    }

    #[test]
    fn functions_in_one_chunk_have_their_own_names() {
        let function = |n: usize| format!("fn part_{n}(x: u32) -> u32 {{\n    x + {n}\n}}\n\n");
        let text: String = (0..40).map(function).collect();
        let form = ContentForm { content_type: ContentType::Code, language: Some("rust") };
        let chunks = split(&text, form);
        let parts = parts_within(&text, form, chunks[1].start..chunks[1].end);
        assert!(parts.len() > 1, "{chunks:?}");
        for part in &parts {
            let name = part.path.last().expect("a name").strip_prefix("fn ").expect("a function");
            assert!(text[part.range.clone()].contains(&format!("fn {name}(")), "{part:?}");
        }
    }
}
