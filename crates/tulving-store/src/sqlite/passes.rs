//! Reads records of passes.

use std::sync::LazyLock;

use rusqlite::{OptionalExtension, Row, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{PassId, PrincipalId, SpaceId};
use tulving_core::model::pass::{Pass, PassFilter};
use tulving_core::model::space::Viewer;
use tulving_core::ports::Passes;

use super::rows::{self, ColumnReader};
use super::{SqliteStore, visible};

const PASS: &str =
    "p.id, p.kind, p.space, p.by, p.private_to, p.began_at, p.ended_at, p.outcome, p.model, p.note, p.acts";

/// The SQL condition that the viewer may see the pass `p`.
fn described() -> String {
    format!("{} AND (p.private_to IS NULL OR p.private_to = ?1)", visible::shares("p.space", "p.by"))
}

impl Passes for SqliteStore {
    fn passes(&self, viewer: &Viewer, filter: &PassFilter) -> Result<Vec<Pass>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {PASS} FROM passes p WHERE {} AND (?3 IS NULL OR p.space = ?3) \
                 AND (?4 IS NULL OR p.kind = ?4) AND (?5 IS NULL OR p.id < ?5) ORDER BY p.id DESC LIMIT ?6",
                described()
            )
        });
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
            let space = filter.space.as_ref().map(SpaceId::as_bytes);
            let kind = filter.kind.map(tulving_core::model::vocabulary::PassKind::as_str);
            let before = filter.before.as_ref().map(PassId::as_bytes);
            let key = params![me, within, space, kind, before, rows::limit(filter.limit)];
            let found = statement.query_map(key, pass)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn pass(&self, viewer: &Viewer, id: PassId) -> Result<Option<Pass>, StoreError> {
        static SQL: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {PASS} FROM passes p WHERE p.id = ?3 AND {}", described()));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let key = params![viewer.principal.as_bytes(), visible::within(viewer), id.as_bytes()];
            Ok(statement.query_row(key, pass).optional()?)
        })
    }
}

fn pass(row: &Row<'_>) -> rusqlite::Result<Pass> {
    let mut columns = ColumnReader::of(row);
    Ok(Pass {
        id: columns.id(PassId::from_bytes)?,
        kind: columns.word()?,
        space: columns.id(SpaceId::from_bytes)?,
        by: columns.id(PrincipalId::from_bytes)?,
        private_to: columns.id_or_none(PrincipalId::from_bytes)?,
        began_at: columns.time()?,
        ended_at: columns.time_or_none()?,
        outcome: columns.word()?,
        model: columns.take()?,
        note: columns.take()?,
        acts: columns.json()?,
    })
}
