//! Max: the memories and the conversation log in `max.db`.

use tulving_core::model::foreign::{ForeignCollection, ForeignMemory, ForeignTimes, ForeignTurn};
use tulving_core::model::id::MemoryNumber;
use tulving_core::model::preview;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{Author, System, TurnRole};

use super::database::ForeignDatabase;
use super::error::ForeignError;
use super::table::{ForeignRow, ForeignTable};
use super::words;

pub(super) const NEEDED: &[&str] = &["id", "category", "content"];
const MEMORY: &[&str] = &["id", "category", "content", "source", "created_at", "last_accessed"];
const LOG: &str = "conversation_log";
const TURN: &[&str] = &["id", "role", "content", "source", "ts"];
/// Maximum accepted memory number, which is far larger than in any real database. The numbers of new memories continue
/// from the largest imported number, so a larger number is not trusted.
const LARGEST_NUMBER: i64 = 1_000_000_000;

/// Returns true if a database with this table of memories was written by Max.
pub(super) fn is(database: &ForeignDatabase, memories: &ForeignTable<'_>) -> Result<bool, ForeignError> {
    let whole = memories.lacks(NEEDED).is_none();
    Ok(whole && (memories.has("last_accessed") || database.table(LOG)?.is_some()))
}

pub(super) fn read(
    database: &ForeignDatabase,
    memories: &ForeignTable<'_>,
    note: &str,
) -> Result<ForeignCollection, ForeignError> {
    let mut all = ForeignCollection::new(System::Max);
    memories.rows(MEMORY, &mut |row| match memory(row, note) {
        Ok(memory) => all.memories.push(memory),
        Err(why) => all.skip(label(row), why),
    })?;
    if let Some(log) = database.table(LOG)?.filter(|log| log.lacks(&["id", "role", "content"]).is_none()) {
        log.rows(TURN, &mut |row| match turn(row) {
            Ok(turn) => all.turns.push(turn),
            Err(why) => {
                all.skip(format!("turn {}", preview::short(&row.text("id").unwrap_or_default())), why);
            }
        })?;
    }
    Ok(all)
}

fn label(row: &ForeignRow<'_>) -> String {
    row.text("id").map_or_else(|| format!("row {}", row.count), |id| format!("#{}", preview::short(&id)))
}

fn memory(row: &ForeignRow<'_>, note: &str) -> Result<ForeignMemory, String> {
    let content = row.content("content")?;
    let id = row.text("id").ok_or("it has no id")?;
    let created_at = row.time("created_at");
    let (memory_type, tags) = words::typed(row.text("category").as_deref());
    let author = match row.text("source").as_deref() {
        Some("auto") => Author::Auto,
        _ => Author::User,
    };
    let request = SaveRequest {
        memory_type,
        tags,
        author: Some(author),
        source_note: Some(note.to_owned()),
        ..SaveRequest::new(content)
    };
    let number = row.whole("id").filter(|id| (1..=LARGEST_NUMBER).contains(id));
    // After Max is reset, the same numbers identify other memories, so the creation time is a part of the id.
    let made = created_at.map(|at| at.to_string()).unwrap_or_default();
    Ok(ForeignMemory {
        label: label(row),
        number: number.map(|number| MemoryNumber(number.unsigned_abs())),
        times: ForeignTimes { created_at, accessed_at: row.time("last_accessed"), ..ForeignTimes::default() },
        ..ForeignMemory::new(format!("{id} {made}"), request)
    })
}

fn turn(row: &ForeignRow<'_>) -> Result<ForeignTurn, String> {
    let content = row.content("content")?;
    let id = row.text("id").ok_or("it has no id")?;
    let role = row.text("role").unwrap_or_default();
    let role: TurnRole = role.parse().map_err(|error| format!("{error}"))?;
    let at = row.time("ts");
    let made = at.map(|at| at.to_string()).unwrap_or_default();
    Ok(ForeignTurn { name: format!("{id} {made}"), role, content, source: row.text("source"), at })
}
