//! The table of tags follows the memories, and contains no tag that no memory has.

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::change::Write;
use tulving_core::model::id::MemoryId;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Filter, ForgottenFilter, Sort};
use tulving_core::ports::Memories;
use tulving_store::SqliteStore;
use tulving_testkit::build;

use crate::made::{apply, insert, memory, store, user};

fn tagged(content: &str, tags: &[&str]) -> Memory {
    let mut memory = memory(content);
    memory.fields.text.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    memory
}

fn with_tags(store: &SqliteStore, tags: &[&str]) -> Vec<MemoryId> {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let filter = Filter { tags, ..Filter::default() };
    store.ids(&user(), &filter, Sort::Oldest).expect("read")
}

#[test]
fn tags_follow_edits_and_erasures() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let (one, two) = (tagged("one", &["api", "billing"]), tagged("two", &["api", "it's \"odd\""]));
    let (first, second) = (one.id, two.id);
    apply(&store, vec![insert(one.clone()), insert(two)]);
    assert_eq!(with_tags(&store, &["api"]), [first, second]);
    assert_eq!(with_tags(&store, &["api", "it's \"odd\""]), [second]);
    assert_eq!(with_tags(&store, &["ap"]), [] as [MemoryId; 0]);

    let mut fields = one.fields.clone();
    fields.text.tags = vec!["ledger".to_owned()];
    apply(&store, vec![build::revise(&one, fields)]);
    assert_eq!(with_tags(&store, &["api"]), [second]);
    assert_eq!(with_tags(&store, &["ledger"]), [first]);
    apply(&store, vec![Write::Erase { id: second, from: None }]);
    assert_eq!(with_tags(&store, &["api"]), [] as [MemoryId; 0]);
    let kept = store.memory(&user(), one.space, first.into(), ForgottenFilter::Without);
    assert_eq!(kept.expect("read").expect("there").fields.text.tags, ["ledger"]);

    drop(store);
    let file = Connection::open(home.path().join("tulving.db")).expect("opened");
    let names: String =
        file.query_row("SELECT group_concat(name) FROM tags", [], |row| row.get(0)).expect("read");
    assert_eq!(names, "ledger", "an erased tag is still in the file");
    let rows: i64 = file.query_row("SELECT count(*) FROM memory_tags", [], |row| row.get(0)).expect("read");
    assert_eq!(rows, 1);
}

#[test]
fn counting_stops_at_the_limit() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    apply(&store, (0..5).map(|n| insert(memory(&format!("memory {n}")))).collect());
    let count = |most| store.count_up_to(&user(), &Filter::default(), most).expect("counted");
    assert_eq!([count(0), count(3), count(5), count(9), count(u64::MAX)], [0, 3, 5, 5, 5]);
}
