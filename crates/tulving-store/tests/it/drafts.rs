use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use tempfile::tempdir;
use tulving_core::model::error::StoreError;
use tulving_core::model::integrity::{Severity, StoreCheckDepth, StoreCheckFinding};
use tulving_core::ports::IntegrityChecks;
use tulving_store::{ExistingFilePolicy, Home, SqliteStore, check_target};

use crate::made::{quiet, save, store};

fn drafts(store: &SqliteStore) -> StoreCheckFinding {
    let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
    checkup.findings.into_iter().find(|finding| finding.name == "drafts").expect("looked at")
}

#[test]
fn copies_that_a_killed_process_left_behind_go_when_the_home_is_opened() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    fs::create_dir(home.path().join("backups")).expect("made");
    let left = [".tulving-draft-a.db", "backups/.tulving-draft-b.db", ".tulving-draft-c.db-journal"]
        .map(|name| home.path().join(name));
    for path in &left {
        fs::write(path, "all that is known").expect("written");
    }
    let rescue = home.path().join("backups/.tulving-draft-rescue");
    fs::create_dir_all(rescue.join("home")).expect("made");
    fs::write(rescue.join("home/tulving.db"), "all that is known").expect("written");
    let left = left.into_iter().chain([rescue]).collect::<Vec<_>>();
    let used = home.path().join("backups/.tulving-draft-used.db");
    let user = File::create(&used).expect("made");
    user.lock().expect("locked");

    let found = drafts(&first);
    assert_eq!(found.severity, Severity::Warn, "{found:?}");
    assert!(left.iter().all(|path| found.text.contains(&path.display().to_string())), "{found:?}");
    assert!(!found.text.contains("used"), "{found:?}");

    let again = store(home.path());
    assert!(left.iter().all(|path| !path.exists()));
    assert!(used.exists(), "somebody is writing it");
    assert_eq!(drafts(&again).severity, Severity::Fine);
    drop(user);
    drop(store(home.path()));
    assert!(!used.exists());
}

#[test]
fn a_backup_removes_what_a_killed_one_left_in_its_folder() {
    let (home, elsewhere) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let store = store(home.path());
    fs::write(elsewhere.path().join(".tulving-draft-x.db"), "all that is known").expect("written");
    store.backup(&elsewhere.path().join("copy.db"), ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let names: Vec<_> = fs::read_dir(elsewhere.path())
        .expect("a folder")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    assert_eq!(names, ["copy.db"]);
}

/// Asserts that a file is not replaced, and the reason in the error.
fn refused(store: &SqliteStore, path: &Path, why: &str) {
    for if_exists in [ExistingFilePolicy::Replace, ExistingFilePolicy::Refuse] {
        let error = store.backup(path, if_exists, &mut quiet()).expect_err("it is refused");
        assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(why), "{}: {error}", path.display());
    }
    check_target(store.home(), path).expect_err("it is refused");
}

#[test]
fn a_backup_does_not_replace_a_file_of_the_home() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fs::write(home.join("api-token"), "tlv_mine").expect("written");
    let (link, duplicate) = (folder.path().join("link"), folder.path().join("twin"));
    symlink(home.join("api-token"), &link).expect("linked");
    fs::hard_link(home.join("tulving.db"), &duplicate).expect("linked");
    let alias = folder.path().join("alias");
    symlink(&home, &alias).expect("linked");
    refused(&store, &home.join("tulving.db"), "the live store itself");
    refused(&store, &home.join("tulving.db-wal"), "the live store itself");
    refused(&store, &home.join("tulving.db-journal"), "the live store itself");
    refused(&store, &home.join("api-token"), "the token of the home");
    refused(&store, &alias.join("config.toml"), "the configuration of the home");
    refused(&store, &home.join("../home/restore.lock"), "the lock of the home");
    refused(&store, &home.join("thinking.lock"), "a lock of the home");
    refused(&store, &home.join("shell-history"), "the history of the prompt");
    refused(&store, &link, "the token of the home");
    refused(&store, &duplicate, "the live store itself");
    refused(&store, &folder.path().join(".tulving-draft-mine"), "unfinished files");
    assert_eq!(fs::read(home.join("api-token")).expect("there"), b"tlv_mine");
    assert!(!home.join("config.toml").exists());
    save(&store, "and it lives");
}

#[test]
fn a_backup_does_not_go_into_a_folder_that_the_home_keeps_for_itself() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    for (name, what) in [
        ("index", "the search index"),
        ("objects", "the attachments"),
        ("previous", "the previous texts of files"),
        ("appends", "unfinished additions to files"),
        ("pledges", "the pledges"),
    ] {
        fs::create_dir_all(home.join(name).join("below")).expect("made");
        fs::write(home.join(name).join("below/there"), "mine").expect("written");
        let why = format!("it is in the folder of {what}");
        refused(&store, &home.join(name).join("below/there"), &why);
        refused(&store, &home.join("..").join("home").join(name).join("new.db"), &why);
        let link = folder.path().join(name);
        symlink(home.join(name), &link).expect("linked");
        refused(&store, &link.join("new.db"), &why);
        assert_eq!(fs::read(home.join(name).join("below/there")).expect("there"), b"mine");
    }
    fs::create_dir(home.join("mine")).expect("made");
    store.backup(&home.join("mine/copy.db"), ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
}

#[test]
fn a_backup_replaces_only_regular_files() {
    let folder = tempdir().expect("a folder");
    let store = store(&folder.path().join("home"));
    let socket = folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).expect("bound");
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("run").success());
    let (device, circle) = (folder.path().join("device"), folder.path().join("circle"));
    symlink("/dev/null", &device).expect("linked");
    symlink(&circle, &circle).expect("linked");
    refused(&store, folder.path(), "a folder");
    refused(&store, &socket, "a socket");
    refused(&store, &pipe, "a pipe");
    refused(&store, &device, "a device");
    refused(&store, &circle, "written");
    refused(&store, Path::new(""), "names no file");
}

#[test]
fn a_link_stays_and_what_it_points_at_is_replaced() {
    let folder = tempdir().expect("a folder");
    let store = store(&folder.path().join("home"));
    fs::create_dir(folder.path().join("disk")).expect("made");
    fs::write(folder.path().join("disk/old"), "old").expect("written");
    for name in ["old", "new"] {
        let link = folder.path().join(name);
        symlink(format!("disk/{name}"), &link).expect("linked");
        let error = store.backup(&link, ExistingFilePolicy::Refuse, &mut quiet()).expect_err("in the way");
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        store.backup(&link, ExistingFilePolicy::Replace, &mut quiet()).expect("made");
        assert!(link.is_symlink());
        let file = folder.path().join("disk").join(name);
        assert!(fs::read(&file).expect("there").starts_with(b"SQLite format 3"));
        let home = Home::open_or_create(&folder.path().join("home")).expect("a home");
        assert_eq!(check_target(&home, &link).expect("allowed"), file);
    }
}
