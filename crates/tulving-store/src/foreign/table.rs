//! Reads rows of another program's tables, by the names of their columns. A missing column is empty, and unknown
//! columns are ignored.

use std::cell::Cell;
use std::collections::HashMap;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use tulving_core::model::foreign;
use tulving_core::model::preview;
use tulving_core::model::time::Timestamp;

use super::database::ForeignDatabase;
use super::error::ForeignError;

/// Maximum number of rows of a table.
const ROWS: usize = 5_000_000;
/// Maximum number of bytes of all texts of a table together.
const BYTES: u64 = 2 << 30;
/// Maximum size of a text, in bytes. A longer text is not a memory.
const TEXT_BYTES: i64 = 64 << 20;
/// Maximum number of messages of SQLite's check that are read.
const COMPLAINTS: usize = 100;

/// A table of another program.
pub(super) struct ForeignTable<'a> {
    database: &'a ForeignDatabase,
    name: &'static str,
    /// The names of the stored columns, in lower case.
    columns: Vec<String>,
    /// True if a check found no damage in the pages of the table. The read transaction keeps this result valid.
    sound: Cell<bool>,
}

impl<'a> ForeignTable<'a> {
    /// Returns the table with this name; `None` if there is no such table, or if it is a view or a virtual table.
    pub(super) fn find(
        database: &'a ForeignDatabase,
        name: &'static str,
    ) -> Result<Option<Self>, ForeignError> {
        let columns = || -> rusqlite::Result<Vec<String>> {
            let plain = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1 \
                 AND upper(ltrim(sql)) NOT LIKE 'CREATE VIRTUAL%'";
            if !database.connection.prepare(plain)?.exists([name])? {
                return Ok(Vec::new());
            }
            let sql = "SELECT lower(name) FROM pragma_table_xinfo(?1) WHERE hidden = 0";
            let mut statement = database.connection.prepare(sql)?;
            let columns = statement.query_map([name], |row| row.get(0))?;
            columns.collect()
        };
        let columns = columns().map_err(|error| database.failed(error))?;
        Ok((!columns.is_empty()).then_some(Self { database, name, columns, sound: Cell::new(false) }))
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Returns the first of these columns that the table does not have.
    pub(super) fn lacks(&self, columns: &[&'static str]) -> Option<&'static str> {
        columns.iter().copied().find(|column| !self.has(column))
    }

    /// Passes each row to `each`, in the order in which the rows were written if that order is known.
    pub(super) fn rows(
        &self,
        columns: &[&'static str],
        each: &mut dyn FnMut(&ForeignRow<'_>),
    ) -> Result<(), ForeignError> {
        self.check()?;
        let failed = |error| self.database.failed(error);
        let selected: Vec<String> = columns.iter().map(|column| self.select(column)).collect();
        let sql = format!("SELECT {} FROM \"{}\"", selected.join(", "), self.name);
        let connection = &self.database.connection;
        // A table without row ids cannot be sorted by them.
        let prepared = connection.prepare(&format!("{sql} ORDER BY rowid"));
        let mut statement = prepared.or_else(|_| connection.prepare(&sql)).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let places: HashMap<&str, usize> = columns.iter().copied().zip((0..).step_by(2)).collect();
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.next().map_err(failed)? {
            count += 1;
            if count > ROWS {
                let path = self.database.path.clone();
                return Err(ForeignError::TooMany { path, table: self.name, limit: ROWS });
            }
            let found = ForeignRow { row, places: &places, count };
            bytes += found.bytes();
            if bytes > BYTES {
                let path = self.database.path.clone();
                return Err(ForeignError::TooLarge { path, size: bytes, limit: BYTES });
            }
            each(&found);
        }
        Ok(())
    }

    /// Returns the SQL for the value of a column, which is read only if it is not too long, and for the length of the
    /// value.
    fn select(&self, column: &str) -> String {
        match self.has(column) {
            true => format!(
                "iif(octet_length(\"{column}\") > {TEXT_BYTES}, NULL, \"{column}\"), octet_length(\"{column}\")"
            ),
            false => "NULL, NULL".to_owned(),
        }
    }

    /// Refuses a table with damaged pages: a read could return arbitrary rows, and never end.
    fn check(&self) -> Result<(), ForeignError> {
        if self.sound.get() {
            return Ok(());
        }
        let complaints = || -> rusqlite::Result<Vec<String>> {
            let mut statement =
                self.database.connection.prepare(&format!("PRAGMA quick_check(\"{}\")", self.name))?;
            let complaints = statement.query_map([], |row| row.get(0))?;
            complaints.take(COMPLAINTS).collect()
        };
        let complaints = complaints().map_err(|error| self.database.failed(error))?;
        // A violation of the table's own constraints is no damage: the import checks each value itself.
        let harmless =
            ["ok", "CHECK constraint failed", "NULL value in", "NUMERIC value in", "TEXT value in"];
        let bad = |said: &&String| !harmless.iter().any(|known| said.starts_with(known));
        match complaints.iter().find(bad) {
            None => {
                self.sound.set(true);
                Ok(())
            }
            Some(said) => {
                let why = preview::cut(said, 200);
                Err(ForeignError::Damaged { path: self.database.path.clone(), why })
            }
        }
    }
}

/// A row of another program's table.
pub(super) struct ForeignRow<'a> {
    row: &'a Row<'a>,
    places: &'a HashMap<&'a str, usize>,
    /// The number of the row, counted from 1.
    pub(super) count: usize,
}

impl ForeignRow<'_> {
    fn value(&self, column: &str) -> ValueRef<'_> {
        let place = self.places.get(column).copied();
        place.and_then(|place| self.row.get_ref(place).ok()).unwrap_or(ValueRef::Null)
    }

    /// Total number of bytes of the texts of the row.
    fn bytes(&self) -> u64 {
        let length = |place: &usize| {
            self.row.get_ref(*place).ok().and_then(|value| value.as_bytes().ok()).map_or(0, <[u8]>::len)
        };
        self.places.values().map(|place| length(place) as u64).sum()
    }

    /// Returns a text; numbers are converted to text. `None` if there is no value, or if the value is not text.
    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.value(column) {
            ValueRef::Text(text) => std::str::from_utf8(text).ok().map(str::to_owned),
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    /// Returns the content of a memory, or the reason why the row has no usable content.
    pub(super) fn content(&self, column: &str) -> Result<String, String> {
        let place = self.places.get(column).copied().unwrap_or_default();
        let length =
            self.row.get_ref(place + 1).ok().and_then(|value| value.as_i64().ok()).unwrap_or_default();
        match self.value(column) {
            ValueRef::Null if length > TEXT_BYTES => {
                Err(format!("its {column} has {length} bytes and the limit is {TEXT_BYTES}"))
            }
            ValueRef::Null => Err(format!("it has no {column}")),
            ValueRef::Blob(_) => Err(format!("its {column} is bytes and not text")),
            _ => self.text(column).ok_or_else(|| format!("its {column} is not UTF-8")),
        }
    }

    pub(super) fn number(&self, column: &str) -> Option<f64> {
        match self.value(column) {
            #[expect(clippy::cast_precision_loss, reason = "numbers here are small, or times to the second")]
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Real(number) => Some(number),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            ValueRef::Null | ValueRef::Blob(_) => None,
        }
    }

    pub(super) fn whole(&self, column: &str) -> Option<i64> {
        match self.value(column) {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn time(&self, column: &str) -> Option<Timestamp> {
        match self.value(column) {
            ValueRef::Text(text) => foreign::instant_of(std::str::from_utf8(text).ok()?),
            _ => self.number(column).and_then(foreign::instant),
        }
    }

    /// Returns the value as a flag.
    pub(super) fn flag(&self, column: &str) -> bool {
        match self.value(column) {
            ValueRef::Integer(number) => number != 0,
            ValueRef::Text(text) => text.eq_ignore_ascii_case(b"true") || text == b"1",
            _ => false,
        }
    }
}
