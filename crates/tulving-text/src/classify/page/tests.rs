use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::classify::form;

fn page<'a>(name: Option<&str>, content: &'a str) -> ParsedPage<'a> {
    ParsedPage::of(content, &form::of_text(name, content), name)
}

fn described(content: &str) -> Vec<String> {
    let page = page(Some("a.md"), content);
    page.blocks
        .iter()
        .map(|block| match block {
            PageBlock::Heading { level, text } => format!("h{level} {text}"),
            PageBlock::Paragraph(text) => format!("p {text}"),
            PageBlock::Item { mark, text } => format!("{mark:?} {text}"),
            PageBlock::Code { language, text } => format!("code {language} {text}"),
            PageBlock::Table(rows) => format!("table {rows:?}"),
        })
        .collect()
}

#[test]
fn comments_that_nobody_closes_hide_nothing_and_take_no_time() {
    let content = "<!--\n".repeat(LOOKED_AT / 5 - 1) + "word";
    let started = Instant::now();
    for _ in 0..10 {
        assert_eq!(described(&content), ["p word"]);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn the_parts_of_a_page_are_told_apart() {
    let content = "# Title #\n\nFirst line.\nSecond line.\n\nSetext\n------\n- one\n  more of one\n* two\n1. three\n2) four\n- [ ] five\n- [x] six\n\n```sh\nmake\n\nrun\n```\n\n| a | b |\n|---|:-:|\n| 1 | **2** |\n\n> quoted\n\n---\n\n    indented code\n\nlast";
    assert_eq!(
        described(content),
        [
            "h1 Title",
            "p First line.\nSecond line.",
            "h2 Setext",
            "Bullet one\nmore of one",
            "Bullet two",
            "Number three",
            "Number four",
            "Box five",
            "Box six",
            "code sh make\n\nrun",
            "table [[\"a\", \"b\"], [\"1\", \"2\"]]",
            "p quoted",
            "code      indented code",
            "p last"
        ]
    );
}

#[test]
fn a_wrapped_line_goes_on_and_a_short_one_does_not() {
    let content = "This line is long enough that whoever wrote it\nwrapped it because the window was so narrow, and it\ngoes on.\n\nShort\nlines";
    assert_eq!(
        described(content),
        [
            "p This line is long enough that whoever wrote it\nwrapped it because the window was so narrow, and it goes on.",
            "p Short\nlines"
        ]
    );
}

#[test]
fn comments_and_front_matter_are_no_text() {
    let content = "---\ntitle: \"A page\"\nDate: 2024-05-06\ntags:\n  - x\n---\n<!-- a\ncomment -->\n# Head\n<!-- open\ntext";
    assert_eq!(described(content), ["h1 Head", "p text"]);
    let page = page(Some("a.md"), content);
    assert_eq!(
        (page.field("title").as_deref(), page.field("date").as_deref()),
        (Some("A page"), Some("2024-05-06"))
    );
    assert_eq!(described("---\nnot closed"), ["p not closed"]);
    assert_eq!(
        described("text\n[docs]: https://a.example\n[b]: <c d>\n[x]: not a target"),
        ["p text", "p [x]: not a target"]
    );
}

#[test]
fn tables_without_bars_at_the_sides_are_tables() {
    assert_eq!(described("a | b\n--|--\n1 | 2\n\nend"), ["table [[\"a\", \"b\"], [\"1\", \"2\"]]", "p end"]);
}

#[test]
fn other_markups_have_their_headings() {
    let heads = |name, content| -> Vec<(usize, String)> {
        page(Some(name), content).headings().map(|(level, text)| (level, text.to_owned())).collect()
    };
    assert_eq!(
        heads(
            "a.rst",
            ".. _target:\n\n.. note:: x\n   more\n\n=====\nTitle\n=====\n\ntext\n\nPart\n~~~~\n\n# no\n"
        ),
        [(1, "Title".into()), (3, "Part".into())]
    );
    assert_eq!(heads("b.rst", "6. Title\n========\n\n1. one\n2. two\n"), [(1, "Title".into())]);
    assert_eq!(heads("a.adoc", "= Title\n\ntext\n\n== Part\n"), [(1, "Title".into()), (2, "Part".into())]);
    assert_eq!(
        heads("a.org", "#+TITLE: Top\n\n* Title\n** Part\ntext"),
        [(1, "Top".into()), (1, "Title".into()), (2, "Part".into())]
    );
}

#[test]
fn a_conversation_is_what_was_said() {
    let content = "[10:32] Ann: hi **there**\n[10:33] Ben: hello";
    let page = page(None, content);
    let said: Vec<&str> = page.prose().map(|(_, text)| text).collect();
    assert_eq!(said, ["hi there", "hello"]);
}

#[test]
fn an_export_that_is_longer_than_what_is_looked_at_is_what_was_said() {
    let message = r#"{"role": "user", "content": "the export is slow"}"#;
    let content = format!("[{}]", vec![message; LOOKED_AT / 20].join(", "));
    assert!(content.len() > 2 * LOOKED_AT);
    let page = page(None, &content);
    let said: Vec<&str> = page.prose().map(|(_, text)| text).collect();
    assert!(said.len() > 1_000 && said.iter().all(|text| *text == "the export is slow"), "{:?}", said[0]);
}

#[test]
fn notices_are_no_sentences() {
    let page = page(None, "Copyright 2024 the authors. Do what you like.\n\nThis is what it does. And more.");
    assert_eq!(page.sentences().collect::<Vec<_>>(), ["This is what it does.", "And more."]);
}

#[test]
fn no_more_than_the_beginning_of_a_long_document_is_looked_at() {
    let content = "é word. ".repeat(100_000);
    let looked: usize = page(None, &content).prose().map(|(_, text)| text.len()).sum();
    assert!(looked <= LOOKED_AT && looked > LOOKED_AT / 2, "{looked}");
}

proptest! {
    #[test]
    fn no_text_panics_and_nothing_is_made_up(
        name in proptest::option::of("a\\.(md|txt|rst|adoc|org)"),
        content in "([#=*|`~<>!\\[\\]()a-c0-9.:+ \n-]|<!--|-->|```\n|---\n|\\PC){0,120}",
    ) {
        let page = page(name.as_deref(), &content);
        let described: usize = page.prose().map(|(_, text)| text.len()).sum();
        prop_assert!(described <= content.len());
        for (level, text) in page.headings() {
            prop_assert!((1..=6).contains(&level) && !text.trim().is_empty());
        }
    }
}
