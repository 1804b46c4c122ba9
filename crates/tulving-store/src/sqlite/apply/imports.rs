//! Writes what is known of imported files, and what came of the work on memories.

use rusqlite::params;
use tulving_core::change::Settled;
use tulving_core::error::Conflict;
use tulving_core::file::ImportedFile;
use tulving_core::id::{MemoryId, SpaceId};
use tulving_core::vocabulary::ChangeKind;

use super::super::failure::Fault;
use super::super::feed::is_live;
use super::super::rows::signed;
use super::Act;
use super::memories::located;
use super::row::Row;

impl Act<'_> {
    pub(super) fn imported(
        &mut self,
        space: SpaceId,
        path: &str,
        to: Option<&ImportedFile>,
    ) -> Result<(), Fault> {
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

    pub(super) fn repath(&mut self, id: MemoryId, from: &str, to: &str) -> Result<(), Fault> {
        let mut statement = self.transaction.prepare_cached(
            "UPDATE memories SET source_path = ?3 WHERE id = ?1 AND source_path = ?2 AND mirror_line IS NULL \
             RETURNING row, space, owner, boundary",
        )?;
        let mut moved = statement.query_map(params![id.as_bytes(), from, to], located)?;
        let at = moved.next().transpose()?;
        drop(moved);
        drop(statement);
        let (_, at) = at.ok_or(Conflict::Moved { id })?;
        self.log(ChangeKind::Revised, id, at)
    }

    pub(super) fn settle_work(&mut self, settled: &Settled) -> Result<(), Fault> {
        let before = self.kept(settled.id, settled.from, &settled.stood)?;
        let version = &before.version;
        self.update_row(Row {
            row: before.row,
            edition: &settled.edition,
            standing: &settled.standing,
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
        if settled.chunks.is_some() || is_live(&settled.stood) != is_live(&settled.standing) {
            self.settle(before.row)?;
        }
        match settled.standing.forgotten_at {
            None => self.log(ChangeKind::Revised, settled.id, before.at),
            // Nobody can see it; who restores it says so.
            Some(_) => Ok(()),
        }
    }
}
