use proptest::prelude::*;

use super::*;

fn sort(name: Option<&str>, text: &str) -> (ContentType, Option<&'static str>) {
    let form = of_text(name, text);
    (form.content_type, form.language)
}

#[test]
fn a_name_tells_the_form() {
    for (name, text, expected) in [
        ("a/notes.md", "plain words", (ContentType::Markdown, None)),
        ("page.MDX", "plain words", (ContentType::Markdown, None)),
        ("src/lib.rs", "fn a() {}", (ContentType::Code, Some("rust"))),
        ("tool.py", "", (ContentType::Code, Some("python"))),
        ("index.d.ts", "x", (ContentType::Code, Some("typescript"))),
        ("Dockerfile", "FROM x", (ContentType::Code, Some("dockerfile"))),
        ("notes.txt", "# not Markdown", (ContentType::Text, None)),
        ("LICENSE", "Permission", (ContentType::Text, None)),
        ("a.json", "{\"a\": 1}", (ContentType::Structured, Some("json"))),
        ("a.yml", "a: 1", (ContentType::Structured, Some("yaml"))),
        ("a.toml", "a = 1", (ContentType::Structured, Some("toml"))),
        ("a.jsonl", "{}\n{}", (ContentType::Structured, Some("jsonl"))),
        ("talk.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello", (ContentType::Transcript, None)),
        ("talk.vtt", "no subtitles at all", (ContentType::Text, None)),
        ("where.txt", "https://example.org/a?b=c\n", (ContentType::Link, None)),
        ("run", "#!/usr/bin/env python3\nprint(1)", (ContentType::Code, Some("python"))),
        ("scan.pdf", "the words of a page", (ContentType::Text, None)),
        ("app.log", "[10:32] Ann: hi\n[10:33] Ben: hello", (ContentType::Text, None)),
    ] {
        assert_eq!(sort(Some(name), text), expected, "{name}");
    }
}

#[test]
fn data_that_is_not_valid_is_text_with_a_note() {
    for (name, text, described) in [
        (
            "a.json",
            "{\n \"a\": }",
            "it is not valid JSON and is kept as text: expected value at line 2, column 7",
        ),
        (
            "a.yaml",
            "a: b: c",
            "it is not valid YAML and is kept as text: mapping values are not allowed in this context at line 1, column 5",
        ),
    ] {
        let form = of_text(Some(name), text);
        assert_eq!((form.content_type, form.media_type), (ContentType::Text, "text/plain"), "{name}");
        assert_eq!(form.note.expect("a note").to_string(), described);
    }
    let form = of_text(Some("a.toml"), "a = 1\nb =");
    assert!(
        matches!(form.note, Some(FormMismatch::Invalid { format: StructuredFormat::Toml, line: 2, .. })),
        "{form:?}"
    );
}

#[test]
fn bytes_are_text_or_a_file() {
    let reading = of_bytes(Some("a.md"), b"\xef\xbb\xbf# Hi");
    assert_eq!((reading.form.content_type, reading.text.as_deref()), (ContentType::Markdown, Some("# Hi")));
    let reading = of_bytes(Some("a.txt"), b"\xff\xfeh\0i\0");
    assert_eq!((reading.form.content_type, reading.text.as_deref()), (ContentType::Text, Some("hi")));
    let reading = of_bytes(Some("scan.pdf"), b"%PDF-1.7\n");
    assert_eq!((reading.form.content_type, reading.form.media_type), (ContentType::File, "application/pdf"));
    assert_eq!((reading.form.note, reading.text), (None, None));
    let reading = of_bytes(Some("notes.md"), b"\x89PNG\r\n\x1a\n\0");
    assert_eq!(reading.form.content_type, ContentType::File);
    assert_eq!(
        reading.form.note.expect("a note").to_string(),
        "its name ends with `.md`, but its bytes are not text; it is kept as a file (image/png)"
    );
    let reading = of_bytes(None, b"a\0b");
    assert_eq!((reading.form.media_type, reading.form.note), ("application/octet-stream", None));
    let reading = of_bytes(None, b"BMW and ID3 are names");
    assert_eq!(reading.form.content_type, ContentType::Text);
}

#[test]
fn an_address_alone_is_a_link() {
    for text in [
        "https://example.org",
        " http://localhost:8080/a#b\n",
        "HTTPS://Example.org/?q=1",
        "https://例え.jp/道",
    ] {
        assert_eq!(sort(None, text).0, ContentType::Link, "{text}");
    }
    for text in [
        "see https://example.org",
        "https://example.org and more",
        "https://",
        "https:///path",
        "ftp://example.org",
        "https://a.example\nhttps://b.example",
        "<https://example.org>",
        "example.org",
    ] {
        assert_eq!(sort(None, text).0, ContentType::Text, "{text}");
    }
    assert_eq!(sort(None, &format!("https://example.org/{}", "a".repeat(9_000))).0, ContentType::Text);
}

#[test]
fn a_memory_of_a_sentence_is_text() {
    for text in [
        "The user prefers dark mode.",
        "Run `cargo test` before every commit",
        "- buy milk\n- call Ann",
        "Note: the server is slow.\nNote: so is the client.",
        "C++ and C# are languages; import the data from the file.",
        "let us meet on Monday\nfn is the key\nuse it well\nimpl is short",
        "[1]",
        "[x] done",
        "{curly} words",
        "2024: a year",
        "name: Ann\nrole: lead",
        "*important*: read it",
        "select the best\nfrom the list\nwhere it is\norder by hand",
    ] {
        assert_eq!(sort(None, text), (ContentType::Text, None), "{text}");
    }
}

#[test]
fn markdown_without_a_name_is_known_by_its_signs() {
    for text in [
        "# Title\n\nwords",
        "words\n\n## Section\n\nmore",
        "Run this:\n\n```sh\nmake\n```\n",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "see [this](https://a.example) and\n**that** too",
        "- [ ] one\n- [ ] two",
    ] {
        assert_eq!(sort(None, text), (ContentType::Markdown, None), "{text}");
    }
}

#[test]
fn data_without_a_name_is_known_where_it_is_surely_data() {
    for (text, language) in [
        ("{\"a\": 1}", "json"),
        ("[1, 2, 3]", "json"),
        ("{\"a\":1}\n{\"a\":2}\n", "jsonl"),
        ("[package]\nname = \"x\"\nversion = \"1\"", "toml"),
        ("name: ci\non:\n  push:\n    branches: [main]\njobs:\n  a:\n    runs-on: x", "yaml"),
    ] {
        assert_eq!(sort(None, text), (ContentType::Structured, Some(language)), "{text}");
    }
}

#[test]
fn code_without_a_name_is_known_where_it_is_surely_code() {
    for (text, language) in [
        ("use std::fmt;\n\npub struct A;\n\nimpl A {\n    fn a(&mut self) {}\n}\n", "rust"),
        (
            "import os\nfrom sys import argv\n\ndef main():\n    try:\n        run(argv)\n    except OSError:\n        pass\n",
            "python",
        ),
        ("package main\n\nimport (\n\"fmt\"\n)\n\nfunc main() {\n\tx := 1\n\tfmt.Println(x)\n}", "go"),
        ("#include <stdio.h>\n#define N 3\n\nint main(void) {\n  printf(\"%d\", N);\n}", "c"),
        ("const a = 1;\nconst b = () => {\n  console.log(a);\n};\nmodule.exports = b;", "javascript"),
        ("SELECT a, b\nFROM t\nWHERE a > 1\nORDER BY b;", "sql"),
        ("#!/bin/bash\nset -e\necho hi", "shell"),
        ("<!DOCTYPE html>\n<html></html>", "html"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "diff"),
    ] {
        assert_eq!(sort(None, text), (ContentType::Code, Some(language)), "{text}");
    }
}

#[test]
fn conversations_are_known() {
    let chat = "[10:32] Ann: hi\n[10:33] Ben: hello";
    assert_eq!(sort(None, chat).0, ContentType::Chat);
    assert_eq!(sort(Some("chat.txt"), chat).0, ContentType::Chat);
    assert_eq!(sort(Some("chat.md"), chat).0, ContentType::Chat, "there is nothing of Markdown in it");
    let notes = "# Standup\n\n[10:32] Ann: hi\n[10:33] Ben: hello";
    assert_eq!(sort(Some("standup.md"), notes).0, ContentType::Markdown);
    let export = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(of_text(Some("export.json"), export).media_type, "application/json");
    assert_eq!(sort(Some("export.json"), export).0, ContentType::Chat);
    assert_eq!(sort(None, export).0, ContentType::Chat);
    let archive = "# Fix\n\n## User\n\nFix it\n\n## Assistant\n\nDone\n";
    assert_eq!(sort(Some("2026-05-27-fix.md"), archive).0, ContentType::Transcript);
    assert_eq!(of_text(None, "WEBVTT\n\n00:01.000 --> 00:02.000\nHi").media_type, "text/vtt");
}

#[test]
fn a_deep_text_is_told_without_trouble() {
    for piece in ["[", "{\"a\":", "- ", "# ", "> ", "(", "a.", "```\n", "<v ", "|", "[x](", "**"] {
        let text = piece.repeat(200_000 / piece.len());
        for name in [None, Some("a.json"), Some("a.yaml"), Some("a.toml"), Some("a.md"), Some("a.txt")] {
            let form = of_text(name, &text);
            assert!(form.media_type.contains('/'), "{piece} {name:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_document_panics_and_a_form_is_whole(
        name in proptest::option::of("[a-z./]{0,8}\\.(md|rs|json|yaml|toml|txt|pdf|vtt|log|jsonl|zzz)"),
        text in "([\\[\\]{}:,\"#*|`<>=;a-c \n-]|https://|\\PC){0,100}",
    ) {
        let form = of_text(name.as_deref(), &text);
        prop_assert!(form.content_type != ContentType::File);
        let written = matches!(form.content_type, ContentType::Code | ContentType::Structured);
        prop_assert_eq!(form.language.is_some(), written);
        let reading = of_bytes(name.as_deref(), text.as_bytes());
        prop_assert_eq!(reading.text.is_none(), reading.form.content_type == ContentType::File);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let reading = of_bytes(Some("a.md"), &bytes);
        prop_assert_eq!(reading.text.is_none(), reading.form.content_type == ContentType::File);
    }
}
