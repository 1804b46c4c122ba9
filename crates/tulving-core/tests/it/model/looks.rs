//! Everything that each person sees, page by page and as a whole, compared with the model.

use std::collections::BTreeSet;

use tulving_core::model::association::Association;
use tulving_core::model::id::{MemoryId, PrincipalId};
use tulving_core::model::memory::{Memory, VersionFields};
use tulving_core::model::record::Record;
use tulving_core::model::request::{Caller, Filter, ForgottenFilter, ListRequest, Sort};
use tulving_core::model::vocabulary::{ChangeKind, MemoryType, State};
use tulving_core::ports::Memories;
use tulving_testkit::build;

use super::{ModelRun, code, stored};

const SORTS: [Sort; 8] = [
    Sort::Newest,
    Sort::Oldest,
    Sort::Updated,
    Sort::Accessed,
    Sort::Importance,
    Sort::MostAccessed,
    Sort::Happened,
    Sort::Agenda,
];

impl ModelRun {
    pub(super) fn list(&mut self, caller: &Caller) {
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
            forgotten: if self.chance(6) { ForgottenFilter::Only } else { ForgottenFilter::Without },
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
            all.extend(page.memories.into_iter().map(stored));
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => return all,
            }
        }
    }

    pub(super) fn look(&mut self, caller: &Caller) {
        let which = self.which(caller);
        let who = caller.viewer.principal;
        let due = self.model.find(caller, which);
        let said = format!("step {}: {:?} looks at {which}", self.step, caller.viewer);
        let got = code(self.bed.engine.get(caller, which)).map(stored);
        assert_eq!(got, due.map(|id| self.model.shown(who, id)), "{said}");
        let history = code(self.bed.engine.history(caller, which)).map(|entries| {
            let mut described: Vec<_> =
                entries.into_iter().map(|entry| (entry.version, entry.fields)).collect();
            described.reverse();
            described
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

    /// Checks that somebody who follows only the log, and reads only the memories it names, knows exactly what they may
    /// see.
    fn follow(&mut self) {
        for (who, (after, known)) in self.people.iter().zip(&mut self.followed) {
            let principal = who.viewer.principal;
            loop {
                let described = self.bed.engine.changes(who, *after, 50).expect("an answer");
                assert!(!described.gap);
                for change in &described.changes {
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
                if described.read_to == *after {
                    break;
                }
                *after = described.read_to;
            }
            assert_eq!(*after, self.bed.engine.head().expect("a head"));
            let seen: BTreeSet<MemoryId> =
                self.model.list(principal, &Filter::default(), Sort::Newest).into_iter().collect();
            assert_eq!(*known, seen, "step {}: what {principal} was told of", self.step);
        }
    }

    /// Compares everything that each person sees, and the stored data as a whole.
    pub(super) fn compare(&mut self) {
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
                assert_eq!(record.memory.status, entry.memory.status, "step {}", self.step);
                let editions: Vec<&VersionFields> =
                    record.versions.iter().map(|version| &version.fields).collect();
                let due: Vec<&VersionFields> = entry.editions[..entry.editions.len() - 1].iter().collect();
                assert_eq!(editions, due, "step {}: the versions of {}", self.step, record.memory.id);
            }
        }
    }
}
