use std::fs;

use tulving_core::model::error::FileError;
use tulving_core::ports::{Files, From};
use tulving_store::{Home, Workspace};

use super::made::{Made, allow, assert_passed, default, file, for_everybody, part, run_as_nobody, workspace};
use crate::disk::SmallDisk;

fn is_unusable<T: std::fmt::Debug>(what: &str, answer: Result<T, FileError>) {
    match answer {
        Err(FileError::Unusable { path, why, .. }) => {
            assert!(path.is_relative() && why.contains("Permission denied"), "{what}: {why}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn what_may_not_be_used_is_said() {
    const TEST: &str = "workspace::refusal::what_may_not_be_used_is_said";
    if let Some((folder, _)) = part() {
        let files = workspace(&folder);
        is_unusable("read", files.read(&file("memory/secret.md"), 100));
        is_unusable("append", files.append(&file("memory/fixed.md"), "x"));
        is_unusable("replace", files.replace(&file("memory/fixed.md"), b"x", From::Any, None));
        is_unusable("create", files.create(&file("memory/new.md"), b"x"));
        is_unusable("append", files.append(&file("memory/new.md"), "x"));
        is_unusable("remove", files.remove(&file("memory/fixed.md"), From::Any));
        is_unusable("append", files.append(&file("new/new.md"), "x"));
        is_unusable("list", files.list(&default(), "closed", 10));
        is_unusable("read", files.read(&file("closed/a.md"), 10));
        let listed = files.list(&default(), "", 10).expect("listed");
        assert!(listed.refused.iter().any(|(path, _)| path == "closed"), "{:?}", listed.refused);
        assert_eq!(files.read(&file("memory/fixed.md"), 10).expect("read").expect("there").bytes, b"fixed\n");
        return;
    }
    let (made, binary) = for_everybody();
    for (name, mode) in [("memory/secret.md", 0o000), ("memory/fixed.md", 0o444), ("closed/a.md", 0o644)] {
        made.put(name, "fixed\n");
        allow(&made.at(name), mode);
    }
    fs::create_dir(made.in_home("appends")).expect("made");
    for (folder, mode) in [("memory", 0o555), ("closed", 0o000), ("", 0o555)] {
        allow(&made.at(folder), mode);
    }
    for folder in ["", "appends"] {
        allow(&made.in_home(folder), 0o777);
    }
    let output = run_as_nobody(&made, &binary, TEST);
    for folder in ["", "memory", "closed"] {
        allow(&made.at(folder), 0o755);
    }
    assert_passed(&output);
    assert_eq!(made.text("memory/fixed.md"), "fixed\n");
    assert_eq!(made.count_in_home("appends"), 0, "no note is left");
}

#[test]
fn nothing_is_written_before_its_note_is_durable() {
    const TEST: &str = "workspace::refusal::nothing_is_written_before_its_note_is_durable";
    if let Some((folder, _)) = part() {
        let files = workspace(&folder);
        is_unusable("append", files.append(&file("memory/a.md"), "x"));
        return;
    }
    let (made, binary) = for_everybody();
    made.put("memory/a.md", "one\n");
    allow(&made.at("memory/a.md"), 0o666);
    for folder in ["", "memory"] {
        allow(&made.at(folder), 0o777);
    }
    fs::create_dir(made.in_home("appends")).expect("made");
    allow(&made.in_home(""), 0o777);
    // Notes can be written there, but their names cannot be made durable, which needs to open the folder.
    allow(&made.in_home("appends"), 0o333);
    let output = run_as_nobody(&made, &binary, TEST);
    allow(&made.in_home("appends"), 0o755);
    assert_passed(&output);
    assert_eq!(made.text("memory/a.md"), "one\n");
    assert_eq!(made.count_in_home("appends"), 0, "no note is left");
}

#[test]
fn an_error_has_no_control_characters_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::open_or_create(&folder.path().join("home")).expect("a home");
    let odd = folder.path().join("odd\x1b[31m\nname");
    fs::write(&odd, "a file where a folder should be").expect("written");
    let files = Workspace::open(&home, &odd);
    for error in [
        files.append(&file("a.md"), "x").expect_err("no folder"),
        files.list(&default(), "", 1).expect_err("no folder"),
        files.create(&file("a.md"), b"x").expect_err("no folder"),
    ] {
        let text = error.to_string();
        assert!(text.starts_with("the workspace cannot be ") && text.contains("Not a directory"), "{text:?}");
    }
    fs::remove_file(&odd).expect("removed");
    let error = files.list(&default(), "odd\x1b[31m\nname", 1).expect_err("no name");
    assert_eq!(error.to_string(), "odd\\u{1b}[31m\\nname is refused: no folder has this name");
}

#[test]
fn an_error_does_not_tell_where_the_workspace_and_the_home_are() {
    let made = Made::new();
    made.put("memory/a.md/b.md", "a folder where a file should be\n");
    fs::write(made.in_home("appends"), "a file where a folder should be").expect("written");
    fs::write(made.in_home("previous"), "another").expect("written");
    made.put("memory/c.md", "one\n");
    let path = file("memory/a.md");
    let errors = [
        made.files.read(&path, 10).expect_err("a folder"),
        made.files.append(&path, "x").expect_err("a folder"),
        made.files.replace(&path, b"x", From::Any, None).expect_err("a folder"),
        made.files.remove(&path, From::Any).expect_err("a folder"),
        made.files.append(&file("memory/c.md"), "x").expect_err("no note"),
        made.files
            .replace(&file("memory/c.md"), b"x", From::Any, Some(super::made::time(0)))
            .expect_err("not kept"),
        made.files.read(&file("memory/c.md"), 1).expect_err("too large"),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(!text.contains(made.folder.path().to_str().expect("text")), "{text}");
    }
}

#[test]
fn a_full_disk_changes_nothing() {
    let Some(disk) = SmallDisk::mount(64, 0o755) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let elsewhere = tempfile::tempdir().expect("a folder");
    let home = Home::open_or_create(elsewhere.path()).expect("a home");
    let files = Workspace::open(&home, disk.path());
    let (day, path) = (file("memory/day.md"), disk.path().join("memory/day.md"));
    files.append(&day, "first").expect("added");
    let full = |answer: Result<(), FileError>| {
        assert!(matches!(answer, Err(FileError::DiskFull { .. })), "{answer:?}");
    };
    // A part of it would fit.
    full(files.append(&day, &"x".repeat(100_000)).map(drop));
    full(files.append(&file("memory/new.md"), &"x".repeat(100_000)).map(drop));
    full(files.create(&file("memory/new.md"), &[b'x'; 100_000]));
    full(files.replace(&day, &[b'x'; 100_000], From::Any, None));
    assert_eq!(fs::read_to_string(&path).expect("there"), "first\n");
    let names: Vec<_> = fs::read_dir(path.parent().expect("a folder"))
        .expect("there")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    assert_eq!(names, ["day.md"], "neither a file nor a draft is left");
    assert_eq!(fs::read_dir(elsewhere.path().join("appends")).expect("there").count(), 0);
    files.append(&day, "second").expect("what fits is added");
    assert_eq!(fs::read_to_string(&path).expect("there"), "first\nsecond\n");
}

#[test]
fn nothing_is_written_after_what_could_not_be_finished() {
    let Some(disk) = SmallDisk::mount(64, 0o755) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let elsewhere = tempfile::tempdir().expect("a folder");
    let home = Home::open_or_create(elsewhere.path()).expect("a home");
    let files = Workspace::open(&home, disk.path());
    let lines = format!("{}\n", "x".repeat(30_000));
    let day = disk.path().join("memory/day.md");
    fs::create_dir(disk.path().join("memory")).expect("made");
    fs::write(&day, &lines[..10]).expect("written");
    let filler = disk.path().join("filler");
    fs::write(&filler, [b'x'; 56 * 1024]).expect("written");
    fs::create_dir(elsewhere.path().join("appends")).expect("made");
    let root = data_encoding::HEXLOWER.encode(disk.path().as_os_str().as_encoded_bytes());
    let head = format!(r#"{{"file":{{"root":"{root}","folder":"","name":"memory/day.md"}},"start":0}}"#);
    fs::write(elsewhere.path().join("appends/1"), format!("{head}\n{lines}")).expect("written");

    let error = files.append(&file("memory/day.md"), "next").expect_err("the disk is full");
    assert!(matches!(error, FileError::DiskFull { .. }), "{error}");
    assert!(lines.starts_with(&fs::read_to_string(&day).expect("there")));
    assert!(files.read(&file("memory/day.md"), 100_000).is_ok(), "what is there can be read");
    fs::remove_file(&filler).expect("removed");
    files.append(&file("memory/day.md"), "next").expect("added");
    assert_eq!(fs::read_to_string(&day).expect("there"), format!("{lines}next\n"));
}

#[test]
fn a_home_on_a_full_disk_changes_no_file() {
    let Some(disk) = SmallDisk::mount(64, 0o755) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let elsewhere = tempfile::tempdir().expect("a folder");
    let home = Home::open_or_create(disk.path()).expect("a home");
    let files = Workspace::open(&home, elsewhere.path());
    let day = file("memory/day.md");
    files.append(&day, "first").expect("added");
    let error = files.append(&day, &"x".repeat(100_000)).expect_err("no note can be written");
    assert!(matches!(error, FileError::DiskFull { .. }), "{error}");
    let old = vec![b'y'; 100_000];
    fs::write(elsewhere.path().join("memory/large.md"), &old).expect("written");
    let at = super::made::time(0);
    let error = files.replace(&file("memory/large.md"), b"new", From::Any, Some(at)).expect_err("not kept");
    assert!(matches!(error, FileError::DiskFull { .. }), "{error}");
    assert_eq!(fs::read(elsewhere.path().join("memory/large.md")).expect("there"), old);
    assert_eq!(fs::read_to_string(elsewhere.path().join("memory/day.md")).expect("there"), "first\n");
}
