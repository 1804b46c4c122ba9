//! The copies of the store in its home. They may contain text that was erased later.
//!
//! Every erasure gives the store a new mark. A copy with a different mark was made before the last erasure. A copy with
//! the same mark contains only content that the store also contains.

use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::HEXLOWER;
use rusqlite::{Connection, OptionalExtension};
use tulving_core::model::time::Timestamp;

use super::failure::SqliteError;
use super::{open, scrub};
use crate::home::Home;
use crate::{archive, draft};

/// The time to wait if another process is writing a copy.
const PATIENCE: Duration = Duration::from_millis(100);

/// The key of the mark.
const ERASURE: &str = "erasure";

/// The mark of the last erasure; `None` if nothing was ever erased.
type ErasureMark = Option<[u8; 16]>;

/// A time in the name of a copy, in a form that sorts by time.
pub(crate) fn time_in_name(at: Timestamp) -> String {
    at.to_string().replace([':', '-', '.'], "")
}

/// Gives the store a new mark, inside the transaction that erases content.
pub(super) fn mark_erasure(transaction: &Connection) -> rusqlite::Result<()> {
    let mut statement = transaction
        .prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, randomblob(16))")?;
    statement.execute([ERASURE]).map(drop)
}

/// Gives one database the mark of another, so that the status of its existing copies does not change.
pub(super) fn take_over_mark(from: &Connection, to: &Connection) -> rusqlite::Result<()> {
    to.execute("DELETE FROM meta WHERE name = ?1", [ERASURE])?;
    if let Some(mark) = mark(from)? {
        to.execute("INSERT INTO meta (name, value) VALUES (?1, ?2)", rusqlite::params![ERASURE, mark])?;
    }
    Ok(())
}

/// The copies in the home's backups that may contain erased text, sorted by name.
pub(super) fn with_erased_text(live: &Connection, home: &Home) -> Result<Vec<PathBuf>, SqliteError> {
    let Some(mark) = mark(live)? else {
        return Ok(Vec::new());
    };
    let mut copies = all(home);
    copies.retain(|path| !is_clean(path, mark));
    Ok(copies)
}

/// The copies in the home's backups, sorted by name.
pub(super) fn all(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = home.backups().read_dir() else {
        return Vec::new();
    };
    let copies = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut copies: Vec<PathBuf> = copies.filter(|path| is_copy(path)).collect();
    copies.sort();
    copies
}

pub(super) fn mark(connection: &Connection) -> rusqlite::Result<ErasureMark> {
    connection.query_row("SELECT value FROM meta WHERE name = ?1", [ERASURE], |row| row.get(0)).optional()
}

fn is_copy(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    (name.ends_with(b".db") || name.ends_with(b".tar"))
        && !name.starts_with(draft::PREFIX.as_bytes())
        && path.is_file()
}

/// Returns true if nothing was erased since a copy was made. Returns false if the copy cannot be read.
fn is_clean(path: &Path, erased: [u8; 16]) -> bool {
    if let Some(header) = archive::header_of(path) {
        return header.erasure == Some(HEXLOWER.encode(&erased)) && !header.erased_text_left;
    }
    let look = || -> Result<bool, SqliteError> {
        let copy = open::connect_read_only(path, PATIENCE)?;
        // Until the file is rewritten, unused parts of its pages may contain deleted text.
        Ok(mark(&copy)? == Some(erased) && scrub::rewrite_pending(&copy)? == 0)
    };
    look().unwrap_or(false)
}
