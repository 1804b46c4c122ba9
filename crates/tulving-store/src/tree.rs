//! Walks through trees of files that are to be imported, and reads them.
//!
//! What `.gitignore`, `.ignore` and `.tulvingignore` name is left out, and so is what is hidden. Links are not followed, so
//! a walk ends and stays where it was told to look.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tulving_core::file::Stamp;

/// The name of the files that say what is not imported.
const IGNORE: &str = ".tulvingignore";

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is now.
    pub stamp: Stamp,
}

/// What could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where, as far as it is known.
    pub path: Option<PathBuf>,
    /// Why.
    pub why: String,
    /// Whether files may be in it that nobody has seen.
    pub hides: bool,
}

/// Finds the regular files below a folder, or the file itself, in the order of their names. `found` is told of each; what
/// could not be looked at is given back.
pub fn walk(root: &Path, hidden: bool, found: &mut dyn FnMut(TreeFile)) -> Vec<Unread> {
    let mut unread = Vec::new();
    let walk = WalkBuilder::new(root)
        .hidden(!hidden)
        .require_git(false)
        .git_global(false)
        .add_custom_ignore_filename(IGNORE)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk {
        let stamped = entry.map_err(|error| unreadable(&error)).and_then(|entry| stamped(&entry));
        match stamped {
            Ok(Some(file)) => found(file),
            Ok(None) => {}
            Err(trouble) => unread.push(trouble),
        }
    }
    unread
}

fn stamped(entry: &DirEntry) -> Result<Option<TreeFile>, Unread> {
    let kind = entry.file_type();
    if entry.depth() > 0 && kind.is_some_and(|kind| kind.is_symlink()) {
        let (path, why) = (Some(entry.path().to_owned()), "it is a link, which is not followed".to_owned());
        return Err(Unread { path, why, hides: false });
    }
    if !kind.is_some_and(|kind| kind.is_file()) {
        return Ok(None);
    }
    let metadata = entry.metadata().map_err(|error| unreadable(&error))?;
    Ok(Some(TreeFile { path: entry.path().to_owned(), stamp: stamp(&metadata) }))
}

fn unreadable(error: &ignore::Error) -> Unread {
    let mut path = None;
    let mut inner = error;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: at, err } => {
                path = Some(at.clone());
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            inner => return Unread { path, why: inner.to_string(), hides: true },
        };
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// It is a link, and stands where a walk found a file.
    #[error("it is a link, which is not followed")]
    Link,
    /// It is no regular file.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is larger than what is taken.
    #[error("it has {size} bytes and the limit is {limit}")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Reads a file of at most so many bytes, and says how it was before that.
pub fn read(path: &Path, most: u64) -> Result<(Stamp, Vec<u8>), TreeError> {
    read_by(path, most, OFlags::empty())
}

/// Reads a file that a [`walk`] has found below its root, likewise. A link that has taken its place since is not followed.
pub fn read_found(path: &Path, most: u64) -> Result<(Stamp, Vec<u8>), TreeError> {
    read_by(path, most, OFlags::NOFOLLOW).map_err(|error| match error {
        TreeError::Unreadable(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            TreeError::Link
        }
        error => error,
    })
}

fn read_by(path: &Path, most: u64, flags: OFlags) -> Result<(Stamp, Vec<u8>), TreeError> {
    // A pipe would be waited for.
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

/// What tells one state of a file from another.
pub(crate) fn stamp(metadata: &Metadata) -> Stamp {
    let modified = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
    Stamp { size: metadata.len(), modified, inode: metadata.ino() }
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
        assert_eq!(walk(&tree, false, &mut |file| found.push(file.path)), []);
        assert_eq!(read_found(&found[0], 100).expect("read").1, b"found");
        std::fs::remove_file(&file).expect("removed");
        std::os::unix::fs::symlink(&elsewhere, &file).expect("linked");
        let error = read_found(&found[0], 100).expect_err("it is a link");
        assert_eq!(error.to_string(), "it is a link, which is not followed");
        assert_eq!(read(&file, 100).expect("named by somebody").1, b"not asked for");
    }
}
