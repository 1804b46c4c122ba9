//! Random acts of several people in several spaces agree with a plain map.
//!
//! [`Model`] decides from the rules alone what each verb must answer; the engine is asked the same, and every few
//! steps everything that each person sees is compared. `TULVING_TEST_SEED` repeats a run.

/// The verbs, asked of both.
mod acts;
/// The views of all people, compared.
mod looks;
/// The expected result of each act.
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::error::Error;
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, PrincipalId, Seq, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{AssociationRequest, Caller, SaveRequest};
use tulving_core::model::vocabulary::{Boundary, MemoryType, Relation, Role, SpaceKind};
use tulving_core::ports::Clock;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::seed::{RandomSeed, SeedPanicGuard};

use crate::bed::{Bed, within};

use rules::{ExpectedResult, Model, ModelEntry, ModelSpace};

const STEPS: usize = 10_000;
/// Number of steps between comparisons of everything that each person sees.
const COMPARED_EVERY: usize = 100;

/// The engine and the model side by side.
struct ModelRun {
    bed: Bed,
    model: Model,
    people: Vec<Caller>,
    random: fastrand::Rng,
    /// Every id that ever existed, so that erased memories are asked for too.
    known: Vec<MemoryId>,
    /// For each person, the position in the log and the memories known from it alone.
    followed: Vec<(Seq, BTreeSet<MemoryId>)>,
    /// The counts of each verb done and refused, so that a run that proves nothing is noticed.
    tally: BTreeMap<&'static str, (u32, u32)>,
    step: usize,
}

/// Returns a memory without the fields that are computed when it is read; the model has no clock for them.
fn stored(memory: Memory) -> Memory {
    Memory { importance_now: None, space_name: None, ..memory }
}

fn code<T>(result: Result<T, Error>) -> ExpectedResult<T> {
    result.map_err(|error| error.code())
}

impl ModelRun {
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
        // The user is an admin above the group, but not a member of it.
        bed.world().leave(PrincipalId::USER, tulving_core::model::space::MemberOf::Space(id_sealed));
        roles.remove(&(PrincipalId::USER, id_sealed));
        let mut all = vec![ModelSpace { id: SpaceId::DEFAULT, kind: SpaceKind::Hub }];
        all.extend(rooms.map(|(_, id, kind)| ModelSpace { id, kind }));
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

    fn count<T>(&mut self, verb: &'static str, done: &ExpectedResult<T>) {
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

    /// Picks a reference to a memory: mostly an existing one, by id or by number, sometimes an erased or invented
    /// one.
    fn which(&mut self, caller: &Caller) -> MemoryRef {
        if self.known.is_empty() || self.chance(20) {
            return MemoryRef::Number(MemoryNumber(self.random.u64(..200)));
        }
        if self.chance(15) {
            let known = self.known.clone();
            return self.pick(&known).into();
        }
        let who = caller.viewer.principal;
        let near: Vec<MemoryId> = if self.chance(4) {
            self.model.entries.keys().copied().collect()
        } else {
            let sees = |entry: &&ModelEntry| self.model.sees(who, &entry.memory);
            self.model.entries.values().filter(sees).map(|entry| entry.memory.id).collect()
        };
        if near.is_empty() {
            return MemoryRef::Number(MemoryNumber(1));
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
            source_path: self.maybe(4, |run| format!("/file-{}", run.random.u32(..8))),
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

    /// Does one random act on both.
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
}

#[test]
fn random_acts_agree_with_a_plain_map() {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut run = ModelRun::new(seed.random());
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
