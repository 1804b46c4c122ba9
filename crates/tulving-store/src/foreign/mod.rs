//! Reads the data of other memory systems from their own files, and never changes these files.
//!
//! [`find`] recognises the data by its content, never by its name. [`of`] uses the system that the caller names. The
//! data is converted to Tulving's types, for [`Engine::adopt`](tulving_core::Engine::adopt) and
//! [`Engine::take_journals`](tulving_core::Engine::take_journals).

mod chat;
mod database;
mod error;
mod groups;
mod json;
mod maven;
mod max;
mod mcp;
mod memax;
mod spacebot;
mod table;
mod words;

use std::path::{Path, PathBuf};

use tulving_core::model::foreign::{ForeignCollection, ForeignWorkspace};
use tulving_core::model::vocabulary::System;

pub use self::error::ForeignError;

use self::database::ForeignDatabase;
use self::json::ForeignJson;

/// The data of another system, whose format is known.
pub struct ForeignSource {
    path: PathBuf,
    system: System,
    data: ForeignStorage,
}

enum ForeignStorage {
    Database,
    Json(ForeignJson),
    Folder,
}

/// The data that was read.
#[derive(Clone, Debug)]
pub enum ForeignContent {
    /// Memories.
    Memories(ForeignCollection),
    /// Journals.
    Journals(ForeignWorkspace),
}

/// Recognises the data of another system: a database by its tables, JSON by its structure, a folder by its content.
/// Returns `None` for an ordinary file or folder.
pub fn find(path: &Path) -> Result<Option<ForeignSource>, ForeignError> {
    let source = |system, data| Some(ForeignSource { path: path.to_owned(), system, data });
    if path.is_dir() {
        return Ok(maven::folder(path).and_then(|_| source(System::Maven, ForeignStorage::Folder)));
    }
    let header = database::header(path)?;
    if header.starts_with(database::MAGIC) {
        let database = ForeignDatabase::open(path)?;
        return match whose(&database)? {
            Some(system) => Ok(source(system, ForeignStorage::Database)),
            None => Err(ForeignError::Unknown { path: path.to_owned(), found: database.tables()? }),
        };
    }
    if is_named_like_a_database(path) {
        return Err(ForeignError::NotADatabase { path: path.to_owned() });
    }
    if !header.iter().copied().find(|byte| is_ink(*byte)).is_some_and(|byte| matches!(byte, b'{' | b'[')) {
        return Ok(None);
    }
    // A file that only begins like JSON, or is too large, is treated as a document.
    let json = match json::read(path) {
        Err(ForeignError::NotJson { .. } | ForeignError::TooLarge { .. }) => return Ok(None),
        read => read?,
    };
    Ok(json.and_then(|json| source(described(&json)?, ForeignStorage::Json(json))))
}

/// Opens the data of this system. If the data cannot be checked at once, [`ForeignSource::read`] checks it.
pub fn of(path: &Path, system: System) -> Result<ForeignSource, ForeignError> {
    let not = |why: &str| ForeignError::NotOf { path: path.to_owned(), system, why: why.to_owned() };
    let data = match system {
        System::Max | System::Spacebot | System::Groups => {
            ForeignDatabase::open(path)?;
            ForeignStorage::Database
        }
        System::Memax | System::Mcp | System::Chat => {
            ForeignStorage::Json(json::read(path)?.ok_or_else(|| not("it does not begin like JSON"))?)
        }
        System::Maven if path.is_dir() => ForeignStorage::Folder,
        System::Maven => {
            return Err(ForeignError::NotAFile { path: path.to_owned(), is: "a file", needs: "a folder" });
        }
    };
    Ok(ForeignSource { path: path.to_owned(), system, data })
}

/// Returns the system that wrote the database at a path. Returns `None` for other files, and if an error occurs.
pub fn glance(path: &Path) -> Option<System> {
    let header = database::header(path).ok()?;
    if !header.starts_with(database::MAGIC) {
        return None;
    }
    whose(&ForeignDatabase::open(path).ok()?).ok()?
}

impl ForeignSource {
    /// Returns the system that wrote the data.
    pub fn system(&self) -> System {
        self.system
    }

    /// Reads all of the data. `group` selects one of several groups.
    pub fn read(&self, group: Option<&str>) -> Result<ForeignContent, ForeignError> {
        let note = self.path.file_name().and_then(|name| name.to_str()).unwrap_or(self.system.as_str());
        let mut found = match &self.data {
            ForeignStorage::Folder => return maven::read(&self.path).map(ForeignContent::Journals),
            ForeignStorage::Database => self.rows(group, note)?,
            ForeignStorage::Json(json) => {
                let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(note);
                let read = match self.system {
                    System::Mcp => mcp::read(json, note),
                    System::Chat => chat::read(json, stem, note),
                    _ => memax::read(json, note),
                };
                read.ok_or_else(|| self.not("there is no list of the expected items"))?
            }
        };
        found.memories.sort_by_key(|memory| memory.times.created_at);
        Ok(ForeignContent::Memories(found))
    }

    /// Reads a database. If another program has written to the database in the meantime, reads it again.
    fn rows(&self, group: Option<&str>, note: &str) -> Result<ForeignCollection, ForeignError> {
        for _ in 0..database::ROUNDS {
            let database = ForeignDatabase::open(&self.path)?;
            let memories =
                database.table("memories")?.ok_or_else(|| self.not("it has no table `memories`"))?;
            let needed = match self.system {
                System::Spacebot => spacebot::NEEDED,
                System::Groups => groups::NEEDED,
                _ => max::NEEDED,
            };
            if let Some(column) = memories.lacks(needed) {
                return Err(self.not(&format!("its table `memories` has no column `{column}`")));
            }
            let read = match self.system {
                System::Spacebot => spacebot::read(&database, &memories, note)?,
                System::Groups => groups::read(&database, &memories, group, note)?,
                _ => max::read(&database, &memories, note)?,
            };
            if database.is_as_it_was()? {
                return Ok(read);
            }
        }
        Err(ForeignError::Busy { path: self.path.clone() })
    }

    fn not(&self, why: &str) -> ForeignError {
        ForeignError::NotOf { path: self.path.clone(), system: self.system, why: why.to_owned() }
    }
}

/// Returns the system that wrote a database, by the tables and their columns.
fn whose(database: &ForeignDatabase) -> Result<Option<System>, ForeignError> {
    let Some(memories) = database.table("memories")? else { return Ok(None) };
    Ok(if memories.lacks(spacebot::NEEDED).is_none() {
        Some(System::Spacebot)
    } else if memories.lacks(groups::NEEDED).is_none() {
        Some(System::Groups)
    } else if max::is(database, &memories)? {
        Some(System::Max)
    } else {
        None
    })
}

/// Returns the system that wrote a JSON file, by its structure.
fn described(json: &ForeignJson) -> Option<System> {
    if mcp::is(json) {
        Some(System::Mcp)
    } else if chat::is(json) {
        Some(System::Chat)
    } else {
        memax::is(json).then_some(System::Memax)
    }
}

/// Returns true if a byte is neither white space nor part of a byte order mark.
fn is_ink(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf)
}

/// Returns true if the file has the name of a database.
pub fn is_named_like_a_database(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "db" | "sqlite" | "sqlite3")
}
