use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use sha2::{Digest as _, Sha256};
use tulving_core::model::error::FileError;
use tulving_core::ports::{Files, From};

use super::made::{
    Made, NOBODY, allow, assert_passed, file, for_everybody, names, part, run_as_nobody, time, workspace,
};

fn digest(bytes: &[u8]) -> From {
    From::Digest(Sha256::digest(bytes).into())
}

fn mode(path: &std::path::Path) -> u32 {
    path.metadata().expect("there").permissions().mode() & 0o777
}

#[test]
fn a_file_is_made_once() {
    let made = Made::new();
    let path = file("memory/deep/a.md");
    made.files.create(&path, b"one").expect("made");
    let error = made.files.create(&path, b"two").expect_err("it is there");
    assert_eq!(error, FileError::Exists { name: "memory/deep/a.md".to_owned() });
    assert_eq!(made.text("memory/deep/a.md"), "one");
    assert_eq!(mode(&made.at("memory/deep/a.md")), 0o600);
    assert_eq!(mode(&made.at("memory/deep")), 0o700);
    assert_eq!(fs::read_dir(made.at("memory/deep")).expect("there").count(), 1, "no draft is left");
}

#[test]
fn a_replacement_is_made_of_what_it_was_decided_on() {
    let made = Made::new();
    let path = file("memory/MEMORY.md");
    let changed = |answer| assert!(matches!(answer, Err(FileError::Changed { .. })), "{answer:?}");
    changed(made.files.replace(&path, b"x", digest(b"old"), None));
    assert!(!made.files.folder().exists(), "nothing was made for it");
    made.files.replace(&path, b"one", From::Nothing, None).expect("made");
    changed(made.files.replace(&path, b"x", From::Nothing, None));
    changed(made.files.replace(&path, b"x", digest(b"old"), None));
    made.files.replace(&path, b"two", digest(b"one"), None).expect("replaced");
    made.files.replace(&path, b"three", From::Any, None).expect("replaced");
    assert_eq!(made.text("memory/MEMORY.md"), "three");
    assert_eq!(made.files.previous(&path).expect("read"), []);
    assert_eq!(fs::read_dir(made.at("memory")).expect("there").count(), 1, "no draft is left");
}

#[test]
fn of_those_who_replace_the_same_text_at_once_one_does() {
    let made = Made::new();
    made.put("memory/MEMORY.md", "0");
    let done: usize = std::thread::scope(|threads| {
        let workers: Vec<_> = (0..8)
            .map(|who| {
                let files = made.again();
                threads.spawn(move || {
                    let content = format!("by {who}");
                    files.replace(
                        &file("memory/MEMORY.md"),
                        content.as_bytes(),
                        digest(b"0"),
                        Some(time(who)),
                    )
                })
            })
            .collect();
        workers.into_iter().map(|worker| usize::from(worker.join().expect("ended").is_ok())).sum()
    });
    assert_eq!(done, 1);
    assert_eq!(made.files.previous(&file("memory/MEMORY.md")).expect("read").len(), 1);
}

#[test]
fn the_mode_of_a_file_stays() {
    let made = Made::new();
    made.put("memory/a.md", "one");
    fs::set_permissions(made.at("memory/a.md"), fs::Permissions::from_mode(0o664)).expect("changed");
    made.files.replace(&file("memory/a.md"), b"two", From::Any, None).expect("replaced");
    assert_eq!(mode(&made.at("memory/a.md")), 0o664);
}

#[test]
fn the_owner_of_a_file_stays_where_that_is_allowed() {
    let made = Made::new();
    made.put("memory/a.md", "one");
    if chown(made.at("memory/a.md"), Some(NOBODY), Some(NOBODY)).is_err() {
        eprintln!("not tested: only root can give files away");
        return;
    }
    made.files.replace(&file("memory/a.md"), b"two", From::Any, None).expect("replaced");
    assert_eq!(made.at("memory/a.md").metadata().expect("there").uid(), NOBODY);
}

#[test]
fn the_group_of_a_file_stays_also_where_its_owner_cannot() {
    const TEST: &str = "workspace::replace::the_group_of_a_file_stays_also_where_its_owner_cannot";
    const OTHERS: u32 = 1;
    if let Some((folder, _)) = part() {
        let files = workspace(&folder);
        files.replace(&file("memory/a.md"), b"two", From::Any, None).expect("replaced");
        return;
    }
    let (made, binary) = for_everybody();
    made.put("memory/a.md", "one");
    let (path, folder) = (made.at("memory/a.md"), made.at("memory"));
    if chown(&path, Some(0), Some(NOBODY)).and_then(|()| chown(&folder, None, Some(OTHERS))).is_err() {
        eprintln!("not tested: only root can give files away");
        return;
    }
    allow(&path, 0o664);
    // Files made in this folder belong to its group, not to the group of their creator.
    allow(&folder, 0o2777);
    allow(&made.in_home(""), 0o777);
    allow(&made.at(""), 0o755);
    assert_passed(&run_as_nobody(&made, &binary, TEST));
    assert_eq!(made.text("memory/a.md"), "two");
    let found = path.metadata().expect("there");
    assert_eq!((found.uid(), found.gid(), mode(&path)), (NOBODY, NOBODY, 0o664));
}

#[test]
fn the_same_content_is_not_written() {
    let made = Made::new();
    let path = file("memory/a.md");
    made.put("memory/a.md", "same");
    let before = made.at("memory/a.md").metadata().expect("there");
    made.files.replace(&path, b"same", From::Any, Some(time(0))).expect("nothing to do");
    made.files.replace(&path, b"same", digest(b"same"), Some(time(0))).expect("nothing to do");
    let after = made.at("memory/a.md").metadata().expect("there");
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert_eq!(made.files.previous(&path).expect("read"), []);
}

#[test]
fn what_a_file_said_before_is_kept() {
    let made = Made::new();
    let path = file("memory/MEMORY.md");
    let at = "2026-05-27T09:30:00Z".parse().expect("a time");
    made.put("memory/MEMORY.md", b"zero \xff");
    made.files.replace(&path, b"one", From::Any, Some(at)).expect("replaced");
    // At the same time, and at an earlier one: the order is that of the replacements.
    made.files.replace(&path, b"two", From::Any, Some(at)).expect("replaced");
    made.files.replace(&path, b"three", From::Any, Some(time(0))).expect("replaced");
    let kept = made.files.previous(&path).expect("read");
    let ids: Vec<&str> = kept.iter().map(|text| text.id.as_str()).collect();
    let expected =
        ["2026-05-27T09-30-00.000002Z", "2026-05-27T09-30-00.000001Z", "2026-05-27T09-30-00.000000Z"];
    assert_eq!(ids, expected);
    assert_eq!((kept[2].at, kept[2].size), (at, 6));
    let content = |id: &str| made.files.previous_content(&path, id).expect("read");
    assert_eq!(content(ids[0]).as_deref(), Some(&b"two"[..]));
    assert_eq!(content(ids[2]).as_deref(), Some(&b"zero \xff"[..]));
    for wrong in ["", "2026-05-27T09-30-00.000009Z", "../MEMORY.md/2026-05-27T09-30-00.000000Z", "../../x"] {
        assert_eq!(content(wrong), None, "{wrong}");
    }
    let folder = made.in_home("previous/memory/MEMORY.md");
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join(format!("{}.md", ids[0]))), 0o600);
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 3, "no draft is left");
}

#[test]
fn a_text_is_not_kept_twice_in_a_row() {
    let made = Made::new();
    let path = file("memory/a.md");
    made.put("memory/a.md", "one");
    for turn in 0..3 {
        made.files.replace(&path, b"two", From::Any, Some(time(turn))).expect("replaced");
        fs::write(made.at("memory/a.md"), "one").expect("written");
    }
    assert_eq!(made.files.previous(&path).expect("read").len(), 1);
}

#[test]
fn the_newest_fifty_texts_are_kept() {
    let made = Made::new();
    let path = file("memory/a.md");
    for turn in 0..60 {
        made.files.replace(&path, format!("{turn}").as_bytes(), From::Any, Some(time(turn))).expect("done");
    }
    let kept = made.files.previous(&path).expect("read");
    assert_eq!(kept.len(), 50);
    assert_eq!(made.files.previous_content(&path, &kept[0].id).expect("read").as_deref(), Some(&b"58"[..]));
    assert_eq!(made.files.previous_content(&path, &kept[49].id).expect("read").as_deref(), Some(&b"9"[..]));
}

#[test]
fn a_file_is_removed() {
    let made = Made::new();
    made.put("memory/a.md", "one");
    assert!(made.files.remove(&file("memory/a.md"), From::Any).expect("removed"));
    assert!(!made.files.remove(&file("memory/a.md"), From::Any).expect("nothing there"));
    assert!(!made.at("memory/a.md").exists());
}

#[test]
fn a_file_that_says_something_else_by_now_is_not_removed() {
    let made = Made::new();
    made.put("memory/a.md", "one");
    let path = file("memory/a.md");
    for from in [digest(b"two"), From::Nothing] {
        let removed = made.files.remove(&path, from);
        assert!(matches!(removed, Err(FileError::Changed { .. })), "{removed:?}");
    }
    assert!(made.at("memory/a.md").exists());
    assert!(made.files.remove(&path, digest(b"one")).expect("removed"));
    assert!(!made.at("memory/a.md").exists());
}

#[test]
fn a_draft_that_was_left_behind_goes() {
    let made = Made::new();
    made.put("memory/a.md", "one");
    let left = "memory/.tulving-draft-0123456789abcdef";
    made.put(left, "half of it");
    let used = fs::File::create(made.at("memory/.tulving-draft-used")).expect("made");
    used.lock().expect("locked");
    assert_eq!(names(&made.files, "memory"), ["memory/a.md"]);
    assert!(!made.at(left).exists(), "a listing removes it");
    made.put(left, "half of it");
    made.files.replace(&file("memory/a.md"), b"two", From::Any, None).expect("replaced");
    assert!(!made.at(left).exists(), "a replacement removes it");
    assert!(made.at("memory/.tulving-draft-used").exists(), "somebody is writing it");
}

#[test]
fn all_that_a_file_said_before_is_forgotten_and_nothing_of_another() {
    let made = Made::new();
    let (path, other) = (file("memory/notes"), file("memory/notes/a.md"));
    for n in 0..4 {
        made.files
            .replace(&path, format!("secret {n}").as_bytes(), From::Any, Some(time(n)))
            .expect("replaced");
    }
    assert!(made.files.remove(&path, From::Any).expect("removed"));
    for n in 0..2 {
        made.files.replace(&other, format!("{n}").as_bytes(), From::Any, Some(time(n))).expect("replaced");
    }
    let folder = made.in_home("previous/memory/notes");
    fs::write(folder.join(".tulving-draft-left-behind"), "secret of one that was killed").expect("written");
    assert_eq!(made.files.forget_previous(&path).expect("forgotten"), 3);
    assert_eq!(made.files.previous(&path).expect("read"), []);
    assert_eq!(made.files.previous(&other).expect("read").len(), 1);
    let left: Vec<_> =
        fs::read_dir(&folder).expect("there").map(|entry| entry.expect("one").file_name()).collect();
    assert_eq!(left, ["a.md"], "only that of the other file");
    assert_eq!(made.files.forget_previous(&path).expect("nothing to forget"), 0);
    assert_eq!(made.files.forget_previous(&file("memory/none.md")).expect("nothing to forget"), 0);
}
