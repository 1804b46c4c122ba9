//! Files that people can read: in whose folder they are, what they may be called, and what is known of them.
//!
//! The truth of such a file is the file. Nothing here touches one: that is the [`Files`](crate::ports::Files) port's work.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Invalid;
use crate::id::{MemoryId, SpaceId, TeamId};
use crate::limits;
use crate::memory::{ContentHash, Standing};
use crate::space::Space;
use crate::time::Timestamp;
use crate::vocabulary::SpaceKind;

/// The folder of journals in the folder of a space.
pub(crate) const JOURNALS: &str = "memory";
/// What is always known, in the folder of a space.
pub(crate) const LONG_TERM: &str = "memory/MEMORY.md";
/// The folder of conversations in the folder of a space.
pub(crate) const CONVERSATIONS: &str = "conversations";

/// Where the folders of groups are.
const GROUPS: &str = "groups/";
/// Where the folders of other spaces are.
const SPACES: &str = "spaces/";
/// Where both are for another team, below its id.
const TEAMS: &str = "teams/";

/// The folder of a space, below the workspace: the workspace itself for `default`, `groups/NAME` for a group, `spaces/NAME`
/// for any other. Names are unique in a team: those of another team than the one that every home starts with are below
/// `teams/ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Folder(String);

impl Folder {
    /// The folder of a space. Names of spaces are fit for it; see [`name`](crate::text::normalize::name).
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

    /// The folder with this path below the workspace, as [`as_str`](Self::as_str) gave it; `None` where no space has such a one.
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

    /// The workspace itself, which is the folder of `default`.
    pub(crate) fn workspace() -> Self {
        Self(String::new())
    }

    /// Where in it files are kept for memory. The workspace itself may be somebody's own folder, with much else in it.
    pub(crate) fn kept_below(&self) -> &'static [&'static str] {
        if self.0.is_empty() { &[JOURNALS, CONVERSATIONS] } else { &[""] }
    }

    /// Whether it is the folder of a group, all of which is of memory.
    pub fn is_of_group(&self) -> bool {
        let of_team = self.0.strip_prefix(TEAMS).and_then(|rest| rest.split_once('/'));
        of_team.map_or(self.as_str(), |(_, below)| below).starts_with(GROUPS)
    }

    /// Its path below the workspace; empty for the workspace itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of what is called `name` in it, below the workspace.
    pub fn join(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}/{name}", self.0) }
    }
}

/// Whether this is how a team is written that has a folder of its own.
fn is_other_team(text: &str) -> bool {
    text.parse::<TeamId>().is_ok_and(|team| team != TeamId::LOCAL && team.to_string() == text)
}

/// A file in the folder of a space, by a name that cannot lead out of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath {
    folder: Folder,
    name: String,
}

impl FilePath {
    /// The file of this name: one or more parts with `/` between them. Refused are an empty name, an absolute one, parts that
    /// are empty, `.` or `..` or begin with a dot, control characters, and what is too long for a file system.
    pub fn new(folder: &Folder, name: &str) -> Result<Self, Invalid> {
        let refuse = |why: &'static str| Invalid::FileName { got: crate::preview::short(name), why };
        if name.is_empty() {
            return Err(refuse("it is empty"));
        }
        if name.len() > limits::FILE_PATH_BYTES {
            return Err(refuse("it is too long"));
        }
        if name.chars().any(char::is_control) {
            return Err(refuse("it has control characters in it"));
        }
        if name.starts_with('/') || name.contains('\\') {
            return Err(refuse("it must be a path below the folder, with / between its parts"));
        }
        for part in name.split('/') {
            match part {
                "" => return Err(refuse("a part of it is empty")),
                "." | ".." => return Err(refuse("`.` and `..` lead out of the folder")),
                _ if part.starts_with('.') => return Err(refuse("hidden files are left alone")),
                _ if part.len() > limits::FILE_NAME_BYTES => return Err(refuse("a part of it is too long")),
                _ => {}
            }
        }
        Ok(Self { folder: folder.clone(), name: name.to_owned() })
    }

    /// The same of a file that is kept for memory. In the workspace itself others are refused.
    pub(crate) fn kept(folder: &Folder, name: &str) -> Result<Self, Invalid> {
        let path = Self::new(folder, name)?;
        let inside = |below: &&str| name.strip_prefix(below).is_some_and(|rest| rest.starts_with('/'));
        if folder.0.is_empty() && !folder.kept_below().iter().any(inside) {
            let got = crate::preview::short(name);
            return Err(Invalid::FileName {
                got,
                why: "here only what is below memory/ and conversations/ is kept",
            });
        }
        Ok(path)
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its path below that folder.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The path below the workspace.
impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.folder.join(&self.name))
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since the epoch.
    pub modified: i64,
    /// Which file it is: another one where an editor wrote a new file and renamed it.
    pub inode: u64,
}

impl Stamp {
    /// Of a file that is not there any more. None that is there has it.
    pub const GONE: Self = Self { size: u64::MAX >> 1, modified: i64::MIN, inode: 0 };

    /// When it was last written.
    pub fn modified_at(&self) -> Timestamp {
        Timestamp::from_micros(self.modified.div_euclid(1_000))
    }

    /// Whether it will do at `now` to tell this state from any later one. A file that was written a moment ago may be written
    /// again within what the clock of its file system can tell apart.
    pub fn is_settled(&self, now: Timestamp) -> bool {
        self.modified_at().plus_millis(2_000) < now
    }
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Which.
    pub path: FilePath,
    /// How it is now.
    pub stamp: Stamp,
}

/// The files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The files, by their names.
    pub files: Vec<FileEntry>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// What is there and is not used, by its path below the workspace, and why: a link that leads out, a device, a name that
    /// is none. No more than a few are named.
    pub refused: Vec<(String, String)>,
    /// The workspace itself is not there; nothing can be told of its files. It may be on a disk that comes back.
    pub absent: bool,
}

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How it was then. Bytes and stamp are of one state, as far as can be told.
    pub stamp: Stamp,
}

/// Characters of a SHA-256, hexadecimal.
pub(crate) const HASH_CHARS: usize = 64;

/// SHA-256 of bytes, hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Bytes as text: without the mark of byte order, and with `�` for what is none.
pub(crate) fn text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether bytes are not meant to be read by people: they have a zero among the first few.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_192).any(|byte| *byte == 0)
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The byte at which the entry begins.
    pub start: u64,
    /// Whether the file was made for it.
    pub created: bool,
}

/// A text that a file had before it was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Previous {
    /// What it is called by: the time at which it was replaced, such as `2026-05-27T09-30-00.000000Z`.
    pub id: String,
    /// When it was replaced.
    pub at: Timestamp,
    /// Its size in bytes.
    pub size: u64,
}

/// A file that was made together with a memory, and is to stay only if the memory was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pledge {
    /// The file.
    pub path: FilePath,
    /// The memory.
    pub memory: MemoryId,
}

/// A file whose entries are mirrored, as it was when they last were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredFile {
    /// Its path below the workspace.
    pub path: String,
    /// How it was.
    pub stamp: Stamp,
    /// What it said, as a hash of its bytes.
    pub digest: [u8; 32],
    /// Whether the stamp will do to tell whether it has changed since; see [`Stamp::is_settled`].
    pub settled: bool,
}

/// A file that was imported, as it was then, and the memory of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its path.
    pub path: String,
    /// How it was.
    pub stamp: Stamp,
    /// What it said, as a hash of its bytes.
    pub digest: [u8; 32],
    /// Whether the stamp will do to tell whether it has changed since; see [`Stamp::is_settled`].
    pub settled: bool,
    /// The memory.
    pub memory: MemoryId,
    /// How that stands.
    pub standing: Standing,
}

/// An entry of a file, as a memory mirrors it. Its identity is path, hash and occurrence, never the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredEntry {
    /// The memory.
    pub id: MemoryId,
    /// The hash of what it says.
    pub hash: ContentHash,
    /// Which of several entries with the same text it is, from 0.
    pub occurrence: u32,
    /// The line where it begins, from 1.
    pub line: u32,
    /// The headings above it.
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
