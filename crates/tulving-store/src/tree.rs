//! Walks through trees of files to import, and reads them.
//!
//! Files that `.gitignore`, `.ignore` and `.tulvingignore` exclude are skipped, and so are hidden files and generated
//! folders. Links are not followed, so that every walk ends and stays below its root.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tulving_core::model::file::FileStamp;
use tulving_text::classify::form;

/// The name of the files that list the files not to import.
const IGNORE: &str = ".tulvingignore";

/// A file that a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The state of the file when it was found.
    pub stamp: FileStamp,
}

/// A path that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePath {
    /// The path, if it is known.
    pub path: Option<PathBuf>,
    /// The reason why the path could not be read.
    pub why: String,
    /// True if the path may contain files that the walk did not see.
    pub hides: bool,
}

/// Options of a [`walk`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WalkOptions {
    /// True to include hidden files.
    pub hidden: bool,
    /// True to include generated folders: dependencies, build output, caches, virtual environments.
    pub generated: bool,
}

/// The files and folders that a [`walk`] skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedPaths {
    /// The paths that could not be read.
    pub unread: Vec<UnreadablePath>,
    /// The generated folders. Generated folders inside them are not listed.
    pub generated: Vec<PathBuf>,
}

/// Finds the regular files below a folder in the order of their names, and calls `found` with each of them. If the root
/// is a file, `found` is called with that file. The root is read whatever its name is; version control data below it is
/// never read.
pub fn walk(root: &Path, options: WalkOptions, found: &mut dyn FnMut(TreeFile)) -> SkippedPaths {
    let generated = Arc::new(Mutex::new(Vec::new()));
    let left_out = Arc::clone(&generated);
    let walk = WalkBuilder::new(root)
        .hidden(!options.hidden)
        .require_git(false)
        .git_global(false)
        .add_custom_ignore_filename(IGNORE)
        .filter_entry(move |entry| {
            let name = entry.file_name().to_str().unwrap_or_default();
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if entry.depth() == 0 {
                return true;
            }
            // In a worktree or a submodule, `.git` is a file.
            if name == ".git" || (is_folder && form::is_version_control(name)) {
                return false;
            }
            if options.generated || !is_folder || !is_generated(entry.path(), name) {
                return true;
            }
            left_out.lock().unwrap_or_else(PoisonError::into_inner).push(entry.path().to_owned());
            false
        })
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut unread = Vec::new();
    for entry in walk {
        let stamped = entry.map_err(|error| unreadable(&error)).and_then(|entry| stamped(&entry));
        match stamped {
            Ok(Some(file)) => found(file),
            Ok(None) => {}
            Err(trouble) => unread.push(trouble),
        }
    }
    let generated = std::mem::take(&mut *generated.lock().unwrap_or_else(PoisonError::into_inner));
    SkippedPaths { unread, generated }
}

/// Returns true if tools generate the content of a folder: it has a known name, or it is a virtual environment, or it
/// is a cache with a tag file.
fn is_generated(folder: &Path, name: &str) -> bool {
    form::is_generated_folder(name)
        || folder.join("pyvenv.cfg").is_file()
        || folder.join("CACHEDIR.TAG").is_file()
}

fn stamped(entry: &DirEntry) -> Result<Option<TreeFile>, UnreadablePath> {
    let kind = entry.file_type();
    if entry.depth() > 0 && kind.is_some_and(|kind| kind.is_symlink()) {
        let (path, why) = (Some(entry.path().to_owned()), "symbolic links are not followed".to_owned());
        return Err(UnreadablePath { path, why, hides: false });
    }
    if !kind.is_some_and(|kind| kind.is_file()) {
        return Ok(None);
    }
    let metadata = entry.metadata().map_err(|error| unreadable(&error))?;
    Ok(Some(TreeFile { path: entry.path().to_owned(), stamp: stamp(&metadata) }))
}

fn unreadable(error: &ignore::Error) -> UnreadablePath {
    let mut path = None;
    let mut inner = error;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: at, err } => {
                path = Some(at.clone());
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            inner => return UnreadablePath { path, why: inner.to_string(), hides: true },
        };
    }
}

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The file is a symbolic link, although a walk found a file at this path.
    #[error("symbolic links are not followed")]
    Link,
    /// The file is not a regular file.
    #[error("it is not a regular file")]
    NotRegular,
    /// The file is larger than the limit.
    #[error("it has {size} bytes and the limit is {limit}")]
    TooLarge {
        /// The size of the file, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The system returned an error.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Reads a file of at most `most` bytes, and returns its content with the state that the file had before the read.
pub fn read(path: &Path, most: u64) -> Result<(FileStamp, Vec<u8>), TreeError> {
    read_by(path, most, OFlags::empty())
}

/// Reads a file that a [`walk`] has found below its root, like [`read`]. A link that has replaced the file since then
/// is not followed.
pub fn read_found(path: &Path, most: u64) -> Result<(FileStamp, Vec<u8>), TreeError> {
    read_by(path, most, OFlags::NOFOLLOW).map_err(|error| match error {
        TreeError::Unreadable(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            TreeError::Link
        }
        error => error,
    })
}

fn read_by(path: &Path, most: u64, flags: OFlags) -> Result<(FileStamp, Vec<u8>), TreeError> {
    // This flag keeps the open of a pipe from blocking.
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(TreeError::NotRegular);
    }
    let bytes = bounded(file, metadata.len(), most)?;
    Ok((stamp(&metadata), bytes))
}

fn bounded(file: File, size: u64, limit: u64) -> Result<Vec<u8>, TreeError> {
    if size > limit {
        return Err(TreeError::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    if size > limit { Err(TreeError::TooLarge { size, limit }) } else { Ok(bytes) }
}

/// Returns the values that distinguish two states of a file.
pub(crate) fn stamp(metadata: &Metadata) -> FileStamp {
    let modified = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
    FileStamp { size: metadata.len(), modified, inode: metadata.ino() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_took_the_place_of_a_file_since_a_walk_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let [tree, file, elsewhere] =
            ["tree", "tree/a.md", "elsewhere.md"].map(|name| folder.path().join(name));
        std::fs::create_dir(&tree).expect("made");
        std::fs::write(&file, "found").expect("written");
        std::fs::write(&elsewhere, "not asked for").expect("written");
        let mut found = Vec::new();
        assert_eq!(
            walk(&tree, WalkOptions::default(), &mut |file| found.push(file.path)),
            SkippedPaths::default()
        );
        assert_eq!(read_found(&found[0], 100).expect("read").1, b"found");
        std::fs::remove_file(&file).expect("removed");
        std::os::unix::fs::symlink(&elsewhere, &file).expect("linked");
        let error = read_found(&found[0], 100).expect_err("it is a link");
        assert_eq!(error.to_string(), "symbolic links are not followed");
        assert_eq!(read(&file, 100).expect("named by somebody").1, b"not asked for");
    }

    #[test]
    fn folders_that_tools_fill_are_left_out_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in [
            "a.md",
            "build",
            "node_modules/x/index.js",
            "node_modules/x/node_modules/y/index.js",
            "web/dist/app.js",
            "web/src/app.js",
            "my env/pyvenv.cfg",
            "my env/lib/b.py",
            "cached/CACHEDIR.TAG",
            "CVS/c.md",
            ".svn/d.md",
            ".next/e.js",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "text").expect("written");
        }
        let names = |options| {
            let mut found = Vec::new();
            let name = |path: &Path| path.strip_prefix(folder.path()).expect("below").display().to_string();
            let unseen = walk(folder.path(), options, &mut |file| found.push(name(&file.path)));
            assert_eq!(unseen.unread, []);
            (found, unseen.generated.iter().map(|path| name(path)).collect::<Vec<_>>())
        };
        let (found, generated) = names(WalkOptions::default());
        assert_eq!(found, ["a.md", "build", "web/src/app.js"]);
        assert_eq!(generated, ["cached", "my env", "node_modules", "web/dist"]);
        let (found, generated) = names(WalkOptions { hidden: true, ..WalkOptions::default() });
        assert_eq!((found.len(), generated.first().map(String::as_str)), (3, Some(".next")));
        let (found, generated) = names(WalkOptions { hidden: true, generated: true });
        assert_eq!((found.len(), generated.len()), (10, 0), "all but version control: {found:?}");
        let mut inside = Vec::new();
        walk(&folder.path().join("web/dist"), WalkOptions::default(), &mut |file| inside.push(file.path));
        assert_eq!(inside.len(), 1, "what is named itself is looked into");
    }
}
