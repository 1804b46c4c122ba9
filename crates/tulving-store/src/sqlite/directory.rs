//! Reads spaces, teams, principals, members and tokens.

use std::sync::LazyLock;

use rusqlite::{OptionalExtension, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{PrincipalId, SpaceId};
use tulving_core::model::search::VisibilityScope;
use tulving_core::model::space::{MemberOf, Membership, Principal, Space, Team, Token, TokenHash, Viewer};
use tulving_core::model::vocabulary::Role;
use tulving_core::ports::{Directory, Log as _};

use super::rows::{self, ColumnReader, TOKEN};
use super::{SqliteStore, visible};

/// The orgs that the viewer administers.
pub(super) const ADMINISTERED_ORGS: &str =
    "SELECT of FROM members WHERE principal = ?1 AND realm = 'org' AND role = 'admin'";

/// The spaces whose existence the viewer may know, in any order.
static KNOWN_SPACES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "FROM spaces s WHERE {confined} AND (\
           s.id IN (SELECT of FROM members WHERE principal = ?1 AND realm = 'space') \
           OR s.team IN (SELECT of FROM members WHERE principal = ?1 AND realm = 'team' AND role = 'admin') \
           OR s.team IN (SELECT id FROM teams WHERE org IN ({ADMINISTERED_ORGS})))",
        confined = visible::confined("s.id"),
    )
});

impl Directory for SqliteStore {
    fn visibility(&self, viewer: &Viewer) -> Result<VisibilityScope, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(visible::visibility);
        // The counter is read before the visibility, so that a visibility is never cached under the counter of a later
        // change.
        let change_counter = self.change_counter()?;
        if let Some(visibility) = self.visibilities.known(change_counter, viewer) {
            return Ok(visibility);
        }
        let visibility = self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let key = params![viewer.principal.as_bytes(), visible::within(viewer)];
            let found = statement.query_map(key, |row| {
                let mut columns = ColumnReader::of(row);
                Ok((columns.id(SpaceId::from_bytes)?, columns.word()?))
            })?;
            Ok(VisibilityScope { principal: viewer.principal, spaces: found.collect::<Result<_, _>>()? })
        })?;
        self.visibilities.keep(change_counter, viewer, &visibility);
        Ok(visibility)
    }

    fn spaces(&self, viewer: &Viewer) -> Result<Vec<Space>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT s.id, s.team, s.name, s.kind, s.created_at {} ORDER BY s.name, s.id",
                *KNOWN_SPACES
            )
        });
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let key = params![viewer.principal.as_bytes(), visible::within(viewer)];
            let found = statement.query_map(key, |row| rows::space(&mut ColumnReader::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn space(&self, viewer: &Viewer, id: SpaceId) -> Result<Option<(Space, Option<Role>)>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT s.id, s.team, s.name, s.kind, s.created_at, (SELECT role FROM members \
                   WHERE principal = ?1 AND realm = 'space' AND of = s.id) {} AND s.id = ?3",
                *KNOWN_SPACES
            )
        });
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let key = params![viewer.principal.as_bytes(), visible::within(viewer), id.as_bytes()];
            let found = statement.query_row(key, |row| {
                let mut columns = ColumnReader::of(row);
                Ok((rows::space(&mut columns)?, columns.word_or_none()?))
            });
            Ok(found.optional()?)
        })
    }

    fn teams(&self, viewer: &Viewer) -> Result<Vec<Team>, StoreError> {
        let sql = format!(
            "SELECT t.id, t.org, t.name FROM teams t \
             WHERE (?2 IS NULL OR t.id IN (SELECT s.team FROM spaces s WHERE {confined})) AND (\
               t.id IN (SELECT of FROM members WHERE principal = ?1 AND realm = 'team') \
               OR t.org IN (SELECT of FROM members WHERE principal = ?1 AND realm = 'org')) \
             ORDER BY t.name, t.id",
            confined = visible::confined("s.id"),
        );
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&sql)?;
            let key = params![viewer.principal.as_bytes(), visible::within(viewer)];
            let found = statement.query_map(key, |row| rows::team(&mut ColumnReader::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn role(&self, principal: PrincipalId, of: MemberOf) -> Result<Option<Role>, StoreError> {
        self.read(|reader| {
            let mut statement = reader
                .prepare_cached("SELECT role FROM members WHERE principal = ?1 AND realm = ?2 AND of = ?3")?;
            let key = params![principal.as_bytes(), of.realm().as_str(), of.id_bytes()];
            Ok(statement.query_row(key, |row| ColumnReader::of(row).word()).optional()?)
        })
    }

    fn members(&self, of: MemberOf) -> Result<Vec<(Principal, Membership)>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT p.id, p.name, p.kind, p.created_at, x.principal, x.realm, x.of, x.role \
                 FROM members x JOIN principals p ON p.id = x.principal \
                 WHERE x.realm = ?1 AND x.of = ?2 ORDER BY p.name",
            )?;
            let found = statement.query_map(params![of.realm().as_str(), of.id_bytes()], |row| {
                let mut columns = ColumnReader::of(row);
                Ok((rows::principal(&mut columns)?, rows::member(&mut columns)?))
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn principal_named(&self, name: &str) -> Result<Option<Principal>, StoreError> {
        self.read(|reader| {
            let mut statement =
                reader.prepare_cached("SELECT id, name, kind, created_at FROM principals WHERE name = ?1")?;
            Ok(statement.query_row([name], |row| rows::principal(&mut ColumnReader::of(row))).optional()?)
        })
    }

    fn principals(&self, ids: &[PrincipalId]) -> Result<Vec<Principal>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT id, name, kind, created_at FROM principals \
                 WHERE id IN (SELECT unhex(value) FROM json_each(?1))",
            )?;
            let ids = visible::hex_array(ids.iter().map(PrincipalId::as_bytes));
            let found = statement.query_map([ids], |row| rows::principal(&mut ColumnReader::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, StoreError> {
        self.read(|reader| {
            let mut statement =
                reader.prepare_cached(&format!("SELECT k.hash, {TOKEN} FROM tokens k WHERE k.hash = ?1"))?;
            let found = statement.query_row([hash.0], |row| {
                let mut columns = ColumnReader::of(row);
                Ok((columns.take::<[u8; 32]>()?, rows::token(&mut columns)?))
            });
            Ok(found.optional()?.filter(|(stored, _)| same(stored, &hash.0)).map(|(_, token)| token))
        })
    }

    fn tokens(&self, principal: Option<PrincipalId>) -> Result<Vec<Token>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&format!(
                "SELECT {TOKEN} FROM tokens k WHERE ?1 IS NULL OR k.principal = ?1 \
                 ORDER BY k.created_at DESC, k.id DESC"
            ))?;
            let whose = principal.as_ref().map(PrincipalId::as_bytes);
            let found = statement.query_map([whose], |row| rows::token(&mut ColumnReader::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

/// Compares two hashes in constant time.
fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
