//! Agents with groups: memories with keys in `memories.db`. The tables of the database's full-text search are ignored.
//!
//! A file contains the memories of all groups, which must not be mixed. So only one group is read.

use std::collections::BTreeSet;

use tulving_core::model::foreign::{ForeignCollection, ForeignMemory, ForeignTimes};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{ContentType, Stability, System};
use tulving_core::{model::limits, model::preview};

use super::database::ForeignDatabase;
use super::error::ForeignError;
use super::table::{ForeignRow, ForeignTable};
use super::words;

pub(super) const NEEDED: &[&str] = &["key", "content", "category"];
/// The possible names of the column that contains the group of a memory.
const GROUP: &[&str] = &["group_folder", "group_name", "group_id", "group_key"];

pub(super) fn read(
    database: &ForeignDatabase,
    memories: &ForeignTable<'_>,
    wanted: Option<&str>,
    note: &str,
) -> Result<ForeignCollection, ForeignError> {
    let group = GROUP.iter().copied().find(|column| memories.has(column));
    let wanted = match group {
        None => None,
        Some(column) => Some((column, chosen(database, memories, column, wanted)?)),
    };
    let mut columns = vec!["key", "content", "category", "metadata", "created_at", "updated_at"];
    columns.extend(group);
    let mut all = ForeignCollection::new(System::Groups);
    memories.rows(&columns, &mut |row| {
        if let Some((column, name)) = &wanted {
            match row.text(column) {
                None => return all.skip(label(row), "it does not say which group it is of"),
                Some(other) if other != *name => return,
                Some(_) => {}
            }
        }
        let group = wanted.as_ref().map(|(_, name)| name.as_str());
        match memory(row, group, note) {
            Ok(memory) => all.memories.push(memory),
            Err(why) => all.skip(label(row), why),
        }
    })?;
    Ok(all)
}

/// Returns the group to read: the named group, or the only group of the file.
fn chosen(
    database: &ForeignDatabase,
    memories: &ForeignTable<'_>,
    column: &'static str,
    wanted: Option<&str>,
) -> Result<String, ForeignError> {
    let mut groups = BTreeSet::new();
    memories.rows(&[column], &mut |row| groups.extend(row.text(column)))?;
    let path = database.path.clone();
    let groups: Vec<String> = groups.into_iter().collect();
    match (wanted, groups.as_slice()) {
        (Some(wanted), _) if groups.iter().any(|group| group == wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => Err(ForeignError::NoGroup { path, group: preview::short(wanted), groups }),
        (None, []) => Ok(String::new()),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(ForeignError::SeveralGroups { path, groups }),
    }
}

fn label(row: &ForeignRow<'_>) -> String {
    row.text("key").map_or_else(|| format!("row {}", row.count), |key| preview::short(&key))
}

fn memory(row: &ForeignRow<'_>, group: Option<&str>, note: &str) -> Result<ForeignMemory, String> {
    let content = row.content("content")?;
    let key = row.text("key").ok_or("it has no key")?;
    let category = row.text("category");
    // These are the same values that a save with this category sets in the groups dialect.
    let (content_type, stability, tags) = match category.as_deref() {
        Some("conversation") => (ContentType::Transcript, None, None),
        Some("daily") => (ContentType::Text, Some(Stability::Volatile), None),
        Some("core") | None => (ContentType::Text, Some(Stability::Stable), None),
        Some(other) => (ContentType::Text, Some(Stability::Stable), Some(words::labels([other]))),
    };
    let note = match row.text("metadata").filter(|more| !matches!(more.trim(), "" | "{}" | "null")) {
        None => note.to_owned(),
        Some(more) => preview::cut(&format!("{note} {more}"), limits::NOTE_CHARS),
    };
    let request = SaveRequest {
        key: Some(key.clone()),
        content_type: Some(content_type),
        stability,
        tags,
        source_note: Some(note),
        ..SaveRequest::new(content)
    };
    Ok(ForeignMemory {
        label: label(row),
        times: ForeignTimes {
            created_at: row.time("created_at"),
            updated_at: row.time("updated_at"),
            ..ForeignTimes::default()
        },
        ..ForeignMemory::new(format!("{}\u{0}{key}", group.unwrap_or_default()), request)
    })
}
