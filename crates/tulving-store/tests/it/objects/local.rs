//! Attachments in a folder: the contract, and faults of a disk.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tulving_core::model::error::ObjectError;
use tulving_core::ports::Objects;
use tulving_store::objects::LocalObjects;
use tulving_testkit::objects::{contract, hash};

use crate::disk::SmallDisk;

/// Names the folder for a child process of a test; not set otherwise.
const FOLDER: &str = "TULVING_TEST_OBJECTS";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn put(objects: &LocalObjects, bytes: &[u8]) -> String {
    objects.put(bytes, &hash(bytes)).expect("kept")
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Runs this test in a child process, which finds the folder in its environment.
fn child(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args([&format!("objects::local::{test}"), "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

/// A child process that is killed on drop, however the test ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_folder_keeps_the_contract() {
    let folder = folder();
    for (name, check) in contract::ALL {
        eprintln!("{name}");
        let made = std::cell::Cell::new(0);
        check(&|| {
            made.set(made.get() + 1);
            Box::new(LocalObjects::new(folder.path().join(name).join(made.get().to_string())))
        });
    }
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    let folder = folder();
    let objects = LocalObjects::new(folder.path().join("objects"));
    let key = put(&objects, b"private");
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let path = folder.path().join("objects").join(&key);
    assert_eq!(mode(&path), 0o600);
    for above in path.ancestors().skip(1).take(3) {
        assert_eq!(mode(above), 0o700, "{}", above.display());
    }
    assert_eq!(files(folder.path()), [path], "no draft is left");
}

#[test]
fn a_damaged_object_is_noticed_and_mended_by_putting_it_again() {
    let folder = folder();
    let objects = LocalObjects::new(folder.path());
    let bytes = vec![7; 10_000];
    let key = put(&objects, &bytes);
    let path = folder.path().join(&key);
    let mut flipped = bytes.clone();
    flipped[5_000] ^= 1;
    let longer = [&bytes[..], b"more"].concat();
    for damaged in [flipped, bytes[..9_999].to_vec(), longer, Vec::new()] {
        fs::write(&path, damaged).expect("damaged");
        assert_eq!(objects.get(&key), Err(ObjectError::Damaged { key: key.clone() }));
        assert_eq!(put(&objects, &bytes), key);
        assert_eq!(objects.get(&key), Ok(Some(bytes.clone())));
    }
}

#[test]
fn what_is_not_a_file_in_the_place_of_one_is_named_and_not_waited_for() {
    let folder = folder();
    let objects = LocalObjects::new(folder.path());
    let key = put(&objects, b"bytes");
    let path = folder.path().join(&key);
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "others").expect("written");
    for make in ["mkfifo \"$1\"", "mkdir \"$1\"", "ln -s \"$2\" \"$1\""] {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", make, "sh"]).args([&path, &elsewhere]);
        assert!(shell.status().expect("run").success(), "{make}");
        for error in [objects.get(&key).map(drop), objects.put(b"bytes", &hash(b"bytes")).map(drop)] {
            assert!(matches!(error, Err(ObjectError::Unusable { .. })), "{make}: {error:?}");
        }
    }
    assert_eq!(fs::read_to_string(&elsewhere).expect("there"), "others");
}

#[test]
fn a_folder_that_may_not_be_written_is_named_without_saying_where_it_is() {
    let folder = folder();
    let objects = LocalObjects::new(folder.path());
    let key = put(&objects, b"there already");
    if rustix::process::getuid().is_root() {
        // Root may write anywhere except where nobody can.
        let objects = LocalObjects::new("/proc/objects");
        let error = objects.put(b"bytes", &hash(b"bytes")).expect_err("nothing can be made there");
        assert!(!error.to_string().contains("/proc") && !error.retryable(), "{error}");
        return;
    }
    for path in ["sha256", ""].map(|path| folder.path().join(path)) {
        fs::set_permissions(path, Permissions::from_mode(0o500)).expect("changed");
    }
    let fresh = (0..=255_u8).map(|n| vec![n]).find(|bytes| hash(bytes)[..2] != key[7..9]).expect("another");
    let error = objects.put(&fresh, &hash(&fresh)).expect_err("read only");
    for path in ["", "sha256"].map(|path| folder.path().join(path)) {
        fs::set_permissions(path, Permissions::from_mode(0o700)).expect("changed");
    }
    assert_eq!(error.to_string(), "attachments may not be written: Permission denied (os error 13)");
    assert_eq!(objects.get(&key), Ok(Some(b"there already".to_vec())));
}

#[test]
fn a_full_disk_is_said_and_leaves_nothing_half() {
    let Some(disk) = SmallDisk::mount(1_024, 0o700) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let objects = LocalObjects::new(disk.path());
    let key = put(&objects, b"small");
    let large = vec![1; 2 << 20];
    assert_eq!(objects.put(&large, &hash(&large)), Err(ObjectError::Full));
    assert_eq!(files(disk.path()), [disk.path().join(&key)], "nothing is left of what did not fit");
    assert_eq!(objects.get(&key), Ok(Some(b"small".to_vec())));
    disk.make_read_only();
    let denied = objects.put(b"more", &hash(b"more")).expect_err("nothing can be written");
    assert!(matches!(denied, ObjectError::Denied { verb: "written", .. }), "{denied}");
    assert!(matches!(objects.remove(&key), Err(ObjectError::Denied { verb: "removed", .. })));
}

#[test]
fn a_put_that_is_killed_in_its_middle_leaves_nothing_half() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let objects = LocalObjects::new(folder);
        for n in 0..u32::MAX {
            let bytes = n.to_le_bytes().repeat(1 << 20);
            let key = put(&objects, &bytes);
            println!("kept {key}");
        }
    }
    let folder = folder();
    for round in 0..12_u64 {
        let mut writer =
            Ended(child("a_put_that_is_killed_in_its_middle_leaves_nothing_half", folder.path()));
        let mut lines = BufReader::new(writer.0.stdout.take().expect("asked for")).lines();
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("kept "));
        assert!(line.is_some(), "it put nothing");
        std::thread::sleep(std::time::Duration::from_millis(round));
        writer.0.kill().expect("killed");
        writer.0.wait().expect("waited for");
        let objects = LocalObjects::new(folder.path());
        let acknowledged: Vec<String> = line.into_iter().chain(lines.map_while(Result::ok)).collect();
        for key in
            acknowledged.iter().filter_map(|line| line.strip_prefix("kept ")).filter(|key| key.len() == 74)
        {
            assert!(objects.get(key).expect("whole").is_some(), "{key} was acknowledged");
        }
        for file in files(folder.path()) {
            let key = file.strip_prefix(folder.path()).expect("below").to_str().expect("text").to_owned();
            if key.len() == 74 && !key.contains("draft") {
                assert_eq!(objects.get(&key).expect("whole").map(|bytes| bytes.len()), Some(4 << 20));
                objects.remove(&key).expect("removed");
            }
        }
    }
    // Drafts of a killed process are removed when another object is stored next to them.
    let drafts = || files(folder.path()).into_iter().filter(|path| path.to_string_lossy().contains("draft"));
    let left: Vec<PathBuf> = drafts().collect();
    eprintln!("{} drafts were left behind", left.len());
    for shelf in left.iter().filter_map(|draft| draft.parent()?.file_name()?.to_str()) {
        let neighbour = (0..u32::MAX).map(u32::to_le_bytes).find(|bytes| hash(bytes).starts_with(shelf));
        put(&LocalObjects::new(folder.path()), &neighbour.expect("every byte begins a hash"));
    }
    assert_eq!(drafts().count(), 0, "drafts are left behind");
}

#[test]
fn several_processes_that_put_the_same_at_once_keep_it_once() {
    let contents = || (0..200_u8).map(|n| vec![n; 20_000]);
    if let Some(folder) = std::env::var_os(FOLDER) {
        let objects = LocalObjects::new(folder);
        let mut start = String::new();
        std::io::stdin().read_line(&mut start).expect("told to start");
        for bytes in contents() {
            put(&objects, &bytes);
        }
        println!("\nall kept");
        return;
    }
    let folder = folder();
    let name = "several_processes_that_put_the_same_at_once_keep_it_once";
    let mut children: Vec<Ended> = (0..3).map(|_| Ended(child(name, folder.path()))).collect();
    for child in &mut children {
        child.0.stdin.take().expect("asked for").write_all(b"go\n").expect("told");
    }
    for child in &mut children {
        let lines = BufReader::new(child.0.stdout.take().expect("asked for")).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "all kept"), "one of them failed");
        child.0.wait().expect("waited for");
    }
    let objects = LocalObjects::new(folder.path());
    for bytes in contents() {
        let key = format!("sha256/{}/{}", &hash(&bytes)[..2], hash(&bytes));
        assert_eq!(objects.get(&key), Ok(Some(bytes)));
    }
    let files = files(folder.path());
    assert_eq!(files.len(), 200, "each is there once, and no draft");
    assert!(files.iter().all(|path| path.metadata().expect("there").nlink() == 1));
}
