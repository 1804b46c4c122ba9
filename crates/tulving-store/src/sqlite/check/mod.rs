//! A check of the store and its files: it lists the parts that are fine, need attention, or are broken.

mod embedding;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::MemoryId;
use tulving_core::model::integrity::{
    MemoryAttachment, MirroredMemory, StoreCheckDepth, StoreCheckFinding, StoreCheckReport,
};
use tulving_core::model::job;
use tulving_core::ports::IntegrityChecks;
use tulving_core::text::normalize;

use super::failure::SqliteError;
use super::open::{APPLICATION_ID, DatabaseMarks};
use super::rows::ColumnReader;
use super::{SqliteStore, attached, copies, migrate, rows, schema, scrub, sums};
use crate::{draft, files};

/// If the log is larger than this, its content has not been moved into the database for a long time, because some
/// process has kept a read open.
const LARGE_LOG: u64 = 256 << 20;
/// If fewer bytes are free, the disk counts as full.
const SCARCE_DISK: u64 = 100 << 20;
/// Number of contents that a check compares with their hashes, unless it is a deep check.
const SAMPLE: i64 = 1_000;
/// Maximum number of faults of one kind that a finding names.
const NAMED: usize = 5;

/// Adds findings to a report.
trait AddFindings {
    fn fine(&mut self, name: &'static str, text: impl Into<String>);
    fn warn(&mut self, name: &'static str, text: impl Into<String>, hint: &'static str);
    fn bad(&mut self, name: &'static str, text: impl Into<String>, hint: &'static str);

    /// Adds a bad finding that names the faults. If there are no faults, adds a fine finding.
    fn faults(&mut self, name: &'static str, good: &str, faults: &[String], hint: &'static str) {
        match faults {
            [] => self.fine(name, good),
            _ => self.bad(name, some(faults), hint),
        }
    }
}

impl AddFindings for StoreCheckReport {
    fn fine(&mut self, name: &'static str, text: impl Into<String>) {
        self.findings.push(StoreCheckFinding::fine(name, text));
    }

    fn warn(&mut self, name: &'static str, text: impl Into<String>, hint: &'static str) {
        self.findings.push(StoreCheckFinding::warn(name, text, hint));
    }

    fn bad(&mut self, name: &'static str, text: impl Into<String>, hint: &'static str) {
        self.findings.push(StoreCheckFinding::bad(name, text, hint));
    }
}

const RESTORE: &str =
    "restore a backup with `tulving backup restore FILE`; before that, save the output of `tulving dump`";
const REPORT: &str =
    "keep a copy of the home and report it; `tulving dump` and `tulving load` into a new home repair it";

const OTHERS: &str =
    "remove what another program has put there, or `tulving dump` and `tulving load` into a new home";

/// The queries for rows that refer to missing rows, one for each kind.
const ORPHANS: &[(&str, &str)] = &[
    (
        "associations without their source",
        "SELECT count(*) FROM associations WHERE source NOT IN (SELECT row FROM memories)",
    ),
    (
        "associations without their target",
        "SELECT count(*) FROM associations WHERE target NOT IN (SELECT row FROM memories)",
    ),
    ("chunks without a memory", "SELECT count(*) FROM chunks WHERE memory NOT IN (SELECT row FROM memories)"),
    (
        "vectors without a chunk",
        "SELECT count(*) FROM vectors v WHERE NOT EXISTS \
         (SELECT 1 FROM chunks c WHERE c.memory = v.memory AND c.ordinal = v.ordinal)",
    ),
    (
        "versions without a memory",
        "SELECT count(*) FROM versions WHERE memory NOT IN (SELECT row FROM memories)",
    ),
    (
        "source paths without a memory",
        "SELECT count(*) FROM source_paths WHERE memory NOT IN (SELECT row FROM memories WHERE source_path IS NOT NULL)",
    ),
    (
        "source paths of two memories",
        "SELECT count(*) FROM source_paths s JOIN memories m ON m.row = s.memory WHERE m.forgotten_at IS NULL AND EXISTS \
         (SELECT 1 FROM memories o WHERE o.source_path = s.path AND o.row <> m.row AND o.space = m.space \
          AND o.audience = m.audience AND o.forgotten_at IS NULL AND o.mirror_line IS NULL)",
    ),
    (
        "access counts without a memory",
        "SELECT count(*) FROM usage WHERE memory NOT IN (SELECT row FROM memories)",
    ),
    (
        "memories without a chunk",
        "SELECT count(*) FROM memories WHERE row NOT IN (SELECT memory FROM chunks)",
    ),
    ("memories without a space", "SELECT count(*) FROM memories WHERE space NOT IN (SELECT id FROM spaces)"),
    (
        "memberships of nothing",
        "SELECT count(*) FROM members WHERE of NOT IN \
         (SELECT id FROM spaces UNION ALL SELECT id FROM teams UNION ALL SELECT id FROM orgs)",
    ),
];

impl IntegrityChecks for SqliteStore {
    fn check(&self, depth: StoreCheckDepth) -> Result<StoreCheckReport, StoreError> {
        let mut checkup = StoreCheckReport::default();
        self.read(|reader| {
            marks(reader, &mut checkup)?;
            self.journal(reader, &mut checkup)?;
            structure(reader, &mut checkup)?;
            orphans(reader, &mut checkup)?;
            numbers(reader, &mut checkup)?;
            contents(reader, depth, &mut checkup)
        })?;
        // The current model and its waiting memories are compared, so both must be read in one transaction.
        self.read_steadily(|reader| embedding::look(reader, &mut checkup))?;
        if depth == StoreCheckDepth::Deep {
            self.read_steadily(|reader| checksums(reader, &mut checkup))?;
        }
        self.read(|reader| {
            if depth == StoreCheckDepth::Deep {
                versions(reader, &mut checkup)?;
            }
            pending_work(reader, &mut checkup)?;
            self.copies(reader, &mut checkup)
        })?;
        self.drafts(&mut checkup);
        self.permissions(&mut checkup);
        self.room(&mut checkup);
        Ok(checkup)
    }

    fn memories_with_attachments(&self) -> Result<Vec<MemoryAttachment>, StoreError> {
        self.read(attached::with_attachments)
    }

    fn mirrored_memories(&self) -> Result<Vec<MirroredMemory>, StoreError> {
        self.read(attached::mirrored)
    }
}

impl SqliteStore {
    /// Checks the journal mode. SQLite reports `delete` for every file that it opens as unchanging. In a read-only
    /// home, this function therefore reads the header of the file.
    fn journal(&self, reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
        let mode: String = reader.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        let marked = || self.home.is_read_only() && is_marked_as_logged(&self.home.database());
        if mode == "wal" || marked() {
            checkup.fine("journal", "write-ahead log");
        } else {
            checkup.bad(
                "journal",
                format!("the journal mode is {mode}"),
                "open the store once with Tulving alone",
            );
        }
        Ok(())
    }

    /// Names the copies that may contain erased text. They belong to the owner of the home, so a check does not delete
    /// them.
    fn copies(&self, reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
        let copies = copies::with_erased_text(reader, &self.home)?;
        if copies.is_empty() {
            checkup.fine("copies", "no copy in `backups` is older than the last erasure");
            return Ok(());
        }
        let text = format!("erased text may still be in copies made before: {}", some(&shown(&copies)));
        checkup.warn("copies", text, "delete these files once you are sure that you need none of them");
        Ok(())
    }

    fn drafts(&self, checkup: &mut StoreCheckReport) {
        let folders = [self.home.path().to_owned(), self.home.backups()];
        let left: Vec<PathBuf> = folders.iter().flat_map(|folder| draft::left_behind(folder)).collect();
        if left.is_empty() {
            checkup.fine("drafts", "no unfinished copy was left behind");
            return;
        }
        let text = format!("unfinished copies were left behind: {}", some(&shown(&left)));
        checkup.warn("drafts", text, "delete them, or open the store again, which removes them");
    }

    fn permissions(&self, checkup: &mut StoreCheckReport) {
        let home = &self.home;
        let mut private = ["", "-wal", "-shm"].map(|suffix| files::beside(&self.file, suffix)).to_vec();
        // The configuration file is private, too, because addresses in it may contain passwords.
        private.extend([home.token_file(), home.config_file()]);
        private.extend(copies::all(home));
        let open = |path: &Path, most: u32| match files::mode(path) {
            Some(mode) if mode & !most != 0 => Some(format!("{} has mode {mode:04o}", path.display())),
            _ => None,
        };
        let mut loose: Vec<String> = open(home.path(), 0o700).into_iter().collect();
        loose.extend(private.iter().filter_map(|path| open(path, 0o600)));
        if loose.is_empty() {
            checkup.fine("permissions", "only the owner may read the home");
        } else {
            let hint = "make folders 0700 and files 0600 with chmod";
            checkup.warn("permissions", some(&loose), hint);
        }
    }

    /// Returns an error if the log is truncated. All content may still be readable, but the next save would be lost.
    fn require_whole_log(&self) -> Result<(), StoreError> {
        self.attached(|live| live.place.require_whole(&live.writer()))
    }

    fn room(&self, checkup: &mut StoreCheckReport) {
        let log = files::beside(&self.file, "-wal").metadata().map_or(0, |log| log.len());
        let text = format!("the write-ahead log has {}", size(log));
        if let Err(error) = self.require_whole_log() {
            checkup.bad(
                "log size",
                error.to_string(),
                "stop all processes of this home and start them again",
            );
        } else if log > LARGE_LOG {
            checkup.warn(
                "log size",
                text,
                "some process never stops reading; find it, or stop all processes and open the store once",
            );
        } else {
            checkup.fine("log size", text);
        }
        let Ok(disk) = rustix::fs::statvfs(self.home.path()) else {
            return;
        };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let text = format!("{} are free on the disk", size(free));
        if free < SCARCE_DISK {
            checkup.warn("disk space", text, "free some space; a save fails if the disk is full");
        } else {
            checkup.fine("disk space", text);
        }
    }
}

fn marks(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let marks = DatabaseMarks::read(reader)?;
    let epoch: Option<i64> =
        reader.query_row("SELECT max(length(value)) FROM meta WHERE name = 'epoch'", [], |row| row.get(0))?;
    if (marks.application_id, marks.schema) != (APPLICATION_ID, migrate::SCHEMA) {
        checkup.bad(
            "schema",
            format!("the schema is {}", marks.schema),
            "open it with the Tulving that wrote it",
        );
    } else if epoch != Some(16) {
        checkup.bad("schema", "the store has no epoch", REPORT);
    } else {
        let found = schema::differences(reader)?;
        let faults: Vec<String> = found.iter().map(|name| format!("its {name} was changed")).collect();
        checkup.faults("schema", &format!("schema {}, the newest", marks.schema), &faults, OTHERS);
    }
    Ok(())
}

/// Returns true if the header of a database marks it as written with a write-ahead log: both version numbers, at the
/// bytes 18 and 19, are 2 (sqlite.org/fileformat.html, "File format version numbers").
fn is_marked_as_logged(file: &Path) -> bool {
    let mut header = [0_u8; 20];
    let read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..] == [2, 2]
}

/// Compares all stored data with its checksums.
fn checksums(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let (looked_at, faults) = sums::look(reader)?;
    let good = format!("all rows are unchanged (checked {looked_at} memories)");
    checkup.faults("checksums", &good, &faults, RESTORE);
    Ok(())
}

fn structure(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let mut statement = reader.prepare("PRAGMA integrity_check")?;
    let mut faults: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    faults.retain(|line| line != "ok");
    checkup.faults("integrity", "tables and indexes agree", &faults, RESTORE);
    let mut statement = reader.prepare("PRAGMA foreign_key_check")?;
    let broken = statement.query_map([], |row| {
        let (table, row, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("row {} of {table} references a missing row of {parent}", row.unwrap_or(0)))
    })?;
    let broken: Vec<String> = broken.collect::<Result<_, _>>()?;
    checkup.faults("foreign keys", "every reference is met", &broken, REPORT);
    Ok(())
}

fn orphans(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let mut faults = Vec::new();
    for (what, sql) in ORPHANS {
        let count: i64 = reader.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            faults.push(format!("{count} {what}"));
        }
    }
    checkup.faults("orphans", "every row has its owner", &faults, REPORT);
    Ok(())
}

fn numbers(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let mut statement = reader.prepare(
        "SELECT s.name, s.next_number, s.next_turn, \
           coalesce((SELECT max(number) FROM memories WHERE space = s.id), 0), \
           coalesce((SELECT max(position) FROM turns WHERE space = s.id), 0) FROM spaces s",
    )?;
    let found = statement.query_map([], |row| {
        let (name, number, turn): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (highest, last): (i64, i64) = (row.get(3)?, row.get(4)?);
        let wrong = highest >= number || last >= turn;
        Ok(wrong.then(|| {
            format!("the counters of `{name}` are {number} and {turn}, and {highest} and {last} are used")
        }))
    })?;
    let faults: Vec<Option<String>> = found.collect::<Result<_, _>>()?;
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    checkup.faults("numbers", "no number can be used twice", &faults, REPORT);
    Ok(())
}

fn contents(
    reader: &Connection,
    depth: StoreCheckDepth,
    checkup: &mut StoreCheckReport,
) -> Result<(), SqliteError> {
    let limit = if depth == StoreCheckDepth::Deep { -1 } else { SAMPLE };
    let mut statement =
        reader.prepare("SELECT id, content_hash, content FROM memories ORDER BY row DESC LIMIT ?1")?;
    let mut found = statement.query([limit])?;
    let (mut looked_at, mut faults) = (0_u64, Vec::new());
    while let Some(row) = found.next()? {
        let mut columns = ColumnReader::of(row);
        let id = columns.id(MemoryId::from_bytes)?;
        let hash: [u8; 32] = columns.take()?;
        let content: String = columns.take()?;
        looked_at += 1;
        if normalize::hash(&content).0 != hash {
            faults.push(format!("the content of memory {id} does not match its hash"));
        }
    }
    checkup.faults("contents", &format!("contents are unchanged (checked {looked_at})"), &faults, RESTORE);
    Ok(())
}

/// Checks the past versions. Each has a hash of its content, as the current version does.
fn versions(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let mut statement = reader.prepare(&format!(
        "SELECT m.id, v.version, {} FROM versions v JOIN memories m ON m.row = v.memory ORDER BY v.row",
        rows::VERSION
    ))?;
    let mut found = statement.query([])?;
    let (mut looked_at, mut faults) = (0_u64, Vec::new());
    while let Some(row) = found.next()? {
        let mut columns = ColumnReader::of(row);
        let (id, number): (_, i64) = (columns.id(MemoryId::from_bytes)?, columns.take()?);
        looked_at += 1;
        match rows::version_from(&mut columns) {
            Ok(version) => {
                let text = &version.fields.text;
                if normalize::hash(&text.content) != text.content_hash {
                    let fault = format!("version {number} of memory {id} does not match its hash");
                    faults.push(fault);
                }
            }
            Err(error) => faults.push(format!("version {number} of memory {id} cannot be read: {error}")),
        }
    }
    checkup.faults(
        "versions",
        &format!("past versions are unchanged (checked {looked_at})"),
        &faults,
        RESTORE,
    );
    Ok(())
}

fn pending_work(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    // A file without readable text is no warning: its memory already reports the problem, and there may be no way to fix
    // such a file.
    let (dead, unread): (i64, i64) = reader.query_row(
        "SELECT count(*) FILTER (WHERE kind <> ?1), count(*) FILTER (WHERE kind = ?1) FROM jobs WHERE state = 'dead'",
        [job::EXTRACT],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if dead > 0 {
        let jobs = if dead == 1 { "1 job was".to_owned() } else { format!("{dead} jobs were") };
        checkup.warn("jobs", format!("{jobs} given up"), "`tulving jobs --state dead` says why");
    } else if unread > 0 {
        let files = if unread == 1 { "1 file".to_owned() } else { format!("{unread} files") };
        checkup.fine(
            "jobs",
            format!("the text of {files} could not be read; `tulving jobs --state dead` says why"),
        );
    } else {
        checkup.fine("jobs", "no job was given up");
    }
    if scrub::pending(reader)? > 0 {
        let text =
            "erased text may still be in the database or its log, because another process reads from it";
        checkup.warn("erasure", text, "the next write after that process has ended removes it");
    } else if scrub::rewrite_pending(reader)? > 0 {
        let text = "erased text may still be in unused parts of the database file";
        checkup.warn("erasure", text, "run `tulving doctor` again when no other process writes");
    } else {
        checkup.fine("erasure", "erased text is gone from the database and its log");
    }
    Ok(())
}

/// The first few of these texts, as one text.
fn some(all: &[String]) -> String {
    let named = all[..all.len().min(NAMED)].join("; ");
    let more = all.len().saturating_sub(NAMED);
    if more > 0 { format!("{named}; and {more} more") } else { named }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// A size as readable text.
fn size(bytes: u64) -> String {
    let mut value = bytes;
    for unit in ["bytes", "KiB", "MiB"] {
        if value < 10_240 {
            return format!("{value} {unit}");
        }
        value >>= 10;
    }
    format!("{value} GiB")
}
