//! Each verb, asked of the engine and of the model: both must give the same answer.

use std::collections::{BTreeMap, BTreeSet};

use tulving_core::model::answer::{MovedMemories, Receipt, SaveOutcome, Warning};
use tulving_core::model::association::Association;
use tulving_core::model::id::{MemoryId, MemoryRef, PrincipalId, SpaceId, Version};
use tulving_core::model::memory::{Memory, Status};
use tulving_core::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, Mode, RecallRequest, SaveRequest, Sort,
    UpdateRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, MemoryType, Relation, Role, SpaceKind, State};
use tulving_core::rank::decay;

use super::rules::{ExpectedResult, ModelEntry};
use super::{ModelRun, code, stored};

/// Copies of the maps that an act may change before it is refused.
type ModelSnapshot = (
    BTreeMap<MemoryId, ModelEntry>,
    BTreeMap<(MemoryId, MemoryId, Relation), Association>,
    BTreeMap<SpaceId, u64>,
);

impl ModelRun {
    pub(super) fn save(&mut self, caller: &Caller, count: usize) {
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

    fn saved(
        &mut self,
        caller: &Caller,
        requests: &[SaveRequest],
        done: ExpectedResult<Vec<Receipt>>,
        said: &str,
    ) {
        // If an act is refused half-way, the model is restored.
        let before: BTreeSet<MemoryId> = self.model.entries.keys().copied().collect();
        let kept = self.snapshot();
        let mut due = Vec::new();
        for (n, request) in requests.iter().enumerate() {
            let id = match &done {
                Ok(receipts) => receipts[n].memory.id,
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
            assert_eq!((receipt.memory.id, receipt.outcome), (due.id, due.outcome), "{said}");
            assert_eq!(receipt.revived, due.revived, "{said}");
            let memory = &self.model.entries[&due.id].memory;
            assert_eq!(receipt.memory.number, memory.number, "{said}");
            assert_eq!(receipt.memory.space, caller.space, "{said}");
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
                    (receipt.memory.version, receipt.memory.status.state),
                    (memory.version, memory.status.state),
                    "{said}"
                );
                let read = self.bed.engine.get(caller, due.id.into()).expect("what was saved is there");
                assert_eq!(receipt.memory, read, "{said}: the receipt has the memory as a reader sees it");
            }
        }
        for receipt in receipts {
            if receipt.outcome == SaveOutcome::Created {
                assert!(!self.known.contains(&receipt.memory.id), "{said}: an id is given once");
                self.known.push(receipt.memory.id);
            }
        }
    }

    fn go_back(&mut self, (entries, edges, numbers): ModelSnapshot) {
        self.model.entries = entries;
        self.model.edges = edges;
        self.model.numbers = numbers;
    }

    fn snapshot(&self) -> ModelSnapshot {
        (self.model.entries.clone(), self.model.edges.clone(), self.model.numbers.clone())
    }

    pub(super) fn update(&mut self, caller: &Caller) {
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
        let done = code(self.bed.engine.update(caller, which, &request)).map(|edited| stored(edited.memory));
        self.count("update", &done);
        let empty = UpdateRequest { if_version: request.if_version, ..UpdateRequest::default() };
        if request == empty {
            assert_eq!(done.map(drop), Err("nothing_to_update"), "{said}");
            return;
        }
        let due = self.model.update(caller, which, &request);
        assert_eq!(done, due, "{said}");
    }

    pub(super) fn revert(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let version = Version(self.random.u32(1..6));
        let done = code(self.bed.engine.revert(caller, which, version)).map(|edited| stored(edited.memory));
        self.count("revert", &done);
        let due = self.model.revert(caller, which, version);
        assert_eq!(done, due, "step {}: {:?} reverts {which} to {version}", self.step, caller.viewer);
    }

    pub(super) fn forget(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let mode = [ForgetMode::Soft, ForgetMode::Hard, ForgetMode::Delete][self.random.usize(..3)];
        let request = ForgetRequest { mode, reason: None };
        let done = code(self.bed.engine.forget(caller, which, &request)).map(|gone| gone.memory.id);
        self.count("forget", &done);
        let due = self.model.forget(caller, which, mode);
        assert_eq!(done, due, "step {}: {:?} forgets {which}, {mode:?}", self.step, caller.viewer);
    }

    fn several(&mut self, caller: &Caller) -> Vec<MemoryRef> {
        let count = 1 + self.random.usize(..4);
        let mut which: Vec<MemoryRef> = (0..count).map(|_| self.which(caller)).collect();
        if self.chance(4) {
            which.push(which[0]);
        }
        which
    }

    pub(super) fn relocate(&mut self, caller: &Caller) {
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
        let moved = |done: MovedMemories| (done.moved.into_iter().map(stored).collect(), done.missing);
        assert_eq!(done.map(moved), due, "{said}");
    }

    pub(super) fn forget_many(&mut self, caller: &Caller) {
        let which = self.several(caller);
        let mode = [ForgetMode::Soft, ForgetMode::Hard, ForgetMode::Delete][self.random.usize(..3)];
        let said = format!("step {}: {:?} forgets {which:?}, {mode:?}", self.step, caller.viewer);
        let request = ForgetRequest { mode, reason: None };
        let done = code(self.bed.engine.forget_many(caller, &which, &request));
        self.count("forget many", &done);
        let due = self.model.forget_many(caller, &which, mode);
        let ids = |memories: Vec<Memory>| memories.into_iter().map(|memory| memory.id).collect();
        assert_eq!(done.map(|done| (ids(done.forgotten), done.missing)), due, "{said}");
    }

    pub(super) fn forget_where(&mut self, caller: &Caller) {
        let mode = [ForgetMode::Soft, ForgetMode::Hard, ForgetMode::Delete][self.random.usize(..3)];
        let filter = Filter {
            key: self.maybe(2, Self::key),
            substring: self.maybe(2, |run| format!("thought {}", run.random.u32(10..60))),
            states: self.maybe(4, |run| vec![run.pick(State::ALL)]).unwrap_or_default(),
            pinned: self.maybe(4, |run| run.random.bool()),
            ..Filter::default()
        };
        let narrow = filter.key.is_some() || filter.substring.is_some();
        let expect = narrow.then(|| self.maybe(2, |run| run.random.u64(..3))).flatten();
        let request = ForgetRequest { mode, reason: None };
        let asked = ForgetWhere { filter, request, expect };
        let said = format!("step {}: {:?} forgets {asked:?}", self.step, caller.viewer);
        let engine = &self.bed.engine;
        let predicted = code(engine.foresee_forget_where(caller, &asked)).map(|predicted| predicted.count);
        let due = self.model.matching(caller, &asked);
        assert_eq!(predicted, due.as_ref().map(|due| due.len() as u64).map_err(|code| *code), "{said}");
        if !narrow && predicted.is_ok() {
            // Otherwise everything would soon be gone.
            return;
        }
        let done = code(engine.forget_where(caller, &asked));
        let done = done.map(|gone| gone.forgotten.into_iter().map(|gone| gone.id).collect::<Vec<_>>());
        self.count("forget where", &done);
        assert_eq!(done, due, "{said}");
        for id in due.unwrap_or_default() {
            self.model.forget(caller, id.into(), mode).expect("it may be forgotten");
        }
    }

    pub(super) fn restore(&mut self, caller: &Caller) {
        let forgotten: Vec<MemoryId> = self
            .model
            .entries
            .values()
            .filter(|entry| entry.memory.status.forgotten_at.is_some())
            .map(|entry| entry.memory.id)
            .collect();
        let which = if forgotten.is_empty() || self.chance(4) {
            self.which(caller)
        } else {
            self.pick(&forgotten).into()
        };
        let done = code(self.bed.engine.restore(caller, which)).map(|edited| edited.memory.id);
        self.count("restore", &done);
        let due = self.model.restore(caller, which);
        assert_eq!(done, due, "step {}: {:?} restores {which}", self.step, caller.viewer);
    }

    pub(super) fn shift(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let engine = &self.bed.engine;
        let (verb, done, step): (_, _, fn(&mut Status, Timestamp)) = match self.random.u32(..4) {
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
        let done = code(done).map(|memory| memory.status);
        self.count("move", &done);
        assert_eq!(done, due, "step {}: {:?} {verb} {which}", self.step, caller.viewer);
    }

    pub(super) fn associate(&mut self, caller: &Caller) {
        let source = self.which(caller);
        let request = self.link_request(caller);
        let done = code(self.bed.engine.associate(caller, source, &request));
        self.count("associate", &done);
        let due = self.model.associate(caller, source, &request);
        let described = |edge: Association| (edge.source, edge.target, edge.relation, edge.weight.get());
        assert_eq!(
            done.map(|made| described(made.link)),
            due.map(described),
            "step {}: {:?} links {source} by {request:?}",
            self.step,
            caller.viewer
        );
    }

    pub(super) fn dissociate(&mut self, caller: &Caller) {
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

    pub(super) fn touch(&mut self, caller: &Caller) {
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
            Mode::Recent | Mode::Typed | Mode::Filtered(_) | Mode::Hybrid(_) => Sort::Newest,
            Mode::Important => Sort::Importance,
            Mode::Substring(text) => {
                filter.substring = Some(text);
                Sort::Accessed
            }
        };
        let mut due = self.model.list(caller.viewer.principal, &filter, sort);
        if sort == Sort::Importance {
            // A recall sorts by the importance now, a list by the stored importance.
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

    pub(super) fn flush(&mut self) {
        let waiting = self.model.touches.len() as u64;
        let written = self.bed.engine.flush().expect("written");
        // The engine also counts memories that were erased meanwhile.
        assert!(written >= waiting, "step {}: {written} of {waiting} touches", self.step);
        self.model.flush();
    }
}
