//! Writes records of mirrored files.

use rusqlite::{OptionalExtension, params};
use tulving_core::model::error::Conflict;
use tulving_core::model::file::MirroredFile;
use tulving_core::model::id::{MemoryId, SpaceId};

use super::super::failure::SqliteError;
use super::super::mirrors::{self, FILE};
use super::super::rows::signed;
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn reline(&mut self, id: MemoryId, line: u32) -> Result<(), SqliteError> {
        let changed = self
            .transaction
            .prepare_cached("UPDATE memories SET mirror_line = ?2, position = ?2 WHERE id = ?1 AND mirror_line IS NOT NULL")?
            .execute(params![id.as_bytes(), line])?;
        if changed == 0 { Err(Conflict::Gone { id }.into()) } else { Ok(()) }
    }

    pub(super) fn mirrored(
        &mut self,
        space: SpaceId,
        path: &str,
        from: Option<&MirroredFile>,
        to: Option<&MirroredFile>,
    ) -> Result<(), SqliteError> {
        let sql = format!("SELECT {FILE} FROM mirrored WHERE space = ?1 AND path = ?2");
        let mut statement = self.transaction.prepare_cached(&sql)?;
        let found = statement.query_row(params![space.as_bytes(), path], mirrors::file).optional()?;
        if found.as_ref() != from {
            return Err(Conflict::Mirrored { path: path.to_owned() }.into());
        }
        let Some(MirroredFile { stamp, digest, settled, .. }) = to else {
            let mut statement =
                self.transaction.prepare_cached("DELETE FROM mirrored WHERE space = ?1 AND path = ?2")?;
            statement.execute(params![space.as_bytes(), path])?;
            return Ok(());
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO mirrored (space, path, size, modified, inode, digest, settled) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (space, path) DO UPDATE SET size = excluded.size, \
                 modified = excluded.modified, inode = excluded.inode, digest = excluded.digest, \
                 settled = excluded.settled",
            )?
            .execute(params![
                space.as_bytes(),
                path,
                signed(stamp.size),
                stamp.modified,
                stamp.inode.cast_signed(),
                digest,
                settled
            ])?;
        Ok(())
    }
}
