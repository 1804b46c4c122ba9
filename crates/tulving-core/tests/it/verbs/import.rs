//! Trees of files, taken in again and again.

use std::collections::HashSet;

use tulving_core::Document;
use tulving_core::model::file::FileStamp;
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{Caller, Filter, ForgetMode, SaveRequest, UpdateRequest};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, State};
use tulving_core::verbs::import::{self, FileImportOutcome, ImportPlan, ReadFile, SeenFile};

use crate::bed::{Bed, listing};

/// A tree of files: path, when it was written, what it says.
type Tree<'a> = Vec<(&'a str, i64, &'a str)>;

fn stamp(written: i64, text: &str) -> FileStamp {
    FileStamp { size: text.len() as u64, modified: written * 1_000_000_000, inode: 1 }
}

fn plan(bed: &Bed, caller: &Caller, tree: &Tree<'_>) -> ImportPlan {
    let seen = tree
        .iter()
        .map(|(path, written, text)| SeenFile { path: (*path).to_owned(), stamp: stamp(*written, text) })
        .collect();
    let below = |folder: &'static str| move |path: &str| path.starts_with(folder);
    import::plan(bed.engine.imported(caller).expect("known"), seen, below("/d/"), below("/gone/"))
}

fn files(seen: Vec<SeenFile>, tree: &Tree<'_>) -> Vec<ReadFile> {
    let read = |seen: SeenFile| {
        let (_, _, text) = tree.iter().find(|(path, ..)| *path == seen.path).expect("in the tree");
        ReadFile { seen, bytes: text.as_bytes().to_vec(), about: SaveRequest::default() }
    };
    seen.into_iter().map(read).collect()
}

/// Imports a tree, and says what became of each file that was read.
fn import(bed: &Bed, caller: &Caller, tree: &Tree<'_>) -> (Vec<(String, FileImportOutcome)>, ImportPlan) {
    let mut plan = plan(bed, caller, tree);
    let read = files(std::mem::take(&mut plan.read), tree);
    let taken = bed.engine.import(caller, &mut plan, read).expect("imported");
    let mut taken: Vec<_> = taken.into_iter().map(|file| (file.path, file.became)).collect();
    taken.sort_by(|a, b| a.0.cmp(&b.0));
    (taken, plan)
}

fn of(path: &str, became: FileImportOutcome) -> (String, FileImportOutcome) {
    (path.to_owned(), became)
}

fn at(bed: &Bed, path: &str) -> Option<(MemoryId, String, State)> {
    let mut request = listing(Default::default(), 10);
    request.filter = Filter { source_path: Some(path.to_owned()), ..Filter::default() };
    let mut page = bed.engine.list(&bed.user(), &request).expect("a list").memories;
    assert!(page.len() < 2, "{path} has one memory");
    page.pop().map(|memory| (memory.id, memory.fields.text.content, memory.status.state))
}

#[test]
fn what_is_as_it_was_is_neither_read_nor_written() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", 1, "# A\n\nalpha"), ("/d/b.txt", 1, "beta")];
    let (taken, _) = import(&bed, &user, &tree);
    assert_eq!(
        taken,
        [of("/d/a.md", FileImportOutcome::Created), of("/d/b.txt", FileImportOutcome::Created)]
    );
    let head = bed.engine.head().expect("the log");
    let (again, plan) = import(&bed, &user, &tree);
    assert_eq!((again, plan.unchanged), (vec![], 2));
    assert_eq!(bed.engine.head().expect("the log"), head);
    let touched = vec![("/d/a.md", 9, "# A\n\nalpha"), ("/d/b.txt", 1, "beta")];
    assert_eq!(import(&bed, &user, &touched).0, [of("/d/a.md", FileImportOutcome::Unchanged)]);
    assert_eq!(bed.engine.head().expect("the log"), head, "that it was touched is no change");
    assert_eq!(import(&bed, &user, &touched).1.unchanged, 2, "and is known from now on");
}

#[test]
fn a_file_that_was_just_written_is_not_trusted_by_its_time_alone() {
    let bed = Bed::new();
    let user = bed.user();
    let now = bed.engine.now().as_micros() / 1_000_000;
    import(&bed, &user, &vec![("/d/a.txt", now, "one")]);
    let (taken, _) = import(&bed, &user, &vec![("/d/a.txt", now, "two")]);
    assert_eq!(
        taken,
        [of("/d/a.txt", FileImportOutcome::Updated)],
        "the same size and time, and other words"
    );
}

#[test]
fn what_says_something_else_is_a_new_version() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let (taken, _) = import(&bed, &user, &vec![("/d/a.md", 2, "alpha and more")]);
    assert_eq!(taken, [of("/d/a.md", FileImportOutcome::Updated)]);
    assert_eq!(at(&bed, "/d/a.md"), Some((id, "alpha and more".to_owned(), State::Active)));
    assert_eq!(bed.engine.history(&user, id.into()).expect("versions").len(), 2);
}

#[test]
fn a_file_that_moved_keeps_its_memory() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let (taken, plan) = import(&bed, &user, &vec![("/d/sub/c.md", 1, "alpha"), ("/d/b.md", 1, "beta")]);
    assert_eq!(taken, [of("/d/sub/c.md", FileImportOutcome::Moved { from: "/d/a.md".to_owned() })]);
    assert!(plan.vanished().len() == 0);
    assert_eq!((at(&bed, "/d/a.md"), at(&bed, "/d/sub/c.md").map(|found| found.0)), (None, Some(id)));
    let (again, plan) = import(&bed, &user, &vec![("/d/sub/c.md", 1, "alpha"), ("/d/b.md", 1, "beta")]);
    assert_eq!((again, plan.unchanged), (vec![], 2));
}

#[test]
fn a_file_that_moved_to_where_another_memory_is_becomes_that_one() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let about = SaveRequest { source_path: Some("/d/b.md".to_owned()), ..SaveRequest::default() };
    let document = Document { name: Some("/d/b.md".to_owned()), bytes: b"alpha".to_vec(), about };
    let pushed = bed.engine.push(&user, document).expect("pushed");
    let (taken, plan) = import(&bed, &user, &vec![("/d/b.md", 1, "alpha"), ("/d/c.md", 1, "gamma")]);
    let moved = FileImportOutcome::Moved { from: "/d/a.md".to_owned() };
    assert_eq!(taken, [of("/d/b.md", moved), of("/d/c.md", FileImportOutcome::Created)]);
    assert_eq!(at(&bed, "/d/b.md").expect("there").0, pushed.memory.id);
    assert_eq!(bed.get(&user, pushed.memory.id).provenance.paths(), ["/d/b.md"]);
    assert_eq!(plan.vanished().len(), 0);
    assert_eq!(import(&bed, &user, &vec![("/d/b.md", 1, "alpha")]).1.unchanged, 1);
}

#[test]
fn a_file_that_was_forgotten_and_pushed_again_is_followed_again() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    bed.forget(&user, id, ForgetMode::Soft);
    assert_eq!(import(&bed, &user, &vec![("/d/a.md", 2, "more")]).1.forgotten, ["/d/a.md"]);
    let about = SaveRequest { source_path: Some("/d/a.md".to_owned()), ..SaveRequest::default() };
    let document = Document { name: Some("/d/a.md".to_owned()), bytes: b"alpha".to_vec(), about };
    let pushed = bed.engine.push(&user, document).expect("pushed");
    assert_ne!(pushed.memory.id, id);
    let (taken, plan) = import(&bed, &user, &vec![("/d/a.md", 2, "alpha and more")]);
    assert_eq!((taken, plan.forgotten.len()), (vec![of("/d/a.md", FileImportOutcome::Updated)], 0));
    assert_eq!(at(&bed, "/d/a.md"), Some((pushed.memory.id, "alpha and more".to_owned(), State::Active)));
    assert_eq!(import(&bed, &user, &vec![("/d/a.md", 2, "alpha and more")]).1.unchanged, 1);
}

#[test]
fn what_is_gone_from_elsewhere_has_not_vanished_here() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/gone/a.md", 1, "alpha")]);
    let about = SaveRequest { source_path: Some("/d/b.md".to_owned()), ..SaveRequest::default() };
    let document = Document { name: Some("/d/b.md".to_owned()), bytes: b"alpha".to_vec(), about };
    bed.engine.push(&user, document).expect("pushed");
    let (taken, plan) = import(&bed, &user, &vec![("/d/b.md", 1, "alpha")]);
    assert_eq!(taken, [of("/d/b.md", FileImportOutcome::Moved { from: "/gone/a.md".to_owned() })]);
    assert_eq!(plan.vanished().len(), 0, "nobody asked about it");
}

#[test]
fn of_two_who_find_a_file_moved_the_second_finds_it_where_it_is() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let tree = vec![("/d/b.md", 1, "alpha")];
    let mut plans = [plan(&bed, &user, &tree), plan(&bed, &user, &tree)];
    let became = plans.each_mut().map(|plan| {
        let read = std::mem::take(&mut plan.read).into_iter();
        let about = SaveRequest::default();
        let files = read.map(|seen| ReadFile { seen, bytes: b"alpha".to_vec(), about: about.clone() });
        bed.engine.import(&user, plan, files.collect()).expect("imported").remove(0).became
    });
    assert_eq!(
        became,
        [FileImportOutcome::Moved { from: "/d/a.md".to_owned() }, FileImportOutcome::Unchanged]
    );
    assert_eq!((at(&bed, "/d/a.md"), at(&bed, "/d/b.md").map(|at| at.0)), (None, Some(id)));
}

#[test]
fn a_file_whose_memory_went_to_another_space_is_new() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let mut moved = plan(&bed, &user, &vec![("/d/b.md", 1, "alpha")]);
    let hub = bed.hub("kitchen");
    bed.engine.move_to(&user, &[id.into()], "kitchen").expect("moved");
    let seen = moved.read.remove(0);
    let file = ReadFile { seen, bytes: b"alpha".to_vec(), about: SaveRequest::default() };
    let taken = bed.engine.import(&user, &mut moved, vec![file]).expect("imported");
    assert_eq!(taken[0].became, FileImportOutcome::Created);
    let there = bed.get(&crate::bed::within(&user, hub), id);
    assert_eq!(there.provenance.source_path.as_deref(), Some("/d/a.md"), "what is elsewhere is let be");
}

#[test]
fn vectors_are_left_to_the_background() {
    let bed = super::ask::bed();
    import(&bed, &bed.user(), &vec![("/d/a.md", 1, "alpha"), ("/d/empty.md", 1, " ")]);
    assert_eq!(bed.engine.waiting_to_be_embedded(&bed.user()).expect("counted"), 1);
}

#[test]
fn a_tree_that_moved_as_a_whole_keeps_its_memories() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/gone/a.md", 1, "alpha"), ("/elsewhere/b.md", 1, "beta")]);
    let (id, ..) = at(&bed, "/gone/a.md").expect("there");
    assert_eq!(import(&bed, &user, &vec![("/d/c.md", 1, "gamma")]).1.vanished().len(), 0, "not asked for");
    let (taken, _) = import(&bed, &user, &vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")]);
    let from = "/gone/a.md".to_owned();
    assert_eq!(
        taken,
        [of("/d/a.md", FileImportOutcome::Moved { from }), of("/d/b.md", FileImportOutcome::Known)]
    );
    assert_eq!(at(&bed, "/d/a.md").expect("there").0, id);
}

#[test]
fn what_somebody_archived_stays_archived_until_its_file_says_something_else() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    bed.engine.archive(&user, id.into()).expect("archived");
    for written in [1, 2] {
        import(&bed, &user, &vec![("/d/a.md", written, "alpha")]);
        assert_eq!(bed.get(&user, id).status.state, State::Archived);
    }
    let (taken, _) = import(&bed, &user, &vec![("/d/a.md", 3, "alpha in other words")]);
    assert_eq!(taken, [of("/d/a.md", FileImportOutcome::Revived)]);
}

#[test]
fn a_private_key_is_left_out_whatever_it_is_called() {
    let bed = Bed::new();
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n";
    let about = format!("A key begins so:\n\n{key}");
    let (taken, _) = import(&bed, &bed.user(), &vec![("/d/a.txt", 1, key), ("/d/b.txt", 1, &about)]);
    assert_eq!(taken[0].1, FileImportOutcome::Skipped { why: "it is a private key".to_owned() });
    assert_eq!(taken[1].1, FileImportOutcome::Created);
}

#[test]
fn what_is_foreseen_is_what_becomes() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")]);
    let tree = vec![
        ("/d/a.md", 2, "alpha, edited"),
        ("/d/c.md", 1, "beta"),
        ("/d/d.md", 1, " \n"),
        ("/d/e.md", 1, "a page\u{c}and another"),
        ("/d/f.txt", 1, "-----BEGIN PRIVATE KEY-----\n"),
        ("/d/g.json", 1, "{\"port\": "),
        ("/d/h.md", 1, "pushed before"),
    ];
    let about = SaveRequest { source_path: Some("/d/h.md".to_owned()), ..SaveRequest::default() };
    let document = Document { name: Some("/d/h.md".to_owned()), bytes: b"pushed".to_vec(), about };
    bed.engine.push(&user, document).expect("pushed");
    let mut predicted = plan(&bed, &user, &tree);
    let read: Vec<SeenFile> = std::mem::take(&mut predicted.read);
    let before = bed.dump();
    let read = files(read, &tree);
    let taken = bed.engine.foresee_import(&user, &mut predicted, read).expect("foreseen");
    let described: Vec<_> = taken
        .into_iter()
        .map(|taken| {
            let warned = !taken.warnings.is_empty();
            assert_eq!(warned, matches!(taken.path.as_str(), "/d/e.md" | "/d/g.json"), "{taken:?}");
            (taken.path, taken.became)
        })
        .collect();
    assert_eq!(bed.dump(), before, "nothing is written");
    assert_eq!(described, import(&bed, &user, &tree).0);
    assert_eq!(at(&bed, "/d/e.md").expect("there").1, "a page\nand another");
}

/// Asserts that a dry run of an import with `--prune` says what the import then does.
#[track_caller]
fn assert_foreseen(bed: &Bed, tree: &Tree<'_>) -> (Vec<(String, FileImportOutcome)>, HashSet<MemoryId>) {
    let user = bed.user();
    let mut predicted = plan(bed, &user, tree);
    let read = files(std::mem::take(&mut predicted.read), tree);
    let before = bed.dump();
    let described = bed.engine.foresee_import(&user, &mut predicted, read).expect("foreseen");
    let archived = bed.engine.foresee_prune(&user, &predicted).expect("foreseen");
    assert_eq!(bed.dump(), before, "nothing is written");
    let (taken, plan) = import(bed, &user, tree);
    let mut described: Vec<_> = described.into_iter().map(|file| (file.path, file.became)).collect();
    described.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(described, taken);
    assert_eq!(bed.engine.prune_import(&user, &plan).expect("pruned"), archived);
    (taken, archived)
}

#[test]
fn a_dry_run_foresees_files_that_exchange_what_they_say() {
    let bed = Bed::new();
    import(&bed, &bed.user(), &vec![("/d/a.md", 1, "alpha")]);
    let given = vec![("/d/a.md", 2, "beta"), ("/d/b.md", 1, "alpha")];
    let (taken, _) = assert_foreseen(&bed, &given);
    assert_eq!(taken, [of("/d/a.md", FileImportOutcome::Updated), of("/d/b.md", FileImportOutcome::Created)]);
    let swapped = vec![("/d/a.md", 3, "alpha"), ("/d/b.md", 2, "beta")];
    let (taken, _) = assert_foreseen(&bed, &swapped);
    assert_eq!(taken, [of("/d/a.md", FileImportOutcome::Known), of("/d/b.md", FileImportOutcome::Revived)]);
}

#[test]
fn a_dry_run_prunes_no_memory_that_another_file_says() {
    let bed = Bed::new();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "alpha"), ("/d/c.md", 1, "alpha")];
    import(&bed, &bed.user(), &tree);
    let (_, archived) = assert_foreseen(&bed, &vec![("/d/b.md", 1, "alpha"), ("/d/c.md", 1, "alpha")]);
    assert!(archived.is_empty(), "two files say it");
    let (_, archived) = assert_foreseen(&bed, &vec![("/d/c.md", 2, "gamma")]);
    assert_eq!(archived.len(), 1, "the other file says something else by now");
}

#[test]
fn the_last_two_files_of_a_memory_archive_one_memory() {
    let bed = Bed::new();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "alpha"), ("/d/c.md", 1, "gamma")];
    import(&bed, &bed.user(), &tree);
    let (_, archived) = assert_foreseen(&bed, &vec![("/d/c.md", 1, "gamma")]);
    assert_eq!(archived.len(), 1);
}

#[test]
fn what_is_as_it_was_and_has_other_labels_is_counted() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")];
    import(&bed, &user, &tree);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let tags = Some(vec!["ops".to_owned()]);
    bed.update(&user, id, &UpdateRequest { tags, ..UpdateRequest::default() });
    let differing = |plan: &ImportPlan, tags: &[&str], boundary| {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        bed.engine.differing_import(&user, plan, &tags, boundary).expect("counted")
    };
    for tree in [&tree, &vec![("/d/a.md", 2, "alpha"), ("/d/b.md", 2, "beta")]] {
        let (_, plan) = import(&bed, &user, tree);
        assert_eq!(differing(&plan, &["ops"], None), 1);
        assert_eq!(differing(&plan, &[], Some(Boundary::Private)), 0);
        assert_eq!(differing(&plan, &[], Some(Boundary::Hub)), 2);
    }
}

#[test]
fn two_files_that_say_the_same_are_one_memory_and_a_copy_is_no_move() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (taken, _) = import(&bed, &user, &vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "alpha")]);
    assert_eq!(taken, [of("/d/b.md", FileImportOutcome::Known)]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    assert_eq!(bed.get(&user, id).provenance.paths(), ["/d/a.md", "/d/b.md"]);
}

#[test]
fn what_vanished_is_said_and_archived_only_when_asked() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")];
    import(&bed, &user, &tree);
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    assert_eq!(at(&bed, "/d/b.md").map(|found| found.2), Some(State::Active));
    let (_, plan) = import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    assert_eq!(plan.vanished().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["/d/b.md"]);
    assert_eq!(bed.engine.prune_import(&user, &plan).expect("archived").len(), 1);
    assert_eq!(at(&bed, "/d/b.md").map(|found| found.2), Some(State::Archived));
    let (_, plan) = import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    assert!(plan.vanished().len() == 0, "it is said once");
    let (taken, _) = import(&bed, &user, &tree);
    assert_eq!(taken, [of("/d/b.md", FileImportOutcome::Revived)]);
    assert_eq!(at(&bed, "/d/b.md").map(|found| found.2), Some(State::Active));
}

#[test]
fn what_lies_elsewhere_has_not_vanished() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let known = bed.engine.imported(&user).expect("known");
    let plan = import::plan(known, Vec::new(), |path| path.starts_with("/elsewhere/"), |_| true);
    assert!(plan.vanished().len() == 0);
}

#[test]
fn what_was_forgotten_stays_forgotten_and_what_was_erased_comes_back() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta")];
    import(&bed, &user, &tree);
    bed.forget(&user, at(&bed, "/d/a.md").expect("there").0, ForgetMode::Soft);
    bed.forget(&user, at(&bed, "/d/b.md").expect("there").0, ForgetMode::Hard);
    let (taken, plan) = import(&bed, &user, &tree);
    assert_eq!(plan.forgotten, ["/d/a.md"]);
    assert_eq!(taken, [of("/d/b.md", FileImportOutcome::Created)]);
    assert_eq!(at(&bed, "/d/a.md"), None);
}

#[test]
fn one_file_that_cannot_be_taken_costs_only_itself() {
    let bed = Bed::new();
    let user = bed.user();
    let huge = "word ".repeat(700_000);
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/empty.md", 1, " \n"), ("/d/huge.md", 1, &huge)];
    let (taken, _) = import(&bed, &user, &tree);
    assert_eq!(taken[0], of("/d/a.md", FileImportOutcome::Created));
    let why = |became: &FileImportOutcome| match became {
        FileImportOutcome::Skipped { why } => why.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&taken[1].1), "the content is empty");
    assert_eq!(why(&taken[2].1), "the content is 3499999 bytes and the limit is 3000000");
    assert_eq!(import(&bed, &user, &tree).1.unchanged, 1, "what was taken is known");
}

#[test]
fn an_edit_by_hand_stays_until_the_file_changes() {
    let bed = Bed::new();
    let user = bed.user();
    import(&bed, &user, &vec![("/d/a.md", 1, "alpha")]);
    let (id, ..) = at(&bed, "/d/a.md").expect("there");
    let edit = UpdateRequest { content: Some("alpha, corrected".to_owned()), ..UpdateRequest::default() };
    bed.update(&user, id, &edit);
    import(&bed, &user, &vec![("/d/a.md", 2, "alpha")]);
    assert_eq!(at(&bed, "/d/a.md").expect("there").1, "alpha, corrected");
    import(&bed, &user, &vec![("/d/a.md", 3, "alpha in other words")]);
    assert_eq!(at(&bed, "/d/a.md").expect("there").1, "alpha in other words");
}

#[test]
fn whichever_call_of_the_store_fails_a_second_import_makes_it_whole() {
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "beta"), ("/d/c.md", 1, "gamma")];
    for call in 1.. {
        let bed = Bed::new();
        let user = bed.user();
        let mut first = plan(&bed, &user, &tree);
        let read = std::mem::take(&mut first.read).into_iter().map(|seen| {
            let (_, _, text) = tree.iter().find(|(path, ..)| *path == seen.path).expect("in the tree");
            ReadFile { seen, bytes: text.as_bytes().to_vec(), about: SaveRequest::default() }
        });
        bed.store.fail_at(call);
        let done = bed.engine.import(&user, &mut first, read.collect());
        let failed = bed.store.has_failed();
        bed.store.fail_at(0);
        import(&bed, &user, &tree);
        for (path, _, text) in &tree {
            assert_eq!(at(&bed, path).map(|found| found.1).as_deref(), Some(*text), "call {call}");
        }
        if !failed {
            assert!(done.is_ok());
            return;
        }
    }
}

#[test]
fn times_before_the_epoch_and_far_ahead_do_no_harm() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", -1, "alpha"), ("/d/b.md", 9_000_000_000, "beta")];
    import(&bed, &user, &tree);
    assert_eq!(import(&bed, &user, &tree).1.unchanged, 1, "one from the future is looked at again");
    assert!(bed.engine.now() > Timestamp::from_micros(0));
}

#[test]
fn files_that_say_the_same_are_one_memory_that_follows_them() {
    let bed = Bed::new();
    let user = bed.user();
    let tree = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 1, "alpha"), ("/d/c.md", 1, "gamma")];
    let (taken, _) = import(&bed, &user, &tree);
    let new = |path: &str| of(path, FileImportOutcome::Created);
    assert_eq!(taken, [new("/d/a.md"), of("/d/b.md", FileImportOutcome::Known), new("/d/c.md")]);
    let (id, ..) = at(&bed, "/d/b.md").expect("there");
    assert_eq!(at(&bed, "/d/a.md").map(|found| found.0), Some(id));
    assert_eq!(import(&bed, &user, &tree).1.unchanged, 3);

    let changed = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 2, "beta"), ("/d/c.md", 1, "gamma")];
    assert_eq!(import(&bed, &user, &changed).0, [new("/d/b.md")]);
    assert_eq!(at(&bed, "/d/a.md"), Some((id, "alpha".to_owned(), State::Active)));
    let (own, ..) = at(&bed, "/d/b.md").expect("there");
    assert_ne!(own, id);

    let back = vec![("/d/a.md", 1, "alpha"), ("/d/b.md", 3, "alpha"), ("/d/c.md", 2, "beta")];
    let (taken, _) = import(&bed, &user, &back);
    assert_eq!(taken, [of("/d/b.md", FileImportOutcome::Known), of("/d/c.md", FileImportOutcome::Revived)]);
    assert_eq!(at(&bed, "/d/b.md").map(|found| found.0), Some(id));
    assert_eq!(at(&bed, "/d/c.md").map(|found| found.0), Some(own), "what says it already");

    let moved = vec![("/d/a.md", 1, "alpha"), ("/d/e.md", 3, "alpha"), ("/d/c.md", 2, "beta")];
    let (taken, _) = import(&bed, &user, &moved);
    assert_eq!(taken, [of("/d/e.md", FileImportOutcome::Moved { from: "/d/b.md".to_owned() })]);
    assert_eq!(bed.get(&user, id).provenance.paths(), ["/d/a.md", "/d/e.md"]);

    let fewer = vec![("/d/e.md", 3, "alpha"), ("/d/c.md", 2, "beta")];
    let (_, plan) = import(&bed, &user, &fewer);
    assert_eq!(plan.vanished().len(), 1);
    assert_eq!(bed.engine.prune_import(&user, &plan).expect("pruned").len(), 0, "another file says it");
    assert_eq!(bed.get(&user, id).provenance.paths(), ["/d/e.md"]);
    let (_, plan) = import(&bed, &user, &vec![("/d/c.md", 2, "beta")]);
    assert_eq!(bed.engine.prune_import(&user, &plan).expect("pruned").len(), 1);
    assert_eq!(bed.get(&user, id).status.state, State::Archived);
    assert_eq!(import(&bed, &user, &tree).0[0], of("/d/a.md", FileImportOutcome::Revived));
    assert_eq!(at(&bed, "/d/a.md").map(|found| found.0), Some(id));
}
