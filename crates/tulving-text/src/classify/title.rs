//! Makes a title for a document that has none.

use super::form::{DocumentForm, file_name};
use super::page::{PageBlock, ParsedPage, is_version};
use crate::preview;
use crate::vocabulary::ContentType;

/// Maximum number of characters of a title.
const TITLE_CHARS: usize = 80;

/// Headings that name a part of a document and not the complete document.
const PARTS: &[&str] =
    &["contents", "table of contents", "toc", "index", "introduction", "overview", "summary", "notes"];

/// Returns a title of at most [`TITLE_CHARS`] characters on one line.
///
/// The title of code, data and files is the file name. The title of a text comes from the text itself if it has one:
/// from a field above the text, from a heading, or from a separate first line. Otherwise it is the first sentence, cut
/// at a word. Returns `None` if the complete text is no longer than a title, or if there is nothing to make a title
/// from.
pub fn title(content: &str, form: &DocumentForm, name: Option<&str>) -> Option<String> {
    let named =
        || name.map(file_name).map(|name| preview::cut(name, TITLE_CHARS)).filter(|name| !name.is_empty());
    match form.content_type {
        ContentType::Code | ContentType::Structured | ContentType::File => return named(),
        ContentType::Link if content.trim().chars().count() > TITLE_CHARS => {
            return Some(preview::cut(content, TITLE_CHARS));
        }
        ContentType::Link => return None,
        ContentType::Text | ContentType::Markdown | ContentType::Chat | ContentType::Transcript => {}
    }
    let whole = content.trim();
    if !whole.contains('\n') && whole.chars().nth(TITLE_CHARS).is_none() {
        return None;
    }
    let page = ParsedPage::of(content, form, name);
    if page.headings().next().is_some_and(|(_, text)| is_version(text)) {
        // A changelog that begins with the latest version is not only about that version.
        return named().or_else(|| given(&page).map(|title| short(&title)));
    }
    given(&page)
        .or_else(|| first_line(&page, form))
        .or_else(|| first_sentence(&page))
        .map(|title| short(&title))
        .filter(|title| !title.is_empty())
}

/// Returns the title in the document itself.
///
/// A heading above all text is a title, and so is a heading of the first level at any position. Any other heading after
/// some text belongs to a part of the document.
fn given(page: &ParsedPage<'_>) -> Option<String> {
    if let Some(title) = page.field("title").filter(|title| title.contains(char::is_alphanumeric)) {
        return Some(title);
    }
    let heading = |block: &PageBlock<'_>| match block {
        PageBlock::Heading { level, text } => Some((*level, text.clone())),
        _ => None,
    };
    let above =
        page.blocks.iter().take_while(|block| matches!(block, PageBlock::Heading { .. })).filter_map(heading);
    let titles = || page.blocks.iter().filter_map(heading).filter(|(level, _)| *level == 1);
    let is_whole = |(_, text): &(usize, String)| !PARTS.contains(&text.to_lowercase().as_str());
    above.chain(titles()).find(is_whole).map(|(_, text)| text)
}

/// Labels that mark a first line as the title.
const TITLED: &[&str] =
    &["title", "subject", "topic", "re", "betreff", "titel", "titre", "título", "titolo", "objet", "asunto"];

/// Maximum number of words of a first line that is a title without being marked as a title.
const LINE_WORDS: usize = 10;

/// Returns the first line if it is a title above the text. Such a line is `Title: …`, or a few words that do not end a
/// sentence and are followed by a blank line or a list.
pub(super) fn first_line(page: &ParsedPage<'_>, form: &DocumentForm) -> Option<String> {
    if matches!(form.content_type, ContentType::Chat | ContentType::Transcript) {
        return None;
    }
    let PageBlock::Paragraph(text) = page.blocks.first()? else { return None };
    let mut lines = text.lines();
    let line = lines.next()?.trim();
    let more: Vec<&str> = lines.collect();
    if let Some((label, title)) = line.split_once(':')
        && TITLED.contains(&label.trim().to_lowercase().as_str())
        && title.contains(char::is_alphanumeric)
    {
        return Some(title.trim().to_owned());
    }
    if let Some(title) = before_steps(line) {
        return Some(title.to_owned());
    }
    // In a glossary or a list of fields, the first line is an entry like the other lines.
    let is_entry = |line: &&str| {
        line.contains(": ") || line.contains(" - ") || line.contains(" – ") || line.contains(" — ")
    };
    let entries = more.iter().filter(|line| is_entry(line)).count();
    let stands_alone = match more.is_empty() {
        true => page.blocks.len() > 1,
        false => entries * 2 >= more.len() && !is_entry(&line),
    };
    let words = line.split_whitespace().count();
    let ends = line.ends_with(['.', '!', ',', ';', '?', '。', '！', '？', '…']);
    let is_title = stands_alone
        && words <= LINE_WORDS
        && !ends
        && line.contains(char::is_alphabetic)
        && !line.contains("://")
        && !is_greeting(line);
    is_title.then(|| line.to_owned())
}

/// Returns the words before the first numbered step, if the steps are in one line: "Deploy runbook: 1. tag it 2. push
/// it".
fn before_steps(line: &str) -> Option<&str> {
    let at = [": 1. ", ": 1) ", ": (1) ", ": a) "].iter().filter_map(|mark| line.find(mark)).min()?;
    let before = line[..at].trim();
    (before.contains(char::is_alphabetic) && before.split_whitespace().count() <= LINE_WORDS)
        .then_some(before)
}

/// Returns the first sentence that is more than a greeting. If there is none, returns the first sentence.
fn first_sentence(page: &ParsedPage<'_>) -> Option<String> {
    let says = |sentence: &&str| sentence.split_whitespace().nth(1).is_some() && !is_greeting(sentence);
    let mut sentences = page.sentences().filter(|sentence| sentence.contains(char::is_alphanumeric));
    let first = sentences.next()?;
    if says(&first) {
        return Some(first.to_owned());
    }
    // Only a few sentences are checked, so that a list of single words gets its first word as the title.
    Some(sentences.take(3).find(says).unwrap_or(first).to_owned())
}

fn is_greeting(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    let first = words.next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(first.as_str(), "hi" | "hello" | "hey" | "dear" | "thanks" | "morning") && words.count() <= 3
}

/// Shortens a title to one line, cut at a word, without the punctuation that ends a sentence.
pub(super) fn short(title: &str) -> String {
    let line = preview::cut(title, usize::MAX);
    let line = line.trim_end_matches(['.', ':', ';', ',', ' ', '。']);
    at_word(line, TITLE_CHARS)
}

/// Cuts a text of one line to `limit` characters, between two words. A text that was cut ends with `…`.
pub(super) fn at_word(line: &str, limit: usize) -> String {
    if line.chars().nth(limit).is_none() {
        return line.to_owned();
    }
    let room: usize = line.chars().take(limit - 1).map(char::len_utf8).sum();
    let cut = if line[room..].starts_with(char::is_whitespace) {
        room
    } else {
        // A script without spaces, or an address, has no word boundary that would leave enough text.
        line[..room].rfind(char::is_whitespace).filter(|at| *at * 2 > room).unwrap_or(room)
    };
    let kept = line[..cut].trim_end_matches(|c: char| c.is_whitespace() || ",;:.-–—(".contains(c));
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::classify::form::{of_bytes, of_text};

    fn titled(name: Option<&str>, content: &str) -> Option<String> {
        title(content, &of_text(name, content), name)
    }

    #[test]
    fn a_document_is_called_what_it_calls_itself() {
        for (content, expected) in [
            ("# Deploy **the** [API](x)\n\nText.", "Deploy the API"),
            ("Deploying\n=========\n\nText.", "Deploying"),
            ("---\ntitle: 'Deploying'\n---\n# Other\n\nText.", "Deploying"),
            ("<!-- licence -->\n\n![badge](x)\n\n# Tool\n\nText.", "Tool"),
            ("## Contents\n\n- a\n\n# Tool\n\nText.", "Tool"),
            ("Some text first.\n\n# Late title\n\nMore.", "Late title"),
            ("# `code` and _thin_ #\n\nText.", "code and thin"),
        ] {
            assert_eq!(titled(None, content).as_deref(), Some(expected), "{content}");
        }
    }

    #[test]
    fn a_heading_keeps_the_mark_that_is_part_of_its_last_word() {
        assert_eq!(titled(None, "# Notes on C#\n\nText.").as_deref(), Some("Notes on C#"));
        assert_eq!(titled(None, "# Notes on C# ##\n\nText.").as_deref(), Some("Notes on C#"));
    }

    #[test]
    fn what_has_no_heading_is_called_by_its_first_sentence() {
        for (content, expected) in [
            ("Some text first. And more.\n\n## Steps\n\nDo it.", "Some text first"),
            ("Copyright 2024 us.\n\nThis is what it does.\nMore.", "This is what it does"),
            ("Hi all,\n\nthe server moves on Friday.\n", "the server moves on Friday"),
            ("- [ ] buy *milk*\n- call Ann", "buy milk"),
            ("Is it slow?\nYes.", "Is it slow?"),
            ("[10:32] Ann: is the export slow?\n[10:33] Ben: yes", "is the export slow?"),
            ("今日は雨でした。\n明日は晴れ。", "今日は雨でした"),
        ] {
            assert_eq!(titled(None, content).as_deref(), Some(expected), "{content}");
        }
    }

    #[test]
    fn a_long_sentence_is_cut_at_a_word() {
        let content = "The quick brown fox jumps over the lazy dog, and then it comes back and jumps over it once more.";
        let expected = "The quick brown fox jumps over the lazy dog, and then it comes back and jumps…";
        assert_eq!(titled(None, content).as_deref(), Some(expected));
        assert_eq!(at_word("one, two", 6), "one…");
        assert_eq!(at_word("one two", 4), "one…");
        assert_eq!(at_word("unbreakable", 5), "unbr…");
    }

    #[test]
    fn a_short_line_needs_no_title() {
        for content in
            ["The user prefers dark mode.", " one line \n", "# Heading alone", "https://example.org/a"]
        {
            assert_eq!(titled(None, content), None, "{content}");
        }
    }

    #[test]
    fn code_data_and_files_are_called_by_their_names() {
        assert_eq!(titled(Some("src/main.rs"), "// A comment.\nfn main() {}").as_deref(), Some("main.rs"));
        assert_eq!(titled(Some("a\\b.json"), "{\"a\": 1}").as_deref(), Some("b.json"));
        assert_eq!(
            titled(Some("CHANGELOG.md"), "# 1.2.0\n\n- Fix it\n\n# 1.1.0\n\n- Add it").as_deref(),
            Some("CHANGELOG.md")
        );
        assert_eq!(titled(None, "{\"a\": [1, 2],\n\"b\": 3}"), None);
        let pdf = of_bytes(Some("in/scan.pdf"), b"%PDF-1.7").form;
        assert_eq!(title("", &pdf, Some("in/scan.pdf")).as_deref(), Some("scan.pdf"));
    }

    #[test]
    fn a_conversation_has_the_title_it_was_archived_with() {
        let archive = "# Fix the expiry\n\n2 messages\n\n## User\n\nFix it please\n\n## Assistant\n\nDone\n";
        assert_eq!(titled(None, archive).as_deref(), Some("Fix the expiry"));
        let export =
            "{\"messages\": [{\"role\": \"user\", \"content\": \"Please rename it. Now.\"}],\n \"n\": 1}";
        assert_eq!(titled(None, export).as_deref(), Some("Please rename it"));
        let subtitles = "WEBVTT\n\n00:01.000 --> 00:02.000\nWelcome to\n\n00:03.000 --> 00:04.000\nthe talk. Let us begin.";
        assert_eq!(titled(None, subtitles).as_deref(), Some("Welcome to the talk"));
    }

    proptest! {
        #[test]
        fn a_title_is_one_short_line(
            name in proptest::option::of("\\PC{0,100}|a\\.(md|rs|json|txt)"),
            content in "([#=*|`<>!\\[\\]()a-z.:… \n-]|\\PC){0,300}",
        ) {
            if let Some(title) = titled(name.as_deref(), &content) {
                prop_assert!(!title.trim().is_empty() && title.chars().count() <= TITLE_CHARS, "{}", title);
                prop_assert!(!title.chars().any(char::is_control), "{}", title);
            }
        }
    }
}
