//! Checksums of the stored data, so that a deep check finds a single flipped bit.
//!
//! SQLite detects damage to its structure, but most of a file is contents and vectors, where any bits look valid. So
//! each memory has a row in `memory_sums`: the checksum of its own row, and the sums over its chunks, vectors,
//! versions, associations and further source paths. Each other important table has one sum in `table_sums`. Temporary
//! triggers of the writing connection update the sums. The triggers are not in the file, so code that writes rows calls
//! [`watch`] first.
//!
//! Counters and derived or short-lived data have no checksums: access counts, the next numbers of spaces, the change
//! log, jobs, claims, listings, and notes about files.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use tulving_core::model::id::MemoryId;

use super::failure::SqliteError;
use super::rows::ColumnReader;

/// The tables whose rows belong to a memory, each with its column in `memory_sums` and the column that refers to the
/// memory.
const OF_MEMORIES: [(&str, &str); 5] = [
    ("chunks", "memory"),
    ("vectors", "memory"),
    ("versions", "memory"),
    ("associations", "source"),
    ("source_paths", "memory"),
];

/// The tables with one sum for the whole table.
const TABLES: [&str; 11] = [
    "orgs",
    "teams",
    "principals",
    "spaces",
    "members",
    "tokens",
    "token_spaces",
    "revocations",
    "turns",
    "passes",
    "audit",
];

/// The columns that the sums do not cover, because they change with every save.
const LEFT_OUT: [(&str, &str); 2] = [("spaces", "next_number"), ("spaces", "next_turn")];

/// Registers the SQL function `checksum(…)` on a connection: the CRC-32 of its arguments, with their types.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("checksum", -1, flags, |arguments| Ok(checksum(arguments)))
}

fn checksum(arguments: &Context<'_>) -> i64 {
    let mut sum = crc32fast::Hasher::new();
    for at in 0..arguments.len() {
        match arguments.get_raw(at) {
            ValueRef::Null => sum.update(b"n"),
            ValueRef::Integer(number) => {
                sum.update(b"i");
                sum.update(&number.to_le_bytes());
            }
            ValueRef::Real(number) => {
                sum.update(b"r");
                sum.update(&number.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) => {
                sum.update(b"t");
                sum.update(&bytes.len().to_le_bytes());
                sum.update(bytes);
            }
            ValueRef::Blob(bytes) => {
                sum.update(b"b");
                sum.update(&bytes.len().to_le_bytes());
                sum.update(bytes);
            }
        }
    }
    i64::from(sum.finalize())
}

/// The SQL `checksum(…)` over the stored columns of a table, with `prefix` before each column name.
fn sum_of(connection: &Connection, table: &str, prefix: &str) -> rusqlite::Result<String> {
    // The pragma does not list generated columns.
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1, 'main') ORDER BY cid")?;
    let columns = statement.query_map([table], |row| row.get::<_, String>(0))?;
    let mut named = Vec::new();
    for column in columns {
        let column = column?;
        if !LEFT_OUT.contains(&(table, column.as_str())) {
            named.push(format!("{prefix}.\"{column}\""));
        }
    }
    Ok(format!("checksum({})", named.join(", ")))
}

/// Makes a connection update the sums with its writes from now on.
pub(super) fn watch(connection: &Connection) -> rusqlite::Result<()> {
    register(connection)?;
    let mut sql = String::new();
    let mut trigger = |table: &str, event: &str, act: &str| {
        sql.push_str(&format!(
            "CREATE TEMP TRIGGER IF NOT EXISTS sum_{table}_{event} AFTER {event} ON main.{table} \
             BEGIN {act}; END;\n"
        ));
    };
    let new = sum_of(connection, "memories", "new")?;
    trigger(
        "memories",
        "INSERT",
        &format!("INSERT INTO memory_sums (memory, itself) VALUES (new.row, {new})"),
    );
    trigger("memories", "UPDATE", &format!("UPDATE memory_sums SET itself = {new} WHERE memory = new.row"));
    for (table, of) in OF_MEMORIES {
        let (old, new) = (sum_of(connection, table, "old")?, sum_of(connection, table, "new")?);
        let add = format!("UPDATE memory_sums SET {table} = {table} + {new} WHERE memory = new.{of}");
        let take = format!("UPDATE memory_sums SET {table} = {table} - {old} WHERE memory = old.{of}");
        trigger(table, "INSERT", &add);
        trigger(table, "DELETE", &take);
        trigger(table, "UPDATE", &format!("{take}; {add}"));
    }
    for table in TABLES {
        let (old, new) = (sum_of(connection, table, "old")?, sum_of(connection, table, "new")?);
        let change = |by: &str| format!("UPDATE table_sums SET sum = sum {by} WHERE name = '{table}'");
        trigger(table, "INSERT", &change(&format!("+ {new}")));
        trigger(table, "DELETE", &change(&format!("- {old}")));
        trigger(table, "UPDATE", &change(&format!("- {old} + {new}")));
    }
    connection.execute_batch(&sql)
}

/// Computes and stores the sums of all present data. Reads the whole database.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    register(connection)?;
    let itself = sum_of(connection, "memories", "m")?;
    let mut parts = String::new();
    for (table, of) in OF_MEMORIES {
        parts.push_str(&format!(", {}", part(connection, table, of)?));
    }
    connection.execute_batch(&format!(
        "DELETE FROM memory_sums; DELETE FROM table_sums; \
         INSERT INTO memory_sums (memory, itself, chunks, vectors, versions, associations, source_paths) \
         SELECT m.row, {itself}{parts} FROM memories m ORDER BY m.row;"
    ))?;
    for table in TABLES {
        let sum = whole(connection, table)?;
        connection
            .execute_batch(&format!("INSERT INTO table_sums (name, sum) VALUES ('{table}', {sum});"))?;
    }
    Ok(())
}

/// The SQL for the sum over the rows of a table that belong to the memory `m`.
fn part(connection: &Connection, table: &str, of: &str) -> rusqlite::Result<String> {
    let sum = sum_of(connection, table, "t")?;
    Ok(format!("(SELECT coalesce(sum({sum}), 0) FROM {table} t WHERE t.{of} = m.row)"))
}

/// The SQL for the sum over all rows of a table.
fn whole(connection: &Connection, table: &str) -> rusqlite::Result<String> {
    let sum = sum_of(connection, table, "t")?;
    Ok(format!("(SELECT coalesce(sum({sum}), 0) FROM {table} t)"))
}

/// Compares the data with its sums. Returns the number of checked memories, and the faults that were found.
pub(super) fn look(reader: &Connection) -> Result<(u64, Vec<String>), SqliteError> {
    let itself = sum_of(reader, "memories", "m")?;
    let mut columns = format!("{itself} IS s.itself");
    for (table, of) in OF_MEMORIES {
        columns.push_str(&format!(", {} IS s.{table}", part(reader, table, of)?));
    }
    let mut statement = reader.prepare(&format!(
        "SELECT m.id, {columns} FROM memories m LEFT JOIN memory_sums s ON s.memory = m.row ORDER BY m.row"
    ))?;
    let names = [
        ("row", "is"),
        ("chunks", "are"),
        ("vectors", "are"),
        ("versions", "are"),
        ("associations", "are"),
        ("source paths", "are"),
    ];
    let (mut looked_at, mut faults) = (0, Vec::new());
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let mut columns = ColumnReader::of(row);
        let id = columns.id(MemoryId::from_bytes)?;
        looked_at += 1;
        for (name, are) in names {
            if !columns.take::<bool>()? {
                faults.push(format!("the {name} of memory {id} {are} not what was written"));
            }
        }
    }
    for table in TABLES {
        let sum = whole(reader, table)?;
        let sql = format!("SELECT {sum} IS (SELECT sum FROM table_sums WHERE name = ?1)");
        if !reader.query_row(&sql, [table], |row| row.get::<_, bool>(0))? {
            faults.push(format!("the table {table} is not what was written"));
        }
    }
    let extra: i64 = reader.query_row(
        "SELECT count(*) FROM memory_sums WHERE memory NOT IN (SELECT row FROM memories)",
        [],
        |row| row.get(0),
    )?;
    if extra > 0 {
        faults.push(format!("{extra} memories are missing that were not erased"));
    }
    Ok((looked_at, faults))
}
