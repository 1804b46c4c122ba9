//! The last change by hand is taken back whole, or refused by name; taken back twice, it is done again.

use std::time::Duration;

use tulving_core::model::error::Error;
use tulving_core::model::id::MemoryId;
use tulving_core::model::pass::LastUndoOutcome;
use tulving_core::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, SaveRequest, UpdateRequest,
};
use tulving_core::model::turn::TurnReadingSettings;
use tulving_core::model::vocabulary::{LinkedBy, MemoryType, Relation, Role, State};

use crate::bed::{Bed, keyed, link, refused, said, turn, within, words};

/// A bed whose clock has moved on after every act, as clocks do.
struct Desk {
    bed: Bed,
    user: Caller,
}

impl Desk {
    fn new() -> Self {
        let bed = Bed::new();
        let user = bed.user();
        Self { bed, user }
    }

    fn tick(&self) {
        self.bed.clock.advance(Duration::from_secs(1));
    }

    fn saved(&self, content: &str) -> MemoryId {
        self.tick();
        let id = self.bed.save(&self.user, content).memory.id;
        self.tick();
        id
    }

    /// Undoes, and gives what had been done.
    #[track_caller]
    fn undo(&self) -> Vec<String> {
        self.undo_as(&self.user)
    }

    #[track_caller]
    fn undo_as(&self, caller: &Caller) -> Vec<String> {
        self.tick();
        let predicted = self.bed.engine.undo_last(caller, true).expect("foreseen");
        let undone = self.bed.engine.undo_last(caller, false).expect("undone");
        self.tick();
        let steps = |undone: LastUndoOutcome| match undone {
            LastUndoOutcome::Pass(undone) => undone.steps,
            LastUndoOutcome::Change(undone) => undone.steps,
        };
        let (predicted, undone) = (steps(predicted), steps(undone));
        assert_eq!(predicted, undone, "a dry run says the same");
        undone.into_iter().map(|step| step.text).collect()
    }

    #[track_caller]
    fn refused(&self, part: &str) {
        self.tick();
        let before = format!("{:?}", self.bed.dump());
        let described = words(self.bed.engine.undo_last(&self.user, false));
        assert!(described.contains(part), "{described}");
        assert_eq!(format!("{:?}", self.bed.dump()), before, "nothing was changed");
    }

    fn is_forgotten(&self, id: MemoryId) -> bool {
        matches!(self.bed.engine.get(&self.user, id.into()), Err(Error::Forgotten { .. }))
    }
}

#[test]
fn what_was_forgotten_is_back_and_undone_again_it_is_forgotten_again() {
    let desk = Desk::new();
    let id = desk.saved("Prefers tea");
    desk.bed.forget(&desk.user, id, ForgetMode::Soft);
    assert_eq!(desk.undo(), ["forgot #1 (Prefers tea)"]);
    assert!(!desk.is_forgotten(id));
    assert_eq!(desk.undo(), ["restored #1 (Prefers tea)"]);
    assert!(desk.is_forgotten(id));
    assert_eq!(desk.undo(), ["forgot #1 (Prefers tea)"]);
    assert!(!desk.is_forgotten(id));
}

#[test]
fn what_was_saved_is_forgotten_with_its_links() {
    let desk = Desk::new();
    let old = desk.saved("The office is in Turin");
    let request = SaveRequest {
        associations: vec![link(old, Relation::Updates)],
        ..SaveRequest::new("The office is in Milan")
    };
    let new = desk.bed.save(&desk.user, request).memory.id;
    assert_eq!(desk.undo(), ["saved #2 (The office is in Milan)"]);
    assert!(desk.is_forgotten(new));
    assert_eq!(desk.bed.get(&desk.user, old).superseded_by, None);
    assert_eq!(desk.undo().len(), 1);
    assert!(desk.bed.get(&desk.user, old).superseded_by.is_some());
}

#[test]
fn an_edit_and_a_save_of_a_key_say_again_what_was_said() {
    let desk = Desk::new();
    let id = desk.bed.save(&desk.user, keyed("database", "SQLite")).memory.id;
    desk.tick();
    desk.bed.save(&desk.user, keyed("database", "PostgreSQL"));
    assert_eq!(desk.undo(), ["edited #1 (PostgreSQL)"]);
    assert_eq!(desk.bed.get(&desk.user, id).fields.text.content, "SQLite");
    assert_eq!(desk.undo(), ["reverted #1 (SQLite)"]);
    assert_eq!(desk.bed.get(&desk.user, id).fields.text.content, "PostgreSQL");
    let tags = UpdateRequest { tags: Some(vec!["db".to_owned()]), ..UpdateRequest::default() };
    desk.tick();
    desk.bed.update(&desk.user, id, &tags);
    desk.undo();
    let memory = desk.bed.get(&desk.user, id);
    assert!(!memory.fields.text.tags.iter().any(|tag| tag == "db"), "{memory:?}");
}

#[test]
fn pins_states_and_what_was_done_are_as_they_were() {
    let desk = Desk::new();
    let todo = SaveRequest { memory_type: Some(MemoryType::Todo), ..SaveRequest::new("Water the roses") };
    let id = desk.bed.save(&desk.user, todo).memory.id;
    let engine = &desk.bed.engine;
    let status = || desk.bed.get(&desk.user, id).status;
    let fresh = status();
    desk.tick();
    engine.pin(&desk.user, id.into()).expect("pinned");
    assert_eq!(desk.undo(), ["pinned #1 (Water the roses)"]);
    assert_eq!(status(), fresh);
    engine.archive(&desk.user, id.into()).expect("archived");
    assert_eq!(desk.undo(), ["archived #1 (Water the roses)"]);
    assert_eq!(status().state, State::Active);
    engine.done(&desk.user, id.into(), None).expect("done");
    let done = status().done_at;
    assert_eq!(desk.undo(), ["done #1 (Water the roses)"]);
    assert_eq!(status().done_at, None);
    assert_eq!(desk.undo(), ["reopened #1 (Water the roses)"]);
    assert_eq!(status().done_at, done, "at the same time as before");
    engine.reopen(&desk.user, id.into()).expect("open");
    desk.undo();
    assert_eq!(status().done_at, done);
}

#[test]
fn links_are_as_they_were() {
    let desk = Desk::new();
    let (one, two) = (desk.saved("One"), desk.saved("Two"));
    let edges = || desk.bed.engine.related(&desk.user, one.into(), 1).expect("related");
    desk.bed.link(&desk.user, one, two, Relation::CausedBy);
    assert_eq!(desk.undo(), ["linked #1 (One) caused_by #2 (Two)"]);
    assert_eq!(edges().len(), 0);
    assert_eq!(desk.undo(), ["removed the link from #1 (One) to #2 (Two)"]);
    let edge = edges()[0].via[0];
    assert_eq!(
        (edge.relation, edge.linked_by, edge.weight.get()),
        (Relation::CausedBy, LinkedBy::Caller, 0.5)
    );
    // Another weight, and back.
    let heavier = tulving_core::model::request::AssociationRequest {
        weight: Some(0.9),
        ..link(two, Relation::CausedBy)
    };
    desk.bed.engine.associate(&desk.user, one.into(), &heavier).expect("linked");
    desk.undo();
    assert_eq!(edges()[0].via[0].weight.get(), 0.5);
    desk.bed.engine.dissociate(&desk.user, one.into(), two.into(), None).expect("removed");
    desk.undo();
    assert_eq!(edges()[0].via[0].weight.get(), 0.5);
    // A link that a save of what is known makes is a change too.
    let again = SaveRequest { associations: vec![link(two, Relation::PartOf)], ..SaveRequest::new("One") };
    desk.bed.save(&desk.user, again);
    assert_eq!(desk.undo(), ["linked #1 (One) part_of #2 (Two)"]);
}

#[test]
fn what_was_moved_goes_back() {
    let desk = Desk::new();
    let hub = desk.bed.hub("hub");
    let id = desk.saved("Uses pnpm");
    desk.bed.engine.move_to(&desk.user, &[id.into()], "hub").expect("moved");
    assert_eq!(desk.bed.get(&desk.user, id).space, hub);
    assert_eq!(desk.undo(), ["moved #1 (Uses pnpm); it has a new number in `default`"]);
    assert_eq!(desk.bed.get(&desk.user, id).space, desk.user.space);
    desk.bed.engine.move_to(&desk.user, &[id.into()], "hub").expect("moved");
    // From where it went, too.
    desk.undo_as(&within(&desk.user, hub));
    assert_eq!(desk.bed.get(&desk.user, id).space, desk.user.space);
}

#[test]
fn many_that_were_forgotten_as_one_act_come_back_as_one() {
    let desk = Desk::new();
    for n in 0..30 {
        let tagged =
            SaveRequest { tags: Some(vec!["old".to_owned()]), ..SaveRequest::new(format!("Note {n}")) };
        desk.bed.save(&desk.user, tagged);
    }
    desk.saved("Stays");
    let filter = Filter { tags: vec!["old".to_owned()], ..Filter::default() };
    let request = ForgetRequest { mode: ForgetMode::Soft, reason: None };
    let swept = desk.bed.engine.forget_where(&desk.user, &ForgetWhere { filter, request, expect: None });
    assert_eq!(swept.expect("forgotten").forgotten.len(), 30);
    assert_eq!(desk.undo().len(), 30);
    assert_eq!(desk.bed.contents(&desk.user).len(), 31);
}

#[test]
fn what_was_erased_is_refused_and_nothing_older_is_taken_in_its_place() {
    let desk = Desk::new();
    let (one, two) = (desk.saved("One"), desk.saved("Two"));
    desk.bed.engine.pin(&desk.user, one.into()).expect("pinned");
    desk.tick();
    desk.bed.forget(&desk.user, two, ForgetMode::Hard);
    desk.refused("a memory was forgotten for good");
    assert!(desk.bed.get(&desk.user, one).status.pinned);
}

#[test]
fn what_somebody_changed_since_is_refused_whole() {
    let desk = Desk::new();
    let hub = desk.bed.hub("hub");
    let user = within(&desk.user, hub);
    let other = desk.bed.member("ada", hub, Role::Admin);
    let [one, two] = ["One", "Two"].map(|content| desk.bed.save(&user, content).memory.id);
    let desk = Desk { user, ..desk };
    desk.tick();
    let both = [one.into(), two.into()];
    let soft = ForgetRequest { mode: ForgetMode::Soft, reason: None };
    desk.bed.engine.forget_many(&desk.user, &both, &soft).expect("forgotten");
    desk.tick();
    desk.bed.engine.restore(&other, one.into()).expect("restored");
    desk.refused("it has since been restored by ada");
    assert!(desk.is_forgotten(two), "all of it or nothing");
    let three = desk.saved("Three");
    desk.bed.update(&other, three, &said("Three and more"));
    desk.refused("saved #3 (Three and more); it has been edited since");
}

#[test]
fn what_others_did_is_not_undone() {
    let desk = Desk::new();
    let hub = desk.bed.hub("hub");
    let other = desk.bed.member("ada", hub, Role::Writer);
    let user = within(&desk.user, hub);
    let mine = desk.bed.save(&user, "Mine").memory.id;
    desk.tick();
    let theirs = desk.bed.save(&other, "Theirs").memory.id;
    desk.tick();
    let agent = Caller { agent: Some("helper".to_owned()), ..user.clone() };
    let of_agent = desk.bed.save(&agent, "Of an agent").memory.id;
    let elsewhere = desk.saved("Elsewhere");
    let other_agent = Caller { agent: Some("other".to_owned()), ..user.clone() };
    refused!(desk.bed.engine.undo_last(&other_agent, false), Error::NothingToUndo);
    assert_eq!(desk.undo_as(&agent), ["saved #3 (Of an agent)"]);
    assert_eq!(desk.undo_as(&agent), ["forgot #3 (Of an agent)"]);
    let desk = Desk { user, ..desk };
    assert!(!desk.is_forgotten(mine) && !desk.is_forgotten(theirs) && !desk.is_forgotten(of_agent));
    assert!(!desk.is_forgotten(elsewhere), "it is in another space");
    let stranger = within(&desk.bed.person("stranger"), hub);
    refused!(desk.bed.engine.undo_last(&stranger, false), Error::Denied { .. });
    let nobody = desk.bed.member("newcomer", hub, Role::Writer);
    refused!(desk.bed.engine.undo_last(&nobody, false), Error::NothingToUndo);
}

#[test]
fn what_an_agent_did_for_its_user_is_the_last_change_of_the_user() {
    let desk = Desk::new();
    let mine = desk.saved("Mine");
    let agent = Caller { agent: Some("helper".to_owned()), ..desk.user.clone() };
    let of_agent = desk.bed.save(&agent, "Of an agent").memory.id;
    desk.tick();
    let predicted = desk.bed.engine.undo_last(&desk.user, true).expect("foreseen");
    let LastUndoOutcome::Change(predicted) = predicted else { panic!("{predicted:?}") };
    assert_eq!((predicted.agent.as_deref(), predicted.redoable), (Some("helper"), true));
    assert_eq!(desk.undo(), ["saved #2 (Of an agent)"]);
    assert!(desk.is_forgotten(of_agent) && !desk.is_forgotten(mine));
    assert_eq!(desk.undo(), ["forgot #2 (Of an agent)"], "and again");
    assert!(!desk.is_forgotten(of_agent));
}

#[test]
fn paths_that_a_push_added_or_moved_are_as_they_were() {
    let desk = Desk::new();
    let push = |path: &str, content: &str| {
        desk.tick();
        let request = SaveRequest { source_path: Some(path.to_owned()), ..SaveRequest::new(content) };
        desk.bed.save(&desk.user, request).memory.id
    };
    let paths = |id: MemoryId| desk.bed.get(&desk.user, id).provenance.paths().to_vec();
    let one = push("/a", "one");
    assert_eq!(push("/b", "one"), one);
    assert_eq!(desk.undo(), ["added the path /b to #1 (one)"]);
    assert_eq!(paths(one), ["/a"]);
    assert_eq!(desk.undo(), ["removed the path /b from #1 (one)"]);
    assert_eq!(paths(one), ["/a", "/b"]);
    desk.saved("one");
    assert_eq!(desk.undo(), ["saved #1 (one) without a path as well"]);
    // A path that leaves for a memory of its own comes back, and goes again.
    let two = push("/a", "two");
    assert_eq!((paths(one), paths(two)), (vec!["/b".to_owned()], vec!["/a".to_owned()]));
    assert_eq!(desk.undo(), ["saved #2 (two)", "removed the path /a from #1 (one)"]);
    assert!(desk.is_forgotten(two));
    assert_eq!(paths(one), ["/a", "/b"], "in the same order");
    desk.undo();
    assert_eq!((paths(one), paths(two)), (vec!["/b".to_owned()], vec!["/a".to_owned()]));
    // One that goes to a memory that is there leaves an archived one behind.
    assert_eq!(push("/a", "one"), one);
    assert_eq!(desk.bed.get(&desk.user, two).status.state, State::Archived);
    assert_eq!(desk.undo().len(), 3);
    assert_eq!((paths(one), paths(two)), (vec!["/b".to_owned()], vec!["/a".to_owned()]));
    assert_eq!(desk.bed.get(&desk.user, two).status.state, State::Active);
    desk.undo();
    assert_eq!((paths(one), paths(two)), (vec!["/b".to_owned(), "/a".to_owned()], Vec::new()));
}

#[test]
fn a_path_that_another_memory_has_by_now_is_not_taken_back() {
    let desk = Desk::new();
    let (ann, hub) = (desk.user.clone(), desk.bed.hub("hub"));
    let user = within(&ann, hub);
    let other = desk.bed.member("ada", hub, Role::Writer);
    let at = |path: &str, content: &str| SaveRequest {
        source_path: Some(path.to_owned()),
        ..SaveRequest::new(content)
    };
    let desk = Desk { user, ..desk };
    desk.bed.save(&desk.user, at("/a", "one"));
    desk.bed.save(&desk.user, at("/b", "one"));
    desk.tick();
    desk.bed.save(&desk.user, at("/a", "two"));
    desk.tick();
    // Somebody else's file moves on.
    desk.bed.forget(&other, desk.bed.save(&other, at("/a", "one")).memory.id, ForgetMode::Soft);
    desk.tick();
    desk.refused("it has since been archived by ada");
}

#[test]
fn a_pass_that_is_newer_is_undone_and_one_that_is_older_is_not() {
    let desk = Desk::new();
    let listening = TurnReadingSettings { enabled: true, ..TurnReadingSettings::default() };
    let engine = desk.bed.beside().with_listening(listening);
    desk.saved("By hand");
    engine.log_turn(&desk.user, &turn("I prefer tea over coffee.")).expect("logged");
    while engine.process_waiting("test").expect("heard").is_some() {}
    desk.tick();
    let undone = desk.bed.engine.undo_last(&desk.user, true).expect("foreseen");
    assert!(matches!(undone, LastUndoOutcome::Pass(_)), "{undone:?}");
    let hand = desk.saved("By hand again");
    assert_eq!(desk.undo(), ["saved #3 (By hand again)"]);
    assert!(desk.is_forgotten(hand));
    // Restored by a second undo, it is the last change still.
    desk.undo();
    desk.bed.forget(&desk.user, hand, ForgetMode::Hard);
    desk.refused("forgotten for good");
}

#[test]
fn a_pass_that_was_undone_is_the_last_change_and_stays_undone() {
    let desk = Desk::new();
    let listening = TurnReadingSettings { enabled: true, ..TurnReadingSettings::default() };
    let engine = desk.bed.beside().with_listening(listening);
    desk.saved("By hand");
    engine.log_turn(&desk.user, &turn("I prefer tea over coffee.")).expect("logged");
    while engine.process_waiting("test").expect("heard").is_some() {}
    assert!(desk.undo()[0].starts_with("saved #2"));
    desk.refused("undid the pass");
}

#[test]
fn a_note_leaves_the_journal_and_files_are_refused_by_name() {
    let desk = Desk::new();
    desk.saved("Before");
    desk.bed.engine.remember(&desk.user, "First").expect("noted");
    desk.tick();
    let noted = desk.bed.engine.remember(&desk.user, "Second").expect("noted");
    assert_eq!(desk.undo(), [format!("noted an entry in {}", noted.path)]);
    let journal = desk.bed.engine.journal(&desk.user, noted.date).expect("read").expect("a journal");
    assert_eq!(journal.content, "First\n");
    desk.refused("undid the note");
    desk.bed.engine.replace_long_term(&desk.user, "- always\n", None).expect("written");
    desk.refused("wrote the file memory/MEMORY.md");
}

#[test]
fn an_undo_is_whole_or_absent_when_the_store_fails() {
    let desk = Desk::new();
    let ids = [desk.saved("One"), desk.saved("Two")];
    let soft = ForgetRequest { mode: ForgetMode::Soft, reason: None };
    desk.bed.engine.forget_many(&desk.user, &ids.map(Into::into), &soft).expect("forgotten");
    desk.tick();
    for at in 1..100 {
        desk.bed.store.fail_at(at);
        let undone = desk.bed.engine.undo_last(&desk.user, false);
        desk.bed.store.fail_at(0);
        let left = ids.map(|id| desk.is_forgotten(id));
        match undone {
            Ok(_) => return assert_eq!(left, [false, false], "after {at} calls"),
            Err(Error::Store(_)) => assert!(left == [true, true] || left == [false, false], "{left:?}"),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it does not end");
}
