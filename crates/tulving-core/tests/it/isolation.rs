//! A thousand people in many spaces, teams and two orgs, and an oracle that knows from the rules alone who may see
//! what. Nobody learns of a memory that they may not see: every verb answers exactly as for one that does not exist.
//! `TULVING_TEST_SEED` repeats a run.

mod town;

use std::collections::BTreeSet;
use std::sync::Arc;

use tulving_core::Engine;
use tulving_core::model::answer::{SaveOutcome, StatementEnd, Warning};
use tulving_core::model::change::Change;
use tulving_core::model::error::Error;
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, PrincipalId, Seq, SpaceId, Version};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    AuditFilter, Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, ForgottenFilter, ListRequest, Mode,
    RecallQuestion, RecallRequest, SaveRequest, Sort, TimelineRequest, TimelineSubject, TurnFilter,
    UpdateRequest,
};
use tulving_core::model::vocabulary::{Boundary, MemoryType, Relation, Role};
use tulving_core::ports::{Log, Memories};
use tulving_testkit::build;
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::seed::{RandomSeed, SeedPanicGuard};

use self::town::{MEMORIES, Town, settle};
use crate::bed::{Bed, caller, link, listing, recall, said};

const PROBES: usize = 2_500;

pub(crate) fn pick<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

pub(crate) fn asking(ask: RecallQuestion) -> RecallRequest {
    recall(Mode::Hybrid(Box::new(ask)))
}

/// Formats an error as a program and a person see it, without the name that was asked for.
pub(crate) fn described<T: std::fmt::Debug>(
    result: Result<T, Error>,
    asked: impl std::fmt::Display + Copy,
) -> String {
    match result {
        Ok(found) => format!("found {found:?}"),
        Err(error) => {
            let text = format!("{} {:?} {error} {:?}", error.code(), error.class(), error.hint());
            text.replace(&asked.to_string(), "…")
        }
    }
}

struct IsolationProbe<'a> {
    bed: &'a Bed,
    /// The engine for questions by word, with the production index.
    asked: &'a Engine,
    town: &'a Town,
    asking: Caller,
    memory: &'a Memory,
    /// An id of no memory.
    nothing: MemoryId,
    said: String,
}

/// A verb that takes a reference to a memory.
type MemoryRefVerb<'a> = &'a dyn Fn(MemoryRef) -> Result<(), Error>;

/// Returns the error of an act on several memories for a missing one, as an act on one would.
fn absent(which: MemoryRef, missing: &[MemoryRef]) -> Result<(), Error> {
    assert_eq!(missing, [which], "what is hidden was taken along");
    Err(Error::NoMemory { which, space: None })
}

/// A number of no memory.
const NO_NUMBER: MemoryNumber = MemoryNumber(999_999);

impl IsolationProbe<'_> {
    fn engine(&self) -> &Engine {
        &self.bed.engine
    }

    fn visible(&self) -> bool {
        self.town.sees(&self.asking, self.memory.id)
    }

    /// Asserts that the caller may see a returned memory, and the one that supersedes it.
    fn check(&self, found: &Memory, by: &str) {
        assert!(
            self.town.sees(&self.asking, found.id),
            "{by} shows {} to {}",
            found.fields.text.content,
            self.said
        );
        if let Some(newer) = found.superseded_by {
            assert!(self.town.sees(&self.asking, newer), "{by} names what supersedes, {}", self.said);
        }
    }

    fn look(&self) {
        let (engine, memory) = (self.engine(), self.memory);
        let number = MemoryRef::Number(memory.number.expect("a record"));
        let got = engine.get(&self.asking, memory.id.into());
        assert_eq!(got.is_ok(), self.visible(), "get by id, {}", self.said);
        let by_number = engine.get(&self.asking, number);
        assert_eq!(by_number.is_ok(), self.visible(), "get by number, {}", self.said);
        let history = engine.history(&self.asking, memory.id.into());
        assert_eq!(history.is_ok(), self.visible(), "history, {}", self.said);
        if self.visible() {
            self.check(&got.expect("visible"), "get");
            assert_eq!(by_number.expect("visible").id, memory.id);
            let versions = &self.town.versions[&memory.id];
            let readable = versions.iter().enumerate().filter(|(n, boundary)| {
                n + 1 == versions.len()
                    || memory.owner == self.asking.viewer.principal
                    || self.town.may_see(&self.asking, **boundary, memory.owner, memory.space)
            });
            let history = history.expect("visible");
            assert_eq!(history.len(), readable.count(), "versions, {}", self.said);
            assert!(
                history.len() == versions.len() || history.iter().all(|entry| entry.changed.is_empty()),
                "what changed since a hidden version, {}",
                self.said
            );
        } else if self.town.sees_forgotten(&self.asking, memory) {
            for error in [got.err(), by_number.err(), history.err()] {
                assert!(matches!(error, Some(Error::Forgotten { .. })), "{}", self.said);
            }
        } else {
            let missing = described(engine.get(&self.asking, self.nothing.into()), self.nothing);
            assert_eq!(described(got, memory.id), missing, "{}", self.said);
            let missing = described(engine.get(&self.asking, MemoryRef::Number(NO_NUMBER)), NO_NUMBER);
            assert_eq!(described(by_number, number), missing, "{}", self.said);
            let missing = described(engine.history(&self.asking, self.nothing.into()), self.nothing);
            assert_eq!(described(history, memory.id), missing, "{}", self.said);
        }
    }

    fn search(&self) {
        let word = &self.memory.fields.text.content;
        let expected = u64::from(self.visible());
        let filter = Filter { substring: Some(word.to_uppercase()), ..Filter::default() };
        let count = self.engine().count(&self.asking, &filter).expect("a count");
        assert_eq!(count, expected, "count, {}", self.said);
        let answer =
            self.engine().recall(&self.asking, &recall(Mode::Substring(word.clone()))).expect("an answer");
        assert_eq!(answer.total_found, expected, "recall by text, {}", self.said);
        let by_key = Filter {
            key: self.memory.fields.key.clone(),
            source_path: self.memory.provenance.source_path.clone(),
            space: Some(self.memory.space),
            since: Some(self.memory.usage.created_at),
            until: Some(self.memory.usage.created_at.plus_millis(1)),
            ..Filter::default()
        };
        for sort in [Sort::Newest, Sort::Importance] {
            let request = ListRequest { filter: by_key.clone(), ..listing(sort, 10) };
            let page = self.engine().list(&self.asking, &request).expect("a page");
            assert_eq!(page.memories.len() as u64, expected, "list, {}", self.said);
        }
        let earlier = Filter { substring: Some(word.replace("Secret", "Earlier")), ..Filter::default() };
        let count = self.engine().count(&self.asking, &earlier).expect("a count");
        assert_eq!(count, 0, "words of an earlier version, {}", self.said);
    }

    /// Asserts that a question by word finds the memory if it is visible, and nothing that is not.
    fn ask(&self) {
        let word = &self.memory.fields.text.content;
        // All results, because a superseded memory ranks low.
        let request = RecallRequest { limit: 1_000, ..asking(RecallQuestion::new(word.clone())) };
        let answer = self.asked.recall(&self.asking, &request).expect("an answer");
        for hit in &answer.hits {
            self.check(&hit.memory, "a question");
        }
        let about =
            TimelineRequest { limit: 50, ..TimelineRequest::new(TimelineSubject::Text(word.clone())) };
        let timeline = self.asked.timeline(&self.asking, &about).expect("a timeline");
        for entry in &timeline.entries {
            assert!(self.town.sees(&self.asking, entry.memory.id), "timeline, {}", self.said);
        }
        let found = answer.hits.iter().any(|hit| hit.memory.id == self.memory.id);
        assert_eq!(found, self.visible(), "a question, {}", self.said);
        let all = self.town.memories.keys().filter(|id| self.town.sees(&self.asking, **id)).count();
        assert!(answer.total_found <= all as u64, "a question, {}", self.said);
    }

    /// Asserts that a mode that lists everything shows exactly what the caller may see.
    fn survey(&self) {
        let all: BTreeSet<MemoryId> =
            self.town.memories.keys().copied().filter(|id| self.town.sees(&self.asking, *id)).collect();
        let mut typed = recall(Mode::Typed);
        typed.filter.types = MemoryType::ALL.to_vec();
        for request in [recall(Mode::Recent), recall(Mode::Important), typed] {
            let request = RecallRequest { limit: 1_000, ..request };
            let answer = self.engine().recall(&self.asking, &request).expect("an answer");
            assert_eq!(answer.total_found, all.len() as u64, "{:?}, {}", request.mode, self.said);
            for hit in &answer.hits {
                self.check(&hit.memory, "recall");
            }
        }
        let listed = self.pages(ForgottenFilter::Without);
        for memory in &listed {
            self.check(memory, "list");
        }
        let listed: BTreeSet<MemoryId> = listed.into_iter().map(|memory| memory.id).collect();
        assert_eq!(listed, all, "list, {}", self.said);
        let forgotten = self.pages(ForgottenFilter::Only);
        for memory in forgotten {
            let original = &self.town.memories[&memory.id];
            assert!(self.town.sees_forgotten(&self.asking, original), "forgotten, {}", self.said);
            assert!(
                memory.superseded_by.is_none_or(|newer| self.town.sees(&self.asking, newer)),
                "what supersedes a forgotten one, {}",
                self.said
            );
        }
        let names: BTreeSet<SpaceId> =
            self.engine().spaces(&self.asking).expect("spaces").into_iter().map(|space| space.id).collect();
        let known = self.town.rooms.keys().filter(|space| self.town.sees_space(&self.asking, **space));
        assert_eq!(names, known.copied().collect(), "spaces, {}", self.said);
    }

    fn pages(&self, forgotten: ForgottenFilter) -> Vec<Memory> {
        let mut request = listing(Sort::Oldest, 300);
        request.filter.forgotten = forgotten;
        let mut all = Vec::new();
        loop {
            let page = self.engine().list(&self.asking, &request).expect("a page");
            all.extend(page.memories);
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => return all,
            }
        }
    }

    fn walk(&self) {
        let found = self.engine().related(&self.asking, self.memory.id.into(), 3);
        assert_eq!(found.is_ok(), self.visible(), "related, {}", self.said);
        match found {
            Ok(relatives) => {
                for relative in relatives {
                    self.check(&relative.memory, "related");
                    for end in relative.via.iter().flat_map(|edge| [edge.source, edge.target]) {
                        assert!(self.town.sees(&self.asking, end), "an edge, {}", self.said);
                    }
                }
            }
            Err(Error::Forgotten { .. }) => {
                assert!(self.town.sees_forgotten(&self.asking, self.memory), "{}", self.said);
            }
            Err(error) => {
                let missing = self.engine().related(&self.asking, self.nothing.into(), 3);
                assert_eq!(
                    described::<()>(Err(error), self.memory.id),
                    described(missing, self.nothing),
                    "{}",
                    self.said
                );
            }
        }
        let edges = self.bed.store.associations(&self.asking.viewer, &[self.memory.id]).expect("edges");
        let expected = self
            .town
            .edges
            .iter()
            .filter(|(source, target)| *source == self.memory.id || *target == self.memory.id)
            .filter(|(source, target)| {
                self.town.sees(&self.asking, *source) && self.town.sees(&self.asking, *target)
            });
        let expected: BTreeSet<_> = expected.copied().collect();
        let found: BTreeSet<_> = edges.iter().map(|edge| (edge.source, edge.target)).collect();
        assert_eq!(found, expected, "associations, {}", self.said);
    }

    /// Asserts that a timeline includes the memory if it is visible, and never names another one that is not.
    fn remember(&self) {
        let memory = self.memory.id;
        let request = TimelineRequest::new(TimelineSubject::Memory(memory.into()));
        let found = self.engine().timeline(&self.asking, &request);
        assert_eq!(found.is_ok(), self.visible(), "timeline, {}", self.said);
        match found {
            Ok(timeline) => {
                assert!(timeline.entries.iter().any(|entry| entry.memory.id == memory), "{}", self.said);
                for entry in &timeline.entries {
                    let by = match entry.ended {
                        Some(StatementEnd::Superseded { by }) => Some(by),
                        _ => None,
                    };
                    for named in [entry.memory].iter().chain(&by).chain(&entry.contradicts) {
                        assert!(self.town.sees(&self.asking, named.id), "timeline, {}", self.said);
                    }
                }
            }
            Err(Error::Forgotten { .. }) => {
                assert!(self.town.sees_forgotten(&self.asking, self.memory), "{}", self.said);
            }
            Err(error) => {
                let request = TimelineRequest::new(TimelineSubject::Memory(self.nothing.into()));
                let missing = described(self.engine().timeline(&self.asking, &request), self.nothing);
                assert_eq!(described::<()>(Err(error), memory), missing, "timeline, {}", self.said);
            }
        }
    }

    /// Asserts that every verb answers for a hidden memory as for a missing one.
    fn meddle(&self) {
        let (engine, asking) = (self.engine(), &self.asking);
        let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
        let number = self.memory.number.expect("a record");
        let refs: [(MemoryRef, MemoryRef); 2] = [
            (self.memory.id.into(), self.nothing.into()),
            (MemoryRef::Number(number), MemoryRef::Number(NO_NUMBER)),
        ];
        for mode in [ForgetMode::Soft, ForgetMode::Hard] {
            let matching = |text: &str| {
                let filter = Filter { substring: Some(text.to_owned()), ..Filter::default() };
                let request = ForgetRequest { mode, reason: None };
                let asked = ForgetWhere { filter, request, expect: None };
                let predicted = described(engine.foresee_forget_where(asking, &asked), text);
                (predicted, described(engine.forget_where(asking, &asked), text))
            };
            let hidden = matching(&self.memory.fields.text.content);
            assert_eq!(hidden, matching("what nobody has said"), "forget where, {}", self.said);
        }
        let reachable = self.town.sees_forgotten(asking, self.memory);
        // To a space where they may write, if there is one: then every error can occur.
        let own = self.town.people[&asking.viewer.principal].spaces.keys();
        let place = own.copied().find(|space| self.town.role(asking, *space) >= Some(Role::Writer));
        let place = place.unwrap_or(asking.space).to_string();
        for (hidden, missing) in refs {
            let verbs: [(&str, MemoryRefVerb<'_>); 12] = [
                ("update", &|which| engine.update(asking, which, &said("x")).map(drop)),
                ("revert", &|which| engine.revert(asking, which, Version(1)).map(drop)),
                ("archive", &|which| engine.archive(asking, which).map(drop)),
                ("unarchive", &|which| engine.unarchive(asking, which).map(drop)),
                ("pin", &|which| engine.pin(asking, which).map(drop)),
                ("unpin", &|which| engine.unpin(asking, which).map(drop)),
                ("accept", &|which| engine.accept(asking, which).map(drop)),
                ("reject", &|which| engine.reject(asking, which).map(drop)),
                ("touch", &|which| engine.touch(asking, which).map(drop)),
                ("associate from", &|which| {
                    engine.associate(asking, which, &link(self.nothing, Relation::RelatedTo)).map(drop)
                }),
                ("dissociate", &|which| {
                    engine.dissociate(asking, which, self.nothing.into(), None).map(drop)
                }),
                ("related", &|which| engine.related(asking, which, 1).map(drop)),
            ];
            for (verb, act) in verbs.into_iter().filter(|_| !reachable) {
                assert_eq!(
                    described(act(hidden), hidden),
                    described(act(missing), missing),
                    "{verb}, {}",
                    self.said
                );
            }
            let buried: [(&str, MemoryRefVerb<'_>); 6] = [
                ("move", &|which| absent(which, &engine.move_to(asking, &[which], &place)?.missing)),
                ("forget many", &|which| {
                    let gone = engine.forget_many(asking, &[which], &ForgetRequest::default())?;
                    absent(which, &gone.missing)
                }),
                ("forget many hard", &|which| {
                    absent(which, &engine.forget_many(asking, &[which], &hard)?.missing)
                }),
                ("forget", &|which| engine.forget(asking, which, &ForgetRequest::default()).map(drop)),
                ("forget hard", &|which| engine.forget(asking, which, &hard).map(drop)),
                ("restore", &|which| engine.restore(asking, which).map(drop)),
            ];
            for (verb, act) in buried.into_iter().filter(|_| !reachable) {
                assert_eq!(
                    described(act(hidden), hidden),
                    described(act(missing), missing),
                    "{verb}, {}",
                    self.said
                );
            }
        }
    }

    /// Asserts that saving the content of a hidden memory, under its key and path, makes a new memory.
    fn repeat(&self, space: SpaceId) {
        let asking = Caller { space, ..self.asking.clone() };
        let hidden = self.memory;
        let content = &hidden.fields.text.content;
        let mut requests = vec![SaveRequest::new(content.clone())];
        for boundary in [Boundary::Private, Boundary::Hub] {
            requests.push(SaveRequest { boundary: Some(boundary), ..SaveRequest::new(content.clone()) });
        }
        requests.push(SaveRequest { key: hidden.fields.key.clone(), ..SaveRequest::new("the same key") });
        requests.push(SaveRequest {
            source_path: hidden.provenance.source_path.clone(),
            ..SaveRequest::new("the same path")
        });
        requests.push(SaveRequest {
            associations: vec![link(hidden.id, Relation::Updates)],
            ..SaveRequest::new("a link")
        });
        for request in requests {
            let described = format!("{request:?}, {}", self.said);
            let receipt = self.engine().save(&asking, request.clone()).expect("a writer may save");
            assert_eq!(receipt.outcome, SaveOutcome::Created, "{described}");
            let skipped: Vec<Warning> = request
                .associations
                .iter()
                .map(|link| Warning::AssociationSkipped { target: link.target })
                .collect();
            assert_eq!(receipt.warnings, skipped, "{described}");
            if request.content == "a link" {
                let missing = AssociationTried::new(self, &asking, receipt.memory.id, self.nothing.into());
                let tried = AssociationTried::new(self, &asking, receipt.memory.id, hidden.id.into());
                if !self.town.sees_forgotten(&asking, hidden) {
                    assert_eq!(tried.0, missing.0, "{described}");
                }
                let mut edit = said(content);
                edit.key = hidden.fields.key.clone().map(Some);
                edit.boundary = Some(Boundary::Private);
                let edited = self.engine().update(&asking, receipt.memory.id.into(), &edit);
                assert!(edited.is_ok(), "an edit onto the same words: {edited:?}, {described}");
                let back = UpdateRequest { boundary: Some(Boundary::Hub), ..UpdateRequest::default() };
                let shared = self.engine().update(&asking, receipt.memory.id.into(), &back);
                assert!(shared.is_ok(), "and shared: {shared:?}, {described}");
            }
            self.bed.forget(&asking, receipt.memory.id, ForgetMode::Hard);
        }
    }

    /// Asserts that the caller may see every entry of the log, and that all entries about this memory are there.
    fn follow(&self) {
        let mut described = Vec::new();
        let mut after = Seq(0);
        loop {
            let page = self.engine().changes(&self.asking, after, 1_000).expect("an answer");
            described.extend(page.changes);
            if page.read_to == after {
                break;
            }
            after = page.read_to;
        }
        let sees =
            |change: &Change| self.town.may_see(&self.asking, change.boundary, change.owner, change.space);
        for change in &described {
            assert!(sees(change), "{change:?}, {}", self.said);
        }
        let all = Log::changes(&*self.bed.store, Seq(0), 1_000_000).expect("the log");
        let due: Vec<Change> = all.into_iter().filter(sees).collect();
        assert_eq!(described, due, "the log, {}", self.said);
    }

    fn overhear(&self, space: SpaceId) {
        let asking = Caller { space, ..self.asking.clone() };
        let filter = TurnFilter { last: 10, ..TurnFilter::default() };
        let turns = self.engine().turns(&asking, &filter).expect("turns").turns;
        // In `default`, turns are private to the user of the home.
        let shared = space != SpaceId::DEFAULT || asking.viewer.principal == PrincipalId::USER;
        let heard = self.town.role(&asking, space).is_some() && shared;
        assert_eq!(!turns.is_empty(), heard, "turns, {}", self.said);
    }

    fn audit(&self) {
        let filter = AuditFilter { space: None, memory: Some(self.memory.id), last: 10 };
        let entries = self.engine().audit(&self.asking, &filter).expect("a list");
        let person = &self.town.people[&self.asking.viewer.principal];
        let room = &self.town.rooms[&self.memory.space];
        let within = self.asking.viewer.within.as_ref();
        let inside = within.is_none_or(|within| within.contains(&room.id));
        let admin = inside && person.spaces.get(&room.id) == Some(&Role::Admin);
        let org_admin = within.is_none() && person.orgs.get(&room.org) == Some(&Role::Admin);
        assert_eq!(!entries.is_empty(), admin || org_admin, "audit, {}", self.said);
    }
}

/// The answer to an attempt to link to a memory, without its name.
struct AssociationTried(String);

impl AssociationTried {
    fn new(duplicate_query: &IsolationProbe<'_>, asking: &Caller, from: MemoryId, to: MemoryRef) -> Self {
        let engine = duplicate_query.engine();
        let linked = engine.associate(asking, from.into(), &link(to, Relation::Updates));
        let unlinked = engine.dissociate(asking, from.into(), to, None);
        Self(format!("{} {}", described(linked, to), described(unlinked, to)))
    }
}

/// Picks a caller: a person, sometimes with a confined token, in the space of the memory.
fn somebody(random: &mut fastrand::Rng, town: &Town, ids: &[PrincipalId], memory: &Memory) -> Caller {
    let near: Vec<PrincipalId> =
        ids.iter().copied().filter(|id| town.people[id].spaces.contains_key(&memory.space)).collect();
    let who = if near.is_empty() || random.u8(..3) == 0 { pick(random, ids) } else { pick(random, &near) };
    let mut asking = caller(who, memory.space);
    if random.u8(..5) == 0 {
        let own: Vec<SpaceId> = town.people[&who].spaces.keys().copied().collect();
        let mut within: Vec<SpaceId> = own.into_iter().filter(|_| random.bool()).collect();
        within.extend(random.bool().then_some(memory.space));
        asking.viewer.within = Some(within);
    }
    asking
}

#[test]
fn nobody_learns_of_a_memory_that_is_not_for_them() {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let bed = Bed::new();
    let asked = bed.shipped(Arc::new(NoEmbedder));
    let town = settle(&bed, &mut random);
    let ids: Vec<PrincipalId> = town.people.keys().copied().collect();
    let mut secrets: Vec<MemoryId> = town.memories.keys().copied().collect();
    secrets.sort();
    let (mut shown, mut hidden, mut repeated) = (0, 0, 0);
    for n in 0..PROBES {
        let memory = &town.memories[&pick(&mut random, &secrets)];
        let asking = somebody(&mut random, &town, &ids, memory);
        let said = format!(
            "probe {n}: {:?} asks for {} ({}, of {:?}, forgotten {})",
            asking.viewer,
            memory.id,
            memory.fields.boundary,
            memory.owner,
            memory.status.forgotten_at.is_some()
        );
        let duplicate_query = IsolationProbe {
            bed: &bed,
            asked: &asked,
            town: &town,
            asking,
            memory,
            nothing: MemoryId::mint(build::second(1_000_000)),
            said,
        };
        duplicate_query.look();
        duplicate_query.walk();
        duplicate_query.remember();
        duplicate_query.overhear(pick(&mut random, &town.talking));
        duplicate_query.audit();
        if n % 4 == 0 {
            duplicate_query.search();
        }
        if n % 20 == 0 {
            duplicate_query.ask();
        }
        if n % 25 == 0 {
            duplicate_query.survey();
            duplicate_query.follow();
        }
        if duplicate_query.visible() {
            shown += 1;
            continue;
        }
        hidden += 1;
        if n % 3 == 0 {
            duplicate_query.meddle();
        }
        let own = town.people[&duplicate_query.asking.viewer.principal]
            .spaces
            .keys()
            .copied()
            .filter(|space| town.role(&duplicate_query.asking, *space) >= Some(Role::Writer));
        // In the memory's own space if possible: a leak is most likely there.
        let own: Vec<SpaceId> = own.collect();
        let place = own.iter().find(|space| **space == memory.space).or(own.first());
        if let Some(place) = place.filter(|place| n % 3 == 0 || **place == memory.space) {
            duplicate_query.repeat(*place);
            repeated += 1;
        }
    }
    assert!(
        shown > 200 && hidden > 200 && repeated > 100,
        "the run was about something: {shown} shown, {hidden} hidden, {repeated} repeated"
    );
    let records = bed.dump();
    let left = records
        .iter()
        .filter(|record| matches!(record, tulving_core::model::record::Record::Memory(_)))
        .count();
    assert_eq!(left, MEMORIES, "the probes changed nothing");
}

#[test]
fn a_confined_call_reaches_nothing_of_another_space() {
    let bed = Bed::new();
    let user = bed.user();
    let [here, there] = ["here", "there"].map(|name| bed.hub(name));
    let own = bed.save(&Caller { space: here, ..user.clone() }, "of here");
    let private = SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("of there") };
    let hidden = bed.save(&Caller { space: there, ..user.clone() }, private);
    let confined = bed.engine.confine(&user, &["here"]).expect("a space");
    assert_eq!((confined.space, &confined.viewer.within), (here, &Some(vec![here])));
    let nothing = MemoryId::mint(build::second(1_000_000));
    let engine = &bed.engine;
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    let verbs: [MemoryRefVerb<'_>; 7] = [
        &|which| engine.get(&confined, which).map(drop),
        &|which| engine.touch(&confined, which).map(drop),
        &|which| engine.history(&confined, which).map(drop),
        &|which| engine.forget(&confined, which, &hard).map(drop),
        &|which| engine.update(&confined, which, &said("other")).map(drop),
        &|which| engine.related(&confined, which, 1).map(drop),
        &|which| {
            engine.associate(&confined, own.memory.id.into(), &link(which, Relation::RelatedTo)).map(drop)
        },
    ];
    for verb in verbs {
        assert_eq!(
            described(verb(hidden.memory.id.into()), hidden.memory.id),
            described(verb(nothing.into()), nothing)
        );
    }
    let spaces: Vec<_> =
        engine.spaces(&confined).expect("spaces").into_iter().map(|space| space.name).collect();
    assert_eq!(spaces, ["here"]);
    for space in ["there".to_owned(), there.to_string()] {
        for wider in [engine.enter(&confined, &space), engine.confine(&confined, &[&space])] {
            assert!(matches!(wider, Err(Error::NoSpace { .. })), "{wider:?}");
        }
        assert!(engine.members(&confined, &space).is_err());
        assert!(engine.move_to(&confined, &[own.memory.id.into()], &space).is_err());
    }
    assert_eq!(bed.contents(&confined), ["of here"]);
    assert_eq!(engine.count(&confined, &Filter::default()).expect("a count"), 1);
    assert!(engine.get(&user, hidden.memory.id.into()).is_ok(), "it is as it was");
}
