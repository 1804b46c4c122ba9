//! Several backends: which one is written to, what is merged, and what is not trusted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tulving_core::model::answer::{Answer, SaveOutcome, Strength, Warning};
use tulving_core::model::backend::{
    BUILT_IN, BackendDescription, BackendItem, BackendList, BackendListQuery, BackendRecallMode,
    BackendRecallQuery, BackendRole, Verb,
};
use tulving_core::model::error::{BackendError, Class, Error};
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, ListRequest, Mode, RecallQuestion, RecallRequest,
    SaveRequest, Sort, TimelineRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{MemoryType, Relation, Role, State};
use tulving_core::ports::Backend;
use tulving_core::{BackendEntry, BackendLocation, Engine};

use crate::bed::{Bed, keyed, link, listing, recall, refused, said, within};

/// The behaviour of a fake that replaces its own.
type Instead = Box<dyn Fn(&str) -> Result<(), BackendError> + Send + Sync>;

/// A backend that keeps JSON in memory, as a plugin does, or answers as a test wants.
#[derive(Default)]
struct Fake {
    kept: Mutex<BTreeMap<String, Value>>,
    /// The memories that it returns for every recall and list.
    gives: Vec<Value>,
    instead: Option<Instead>,
    calls: Mutex<Vec<String>>,
}

impl Fake {
    fn giving(gives: Vec<Value>) -> Arc<Self> {
        Arc::new(Self { gives, ..Self::default() })
    }

    fn failing(error: BackendError) -> Arc<Self> {
        let instead: Instead = Box::new(move |_| Err(error.clone()));
        Arc::new(Self { instead: Some(instead), ..Self::default() })
    }

    fn called(&self, what: &str) -> Result<(), BackendError> {
        self.calls.lock().expect("not poisoned").push(what.to_owned());
        self.instead.as_ref().map_or(Ok(()), |instead| instead(what))
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("not poisoned").clone()
    }

    fn all(&self) -> Vec<Value> {
        let kept = self.kept.lock().expect("not poisoned");
        self.gives.iter().chain(kept.values()).cloned().collect()
    }
}

fn given(value: Value) -> BackendItem {
    serde_json::from_value(value).map(Box::new).map_err(|error| error.to_string())
}

impl Backend for Fake {
    fn describe(&self, _: Duration) -> Result<BackendDescription, BackendError> {
        Ok(BackendDescription { version: "1".to_owned(), verbs: Verb::ALL.to_vec() })
    }

    fn save(&self, memory: &Memory, _: Duration) -> Result<(), BackendError> {
        self.called("save")?;
        let value = serde_json::to_value(memory).expect("JSON");
        self.kept.lock().expect("not poisoned").insert(memory.id.to_string(), value);
        Ok(())
    }

    fn recall(&self, query: &BackendRecallQuery, _: Duration) -> Result<Vec<BackendItem>, BackendError> {
        self.called(&format!("recall {}", query.way.as_str()))?;
        assert!(
            query.query.is_some()
                || matches!(query.way, BackendRecallMode::Recent | BackendRecallMode::Important)
        );
        Ok(self.all().into_iter().map(given).collect())
    }

    fn get(
        &self,
        id: MemoryId,
        _: &[SpaceId],
        _: PrincipalId,
        _: Duration,
    ) -> Result<Option<BackendItem>, BackendError> {
        self.called("get")?;
        let found = self.all().into_iter().find(|memory| memory["id"] == json!(id));
        Ok(found.map(given))
    }

    fn list(&self, query: &BackendListQuery, _: Duration) -> Result<BackendList, BackendError> {
        self.called("list")?;
        let place = |memory: &Value| (memory["created_at"].to_string(), memory["id"].to_string());
        let mut found = self.all();
        found.sort_by_key(place);
        if !query.oldest_first {
            found.reverse();
        }
        let after = query.after.map(|(at, id)| place(&json!({ "created_at": at, "id": id })));
        found.retain(|memory| {
            after.as_ref().is_none_or(|after| (place(memory) > *after) == query.oldest_first)
                && after.as_ref() != Some(&place(memory))
        });
        let more = found.len() > query.limit;
        found.truncate(query.limit);
        Ok(BackendList { given: found.into_iter().map(given).collect(), more })
    }

    fn forget(&self, id: MemoryId, _: SpaceId, _: bool, _: Duration) -> Result<bool, BackendError> {
        self.called("forget")?;
        Ok(self.kept.lock().expect("not poisoned").remove(&id.to_string()).is_some())
    }
}

fn entry(name: &str, role: BackendRole, keeps: BackendLocation) -> BackendEntry {
    BackendEntry { name: name.to_owned(), role, within: Duration::from_secs(5), keeps }
}

fn primary(fake: &Arc<Fake>) -> BackendEntry {
    entry("notes", BackendRole::Primary, BackendLocation::Elsewhere(fake.clone()))
}

fn secondary(name: &str, fake: &Arc<Fake>) -> BackendEntry {
    entry(name, BackendRole::Secondary, BackendLocation::Elsewhere(fake.clone()))
}

fn built_in(role: BackendRole) -> BackendEntry {
    entry(BUILT_IN, role, BackendLocation::BuiltIn)
}

/// Returns a memory as a backend would.
fn memory(space: SpaceId, at: i64, content: &str) -> Value {
    let at = Timestamp::from_micros(at * 1_000_000);
    json!({ "id": MemoryId::mint(at), "space": space, "created_at": at, "content": content })
}

fn with(mut memory: Value, field: &str, value: Value) -> Value {
    memory[field] = value;
    memory
}

fn contents(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.memory.fields.text.content.as_str()).collect()
}

/// Returns each failed backend with the reason.
fn failures(answer: &Answer) -> Vec<(&str, &str)> {
    answer.failed_backends.iter().map(|failed| (failed.backend.as_str(), failed.why.as_str())).collect()
}

fn asked(question: &str) -> RecallRequest {
    recall(Mode::Hybrid(Box::new(RecallQuestion::new(question))))
}

fn saves(engine: &Engine, caller: &Caller, request: SaveRequest) -> tulving_core::model::answer::Receipt {
    engine.save(caller, request).expect("saved")
}

#[test]
fn only_the_primary_is_written_to_and_the_id_is_the_engines() {
    let bed = Bed::new();
    let user = bed.user();
    let (notes, other) = (Arc::new(Fake::default()), Arc::new(Fake::default()));
    let engine = bed.over(vec![secondary("other", &other), primary(&notes)]);
    let receipt = saves(&engine, &user, SaveRequest::new("  Marta owns billing \r\n"));
    assert_eq!((receipt.outcome, receipt.memory.number), (SaveOutcome::Created, None));
    let kept = notes.all().remove(0);
    assert_eq!(kept["id"], json!(receipt.memory.id));
    assert_eq!(receipt.memory.id.as_bytes()[6] >> 4, 7, "a UUID of version 7");
    assert_eq!(kept["content"], "Marta owns billing", "in its normal form");
    assert_eq!(other.calls(), [""; 0], "a secondary is only read");
    assert_eq!(bed.contents(&user), [""; 0], "and the built-in store is not used");
    let found = engine.get(&user, receipt.memory.id.into()).expect("there");
    assert_eq!(found.backend.as_deref(), Some("notes"));
    let gone = engine.forget(&user, receipt.memory.id.into(), &ForgetRequest::default()).expect("forgotten");
    assert_eq!(gone.memory.id, receipt.memory.id);
    refused!(engine.get(&user, receipt.memory.id.into()), Error::NoMemory { .. });
}

#[test]
fn a_backend_hears_of_nothing_that_the_caller_may_not_do_or_that_is_not_well_formed() {
    let bed = Bed::new();
    let hub = bed.hub("team");
    let (reader, writer) = (bed.member("ann", hub, Role::Reader), bed.member("bob", hub, Role::Writer));
    let stranger = within(&bed.person("eve"), hub);
    let notes = Arc::new(Fake::default());
    let engine = bed.over(vec![primary(&notes)]);
    refused!(engine.save(&reader, SaveRequest::new("x")), Error::Denied { need: Role::Writer, .. });
    refused!(engine.save(&stranger, SaveRequest::new("x")), Error::NoSpace { .. });
    refused!(engine.save(&writer, SaveRequest::new(" ")), Error::Invalid(_));
    assert_eq!(notes.calls(), [""; 0]);
    let id = saves(&engine, &writer, SaveRequest::new("shared")).memory.id;
    assert_eq!(engine.get(&reader, id.into()).expect("shared").id, id);
    let forget = ForgetRequest::default();
    refused!(engine.forget(&reader, id.into(), &forget), Error::Denied { need: Role::Writer, .. });
    refused!(engine.forget(&stranger, id.into(), &forget), Error::Backend { .. } | Error::NoMemory { .. });
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    let other = bed.member("cid", hub, Role::Writer);
    refused!(engine.forget(&other, id.into(), &hard), Error::OwnerOrAdmin { .. });
    assert_eq!(notes.all().len(), 1, "it is still there");
    let filter = Filter { space: Some(hub), ..Filter::default() };
    let before = notes.calls().len();
    let answer = engine.recall(&stranger, &RecallRequest { filter, ..asked("shared") }).expect("nothing");
    assert!(answer.hits.is_empty());
    assert_eq!(notes.calls().len(), before, "a space that the caller is not in is not asked about");
}

#[test]
fn saving_under_a_key_that_exists_updates_that_memory() {
    let bed = Bed::new();
    let user = bed.user();
    let notes = Arc::new(Fake::default());
    let engine = bed.over(vec![primary(&notes)]);
    let first = saves(&engine, &user, keyed("color", "blue"));
    let again = saves(&engine, &user, keyed("color", "green"));
    assert_eq!(
        (again.outcome, again.memory.id, again.memory.version.0),
        (SaveOutcome::Updated, first.memory.id, 2)
    );
    let same = saves(&engine, &user, keyed("color", "green"));
    assert_eq!((same.outcome, same.memory.id), (SaveOutcome::Unchanged, first.memory.id));
    assert_eq!(notes.all().len(), 1);
    assert_eq!(notes.calls().iter().filter(|call| *call == "save").count(), 2);
    let linked = SaveRequest {
        associations: vec![link(first.memory.id, Relation::Updates)],
        ..SaveRequest::new("teal")
    };
    let linked = saves(&engine, &user, linked);
    assert!(matches!(linked.warnings[..], [Warning::NoLinks { .. }]), "{:?}", linked.warnings);
}

#[test]
fn what_a_primary_does_not_offer_is_an_error_with_a_name() {
    let bed = Bed::new();
    let user = bed.user();
    let notes = Arc::new(Fake::default());
    let engine = bed.over(vec![built_in(BackendRole::Secondary), primary(&notes)]);
    // Also in the store, so that a fallback to it would succeed.
    let id = bed.save(&user, "in the store").memory.id;
    let other = bed.save(&user, "another").memory.id;
    let everything = ForgetWhere {
        filter: Filter { states: vec![State::Active], ..Filter::default() },
        ..ForgetWhere::default()
    };
    let tried: Vec<(&str, Result<(), Error>)> = vec![
        ("update", engine.update(&user, id.into(), &said("new")).map(drop)),
        ("history", engine.history(&user, id.into()).map(drop)),
        ("archive", engine.archive(&user, id.into()).map(drop)),
        ("pin", engine.pin(&user, id.into()).map(drop)),
        ("restore", engine.restore(&user, id.into()).map(drop)),
        ("move", engine.move_to(&user, &[id.into()], "default").map(drop)),
        ("associate", engine.associate(&user, id.into(), &link(other, Relation::RelatedTo)).map(drop)),
        ("related", engine.related(&user, id.into(), 1).map(drop)),
        ("forgetting by a condition", engine.forget_where(&user, &everything).map(drop)),
        ("forgetting by a condition", engine.foresee_forget_where(&user, &everything).map(drop)),
        ("a timeline", engine.timeline(&user, &TimelineRequest::new("store")).map(drop)),
        ("a count", engine.count(&user, &Filter::default()).map(drop)),
    ];
    for (verb, tried) in tried {
        let error = tried.expect_err(verb);
        assert_eq!((error.code(), error.class()), ("not_offered", Class::Caller), "{verb}");
        assert_eq!(error.to_string(), format!("the backend `notes` does not offer {verb}"));
    }
    refused!(engine.forget(&user, id.into(), &ForgetRequest::default()), Error::NoMemory { .. });
    assert_eq!(bed.get(&user, id).version.0, 1, "the store was left alone");
    let then = RecallQuestion { as_of: Some(Timestamp::from_micros(1)), ..RecallQuestion::new("x") };
    let answer = engine.recall(&user, &recall(Mode::Hybrid(Box::new(then)))).expect("the store's");
    assert_eq!(failures(&answer), [("notes", "does not offer recall as of an earlier time")]);
}

#[test]
fn hits_are_merged_by_rank_and_the_primary_comes_first() {
    let bed = Bed::new();
    let user = bed.user();
    for content in ["tea one", "tea two"] {
        bed.save(&user, content);
    }
    let own = contents(&bed.engine.recall(&user, &asked("tea")).expect("found")).join(", ");
    let give = |names: &[&str]| {
        let made = |content: &&str| memory(SpaceId::DEFAULT, 1, content);
        Fake::giving(names.iter().map(made).collect())
    };
    let (wiki, mail) =
        (give(&["tea wiki one", "tea wiki two", "tea wiki three"]), give(&["tea mail", "tea one"]));
    let engine =
        bed.over(vec![secondary("wiki", &wiki), built_in(BackendRole::Primary), secondary("mail", &mail)]);
    let answer = engine.recall(&user, &asked("tea")).expect("found");
    let [first, second] = own.split(", ").collect::<Vec<_>>()[..] else { panic!("two of its own") };
    let due = [first, "tea wiki one", "tea mail", second, "tea wiki two", "tea wiki three"];
    assert_eq!(contents(&answer), due, "what the primary has is not given twice");
    assert_eq!(answer.total_found, 6);
    let backends: Vec<_> = answer.hits.iter().map(|hit| hit.memory.backend.as_deref()).collect();
    assert_eq!(backends[..3], [None, Some("wiki"), Some("mail")]);
    assert!(answer.hits[0].explanation.is_some() && answer.hits[1].explanation.is_none());
    assert_eq!(contents(&engine.recall(&user, &asked("tea")).expect("found")), due, "and always so");
    let few = RecallRequest { limit: 2, ..asked("tea") };
    assert_eq!(contents(&engine.recall(&user, &few).expect("found")), due[..2]);
    let newest = engine.recall(&user, &recall(Mode::Recent)).expect("found");
    assert_eq!(contents(&newest)[..2], ["tea two", "tea one"], "an order is an order");
}

#[test]
fn what_backends_give_is_weak_evidence_and_counts_for_the_budget() {
    let bed = Bed::new();
    let user = bed.user();
    let notes = Fake::giving(vec![
        memory(SpaceId::DEFAULT, 1, &"long ".repeat(100)),
        memory(SpaceId::DEFAULT, 2, "short"),
    ]);
    let engine = bed.over(vec![primary(&notes)]);
    let ask =
        |ask: RecallQuestion| engine.recall(&user, &recall(Mode::Hybrid(Box::new(ask)))).expect("an answer");
    assert_eq!(ask(RecallQuestion::new("x")).evidence, Some(Strength::Weak));
    let strong = ask(RecallQuestion { abstain_below: Some(Strength::Strong), ..RecallQuestion::new("x") });
    assert_eq!((strong.hits.len(), strong.withheld), (0, 2));
    let little = ask(RecallQuestion { token_budget: Some(10), ..RecallQuestion::new("x") });
    assert_eq!((contents(&little), little.left_out), (vec!["short"], 1));
}

#[test]
fn that_nothing_answers_is_noted_unless_another_backend_has_something() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "Backups are kept for thirty days");
    let question = asked("which zebra is kept in the zoo of the capital?");
    let (empty, full) = (Fake::giving(Vec::new()), Fake::giving(vec![memory(SpaceId::DEFAULT, 1, "zebra")]));
    for (wiki, evidence, has_note) in [(empty, Strength::None, true), (full, Strength::Weak, false)] {
        let engine = bed.over(vec![built_in(BackendRole::Primary), secondary("wiki", &wiki)]);
        let answer = engine.recall(&user, &question).expect("an answer");
        assert_eq!((answer.evidence, answer.note.is_some()), (Some(evidence), has_note));
    }
}

#[test]
fn the_todos_of_a_project_are_a_list_with_other_backends_too() {
    let bed = Bed::new();
    let user = bed.user();
    let todo = |project: &str, content: &str| SaveRequest {
        project: Some(project.to_owned()),
        memory_type: Some(MemoryType::Todo),
        ..SaveRequest::new(content)
    };
    bed.save(&user, todo("gantry", "oil the crane"));
    bed.save(&user, todo("tidepool", "count the crabs"));
    let wiki = Fake::giving(Vec::new());
    let engine = bed.over(vec![built_in(BackendRole::Primary), secondary("wiki", &wiki)]);
    let ask = RecallQuestion { list_limit: Some(100), ..RecallQuestion::new("my todos for gantry") };
    let answer = engine.recall(&user, &recall(Mode::Hybrid(Box::new(ask)))).expect("an answer");
    assert_eq!(contents(&answer), ["oil the crane"]);
    assert_eq!(answer.listed.map(|list| list.what), Some("1 open todo".to_owned()));
}

#[test]
fn a_backend_that_fails_is_named_and_the_others_answer() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, "tea").memory.id;
    let late = BackendError::TimedOut { after: Duration::from_millis(500) };
    let slow = Fake::failing(late.clone());
    let unable = Fake::failing(BackendError::NotOffered { what: "recall" });
    let engine = bed.over(vec![
        built_in(BackendRole::Primary),
        secondary("slow", &slow),
        secondary("unable", &unable),
    ]);
    let answer = engine.recall(&user, &asked("tea")).expect("the others answer");
    assert_eq!(contents(&answer), ["tea"]);
    assert_eq!(failures(&answer), [("slow", "did not answer within 500 ms")]);
    assert_eq!(answer.failed_backends[0].code, "backend_timed_out");
    let page = engine.list(&user, &listing(Sort::Newest, 10)).expect("the others answer");
    assert_eq!((page.memories.len(), page.failed_backends[0].backend.as_str()), (1, "slow"));
    assert_eq!(engine.get(&user, id.into()).expect("the primary has it").id, id);
    let absent = MemoryId::mint(Timestamp::from_micros(1));
    let error = engine.get(&user, absent.into()).expect_err("it may be there");
    assert_eq!((error.code(), error.class()), ("backend_timed_out", Class::Upstream));
    // A primary that fails: nothing is saved, and the memories of the others are still found.
    let engine = bed.over(vec![primary(&slow), built_in(BackendRole::Secondary)]);
    refused!(engine.save(&user, SaveRequest::new("x")), Error::Backend { source, .. } if source == late);
    let answer = engine.recall(&user, &asked("tea")).expect("the others answer");
    assert_eq!((contents(&answer), failures(&answer)[0].0), (vec!["tea"], "notes"));
    let engine = bed.over(vec![primary(&slow)]);
    refused!(engine.recall(&user, &asked("tea")), Error::Backend { .. });
    refused!(engine.list(&user, &listing(Sort::Newest, 10)), Error::Backend { .. });
}

#[test]
fn a_batch_that_fails_says_how_many_were_done() {
    let bed = Bed::new();
    let left = Mutex::new(2);
    let instead: Instead = Box::new(move |_| {
        let mut left = left.lock().expect("not poisoned");
        if *left == 0 {
            return Err(BackendError::Refused { message: "full".to_owned() });
        }
        *left -= 1;
        Ok(())
    });
    let notes = Arc::new(Fake { instead: Some(instead), ..Fake::default() });
    let engine = bed.over(vec![primary(&notes)]);
    let requests = ["a", "b", "c"].map(SaveRequest::new).to_vec();
    let error = engine.save_many(&bed.user(), requests).expect_err("full");
    assert_eq!(error.to_string(), "the backend `notes` refused: full; 2 of the memories before it were done");
}

#[test]
fn backends_are_asked_at_the_same_time() {
    let bed = Bed::new();
    // Each waits until the other is asked.
    let meet = |mine: mpsc::Sender<()>, other: mpsc::Receiver<()>| {
        let other = Mutex::new(other);
        let instead: Instead = Box::new(move |_| {
            let _ = mine.send(());
            let met = other.lock().expect("not poisoned").recv_timeout(Duration::from_secs(20));
            met.map_err(|_| BackendError::Gone { why: "the other was not asked meanwhile".to_owned() })
        });
        Arc::new(Fake { instead: Some(instead), ..Fake::default() })
    };
    let (to_one, one) = mpsc::channel();
    let (to_two, two) = mpsc::channel();
    let (a, b) = (meet(to_two, one), meet(to_one, two));
    let engine = bed.over(vec![built_in(BackendRole::Primary), secondary("a", &a), secondary("b", &b)]);
    let answer = engine.recall(&bed.user(), &asked("tea")).expect("an answer");
    assert_eq!(failures(&answer), []);
}

#[test]
fn walls_hold_whatever_a_backend_says() {
    let bed = Bed::new();
    let (user, hub) = (bed.user(), bed.hub("team"));
    let elsewhere = bed.hub("elsewhere");
    let ann = bed.member("ann", hub, Role::Reader);
    let good = memory(hub, 9, "good");
    let stored = bed.save(&within(&user, hub), "in the store").memory.id;
    let cases: Vec<(&str, Vec<Value>)> = vec![
        ("its space was not asked for", vec![memory(elsewhere, 1, "from elsewhere")]),
        ("was given twice", vec![good.clone()]),
        ("is not an id", vec![with(memory(hub, 1, "x"), "id", json!("12"))]),
        ("the limit is 3000000", vec![memory(hub, 1, &"x".repeat(3_000_001))]),
        ("the content is empty", vec![memory(hub, 1, " ")]),
        ("missing field", vec![json!({ "content": "x" })]),
        ("must be between 0 and 1", vec![with(memory(hub, 1, "x"), "score", json!(7))]),
        ("is that of a memory of the primary", vec![with(memory(hub, 1, "x"), "id", json!(stored))]),
        ("tags", vec![with(memory(hub, 1, "x"), "tags", json!(vec!["t"; 1_000]))]),
    ];
    let filter = Filter { space: Some(hub), ..Filter::default() };
    for (why, lies) in cases {
        let lies: Vec<Value> = std::iter::once(good.clone()).chain(lies).collect();
        let liar = Fake::giving(lies);
        let engine = bed.over(vec![built_in(BackendRole::Primary), secondary("liar", &liar)]);
        let request = RecallRequest { filter: filter.clone(), ..asked("store") };
        let answer = engine.recall(&ann, &request).expect("an answer");
        let [("liar", described)] = failures(&answer)[..] else { panic!("{why}: {:?}", failures(&answer)) };
        assert!(
            described.starts_with("answered wrongly: a memory was left out: ") && described.contains(why),
            "{described}"
        );
        let mut found = contents(&answer);
        found.sort_unstable();
        assert_eq!(found, ["good", "in the store"], "{why}");
        let request = ListRequest { filter: filter.clone(), ..listing(Sort::Newest, 10) };
        let page = engine.list(&ann, &request).expect("a page");
        assert_eq!(page.memories.len(), 2, "{why}");
        assert_eq!(page.failed_backends.len(), 1, "{why}");
    }
    // A backend that returns another memory than the one asked for.
    let asked_for = MemoryId::mint(Timestamp::from_micros(5));
    struct Changeling(Value);
    impl Backend for Changeling {
        fn describe(&self, _: Duration) -> Result<BackendDescription, BackendError> {
            unreachable!("nobody asks")
        }
        fn save(&self, _: &Memory, _: Duration) -> Result<(), BackendError> {
            unreachable!("it is only read")
        }
        fn recall(&self, _: &BackendRecallQuery, _: Duration) -> Result<Vec<BackendItem>, BackendError> {
            Ok(Vec::new())
        }
        fn get(
            &self,
            _: MemoryId,
            _: &[SpaceId],
            _: PrincipalId,
            _: Duration,
        ) -> Result<Option<BackendItem>, BackendError> {
            Ok(Some(given(self.0.clone())))
        }
        fn list(&self, _: &BackendListQuery, _: Duration) -> Result<BackendList, BackendError> {
            Ok(BackendList::default())
        }
        fn forget(&self, _: MemoryId, _: SpaceId, _: bool, _: Duration) -> Result<bool, BackendError> {
            Ok(false)
        }
    }
    let changeling = BackendLocation::Elsewhere(Arc::new(Changeling(good)));
    let engine = bed
        .over(vec![built_in(BackendRole::Primary), entry("changeling", BackendRole::Secondary, changeling)]);
    let error = engine.get(&ann, asked_for.into()).expect_err("another");
    assert_eq!(error.code(), "backend_wrong", "{error}");
}

#[test]
fn private_memories_of_a_backend_are_for_their_owner_and_nobody_is_told_of_them() {
    let bed = Bed::new();
    let hub = bed.hub("team");
    let (ann, bob) = (bed.member("ann", hub, Role::Reader), bed.member("bob", hub, Role::Admin));
    let private = with(memory(hub, 1, "Ann's own tea"), "boundary", json!("private"));
    let private = with(private, "owner", json!(ann.viewer.principal));
    let nobodys = with(memory(hub, 2, "nobody's tea"), "boundary", json!("private"));
    let wiki = Fake::giving(vec![private.clone(), nobodys]);
    let engine = bed.over(vec![built_in(BackendRole::Primary), secondary("wiki", &wiki)]);
    let seen = |caller: &Caller| {
        let answer = engine.recall(caller, &asked("tea")).expect("an answer");
        assert_eq!(failures(&answer), []);
        contents(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(seen(&ann), ["Ann's own tea"]);
    assert_eq!(seen(&bob), [""; 0]);
    let id: MemoryId = serde_json::from_value(private["id"].clone()).expect("an id");
    assert_eq!(engine.get(&ann, id.into()).expect("her own").id, id);
    refused!(engine.get(&bob, id.into()), Error::NoMemory { .. });
}

#[test]
fn pages_of_several_backends_neither_skip_nor_repeat() {
    let bed = Bed::new();
    let user = bed.user();
    let made = |range: std::ops::Range<i64>, step: usize, who: &str| {
        let content = |at: i64| memory(SpaceId::DEFAULT, at, &format!("{who} {at:02}"));
        Fake::giving(range.step_by(step).map(content).collect())
    };
    for content in ["store a", "store b", "store c"] {
        bed.save(&user, content);
    }
    // One backend has many, the other few.
    let (many, few) = (made(1..40, 3, "many"), made(2..40, 17, "few"));
    let engine =
        bed.over(vec![built_in(BackendRole::Primary), secondary("many", &many), secondary("few", &few)]);
    for sort in [Sort::Newest, Sort::Oldest] {
        for limit in [1, 2, 5, 100] {
            let mut seen: Vec<String> = Vec::new();
            let mut request = listing(sort, limit);
            loop {
                let page = engine.list(&user, &request).expect("a page");
                assert!(page.memories.len() <= limit && page.failed_backends.is_empty());
                seen.extend(page.memories.into_iter().map(|memory| memory.fields.text.content));
                let Some(next) = page.next else { break };
                request.cursor = Some(next);
            }
            let mut due: Vec<String> = (1..40).step_by(3).map(|at| format!("many {at:02}")).collect();
            due.extend((2..40).step_by(17).map(|at| format!("few {at:02}")));
            due.sort_by_key(|text| text[text.len() - 2..].to_owned());
            due.extend(["store a", "store b", "store c"].map(str::to_owned));
            if sort == Sort::Newest {
                due.reverse();
            }
            assert_eq!(seen, due, "{sort:?} by {limit}");
        }
    }
    let page = engine.list(&user, &listing(Sort::Importance, 2)).expect("the primary's");
    assert_eq!(page.failed_backends.len(), 2, "that the others are left out is said");
}

#[test]
fn without_other_backends_nothing_is_different() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "tea");
    let alone = bed.over(vec![built_in(BackendRole::Primary)]);
    let plain = bed.beside();
    assert_eq!(
        serde_json::to_string(&alone.recall(&user, &recall(Mode::Recent)).expect("found")).expect("JSON"),
        serde_json::to_string(&plain.recall(&user, &recall(Mode::Recent)).expect("found")).expect("JSON"),
    );
    assert_eq!(alone.count(&user, &Filter::default()).expect("a count"), 1);
}
