use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use tulving_core::model::error::FileError;
use tulving_core::model::file::{FilePath, Folder};
use tulving_core::ports::{Files, From};
use tulving_store::{Home, Workspace};

use super::made::{Made, Stop, default, file, names};

const SECRET: &str = "a secret that is not in the workspace\n";

fn is_refused<T: std::fmt::Debug>(what: &str, answer: Result<T, FileError>) {
    match answer {
        Err(FileError::Refused { path, why }) => {
            assert!(!path.starts_with(std::env::temp_dir()) && !why.is_empty(), "{what}: {}", path.display());
        }
        other => panic!("{what}: {other:?}"),
    }
}

/// Asserts that every operation on a path is refused.
fn refuses_all(made: &Made, name: &str) {
    let path = file(name);
    is_refused(name, made.files.read(&path, 1_000));
    is_refused(name, made.files.stamp(&path));
    is_refused(name, made.files.append(&path, "more"));
    is_refused(name, made.files.replace(&path, b"other", From::Any, None));
    is_refused(name, made.files.remove(&path, From::Any));
}

#[test]
fn links_that_lead_out_are_refused() {
    let made = Made::new();
    let secret = made.outside("secret.md");
    fs::write(&secret, SECRET).expect("written");
    fs::create_dir(made.outside("theirs")).expect("made");
    fs::write(made.outside("theirs/a.md"), SECRET).expect("written");
    made.put("memory/day.md", "mine\n");
    symlink(&secret, made.at("memory/absolute.md")).expect("linked");
    symlink("../../../secret.md", made.at("memory/relative.md")).expect("linked");
    symlink("absolute.md", made.at("memory/twice.md")).expect("linked");
    symlink("/proc/self/environ", made.at("memory/magic.md")).expect("linked");
    for name in ["absolute", "relative", "twice", "magic"] {
        refuses_all(&made, &format!("memory/{name}.md"));
    }
    symlink(made.outside("theirs"), made.at("memory/folder")).expect("linked");
    for name in ["memory/folder/a.md", "memory/folder/new.md", "memory/folder/deep/new.md"] {
        let path = file(name);
        is_refused(name, made.files.read(&path, 1_000));
        is_refused(name, made.files.append(&path, "more"));
        is_refused(name, made.files.create(&path, b"more"));
        is_refused(name, made.files.replace(&path, b"other", From::Any, None));
        is_refused(name, made.files.remove(&path, From::Any));
    }
    is_refused("list", made.files.list(&default(), "memory/folder", 10));
    let listed = made.files.list(&default(), "memory", 10).expect("listed");
    let refused: Vec<&str> = listed.refused.iter().map(|(path, _)| path.as_str()).collect();
    let all = ["absolute.md", "folder", "magic.md", "relative.md", "twice.md"];
    assert_eq!(refused, all.map(|name| format!("memory/{name}")));
    assert_eq!(names(&made.files, "memory"), ["memory/day.md"]);
    assert_eq!(fs::read_to_string(&secret).expect("there"), SECRET);
    assert_eq!(fs::read_dir(made.outside("theirs")).expect("there").count(), 1);
}

#[test]
fn a_folder_of_the_workspace_that_leads_out_is_refused() {
    let made = Made::new();
    fs::create_dir(made.outside("theirs")).expect("made");
    fs::write(made.outside("theirs/a.md"), SECRET).expect("written");
    fs::create_dir_all(made.at("groups")).expect("made");
    symlink(made.outside("theirs"), made.at("memory")).expect("linked");
    symlink("../../../theirs", made.at("groups/kitchen")).expect("linked");
    symlink("kitchen", made.at("groups/cellar")).expect("linked");
    for folder in ["", "groups/kitchen", "groups/cellar"] {
        let folder = Folder::parse(folder).expect("a folder");
        let path = FilePath::new(&folder, "memory/a.md").expect("a name");
        is_refused(folder.as_str(), made.files.list(&folder, "memory", 10));
        is_refused(folder.as_str(), made.files.read(&path, 1_000));
        is_refused(folder.as_str(), made.files.append(&path, "more"));
        is_refused(folder.as_str(), made.files.create(&path, b"more"));
    }
    is_refused("group", made.files.make_folder(&Folder::parse("groups/kitchen").expect("a folder")));
    assert_eq!(fs::read_dir(made.outside("theirs")).expect("there").count(), 1);
}

#[test]
fn a_group_cannot_reach_the_files_of_another() {
    let made = Made::new();
    made.put("groups/cellar/notes.md", SECRET);
    made.put("groups/kitchen/mine.md", "mine\n");
    symlink("../cellar/notes.md", made.at("groups/kitchen/theirs.md")).expect("linked");
    symlink("../cellar", made.at("groups/kitchen/cellar")).expect("linked");
    let kitchen = Folder::parse("groups/kitchen").expect("a folder");
    for name in ["theirs.md", "cellar/notes.md"] {
        let path = FilePath::new(&kitchen, name).expect("a name");
        is_refused(name, made.files.read(&path, 1_000));
        is_refused(name, made.files.append(&path, "more"));
    }
    let listed = made.files.list(&kitchen, "", 10).expect("listed");
    assert_eq!(listed.files.len(), 1);
    assert_eq!(listed.refused.len(), 2, "{:?}", listed.refused);
    assert_eq!(made.text("groups/cellar/notes.md"), SECRET);
}

#[cfg(target_os = "linux")]
#[test]
fn links_that_stay_inside_work() {
    let made = Made::new();
    made.put("notes/real.md", "one\n");
    made.put("memory/day.md", "day\n");
    symlink("../notes/real.md", made.at("memory/link.md")).expect("linked");
    symlink("../notes", made.at("memory/linked")).expect("linked");
    symlink(".", made.at("memory/circle")).expect("linked");
    let link = file("memory/link.md");
    made.files.append(&link, "two").expect("added");
    assert_eq!(made.text("notes/real.md"), "one\ntwo\n");
    made.files.append(&file("memory/linked/real.md"), "three").expect("added");
    made.files.replace(&link, b"new\n", From::Any, None).expect("replaced");
    assert_eq!(made.text("notes/real.md"), "new\n");
    assert!(made.at("memory/link.md").is_symlink(), "the link stays");
    assert_eq!(made.files.read(&link, 100).expect("read").expect("there").bytes, b"new\n");
    assert_eq!(made.files.stamp(&link).expect("seen").expect("there").size, 4);
    is_refused("a link is not removed", made.files.remove(&link, From::Any));
    // Each folder once, by its own name if it has one.
    assert_eq!(names(&made.files, "memory"), ["memory/day.md", "memory/link.md", "memory/linked/real.md"]);
    assert_eq!(names(&made.files, "memory/linked"), ["memory/linked/real.md"]);
}

#[test]
fn links_that_lead_nowhere_are_refused_and_not_filled() {
    let made = Made::new();
    made.put("memory/day.md", "day\n");
    symlink("missing.md", made.at("memory/nowhere.md")).expect("linked");
    symlink("missing", made.at("memory/folder")).expect("linked");
    symlink("circle.md", made.at("memory/circle.md")).expect("linked");
    is_refused("append", made.files.append(&file("memory/nowhere.md"), "x"));
    is_refused("append", made.files.append(&file("memory/folder/a.md"), "x"));
    is_refused("append", made.files.append(&file("memory/circle.md"), "x"));
    is_refused("replace", made.files.replace(&file("memory/nowhere.md"), b"x", From::Any, None));
    is_refused("read", made.files.read(&file("memory/circle.md"), 10));
    assert_eq!(made.files.list(&default(), "memory", 10).expect("listed").refused.len(), 3);
    assert!(!made.at("memory/missing.md").exists());
}

#[test]
fn what_is_no_file_is_refused_and_holds_nobody_up() {
    let made = Made::new();
    made.put("memory/folder/a.md", "a\n");
    let nodes = [
        ("memory/pipe", FileType::Fifo, 0),
        ("memory/null", FileType::CharacterDevice, rustix::fs::makedev(1, 3)),
        ("memory/zero", FileType::CharacterDevice, rustix::fs::makedev(1, 5)),
    ];
    let mut expected = vec!["memory/folder"];
    for (name, sort, device) in nodes {
        match mknodat(CWD, made.at(name), sort, Mode::RUSR | Mode::WUSR, device) {
            Ok(()) => expected.push(name),
            Err(error) => eprintln!("not tested with {name}: {error}"),
        }
    }
    let socket = UnixListener::bind(made.at("memory/socket")).expect("bound");
    expected.push("memory/socket");
    for name in &expected {
        refuses_all(&made, name);
        let created = made.files.create(&file(name), b"x");
        assert!(matches!(created, Err(FileError::Exists { .. })), "{name}: {created:?}");
    }
    is_refused("a file is no folder", made.files.append(&file("memory/folder/a.md/b.md"), "x"));
    is_refused("a file is no folder", made.files.list(&default(), "memory/folder/a.md", 10));
    let listed = made.files.list(&default(), "memory", 10).expect("listed");
    assert_eq!(listed.refused.len(), expected.len() - 1, "{:?}", listed.refused);
    assert!(listed.refused.iter().any(|(path, why)| path == "memory/pipe" && why == "it is a pipe"));
    drop(socket);
}

#[test]
fn the_workspace_itself_may_be_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("agent")).expect("made");
    symlink("agent", folder.path().join("link")).expect("linked");
    let home = Home::open_or_create(&folder.path().join("home")).expect("a home");
    let files = Workspace::open(&home, &folder.path().join("link"));
    files.append(&file("memory/day.md"), "one").expect("added");
    let text = fs::read_to_string(folder.path().join("agent/memory/day.md")).expect("there");
    assert_eq!(text, "one\n");
}

#[test]
fn nothing_is_touched_before_the_first_call_and_by_reading() {
    let made = Made::new();
    assert_eq!(made.files.read(&file("memory/a.md"), 10).expect("read"), None);
    assert_eq!(made.files.stamp(&file("memory/a.md")).expect("seen"), None);
    assert!(!made.files.remove(&file("memory/a.md"), From::Any).expect("nothing there"));
    assert!(names(&made.files, "memory").is_empty());
    assert_eq!(made.files.pending_files().expect("read"), []);
    assert_eq!(made.files.previous(&file("memory/a.md")).expect("read"), []);
    assert!(!made.files.folder().exists());
    assert_eq!(fs::read_dir(made.in_home("")).expect("there").count(), 0);
    is_refused("..", made.files.list(&default(), "../..", 10));
    is_refused("/", made.files.list(&default(), "/etc", 10));
}

/// Swaps a file and a link that leads out, as fast as it can.
#[cfg(target_os = "linux")]
fn flip(place: &Path, link_to: &Path, stop: &AtomicBool) {
    let spare = place.with_extension("spare");
    while !stop.load(Ordering::Relaxed) {
        let _ = fs::remove_file(&spare);
        symlink(link_to, &spare).expect("linked");
        fs::rename(&spare, place).expect("put there");
        fs::write(&spare, "inside\n").expect("written");
        fs::rename(&spare, place).expect("put there");
    }
}

/// Swaps a folder and such a link.
#[cfg(target_os = "linux")]
fn flip_folder(place: &Path, link_to: &Path, stop: &AtomicBool) {
    let link = place.with_extension("link");
    symlink(link_to, &link).expect("linked");
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, &link, CWD, place, RenameFlags::EXCHANGE).expect("swapped");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_swapped_for_a_link_never_leads_out() {
    let made = Made::new();
    let (secret, theirs) = (made.outside("secret.md"), made.outside("theirs"));
    fs::create_dir(&theirs).expect("made");
    fs::write(theirs.join("a.md"), SECRET).expect("written");
    fs::write(&secret, SECRET).expect("written");
    made.put("memory/a.md", "inside\n");
    made.put("memory/deep/a.md", "inside\n");
    let stop = AtomicBool::new(false);
    let read = std::thread::scope(|threads| {
        threads.spawn(|| flip(&made.at("memory/a.md"), &secret, &stop));
        threads.spawn(|| flip_folder(&made.at("memory/deep"), &theirs, &stop));
        let _stopping = Stop(&stop);
        let (mut read, mut turn) = (0, 0);
        // On a busy machine most reads meet the link, so that more of them are needed.
        while turn < 400 || (read <= 50 && turn < 40_000) {
            turn += 1;
            for name in ["memory/a.md", "memory/deep/a.md"] {
                let path = file(name);
                if let Ok(Some(content)) = made.files.read(&path, 1_000) {
                    assert!(!content.bytes.starts_with(b"a secret"), "the outside was read");
                    read += 1;
                }
                if turn % 4 == 0 {
                    let _ = made.files.append(&path, "more");
                    let _ = made.files.replace(&path, b"inside too\n", From::Any, None);
                    let _ = made.files.create(&file("memory/deep/b.md"), b"new");
                    let _ = made.files.remove(&file("memory/deep/b.md"), From::Any);
                }
            }
            let listed = made.files.list(&default(), "memory", 100).expect("listed");
            let outside = listed.files.iter().any(|entry| entry.stamp.size == SECRET.len() as u64);
            assert!(!outside, "the outside was listed");
        }
        read
    });
    assert!(read > 50, "only {read} readings");
    assert_eq!(fs::read_to_string(&secret).expect("there"), SECRET);
    assert_eq!(fs::read_to_string(theirs.join("a.md")).expect("there"), SECRET);
    assert_eq!(fs::read_dir(&theirs).expect("there").count(), 1);
}
