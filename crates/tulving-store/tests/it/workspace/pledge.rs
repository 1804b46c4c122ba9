use std::fs;

use tulving_core::model::error::FileError;
use tulving_core::model::file::PendingFile;
use tulving_core::model::id::MemoryId;
use tulving_core::ports::Files;

use super::made::{Made, file, time};

fn pending_file(name: &str) -> PendingFile {
    PendingFile { path: file(name), memory: MemoryId::mint(time(0)) }
}

#[test]
fn a_pledged_file_stays_if_its_memory_was_saved() {
    let made = Made::new();
    let kept = pending_file("conversations/a.md");
    made.files.add_pending_file(&kept, b"one").expect("made");
    assert_eq!(made.text("conversations/a.md"), "one");
    assert_eq!(made.count_in_home("pledges"), 1);
    made.files.settle(&kept, true).expect("settled");
    assert_eq!(made.text("conversations/a.md"), "one");
    assert_eq!(made.count_in_home("pledges"), 0);
    made.files.settle(&kept, false).expect("settled already");
    assert_eq!(made.text("conversations/a.md"), "one");
}

#[test]
fn a_pledged_file_goes_if_its_memory_was_not_saved() {
    let made = Made::new();
    let gone = pending_file("conversations/a.md");
    made.files.add_pending_file(&gone, b"one").expect("made");
    made.files.settle(&gone, false).expect("settled");
    assert!(!made.at("conversations/a.md").exists());
    assert_eq!(made.count_in_home("pledges"), 0);
}

#[test]
fn a_file_that_is_there_is_not_pledged() {
    let made = Made::new();
    made.put("conversations/a.md", "one");
    let error =
        made.files.add_pending_file(&pending_file("conversations/a.md"), b"one").expect_err("it is there");
    assert!(matches!(error, FileError::Exists { .. }), "{error}");
    assert_eq!(made.count_in_home("pledges"), 0);
    assert_eq!(made.text("conversations/a.md"), "one");
}

#[test]
fn what_somebody_has_changed_since_stays() {
    let made = Made::new();
    let changed = pending_file("conversations/a.md");
    made.files.add_pending_file(&changed, b"one").expect("made");
    fs::write(made.at("conversations/a.md"), "one and more").expect("written");
    made.files.settle(&changed, false).expect("settled");
    assert_eq!(made.text("conversations/a.md"), "one and more");

    let replaced = pending_file("conversations/b.md");
    made.files.add_pending_file(&replaced, b"one").expect("made");
    fs::write(made.at("conversations/new"), "one").expect("written");
    fs::rename(made.at("conversations/new"), made.at("conversations/b.md")).expect("renamed");
    made.files.settle(&replaced, false).expect("settled");
    assert_eq!(made.text("conversations/b.md"), "one", "it is another file");
}

#[test]
fn only_the_pledges_of_dead_processes_are_open() {
    let made = Made::new();
    let (first, second) = (pending_file("conversations/a.md"), pending_file("conversations/b.md"));
    let dead = made.again();
    dead.add_pending_file(&first, b"one").expect("made");
    dead.add_pending_file(&second, b"two").expect("made");
    assert_eq!(made.files.pending_files().expect("read"), [], "it lives");
    drop(dead);
    assert_eq!(made.files.pending_files().expect("read"), [first.clone(), second.clone()]);
    assert_eq!(made.files.pending_files().expect("read").len(), 2, "they stay open until they are settled");
    made.files.settle(&first, false).expect("settled");
    made.files.settle(&second, true).expect("settled");
    assert!(!made.at("conversations/a.md").exists());
    assert_eq!(made.text("conversations/b.md"), "two");
    assert_eq!(made.files.pending_files().expect("read"), []);
}

#[test]
fn a_pledge_without_its_file_is_settled_too() {
    let made = Made::new();
    let open = pending_file("conversations/a.md");
    let dead = made.again();
    dead.add_pending_file(&open, b"one").expect("made");
    drop(dead);
    fs::remove_dir_all(made.at("conversations")).expect("removed");
    assert_eq!(made.files.pending_files().expect("read"), std::slice::from_ref(&open));
    made.files.settle(&open, false).expect("settled");
    assert_eq!(made.files.pending_files().expect("read"), []);
}
