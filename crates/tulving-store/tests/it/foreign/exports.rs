//! The import of exports: JSON, JSON Lines and folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tempfile::{TempDir, tempdir};
use tulving_core::model::foreign::{ForeignCollection, ForeignStatus, ForeignWorkspace};
use tulving_core::model::vocabulary::{Boundary, ContentType, Kind, MemoryType, Relation, Stability, System};
use tulving_store::foreign::{self, ForeignContent, ForeignError};

use super::{named, read, refused};

/// Writes a file with this text.
fn written(name: &str, text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    (folder, path)
}

fn of(name: &str, text: &str) -> (System, ForeignCollection) {
    let (_folder, path) = written(name, text);
    read(&path)
}

/// Returns the system that a text comes from.
fn whose(text: &str) -> Option<System> {
    let (_folder, path) = written("file.json", text);
    foreign::find(&path).expect("it is read").map(|source| source.system())
}

const MEMORY: &str = r#"{"id": "mem_550e8400e29b41d4a716446655440000", "hub_id": "hub_1", "owner_id": "u", "title": "Deploying",
    "content": "Run make deploy.", "content_type": "markdown", "content_hash": "abc", "summary": "How to\ndeploy",
    "kind": "procedural", "stability": "evolving", "tags": ["ops", 7, "deploy"], "boundary": "team", "state": "archived",
    "pinned": true, "source": "cli", "source_agent": "claude-code", "source_path": "/docs/deploy.md", "version": 3,
    "access_count": 9, "created_at": "2026-01-01T10:00:00Z", "updated_at": "2026-01-02T10:00:00Z",
    "accessed_at": "2026-01-03T10:00:00Z"}"#;

#[test]
fn memaxs_memories_keep_their_fields() {
    for text in [
        format!(r#"{{"memories": [{MEMORY}], "next_cursor": "", "has_more": false, "total": 1}}"#),
        format!(r#"{{"data": [{MEMORY}]}}"#),
        format!(r#"{{"data": {{"memories": [{MEMORY}], "has_more": false}}}}"#),
        format!("[{MEMORY}]"),
        format!("{}\n\n", MEMORY.replace('\n', " ")) + &MEMORY.replace('\n', " ").replace("0000\"", "0001\""),
    ] {
        let (system, all) = of("export.json", &text);
        assert_eq!((system, all.unread.len(), all.notes.len()), (System::Memax, 0, 0), "{text}");
        let memory = named(&all, "mem_550e8400e29b41d4a716446655440000");
        let request = &memory.request;
        assert_eq!(
            memory.id.map(|id| id.to_string()).as_deref(),
            Some("550e8400-e29b-41d4-a716-446655440000")
        );
        assert_eq!((request.kind, request.stability), (Some(Kind::Procedural), Some(Stability::Evolving)));
        assert_eq!(
            (request.boundary, request.content_type),
            (Some(Boundary::Team), Some(ContentType::Markdown))
        );
        assert_eq!(
            (request.title.as_deref(), request.summary.as_deref()),
            (Some("Deploying"), Some("How to deploy"))
        );
        assert_eq!(request.tags.as_deref(), Some(["ops".to_owned(), "deploy".to_owned()].as_slice()));
        assert_eq!(request.source_path.as_deref(), Some("/docs/deploy.md"));
        assert!(request.pinned);
        assert_eq!((memory.agent.as_deref(), memory.stands), (Some("claude-code"), ForeignStatus::Archived));
        assert_eq!(memory.times.access_count, 9);
    }
}

#[test]
fn a_page_of_several_is_said_to_be_one_and_bad_rows_are_named() {
    let text = format!(
        r#"{{"memories": [{MEMORY}, 7, {{"id": "mem_short", "kind": "semantic"}}, {{"content": "bare", "kind": "nonsense"}}],
            "has_more": true, "next_cursor": "x"}}"#
    );
    let (_, all) = of("page.json", &text);
    assert!(all.notes[0].contains("one page of several"), "{:?}", all.notes);
    let unread: Vec<_> = all.unread.iter().map(|one| (one.what.as_str(), one.why.as_str())).collect();
    assert_eq!(unread, [("element 2", "it is not an object"), ("mem_short", "it has no content")]);
    let bare = named(&all, "bare");
    assert_eq!((bare.request.kind, bare.id), (None, None));
}

const GRAPH: &str = r#"{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks Spanish","Likes tea"]}
{"type":"entity","name":"Anthropic","entityType":"organization","observations":[]}
{"type":"entity","name":"Platform team","entityType":"team","observations":["Owns the API"]}
{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"works_at"}
{"type":"relation","from":"Platform team","to":"Anthropic","relationType":"part_of"}
{"type":"relation","from":"Anthropic","to":"Platform team","relationType":"contains"}
{"type":"relation","from":"John_Smith","to":"Nowhere","relationType":"was_born_in"}
{"type":"relation","from":"John_Smith","to":"John_Smith","relationType":"knows"}
not JSON
{"type":"note","text":"?"}
"#;

#[test]
fn entities_become_memories_and_relations_links() {
    let (system, all) = of("memory.jsonl", GRAPH);
    assert_eq!((system, all.memories.len()), (System::Mcp, 3));
    let john = named(&all, "John_Smith");
    assert_eq!(john.request.title.as_deref(), Some("John_Smith"));
    assert_eq!(john.request.memory_type, Some(MemoryType::Person));
    assert_eq!(john.request.tags.as_deref(), Some(["person".to_owned()].as_slice()));
    assert_eq!(
        john.request.content,
        "**John_Smith** (person)\n\n- Speaks Spanish\n- Likes tea\n\nRelations:\n\n- works at Anthropic\n- was born in Nowhere\n- knows John_Smith"
    );
    let links: Vec<_> =
        all.links.iter().map(|link| (link.source.as_str(), link.target.as_str(), link.relation)).collect();
    assert_eq!(
        links,
        [
            ("John_Smith", "Anthropic", Relation::RelatedTo),
            ("John_Smith", "Nowhere", Relation::RelatedTo),
            ("Platform team", "Anthropic", Relation::PartOf),
        ]
    );
    let unread: Vec<_> = all.unread.iter().map(|one| (one.what.as_str(), one.why.as_str())).collect();
    assert_eq!(
        unread,
        [("line 9", "it is not JSON: see column 2"), ("line 10", "it is neither an entity nor a relation")]
    );
}

#[test]
fn a_graph_as_its_tools_give_it_is_the_same() {
    let lines = GRAPH
        .lines()
        .filter(|line| line.contains("\"type\":\"entity\"") || line.contains("\"type\":\"relation\""));
    let (entities, relations): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains("\"entity\""));
    let graph =
        format!(r#"{{"entities": [{}], "relations": [{}]}}"#, entities.join(","), relations.join(","));
    let (system, whole) = of("graph.json", &graph);
    let (_, lines) = of("memory.jsonl", GRAPH);
    assert_eq!((system, &whole.links), (System::Mcp, &lines.links));
    let contents = |all: &ForeignCollection| {
        all.memories.iter().map(|memory| memory.request.content.clone()).collect::<Vec<_>>()
    };
    assert_eq!(contents(&whole), contents(&lines));
}

#[test]
fn one_entity_alone_is_a_graph() {
    let line = r#"{"type":"entity","name":"A","entityType":"t","observations":["o"]}"#;
    assert_eq!(of("memory.json", line).0, System::Mcp);
    let twice = format!("{line}\n{}", line.replace("\"o\"", "\"p\""));
    let (_, all) = of("memory.jsonl", &twice);
    assert_eq!(all.memories.len(), 1);
    assert!(all.memories[0].request.content.ends_with("- o\n- p"), "{}", all.memories[0].request.content);
}

#[test]
fn messages_become_memories_of_one_conversation() {
    let (system, all) = of(
        "chat.json",
        r#"{"conversation": "planning", "messages": [
            {"role": "user", "speaker": "Ana", "content": "Shall we ship?", "at": "2026-05-27T09:00:00Z", "id": "m1"},
            {"role": "assistant", "content": "Yes.", "at": 1779872405},
            {"role": "assistant", "content": "", "at": 1779872406},
            {"role": "user", "content": "Yes.", "at": "2026-05-27 09:00:10"}]}"#,
    );
    assert_eq!((system, all.memories.len(), all.unread.len()), (System::Chat, 3, 0));
    let said: Vec<_> = all
        .memories
        .iter()
        .map(|memory| {
            (
                memory.request.speaker.as_deref(),
                memory.request.content.as_str(),
                memory.request.conversation.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            (Some("Ana"), "Shall we ship?", Some("planning")),
            (Some("assistant"), "Yes.", Some("planning")),
            (Some("user"), "Yes.", Some("planning"))
        ]
    );
    assert!(all.memories.is_sorted_by_key(|memory| memory.request.position));
    assert_eq!(all.memories[0].request.content_type, Some(ContentType::Chat));
    assert_eq!(
        all.memories[1].request.occurred_at.map(|at| at.to_string()).as_deref(),
        Some("2026-05-27T09:00:05.000000Z")
    );
    assert_eq!(all.memories[0].label, "message 1 of planning");
}

#[test]
fn messages_of_several_parts_and_of_nobody_are_taken_too() {
    let (system, all) = of(
        "chat.json",
        r#"{"messages": [
            {"content": "Who said this?"},
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {}}, "And here."]},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "look"}]},
            {"role": "assistant", "content": 7}]}"#,
    );
    assert_eq!(system, System::Chat);
    let said: Vec<_> = all
        .memories
        .iter()
        .map(|memory| (memory.request.speaker.as_deref(), memory.request.content.as_str()))
        .collect();
    assert_eq!(said, [(None, "Who said this?"), (Some("user"), "Look.\n\nAnd here.")]);
    assert_eq!(all.unread.len(), 1, "what is no text is named: {:?}", all.unread);
}

#[test]
fn a_later_export_that_begins_later_names_its_messages_alike() {
    let message = |n: usize| {
        format!(r#"{{"role": "user", "content": "message {}", "at": "2026-05-27T09:00:{n:02}Z"}}"#, n % 3)
    };
    let export = |from: usize, to: usize| {
        let messages: Vec<String> = (from..to).map(message).collect();
        of("c.json", &format!(r#"{{"title": "long", "messages": [{}]}}"#, messages.join(","))).1
    };
    let (first, second) = (export(0, 6), export(3, 9));
    let names =
        |all: &ForeignCollection| all.memories.iter().map(|memory| memory.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&first)[3..], names(&second)[..3]);
    assert_eq!(
        first.memories[3].request.position, second.memories[0].request.position,
        "and their order is that of all"
    );
}

#[test]
fn chats_come_as_lists_and_lines_too() {
    let lines = "{\"conversation\": \"a\", \"speaker\": \"Ana\", \"content\": \"hi\"}\n{\"conversation\": \"b\", \"role\": \"user\", \"content\": \"ho\"}\n{\"conversation\": \"a\", \"role\": \"assistant\", \"content\": \"hi again\"}\n";
    let (system, all) = of("chats.jsonl", lines);
    assert_eq!((system, all.memories.len()), (System::Chat, 3));
    let of_a = all.memories.iter().filter(|memory| memory.request.conversation.as_deref() == Some("a"));
    assert_eq!(of_a.map(|memory| memory.request.position).collect::<Vec<_>>(), [Some(1), Some(2)]);
    let (_, listed) = of("export.json", r#"[{"role": "user", "content": "unnamed"}]"#);
    assert_eq!(listed.memories[0].request.conversation.as_deref(), Some("export"), "by the name of the file");
    let several = r#"[{"title": "one", "messages": [{"role": "user", "content": "x"}]}, {"title": "two", "messages": [{"role": "user", "content": "x"}]}]"#;
    let (_, both) = of("chats.json", several);
    assert_eq!(both.memories.len(), 2);
    assert_ne!(both.memories[0].name, both.memories[1].name);
}

#[test]
fn what_is_said_twice_of_an_entity_is_written_once() {
    let (_, all) = of(
        "memory.jsonl",
        concat!(
            r#"{"type":"entity","name":"A","entityType":"t","observations":["o","p","o"]}"#,
            "\n",
            r#"{"type":"entity","name":"A","entityType":"t","observations":["p"]}"#,
            "\n",
            r#"{"type":"relation","from":"A","to":"B","relationType":"knows"}"#,
            "\n",
            r#"{"type":"relation","from":"A","to":"B","relationType":"knows"}"#,
        ),
    );
    assert_eq!(all.memories[0].request.content, "**A** (t)\n\n- o\n- p\n\nRelations:\n\n- knows B");
}

#[test]
fn a_very_large_entity_and_very_many_conversations_are_read_in_no_time() {
    const MANY: usize = 50_000;
    let listed =
        |one: &dyn Fn(usize) -> String, between: &str| (0..MANY).map(one).collect::<Vec<_>>().join(between);
    let observations = listed(&|n| format!("\"o{n}\""), ",");
    let relations =
        listed(&|n| format!(r#"{{"type":"relation","from":"A","to":"B{n}","relationType":"knows"}}"#), "\n");
    let entity =
        format!(r#"{{"type":"entity","name":"A","entityType":"t","observations":[{observations}]}}"#);
    let chats = listed(&|n| format!(r#"{{"conversation":"c{n}","role":"user","content":"x"}}"#), "\n");
    let began = Instant::now();
    assert_eq!(of("memory.jsonl", &format!("{entity}\n{relations}")).1.links.len(), MANY);
    assert_eq!(of("chats.jsonl", &chats).1.memories.len(), MANY);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn json_of_another_sort_is_nobodys() {
    for text in [
        r#"{"name": "tulving", "version": "1.0.0"}"#,
        r#"{"messages": ["a", "b"]}"#,
        r#"{"memories": [{"text": "no content"}]}"#,
        r#"{"data": {"rows": []}}"#,
        r#"[1, 2, 3]"#,
        r#"[{"content": "an article", "author": "me"}]"#,
        "{broken",
        "[broken\n[again\n",
        "{\"a\": 1}\n{\"b\": 2}\n",
        "# Notes\n\nplain",
        "",
        "   \n",
    ] {
        assert_eq!(whose(text), None, "{text:?}");
    }
    assert_eq!(whose("\u{feff} {\"memories\": []}"), Some(System::Memax), "an export of nothing");
    let (_folder, path) = written("file.json", [0xff, 0xfe, b'{', 0]);
    assert!(foreign::find(&path).expect("it is read").is_none());
}

#[test]
fn who_names_a_system_hears_why_it_is_not_that() {
    let (_folder, path) = written("notes.md", "# Notes");
    let said = |system| {
        foreign::of(&path, system).and_then(|source| source.read(None)).expect_err("it is not").to_string()
    };
    let name = path.display().to_string();
    assert_eq!(said(System::Mcp), format!("{name} is not what mcp writes: it does not begin like JSON"));
    assert_eq!(said(System::Max), format!("{name} is not a SQLite database"));
    assert_eq!(said(System::Maven), format!("{name} is a file where a folder is needed"));
    let (_folder, path) = written("broken.json", "{\n  \"memories\": [}\n}");
    let error = foreign::of(&path, System::Memax).err().expect("no JSON");
    assert_eq!(error.to_string(), format!("{} is not JSON: see line 2, column 16", path.display()));
    let (_folder, path) = written("other.json", "{\"a\": 1}");
    let error = foreign::of(&path, System::Chat).and_then(|source| source.read(None)).expect_err("no chat");
    assert!(matches!(error, ForeignError::NotOf { system: System::Chat, .. }), "{error}");
}

#[test]
fn nesting_without_an_end_is_no_json() {
    let deep = "[".repeat(200_000);
    assert_eq!(whose(&deep), None);
    let deep = format!("{{\"memories\": {}", "[".repeat(200_000));
    assert_eq!(whose(&deep), None);
}

fn diary(path: &Path) -> ForeignWorkspace {
    let source = foreign::find(path).expect("read").expect("a workspace");
    assert_eq!(source.system(), System::Maven);
    match source.read(None).expect("read") {
        ForeignContent::Journals(diary) => diary,
        ForeignContent::Memories(_) => panic!("memories"),
    }
}

#[test]
fn a_maven_workspace_is_known_by_its_journals() {
    let folder = tempdir().expect("a folder");
    let memory = folder.path().join("memory");
    assert!(foreign::find(folder.path()).expect("read").is_none());
    fs::create_dir(&memory).expect("made");
    assert!(foreign::find(folder.path()).expect("read").is_none(), "the name alone says nothing");
    for (name, text) in [
        ("2026-05-26.md", "b"),
        ("2026-05-25.md", "a"),
        ("2026-02-30.md", "no such day"),
        ("2026-05-26-notes.md", "no journal"),
    ] {
        fs::write(memory.join(name), text).expect("written");
    }
    fs::write(folder.path().join("SOUL.md"), "beside").expect("written");
    let read = diary(folder.path());
    let journals: Vec<_> =
        read.journals.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    assert_eq!(journals, [("2026-05-25.md", b"a".as_slice()), ("2026-05-26.md", b"b")]);
    assert_eq!((read.long_term, read.beside), (None, 1));
    let skipped: Vec<&str> = read.unread.iter().map(|skipped| skipped.what.as_str()).collect();
    assert_eq!(skipped, ["2026-02-30.md", "2026-05-26-notes.md"], "what is no journal is named");
    fs::write(memory.join("MEMORY.md"), "known").expect("written");
    assert_eq!(diary(&memory).long_term.as_deref(), Some(b"known".as_slice()), "the folder itself will do");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempdir().expect("a folder");
    let missing = folder.path().join("missing.db");
    assert!(matches!(foreign::find(&missing), Err(ForeignError::Unreadable { .. })));
    let pipe = folder.path().join("pipe.json");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .expect("a pipe");
    assert!(matches!(refused_now(&pipe), ForeignError::NotAFile { is: "a pipe", .. }));
    let folder_as_max = foreign::of(folder.path(), System::Max).err().expect("a folder is no database");
    assert!(matches!(folder_as_max, ForeignError::NotAFile { .. }), "{folder_as_max}");
}

fn refused_now(path: &Path) -> ForeignError {
    match foreign::find(path) {
        Err(error) => error,
        Ok(_) => refused(path),
    }
}
