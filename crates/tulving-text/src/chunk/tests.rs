use proptest::prelude::*;

use super::*;
use crate::headings::headings_above;
use crate::vocabulary::ContentType;

fn texts(content: &str) -> Vec<&str> {
    split(content, ContentForm::PROSE).iter().map(|chunk| &content[chunk.start..chunk.end]).collect()
}

fn size(text: &str) -> u32 {
    pieces(text, TextLanguage::English)
}

/// Returns a sentence of about twenty pieces.
fn sentence(n: usize) -> String {
    format!("This is what was said in sentence {n} of the text, and it has some more words to it. ")
}

fn prose(sentences: usize) -> String {
    (0..sentences).map(sentence).collect::<String>().trim_end().to_owned()
}

#[test]
fn what_fits_is_one_chunk() {
    for text in ["", "One.\n\nTwo.", " ", "# A\n\ntext\n\n# B\n\nmore"] {
        let chunks = split(text, ContentForm::PROSE);
        assert_eq!((chunks.len(), chunks[0].start, chunks[0].end), (1, 0, text.len()), "{text}");
    }
    assert_eq!(
        split("# Deploy\n\n## Staging\n\nmake it", ContentForm::PROSE)[0].heading_path,
        ["Deploy", "Staging"]
    );
}

#[test]
fn a_text_a_little_too_long_is_cut_into_halves_between_sentences() {
    let text = prose(13);
    let parts = texts(&text);
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert!(parts.iter().all(|part| part.ends_with('.') && part.starts_with("This")));
    assert!(size(parts[0]).abs_diff(size(parts[1])) <= 25, "{} {}", size(parts[0]), size(parts[1]));
}

#[test]
fn paragraphs_are_kept_whole_where_they_fit() {
    let (first, second, third) = (prose(7), prose(5), prose(6));
    let text = format!("{first}\n\n{second}\n\n{third}");
    for part in texts(&text) {
        assert!(
            part.split("\n\n").all(|paragraph| [&first, &second, &third].contains(&&paragraph.to_owned()))
        );
    }
}

#[test]
fn a_code_block_is_never_cut() {
    let code = format!("```rust\n{}```", "let x = call(1, 2);\n\n".repeat(60));
    let text = format!("Before it.\n\n{code}\n\nAfter it. {}", prose(3));
    assert!(texts(&text).contains(&code.as_str()));
    let short = format!("```\n{}```", "a = b + c\n".repeat(9));
    let text = format!("{}\n\n{short}\n\n{}", prose(8), prose(8));
    let parts = texts(&text);
    assert!(parts.len() > 1 && parts.iter().any(|part| part.contains(&short)), "{parts:?}");
}

#[test]
fn the_first_chunk_is_that_of_a_text_with_several() {
    let markdown = ContentForm { content_type: ContentType::Markdown, language: None };
    assert_eq!(first(&prose(5), markdown), None);
    let long = format!("# A\n\n{}\n\n# B\n\n{}", prose(8), prose(4_000));
    let (first, chunks) = (first(&long, markdown).expect("several"), split(&long, ContentForm::PROSE));
    assert_eq!(first, &long[chunks[0].start..chunks[0].end]);
}

#[test]
fn large_sections_are_kept_apart_and_carry_their_path() {
    let text =
        format!("# Guide\n\n## Build\n\n{}\n\n## Test\n\n{}\n\n### Fast\n\n{}", prose(6), prose(6), prose(2));
    let chunks = split(&text, ContentForm::PROSE);
    let paths: Vec<String> = chunks.iter().map(|chunk| chunk.heading_path.join(" > ")).collect();
    assert_eq!(paths, ["Guide > Build", "Guide > Test"]);
    assert!(text[chunks[0].start..].starts_with("# Guide") && text[chunks[1].start..].starts_with("## Test"));
}

#[test]
fn small_sections_are_packed_together_and_nothing_is_dropped() {
    let text: String = (0..30).map(|n| format!("## Part {n}\n\n{}\n\n", sentence(n))).collect();
    let parts = texts(&text);
    assert!((4..=6).contains(&parts.len()), "{}", parts.len());
    assert!(parts.iter().all(|part| part.starts_with("## Part") && size(part) <= WINDOW));
    let text = format!("{}\n\n## Licence\n\nMIT", prose(10));
    assert!(texts(&text).last().is_some_and(|last| last.ends_with("MIT")));
}

#[test]
fn a_bare_heading_goes_with_what_follows() {
    let text = format!("{}\n\n# One\n\n## Two\n\n{}", prose(9), prose(9));
    assert!(texts(&text)[1].starts_with("# One\n\n## Two\n\nThis"));
}

#[test]
fn the_parts_of_a_long_section_all_carry_its_path() {
    let text = format!("# A\n\n## B\n\n{}", prose(40));
    let chunks = split(&text, ContentForm::PROSE);
    assert!(chunks.len() >= 4 && chunks.iter().all(|chunk| chunk.heading_path == ["A", "B"]));
}

#[test]
fn a_sentence_without_end_is_cut_between_words_and_a_word_between_letters() {
    let words = "wordy ".repeat(1_000);
    for part in texts(&words) {
        assert!(size(part) <= WINDOW && part.split(' ').all(|word| word == "wordy"), "{part}");
    }
    let letters = "漢".repeat(1_000);
    assert!(texts(&letters).iter().all(|part| size(part) <= WINDOW));
    assert_eq!(texts(&letters).concat(), letters);
}

#[test]
fn headings_without_end_and_without_text_are_cut_too() {
    let heading = format!("# {}\n\ntext\n\n{}", "wordy ".repeat(600), "## bare\n".repeat(300));
    assert!(texts(&heading).iter().all(|part| size(part) <= WINDOW));
}

#[test]
fn the_heading_a_chunk_begins_with_is_not_above_it() {
    let path = ["A".to_owned(), "B".to_owned()];
    assert_eq!(headings_above("## B\n\ntext", &path).collect::<Vec<_>>(), ["A"]);
    assert_eq!(headings_above("text", &path).count(), 2);
}

#[test]
fn a_long_text_of_anything_takes_linear_time() {
    for piece in [
        "a",
        "a ",
        "a. ",
        "\n",
        "# h\n",
        "## h\n\nt\n\n",
        "```\n",
        "a\n===\n",
        "漢",
        "- x\n",
        ". ",
        "\u{301}",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let _ = split(&text, ContentForm::PROSE);
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let lines = [
        "# One",
        "## Two",
        "### Three",
        "",
        "",
        "```",
        "~~~",
        "===",
        "---",
        "- item one. And two!",
        "é 漢字。かな",
        "Some words that stand in a line, with a few more to fill it. Then another sentence",
        "x",
        "    indented",
    ];
    let line = (prop::sample::select(lines.to_vec()), 1..6_usize)
        .prop_map(|(line, times)| vec![line; times].join(" "));
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn every_character_but_space_is_in_exactly_one_chunk(
        content in prop_oneof![markdown(), "(\\PC|[#\n `]){0,900}".prop_map(String::from)],
    ) {
        let chunks = split(&content, ContentForm::PROSE);
        prop_assert!(!chunks.is_empty());
        let mut at = 0;
        for chunk in &chunks {
            prop_assert!(at <= chunk.start && chunk.start <= chunk.end);
            prop_assert!(content[at..chunk.start].trim().is_empty());
            prop_assert!(chunks.len() == 1 || !content[chunk.start..chunk.end].trim().is_empty());
            at = chunk.end;
        }
        prop_assert!(content[at..].trim().is_empty());
    }

    #[test]
    fn only_code_is_longer_than_the_window(content in markdown()) {
        let content = content.replace("```", "code").replace("~~~", "code");
        let language = TextLanguage::of(&content);
        for chunk in split(&content, ContentForm::PROSE) {
            prop_assert!(pieces(&content[chunk.start..chunk.end], language) <= WINDOW);
        }
    }
}
