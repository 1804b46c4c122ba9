use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use tulving_core::model::file::{FileList, FilePath, Folder};
use tulving_core::model::time::Timestamp;
use tulving_core::ports::Files;
use tulving_store::{Home, Workspace};

/// The user and group ids of nobody.
pub(super) const NOBODY: u32 = 65_534;

/// A workspace in a folder of its own.
pub(super) struct Made {
    pub(super) folder: TempDir,
    pub(super) files: Workspace,
}

impl Made {
    pub(super) fn new() -> Self {
        Self::within(tempfile::tempdir().expect("a folder"))
    }

    pub(super) fn within(folder: TempDir) -> Self {
        let files = workspace(folder.path());
        Self { folder, files }
    }

    /// Opens the same workspace again, as another process would.
    pub(super) fn again(&self) -> Workspace {
        workspace(self.folder.path())
    }

    /// Returns the path of a name in the workspace.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.files.folder().join(name)
    }

    /// Returns the path of a name in the home.
    pub(super) fn in_home(&self, name: &str) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    /// Returns a path outside the workspace.
    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and creates its folder.
    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).expect("there")
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    /// Returns the number of files in a folder of the home.
    pub(super) fn count_in_home(&self, name: &str) -> usize {
        std::fs::read_dir(self.in_home(name)).map_or(0, Iterator::count)
    }
}

/// Opens the workspace in a folder of a test.
pub(super) fn workspace(folder: &Path) -> Workspace {
    let home = Home::open_or_create(&folder.join("home")).expect("a home");
    Workspace::open(&home, &home.workspace())
}

/// Returns the folder of the default space.
pub(super) fn default() -> Folder {
    Folder::parse("").expect("a folder")
}

/// Returns the path of a file of the default space.
pub(super) fn file(name: &str) -> FilePath {
    FilePath::new(&default(), name).expect("a name")
}

pub(super) fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + micros)
}

/// Returns the names of all files below a path of the default space.
pub(super) fn names(files: &Workspace, below: &str) -> Vec<String> {
    names_of(&files.list(&default(), below, usize::MAX).expect("listed"))
}

pub(super) fn names_of(list: &FileList) -> Vec<String> {
    list.files.iter().map(|entry| entry.path.name().to_owned()).collect()
}

/// Returns a process that runs one test of this binary with `TULVING_TEST_FOLDER` set, which makes that test play
/// another part.
pub(super) fn child(binary: &Path, test: &str, folder: &Path, part: &str) -> Command {
    let mut command = Command::new(binary);
    command.args(["--exact", test, "--nocapture"]);
    command.env("TULVING_TEST_FOLDER", folder).env("TULVING_TEST_PART", part);
    command
}

/// Returns the folder and the part of a child.
pub(super) fn part() -> Option<(PathBuf, String)> {
    let folder = std::env::var_os("TULVING_TEST_FOLDER")?;
    Some((PathBuf::from(folder), std::env::var("TULVING_TEST_PART").expect("a part")))
}

/// Creates a workspace in a folder that everybody may enter, and a copy of this binary there that everybody may run.
pub(super) fn for_everybody() -> (Made, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("tests");
    // In another process: a file that this one has open for writing would be "busy" in a child of another test.
    let copied = Command::new("cp").arg(std::env::current_exe().expect("this binary")).arg(&binary).status();
    assert!(copied.is_ok_and(|status| status.success()), "the binary could not be copied");
    allow(&binary, 0o755);
    allow(folder.path(), 0o755);
    (Made::within(folder), binary)
}

/// Runs one test of that copy, in its own part and without root's privileges.
pub(super) fn run_as_nobody(made: &Made, binary: &Path, test: &str) -> Output {
    let mut command = child(binary, test, made.folder.path(), "nobody");
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().expect("started")
}

/// Asserts that a child found its test, and that it passed.
#[track_caller]
pub(super) fn assert_passed(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let described = String::from_utf8_lossy(&output.stdout);
    assert!(described.contains("1 passed"), "there is no such test: {described}");
}

/// Gives a file or a folder this mode.
pub(super) fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
}

/// Stops other threads when it is dropped, even if a test fails.
pub(super) struct Stop<'a>(pub(super) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
