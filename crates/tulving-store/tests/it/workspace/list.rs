use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use tulving_core::model::file::{FileList, Folder};
use tulving_core::ports::Files;

use super::made::{Made, default, names, names_of};

#[test]
fn files_are_listed_by_their_paths_in_whatever_depth() {
    let made = Made::new();
    let all = ["memory/a-b.md", "memory/a.md", "memory/a/b.md", "memory/a/c/d.md", "memory/b.md"];
    for name in all {
        made.put(name, "x");
    }
    for hidden in ["memory/.hidden.md", "memory/.git/config", "other/b.md"] {
        made.put(hidden, "x");
    }
    assert_eq!(names(&made.files, "memory"), all);
    assert_eq!(names(&made.files, "memory/a"), ["memory/a/b.md", "memory/a/c/d.md"]);
    assert_eq!(names(&made.files, "").len(), 6);
    assert!(names(&made.files, "missing").is_empty());
    for most in 0..=5 {
        let listed = made.files.list(&default(), "memory", most).expect("listed");
        assert_eq!(names_of(&listed), all[..most], "the first of them");
        assert_eq!(listed.more, most < 5);
    }
    let listed = made.files.list(&default(), "memory", 9).expect("listed");
    for entry in &listed.files {
        assert_eq!(Some(entry.stamp), made.files.stamp(&entry.path).expect("seen"));
    }
}

#[test]
fn names_that_cannot_be_used_are_named_without_harm() {
    let made = Made::new();
    made.put("memory/good.md", "x");
    for name in [&b"\xff\xfe.md"[..], b"red\x1b[31m.md", b"two\nlines.md", b"back\\slash.md"] {
        fs::write(made.at("memory").join(OsStr::from_bytes(name)), "x").expect("written");
    }
    let listed = made.files.list(&default(), "memory", 10).expect("listed");
    assert_eq!(names_of(&listed), ["memory/good.md"]);
    let refused: Vec<&str> = listed.refused.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        "memory/\\xff\\xfe.md",
        "memory/back\\slash.md",
        "memory/red\\u{1b}[31m.md",
        "memory/two\\nlines.md",
    ];
    assert_eq!(refused, expected);
    for n in 0..100 {
        fs::write(made.at("memory").join(format!("{n}\n")), "x").expect("written");
    }
    assert_eq!(made.files.list(&default(), "memory", 10).expect("listed").refused.len(), 20);
}

#[test]
fn folders_are_not_walked_without_end() {
    let made = Made::new();
    let deep = vec!["d"; 30].join("/");
    made.put(&format!("memory/{deep}/a.md"), "x");
    made.put("memory/d/d/b.md", "x");
    let listed = made.files.list(&default(), "memory", 10).expect("listed");
    assert_eq!(names_of(&listed), ["memory/d/d/b.md"]);
    assert_eq!(listed.refused.len(), 1, "{:?}", listed.refused);
}

#[test]
fn a_workspace_that_is_not_there_is_told_from_one_without_files() {
    let made = Made::new();
    let list = |path: &str, below: &str| {
        made.files.list(&Folder::parse(path).expect("a folder"), below, 10).expect("listed")
    };
    let asked = [("", "memory"), ("", ""), ("groups/kitchen", ""), ("spaces/one", "memory")];
    for watched in [false, true] {
        for (path, below) in asked {
            assert_eq!(list(path, below), FileList { absent: true, ..FileList::default() }, "{path} {below}");
        }
        made.put("groups/kitchen/a.md", "x");
        assert_eq!(names_of(&list("groups/kitchen", "")), ["a.md"]);
        for (path, below) in asked {
            assert!(!list(path, below).absent, "{path} {below}");
        }
        fs::remove_dir_all(made.at("groups")).expect("removed");
        assert_eq!(list("groups/kitchen", ""), FileList::default(), "they were removed");
        // Its disk is gone.
        fs::rename(made.files.folder(), made.outside(&format!("elsewhere-{watched}"))).expect("moved");
        made.files.watch();
    }
    std::os::unix::fs::symlink("nowhere", made.files.folder()).expect("linked");
    assert!(list("", "memory").absent, "a link that leads nowhere is no workspace");
}

/// Returns the duration of the quickest of a few listings.
fn timed(made: &Made, count: usize) -> Duration {
    let listing = || {
        let begun = Instant::now();
        let listed = made.files.list(&default(), "memory", usize::MAX).expect("listed");
        assert_eq!((listed.files.len(), listed.more), (count, false));
        begun.elapsed()
    };
    (0..5).map(|_| listing()).min().expect("some")
}

#[test]
fn ten_years_of_days_are_listed_at_once() {
    let made = Made::new();
    fs::create_dir_all(made.at("memory")).expect("made");
    for n in 0..3_650 {
        fs::write(made.at(&format!("memory/{:04}-{:02}.md", n / 30, n % 30)), "x").expect("written");
    }
    let took = timed(&made, 3_650);
    eprintln!("3,650 files listed in {took:?}");
    assert!(took < Duration::from_millis(200), "{took:?}");
    made.files.watch();
    let took = timed(&made, 3_650);
    eprintln!("watched, in {took:?}");
}

#[test]
fn a_hundred_thousand_files_are_listed() {
    // In memory if possible: creating them on disk takes longer than the test.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let made = Made::within(folder);
    for folder in 0..100 {
        fs::create_dir_all(made.at(&format!("memory/{folder:02}"))).expect("made");
        for n in 0..1_000 {
            fs::File::create(made.at(&format!("memory/{folder:02}/{n:03}.md"))).expect("made");
        }
    }
    let took = timed(&made, 100_000);
    eprintln!("100,000 files listed in {took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    let first = made.files.list(&default(), "memory", 3).expect("listed");
    assert_eq!(names_of(&first), ["memory/00/000.md", "memory/00/001.md", "memory/00/002.md"]);
    assert!(first.more);
}
