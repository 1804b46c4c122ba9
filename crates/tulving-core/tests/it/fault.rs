//! The store fails at the first call of an act, then at the second, the third … until none fails. Each time the act is
//! whole or absent, a receipt means that it is whole, and an absent act can be repeated.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use tulving_core::model::change::Write;
use tulving_core::model::error::Error;
use tulving_core::model::foreign::{ForeignCollection, ForeignMemory, ForeignStatus};
use tulving_core::model::id::{MemoryId, PassId, Seq, SpaceId, Version};
use tulving_core::model::job::Job;
use tulving_core::model::pass::{Pass, PassAct, PassFilter};
use tulving_core::model::record::Record;
use tulving_core::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, ListRequest, QualityRequest, SaveRequest, Sort,
    TokenRequest, UpdateRequest,
};
use tulving_core::model::score::Weight;
use tulving_core::model::vocabulary::{
    Boundary, FindingKind, MemoryType, PassKind, PassOutcome, PrincipalKind, Relation, Role, SecretPolicy,
    SpaceKind, State, System,
};
use tulving_core::ports::{Claims, Directory, Jobs, Log, Passes};
use tulving_core::verbs::foreign_import::ForeignImportOptions;
use tulving_core::{LoadOptions, SecretPolicies};
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::FakeEmbedder;
use uuid::Uuid;

use crate::bed::{Bed, keyed, link, listing, said, turn, within};

/// The idempotency key of a request.
const ONCE: &str = "once";

/// The setup for an act, the same each time.
struct FaultFixture {
    bed: Bed,
    user: Caller,
    hub: SpaceId,
    plain: MemoryId,
    edited: MemoryId,
    archived: MemoryId,
    forgotten: MemoryId,
    dump: Vec<Record>,
}

impl FaultFixture {
    fn new() -> Self {
        // A clock that stands still gives every run the same times.
        let bed = Bed::with(ManualClock::new(), Arc::new(FakeEmbedder));
        let hub = bed.hub("hub");
        let user = within(&bed.user(), hub);
        bed.member("friend", hub, Role::Writer);
        let plain = bed.save(&user, "plain").memory.id;
        let edited = bed.save(&user, keyed("k", "first words")).memory.id;
        bed.update(&user, edited, &said("second words"));
        let archived = bed.save(&user, "archived").memory.id;
        bed.engine.archive(&user, archived.into()).expect("archived");
        let forgotten = bed.save(&user, "forgotten").memory.id;
        bed.forget(&user, forgotten, ForgetMode::Soft);
        bed.link(&user, plain, edited, Relation::PartOf);
        bed.link(&user, plain, edited, Relation::CausedBy);
        let token = TokenRequest {
            label: "old".to_owned(),
            introduce: None,
            principal: "friend".to_owned(),
            spaces: vec![hub],
            role: Role::Reader,
        };
        bed.engine.create_token(&bed.user(), &token).expect("a token");
        let world = bed.world();
        let turns =
            (0..249).map(|n| Write::LogTurn(world.turn(hub, user.viewer.principal, &format!("turn {n}"))));
        world.apply(turns.collect());
        world.apply(vec![Write::Enqueue(Job::new("work", json!({ "n": 1 }), 3, bed.engine.now()))]);
        Self { bed, user, hub, plain, edited, archived, forgotten, dump: Vec::new() }
    }

    fn engine(&self) -> &tulving_core::Engine {
        &self.bed.engine
    }

    /// Returns all stored data, with ids replaced by their order.
    fn snapshot(&self) -> String {
        let records = self.bed.dump();
        let mut text: String = records
            .iter()
            .map(|record| serde_json::to_string(record).expect("a record can be written") + "\n")
            .collect();
        let store = &self.bed.store;
        text += &format!("{:#?}\n", store.tokens(None).expect("tokens"));
        let claim = store.claim(self.user.viewer.principal, ONCE).expect("a claim or none");
        // The hash of the request depends on the space, which is new in each run.
        text += &format!("{:?}\n", claim.map(|claim| (claim.at, claim.answer)));
        text += &format!("{:#?}\n", store.jobs(&[], &[], 100).expect("jobs"));
        let passes = PassFilter { limit: 100, ..PassFilter::default() };
        text += &format!("{:#?}\n", store.passes(&self.user.viewer, &passes).expect("passes"));
        text += &format!("{:#?}\n", store.changes(Seq(0), 10_000).expect("the log"));
        with_plain_ids(&with_uuids(&text))
    }
}

/// Writes the ids of memories as the UUIDs that they are.
fn with_uuids(text: &str) -> String {
    let mut parts = text.split("mem_");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.get(..32).and_then(|id| id.parse::<Uuid>().ok()) {
        Some(id) => text + &id.to_string() + &part[32..],
        None => text + "mem_" + part,
    })
}

/// Replaces each id with the number of ids before it, because ids are new in each run.
fn with_plain_ids(text: &str) -> String {
    const LENGTH: usize = 36;
    let bytes = text.as_bytes();
    let is_id = |at: usize| {
        bytes.len() >= at + LENGTH
            && bytes[at..at + LENGTH].iter().enumerate().all(|(n, byte)| match n {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut plain = String::with_capacity(text.len());
    let mut rest = 0;
    for (at, _) in text.char_indices() {
        if at < rest || !is_id(at) {
            continue;
        }
        plain += &text[rest..at];
        let next = seen.len();
        let number = *seen.entry(&text[at..at + LENGTH]).or_insert(next);
        plain += &format!("<{number}>");
        rest = at + LENGTH;
    }
    plain + &text[rest..]
}

type FaultedAct = fn(&FaultFixture) -> Result<(), Error>;

fn first_difference(one: &str, other: &str) -> String {
    let mut pairs = one.lines().zip(other.lines());
    pairs
        .find(|(one, other)| one != other)
        .map_or_else(|| "their lengths".to_owned(), |(one, other)| format!("\n{one}\n{other}"))
}

/// Fails the act at each of its calls in turn.
#[track_caller]
fn whole_or_absent(prepare: fn(&mut FaultFixture), action: FaultedAct) {
    let stage = || {
        let mut stage = FaultFixture::new();
        prepare(&mut stage);
        stage
    };
    let good = stage();
    let before = good.snapshot();
    if let Err(error) = action(&good) {
        panic!("the act itself is refused: {error}");
    }
    let after = good.snapshot();
    assert!(before != after, "the act changes something");
    for nth in 1..1_000 {
        let stage = stage();
        let start = stage.snapshot();
        assert!(start == before, "each run begins alike: {}", first_difference(&before, &start));
        stage.bed.store.fail_at(nth);
        let result = action(&stage);
        let failed = stage.bed.store.has_failed();
        stage.bed.store.fail_at(0);
        let now = stage.snapshot();
        let whole = now == after;
        assert!(
            whole || now == before,
            "call {nth} failed and left a part: {} … and against what was before: {}",
            first_difference(&after, &now),
            first_difference(&before, &now),
        );
        match result {
            Ok(()) => assert!(whole, "call {nth} failed and the act was acknowledged"),
            Err(error) => {
                assert!(failed, "refused without a failure: {error}");
                assert!(!whole, "the act was done, and call {nth} after it made a failure of it: {error}");
            }
        }
        if !failed {
            assert!(nth > 1, "the act asks the store");
            return;
        }
        if !whole {
            if let Err(error) = action(&stage) {
                panic!("call {nth} failed, and the act cannot be repeated: {error}");
            }
            let repeated = stage.snapshot();
            assert!(
                repeated == after,
                "call {nth} failed, and repeating comes to something else: {}",
                first_difference(&after, &repeated)
            );
        }
    }
    panic!("the act never ends");
}

fn nothing(_: &mut FaultFixture) {}

fn put_aside(stage: &mut FaultFixture) {
    let memory = stage.bed.get(&stage.user, stage.plain);
    stage.bed.world().shift(&memory, |status| status.quarantined_at = Some(build::second(5)));
}

fn begun(stage: &mut FaultFixture) {
    stage.engine().begin_once(&stage.user, ONCE, [1; 32]).expect("begun");
}

#[test]
fn save() {
    whole_or_absent(nothing, |s| s.engine().save(&s.user, SaveRequest::new("new")).map(drop));
}

#[test]
fn save_with_links() {
    whole_or_absent(nothing, |s| {
        let request = SaveRequest {
            associations: vec![link(s.plain, Relation::Updates), link(s.edited, Relation::PartOf)],
            pinned: true,
            ..SaveRequest::new("new")
        };
        s.engine().save(&s.user, request).map(drop)
    });
}

#[test]
fn save_onto_a_key() {
    whole_or_absent(nothing, |s| s.engine().save(&s.user, keyed("k", "third words")).map(drop));
}

#[test]
fn save_of_an_archived_duplicate() {
    whole_or_absent(nothing, |s| s.engine().save(&s.user, SaveRequest::new("archived")).map(drop));
}

#[test]
fn save_many_with_links_and_keys() {
    whole_or_absent(nothing, |s| {
        let requests = vec![
            SaveRequest {
                associations: vec![link(s.plain, Relation::Updates)],
                ..SaveRequest::new("one of many")
            },
            keyed("k", "third words"),
            SaveRequest::new("archived"),
            SaveRequest::new("one of many"),
            keyed("k", "fourth words"),
        ];
        s.engine().save_many(&s.user, requests).map(drop)
    });
}

fn foreign(memories: &[(&str, &str, ForeignStatus)]) -> ForeignCollection {
    let memory = |(name, content, stands): &(&str, &str, ForeignStatus)| ForeignMemory {
        stands: *stands,
        ..ForeignMemory::new(*name, SaveRequest::new(*content))
    };
    ForeignCollection {
        memories: memories.iter().map(memory).collect(),
        ..ForeignCollection::new(System::Spacebot)
    }
}

fn adopted(stage: &FaultFixture, memories: &[(&str, &str, ForeignStatus)]) -> Result<(), Error> {
    stage
        .engine()
        .adopt(&stage.user, foreign(memories), &ForeignImportOptions::default(), &mut |_| {})
        .map(drop)
}

#[test]
fn adopt() {
    whole_or_absent(nothing, |s| {
        let theirs = [
            ("1", "theirs", ForeignStatus::Active),
            ("2", "plain", ForeignStatus::Active),
            ("3", "theirs", ForeignStatus::Active),
            ("4", "forgotten there", ForeignStatus::Forgotten),
        ];
        adopted(s, &theirs)
    });
}

#[test]
fn adopt_again() {
    let before = |stage: &mut FaultFixture| {
        let theirs = [("1", "theirs", ForeignStatus::Active), ("2", "theirs too", ForeignStatus::Active)];
        adopted(stage, &theirs).expect("taken in");
    };
    whole_or_absent(before, |s| {
        adopted(
            s,
            &[("1", "edited there", ForeignStatus::Active), ("2", "theirs too", ForeignStatus::Forgotten)],
        )
    });
}

#[test]
fn update() {
    whole_or_absent(nothing, |s| {
        let request = UpdateRequest { boundary: Some(Boundary::Team), ..said("other words") };
        s.engine().update(&s.user, s.plain.into(), &request).map(drop)
    });
}

#[test]
fn revert() {
    whole_or_absent(nothing, |s| s.engine().revert(&s.user, s.edited.into(), Version(1)).map(drop));
}

#[test]
fn forget_softly() {
    whole_or_absent(nothing, |s| {
        s.engine().forget(&s.user, s.plain.into(), &ForgetRequest::default()).map(drop)
    });
}

#[test]
fn forget_for_good() {
    whole_or_absent(nothing, |s| {
        let request = ForgetRequest { mode: ForgetMode::Hard, reason: Some("why".to_owned()) };
        s.engine().forget(&s.user, s.edited.into(), &request).map(drop)
    });
}

#[test]
fn forget_many() {
    whole_or_absent(nothing, |s| {
        let which = [s.plain.into(), s.edited.into(), s.plain.into(), s.forgotten.into()];
        let request = ForgetRequest { mode: ForgetMode::Hard, reason: None };
        s.engine().forget_many(&s.user, &which, &request).map(drop)
    });
}

#[test]
fn forget_where() {
    whole_or_absent(nothing, |s| {
        let filter = Filter { types: vec![MemoryType::Fact], ..Filter::default() };
        let request = ForgetRequest { mode: ForgetMode::Hard, reason: Some("why".to_owned()) };
        let asked = ForgetWhere { filter, request, expect: Some(2) };
        s.engine().forget_where(&s.user, &asked).map(drop)
    });
}

#[test]
fn forget_where_softly() {
    whole_or_absent(nothing, |s| {
        let filter = Filter { states: vec![State::Active, State::Archived], ..Filter::default() };
        let asked = ForgetWhere { filter, expect: Some(3), ..ForgetWhere::default() };
        s.engine().forget_where(&s.user, &asked).map(drop)
    });
}

#[test]
fn move_to() {
    whole_or_absent(nothing, |s| {
        let which = [s.plain.into(), s.edited.into(), s.forgotten.into()];
        s.engine().move_to(&s.user, &which, "default").map(drop)
    });
}

#[test]
fn begin_once() {
    whole_or_absent(nothing, |s| s.engine().begin_once(&s.user, ONCE, [1; 32]).map(drop));
}

#[test]
fn answer_once() {
    whole_or_absent(begun, |s| s.engine().answer_once(&s.user, ONCE, s.engine().now(), "done"));
}

#[test]
fn drop_once() {
    whole_or_absent(begun, |s| s.engine().drop_once(&s.user, ONCE, s.engine().now()));
}

#[test]
fn restore() {
    whole_or_absent(nothing, |s| s.engine().restore(&s.user, s.forgotten.into()).map(drop));
}

#[test]
fn archive() {
    whole_or_absent(nothing, |s| s.engine().archive(&s.user, s.plain.into()).map(drop));
}

#[test]
fn unarchive() {
    whole_or_absent(nothing, |s| s.engine().unarchive(&s.user, s.archived.into()).map(drop));
}

#[test]
fn accept() {
    whole_or_absent(put_aside, |s| s.engine().accept(&s.user, s.plain.into()).map(drop));
}

#[test]
fn reject() {
    whole_or_absent(put_aside, |s| s.engine().reject(&s.user, s.plain.into()).map(drop));
}

#[test]
fn pin() {
    whole_or_absent(nothing, |s| s.engine().pin(&s.user, s.plain.into()).map(drop));
}

#[test]
fn associate() {
    whole_or_absent(nothing, |s| {
        let request = link(s.edited, Relation::Updates);
        s.engine().associate(&s.user, s.plain.into(), &request).map(drop)
    });
}

#[test]
fn dissociate_several() {
    whole_or_absent(nothing, |s| {
        s.engine().dissociate(&s.user, s.plain.into(), s.edited.into(), None).map(drop)
    });
}

#[test]
fn flush_of_touches() {
    fn touch(stage: &mut FaultFixture) {
        for id in [stage.plain, stage.edited, stage.plain] {
            stage.engine().touch(&stage.user, id.into()).expect("touched");
        }
    }
    whole_or_absent(touch, |s| s.engine().flush().map(drop));
}

#[test]
fn create_space() {
    whole_or_absent(nothing, |s| s.engine().create_space(&s.user, "new", SpaceKind::Group).map(drop));
}

#[test]
fn create_principal() {
    whole_or_absent(nothing, |s| s.engine().create_principal(&s.user, "new", PrincipalKind::Agent).map(drop));
}

#[test]
fn set_member() {
    whole_or_absent(nothing, |s| s.engine().set_member(&s.user, "hub", "friend", Role::Admin).map(drop));
}

#[test]
fn remove_member() {
    whole_or_absent(nothing, |s| s.engine().remove_member(&s.user, "hub", "friend"));
}

#[test]
fn create_token() {
    whole_or_absent(nothing, |s| {
        let request = TokenRequest {
            label: "new".to_owned(),
            introduce: None,
            principal: "friend".to_owned(),
            spaces: vec![s.hub, SpaceId::DEFAULT],
            role: Role::Writer,
        };
        s.engine().create_token(&s.user, &request).map(drop)
    });
}

#[test]
fn revoke_token() {
    whole_or_absent(nothing, |s| s.engine().revoke_token(&s.user, "old").map(drop));
}

#[test]
fn log_turn_when_the_log_is_cut_back() {
    whole_or_absent(nothing, |s| {
        s.engine().log_turn(&s.user, &turn("the two hundred and fiftieth")).map(drop)
    });
}

#[test]
fn prune_turns() {
    whole_or_absent(nothing, |s| s.engine().prune_turns(&s.user));
}

/// Adds the memories of another home, the same in every run.
fn with_a_dump(stage: &mut FaultFixture) {
    static DUMP: std::sync::OnceLock<Vec<Record>> = std::sync::OnceLock::new();
    let records = DUMP.get_or_init(|| {
        let other = FaultFixture::new();
        other.bed.save(&other.bed.user(), "in the default space");
        other.bed.dump()
    });
    stage.dump.clone_from(records);
}

fn load(stage: &FaultFixture, records: Vec<Record>) -> Result<(), Error> {
    stage.bed.try_load(records, LoadOptions { with_roles: true }).map(drop)
}

#[test]
fn load_of_a_whole_dump() {
    whole_or_absent(with_a_dump, |s| load(s, s.dump.clone()));
}

#[test]
fn a_load_that_failed_half_way_comes_to_the_same_when_it_is_repeated() {
    let stage = || {
        let mut stage = FaultFixture::new();
        with_a_dump(&mut stage);
        stage
    };
    let good = stage();
    load(&good, good.dump.clone()).expect("a load");
    let after = good.snapshot();
    for nth in 1..1_000 {
        let stage = stage();
        stage.bed.store.fail_at(nth);
        let result = load(&stage, stage.dump.clone());
        if !stage.bed.store.has_failed() {
            result.expect("nothing failed");
            return;
        }
        result.expect_err("something failed");
        stage.bed.store.fail_at(0);
        load(&stage, stage.dump.clone()).expect("the load is repeated");
        let now = stage.snapshot();
        assert!(now == after, "call {nth} failed: {}", first_difference(&after, &now));
    }
    panic!("the load never ends");
}

#[test]
fn a_list_that_failed_can_be_asked_again_from_where_it_was() {
    let stage = FaultFixture::new();
    let whole: Vec<MemoryId> = {
        let page = stage.engine().list(&stage.user, &listing(Sort::Updated, 100));
        page.expect("a page").memories.iter().map(|memory| memory.id).collect()
    };
    let before = stage.snapshot();
    for nth in 1..100 {
        let mut request = listing(Sort::Updated, 2);
        let mut found = Vec::new();
        stage.bed.store.fail_at(nth);
        let mut failures = 0;
        loop {
            match stage.engine().list(&stage.user, &request) {
                Ok(page) => {
                    found.extend(page.memories.iter().map(|memory| memory.id));
                    let Some(next) = page.next else { break };
                    request = ListRequest { cursor: Some(next), ..request };
                }
                Err(_) => failures += 1,
            }
        }
        stage.bed.store.fail_at(0);
        assert_eq!(found, whole, "call {nth}");
        if failures == 0 {
            assert!(nth > 3);
            assert!(stage.snapshot() == before, "a list changes nothing");
            return;
        }
    }
    panic!("the list never ends");
}

#[test]
fn proposal_to_replace_a_secret() {
    whole_or_absent(
        |stage| {
            let kept = SecretPolicies { usual: SecretPolicy::Off, ..SecretPolicies::default() };
            let engine = stage.bed.beside().with_secrecy(kept);
            let secret = SaveRequest::new("password: Winter2031! of the router");
            let id = engine.save(&stage.user, secret).expect("saved").memory.id;
            stage.bed.link(&stage.user, id, stage.plain, Relation::PartOf);
        },
        |s| {
            let request = QualityRequest { kinds: vec![FindingKind::Secret], ..QualityRequest::default() };
            let report = s.engine().quality(&s.user, &request, &mut |_| {})?;
            // After it was done, nothing is left to do.
            let Some(finding) = report.findings.first() else { return Ok(()) };
            s.engine().apply_proposal(&s.user, finding.proposals[0].id).map(drop)
        },
    );
}

const PASS: PassId = PassId::from_bytes([7; 16]);

/// Simulates a pass that has saved, forgotten, edited and linked these memories.
fn passed(stage: &mut FaultFixture) {
    let FaultFixture { plain, edited, forgotten, .. } = *stage;
    let (relation, weight) = (Relation::PartOf, Weight::DEFAULT);
    let world = stage.bed.world();
    let pass = Pass {
        acts: vec![
            PassAct::Saved { memory: plain, version: Version::FIRST, aside: false },
            PassAct::Forgot { memory: forgotten },
            PassAct::Edited { memory: edited, from: Version(1), to: Version(2) },
            PassAct::Linked { source: plain, target: edited, relation, weight, was: Some(weight) },
            PassAct::Unlinked { source: edited, target: plain, relation, weight },
        ],
        ..Pass::begun(PASS, PassKind::Records, stage.hub, stage.user.viewer.principal, build::second(1))
    };
    let pass = pass.ended(PassOutcome::Done, build::second(1));
    world.apply(vec![Write::Pass { from: None, to: Box::new(pass) }]);
}

#[test]
fn undo() {
    whole_or_absent(passed, |s| {
        let undone = s.engine().undo(&s.user, PASS, false)?;
        assert_eq!(undone.taken_back(), 5, "{undone:?}");
        Ok(())
    });
}
