//! Dumps all content, and loads it as one transaction. A dump reads one page per short read transaction, so a long dump
//! delays nobody.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, Row, TransactionBehavior, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::record::{DUMP_FORMAT, DumpPosition, MemoryRecord, Record};
use tulving_core::ports::{LoadWork, Stage, Transfer};

use super::failure::SqliteError;
use super::rows::{self, AROUND, ASSOCIATION, AUDIT, CURRENT, ColumnReader, FIELDS, MEMORIES, TURN, VERSION};
use super::stage::StagedLines;
use super::{SqliteStore, apply};

/// Number of content bytes after which a page ends early.
const PAGE_BYTES: usize = 16 << 20;

/// One kind of record: the statement that returns its rows after the row `?1`, with the row number first, and the
/// function that reads one row.
struct DumpSection {
    sql: String,
    read: fn(&mut ColumnReader<'_>) -> rusqlite::Result<Record>,
}

impl Transfer for SqliteStore {
    fn attached(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT DISTINCT attachment_key FROM memories WHERE attachment_key > ?1 ORDER BY attachment_key LIMIT ?2",
            )?;
            let keys = statement.query_map(params![after.unwrap_or_default(), rows::limit(limit)], |row| row.get(0))?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }

    fn stage(&self) -> Result<Box<dyn Stage>, StoreError> {
        Ok(Box::new(StagedLines::within(self.home.path().to_owned())?))
    }

    fn load(&self, work: &mut LoadWork<'_>) -> Result<bool, StoreError> {
        let last = Cell::new(None);
        let commits = self.write(|writer, allowed| {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            allowed()?;
            let mut erased = false;
            let commits = work(&mut |changes| {
                let cut = apply::cut(&transaction, changes);
                let done = cut.and_then(|cut| apply::within(&transaction, changes, &cut));
                let (applied, erases) = done.map_err(|fault| self.explain(fault))?;
                erased |= erases;
                last.set(applied.seq.max(last.get()));
                Ok(applied)
            });
            if !commits {
                transaction.rollback()?;
                return Ok(false);
            }
            transaction.commit()?;
            if erased {
                self.scrub.ask();
            }
            Ok(true)
        })?;
        if let Some(seq) = last.get().filter(|_| commits) {
            self.head.fetch_max(seq.0, Ordering::Relaxed);
        }
        Ok(commits)
    }

    fn dump(
        &self,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), StoreError> {
        self.read_steadily(|reader| page(reader, position, limit.max(1)))
    }
}

fn page(
    reader: &Connection,
    mut position: DumpPosition,
    limit: usize,
) -> Result<(Vec<Record>, Option<DumpPosition>), SqliteError> {
    let mut records = Vec::new();
    if position.section == 0 {
        let written_by = concat!("tulving ", env!("CARGO_PKG_VERSION")).to_owned();
        records.push(Record::Dump {
            format: DUMP_FORMAT,
            written_by,
            holds: Vec::new(),
            left_out: Vec::new(),
        });
        position = DumpPosition { section: 1, after: i64::MIN, ..position };
    }
    let sections = sections();
    let mut bytes = 0;
    while let Some(section) = sections.get(usize::from(position.section) - 1) {
        let mut statement = reader.prepare_cached(&section.sql)?;
        let mut found = statement.query([position.after])?;
        while let Some(row) = found.next()? {
            if records.len() == limit || bytes >= PAGE_BYTES {
                return Ok((records, Some(position)));
            }
            let record = read(reader, section, row, &mut position)?;
            bytes += weight(&record);
            records.push(record);
        }
        position = DumpPosition { section: position.section + 1, after: i64::MIN, ..position };
    }
    Ok((records, None))
}

fn read(
    reader: &Connection,
    section: &DumpSection,
    row: &Row<'_>,
    position: &mut DumpPosition,
) -> Result<Record, SqliteError> {
    let mut columns = ColumnReader::of(row);
    position.after = columns.take()?;
    let mut record = (section.read)(&mut columns)?;
    if let Record::Memory(memory) = &mut record {
        let mut statement = reader.prepare_cached(&format!(
            "SELECT {VERSION} FROM versions v WHERE v.memory = ?1 ORDER BY v.version"
        ))?;
        let versions = statement.query_map(params![position.after], rows::version)?;
        memory.versions = versions.collect::<Result<_, _>>()?;
    }
    Ok(record)
}

/// The sections in the order of [`Record`], without the header of the dump.
fn sections() -> [DumpSection; 9] {
    let of = |columns: &str, from: &str, row: &str, read| DumpSection {
        sql: format!("SELECT {row}, {columns} FROM {from} WHERE {row} > ?1 ORDER BY {row}"),
        read,
    };
    // A mirrored memory and its links are created again from its file, so they are not dumped.
    let records = |columns: &str, from: &str, row: &str, of: &[&str], read| {
        let records: Vec<String> = of.iter().map(|name| format!("{name}.mirror_line IS NULL")).collect();
        let records = records.join(" AND ");
        let sql =
            format!("SELECT {row}, {columns} FROM {from} WHERE {row} > ?1 AND {records} ORDER BY {row}");
        DumpSection { sql, read }
    };
    [
        of("id, name", "orgs", "row", |columns| rows::org(columns).map(Record::Org)),
        of("id, org, name", "teams", "row", |columns| rows::team(columns).map(Record::Team)),
        of("id, name, kind, created_at", "principals", "row", |columns| {
            rows::principal(columns).map(Record::Principal)
        }),
        of("id, team, name, kind, created_at, next_number, next_turn", "spaces", "row", |columns| {
            let space = rows::space(columns)?;
            Ok(Record::Space { space, next_number: columns.count()?, next_turn: columns.count()? })
        }),
        of("principal, realm, of, role", "members", "row", |columns| {
            rows::member(columns).map(Record::Member)
        }),
        records(&format!("{AROUND}, {FIELDS}, NULL, {CURRENT}"), MEMORIES, "m.row", &["m"], |columns| {
            let memory = rows::memory_from(columns)?;
            let current = rows::current(columns)?;
            Ok(Record::Memory(Box::new(MemoryRecord { memory, versions: Vec::new(), current })))
        }),
        records(
            ASSOCIATION,
            "associations a JOIN memories s ON s.row = a.source JOIN memories t ON t.row = a.target",
            "a.row",
            &["s", "t"],
            |columns| rows::association(columns).map(Record::Association),
        ),
        of(TURN, "turns", "row", |columns| rows::turn(columns).map(Record::Turn)),
        of(AUDIT, "audit a", "a.row", |columns| rows::audit(columns).map(Record::Audit)),
    ]
}

fn weight(record: &Record) -> usize {
    match record {
        Record::Memory(record) => {
            let past = record.versions.iter().map(|version| version.fields.text.content.len());
            record.memory.fields.text.content.len() + past.sum::<usize>()
        }
        Record::Turn(turn) => turn.content.len(),
        _ => 0,
    }
}
