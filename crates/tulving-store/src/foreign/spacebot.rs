//! Spacebot: memories with their associations, including forgotten ones.

use tulving_core::model::foreign::{
    ForeignCollection, ForeignLink, ForeignMemory, ForeignStatus, ForeignTimes,
};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{LinkedBy, Relation, System};
use tulving_core::{model::limits, model::preview};

use super::database::ForeignDatabase;
use super::error::ForeignError;
use super::table::{ForeignRow, ForeignTable};
use super::words;

pub(super) const NEEDED: &[&str] = &["id", "content", "memory_type", "importance"];
const MEMORY: &[&str] = &[
    "id",
    "content",
    "memory_type",
    "importance",
    "created_at",
    "updated_at",
    "last_accessed_at",
    "access_count",
    "source",
    "channel_id",
    "forgotten",
];
const LINK: &[&str] = &["source_id", "target_id", "relation_type", "weight", "created_at"];

pub(super) fn read(
    database: &ForeignDatabase,
    memories: &ForeignTable<'_>,
    note: &str,
) -> Result<ForeignCollection, ForeignError> {
    let mut all = ForeignCollection::new(System::Spacebot);
    let (mut beyond, mut unknown) = (0, 0);
    memories.rows(MEMORY, &mut |row| match memory(row, note) {
        Ok(memory) => {
            beyond += usize::from(row.number("importance").is_some_and(is_beyond));
            all.memories.push(memory);
        }
        Err(why) => all.skip(label(row), why),
    })?;
    let links = database.table("associations")?;
    if let Some(links) = links.filter(|links| links.lacks(&["source_id", "target_id"]).is_none()) {
        links.rows(LINK, &mut |row| match link(row) {
            Some(link) => {
                beyond += usize::from(row.number("weight").is_some_and(is_beyond));
                unknown += usize::from(relation(row).is_none());
                all.links.push(link);
            }
            None => all.skip(format!("association {}", row.count), "it does not say between which memories"),
        })?;
    }
    if beyond > 0 {
        all.notes.push(format!("importance and weight must be 0 to 1: {beyond} were limited to this range"));
    }
    if unknown > 0 {
        all.notes.push(format!("{unknown} associations have an unknown relation and become related_to"));
    }
    Ok(all)
}

/// Returns true if an importance or a weight is out of range.
fn is_beyond(number: f64) -> bool {
    !(0.0..=1.0).contains(&number)
}

fn label(row: &ForeignRow<'_>) -> String {
    row.text("id").map_or_else(|| format!("row {}", row.count), |id| preview::short(&id))
}

fn relation(row: &ForeignRow<'_>) -> Option<Relation> {
    row.text("relation_type").and_then(|word| word.parse().ok())
}

fn memory(row: &ForeignRow<'_>, note: &str) -> Result<ForeignMemory, String> {
    let content = row.content("content")?;
    let id = row.text("id").ok_or("it has no id")?;
    let (memory_type, tags) = words::typed(row.text("memory_type").as_deref());
    let source = row.text("source").and_then(|source| words::line(&source, limits::NOTE_CHARS));
    let request = SaveRequest {
        memory_type,
        tags,
        importance: row.number("importance").and_then(words::unit),
        source_note: Some(source.unwrap_or_else(|| note.to_owned())),
        conversation: row.text("channel_id").and_then(|channel| words::line(&channel, limits::NOTE_CHARS)),
        ..SaveRequest::new(content)
    };
    Ok(ForeignMemory {
        label: label(row),
        id: id.parse().ok(),
        times: ForeignTimes {
            created_at: row.time("created_at"),
            updated_at: row.time("updated_at"),
            accessed_at: row.time("last_accessed_at"),
            access_count: words::count(row.whole("access_count")),
        },
        stands: if row.flag("forgotten") { ForeignStatus::Forgotten } else { ForeignStatus::Active },
        ..ForeignMemory::new(id, request)
    })
}

/// Reads an association. Spacebot itself links similar memories with the kind `updates`, and these links cannot be
/// distinguished from the ones that were made on purpose. So they all count as made automatically, and no memory counts
/// as superseded.
fn link(row: &ForeignRow<'_>) -> Option<ForeignLink> {
    let relation = relation(row).unwrap_or(Relation::RelatedTo);
    let linked_by = if relation == Relation::Updates { LinkedBy::Auto } else { LinkedBy::Caller };
    Some(ForeignLink {
        source: row.text("source_id")?,
        target: row.text("target_id")?,
        relation,
        weight: row.number("weight").and_then(words::unit).unwrap_or(0.5),
        linked_by,
        created_at: row.time("created_at"),
    })
}
