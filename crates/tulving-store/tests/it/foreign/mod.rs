//! The data of other systems, made here as those systems make it.

mod exports;
mod rows;
mod safety;

use std::path::Path;

use rusqlite::Connection;
use tulving_core::model::foreign::{ForeignCollection, ForeignMemory};
use tulving_core::model::vocabulary::System;
use tulving_store::foreign::{self, ForeignContent, ForeignError};

/// The tables of max, as documented.
pub(crate) const MAX: &str = concat!(
    include_str!("max.sql"),
    "
    INSERT INTO memories VALUES
        (7, 'project', 'The auth service lives in ~/dev/api/src/auth', 'auto', '2025-02-01 09:00:00', '2025-02-03 10:00:00'),
        (12, 'preference', 'Prefers TypeScript over JavaScript', 'user', '2025-03-01 08:30:00', '2025-03-01 08:30:00');
    INSERT INTO conversation_log VALUES
        (1, 'user', 'Fix the JWT expiry bug', 'telegram', '2025-03-01 08:00:00'),
        (2, 'assistant', 'On it.', 'unknown', '2025-03-01 08:00:05');
"
);

/// The tables of spacebot, as its tools describe them.
pub(crate) const SPACEBOT: &str = concat!(
    include_str!("spacebot.sql"),
    "
    INSERT INTO memories VALUES
        ('550e8400-e29b-41d4-a716-446655440001', 'Decided to migrate to GraphQL', 'decision', 0.800000011920929,
         '2026-02-11T10:00:00.123456789+00:00', '2026-02-12T10:00:00+00:00', '2026-02-13T10:00:00+00:00', 4,
         'team meeting conclusion', NULL, 0),
        ('550e8400-e29b-41d4-a716-446655440002', 'REST was discussed at length', 'event', 0.5,
         '2026-02-10T10:00:00+00:00', '2026-02-10T10:00:00+00:00', '2026-02-10T10:00:00+00:00', 0, NULL, 'general', 0),
        ('550e8400-e29b-41d4-a716-446655440003', 'Uses REST', 'fact', 0.5,
         '2026-02-09T10:00:00+00:00', '2026-02-14T10:00:00+00:00', '2026-02-09T10:00:00+00:00', 1, NULL, NULL, 1);
    INSERT INTO associations VALUES
        ('a', '550e8400-e29b-41d4-a716-446655440001', '550e8400-e29b-41d4-a716-446655440002', 'result_of', 0.9, '2026-02-11T10:00:00+00:00'),
        ('b', '550e8400-e29b-41d4-a716-446655440001', '550e8400-e29b-41d4-a716-446655440003', 'updates', 0.93, '2026-02-11T10:00:00+00:00'),
        ('c', '550e8400-e29b-41d4-a716-446655440001', '550e8400-e29b-41d4-a716-4466554400ff', 'part_of', 0.5, '2026-02-11T10:00:00+00:00');
"
);

/// The tables of an agent with groups, including those of its full-text search.
pub(crate) const GROUPS: &str = concat!(
    include_str!("groups.sql"),
    "
    INSERT INTO memories VALUES
        ('a1', 'main', 'favorite-color', 'Blue', 'core', '{}', '2026-01-01T10:00:00+00:00', '2026-01-02T10:00:00+00:00'),
        ('a2', 'main', 'today', 'Working on the importer', 'daily', '{\"by\": \"agent\"}', '2026-01-03T10:00:00+00:00', '2026-01-03T10:00:00+00:00'),
        ('a3', 'main', 'conversation-2026-01-03', 'We spoke of importers', 'conversation', '{}', '2026-01-03T11:00:00+00:00', '2026-01-03T11:00:00+00:00');
"
);

/// Creates a database with these statements.
pub(crate) fn database(path: &Path, statements: &str) -> Connection {
    let connection = Connection::open(path).expect("a database");
    connection.execute_batch(statements).expect("made");
    connection
}

/// Reads a path, and returns its system and content.
#[track_caller]
pub(crate) fn read(path: &Path) -> (System, ForeignCollection) {
    let source = match foreign::find(path) {
        Ok(Some(source)) => source,
        Ok(None) => panic!("nobody's"),
        Err(error) => panic!("{error}"),
    };
    match source.read(None) {
        Ok(ForeignContent::Memories(collection)) => (source.system(), collection),
        Ok(ForeignContent::Journals(_)) => panic!("journals"),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the error for a path that cannot be read.
#[track_caller]
pub(crate) fn refused(path: &Path) -> ForeignError {
    match foreign::find(path).and_then(|source| source.expect("somebody's").read(None)) {
        Ok(_) => panic!("it was to be refused"),
        Err(error) => error,
    }
}

#[track_caller]
pub(crate) fn named<'a>(all: &'a ForeignCollection, label: &str) -> &'a ForeignMemory {
    let found = all.memories.iter().find(|memory| memory.label == label);
    found.unwrap_or_else(|| {
        panic!("no {label} among {:?}", all.memories.iter().map(|memory| &memory.label).collect::<Vec<_>>())
    })
}
