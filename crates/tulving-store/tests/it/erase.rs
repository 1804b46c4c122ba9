use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::tempdir;
use tulving_core::model::change::{FrozenOrder, RecallCount, Revision, Write};
use tulving_core::model::id::{ListingId, MemoryId, PrincipalId, SpaceId, Version};
use tulving_core::model::integrity::StoreCheckDepth;
use tulving_core::model::memory::{Mirror, Status};
use tulving_core::model::request::{Filter, ForgottenFilter, Sort};
use tulving_core::model::vocabulary::{State, VersionAct};
use tulving_core::ports::{IntegrityChecks, Memories, Store, Upkeep};
use tulving_core::text::chunk;
use tulving_store::{Home, SqliteOptions, SqliteStore};
use tulving_testkit::build::StoreFixture;
use tulving_text::chunk::ContentForm;

use crate::made::{act, apply, fields, insert, memory, save, store, time, user};

/// Returns the files below a folder that contain a text.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if fs::read(&path).expect("read").windows(needle.len()).any(|part| part == needle.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn update(store: &SqliteStore, id: MemoryId, from: Version, content: &str) {
    let revision = Revision {
        attachment: None,
        id,
        from,
        act: VersionAct::Updated,
        fields: fields(content),
        stood: Status::new(State::Active),
        status: Status::new(State::Active),
        chunks: Some(chunk::split(content, ContentForm::PROSE)),
        confirmed: None,
    };
    apply(store, vec![Write::Revise(Box::new(revision))]);
}

#[test]
fn erased_text_is_in_no_file() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    save(&store, "a neighbour that stays");
    let secret = memory("xyzzy-first secret");
    let (id, status) = (secret.id, secret.status);
    apply(&store, vec![insert(secret)]);
    save(&store, "another neighbour that stays");
    update(&store, id, Version::FIRST, &format!("xyzzy-second {}", "xyzzy-long ".repeat(2_000)));
    let listing = FrozenOrder {
        id: ListingId::mint(time(0)),
        principal: user().principal,
        expires_at: time(500),
        ids: store.ids(&user(), &Filter::default(), Sort::Newest).expect("read"),
    };
    apply(&store, vec![Write::FreezeListing(listing)]);
    assert!(!files_with(home.path(), "xyzzy").is_empty(), "the test sees it while it is there");
    let forgotten = Status { forgotten_at: Some(time(2)), ..status };
    apply(&store, vec![Write::Move { id, from: status, to: forgotten }]);
    assert!(
        store.memory(&user(), memory("").space, id.into(), ForgottenFilter::Only).expect("read").is_some()
    );
    apply(&store, vec![Write::Erase { id, from: None }]);
    assert_eq!(files_with(home.path(), "xyzzy"), Vec::<String>::new());
    assert_eq!(store.count(&user(), &Filter::default()).expect("counted"), 2);
    store.apply(&act(vec![Write::Erase { id, from: None }])).expect_err("it is gone");
}

#[test]
fn erased_text_goes_also_where_somebody_was_reading() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let id = save(&store, "xyzzy secret");
    let reader = rusqlite::Connection::open(home.path().join("tulving.db")).expect("opened");
    reader.execute_batch("BEGIN; SELECT count(*) FROM memories;").expect("a long read");
    apply(&store, vec![Write::Erase { id, from: None }]);
    assert!(!files_with(home.path(), "xyzzy").is_empty(), "the reader still needs the log");
    let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
    assert!(checkup.findings.iter().any(|finding| finding.name == "erasure" && finding.hint.is_some()));
    drop(reader);
    drop(store);
    let store = crate::made::store(home.path());
    assert_eq!(files_with(home.path(), "xyzzy"), Vec::<String>::new());
    drop(store);
}

/// Rows that grow, shrink and move between pages must not leave copies of themselves behind.
#[test]
fn erased_text_is_in_no_file_after_much_moving_about() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut random = fastrand::Rng::with_seed(7);
    let mut alive: Vec<(MemoryId, Version, String)> = Vec::new();
    let mut erased: Vec<String> = Vec::new();
    let text = |mark: &str, random: &mut fastrand::Rng| mark.repeat(random.usize(1..200));
    for round in 0..1_500_i64 {
        let mark = format!("<{round}>");
        if alive.len() < 200 || random.u8(..4) == 0 {
            let id = save(&store, &text(&mark, &mut random));
            alive.push((id, Version::FIRST, mark));
            continue;
        }
        let pick = random.usize(..alive.len());
        let (id, version, mark) = alive[pick].clone();
        match random.u8(..4) {
            0 | 1 => {
                update(&store, id, version, &text(&mark, &mut random));
                alive[pick].1 = version.next();
            }
            2 => {
                let touch = RecallCount { id, count: random.u64(1..1_000_000), at: time(round) };
                apply(&store, vec![Write::Touch(vec![touch])]);
            }
            _ => {
                apply(&store, vec![Write::Erase { id, from: None }]);
                alive.swap_remove(pick);
                erased.push(mark);
            }
        }
    }
    assert!(erased.len() > 100 && alive.len() > 100);
    assert!(store.scrub().expect("rewritten"));
    assert!(!store.scrub().expect("asked"), "there is nothing left to do");
    let files = fs::read_dir(home.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let bytes: Vec<u8> = files.flat_map(|path| fs::read(path).expect("read")).collect();
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(alive.iter().all(|(.., mark)| bytes.contains(mark)), "the test sees what is there");
    let left: Vec<_> = erased.iter().filter(|mark| bytes.contains(*mark)).collect();
    assert!(left.is_empty(), "{} of {} are left: {left:?}", left.len(), erased.len());
}

/// Frequent changes of one file do not rewrite the whole database each time.
#[test]
fn the_database_is_rewritten_once_many_mirrors_have_gone() {
    let folder = tempdir().expect("a folder");
    let home = Home::open_or_create(folder.path()).expect("a home");
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default()).expect("a store"));
    let world = StoreFixture::new(store.clone());
    let (space, owner) = (SpaceId::DEFAULT, PrincipalId::USER);
    let mirror = |n: u32| {
        world.put(space, owner, &format!("line {n}"), |memory| {
            memory.provenance.source_path = Some("memory/2026-05-27.md".to_owned());
            memory.provenance.mirror = Some(Mirror { line: n, occurrence: 0 });
        })
    };
    world.erase(mirror(1).id);
    assert!(!store.scrub().expect("scrubbed"), "one line is not worth it");
    for n in 2..=1_000 {
        world.erase(mirror(n).id);
    }
    assert!(store.scrub().expect("scrubbed"), "a thousand are");
    world.erase(world.put(space, owner, "a record", |_| {}).id);
    assert!(store.scrub().expect("scrubbed"), "a record is by itself");
}
