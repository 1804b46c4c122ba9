//! Records of imported files, the files that memories describe, and the results of the work on them.

use tulving_core::model::change::{BackgroundResult, Write};
use tulving_core::model::error::{Conflict, StoreError, Unique};
use tulving_core::model::file::{FileStamp, ImportedFile};
use tulving_core::model::id::{PrincipalId, SpaceId, Version};
use tulving_core::model::memory::{Attachment, Memory, Status};
use tulving_core::model::vocabulary::{Boundary, State};
use tulving_core::ports::DuplicateQuery;
use tulving_core::text::chunk;
use tulving_text::chunk::ContentForm;

use super::{StoreFactory, conflict, good, world};
use crate::build::{self, StoreFixture};

const HERE: SpaceId = SpaceId::DEFAULT;
const USER: PrincipalId = PrincipalId::USER;

fn file(memory: &Memory, path: &str, size: u64) -> ImportedFile {
    ImportedFile {
        path: path.to_owned(),
        stamp: FileStamp { size, modified: -5, inode: u64::MAX },
        digest: [7; 32],
        settled: size.is_multiple_of(2),
        memory: memory.id,
        status: memory.status,
    }
}

fn note(to: &ImportedFile) -> Write {
    Write::Imported { space: HERE, path: to.path.clone(), to: Some(to.clone()) }
}

fn attached(world: &StoreFixture, name: Option<&str>, hash: char) -> Memory {
    let mut memory = world.draft(HERE, USER, &format!("a file {hash} {name:?}"));
    memory.provenance.attachment = Some(Attachment {
        object_key: format!("k/{hash}"),
        media_type: "application/pdf".to_owned(),
        size: 3,
        hash: hash.to_string().repeat(64),
        name: name.map(str::to_owned),
        trouble: None,
    });
    memory
}

/// A record of an imported file has the state of the last import by this importer, as long as the memory with the path
/// exists. Writing the record adds no entry to the change log.
pub fn an_imported_file_is_known_as_it_was(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let put = |content: &str, path: &str| {
        world.put(HERE, USER, content, |m| m.provenance.source_path = Some(path.to_owned()))
    };
    let (one, other) = (put("one", "/d/b.md"), put("other", "/d/a.md"));
    let head = good(world.store.head());
    let (b, a) = (file(&one, "/d/b.md", 4), file(&other, "/d/a.md", 5));
    world.apply(vec![note(&b), note(&a)]);
    assert_eq!(good(world.store.imported(HERE, USER)), [a.clone(), b], "by path");
    assert_eq!(good(world.store.imported(HERE, world.principal("cook"))), []);
    assert_eq!(good(world.store.imported(world.hub("elsewhere"), USER)), []);
    let later = ImportedFile { digest: [8; 32], ..file(&one, "/d/b.md", 6) };
    world.apply(vec![note(&later), Write::Imported { space: HERE, path: a.path, to: None }]);
    assert_eq!(good(world.store.imported(HERE, USER)), std::slice::from_ref(&later));
    assert_eq!(good(world.store.head()), head, "nothing of it is in the log");
    world.apply(vec![note(&file(&other, "/d/b.md", 6))]);
    assert_eq!(
        good(world.store.imported(HERE, USER)),
        [],
        "a memory that has no such path is not the file's"
    );
    world.apply(vec![note(&later)]);
    let forgotten = world.forget(&one);
    let known = good(world.store.imported(HERE, USER));
    assert_eq!(known[0].status, forgotten.status, "how its memory stands now");
    world.erase(one.id);
    assert_eq!(good(world.store.imported(HERE, USER)), []);
    let refused = world.try_apply(vec![note(&later)]);
    assert_eq!(conflict(refused), Conflict::Gone { id: one.id });
}

/// A file whose memory was forgotten is reported as forgotten, until its importer saves another memory for it.
pub fn a_forgotten_file_is_known_until_another_memory_takes_its_place(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let saved = |owner: PrincipalId, path: &str, text: &str| {
        let mut memory = world.draft(HERE, owner, text);
        memory.provenance.source_path = Some(path.to_owned());
        memory.fields.boundary = Boundary::Private;
        world.save(memory)
    };
    let one = saved(USER, "/d/a.md", "one");
    world.apply(vec![note(&file(&one, "/d/a.md", 4))]);
    world.forget(&one);
    let known = || good(world.store.imported(HERE, USER)).len();
    saved(USER, "/d/b.md", "at another path");
    saved(world.principal("cook"), "/d/a.md", "another's");
    assert_eq!(known(), 1);
    let again = saved(USER, "/d/a.md", "again");
    assert_eq!(known(), 0);
    world.forget(&again);
    assert_eq!(known(), 1, "and is again when that one is forgotten");
}

/// If a file has moved, its memory gets the new path. The change conflicts if the memory already has another path, or
/// if the new path is taken.
pub fn a_memory_follows_its_file_to_another_path(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let saved = |path: &str| {
        let mut memory = world.draft(HERE, USER, path);
        memory.provenance.source_path = Some(path.to_owned());
        world.save(memory)
    };
    let (one, other) = (saved("/d/a.md"), saved("/d/b.md"));
    let repath =
        |from: &str, to: &str| Write::Repath { id: one.id, from: from.to_owned(), to: to.to_owned() };
    let head = good(world.store.head());
    world.apply(vec![repath("/d/a.md", "/d/c.md")]);
    let moved = world.seen(&build::eyes(USER), one.id).expect("there");
    assert_eq!(moved.provenance.source_path.as_deref(), Some("/d/c.md"));
    assert_eq!((moved.version, moved.usage), (one.version, one.usage), "no version");
    assert!(good(world.store.head()) > head, "who follows the log hears of it");
    assert_eq!(conflict(world.try_apply(vec![repath("/d/a.md", "/d/d.md")])), Conflict::Moved { id: one.id });
    let taken = world.try_apply(vec![repath("/d/c.md", "/d/b.md")]);
    assert_eq!(conflict(taken), Conflict::Taken { what: Unique::SourcePath });
    assert!(world.seen(&build::eyes(USER), other.id).is_some());
}

/// A file is unique by its bytes and not by its extracted text. A file without a name was stored before this rule.
pub fn a_file_is_unique_by_its_bytes(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let first = world.save(attached(&world, Some("a.pdf"), 'a'));
    let again = world.try_apply(vec![build::insert(&attached(&world, Some("b.pdf"), 'a'))]);
    assert_eq!(conflict(again), Conflict::Taken { what: Unique::Attachment });
    let mut same_text = attached(&world, Some("c.pdf"), 'b');
    same_text.fields = first.fields.clone();
    world.save(same_text);
    world.save(attached(&world, None, 'a'));
    let hash = "a".repeat(64);
    let duplicate_query =
        DuplicateQuery { attachment_hash: Some(&hash), ..DuplicateQuery::new(HERE, USER, Boundary::Hub) };
    let duplicate = good(world.store.duplicate(&build::eyes(USER), &duplicate_query)).expect("found");
    assert_eq!(duplicate.id, first.id);
    assert!(good(world.store.is_attached("k/a")) && !good(world.store.is_attached("k/z")));
    world.forget(&first);
    assert!(good(world.store.is_attached("k/a")), "what is forgotten may come back");
}

/// The result of the work replaces the placeholder without a new version, and only if the memory still has the version
/// and status that the work started from.
pub fn the_work_on_a_memory_settles_it(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let mut waiting = attached(&world, Some("a.pdf"), 'a');
    waiting.status = Status::new(State::Processing);
    let waiting = world.save(waiting);
    let mut fields = build::fields("what the file says");
    fields.text.title = Some("Its title".to_owned());
    let attachment = waiting.provenance.attachment.clone();
    let attachment = attachment.map(|file| Attachment { trouble: Some("half of it".to_owned()), ..file });
    let settled = BackgroundResult {
        id: waiting.id,
        from: waiting.version,
        chunks: Some(chunks_of(&fields.text.content)),
        fields: fields.clone(),
        stood: waiting.status,
        status: Status::new(State::Active),
        attachment: attachment.clone(),
    };
    let write = |settled: &BackgroundResult| vec![Write::Settle(Box::new(settled.clone()))];
    let stale = BackgroundResult { from: Version(7), ..settled.clone() };
    assert!(matches!(conflict(world.try_apply(write(&stale))), Conflict::Stale { .. }));
    let moved = BackgroundResult { stood: Status::new(State::Cooling), ..settled.clone() };
    assert_eq!(conflict(world.try_apply(write(&moved))), Conflict::Moved { id: waiting.id });
    let head = good(world.store.head());
    world.apply(write(&settled));
    assert!(good(world.store.head()) > head);
    let found = world.seen(&build::eyes(USER), waiting.id).expect("there");
    assert_eq!((found.fields, found.provenance.attachment), (fields, attachment));
    assert_eq!((found.version, found.usage), (waiting.version, waiting.usage), "no version");
    assert_eq!(found.status.state, State::Active);
    assert_eq!(good(world.store.versions(&build::eyes(USER), waiting.id)).len(), 1);
    assert_eq!(good(world.store.sections(&build::eyes(USER), waiting.id)).len(), 1);
    world.erase(waiting.id);
    let gone: Result<_, StoreError> = world.try_apply(write(&settled));
    assert_eq!(conflict(gone), Conflict::Gone { id: waiting.id });
}

fn chunks_of(content: &str) -> Vec<tulving_core::model::memory::Chunk> {
    chunk::split(content, ContentForm::PROSE)
}
