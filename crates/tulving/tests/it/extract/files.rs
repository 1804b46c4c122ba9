//! Files of every form, read by the binary. What their readers make of them is tested to the letter in the store.

use std::process::{Command, Stdio};

use tulving_core::model::error::ExtractError;
use tulving_core::ports::Extractor;
use tulving_store::extract::{ChildExtractor, ExtractLimits};

use super::{PDF, SHEETS, WORD, binary, children, extractor, file};
use crate::binary::finish;

/// Says to a test that tesseract is there, so that it may not go without it.
const WITH_TESSERACT: &str = "TULVING_TEST_TESSERACT";

#[test]
fn files_are_read_in_a_process_of_their_own() {
    let extractor = extractor(ExtractLimits::default());
    for (name, media_type, by, title, text) in [
        ("report.pdf", PDF, "pdf", Some("Quarterly Notes"), "Anna Kyiv 12\nBert Lviv 34\n\nSecond page"),
        ("plan.docx", WORD, "docx", Some("Plan for spring"), "- dig\n- water\n\nBed\tCrop"),
        ("budget.xlsx", SHEETS, "xlsx", Some("Budget 2026"), "Seeds\t12.5\t2026-03-01\tTRUE"),
        ("letter.odt", "application/vnd.oasis.opendocument.text", "odt", Some("Open letter"), "- one\n- two"),
        ("book.epub", "application/epub+zip", "epub", Some("A small book"), "# Chapter one"),
    ] {
        let read = extractor.extract(media_type, &file(name)).expect(name);
        assert_eq!((read.by, read.title.as_deref(), read.cut), (by, title, false), "{name}");
        assert!(read.text.contains(text), "{name}: {}", read.text);
    }
    assert_eq!(children(), [0; 0]);
}

#[test]
fn what_is_wrong_with_a_file_comes_back_as_it_was_found() {
    let extractor = extractor(ExtractLimits::default());
    assert_eq!(extractor.extract(PDF, &file("locked.pdf")), Err(ExtractError::Encrypted));
    let damaged = extractor.extract(PDF, b"no PDF").expect_err("it is none");
    assert_eq!(damaged.to_string(), "the file is damaged: it is not a PDF, or has no pages");
    for media_type in ["text/x-odd; a=\"b\nc\"", "", "a\0b", "--help"] {
        let unsupported = extractor.extract(media_type, b"").expect_err("nothing reads it");
        assert!(matches!(unsupported, ExtractError::Unsupported { .. }), "{unsupported}");
    }
    let odd = extractor.extract("Application/PDF; name=\"a\0b\n\"", &file("report.pdf")).expect("it is one");
    assert_eq!(odd.by, "pdf");
}

#[test]
fn the_text_in_images_of_every_form_is_read() {
    let extractor =
        extractor(ExtractLimits { wall: std::time::Duration::from_secs(120), ..ExtractLimits::default() });
    if !extractor.missing().is_empty() {
        assert!(std::env::var_os(WITH_TESSERACT).is_none(), "tesseract is not found");
        eprintln!("not tested: tesseract is not installed");
        return;
    }
    for (name, media_type) in [
        ("diary.png", "image/png"),
        ("diary.jpg", "image/jpeg"),
        ("diary.webp", "image/webp"),
        ("diary.tiff", "image/tiff"),
        ("diary.gif", "image/gif"),
        ("diary.bmp", "image/bmp"),
    ] {
        let read = extractor.extract(media_type, &file(name)).expect(name);
        let words: Vec<&str> = read.text.split_whitespace().collect();
        assert_eq!(words.join(" "), "Memory is the diary that we all carry about", "{name}");
        assert_eq!((read.by, read.cut), ("ocr", false));
    }
    // Its beginning is that of an image, and then nothing comes.
    let broken = extractor.extract("image/png", &file("diary.png")[..200]).expect_err("it is cut off");
    assert!(matches!(&broken, ExtractError::Damaged { why } if why.starts_with("tesseract: ")), "{broken}");
    let short = ChildExtractor::new(binary(), ExtractLimits { text: 10, ..ExtractLimits::default() });
    let read = short.extract("image/png", &file("diary.png")).expect("read");
    assert_eq!((read.text.as_str(), read.cut), ("Memory is", true));
    let unknown = extractor.with_languages("xyz").extract("image/png", &file("diary.png"));
    assert!(matches!(unknown, Err(ExtractError::Damaged { .. })), "{unknown:?}");
}

/// Runs itself where there is no program at all.
#[test]
fn without_tesseract_images_are_said_to_need_it_and_all_else_is_read() {
    const CHILD: &str = "TULVING_TEST_WITHOUT_PROGRAMS";
    if std::env::var_os(CHILD).is_none() {
        let test = "extract::files::without_tesseract_images_are_said_to_need_it_and_all_else_is_read";
        let mut again = Command::new(std::env::current_exe().expect("this test"));
        again.args([test, "--exact"]).env_clear().env(CHILD, "1").env("PATH", "/there/is/nothing");
        let ended = again.stdout(Stdio::piped()).output().expect("started");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    let extractor = extractor(ExtractLimits::default());
    let [missing] = &extractor.missing()[..] else { panic!("one program is missing") };
    assert!(missing.starts_with("`tesseract` is not installed"), "{missing}");
    let program = "tesseract".to_owned();
    let png = extractor.extract("image/png", &file("diary.png"));
    assert_eq!(png, Err(ExtractError::NotInstalled { program }));
    assert!(extractor.extract(PDF, &file("report.pdf")).is_ok());
}

#[test]
fn the_command_needs_no_home_and_is_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    std::fs::write(&home, "not a folder").expect("written");
    let mut command = crate::binary::command(&home);
    command.args(["extract-text", "--media-type", PDF]);
    let run = finish(command, &file("report.pdf"));
    assert_eq!(run.code, 0, "{}", run.err);
    let (head, text) = run.out.split_once('\n').expect("a line and a text");
    assert!(head.starts_with(r#"{"read":{"by":"pdf","title":"Quarterly Notes","pages":2"#), "{head}");
    assert!(text.starts_with("Quarterly Notes\n\nDer schnelle"), "{text}");
    let mut help = crate::binary::command(&home);
    help.arg("--help");
    assert!(!finish(help, b"").out.contains("extract-text"));
}
