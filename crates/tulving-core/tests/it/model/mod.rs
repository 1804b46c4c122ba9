//! Random acts of several people in several spaces agree with a plain map.
//!
//! [`Model`] decides what each verb must answer from the rules alone; the engine is asked the same, and every so many
//! steps all that everybody sees is compared. `TULVING_TEST_SEED` repeats a run.

/// What must come of each act.
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tulving_core::answer::{Fate, Receipt, Warning};
use tulving_core::association::Association;
use tulving_core::error::Error;
use tulving_core::id::{MemoryId, MemoryRef, Number, PrincipalId, Seq, SpaceId, Version};
use tulving_core::lifecycle::decay;
use tulving_core::memory::{Edition, Memory, Standing};
use tulving_core::ports::{Clock, Memories};
use tulving_core::record::Record;
use tulving_core::request::{
    AssociationRequest, Caller, Filter, ForgetRequest, ForgetWhere, Forgotten, ListRequest, Manner, Mode,
    RecallRequest, SaveRequest, Sort, UpdateRequest,
};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Boundary, ChangeKind, MemoryType, Relation, Role, SpaceKind, State};
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::seed::{SaidOnPanic, Seed};

use crate::bed::{Bed, within};

use rules::{Due, Entry, Model, Room};

const STEPS: usize = 10_000;
/// After so many steps all that everybody sees is compared.
const COMPARED_EVERY: usize = 100;

const SORTS: [Sort; 6] =
    [Sort::Newest, Sort::Oldest, Sort::Updated, Sort::Accessed, Sort::Importance, Sort::MostAccessed];

/// The engine and the model side by side.
struct Run {
    bed: Bed,
    model: Model,
    people: Vec<Caller>,
    random: fastrand::Rng,
    /// Every id that ever was, so that the dead are asked for too.
    known: Vec<MemoryId>,
    /// For each of the people, how far they have followed the log and what they know of by it alone.
    followed: Vec<(Seq, BTreeSet<MemoryId>)>,
    /// How often each verb was done and refused, so that a run that proves nothing is noticed.
    tally: BTreeMap<&'static str, (u32, u32)>,
    step: usize,
}

/// The maps that an act may change before it is refused, kept for a moment.
type Kept = (
    BTreeMap<MemoryId, Entry>,
    BTreeMap<(MemoryId, MemoryId, Relation), Association>,
    BTreeMap<SpaceId, u64>,
);

fn code<T>(result: Result<T, Error>) -> Due<T> {
    result.map_err(|error| error.code())
}

impl Run {
    fn new(random: fastrand::Rng) -> Self {
        let bed = Bed::with(ManualClock::new(), Arc::new(NoEmbedder));
        let rooms = [("one", SpaceKind::Hub), ("two", SpaceKind::Hub), ("sealed", SpaceKind::Group)]
            .map(|(name, kind)| (name, bed.space(name, kind), kind));
        let people = vec![bed.user(), bed.person("ann"), bed.person("bob")];
        let mut roles = BTreeMap::from([((PrincipalId::USER, SpaceId::DEFAULT), Role::Admin)]);
        for (_, id, _) in rooms {
            roles.insert((PrincipalId::USER, id), Role::Admin);
        }
        let mut join = |name: &str, who: &Caller, room: &str, space: SpaceId, role: Role| {
            bed.engine.set_member(&bed.user(), room, name, role).expect("a member");
            roles.insert((who.viewer.principal, space), role);
        };
        let (ann, bob) = (&people[1], &people[2]);
        let [(one, id_one, _), (two, id_two, _), (sealed, id_sealed, _)] = rooms;
        join("ann", ann, "default", SpaceId::DEFAULT, Role::Writer);
        join("ann", ann, one, id_one, Role::Writer);
        join("ann", ann, two, id_two, Role::Writer);
        join("ann", ann, sealed, id_sealed, Role::Writer);
        join("bob", bob, one, id_one, Role::Writer);
        join("bob", bob, two, id_two, Role::Reader);
        // The user is an admin above the group and no member of it.
        bed.world().leave(PrincipalId::USER, tulving_core::space::MemberOf::Space(id_sealed));
        roles.remove(&(PrincipalId::USER, id_sealed));
        let mut all = vec![Room { id: SpaceId::DEFAULT, kind: SpaceKind::Hub }];
        all.extend(rooms.map(|(_, id, kind)| Room { id, kind }));
        let model = Model {
            entries: BTreeMap::new(),
            edges: BTreeMap::new(),
            numbers: BTreeMap::new(),
            touches: BTreeMap::new(),
            rooms: all,
            roles,
            now: bed.clock.now(),
        };
        let followed = people.iter().map(|_| (Seq(0), BTreeSet::new())).collect();
        Self { bed, model, people, random, known: Vec::new(), followed, tally: BTreeMap::new(), step: 0 }
    }

    fn count<T>(&mut self, verb: &'static str, done: &Due<T>) {
        let (done_times, refused_times) = self.tally.entry(verb).or_default();
        match done {
            Ok(_) => *done_times += 1,
            Err(_) => *refused_times += 1,
        }
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())].clone()
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.u32(..one_in) == 0
    }

    fn maybe<T>(&mut self, one_in: u32, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(one_in).then(|| value(self))
    }

    fn caller(&mut self) -> Caller {
        let people = self.people.clone();
        let rooms = self.model.rooms.clone();
        let caller = self.pick(&people);
        within(&caller, self.pick(&rooms).id)
    }

    /// The name of a memory: mostly one that is there, by id or by number, sometimes one that was or never was.
    fn which(&mut self, caller: &Caller) -> MemoryRef {
        if self.known.is_empty() || self.chance(20) {
            return MemoryRef::Number(Number(self.random.u64(..200)));
        }
        if self.chance(15) {
            let known = self.known.clone();
            return self.pick(&known).into();
        }
        let who = caller.viewer.principal;
        let near: Vec<MemoryId> = if self.chance(4) {
            self.model.entries.keys().copied().collect()
        } else {
            let sees = |entry: &&Entry| self.model.sees(who, &entry.memory);
            self.model.entries.values().filter(sees).map(|entry| entry.memory.id).collect()
        };
        if near.is_empty() {
            return MemoryRef::Number(Number(1));
        }
        let id = self.pick(&near);
        let memory = &self.model.entries[&id].memory;
        match memory.number {
            Some(number) if memory.space == caller.space && self.random.bool() => MemoryRef::Number(number),
            _ => id.into(),
        }
    }

    fn content(&mut self) -> String {
        format!("Thought {}", self.random.u32(..60))
    }

    fn key(&mut self) -> String {
        format!("key-{}", self.random.u32(..6))
    }

    fn boundary(&mut self) -> Boundary {
        self.pick(Boundary::ALL)
    }

    fn save_request(&mut self, caller: &Caller) -> SaveRequest {
        let content = if self.chance(40) { " ".to_owned() } else { self.content() };
        let links = if self.chance(5) { 1 + self.random.usize(..2) } else { 0 };
        SaveRequest {
            key: self.maybe(4, Self::key),
            title: self.maybe(6, |run| format!("Title {}", run.random.u32(..3))),
            importance: self.maybe(4, |run| f64::from(run.random.u32(..=4)) / 4.0),
            memory_type: self.maybe(3, |run| run.pick(MemoryType::ALL)),
            boundary: self.maybe(3, Self::boundary),
            source_path: self.maybe(8, |run| format!("/file-{}", run.random.u32(..5))),
            conversation: self.maybe(12, |_| "channel".to_owned()),
            pinned: self.chance(12),
            associations: (0..links).map(|_| self.link_request(caller)).collect(),
            ..SaveRequest::new(content)
        }
    }

    fn link_request(&mut self, caller: &Caller) -> AssociationRequest {
        AssociationRequest {
            target: self.which(caller),
            relation: self.maybe(2, |run| run.pick(Relation::ALL)),
            weight: self.maybe(2, |run| f64::from(run.random.u32(..=4)) / 4.0),
        }
    }

    /// One random act, asked of both.
    fn act(&mut self) {
        self.bed.clock.advance(Duration::from_secs(1));
        self.model.now = self.bed.clock.now();
        let caller = self.caller();
        match self.random.u32(..110) {
            0..30 => self.save(&caller, 1),
            30..36 => {
                let count = 1 + self.random.usize(..5);
                self.save(&caller, count);
            }
            36..50 => self.update(&caller),
            50..54 => self.revert(&caller),
            54..62 => self.forget(&caller),
            62..66 => self.restore(&caller),
            66..74 => self.shift(&caller),
            74..80 => self.associate(&caller),
            80..82 => self.dissociate(&caller),
            82..88 => self.touch(&caller),
            88..93 => self.list(&caller),
            93..96 => self.look(&caller),
            96..102 => self.relocate(&caller),
            102..103 => self.forget_many(&caller),
            107..110 => self.forget_where(&caller),
            _ => self.flush(),
        }
    }

    fn save(&mut self, caller: &Caller, count: usize) {
        let requests: Vec<SaveRequest> = (0..count).map(|_| self.save_request(caller)).collect();
        let said = format!("step {}: {:?} saves {requests:?}", self.step, caller.viewer);
        let done = if count == 1 {
            code(self.bed.engine.save(caller, requests[0].clone())).map(|receipt| vec![receipt])
        } else {
            code(self.bed.engine.save_many(caller, requests.clone()))
        };
        self.count("save", &done);
        let who = caller.viewer.principal;
        let member = self.model.role(who, caller.space);
        let sealed = self.model.room(caller.space).kind == SpaceKind::Group;
        let wrong = requests.iter().find_map(|request| {
            if request.content.trim().is_empty() {
                return Some("missing_content");
            }
            (sealed && request.boundary > Some(Boundary::Hub)).then_some("boundary_too_wide")
        });
        let due = match member {
            None if who != PrincipalId::USER => Err("space_not_found"),
            None | Some(Role::Reader) => Err("no_write_access"),
            _ => wrong.map_or(Ok(()), Err),
        };
        match (due, done) {
            (Err(due), done) => assert_eq!(done.map(drop), Err(due), "{said}"),
            (Ok(()), done) => self.saved(caller, &requests, done, &said),
        }
    }

    fn saved(&mut self, caller: &Caller, requests: &[SaveRequest], done: Due<Vec<Receipt>>, said: &str) {
        // Where an act is refused half-way, the model goes back to where it was.
        let before: BTreeSet<MemoryId> = self.model.entries.keys().copied().collect();
        let kept = self.snapshot();
        let mut due = Vec::new();
        for (n, request) in requests.iter().enumerate() {
            let id = match &done {
                Ok(receipts) => receipts[n].id,
                Err(_) => MemoryId::mint(self.model.now),
            };
            match self.model.save(caller, request, id, &before) {
                Ok(saved) => due.push(saved),
                Err(code) => {
                    self.go_back(kept);
                    assert_eq!(done.map(drop), Err(code), "{said}");
                    return;
                }
            }
        }
        let receipts = match done {
            Ok(receipts) => receipts,
            Err(code) => panic!("{said}: refused with {code}"),
        };
        assert_eq!(receipts.len(), due.len());
        for (n, (receipt, due)) in receipts.iter().zip(&due).enumerate() {
            let said = format!("{said}: request {n}: {receipt:?}");
            assert_eq!((receipt.id, receipt.fate), (due.id, due.fate), "{said}");
            assert_eq!(receipt.revived, due.revived, "{said}");
            let memory = &self.model.entries[&due.id].memory;
            assert_eq!(receipt.number, memory.number, "{said}");
            assert_eq!(receipt.space, caller.space, "{said}");
            let count =
                |of: fn(&Warning) -> bool| receipt.warnings.iter().filter(|warning| of(warning)).count();
            assert_eq!(
                count(|warning| matches!(warning, Warning::AssociationSkipped { .. })),
                due.skipped,
                "{said}"
            );
            assert_eq!(
                count(|warning| matches!(warning, Warning::NotSuperseded { .. })),
                due.related_only,
                "{said}"
            );
            if requests.len() == 1 {
                assert_eq!(
                    (receipt.version, receipt.state),
                    (memory.version, memory.standing.state),
                    "{said}"
                );
            }
        }
        for receipt in receipts {
            if receipt.fate == Fate::Created {
                assert!(!self.known.contains(&receipt.id), "{said}: an id is given once");
                self.known.push(receipt.id);
            }
        }
    }

    fn go_back(&mut self, (entries, edges, numbers): Kept) {
        self.model.entries = entries;
        self.model.edges = edges;
        self.model.numbers = numbers;
    }

    fn snapshot(&self) -> Kept {
        let entries = self.model.entries.iter().map(|(id, entry)| {
            let entry = Entry { memory: entry.memory.clone(), editions: entry.editions.clone() };
            (*id, entry)
        });
        (entries.collect(), self.model.edges.clone(), self.model.numbers.clone())
    }

    fn update(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let request = UpdateRequest {
            if_version: self.maybe(8, |run| Version(run.random.u32(1..4))),
            content: self.maybe(2, Self::content),
            key: self.maybe(4, |run| run.maybe(2, Self::key)),
            title: self.maybe(4, |run| run.maybe(2, |run| format!("Title {}", run.random.u32(..3)))),
            importance: self.maybe(4, |run| f64::from(run.random.u32(..=4)) / 4.0),
            memory_type: self.maybe(4, |run| run.pick(MemoryType::ALL)),
            boundary: self.maybe(3, Self::boundary),
            ..UpdateRequest::default()
        };
        let said = format!("step {}: {:?} updates {which} with {request:?}", self.step, caller.viewer);
        let done = code(self.bed.engine.update(caller, which, &request)).map(|edited| edited.memory);
        self.count("update", &done);
        let empty = UpdateRequest { if_version: request.if_version, ..UpdateRequest::default() };
        if request == empty {
            assert_eq!(done.map(drop), Err("nothing_to_update"), "{said}");
            return;
        }
        let due = self.model.update(caller, which, &request);
        assert_eq!(done, due, "{said}");
    }

    fn revert(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let version = Version(self.random.u32(1..6));
        let done = code(self.bed.engine.revert(caller, which, version)).map(|edited| edited.memory);
        self.count("revert", &done);
        let due = self.model.revert(caller, which, version);
        assert_eq!(done, due, "step {}: {:?} reverts {which} to {version}", self.step, caller.viewer);
    }

    fn forget(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let manner = if self.random.bool() { Manner::Soft } else { Manner::Hard };
        let request = ForgetRequest { manner, reason: None };
        let done = code(self.bed.engine.forget(caller, which, &request)).map(|gone| gone.memory.id);
        self.count("forget", &done);
        let due = self.model.forget(caller, which, manner);
        assert_eq!(done, due, "step {}: {:?} forgets {which}, {manner:?}", self.step, caller.viewer);
    }

    fn several(&mut self, caller: &Caller) -> Vec<MemoryRef> {
        let count = 1 + self.random.usize(..4);
        let mut which: Vec<MemoryRef> = (0..count).map(|_| self.which(caller)).collect();
        if self.chance(4) {
            which.push(which[0]);
        }
        which
    }

    fn relocate(&mut self, caller: &Caller) {
        let which = self.several(caller);
        let rooms = self.model.rooms.clone();
        let to = self.pick(&rooms);
        let said = format!("step {}: {:?} moves {which:?} to {}", self.step, caller.viewer, to.id);
        let done = code(self.bed.engine.move_to(caller, &which, &to.id.to_string()));
        self.count("relocate", &done);
        let kept = self.snapshot();
        let due = self.model.relocate(caller, &which, to);
        if due.is_err() {
            self.go_back(kept);
        }
        assert_eq!(done.map(|done| (done.moved, done.missing)), due, "{said}");
    }

    fn forget_many(&mut self, caller: &Caller) {
        let which = self.several(caller);
        let manner = if self.random.bool() { Manner::Soft } else { Manner::Hard };
        let said = format!("step {}: {:?} forgets {which:?}, {manner:?}", self.step, caller.viewer);
        let request = ForgetRequest { manner, reason: None };
        let done = code(self.bed.engine.forget_many(caller, &which, &request));
        self.count("forget many", &done);
        let due = self.model.forget_many(caller, &which, manner);
        let ids = |memories: Vec<Memory>| memories.into_iter().map(|memory| memory.id).collect();
        assert_eq!(done.map(|done| (ids(done.forgotten), done.missing)), due, "{said}");
    }

    fn forget_where(&mut self, caller: &Caller) {
        let manner = if self.random.bool() { Manner::Soft } else { Manner::Hard };
        let filter = Filter {
            key: self.maybe(2, Self::key),
            substring: self.maybe(2, |run| format!("thought {}", run.random.u32(10..60))),
            states: self.maybe(4, |run| vec![run.pick(State::ALL)]).unwrap_or_default(),
            pinned: self.maybe(4, |run| run.random.bool()),
            ..Filter::default()
        };
        let narrow = filter.key.is_some() || filter.substring.is_some();
        let expect = narrow.then(|| self.maybe(2, |run| run.random.u64(..3))).flatten();
        let request = ForgetRequest { manner, reason: None };
        let asked = ForgetWhere { filter, request, expect };
        let said = format!("step {}: {:?} forgets {asked:?}", self.step, caller.viewer);
        let engine = &self.bed.engine;
        let foreseen = code(engine.foresee_forget_where(caller, &asked)).map(|foreseen| foreseen.count);
        let due = self.model.matching(caller, &asked);
        assert_eq!(foreseen, due.as_ref().map(|due| due.len() as u64).map_err(|code| *code), "{said}");
        if !narrow && foreseen.is_ok() {
            // Else all would be gone soon.
            return;
        }
        let done = code(engine.forget_where(caller, &asked));
        let done = done.map(|gone| gone.forgotten.into_iter().map(|gone| gone.id).collect::<Vec<_>>());
        self.count("forget where", &done);
        assert_eq!(done, due, "{said}");
        for id in due.unwrap_or_default() {
            self.model.forget(caller, id.into(), manner).expect("it may be forgotten");
        }
    }

    fn restore(&mut self, caller: &Caller) {
        let forgotten: Vec<MemoryId> = self
            .model
            .entries
            .values()
            .filter(|entry| entry.memory.standing.forgotten_at.is_some())
            .map(|entry| entry.memory.id)
            .collect();
        let which = if forgotten.is_empty() || self.chance(4) {
            self.which(caller)
        } else {
            self.pick(&forgotten).into()
        };
        let done = code(self.bed.engine.restore(caller, which)).map(|memory| memory.id);
        self.count("restore", &done);
        let due = self.model.restore(caller, which);
        assert_eq!(done, due, "step {}: {:?} restores {which}", self.step, caller.viewer);
    }

    fn shift(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let engine = &self.bed.engine;
        let (verb, done, step): (_, _, fn(&mut Standing, Timestamp)) = match self.random.u32(..4) {
            0 => ("archives", engine.archive(caller, which), |s, _| *s = s.moved(State::Archived)),
            1 => ("unarchives", engine.unarchive(caller, which), |s, now| {
                if s.state == State::Archived {
                    *s = s.ruled(State::Active, now);
                }
            }),
            2 => ("pins", engine.pin(caller, which), |s, _| s.pinned = true),
            _ => ("unpins", engine.unpin(caller, which), |s, _| s.pinned = false),
        };
        let due = self.model.shift(caller, which, step);
        let done = code(done).map(|memory| memory.standing);
        self.count("move", &done);
        assert_eq!(done, due, "step {}: {:?} {verb} {which}", self.step, caller.viewer);
    }

    fn associate(&mut self, caller: &Caller) {
        let source = self.which(caller);
        let request = self.link_request(caller);
        let done = code(self.bed.engine.associate(caller, source, &request));
        self.count("associate", &done);
        let due = self.model.associate(caller, source, &request);
        let told = |edge: Association| (edge.source, edge.target, edge.relation, edge.weight.get());
        assert_eq!(
            done.map(told),
            due.map(told),
            "step {}: {:?} links {source} by {request:?}",
            self.step,
            caller.viewer
        );
    }

    fn dissociate(&mut self, caller: &Caller) {
        let edges: Vec<_> = self.model.edges.keys().copied().collect();
        let (source, target): (MemoryRef, MemoryRef) = if edges.is_empty() || self.chance(4) {
            (self.which(caller), self.which(caller))
        } else {
            let (source, target, _) = self.pick(&edges);
            (source.into(), target.into())
        };
        let done = code(self.bed.engine.dissociate(caller, source, target, None)).map(|gone| gone.len());
        self.count("dissociate", &done);
        let due = self.model.dissociate(caller, source, target);
        assert_eq!(done, due, "step {}: {:?} unlinks {source} from {target}", self.step, caller.viewer);
    }

    fn touch(&mut self, caller: &Caller) {
        if self.random.bool() {
            let which = self.which(caller);
            let done = code(self.bed.engine.touch(caller, which)).map(|memory| memory.id);
            let due = self.model.find(caller, which);
            assert_eq!(done, due, "step {}: {:?} touches {which}", self.step, caller.viewer);
            if let Ok(id) = due {
                self.model.note(id);
            }
            return;
        }
        let (filter, mode) = match self.random.u32(..3) {
            0 => (Filter::default(), Mode::Recent),
            1 => (Filter::default(), Mode::Important),
            _ => {
                let text = self.content().to_uppercase();
                (Filter::default(), Mode::Substring(text))
            }
        };
        let limit = 1 + self.random.usize(..5);
        let request = RecallRequest { mode: mode.clone(), filter, sort: None, limit };
        let answer = self.bed.engine.recall(caller, &request).expect("an answer");
        let mut filter =
            Filter { states: vec![State::Processing, State::Active, State::Cooling], ..Filter::default() };
        let sort = match mode {
            Mode::Recent | Mode::Typed | Mode::Hybrid(_) => Sort::Newest,
            Mode::Important => Sort::Importance,
            Mode::Substring(text) => {
                filter.substring = Some(text);
                Sort::Accessed
            }
        };
        let mut due = self.model.list(caller.viewer.principal, &filter, sort);
        if sort == Sort::Importance {
            // A recall goes by what matters now, a list by what was said to matter.
            let weight = |id: &MemoryId| decay::importance_at(&self.model.entries[id].memory, self.model.now);
            due.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(b.cmp(a)));
        }
        assert_eq!(answer.total_found, due.len() as u64, "step {}: {request:?}", self.step);
        let found: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
        assert_eq!(found, due[..limit.min(due.len())], "step {}: {request:?}", self.step);
        for id in found {
            self.model.note(id);
        }
    }

    fn flush(&mut self) {
        let waiting = self.model.touches.len() as u64;
        let written = self.bed.engine.flush().expect("written");
        // The engine also counts those that were erased meanwhile.
        assert!(written >= waiting, "step {}: {written} of {waiting} touches", self.step);
        self.model.flush();
    }

    fn list(&mut self, caller: &Caller) {
        let rooms = self.model.rooms.clone();
        let filter = Filter {
            space: self.maybe(3, |run| run.pick(&rooms).id),
            types: self
                .maybe(4, |run| vec![run.pick(MemoryType::ALL), run.pick(MemoryType::ALL)])
                .unwrap_or_default(),
            states: self.maybe(4, |run| vec![run.pick(State::ALL)]).unwrap_or_default(),
            pinned: self.maybe(6, |run| run.random.bool()),
            key: self.maybe(6, Self::key),
            substring: self.maybe(4, |run| format!("{}", run.random.u32(..10))),
            forgotten: if self.chance(6) { Forgotten::Only } else { Forgotten::Without },
            ..Filter::default()
        };
        let sort = self.pick(&SORTS);
        let limit = self.pick(&[3, 10, 50, 1_000]);
        let due = self.model.list(caller.viewer.principal, &filter, sort);
        let said = format!("step {}: {:?} lists {filter:?} by {sort:?}", self.step, caller.viewer);
        assert_eq!(self.bed.engine.count(caller, &filter).expect("a count"), due.len() as u64, "{said}");
        let found = self.pages(caller, &filter, sort, limit);
        let ids: Vec<MemoryId> = found.iter().map(|memory| memory.id).collect();
        assert_eq!(ids, due, "{said}");
        for memory in found {
            assert_eq!(memory, self.model.shown(caller.viewer.principal, memory.id), "{said}");
        }
    }

    fn pages(&self, caller: &Caller, filter: &Filter, sort: Sort, limit: usize) -> Vec<Memory> {
        let mut request = ListRequest { filter: filter.clone(), sort, limit, cursor: None };
        let mut all = Vec::new();
        loop {
            let page = self.bed.engine.list(caller, &request).expect("a page");
            all.extend(page.memories);
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => return all,
            }
        }
    }

    fn look(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let who = caller.viewer.principal;
        let due = self.model.find(caller, which);
        let said = format!("step {}: {:?} looks at {which}", self.step, caller.viewer);
        let got = code(self.bed.engine.get(caller, which));
        assert_eq!(got, due.map(|id| self.model.shown(who, id)), "{said}");
        let history = code(self.bed.engine.history(caller, which)).map(|entries| {
            let mut told: Vec<_> = entries.into_iter().map(|entry| (entry.version, entry.edition)).collect();
            told.reverse();
            told
        });
        assert_eq!(history, due.map(|id| self.model.history(who, id)), "{said}");
        if let Ok(id) = due {
            self.compare_edges(who, id);
        }
    }

    fn compare_edges(&self, who: PrincipalId, id: MemoryId) {
        let mut found = self.bed.store.associations(&build::eyes(who), &[id]).expect("associations");
        assert!(found.windows(2).all(|pair| pair[0].weight >= pair[1].weight), "strongest first");
        found.sort_by_key(|edge| (edge.source, edge.target, edge.relation));
        let due: Vec<Association> = self
            .model
            .edges
            .values()
            .filter(|edge| edge.source == id || edge.target == id)
            .filter(|edge| {
                self.model.alive(who, edge.source).is_some() && self.model.alive(who, edge.target).is_some()
            })
            .copied()
            .collect();
        assert_eq!(found, due, "step {}: the edges of {id} as {who} sees them", self.step);
    }

    /// Who follows the log alone, and looks only at what it names, knows of all that there is to see and of nothing else.
    fn follow(&mut self) {
        for (who, (after, known)) in self.people.iter().zip(&mut self.followed) {
            let principal = who.viewer.principal;
            loop {
                let told = self.bed.engine.changes(who, *after, 50).expect("an answer");
                assert!(!told.gap);
                for change in &told.changes {
                    let sees = self.model.may_see(principal, change.boundary, change.owner, change.space);
                    assert!(sees, "step {}: {change:?} is not for {principal}", self.step);
                    match change.kind {
                        ChangeKind::Erased => known.remove(&change.memory),
                        _ if self.model.alive(principal, change.memory).is_none() => {
                            known.remove(&change.memory)
                        }
                        _ => known.insert(change.memory),
                    };
                }
                if told.read_to == *after {
                    break;
                }
                *after = told.read_to;
            }
            assert_eq!(*after, self.bed.engine.head().expect("a head"));
            let seen: BTreeSet<MemoryId> =
                self.model.list(principal, &Filter::default(), Sort::Newest).into_iter().collect();
            assert_eq!(*known, seen, "step {}: what {principal} was told of", self.step);
        }
    }

    /// All that everybody sees, and what is stored as a whole.
    fn compare(&mut self) {
        self.follow();
        for who in self.people.clone() {
            let principal = who.viewer.principal;
            let found = self.pages(&who, &Filter::default(), Sort::Newest, 500);
            let due: Vec<Memory> = self
                .model
                .list(principal, &Filter::default(), Sort::Newest)
                .into_iter()
                .map(|id| self.model.shown(principal, id))
                .collect();
            assert_eq!(found.len(), due.len(), "step {}: what {principal} sees", self.step);
            for (found, due) in found.iter().zip(&due) {
                assert_eq!(found, due, "step {}: what {principal} sees", self.step);
            }
            for memory in due.iter().take(10) {
                self.compare_edges(principal, memory.id);
            }
        }
        let records = self.bed.dump();
        let count = |of: fn(&Record) -> bool| records.iter().filter(|record| of(record)).count();
        assert_eq!(count(|record| matches!(record, Record::Memory(_))), self.model.entries.len());
        assert_eq!(count(|record| matches!(record, Record::Association(_))), self.model.edges.len());
        for record in &records {
            if let Record::Memory(record) = record {
                let entry = &self.model.entries[&record.memory.id];
                assert_eq!(record.memory.standing, entry.memory.standing, "step {}", self.step);
                let editions: Vec<&Edition> =
                    record.versions.iter().map(|version| &version.edition).collect();
                let due: Vec<&Edition> = entry.editions[..entry.editions.len() - 1].iter().collect();
                assert_eq!(editions, due, "step {}: the versions of {}", self.step, record.memory.id);
            }
        }
    }
}

#[test]
fn random_acts_agree_with_a_plain_map() {
    let seed = Seed::from_environment();
    let _said = SaidOnPanic::new(seed);
    let mut run = Run::new(seed.random());
    for step in 1..=STEPS {
        run.step = step;
        run.act();
        if step % COMPARED_EVERY == 0 {
            run.compare();
        }
    }
    run.flush();
    run.compare();
    for (verb, (done, refused)) in &run.tally {
        assert!(*done > 20 && *refused > 5, "{verb} was done {done} times and refused {refused} times");
    }
    assert_eq!(run.tally.len(), 11);
}
