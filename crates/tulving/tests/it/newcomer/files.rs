//! Files that cannot be pushed, imported, loaded or restored.

use std::fs;
use std::process::Command;

use tulving_testkit::zip::{ZipPart, zip};

use super::note;
use crate::binary::{Transcript, Tulving, assert_transcript};
use crate::documents::PICTURE;

/// A command on a machine where no other program is installed.
fn alone(tulving: &Tulving, args: &[&str]) -> Command {
    let mut command = tulving.command(args);
    command.env("PATH", tulving.folder().join("nowhere"));
    command
}

#[test]
fn an_image_without_tesseract_says_what_to_install_and_what_to_do_then() {
    let tulving = Tulving::new();
    tulving.write("tea.png", PICTURE);
    tulving.write("folder/cake.png", [PICTURE, b" "].concat());
    let mut transcript = Transcript::new(&tulving);
    for args in [
        &["push", "tea.png"][..],
        &["import", "folder"],
        &["jobs", "--state", "dead"],
        &["jobs", "retry"],
        &["jobs", "run"],
        &["get", "1"],
    ] {
        note(&mut transcript, &format!("tulving {}", args.join(" ")), alone(&tulving, args));
    }
    assert_transcript!(transcript.without_columns());
}

#[test]
fn files_that_cannot_be_pushed_are_named() {
    let tulving = Tulving::new();
    tulving.write("empty.md", " \n");
    tulving.write("broken.pdf", "%PDF-1.4\nand then nothing");
    tulving.write("noise.bin", [0, 159, 146, 150].repeat(100));
    tulving.write("bomb.docx", bomb());
    fs::create_dir(tulving.folder().join("folder")).expect("made");
    let mut transcript = Transcript::new(&tulving);
    for args in [
        &["push"][..],
        &["push", "missing.pdf"],
        &["push", "folder"],
        &["push", "empty.md"],
        &["push", "broken.pdf"],
        &["push", "noise.bin"],
        &["push", "bomb.docx"],
        &["push", "ftp://example.org/tea.md"],
        &["push", "https://"],
        &["import"],
        &["import", "missing"],
        &["import", "folder"],
        &["import", "noise.bin", "--watch", "--dry-run"],
    ] {
        transcript.run(args);
    }
    assert_transcript!(transcript);
}

/// A document of half a megabyte that unpacks to hundreds of them.
fn bomb() -> Vec<u8> {
    zip(&[
        ZipPart::plain("[Content_Types].xml", "<Types/>"),
        ZipPart::bomb("word/document.xml", "<w:document>", 300),
    ])
}

#[test]
fn what_is_no_dump_and_no_backup_changes_nothing() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "I like tea"]);
    let dump = tulving.ok(&["dump", "-"]);
    tulving.write("cut.jsonl", &dump[..dump.len() - 60]);
    tulving.write("newer.jsonl", dump.replacen("\"format\":", "\"format\":99", 1));
    tulving.write("notes.json", "{\"tea\": true}\n");
    tulving.ok(&["backup", "create", "whole.db"]);
    let whole = fs::read(tulving.folder().join("whole.db")).expect("a backup");
    tulving.write("cut.db", &whole[..whole.len() / 2]);
    let mut transcript = Transcript::new(&tulving);
    for args in [
        &["load", "missing.jsonl"][..],
        &["load", "cut.jsonl"],
        &["load", "newer.jsonl"],
        &["load", "notes.json"],
        &["load", "whole.db"],
        &["dump", "notes.json"],
        &["dump", "nowhere/all.jsonl"],
        &["backup", "create", "whole.db"],
        &["backup", "create", "nowhere/all.db"],
        &["backup", "create", "home/tulving.db", "--force"],
        &["backup", "restore", "missing.db"],
        &["backup", "restore", "whole.db"],
        &["backup", "restore", "notes.json", "--yes"],
        &["backup", "restore", "cut.db", "--yes"],
        &["backup", "restore", ".", "--yes"],
        &["restore", "whole.db"],
        &["list"],
    ] {
        transcript.run(args);
    }
    assert_transcript!(transcript);
    tulving.assert_healthy();
}
