//! The index over the SQLite store: two users of one home, like two processes, and a restored backup.

use std::path::Path;
use std::sync::Arc;

use tempfile::tempdir;
use tulving_core::model::change::Write;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId, TeamId, Version};
use tulving_core::model::memory::{Embedding, VersionFields};
use tulving_core::model::request::Filter;
use tulving_core::model::search::{QueryVector, SearchQuery, SearchScope};
use tulving_core::model::space::{MemberOf, Membership, Space};
use tulving_core::model::vocabulary::{Boundary, Role, SpaceKind};
use tulving_core::ports::{Directory, Index};
use tulving_store::{ExistingFilePolicy, FoldOutcome, SearchIndex, SqliteStore};
use tulving_testkit::build;
use tulving_text::terms;

use crate::made::{apply, insert, memory, save, store, time, user};

struct Process {
    store: Arc<SqliteStore>,
    index: SearchIndex,
}

fn process(home: &Path) -> Process {
    let store = Arc::new(store(home));
    let index = SearchIndex::open(Arc::clone(&store), &store.home().index_dir());
    Process { store, index }
}

impl Process {
    fn find(&self, asked: &str, vector: Option<Vec<f32>>) -> Vec<MemoryId> {
        self.search(Filter::default(), asked, vector)
    }

    /// Returns the memories found in one space alone.
    fn find_within(&self, space: SpaceId, asked: &str) -> Vec<MemoryId> {
        self.search(Filter { space: Some(space), ..Filter::default() }, asked, None)
    }

    fn search(&self, filter: Filter, asked: &str, vector: Option<Vec<f32>>) -> Vec<MemoryId> {
        let scope =
            SearchScope { visibility: self.store.visibility(&user()).expect("a sight"), filter, among: None };
        let meaning = vector.map(|vector| QueryVector { model: "a".to_owned(), vector });
        let question =
            SearchQuery { terms: terms::terms(asked), meaning, depth: 10, ..SearchQuery::default() };
        let found = self.index.search(&scope, &question).expect("an answer");
        found.items.iter().map(|item| item.memory).collect()
    }
}

#[test]
fn each_sees_what_the_other_saves_erases_and_folds() {
    let home = tempdir().expect("a folder");
    let (one, other) = (process(home.path()), process(home.path()));
    let fruits = [
        "apple",
        "banana",
        "cherry",
        "damson",
        "elderberry",
        "fig",
        "guava",
        "honeydew",
        "imbe",
        "jackfruit",
        "kiwi",
        "lemon",
    ];
    for (round, fruit) in fruits.into_iter().enumerate() {
        let (here, there) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let id = save(&here.store, &format!("walrus {fruit}"));
        assert_eq!(there.find(fruit, None), [id]);
        assert_eq!(here.find(fruit, None), [id]);
        if round % 3 == 0 {
            apply(&there.store, vec![Write::Erase { id, from: None }]);
            assert!(here.find(fruit, None).is_empty());
            assert!(there.find(fruit, None).is_empty());
        }
        if round % 4 == 1 {
            assert!(matches!(here.index.tend_now().expect("folded"), FoldOutcome::Done { .. }));
        }
    }
    assert_eq!(one.find("walrus", None).len(), 8);
    assert_eq!(other.find("walrus", None).len(), 8);
    assert_eq!(process(home.path()).find("walrus", None).len(), 8);
}

#[test]
fn a_memory_is_found_where_it_went_and_not_where_it_was() {
    let home = tempdir().expect("a folder");
    let (one, other) = (process(home.path()), process(home.path()));
    let hub = Space {
        id: SpaceId::mint(time(1)),
        team: TeamId::LOCAL,
        name: "hub".to_owned(),
        kind: SpaceKind::Hub,
        created_at: time(1),
    };
    let there = hub.id;
    let of = MemberOf::Space(there);
    let member = Membership { principal: PrincipalId::USER, of, role: Role::Writer };
    apply(&one.store, vec![Write::AddSpace(hub), Write::SetMember(member)]);
    let walrus = save(&one.store, "walrus");
    save(&one.store, "another that stays");
    let here = SpaceId::DEFAULT;
    let relocate = |from, to| Write::Relocate { id: walrus, from: (from, Version::FIRST), to };
    let found =
        |space| [&one, &other, &process(home.path())].map(|process| process.find_within(space, "walrus"));
    let found_in = |inside, outside| {
        assert_eq!(found(inside), [[walrus], [walrus], [walrus]]);
        assert_eq!(found(outside), [[], [], []] as [[MemoryId; 0]; 3]);
    };
    // From the tail into the tail; from the base into the tail; and after the tail is folded.
    found_in(here, there);
    apply(&one.store, vec![relocate(here, there)]);
    found_in(there, here);
    one.index.tend_now().expect("folded");
    found_in(there, here);
    apply(&other.store, vec![relocate(there, here)]);
    found_in(here, there);
    assert!(!other.index.status().expect("a status").holds_erased, "nothing was erased");
    other.index.tend_now().expect("folded");
    found_in(here, there);
}

#[test]
fn what_was_erased_is_told_from_what_was_only_hidden() {
    let home = tempdir().expect("a folder");
    let one = process(home.path());
    let mut shared = memory("walrus");
    shared.fields.boundary = Boundary::Org;
    let narrower = VersionFields { boundary: Boundary::Private, ..shared.fields.clone() };
    let (id, narrowed) = (shared.id, build::revise(&shared, narrower));
    apply(&one.store, vec![insert(shared), insert(memory("another that stays"))]);
    one.index.tend_now().expect("folded");
    apply(&one.store, vec![narrowed]);
    assert_eq!(one.find("walrus", None), [id]);
    assert!(!one.index.status().expect("a status").holds_erased);
    apply(&one.store, vec![Write::Erase { id, from: None }]);
    assert!(one.find("walrus", None).is_empty());
    assert!(one.index.status().expect("a status").holds_erased);
    one.index.purge().expect("purged");
    assert!(!one.index.status().expect("a status").holds_erased);
}

#[test]
fn a_vector_is_found_as_soon_as_it_is_there() {
    let home = tempdir().expect("a folder");
    let (one, other) = (process(home.path()), process(home.path()));
    let made = memory("walrus");
    let (id, from) = (made.id, made.version);
    apply(&one.store, vec![Write::ChooseModel { from: None, to: "a".to_owned() }, insert(made)]);
    assert!(other.find("", Some(vec![0.6, 0.8])).is_empty());
    let embedding = Embedding { model: "a".to_owned(), vector: vec![0.6, 0.8], sentences: Vec::new() };
    apply(&one.store, vec![Write::Embed { id, from, embeddings: vec![(0, embedding)] }]);
    assert_eq!(other.find("", Some(vec![0.6, 0.8])), [id]);
    assert_eq!(one.find("", Some(vec![0.6, 0.8])), [id]);
}

#[test]
fn a_restored_backup_makes_the_index_anew() {
    let home = tempdir().expect("a folder");
    let (one, other) = (process(home.path()), process(home.path()));
    let kept = save(&one.store, "walrus kept");
    let file = home.path().join("copy.db");
    one.store.backup(&file, ExistingFilePolicy::Refuse, &mut |_, _| ()).expect("made");
    save(&one.store, "walrus lost");
    one.index.tend_now().expect("folded");
    assert_eq!(other.find("walrus", None).len(), 2);
    one.store.restore(&file, &mut |_, _| ()).expect("restored");
    for process in [&one, &other, &process(home.path())] {
        assert_eq!(process.find("walrus", None), [kept]);
    }
}
