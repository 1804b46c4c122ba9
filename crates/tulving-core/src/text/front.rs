//! The metadata of a document: from the fields above a Markdown text, and from the names of known files.
//!
//! Fields with known names and valid values are removed from the text, because they are stored separately. Everything else
//! stays in the text, unchanged.

pub(crate) use tulving_text::front::head;
use tulving_text::front::{FrontMatterBlock, FrontMatterField, FrontMatterValue, fenced};

use crate::model::foreign;
use crate::model::limits;
use crate::model::request::SaveRequest;
use crate::model::score::Importance;
use crate::model::vocabulary::{Kind, Stability};

/// The names of files with instructions for agents.
const INSTRUCTIONS: &[&str] =
    &["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"];

/// A document and its metadata.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrontMatter {
    /// The title, summary, tags, type, kind, stability, importance and time, if the document contains them.
    pub(crate) about: SaveRequest,
    /// The text without the fields in `about`.
    pub(crate) text: String,
}

/// Parses the fields above a text, in YAML between lines of `---` or TOML between lines of `+++`. Returns `None` if there is
/// no known field.
pub(crate) fn front(text: &str) -> Option<FrontMatter> {
    let block = fenced(text)?;
    let fields = block.fields()?;
    let FrontMatterBlock { fence, head, body } = block;
    let mut about = SaveRequest::default();
    let mut known = Vec::new();
    for field in &fields {
        if take(field, &mut about) {
            known.push(field.lines.clone());
        }
    }
    if known.is_empty() {
        return None;
    }
    let is_known = |line: usize| known.iter().any(|lines| lines.contains(&line));
    let rest: Vec<&str> =
        (0..).zip(head.lines()).filter(|(line, _)| !is_known(*line)).map(|(_, text)| text).collect();
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let text = match rest.iter().any(says) {
        true => format!("{fence}\n{}\n{fence}\n{body}", rest.join("\n")),
        false => body.to_owned(),
    };
    Some(FrontMatter { about, text })
}

/// Returns the metadata of a file that is known by its name. Instructions for agents are procedural and evolving. The title
/// contains the name of the folder, because all such files have the same name.
pub(crate) fn instructions(path: &str) -> Option<SaveRequest> {
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next().filter(|name| INSTRUCTIONS.contains(name))?;
    let folder = parts.next().filter(|folder| !folder.is_empty());
    let title = folder.map_or_else(|| name.to_owned(), |folder| format!("{name} ({folder})"));
    Some(SaveRequest {
        title: Some(crate::model::preview::cut(&title, limits::TITLE_CHARS)),
        kind: Some(Kind::Procedural),
        stability: Some(Stability::Evolving),
        ..SaveRequest::default()
    })
}

/// Fills the fields that a request does not set with those of the document. The tags of both are combined.
pub(crate) fn described(request: SaveRequest, itself: SaveRequest) -> SaveRequest {
    let tags = match (request.tags, itself.tags) {
        (Some(given), Some(own)) => Some(own.into_iter().chain(given).collect()),
        (given, own) => given.or(own),
    };
    SaveRequest {
        title: request.title.or(itself.title),
        summary: request.summary.or(itself.summary),
        tags,
        memory_type: request.memory_type.or(itself.memory_type),
        kind: request.kind.or(itself.kind),
        stability: request.stability.or(itself.stability),
        importance: request.importance.or(itself.importance),
        occurred_at: request.occurred_at.or(itself.occurred_at),
        ..request
    }
}

/// Stores a field in `about` if its name is known and its value is valid. Returns true if the field was stored.
fn take(field: &FrontMatterField, about: &mut SaveRequest) -> bool {
    let one = match &field.value {
        FrontMatterValue::One(text) => Some(text.trim()).filter(|text| !matches!(*text, "" | "~" | "null")),
        FrontMatterValue::Many(_) | FrontMatterValue::Other => None,
    };
    let line = |limit: usize| {
        one.filter(|text| text.chars().count() <= limit && !text.contains(char::is_control))
            .map(str::to_owned)
    };
    match field.name.to_lowercase().as_str() {
        "title" => set(&mut about.title, line(limits::TITLE_CHARS)),
        "summary" => set(&mut about.summary, line(limits::SUMMARY_CHARS)),
        "tags" => set(&mut about.tags, tags(&field.value)),
        "type" => set(&mut about.memory_type, word(one)),
        "kind" => set(&mut about.kind, word(one)),
        "stability" => set(&mut about.stability, word(one)),
        "importance" => {
            let number = one.and_then(|text| text.parse().ok());
            set(&mut about.importance, number.filter(|number| Importance::new(*number).is_ok()))
        }
        "date" | "created" | "created_at" | "occurred_at" => {
            set(&mut about.occurred_at, one.and_then(foreign::instant_of))
        }
        _ => false,
    }
}

/// Sets a field that is not set yet. Returns true if the field was set.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let fits = field.is_none() && value.is_some();
    if fits {
        *field = value;
    }
    fits
}

fn word<T: std::str::FromStr>(text: Option<&str>) -> Option<T> {
    text?.to_lowercase().parse().ok()
}

/// Parses tags: a list, or a text with commas between the tags. Each tag may begin with `#`.
fn tags(value: &FrontMatterValue) -> Option<Vec<String>> {
    let tag = |text: &str| {
        let text = text.trim().trim_start_matches('#').trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let tags: Vec<String> = match value {
        FrontMatterValue::One(text) => text.split(',').filter_map(tag).collect(),
        FrontMatterValue::Many(list) => list.iter().filter_map(|text| tag(text)).collect(),
        FrontMatterValue::Other => return None,
    };
    let fits = |tag: &String| tag.chars().count() <= limits::TAG_CHARS && !tag.contains(char::is_control);
    (tags.len() <= limits::TAGS && tags.iter().all(fits)).then_some(tags)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tulving_text::front::FIELDS_BYTES;

    use super::*;
    use crate::model::vocabulary::MemoryType;

    #[test]
    fn what_is_known_is_taken_and_the_rest_stays() {
        let text = "---\ntitle: \"The plan\"\naliases:\n  - P1\n  - the big one\ntags: [work, '#2026']\ndate: 2026-05-27\n\
                    # a comment\ntype: Decision\nkind: rationale\nstability: stable\nimportance: 0.9\nsummary: In short.\n---\n\n# Plan\n";
        let FrontMatter { about, text } = front(text).expect("fields");
        assert_eq!(about.title.as_deref(), Some("The plan"));
        assert_eq!(about.tags.as_deref(), Some(["work".to_owned(), "2026".to_owned()].as_slice()));
        assert_eq!(about.memory_type, Some(MemoryType::Decision));
        assert_eq!((about.kind, about.stability), (Some(Kind::Rationale), Some(Stability::Stable)));
        assert_eq!((about.importance, about.summary.as_deref()), (Some(0.9), Some("In short.")));
        assert_eq!(about.occurred_at.map(|at| at.date()).as_deref(), Some("2026-05-27"));
        assert_eq!(text, "---\naliases:\n  - P1\n  - the big one\n---\n\n# Plan\n");
    }

    #[test]
    fn where_all_is_known_nothing_of_it_stays() {
        let described = front("---\r\ntitle: T\r\ntags: a, b\r\n---\r\nbody\r\n").expect("fields");
        assert_eq!(described.text, "body\r\n");
        assert_eq!(described.about.tags.as_deref(), Some(["a".to_owned(), "b".to_owned()].as_slice()));
        assert_eq!(front("---\ntitle: T\n...\nbody").expect("fields").text, "body");
    }

    #[test]
    fn toml_says_the_same() {
        let text = "+++\ntitle = \"The plan\"\ndate = 2026-05-27T09:00:00Z\ntags = [\"work\"]\ndraft = true\n\n[extra]\nkind = \"x\"\n+++\nbody\n";
        let FrontMatter { about, text } = front(text).expect("fields");
        assert_eq!((about.title.as_deref(), about.kind), (Some("The plan"), None));
        assert_eq!(
            about.occurred_at.map(|at| at.to_string()).as_deref(),
            Some("2026-05-27T09:00:00.000000Z")
        );
        assert_eq!(text, "+++\ndraft = true\n\n[extra]\nkind = \"x\"\n+++\nbody\n");
    }

    #[test]
    fn what_is_dotted_in_toml_stays_on_both_sides_of_what_is_taken() {
        let text = "+++\na.b.c = 1\ntitle = \"T\"\na.b.d = 2\ntags = [\"x\"]\na.e = 3\n+++\nbody\n";
        let FrontMatter { about, text } = front(text).expect("fields");
        assert_eq!(about.title.as_deref(), Some("T"));
        assert_eq!(text, "+++\na.b.c = 1\na.b.d = 2\na.e = 3\n+++\nbody\n");
    }

    #[test]
    fn words_that_are_not_ours_stay_where_they_are() {
        let text = "---\ntitle:\nkind: decision\ntype: blog\nimportance: high\nstability: 3\ndate: soon\ntags:\n  a: b\nkey: v\n---\nbody";
        assert_eq!(front(text), None);
        let nested = "---\ntitle: T\nmeta:\n  title: inner\n  tags: [x]\n---\nbody";
        let described = front(nested).expect("fields");
        assert_eq!(described.text, "---\nmeta:\n  title: inner\n  tags: [x]\n---\nbody");
        assert_eq!(described.about.tags, None);
    }

    #[test]
    fn what_is_no_front_matter_is_text() {
        for text in [
            "",
            "# Title\n\ntext",
            "---\n\nA rule, and text.\n\n---\n",
            "---\ntitle: never ends\n",
            "---\n{title: a, tags: [b]}\n---\nbody",
            "---\ntitle: [broken\n---\nbody",
            "+++\ntitle = \n+++\nbody",
            "---\n- title\n---\n",
            "----\ntitle: T\n----\n",
            " ---\ntitle: T\n---\n",
            "---\n---\nbody",
        ] {
            assert_eq!(front(text), None, "{text:?}");
        }
        let long = format!("---\ntitle: T\nx: {}\n---\nbody", "x".repeat(FIELDS_BYTES));
        assert_eq!(front(&long), None);
        let title = format!("---\ntitle: {}\n---\nbody", "x".repeat(limits::TITLE_CHARS + 1));
        assert_eq!(front(&title), None);
    }

    #[test]
    fn instructions_are_known_by_their_names() {
        let described = instructions("/home/me/dev/api/CLAUDE.md").expect("known");
        assert_eq!(described.title.as_deref(), Some("CLAUDE.md (api)"));
        assert_eq!(
            (described.kind, described.stability),
            (Some(Kind::Procedural), Some(Stability::Evolving))
        );
        assert_eq!(
            instructions("AGENTS.md").and_then(|described| described.title).as_deref(),
            Some("AGENTS.md")
        );
        assert_eq!(instructions("/dev/api/README.md"), None);
        assert_eq!(instructions("/dev/api/claude.md.txt"), None);
    }

    #[test]
    fn who_asks_is_heard_first() {
        let request = SaveRequest {
            title: Some("mine".to_owned()),
            tags: Some(vec!["flag".to_owned()]),
            ..SaveRequest::new("text")
        };
        let itself = front("---\ntitle: its own\ntags: [note]\nkind: episodic\n---\n").expect("fields").about;
        let both = described(request, itself);
        assert_eq!((both.title.as_deref(), both.kind), (Some("mine"), Some(Kind::Episodic)));
        assert_eq!(both.tags.as_deref(), Some(["note".to_owned(), "flag".to_owned()].as_slice()));
        assert_eq!(both.content, "text");
    }

    proptest! {
        #[test]
        fn no_text_panics_and_nothing_is_taken_twice(head in "((title|tags|kind|x|date): ?[a-z\\[\\]{}\"',0-9 -]{0,8}\n|[ a-z:#\\[{-]{0,6}\n){0,5}", body in "[a-z\n]{0,10}") {
            for fence in ["---", "+++"] {
                let text = format!("{fence}\n{head}{fence}\n{body}");
                if let Some(FrontMatter { text: rest, .. }) = front(&text) {
                    prop_assert!(rest.ends_with(&body) && rest.len() < text.len());
                    prop_assert!(front(&rest).is_none_or(|again| again.text.len() < rest.len()));
                }
            }
        }
    }
}
