//! Reads what other memories have kept, from their own files, and changes nothing of it.
//!
//! [`find`] recognises what is there by its content, never by its name; [`of`] takes the word of whoever knows. What comes of it
//! is in our words, for [`Engine::adopt`](tulving_core::Engine::adopt) and
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

use tulving_core::foreign::{Collection, Diary};
use tulving_core::vocabulary::System;

pub use self::error::ForeignError;

use self::database::Database;
use self::json::Json;

/// The data of another system, recognised.
pub struct Source {
    path: PathBuf,
    system: System,
    data: Data,
}

enum Data {
    Database,
    Json(Json),
    Folder,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Memories.
    Memories(Collection),
    /// Journals.
    Journals(Diary),
}

/// Recognises the data of another system: a database by its tables, JSON by its shape, a folder by what is in it. `None` where it
/// is none, and so an ordinary file or folder.
pub fn find(path: &Path) -> Result<Option<Source>, ForeignError> {
    let source = |system, data| Some(Source { path: path.to_owned(), system, data });
    if path.is_dir() {
        return Ok(maven::folder(path).and_then(|_| source(System::Maven, Data::Folder)));
    }
    let header = database::header(path)?;
    if header.starts_with(database::MAGIC) {
        let database = Database::open(path)?;
        return match whose(&database)? {
            Some(system) => Ok(source(system, Data::Database)),
            None => Err(ForeignError::Unknown { path: path.to_owned(), found: database.tables()? }),
        };
    }
    if is_named_like_a_database(path) {
        return Err(ForeignError::NotADatabase { path: path.to_owned() });
    }
    if !header.iter().copied().find(|byte| is_ink(*byte)).is_some_and(|byte| matches!(byte, b'{' | b'[')) {
        return Ok(None);
    }
    // A file that only begins like JSON, or is so large, is a document.
    let json = match json::read(path) {
        Err(ForeignError::NotJson { .. } | ForeignError::TooLarge { .. }) => return Ok(None),
        read => read?,
    };
    Ok(json.and_then(|json| source(told(&json)?, Data::Json(json))))
}

/// The data of this system. Whether it is that is for [`Source::read`] to say, where it cannot be told at once.
pub fn of(path: &Path, system: System) -> Result<Source, ForeignError> {
    let not = |why: &str| ForeignError::NotOf { path: path.to_owned(), system, why: why.to_owned() };
    let data = match system {
        System::Max | System::Spacebot | System::Groups => {
            Database::open(path)?;
            Data::Database
        }
        System::Memax | System::Mcp | System::Chat => {
            Data::Json(json::read(path)?.ok_or_else(|| not("it does not begin like JSON"))?)
        }
        System::Maven if path.is_dir() => Data::Folder,
        System::Maven => {
            return Err(ForeignError::NotAFile { path: path.to_owned(), is: "a file", needs: "a folder" });
        }
    };
    Ok(Source { path: path.to_owned(), system, data })
}

/// Which system's data a path holds; `None` where that cannot be told. For a look in passing: nothing of it is an error.
pub fn glance(path: &Path) -> Option<System> {
    let header = database::header(path).ok()?;
    if !header.starts_with(database::MAGIC) {
        return None;
    }
    whose(&Database::open(path).ok()?).ok()?
}

impl Source {
    /// The system.
    pub fn system(&self) -> System {
        self.system
    }

    /// Reads all of it. `group` says which of several groups is meant.
    pub fn read(&self, group: Option<&str>) -> Result<Found, ForeignError> {
        let note = self.path.file_name().and_then(|name| name.to_str()).unwrap_or(self.system.as_str());
        let mut found = match &self.data {
            Data::Folder => return maven::read(&self.path).map(Found::Journals),
            Data::Database => self.rows(group, note)?,
            Data::Json(json) => {
                let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(note);
                let read = match self.system {
                    System::Mcp => mcp::read(json, note),
                    System::Chat => chat::read(json, stem, note),
                    _ => memax::read(json, note),
                };
                read.ok_or_else(|| self.not("there is no list of what it should hold"))?
            }
        };
        found.memories.sort_by_key(|memory| memory.times.created_at);
        Ok(Found::Memories(found))
    }

    /// Reads a database; again where somebody has written to it meanwhile.
    fn rows(&self, group: Option<&str>, note: &str) -> Result<Collection, ForeignError> {
        for _ in 0..database::ROUNDS {
            let database = Database::open(&self.path)?;
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

/// Whose database it is, by its tables and their columns.
fn whose(database: &Database) -> Result<Option<System>, ForeignError> {
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

/// Whose JSON it is, by its shape.
fn told(json: &Json) -> Option<System> {
    if mcp::is(json) {
        Some(System::Mcp)
    } else if chat::is(json) {
        Some(System::Chat)
    } else {
        memax::is(json).then_some(System::Memax)
    }
}

/// Whether a byte is neither white space nor part of a byte order mark.
fn is_ink(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf)
}

/// Whether the name of a file says that it is a database.
pub fn is_named_like_a_database(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "db" | "sqlite" | "sqlite3")
}
