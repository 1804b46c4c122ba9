//! The file format of backups: a plain tar file, so that `tar tf` lists it.
//!
//! The first entry is [`BackupHeader`]. The last entry is [`BackupManifest`], which lists the size and the SHA-256 of
//! every entry between them. A truncated file has no manifest, and a changed file does not match its manifest.
//! [`mod@write`] writes such a file, and [`mod@read`] checks all of it. `docs/backup-format.md` describes the format
//! for authors of other programs.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use tulving_core::ports::ObjectKey;

pub(crate) use read::{BackupArchive, header_of, is_archive};
pub(crate) use write::ArchiveWriter;

/// The value of [`BackupHeader::format`].
const FORMAT: &str = "tulving-backup";
/// The newest version of the format. New backups have this version.
const VERSION: u32 = 1;

/// The name of the first entry.
const HEADER: &str = "tulving-backup.json";
/// The name of the last entry.
const MANIFEST: &str = "manifest.json";
/// The name of the entry with the database.
pub(crate) const DATABASE: &str = "tulving.db";
/// The name of the entry with the settings.
pub(crate) const CONFIG: &str = "config.toml";
/// The name of the entry with the JSON settings, without secrets.
pub(crate) const CONFIG_JSON: &str = "config.json";
/// The prefix of the names of entries with files of the workspace.
pub(crate) const WORKSPACE: &str = "workspace/";
/// The prefix of the names of entries with previous texts of files.
pub(crate) const PREVIOUS: &str = "previous/";
/// The prefix of the names of entries with attachments. The key of the attachment follows the prefix.
pub(crate) const OBJECTS: &str = "objects/";

/// Maximum length of the name of an entry, in bytes: the maximum length of a path on Linux.
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
    /// The id of the last erasure before the backup, in hexadecimal; `None` if nothing was ever erased.
    pub(crate) erasure: Option<String>,
    /// True if unused parts of the database may still contain erased text.
    pub(crate) erased_text_left: bool,
}

/// An entry of a backup, as the manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveEntry {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// The SHA-256 of the content, in hexadecimal.
    pub(crate) sha256: String,
}

/// The number of items of each kind in a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupCounts {
    /// Number of memories in the database, including forgotten ones. Mirrored entries of files are not counted.
    pub memories: u64,
    /// Number of files of the workspace.
    pub files: u64,
    /// Number of previous texts of files.
    pub former_texts: u64,
    /// Number of attachments.
    pub attachments: u64,
}

/// A part of the home that is not in the backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupOmission {
    /// The name that the entry of this part would have.
    pub path: String,
    /// The reason why the part is not in the backup.
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

/// Returns the reason why an entry may not have this name; `None` if the name is allowed.
fn why_not(path: &str) -> Option<&'static str> {
    if path.len() > NAME_BYTES {
        return Some("a name is too long");
    }
    if [HEADER, MANIFEST, DATABASE, CONFIG, CONFIG_JSON].contains(&path) {
        return None;
    }
    if let Some(key) = path.strip_prefix(OBJECTS) {
        return ObjectKey::parse(key).is_err().then_some("an attachment has an invalid key");
    }
    match path.strip_prefix(WORKSPACE).or_else(|| path.strip_prefix(PREVIOUS)) {
        None => Some("backups do not contain such an entry"),
        Some(below) if below.chars().any(char::is_control) || below.contains('\\') => {
            Some("a name has invalid characters")
        }
        // Backups never contain names with empty parts, `.`, `..` or hidden files.
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
