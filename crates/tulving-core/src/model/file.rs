//! Files that people can read: their folders, their names and their records.
//!
//! The file itself is the source of truth. This module never reads or writes a file: that is the work of the
//! [`Files`](crate::ports::Files) port.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::error::Invalid;
use crate::model::id::{MemoryId, SpaceId, TeamId};
use crate::model::limits;
use crate::model::memory::{ContentHash, Status};
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::SpaceKind;

/// The folder of journals in the folder of a space.
pub(crate) const JOURNALS: &str = "memory";
/// The file `MEMORY.md` in the folder of a space.
pub(crate) const LONG_TERM: &str = "memory/MEMORY.md";
/// The folder of conversations in the folder of a space.
pub(crate) const CONVERSATIONS: &str = "conversations";

/// The parent of the folders of groups.
const GROUPS: &str = "groups/";
/// The parent of the folders of other spaces.
const SPACES: &str = "spaces/";
/// The parent of the folders of other teams, each named by the team's id.
const TEAMS: &str = "teams/";

/// The folder of a space, below the workspace: the workspace itself for `default`, `groups/NAME` for a group, `spaces/NAME` for
/// any other. Names are unique in a team. Every home starts with one team; the folders of other teams are below `teams/ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Folder(String);

impl Folder {
    /// Returns the folder of a space. Names of spaces are valid folder names; see [`name`](crate::text::normalize::name).
    pub fn of(space: &Space) -> Self {
        if space.id == SpaceId::DEFAULT {
            return Self(String::new());
        }
        let among = if space.kind == SpaceKind::Group { GROUPS } else { SPACES };
        Self(match space.team {
            TeamId::LOCAL => format!("{among}{}", space.name),
            team => format!("{TEAMS}{team}/{among}{}", space.name),
        })
    }

    /// Parses a path below the workspace, as [`as_str`](Self::as_str) returns it; `None` if no space can have such a folder.
    pub fn parse(path: &str) -> Option<Self> {
        let of_team = match path.strip_prefix(TEAMS).map(|rest| rest.split_once('/')) {
            None => Some(path),
            Some(Some((team, below))) if is_other_team(team) => Some(below),
            Some(_) => None,
        };
        let name = of_team.and_then(|path| path.strip_prefix(GROUPS).or_else(|| path.strip_prefix(SPACES)));
        let known = path.is_empty()
            || name.is_some_and(|name| {
                !name.is_empty()
                    && !name.starts_with('.')
                    && !name.contains(['/', '\\'])
                    && !name.contains(char::is_control)
            });
        known.then(|| Self(path.to_owned()))
    }

    /// Returns the workspace itself, which is the folder of `default`.
    pub(crate) fn workspace() -> Self {
        Self(String::new())
    }

    /// Returns the subfolders in which memory files are stored. The workspace itself may be somebody's own folder that
    /// contains other files.
    pub(crate) fn kept_below(&self) -> &'static [&'static str] {
        if self.0.is_empty() { &[JOURNALS, CONVERSATIONS] } else { &[""] }
    }

    /// Returns true if this is the folder of a group, which has only memory files.
    pub fn is_of_group(&self) -> bool {
        let of_team = self.0.strip_prefix(TEAMS).and_then(|rest| rest.split_once('/'));
        of_team.map_or(self.as_str(), |(_, below)| below).starts_with(GROUPS)
    }

    /// Returns the path of the folder below the workspace; empty for the workspace itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of `name` in this folder, below the workspace.
    pub fn join(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}/{name}", self.0) }
    }
}

/// Returns true if the text is the id of a team with its own folder.
fn is_other_team(text: &str) -> bool {
    text.parse::<TeamId>().is_ok_and(|team| team != TeamId::LOCAL && team.to_string() == text)
}

/// A file in the folder of a space. The name is checked, so that it cannot lead out of the folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath {
    folder: Folder,
    name: String,
}

impl FilePath {
    /// Creates the path of a file with this name: one or more parts separated by `/`. Refuses an empty or absolute name, parts
    /// that are empty, `.` or `..` or begin with a dot, control characters, and names too long for a file system.
    pub fn new(folder: &Folder, name: &str) -> Result<Self, Invalid> {
        let refuse = |why: &'static str| Invalid::FileName { got: crate::model::preview::short(name), why };
        if name.is_empty() {
            return Err(refuse("it is empty"));
        }
        if name.len() > limits::FILE_PATH_BYTES {
            return Err(refuse("it is too long"));
        }
        if name.chars().any(char::is_control) {
            return Err(refuse("it contains control characters"));
        }
        if name.starts_with('/') || name.contains('\\') {
            return Err(refuse("it must be a path below the folder, with / between its parts"));
        }
        for part in name.split('/') {
            match part {
                "" => return Err(refuse("a part of it is empty")),
                "." | ".." => return Err(refuse("`.` and `..` lead out of the folder")),
                _ if part.starts_with('.') => return Err(refuse("hidden files are not allowed")),
                _ if part.len() > limits::FILE_NAME_BYTES => return Err(refuse("a part of it is too long")),
                _ => {}
            }
        }
        Ok(Self { folder: folder.clone(), name: name.to_owned() })
    }

    /// Creates the path of a memory file. In the workspace itself, other files are refused.
    pub(crate) fn kept(folder: &Folder, name: &str) -> Result<Self, Invalid> {
        let path = Self::new(folder, name)?;
        let inside = |below: &&str| name.strip_prefix(below).is_some_and(|rest| rest.starts_with('/'));
        if folder.0.is_empty() && !folder.kept_below().iter().any(inside) {
            return Err(Invalid::FileOutside { got: crate::model::preview::short(name) });
        }
        Ok(path)
    }

    /// Returns the folder of the file.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the path of the file below that folder.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Shows the path below the workspace.
impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.folder.join(&self.name))
    }
}

/// The metadata that distinguishes one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// Its size in bytes.
    pub size: u64,
    /// Time of the last write, in nanoseconds since the epoch.
    pub modified: i64,
    /// The inode, which changes if an editor writes a new file and renames that file.
    pub inode: u64,
}

impl FileStamp {
    /// The stamp of a file that no longer exists. No existing file has this stamp.
    pub const GONE: Self = Self { size: u64::MAX >> 1, modified: i64::MIN, inode: 0 };

    /// Returns the time of the last write.
    pub fn modified_at(&self) -> Timestamp {
        Timestamp::from_micros(self.modified.div_euclid(1_000))
    }

    /// Returns true if the last write is so long ago that a later write must change the stamp. A file written a moment
    /// before `now` may be written again within the resolution of its file system's clock.
    pub fn is_settled(&self, now: Timestamp) -> bool {
        self.modified_at().plus_millis(2_000) < now
    }
}

/// An existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path.
    pub path: FilePath,
    /// Its current stamp.
    pub stamp: FileStamp,
}

/// The files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The files, by name.
    pub files: Vec<FileEntry>,
    /// True if the folder has more files than requested.
    pub more: bool,
    /// Entries that are not used, by path below the workspace, with the reason: a link that leads out, a device, an invalid
    /// name. Only a few are listed.
    pub refused: Vec<(String, String)>,
    /// True if the workspace itself is missing, so nothing is known about its files. The workspace may be on a disk that is
    /// not mounted now.
    pub absent: bool,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The stamp of the file when its bytes were read. As far as can be determined, bytes and stamp belong to the same
    /// state.
    pub stamp: FileStamp,
}

/// Number of hexadecimal characters of a SHA-256.
pub(crate) const HASH_CHARS: usize = 64;

/// Returns the SHA-256 of bytes, hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Decodes bytes as text: without the byte order mark, and with `�` for invalid bytes.
pub(crate) fn text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns true if bytes are not text: the beginning contains a zero byte.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_192).any(|byte| *byte == 0)
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The byte at which the entry begins.
    pub start: u64,
    /// True if the append created the file.
    pub created: bool,
}

/// An earlier text of a file that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LongTermVersion")]
pub struct PreviousFile {
    /// Its id: the time of the replacement, such as `2026-05-27T09-30-00.000000Z`.
    pub id: String,
    /// Time of the replacement.
    pub at: Timestamp,
    /// Its size in bytes.
    pub size: u64,
}

/// A file that was created together with a memory, and stays only if the memory was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFile {
    /// The file.
    pub path: FilePath,
    /// The memory.
    pub memory: MemoryId,
}

/// The record of a file whose entries are mirrored, from the last time the file was mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredFile {
    /// Its path below the workspace.
    pub path: String,
    /// Its stamp.
    pub stamp: FileStamp,
    /// A hash of its bytes.
    pub digest: [u8; 32],
    /// True if the stamp alone is enough to detect later changes; see [`FileStamp::is_settled`].
    pub settled: bool,
}

/// The record of an imported file from the time of the import, and the file's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its path.
    pub path: String,
    /// Its stamp.
    pub stamp: FileStamp,
    /// A hash of its bytes.
    pub digest: [u8; 32],
    /// True if the stamp alone is enough to detect later changes; see [`FileStamp::is_settled`].
    pub settled: bool,
    /// The memory.
    pub memory: MemoryId,
    /// The status of that memory.
    pub status: Status,
}

/// A file entry that a memory mirrors. The entry is identified by path, hash and occurrence, never by the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredEntry {
    /// The memory.
    pub id: MemoryId,
    /// The hash of its text.
    pub hash: ContentHash,
    /// The index among entries with the same text, from 0.
    pub occurrence: u32,
    /// The line at which the entry begins, from 1.
    pub line: u32,
    /// The headings above the entry.
    pub title: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(kind: SpaceKind, id: SpaceId) -> Folder {
        folder_in(TeamId::LOCAL, kind, id)
    }

    fn folder_in(team: TeamId, kind: SpaceKind, id: SpaceId) -> Folder {
        let created_at = Timestamp::from_micros(0);
        Folder::of(&Space { id, team, name: "kitchen".to_owned(), kind, created_at })
    }

    #[test]
    fn every_space_has_a_folder_of_its_own() {
        let other = SpaceId::mint(Timestamp::from_micros(5));
        assert_eq!(folder(SpaceKind::Hub, SpaceId::DEFAULT).as_str(), "");
        assert_eq!(folder(SpaceKind::Group, other).as_str(), "groups/kitchen");
        assert_eq!(folder(SpaceKind::Hub, other).as_str(), "spaces/kitchen");
    }

    #[test]
    fn spaces_of_one_name_in_two_teams_have_two_folders() {
        let (one, other) =
            (SpaceId::mint(Timestamp::from_micros(5)), SpaceId::mint(Timestamp::from_micros(5)));
        let team = TeamId::mint(Timestamp::from_micros(5));
        for (kind, among) in [(SpaceKind::Group, "groups"), (SpaceKind::Hub, "spaces")] {
            let theirs = folder_in(team, kind, other);
            assert_ne!(folder(kind, one), theirs);
            assert_eq!(theirs.as_str(), format!("teams/{team}/{among}/kitchen"));
            assert_eq!(Folder::parse(theirs.as_str()), Some(theirs.clone()));
            for folder in [folder(kind, one), theirs] {
                assert_eq!(folder.is_of_group(), kind == SpaceKind::Group, "{folder:?}");
            }
        }
        assert!(!folder(SpaceKind::Hub, SpaceId::DEFAULT).is_of_group());
    }

    #[test]
    fn a_folder_comes_back_from_its_path() {
        for path in ["", "groups/kitchen", "spaces/kitchen"] {
            assert_eq!(Folder::parse(path).expect("a folder").as_str(), path);
        }
        let team = TeamId::mint(Timestamp::from_micros(5));
        for wrong in [
            format!("teams/{}/groups/kitchen", TeamId::LOCAL),
            format!("teams/{}/groups/kitchen", team.to_string().to_uppercase()),
            format!("teams/{team}"),
            format!("teams/{team}/memory"),
            format!("teams/{team}/groups/a/b"),
            format!("teams/{team}/teams/{team}/groups/kitchen"),
            "teams/../groups/kitchen".to_owned(),
        ] {
            assert_eq!(Folder::parse(&wrong), None, "{wrong:?}");
        }
        for wrong in ["memory", "groups/", "groups/..", "spaces/a/b", "/", "groups/a\nb", "spaces/a\\b"] {
            assert_eq!(Folder::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_name_cannot_lead_out_of_its_folder() {
        let home = folder(SpaceKind::Hub, SpaceId::DEFAULT);
        let long = "x".repeat(256);
        for wrong in [
            "",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            ".hidden",
            "a/.git/config",
            "a\0b",
            "a\nb",
            "a\u{7f}b",
            "..\\a",
            "...",
            &long,
        ] {
            assert!(FilePath::new(&home, wrong).is_err(), "{wrong:?}");
        }
        for good in ["notes.md", "a/b/c.txt", "räume.md", "two words.md"] {
            assert!(FilePath::new(&home, good).is_ok(), "{good}");
        }
        let group = folder(SpaceKind::Group, SpaceId::mint(Timestamp::from_micros(5)));
        let path = FilePath::new(&group, "a/b.md").expect("a path");
        assert_eq!(path.to_string(), "groups/kitchen/a/b.md");
    }
}
