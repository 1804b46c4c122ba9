//! Creates the schema of a new database, migrates an older database to the newest schema, and writes the rows that
//! every home starts with.
//!
//! A new database starts at the schema [`OLDEST`], and takes the same steps as an existing one of that schema. So both
//! end with the same schema.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use tulving_core::model::id::{OrgId, PrincipalId, SpaceId, TeamId};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PrincipalKind, Realm, Role, SpaceKind};

use super::failure::SqliteError;
use super::open::{APPLICATION_ID, DatabaseMarks};
use super::sums;

/// The number of the baseline, which is the oldest schema that can be opened. It is one less than the number of the
/// baseline's file, because there was no step 0012.
pub(super) const OLDEST: i64 = 14;

/// The SQL for all tables, indexes and triggers of [`OLDEST`], for a new database.
const BASELINE: &str = include_str!("../../migrations/sqlite/0015_baseline.sql");

/// The steps after the baseline, one for each newer schema. A released step is never edited.
const STEPS: &[&str] = &[
    include_str!("../../migrations/sqlite/0016_paths.sql"),
    include_str!("../../migrations/sqlite/0017_project.sql"),
    include_str!("../../migrations/sqlite/0018_lists.sql"),
];

/// The newest schema.
pub(super) const SCHEMA: i64 = OLDEST + STEPS.len() as i64;

/// Runs all missing steps, or none if one fails. If two processes do so at the same time, the second finds nothing to
/// do. `allowed` is called inside the transaction. A database older than [`OLDEST`] causes an error and is not changed.
pub(super) fn run(
    connection: &mut Connection,
    file: &Path,
    now: Timestamp,
    allowed: impl FnOnce() -> Result<(), SqliteError>,
) -> Result<(), SqliteError> {
    if DatabaseMarks::read(connection)?.schema == SCHEMA {
        return Ok(());
    }
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    allowed()?;
    let marks = DatabaseMarks::read(&step)?;
    marks.accept(file)?;
    if marks.is_blank() {
        step.execute_batch(BASELINE)?;
    }
    // A database that passed the check is either blank or at least at `OLDEST`.
    let done = usize::try_from(marks.schema - OLDEST).unwrap_or(0);
    for sql in &STEPS[done..] {
        step.execute_batch(sql)?;
    }
    if marks.is_blank() {
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        write_first_rows(&step, now)?;
    }
    // The checksums cover the columns of the newest schema, so they are computed after all steps.
    sums::fill(&step)?;
    step.pragma_update(None, "user_version", SCHEMA)?;
    step.commit()?;
    Ok(())
}

fn write_first_rows(step: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<()> {
    let (org, team) = (OrgId::LOCAL, TeamId::LOCAL);
    let (space, user) = (SpaceId::DEFAULT, PrincipalId::USER);
    renew_epoch(step)?;
    step.execute("INSERT INTO orgs (id, name) VALUES (?1, 'local')", params![org.as_bytes()])?;
    step.execute(
        "INSERT INTO teams (id, org, name) VALUES (?1, ?2, 'local')",
        params![team.as_bytes(), org.as_bytes()],
    )?;
    step.execute(
        "INSERT INTO principals (id, name, kind, created_at) VALUES (?1, 'user', ?2, ?3)",
        params![user.as_bytes(), PrincipalKind::Person.as_str(), now.as_micros()],
    )?;
    step.execute(
        "INSERT INTO spaces (id, team, name, kind, created_at) VALUES (?1, ?2, 'default', ?3, ?4)",
        params![space.as_bytes(), team.as_bytes(), SpaceKind::Hub.as_str(), now.as_micros()],
    )?;
    for (realm, of) in
        [(Realm::Org, org.as_bytes()), (Realm::Team, team.as_bytes()), (Realm::Space, space.as_bytes())]
    {
        step.execute(
            "INSERT INTO members (principal, realm, of, role) VALUES (?1, ?2, ?3, ?4)",
            params![user.as_bytes(), realm.as_str(), of, Role::Admin.as_str()],
        )?;
    }
    Ok(())
}

/// Gives the store a new epoch, which invalidates all data derived from it.
pub(super) fn renew_epoch(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('epoch', randomblob(16))", [])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use tulving_core::model::vocabulary::{
        Author, Boundary, ChangeKind, ContentType, JobState, Kind, LinkedBy, MemoryType, Origin, PassOutcome,
        Relation, Stability, State, System, Trust, TurnRole, VersionAct,
    };

    use super::*;

    #[test]
    fn the_schema_takes_every_word_of_the_vocabularies() {
        let lists: [(&str, &[&str]); 24] = [
            ("principals.kind", PrincipalKind::WORDS),
            ("spaces.kind", SpaceKind::WORDS),
            ("members.realm", Realm::WORDS),
            ("members.role", Role::WORDS),
            ("tokens.role", Role::WORDS),
            ("memories.boundary", Boundary::WORDS),
            ("memories.state", State::WORDS),
            ("memories.type", MemoryType::WORDS),
            ("memories.kind", Kind::WORDS),
            ("memories.stability", Stability::WORDS),
            ("memories.content_type", ContentType::WORDS),
            ("memories.author", Author::WORDS),
            ("memories.origin", Origin::WORDS),
            ("memories.trust", Trust::WORDS),
            ("memories.version_act", VersionAct::WORDS),
            ("versions.act", VersionAct::WORDS),
            ("versions.boundary", Boundary::WORDS),
            ("associations.relation", Relation::WORDS),
            ("associations.linked_by", LinkedBy::WORDS),
            ("turns.role", TurnRole::WORDS),
            ("jobs.state", JobState::WORDS),
            ("changes.kind", ChangeKind::WORDS),
            ("adopted.system", System::WORDS),
            ("passes.outcome", PassOutcome::WORDS),
        ];
        let schema = Connection::open_in_memory().expect("opened");
        schema.execute_batch(BASELINE).expect("made");
        schema.execute_batch(&STEPS.concat()).expect("brought to the newest schema");
        for (column, words) in lists {
            let (table, column) = column.split_once('.').expect("a table and a column");
            let made = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
            let table: String = schema.query_row(made, [table], |row| row.get(0)).expect("a table");
            for word in words {
                assert!(table.contains(&format!("{column} = '{word}'")), "{column} takes no {word}");
            }
        }
    }
}
