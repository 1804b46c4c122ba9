#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tulving_core::model::file::{FilePath, Folder};
use tulving_core::ports::{Files, From};

use super::made::{Made, default, file, names};

/// One file in every sort of folder.
const FILES: [&str; 5] = [
    "memory/a.md",
    "conversations/a.md",
    "spaces/one/memory/a.md",
    "groups/kitchen/deep/a.md",
    "teams/0197118b-3c00-7000-8000-000000000001/groups/kitchen/a.md",
];

/// Creates a workspace with a file in every sort of folder, watched; `None` if this machine's disk cannot be
/// watched.
fn watched() -> Option<Made> {
    let made = Made::new();
    for name in FILES {
        made.put(name, "one\n");
    }
    made.put("project/src/main.rs", "fn main() {}\n");
    made.files.watch();
    // Not tested on a disk that cannot be watched.
    change_counter(&made, "").map(|_| made)
}

fn folder(path: &str) -> Folder {
    Folder::parse(path).expect("a folder")
}

/// Returns the pulse of the folder of a space.
fn change_counter(made: &Made, path: &str) -> Option<u64> {
    made.files.change_counter(&folder(path))
}

/// Returns the pulses of all folders of spaces that tests use.
fn pulses(made: &Made) -> Vec<Option<u64>> {
    let folders = ["", "spaces/one", "spaces/two", "groups/kitchen", "groups/cellar", THEIRS];
    folders.iter().map(|path| change_counter(made, path)).collect()
}

/// A group of another team.
const THEIRS: &str = "teams/0197118b-3c00-7000-8000-000000000001/groups/kitchen";

/// Asserts that the pulse of a folder changes with an act, and is still afterwards.
fn changes(made: &Made, path: &str, what: &str, act: impl FnOnce()) {
    let before = change_counter(made, path);
    assert_eq!(change_counter(made, path), before, "nothing has happened before: {what}");
    act();
    let after = change_counter(made, path);
    assert!(after.is_some() && after != before, "{what}: {before:?} {after:?}");
    assert_eq!(change_counter(made, path), after, "nothing has happened since: {what}");
}

/// Returns the folder of the space that a file is in.
fn space_of(name: &str) -> &str {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[0] {
        "groups" | "spaces" => &name[..parts[0].len() + 1 + parts[1].len()],
        "teams" => THEIRS,
        _ => "",
    }
}

#[test]
fn what_is_not_watched_has_no_pulse() {
    let made = Made::new();
    made.put("memory/a.md", "one\n");
    assert_eq!(change_counter(&made, ""), None);
    names(&made.files, "memory");
    assert_eq!(change_counter(&made, ""), None);
}

#[test]
fn a_workspace_that_is_not_there_has_no_pulse_until_it_is() {
    let made = Made::new();
    made.files.watch();
    assert_eq!(change_counter(&made, ""), None);
    made.files.append(&file("memory/a.md"), "one").expect("added");
    if change_counter(&made, "").is_some() {
        changes(&made, "", "an edit", || made.put("memory/a.md", "two"));
        fs::remove_dir_all(made.files.folder()).expect("removed");
        assert_eq!(change_counter(&made, ""), None);
    }
}

#[test]
fn every_change_is_seen_at_once() {
    let Some(made) = watched() else { return };
    let at = |name: &str| made.at(name);
    for name in FILES {
        changes(&made, space_of(name), name, || made.put(name, "two\n"));
        changes(&made, space_of(name), name, || made.put(&format!("{name}.new"), "new\n"));
        changes(&made, space_of(name), name, || {
            fs::rename(at(&format!("{name}.new")), at(name)).expect("renamed");
        });
        changes(&made, space_of(name), name, || {
            fs::rename(at(name), at(&format!("{name}.old"))).expect("renamed");
        });
        changes(&made, space_of(name), name, || {
            fs::remove_file(at(&format!("{name}.old"))).expect("removed");
        });
    }
    changes(&made, "", "the process itself", || {
        made.files.append(&file("memory/a.md"), "x").expect("added");
    });
    changes(&made, "", "the process itself", || {
        made.files.replace(&file("memory/a.md"), b"y", From::Any, None).expect("replaced");
    });
    changes(&made, "", "rights", || {
        fs::set_permissions(at("memory/a.md"), fs::Permissions::from_mode(0o640)).expect("changed");
    });
    let touched = fs::File::options().write(true).open(at("memory/a.md")).expect("opened");
    changes(&made, "", "times", || {
        touched.set_modified(std::time::UNIX_EPOCH).expect("changed");
    });
    // Still held open by its writer.
    changes(&made, "", "a write", || std::io::Write::write_all(&mut &touched, b"more").expect("written"));
}

#[test]
fn new_folders_are_watched_with_what_is_in_them() {
    let Some(made) = watched() else { return };
    changes(&made, "", "a new folder", || made.put("memory/new/deep/a.md", "one\n"));
    changes(&made, "", "an edit in it", || made.put("memory/new/deep/a.md", "two\n"));
    changes(&made, "spaces/two", "a new space", || made.put("spaces/two/memory/a.md", "one\n"));
    changes(&made, "spaces/two", "an edit in it", || made.put("spaces/two/memory/a.md", "two\n"));
    changes(&made, "groups/cellar", "a new group", || made.put("groups/cellar/a.md", "one\n"));
    changes(&made, "groups/cellar", "an edit in it", || made.put("groups/cellar/a.md", "two\n"));
    changes(&made, "", "a folder moved in", || {
        made.put("project/old/a.md", "one\n");
        fs::rename(made.at("project/old"), made.at("memory/old")).expect("moved");
    });
    changes(&made, "", "an edit in it", || made.put("memory/old/a.md", "two\n"));
    changes(&made, "", "a folder removed", || fs::remove_dir_all(made.at("memory")).expect("removed"));
    changes(&made, "", "and made again", || made.put("memory/a.md", "one\n"));
    changes(&made, "", "an edit in it", || made.put("memory/a.md", "two\n"));
}

#[test]
fn the_rest_of_the_workspace_is_nobodys_business() {
    let Some(made) = watched() else { return };
    let before = pulses(&made);
    made.put("project/src/main.rs", "fn main() { todo() }\n");
    made.put("project/src/more/lib.rs", "\n");
    made.put("README.md", "\n");
    made.put("memory/.a.md.swp", "an editor's own\n");
    made.put("groups/.hidden/a.md", "\n");
    assert_eq!(pulses(&made), before);
}

#[test]
fn a_change_in_one_folder_is_none_in_another() {
    let Some(made) = watched() else { return };
    for name in FILES {
        let before = pulses(&made);
        made.put(name, "two\n");
        // Each of them notices it, in any order.
        let after = pulses(&made);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert_eq!(changed, 1, "{name}: {before:?} {after:?}");
        made.put(name, "three\n");
        assert_ne!(change_counter(&made, space_of(name)), after[changed_at(&before, &after)], "{name}");
    }
}

fn changed_at(before: &[Option<u64>], after: &[Option<u64>]) -> usize {
    before.iter().zip(after).position(|(before, after)| before != after).expect("one has changed")
}

#[test]
fn a_folder_has_a_pulse_before_it_comes_into_being() {
    let Some(made) = watched() else { return };
    for path in ["groups/cellar", "spaces/two", "teams/0197118b-3c00-7000-8000-000000000002/groups/cellar"] {
        assert!(change_counter(&made, path).is_some(), "{path}");
        changes(&made, path, path, || made.files.make_folder(&folder(path)).expect("made"));
        changes(&made, path, path, || made.put(&format!("{path}/memory/a.md"), "one\n"));
        changes(&made, path, path, || made.put(&format!("{path}/memory/a.md"), "two\n"));
    }
}

#[test]
fn a_listing_is_kept_while_other_folders_change() {
    let Some(made) = watched() else { return };
    let kitchen = folder("groups/kitchen");
    let listed = || made.files.list(&kitchen, "", 1_000).expect("listed");
    let first = listed();
    // An unnoticed change distinguishes the listings: a new one has the new size.
    fs::hard_link(made.at("groups/kitchen/deep/a.md"), made.outside("second-name.md")).expect("linked");
    let first_again = listed();
    assert_eq!(first_again.files, first.files);
    fs::write(made.outside("second-name.md"), "longer than before\n").expect("written");
    for turn in 0..3 {
        made.put("memory/a.md", "x".repeat(turn));
        assert_eq!(names(&made.files, "memory"), ["memory/a.md"]);
        assert_eq!(listed(), first_again, "nobody has told of a change");
    }
    made.put("groups/kitchen/b.md", "new\n");
    assert_eq!(listed().files.last().map(|entry| entry.stamp.size), Some(19));
}

#[test]
fn a_listing_that_is_kept_is_never_an_old_one() {
    let Some(made) = watched() else { return };
    let group = folder("groups/kitchen");
    for turn in 0..20 {
        made.put(&format!("memory/{turn:02}.md"), "x");
        assert_eq!(names(&made.files, "memory").len(), turn + 2);
        assert_eq!(names(&made.files, "memory").len(), turn + 2);
        made.put("memory/a.md", "x".repeat(turn));
        let listed = made.files.list(&default(), "memory", 1_000).expect("listed");
        let size = listed.files.last().map(|entry| entry.stamp.size);
        assert_eq!(size, Some(turn as u64));
        made.put(&format!("groups/kitchen/deep/{turn:02}.md"), "x");
        assert_eq!(made.files.list(&group, "", 1_000).expect("listed").files.len(), turn + 2);
        // Listings of folders that are not watched are not cached.
        made.put(&format!("project/{turn:02}.md"), "x");
        assert_eq!(names(&made.files, "project").len(), turn + 2);
    }
    let path = FilePath::new(&group, "deep/00.md").expect("a name");
    assert!(made.files.remove(&path, From::Any).expect("removed"));
    assert_eq!(made.files.list(&group, "", 1_000).expect("listed").files.len(), 20);
}

#[test]
fn with_links_that_may_stay_inside_a_folder_does_not_count_as_watched() {
    let Some(made) = watched() else { return };
    symlink("/etc/hostname", made.at("memory/out.md")).expect("linked");
    assert!(change_counter(&made, "").is_some(), "it is refused, wherever it leads");
    symlink("../project/src/main.rs", made.at("memory/link.md")).expect("linked");
    assert_eq!(change_counter(&made, ""), None);
    made.put("memory/a.md", "two\n");
    assert_eq!(change_counter(&made, ""), None);
    changes(&made, "groups/kitchen", "of another space", || made.put("groups/kitchen/a.md", "two\n"));
    fs::remove_file(made.at("memory/link.md")).expect("removed");
    changes(&made, "", "an edit", || made.put("memory/a.md", "three\n"));
}

#[test]
fn more_changes_than_the_system_notes_are_still_seen() {
    let Some(made) = watched() else { return };
    let queue = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    let most: usize = queue.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(16_384);
    if most > 20_000 {
        eprintln!("not tested: this machine notes {most} changes");
        return;
    }
    changes(&made, "", "very many", || {
        for n in 0..=most / 2 {
            made.put(&format!("memory/{}.md", n % 7), "x");
        }
    });
    changes(&made, "", "an edit", || made.put("memory/a.md", "last\n"));
}

#[test]
fn too_many_folders_are_not_watched() {
    let Some(made) = watched() else { return };
    for n in 0..4_100 {
        fs::create_dir_all(made.at(&format!("groups/kitchen/{n}"))).expect("made");
    }
    assert_eq!(change_counter(&made, ""), None);
    made.files.list(&folder("groups/kitchen"), "", 10).expect("listed");
}
