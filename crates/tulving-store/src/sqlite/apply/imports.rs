//! Writes records of imported files, and the results of the work on memories.

use rusqlite::params;
use tulving_core::model::change::BackgroundResult;
use tulving_core::model::error::Conflict;
use tulving_core::model::file::ImportedFile;
use tulving_core::model::id::SpaceId;
use tulving_core::model::vocabulary::ChangeKind;

use super::super::failure::SqliteError;
use super::super::feed::is_live;
use super::super::rows::signed;
use super::ChangeSetWriter;
use super::row::MemoryRowUpdate;

impl ChangeSetWriter<'_> {
    pub(super) fn imported(
        &mut self,
        space: SpaceId,
        path: &str,
        to: Option<&ImportedFile>,
    ) -> Result<(), SqliteError> {
        let owner = self.changes.by.principal.as_bytes();
        let Some(ImportedFile { stamp, digest, settled, memory, .. }) = to else {
            self.transaction
                .prepare_cached("DELETE FROM imported WHERE space = ?1 AND owner = ?2 AND path = ?3")?
                .execute(params![space.as_bytes(), owner, path])?;
            return Ok(());
        };
        let written = self
            .transaction
            .prepare_cached(
                "INSERT INTO imported (space, owner, path, size, modified, inode, digest, settled, memory) \
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, row FROM memories WHERE id = ?9 \
                 ON CONFLICT (space, owner, path) DO UPDATE SET size = excluded.size, modified = excluded.modified, \
                 inode = excluded.inode, digest = excluded.digest, settled = excluded.settled, memory = excluded.memory",
            )?
            .execute(params![
                space.as_bytes(),
                owner,
                path,
                signed(stamp.size),
                stamp.modified,
                stamp.inode.cast_signed(),
                digest,
                settled,
                memory.as_bytes()
            ])?;
        if written == 0 { Err(Conflict::Gone { id: *memory }.into()) } else { Ok(()) }
    }

    pub(super) fn settle_work(&mut self, settled: &BackgroundResult) -> Result<(), SqliteError> {
        let before = self.kept(settled.id, settled.from, &settled.stood)?;
        let version = &before.version;
        self.update_row(MemoryRowUpdate {
            row: before.row,
            fields: &settled.fields,
            status: &settled.status,
            version: version.version,
            act: version.act,
            by: version.by,
            agent: version.agent.as_deref(),
            at: version.at,
        })?;
        self.attach(before.row, settled.attachment.as_ref())?;
        if let Some(chunks) = &settled.chunks {
            self.replace_chunks(before.row, chunks)?;
        }
        if settled.chunks.is_some() || is_live(&settled.stood) != is_live(&settled.status) {
            self.settle(before.row)?;
        }
        match settled.status.forgotten_at {
            None => self.log(ChangeKind::Revised, settled.id, before.at),
            // Nobody can see a forgotten memory, so the change needs no entry. The log gets an entry when the memory is
            // restored.
            Some(_) => Ok(()),
        }
    }
}
