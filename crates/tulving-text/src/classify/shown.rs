//! Makes a title and a summary for content that has none, where a surface requires both.
//!
//! Short content is stored without a title and a summary, because it is clear enough, and repeated words would distort
//! its embedding and ranking. This module makes both from the words of the content when the content is shown.

use serde_json::Value;

use super::form::{DocumentForm, file_name};
use super::page::{PageBlock, ParsedPage};
use super::title::{at_word, first_line, short};
use crate::chunk::ContentForm;
use crate::preview;
use crate::vocabulary::ContentType;

/// Maximum number of characters of a summary that this module makes.
const SUMMARY_CHARS: usize = 300;

/// Maximum size of data that is parsed to list its keys, in bytes.
const DATA_BYTES: usize = 64 << 10;

/// Maximum number of keys in a summary of data.
const KEYS: usize = 5;

/// The title of content without letters and without a name.
const UNTITLED: &str = "Untitled";

/// Makes a title from the first meaningful words of the content, or from its file name. The title is never empty and
/// has one line.
pub fn made_title(content: &str, form: ContentForm<'_>, name: Option<&str>) -> String {
    let made = DisplayContent::of(content, form, name).title();
    filled(short(&made), content)
}

/// Makes a summary, which is a short form of the content. The summary is never empty and has one line.
pub fn made_summary(content: &str, form: ContentForm<'_>, name: Option<&str>) -> String {
    let made = DisplayContent::of(content, form, name).summary();
    filled(at_word(&preview::cut(&made, usize::MAX), SUMMARY_CHARS), content)
}

/// Returns the text, or the content if the text is empty.
fn filled(made: String, content: &str) -> String {
    let content = || at_word(&preview::cut(content, usize::MAX), SUMMARY_CHARS);
    [made, content()].into_iter().find(|text| !text.trim().is_empty()).unwrap_or_else(|| UNTITLED.to_owned())
}

/// Content to show.
struct DisplayContent<'a> {
    content: &'a str,
    form: DocumentForm,
    language: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> DisplayContent<'a> {
    fn of(content: &'a str, form: ContentForm<'a>, name: Option<&'a str>) -> Self {
        let ContentForm { content_type, language } = form;
        Self { content, form: DocumentForm::known(content_type, language), language, name }
    }

    fn title(&self) -> String {
        let name = || self.name.map(|name| file_name(name).to_owned());
        match self.form.content_type {
            ContentType::Link => without_scheme(self.content).to_owned(),
            ContentType::Code => name().unwrap_or_else(|| self.first_code()),
            ContentType::Structured => name().or_else(|| self.named_data()).unwrap_or_else(|| self.data()),
            ContentType::File => name().unwrap_or_else(|| self.content.to_owned()),
            ContentType::Text | ContentType::Markdown | ContentType::Chat | ContentType::Transcript => {
                let page = ParsedPage::of(self.content, &self.form, self.name);
                let heading = page.headings().next().map(|(_, text)| text.to_owned());
                let sentence = page.sentences().find(|text| text.contains(char::is_alphanumeric));
                let other = || said(&page).next().map(str::to_owned);
                heading
                    .or_else(|| first_line(&page, &self.form))
                    .or_else(|| sentence.map(str::to_owned))
                    .or_else(other)
                    .unwrap_or_default()
            }
        }
    }

    fn summary(&self) -> String {
        match self.form.content_type {
            ContentType::Link => self.content.to_owned(),
            ContentType::Code => {
                let language = self.language.unwrap_or("code");
                let lines = self.content.lines().filter(|line| !line.trim().is_empty()).count();
                let counted = format!("{lines} {}", preview::plural(lines, "line", "lines"));
                format!("{language}, {counted}: {}", self.first_code())
            }
            ContentType::Structured => self.data(),
            ContentType::File => self.title(),
            ContentType::Text | ContentType::Markdown | ContentType::Chat | ContentType::Transcript => {
                let page = ParsedPage::of(self.content, &self.form, self.name);
                let mut summary = String::new();
                for line in said(&page).flat_map(str::lines) {
                    let part = preview::cut(line, usize::MAX);
                    if summary.chars().count() > SUMMARY_CHARS {
                        break;
                    }
                    join(&mut summary, &part);
                }
                summary
            }
        }
    }

    /// Returns the first meaningful line of code, without comment marks and brackets.
    fn first_code(&self) -> String {
        let bare = |line: &str| {
            let line =
                line.trim().trim_start_matches("#!").trim_start_matches(['/', '*', '#', '-', ';', '"', ' ']);
            line.trim_end_matches([' ', '{', '(', ':', '*', '/', ';', '"']).to_owned()
        };
        self.content
            .lines()
            .map(bare)
            .find(|line| line.chars().filter(|c| c.is_alphabetic()).count() > 1)
            .unwrap_or_default()
    }

    /// Returns the name that the data states for itself.
    fn named_data(&self) -> Option<String> {
        let data = self.parsed()?;
        let named = ["title", "name"].iter().find_map(|key| data.get(key)?.as_str())?;
        named.contains(char::is_alphanumeric).then(|| named.to_owned())
    }

    /// Summarizes data by its first keys.
    fn data(&self) -> String {
        let keys = self.keys();
        let more = if keys.len() > KEYS { ", …" } else { "" };
        let shown = keys.iter().take(KEYS).map(String::as_str).collect::<Vec<_>>().join(", ");
        match (shown.is_empty(), self.language) {
            (true, _) => preview::cut(self.content, SUMMARY_CHARS),
            (false, Some(language)) => format!("{language}: {shown}{more}"),
            (false, None) => format!("{shown}{more}"),
        }
    }

    fn parsed(&self) -> Option<Value> {
        (self.content.len() <= DATA_BYTES).then(|| serde_json::from_str(self.content).ok()).flatten()
    }

    fn keys(&self) -> Vec<String> {
        match self.parsed() {
            Some(Value::Object(fields)) => fields.keys().cloned().collect(),
            Some(Value::Array(items)) => match items.first() {
                Some(Value::Object(fields)) => fields.keys().cloned().collect(),
                _ => Vec::new(),
            },
            Some(_) => Vec::new(),
            // YAML and TOML have a key at the start of a line.
            None => {
                let key = |line: &str| {
                    let (key, _) = line.split_once([':', '='])?;
                    let key = key.trim_end().trim_matches('"');
                    let plain = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
                    let fits = !key.is_empty() && !key.starts_with([' ', '-']) && key.chars().all(plain);
                    fits.then(|| key.to_owned())
                };
                self.content.lines().filter_map(key).take(KEYS + 1).collect()
            }
        }
    }
}

/// Returns the meaningful parts of a page, in order: its text, or, if it has no text, its headings, tables and code.
fn said<'a>(page: &'a ParsedPage<'_>) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    if page.prose().any(|(_, text)| text.contains(char::is_alphanumeric)) {
        return Box::new(page.prose().map(|(_, text)| text));
    }
    Box::new(page.blocks.iter().flat_map(|block| -> Vec<&str> {
        match block {
            PageBlock::Heading { text, .. } | PageBlock::Paragraph(text) | PageBlock::Item { text, .. } => {
                vec![text]
            }
            PageBlock::Code { text, .. } => {
                text.lines().find(|line| !line.trim().is_empty()).into_iter().collect()
            }
            PageBlock::Table(rows) => rows.first().into_iter().flatten().map(String::as_str).collect(),
        }
    }))
}

/// Adds a part to a text, after a semicolon if the text so far does not end a sentence.
fn join(text: &mut String, part: &str) {
    if !text.is_empty() {
        let ends = text.ends_with(['.', '!', '?', ':', ';', ',', '…', '。', '！', '？']);
        text.push_str(if ends { " " } else { "; " });
    }
    text.push_str(part);
}

/// Returns a link as people write it.
fn without_scheme(link: &str) -> &str {
    let link = link.trim();
    let bare = link.split_once("://").map_or(link, |(_, bare)| bare);
    bare.strip_prefix("www.").unwrap_or(bare).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::form::of_text;
    use crate::classify::{summary, title};

    /// Returns the title and the summary that a save stores. If it stores none, returns those that are shown instead.
    fn shown(name: Option<&str>, content: &str) -> (String, String) {
        let form = of_text(name, content);
        let shown = DisplayContent { content, form: form.clone(), language: form.language, name };
        let made_title =
            title(content, &form, name).unwrap_or_else(|| filled(short(&shown.title()), content));
        let made_summary = summary(content, &form, name).unwrap_or_else(|| {
            filled(at_word(&preview::cut(&shown.summary(), usize::MAX), SUMMARY_CHARS), content)
        });
        (made_title, made_summary)
    }

    /// Content that people and agents save, with the titles that a reader would choose.
    const TITLES: &[(Option<&str>, &str, &str)] = &[
        (None, "The user prefers dark mode.", "The user prefers dark mode"),
        (None, "Prefers *tabs* over `spaces`", "Prefers tabs over spaces"),
        (None, "# Heading alone", "Heading alone"),
        (None, "Glossary\n\nARR: annual recurring revenue\nMRR: monthly recurring revenue", "Glossary"),
        (None, "Glossary\nARR: annual recurring revenue\nMRR: monthly recurring revenue", "Glossary"),
        (None, "Glossary:\n\n- ARR: annual recurring revenue\n- MRR: monthly recurring revenue", "Glossary"),
        (None, "# Glossary\n\n**ARR** annual recurring revenue", "Glossary"),
        (
            None,
            "Deploy runbook: 1. tag the release and write the notes 2. push the tag 3. approve the job in CI",
            "Deploy runbook",
        ),
        (
            None,
            "Deploy runbook: 1) tag the release and write the notes 2) push the tag 3) approve the job",
            "Deploy runbook",
        ),
        (None, "Deploy runbook: 1. tag it 2. push it", "Deploy runbook"),
        (None, "Deploy runbook:\n1. Tag the release\n2. Push the tag", "Deploy runbook"),
        (None, "Deploy runbook\n\n1. Tag the release.\n2. Push the tag.", "Deploy runbook"),
        (None, "Title: Moving to SQLite\n\nWe moved because of the servers.", "Moving to SQLite"),
        (None, "Subject: Server moves on Friday\n\nHi all,\n\nthe server moves.", "Server moves on Friday"),
        (
            None,
            "Meeting notes 2026-05-12\n\nAttendees: Ann, Ben\n\nWe agreed to ship on Friday.",
            "Meeting notes 2026-05-12",
        ),
        (None, "Standup\n- Ann: search\n- Ben: blocked by CI", "Standup"),
        (
            None,
            "ADR 7: Use UUIDv7\n\nStatus: accepted\n\nContext: ids must sort by time.",
            "ADR 7: Use UUIDv7",
        ),
        (None, "Shopping:\n- milk\n- bread", "Shopping"),
        (None, "- [ ] buy *milk*\n- call Ann", "buy milk"),
        (None, "1. Stop the worker\n2. Start it again", "Stop the worker"),
        (None, "Hi all,\n\nthe server moves on Friday.\n", "the server moves on Friday"),
        (None, "Is it slow?\nYes.", "Is it slow?"),
        (None, "[10:32] Ann: is the export slow?\n[10:33] Ben: yes", "is the export slow?"),
        (None, "https://www.example.org/changelog/", "example.org/changelog"),
        (None, "{\"name\": \"billing\", \"port\": 8080}", "billing"),
        (None, "{\"host\": \"a.example\", \"port\": 8080}", "json: host, port"),
        (Some("etc/app.json"), "{\"host\": \"a.example\", \"port\": 8080}", "app.json"),
        (Some("src/main.rs"), "fn main() {\n    run();\n}", "main.rs"),
        (None, "#!/bin/sh\n# Ships the release.\nset -e\nmake ship\n", "bin/sh"),
        (None, "今日は雨でした。\n明日は晴れ。", "今日は雨でした"),
        (None, "Glossar\n\nMwSt: Mehrwertsteuer\nUSt: Umsatzsteuer", "Glossar"),
        (None, "🎉🎉🎉", "🎉🎉🎉"),
        (None, "---", "---"),
        (
            None,
            "Team conventions: two reviewers, squash merges.",
            "Team conventions: two reviewers, squash merges",
        ),
        (None, "The release is version 2", "The release is version 2"),
        (None, "Score of the match: 3", "Score of the match: 3"),
    ];

    #[test]
    fn titles_are_what_a_reader_would_call_it() {
        let wrong: Vec<String> = TITLES
            .iter()
            .filter_map(|(name, content, expected)| {
                let (title, _) = shown(*name, content);
                (title != *expected)
                    .then(|| format!("{content:?}\n  expected {expected:?}\n  got      {title:?}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_summary_is_always_there_whole_and_without_the_numbers_of_lists() {
        for (name, content, expected) in [
            (None, "The user prefers dark mode.", "The user prefers dark mode."),
            (
                None,
                "Deploy runbook\n\n1. Tag the release.\n2. Push the tag.",
                "Deploy runbook; Tag the release. Push the tag.",
            ),
            (None, "- milk\n- bread", "milk; bread"),
            (None, "Terms\n\nARR: yearly\nMRR: monthly", "Terms; ARR: yearly; MRR: monthly"),
            (None, "https://www.example.org/a", "https://www.example.org/a"),
            (None, "{\"host\": \"a.example\", \"port\": 8080}", "json: host, port"),
            (None, "🎉🎉🎉", "🎉🎉🎉"),
            (None, "# Heading alone", "Heading alone"),
            (None, "| term | meaning |\n|---|---|\n| a | b |", "term; meaning"),
        ] {
            assert_eq!(shown(name, content).1, expected, "{content:?}");
        }
        let long = "word ".repeat(75);
        let (_, summary) = shown(None, long.trim());
        assert!(summary.ends_with(" word…") && summary.chars().count() <= SUMMARY_CHARS, "{summary}");
    }

    #[test]
    fn code_without_a_name_is_called_by_its_first_line() {
        for (content, title, summary) in [
            ("\n// Ships it.\nfn main() {\n}\n", "Ships it", "rust, 3 lines: Ships it."),
            ("fn main() {\n}", "fn main()", "rust, 2 lines: fn main()"),
        ] {
            let form = DocumentForm::known(ContentType::Code, Some("rust"));
            let shown = DisplayContent { content, form, language: Some("rust"), name: None };
            assert_eq!((short(&shown.title()).as_str(), shown.summary().as_str()), (title, summary));
        }
    }

    #[test]
    fn nothing_is_shown_without_a_title_and_a_summary() {
        for (name, content, _) in TITLES {
            let (title, summary) = shown(*name, content);
            assert!(!title.trim().is_empty() && !summary.trim().is_empty(), "{content:?}");
            assert!(!title.contains('\n') && !summary.contains('\n'), "{content:?}");
        }
    }
}
