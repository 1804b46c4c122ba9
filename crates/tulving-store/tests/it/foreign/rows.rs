//! The import of database rows.

use tempfile::tempdir;
use tulving_core::model::foreign::ForeignStatus;
use tulving_core::model::id::MemoryNumber;
use tulving_core::model::vocabulary::{
    Author, ContentType, LinkedBy, MemoryType, Relation, Stability, System, TurnRole,
};
use tulving_store::foreign::{self, ForeignContent, ForeignError};

use super::{GROUPS, MAX, SPACEBOT, database, named, read};

#[test]
fn maxs_memories_keep_their_numbers_and_times() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("whatever it is called");
    database(&path, MAX);
    let (system, all) = read(&path);
    assert_eq!((system, all.memories.len(), all.unread.len()), (System::Max, 2, 0));
    let memory = named(&all, "#12");
    assert_eq!(memory.request.content, "Prefers TypeScript over JavaScript");
    assert_eq!(memory.request.memory_type, Some(MemoryType::Preference));
    assert_eq!((memory.request.author, memory.number), (Some(Author::User), Some(MemoryNumber(12))));
    assert_eq!(
        memory.times.created_at.map(|at| at.to_string()).as_deref(),
        Some("2025-03-01T08:30:00.000000Z")
    );
    let auto = named(&all, "#7");
    assert_eq!(
        (auto.request.author, auto.request.memory_type),
        (Some(Author::Auto), Some(MemoryType::Project))
    );
    assert_eq!(auto.times.accessed_at.map(|at| at.date()).as_deref(), Some("2025-02-03"));
    assert_eq!(auto.request.source_note.as_deref(), Some("whatever it is called"));
    let turns: Vec<_> =
        all.turns.iter().map(|turn| (turn.role, turn.content.as_str(), turn.source.as_deref())).collect();
    assert_eq!(
        turns,
        [
            (TurnRole::User, "Fix the JWT expiry bug", Some("telegram")),
            (TurnRole::Assistant, "On it.", Some("unknown"))
        ]
    );
}

#[test]
fn other_versions_of_maxs_tables_are_read_too() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    database(
        &path,
        "CREATE TABLE MEMORIES (ID INTEGER PRIMARY KEY, Category TEXT, Content TEXT, last_accessed INTEGER, mood TEXT);
         INSERT INTO memories VALUES (1, 'lesson', 'no times but one', 1740000000, 'good'), (2, 'fact', NULL, NULL, NULL),
             (3, 'fact', x'00ff', NULL, NULL), (4, 'fact', 42, 'nonsense', NULL), (-5, 'fact', 'below nought', NULL, NULL),
             (9000000000000000000, 'fact', 'far out', NULL, NULL);",
    );
    let (system, all) = read(&path);
    assert_eq!(system, System::Max);
    let first = named(&all, "#1");
    assert_eq!((first.request.memory_type, first.times.created_at), (None, None));
    assert_eq!(first.request.tags.as_deref(), Some(["lesson".to_owned()].as_slice()), "the word is not lost");
    assert_eq!(first.times.accessed_at.map(|at| at.date()).as_deref(), Some("2025-02-19"));
    assert_eq!(named(&all, "#4").request.content, "42");
    assert_eq!(named(&all, "#-5").number, None);
    assert_eq!(named(&all, "#9000000000000000000").number, None, "numbers go on from the highest");
    let skipped: Vec<_> = all.unread.iter().map(|one| (one.what.as_str(), one.why.as_str())).collect();
    assert_eq!(skipped, [("#2", "it has no content"), ("#3", "its content is bytes and not text")]);
}

#[test]
fn of_an_id_of_any_length_a_short_form_is_said() {
    let folder = tempdir().expect("a folder");
    let long = "an id\nthat does not end ".repeat(100_000);
    let [max, spacebot] = ["max.db", "spacebot.db"].map(|name| folder.path().join(name));
    database(
        &max,
        &format!(
            "CREATE TABLE memories (id TEXT, category TEXT, content TEXT, last_accessed INTEGER); \
             CREATE TABLE conversation_log (id TEXT, role TEXT, content TEXT); \
             INSERT INTO memories VALUES ('{long}', 'fact', NULL, NULL), ('{long}', 'fact', 'said', NULL); \
             INSERT INTO conversation_log VALUES ('{long}', 'nobody', 'said');"
        ),
    );
    database(
        &spacebot,
        &format!(
            "CREATE TABLE memories (id TEXT, content TEXT, memory_type TEXT, importance REAL); \
             INSERT INTO memories VALUES ('{long}', NULL, 'fact', 0.5), ('{long}', 'said', 'fact', 0.5);"
        ),
    );
    for path in [max, spacebot] {
        let (_, all) = read(&path);
        let said =
            all.memories.iter().map(|memory| &memory.label).chain(all.unread.iter().map(|one| &one.what));
        for said in said {
            assert!(said.contains("an id that does not end") && said.chars().count() < 80, "{said}");
        }
        assert!(all.memories.len() == 1 && !all.unread.is_empty());
    }
}

#[test]
fn spacebots_memories_come_with_links_and_what_was_forgotten() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("spacebot.db");
    database(&path, SPACEBOT);
    let (system, all) = read(&path);
    assert_eq!((system, all.memories.len()), (System::Spacebot, 3));
    let decision = named(&all, "550e8400-e29b-41d4-a716-446655440001");
    assert_eq!(decision.id.map(|id| id.to_string()).as_deref(), Some("550e8400-e29b-41d4-a716-446655440001"));
    assert_eq!(decision.request.memory_type, Some(MemoryType::Decision));
    assert_eq!(decision.request.importance, Some(0.8), "without the noise of a shorter number");
    assert_eq!(decision.request.source_note.as_deref(), Some("team meeting conclusion"));
    assert_eq!(decision.times.access_count, 4);
    assert_eq!(
        decision.times.created_at.map(|at| at.to_string()).as_deref(),
        Some("2026-02-11T10:00:00.123456Z")
    );
    let event = named(&all, "550e8400-e29b-41d4-a716-446655440002");
    assert_eq!(event.request.conversation.as_deref(), Some("general"));
    assert_eq!(named(&all, "550e8400-e29b-41d4-a716-446655440003").stands, ForeignStatus::Forgotten);
    assert_eq!(all.memories[0].stands, ForeignStatus::Forgotten, "the oldest comes first");
    let links: Vec<_> = all.links.iter().map(|link| (link.relation, link.weight, link.linked_by)).collect();
    assert_eq!(
        links,
        [
            (Relation::ResultOf, 0.9, LinkedBy::Caller),
            (Relation::Updates, 0.93, LinkedBy::Auto),
            (Relation::PartOf, 0.5, LinkedBy::Caller)
        ]
    );
}

#[test]
fn what_spacebot_has_beyond_the_bounds_is_brought_within_and_said() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("spacebot.db");
    let more = "INSERT INTO memories (id, content, memory_type, importance, created_at, updated_at, last_accessed_at) \
         VALUES ('a', 'too important', 'fact', 7.0, '2026-01-01', '2026-01-01', '2026-01-01'); \
         INSERT INTO associations VALUES ('l', 'a', 'a', 'reminds_of', 0.5, '2026-01-01');";
    database(&path, &format!("{SPACEBOT}{more}"));
    let (_, all) = read(&path);
    assert_eq!(named(&all, "a").request.importance, Some(1.0));
    assert_eq!(all.notes.len(), 2, "{:?}", all.notes);
}

#[test]
fn the_categories_of_groups_set_what_the_dialect_sets() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("memories.db");
    database(&path, GROUPS);
    let (system, all) = read(&path);
    assert_eq!((system, all.memories.len()), (System::Groups, 3));
    let forms: Vec<_> = all
        .memories
        .iter()
        .map(|memory| (memory.request.key.as_deref(), memory.request.content_type, memory.request.stability))
        .collect();
    assert_eq!(
        forms,
        [
            (Some("favorite-color"), Some(ContentType::Text), Some(Stability::Stable)),
            (Some("today"), Some(ContentType::Text), Some(Stability::Volatile)),
            (Some("conversation-2026-01-03"), Some(ContentType::Transcript), None),
        ]
    );
    assert_eq!(named(&all, "today").request.source_note.as_deref(), Some("memories.db {\"by\": \"agent\"}"));
}

#[test]
fn one_group_is_read_and_never_another() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("memories.db");
    let groups = database(&path, GROUPS);
    groups
        .execute_batch(
            "INSERT INTO memories VALUES ('b1', 'family', 'favorite-color', 'Red', 'core', '{}', '2026-01-01', '2026-01-01')",
        )
        .expect("another group");
    let source = foreign::find(&path).expect("read").expect("somebody's");
    let error = source.read(None).expect_err("which one?");
    assert_eq!(
        error.to_string(),
        format!("{} contains the memories of 2 groups: family, main", path.display())
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("--group")), "{error}");
    let Ok(ForeignContent::Memories(family)) = source.read(Some("family")) else { panic!("the family's") };
    assert_eq!(
        family.memories.iter().map(|memory| memory.request.content.as_str()).collect::<Vec<_>>(),
        ["Red"]
    );
    assert!(matches!(source.read(Some("other")), Err(ForeignError::NoGroup { .. })));
    let (one, other) = (&family.memories[0].name, "main\u{0}favorite-color");
    assert_ne!(one, other, "a key is another one in another group");
}

#[test]
fn the_names_of_groups_are_said_without_what_a_terminal_would_obey() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("memories.db");
    let groups = database(&path, GROUPS);
    groups
        .execute_batch(
            "INSERT INTO memories VALUES ('b1', 'red' || char(27) || '[31m' || char(10) || 'two', 'k', 'x', 'core', '{}', \
             '2026-01-01', '2026-01-01')",
        )
        .expect("another group");
    let source = foreign::find(&path).expect("read").expect("somebody's");
    let error = source.read(None).expect_err("which one?").to_string();
    assert!(error.ends_with("2 groups: main, red [31m two"), "{error:?}");
    let hint = source.read(Some("other")).expect_err("no such group").hint();
    assert_eq!(hint.as_deref(), Some("it has main, red [31m two"));
}

#[test]
fn rows_of_no_group_are_left_out_and_said() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("memories.db");
    let groups = database(
        &path,
        "CREATE TABLE memories (group_folder TEXT, key TEXT, content TEXT, category TEXT);
         INSERT INTO memories VALUES (NULL, 'a', 'of nobody', 'core'), (NULL, 'b', 'of nobody too', 'core')",
    );
    let described = || {
        let (_, all) = read(&path);
        let unread: Vec<_> = all.unread.into_iter().map(|one| (one.what, one.why)).collect();
        (all.memories.len(), unread)
    };
    let why = "it does not say which group it is of";
    let left = ["a", "b"].map(|key| (key.to_owned(), why.to_owned())).to_vec();
    assert_eq!(described(), (0, left.clone()));
    groups.execute_batch("INSERT INTO memories VALUES ('main', 'c', 'of main', 'core')").expect("another");
    assert_eq!(described(), (1, left));
}
