//! Imports memories of other systems, and records which memory was made from each of them.

use rusqlite::params;
use tulving_core::model::change::{ForeignItem, ImportedRecord};
use tulving_core::model::error::Conflict;
use tulving_core::model::id::MemoryId;
use tulving_core::model::record::LoadOutcome;

use super::super::failure::SqliteError;
use super::super::rows::LARGEST;
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn adopt(&mut self, adoption: &ImportedRecord) -> Result<LoadOutcome, SqliteError> {
        let ImportedRecord { item, record, chunks, above } = adoption;
        let id = record.memory.id;
        let loaded = self.take_in(record, Some(chunks), |act, memory| {
            if let Some(wanted) = memory.number.filter(|wanted| wanted.0 <= *above)
                && !act.has_number(memory.space, wanted)?
            {
                return act.number_for(memory);
            }
            let next = act.number_counter(memory.space)?;
            *next = (*next).max(above.min(&LARGEST) + 1);
            act.next_number(memory.space).map(Some)
        })?;
        match loaded {
            LoadOutcome::Added | LoadOutcome::Renumbered { .. } => {
                self.transaction
                    .prepare_cached("INSERT INTO unlinked (memory) SELECT row FROM memories WHERE id = ?1")?
                    .execute([id.as_bytes()])?;
                self.adopted(item, id)?;
            }
            LoadOutcome::Duplicate { of } => self.adopted(item, of)?,
            LoadOutcome::Present | LoadOutcome::Dangling => {}
        }
        Ok(loaded)
    }

    pub(super) fn adopted(&mut self, item: &ForeignItem, memory: MemoryId) -> Result<(), SqliteError> {
        let ForeignItem { space, system, name, says } = item;
        let owner = self.changes.by.principal.as_bytes();
        let written = self
            .transaction
            .prepare_cached(
                "INSERT INTO adopted (space, owner, system, name, says, version, memory) \
                 SELECT ?1, ?2, ?3, ?4, ?5, version, row FROM memories WHERE id = ?6 \
                 ON CONFLICT (space, owner, system, name) DO UPDATE \
                 SET says = excluded.says, version = excluded.version, memory = excluded.memory",
            )?
            .execute(params![space.as_bytes(), owner, system.as_str(), name, says, memory.as_bytes()])?;
        if written == 0 { Err(Conflict::Gone { id: memory }.into()) } else { Ok(()) }
    }
}
