//! The file format of backups: a plain tar file, so that `tar tf` lists it.
//!
//! The first entry is [`BackupHeader`], the last one [`BackupManifest`] with the size and the SHA-256 of every entry between them. A
//! truncated file has no manifest, and a changed one does not match it. [`mod@write`] makes such a file, [`mod@read`] checks
//! all of it. `docs/backup-format.md` describes it for other programs.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use tulving_core::ports::ObjectKey;

pub(crate) use read::{BackupArchive, header_of, is_archive};
pub(crate) use write::ArchiveWriter;

/// The value of [`BackupHeader::format`].
const FORMAT: &str = "tulving-backup";
/// The newest version of the format, and the one that is written.
const VERSION: u32 = 1;

/// The name of the first entry.
const HEADER: &str = "tulving-backup.json";
/// The name of the last entry.
const MANIFEST: &str = "manifest.json";
/// The name of the entry with the database.
pub(crate) const DATABASE: &str = "tulving.db";
/// The name of the entry with the settings.
pub(crate) const CONFIG: &str = "config.toml";
/// The JSON settings, without secrets.
pub(crate) const CONFIG_JSON: &str = "config.json";
/// The prefix of the names of files of the workspace.
pub(crate) const WORKSPACE: &str = "workspace/";
/// The prefix of the names of former texts of files.
pub(crate) const PREVIOUS: &str = "previous/";
/// The prefix of the names of attachments; their key follows.
pub(crate) const OBJECTS: &str = "objects/";

/// The longest name of an entry: the longest path on Linux.
const NAME_BYTES: usize = 4_096;

/// The first entry of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupHeader {
    /// Always `tulving-backup`.
    pub(crate) format: String,
    /// The version of the format.
    pub(crate) version: u32,
    /// The time of the backup.
    pub(crate) made_at: String,
    /// The mark of the last erasure before the backup, hexadecimal; `None` if nothing was ever erased.
    pub(crate) erasure: Option<String>,
    /// True if unused parts of the database may still have erased text.
    pub(crate) erased_text_left: bool,
}

/// One entry of a backup, as the manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveEntry {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// SHA-256 of the content, hexadecimal.
    pub(crate) sha256: String,
}

/// The number of items of each kind in a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupCounts {
    /// Memories in the database, including forgotten ones. Entries of files are not counted.
    pub memories: u64,
    /// Files of the workspace.
    pub files: u64,
    /// Former texts of files.
    pub former_texts: u64,
    /// Attachments.
    pub attachments: u64,
}

/// A part of the home that is not in the backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupOmission {
    /// The name that its entry would have.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The last entry of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupManifest {
    /// Every entry before this one, in order.
    pub(crate) entries: Vec<ArchiveEntry>,
    pub(crate) counts: BackupCounts,
    pub(crate) left_out: Vec<BackupOmission>,
}

/// Returns the reason why the name of an entry is refused, or `None` if a backup may have it.
fn why_not(path: &str) -> Option<&'static str> {
    if path.len() > NAME_BYTES {
        return Some("a name is too long");
    }
    if [HEADER, MANIFEST, DATABASE, CONFIG, CONFIG_JSON].contains(&path) {
        return None;
    }
    if let Some(key) = path.strip_prefix(OBJECTS) {
        return ObjectKey::parse(key).is_err().then_some("the key of an attachment is not one");
    }
    match path.strip_prefix(WORKSPACE).or_else(|| path.strip_prefix(PREVIOUS)) {
        None => Some("backups have no such entry"),
        Some(below) if below.chars().any(char::is_control) || below.contains('\\') => {
            Some("a name has characters that no file of a backup has")
        }
        // Empty parts, `.`, `..` and hidden files are never written.
        Some(below) if below.split('/').any(|part| part.is_empty() || part.starts_with('.')) => {
            Some("a name leads out of its folder or is hidden")
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_their_folder_are_refused() {
        let hash = "ab".repeat(32);
        for good in [
            "tulving.db",
            "config.toml",
            "config.json",
            "workspace/memory/2026-05-27.md",
            "workspace/groups/Räume/notes.md",
            "previous/memory/MEMORY.md/2026-05-27T09-30-00.000000Z.md",
            &format!("objects/sha256/ab/{hash}"),
        ] {
            assert_eq!(why_not(good), None, "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../tulving.db",
            "workspace",
            "workspace/",
            "workspace//a",
            "workspace/../config.toml",
            "workspace/a/../../b",
            "workspace/./a",
            "workspace/.git/config",
            "workspace/a\\b",
            "workspace/a\nb",
            "previous/..",
            "objects/sha256/ab/../../x",
            &format!("objects/sha256/cd/{hash}"),
            "api-token",
            "index/manifest",
            &format!("workspace/{}", "a".repeat(5_000)),
        ] {
            assert!(why_not(bad).is_some(), "{bad}");
        }
    }
}
