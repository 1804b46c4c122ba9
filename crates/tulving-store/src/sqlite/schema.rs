//! Compares the tables, indexes and triggers of a database with those that Tulving creates.
//!
//! A file with our mark may still contain tables, triggers or indexes that another program created. A restore refuses
//! such a file; `tulving doctor` reports it.

use std::path::Path;

use rusqlite::Connection;
use tulving_core::model::error::StoreError;
use tulving_core::model::time::Timestamp;

use super::failure::SqliteError;
use super::migrate;

/// The names of the objects that differ from those that Tulving creates or that are missing, such as `trigger spy`.
pub(super) fn differences(connection: &Connection) -> Result<Vec<String>, SqliteError> {
    let objects = |connection: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare(
            "SELECT type || ' ' || name, coalesce(sql, '') FROM main.sqlite_schema \
             WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY 1",
        )?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    };
    let mut model = Connection::open_in_memory()?;
    migrate::run(&mut model, Path::new(":memory:"), Timestamp::from_micros(0), || Ok(()))?;
    let (found, known) = (objects(connection)?, objects(&model)?);
    let other = found.iter().filter(|object| !known.contains(object));
    let mut names: Vec<String> = other
        .chain(known.iter().filter(|object| !found.contains(object)))
        .map(|(name, _)| name.clone())
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns an error if a file contains other objects than those that Tulving creates.
pub(super) fn refuse_other(connection: &Connection, from: &Path) -> Result<(), SqliteError> {
    match differences(connection)?.first() {
        None => Ok(()),
        Some(name) => {
            let why = format!("its {name} was changed");
            Err(StoreError::Foreign { path: from.to_owned(), why }.into())
        }
    }
}
