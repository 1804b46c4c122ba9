//! Reads of requests that are done once.

use rusqlite::{OptionalExtension, params};
use tulving_core::claim::Claim;
use tulving_core::error::StoreError;
use tulving_core::id::PrincipalId;
use tulving_core::ports::Claims;

use super::SqliteStore;
use super::rows::Columns;

impl Claims for SqliteStore {
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT fingerprint, at, answer FROM claims WHERE principal = ?1 AND key = ?2",
            )?;
            let found = statement.query_row(params![principal.as_bytes(), key], |row| {
                let mut columns = Columns::of(row);
                Ok(Claim { fingerprint: columns.take()?, at: columns.time()?, answer: columns.take()? })
            });
            Ok(found.optional()?)
        })
    }
}
