//! Reads claims, which ensure that a request is done only once.

use rusqlite::{OptionalExtension, params};
use tulving_core::model::claim::Claim;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::PrincipalId;
use tulving_core::ports::Claims;

use super::SqliteStore;
use super::rows::ColumnReader;

impl Claims for SqliteStore {
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT fingerprint, at, answer FROM claims WHERE principal = ?1 AND key = ?2",
            )?;
            let found = statement.query_row(params![principal.as_bytes(), key], |row| {
                let mut columns = ColumnReader::of(row);
                Ok(Claim { fingerprint: columns.take()?, at: columns.time()?, answer: columns.take()? })
            });
            Ok(found.optional()?)
        })
    }
}
