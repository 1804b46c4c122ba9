//! A record of the hash of a model's files, so that not every process reads hundreds of megabytes to name the model.
//!
//! The record is used only while size, time and inode of every file are unchanged. A record that cannot be read or written
//! is ignored.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ModelFolderError;

/// Number of models in the record. Two are in use while the model changes.
const MODELS: usize = 4;

/// The file with the record; without a file, the hash is always computed.
pub(super) struct HashFile(Option<PathBuf>);

#[derive(Deserialize, Serialize, PartialEq, Eq)]
struct HashRecord {
    files: Vec<HashedFile>,
    hash: String,
}

/// A file as it was when it was hashed.
#[derive(Deserialize, Serialize, PartialEq, Eq)]
struct HashedFile {
    path: PathBuf,
    bytes: u64,
    /// Seconds and nanoseconds of the last change.
    changed: (i64, i64),
    inode: u64,
}

impl HashFile {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self(path)
    }

    /// Returns the recorded hash of these files, or else computes and records it.
    pub(super) fn hash(
        &self,
        files: &[PathBuf],
        compute: impl FnOnce() -> Result<String, ModelFolderError>,
    ) -> Result<String, ModelFolderError> {
        let Some((path, now)) = self.0.as_ref().zip(files.iter().map(stamp).collect::<Option<Vec<_>>>())
        else {
            return compute();
        };
        let mut records: Vec<HashRecord> =
            fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        if let Some(record) = records.iter().find(|record| record.files == now) {
            return Ok(record.hash.clone());
        }
        let hash = compute()?;
        // A file that was changed while it was read is not recorded.
        if files.iter().map(stamp).collect::<Option<Vec<_>>>().as_ref() == Some(&now) {
            records.retain(|record| record.files.first().map(|file| &file.path) != files.first());
            records.insert(0, HashRecord { files: now, hash: hash.clone() });
            records.truncate(MODELS);
            if let Ok(text) = serde_json::to_vec(&records) {
                let _ = fs::write(path, text);
            }
        }
        Ok(hash)
    }
}

fn stamp(path: &PathBuf) -> Option<HashedFile> {
    let found = fs::metadata(path).ok()?;
    Some(HashedFile {
        path: path.clone(),
        bytes: found.size(),
        changed: (found.mtime(), found.mtime_nsec()),
        inode: found.ino(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_computed_again_only_if_a_file_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, record) = (folder.path().join("model"), folder.path().join("record"));
        fs::write(&file, "one").unwrap();
        let hash = |computed: &str| {
            let hashes = HashFile::new(Some(record.clone()));
            hashes.hash(std::slice::from_ref(&file), || Ok(computed.to_owned())).unwrap()
        };
        assert_eq!((hash("a").as_str(), hash("b").as_str()), ("a", "a"));
        fs::write(&file, "other").unwrap();
        assert_eq!((hash("c").as_str(), hash("d").as_str()), ("c", "c"));
        fs::write(&record, "damaged").unwrap();
        assert_eq!((hash("e").as_str(), hash("f").as_str()), ("e", "e"));
    }
}
