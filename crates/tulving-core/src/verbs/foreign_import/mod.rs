//! Imports the memories of another system. An import can be repeated: it creates each memory of the other system only
//! once in this store.
//!
//! The import records the name of each memory in the other system and a hash of its content. If a memory was edited in
//! the other system since the last import, the memory in this store gets a new version, unless it was edited in this
//! store too. If a memory was forgotten in the other system, the import softly forgets the memory in this store. A
//! memory that is only missing in the other system is never deleted from this store. An interrupted import continues
//! where it stopped.

mod decide;
mod turns;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::model::association::Association;
use crate::model::change::Write;
use crate::model::error::Error;
use crate::model::foreign::{ForeignCollection, ForeignLink, ForeignMemory, SkippedItem};
use crate::model::id::{MemoryId, MemoryNumber};
use crate::model::record::{LoadOutcome, Record};
use crate::model::request::{Caller, SaveRequest};
use crate::model::score::Weight;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, Relation, System};
use crate::text::redact::RedactionCounts;
use crate::verbs::access::{self, Ports};
use crate::verbs::save::dedupe::PendingMemories;
use crate::verbs::save::intake;

use self::decide::{ForeignCandidate, ForeignImportOutcome};

/// Number of memories imported in one transaction.
const MEMORIES: usize = 500;
/// Number of links imported in one transaction.
const LINKS: usize = 1_000;

/// Options that apply to all imported memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignImportOptions {
    /// Tags to add to the memories' own tags.
    pub tags: Vec<String>,
    /// Boundary to use instead of the boundary in the other system.
    pub boundary: Option<Boundary>,
    /// True if the import only reports what it would do and writes nothing.
    pub dry_run: bool,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignImportReport {
    /// The system from which the memories come.
    pub system: System,
    /// Number of new memories.
    pub new: u64,
    /// Number of memories edited in the other system since the last import.
    pub updated: u64,
    /// Number of memories that are unchanged, or whose content a memory in this store already has.
    pub known: u64,
    /// Number of memories that were forgotten in the other system and that the import now forgets. New memories among
    /// them are also counted as new.
    pub forgotten: u64,
    /// Number of memories that an earlier import archived or forgot, and that are active again in both systems.
    pub restored: u64,
    /// Memories that got another number because their own number was taken.
    pub renumbered: Vec<RenumberedMemory>,
    /// Memories that differ from those in the other system but were not changed, with the reason.
    pub left: Vec<SkippedItem>,
    /// Items that could not be imported, with the reason.
    pub skipped: Vec<SkippedItem>,
    /// Counts of the links between the memories.
    pub links: ForeignImportCounts,
    /// Counts of the turns in the log of the conversation.
    pub turns: ForeignImportCounts,
    /// Other messages for the user.
    pub notes: Vec<String>,
    /// The predicted outcome for each memory that is not known. Only a dry run fills this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_be: Vec<ForeignImportPrediction>,
}

/// Counts of imported items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignImportCounts {
    /// Number of new items.
    pub new: u64,
    /// Number of items that existed in this store already.
    pub known: u64,
    /// Number of items left out.
    pub left_out: u64,
}

/// A memory whose number changed during the import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenumberedMemory {
    /// The number of the memory in the other system.
    pub from: MemoryNumber,
    /// The number of the memory in this store.
    pub to: MemoryNumber,
}

/// The predicted outcome for a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignImportPrediction {
    /// The name of the memory in the other system.
    pub what: String,
    /// The outcome: `new`, `updated`, `forgotten` or `restored`.
    pub became: &'static str,
    /// The beginning of the memory's content.
    pub says: String,
}

/// Imports a collection. `progress` receives the number of memories processed since the last call.
pub(crate) fn adopt(
    ports: &Ports,
    caller: &Caller,
    collection: ForeignCollection,
    options: &ForeignImportOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<ForeignImportReport, Error> {
    let (space, _) = access::workplace(ports, caller)?;
    // Checks the options once, so that an error in them is not repeated for every memory.
    let of_all = SaveRequest {
        tags: Some(options.tags.clone()),
        boundary: options.boundary,
        ..SaveRequest::new("all")
    };
    intake::read(of_all, &space, ports.limits)?;
    let ForeignCollection { system, mut memories, links, turns, mut unread, notes } = collection;
    let mut names = HashSet::with_capacity(memories.len());
    memories.retain(|memory| {
        let first = names.insert(memory.name.clone());
        if !first {
            unread.push(skipped(memory, "an earlier one has the same name".to_owned()));
        }
        first
    });
    drop(names);
    let mut taking = ForeignImport {
        ports,
        caller,
        options,
        system,
        stand_for: HashMap::new(),
        done: HashSet::new(),
        edited: HashSet::new(),
        pending: PendingMemories::default(),
        predicted: DryRunLinks::default(),
        withheld: RedactionCounts::default(),
        above: memories.iter().filter_map(|memory| memory.number).map(|number| number.0).max().unwrap_or(0),
        report: ForeignImportReport {
            system,
            new: 0,
            updated: 0,
            known: 0,
            forgotten: 0,
            restored: 0,
            renumbered: Vec::new(),
            left: Vec::new(),
            skipped: unread,
            links: ForeignImportCounts::default(),
            turns: ForeignImportCounts::default(),
            notes,
            would_be: Vec::new(),
        },
    };
    // Edited memories are imported first: a new memory may have the old content of an edited memory.
    for batch in memories.chunks(MEMORIES) {
        taking.memories(batch, ForeignImportRound::Edited)?;
    }
    for batch in memories.chunks(MEMORIES) {
        taking.memories(batch, ForeignImportRound::Others)?;
        progress(batch.len());
    }
    for batch in links.chunks(LINKS) {
        taking.links(batch)?;
    }
    taking.turns(&turns, &space)?;
    taking.report.notes.extend(taking.withheld.warnings().iter().map(ToString::to_string));
    Ok(taking.report)
}

/// The memories that a round of the import handles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ForeignImportRound {
    /// Known memories with another content than at the last import.
    Edited,
    /// All other memories.
    Others,
}

/// An import in progress.
struct ForeignImport<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    options: &'a ForeignImportOptions,
    system: System,
    /// The id of each imported memory, by its name in the other system.
    stand_for: HashMap<String, MemoryId>,
    /// Names, in the other system, of the memories already processed.
    done: HashSet<String>,
    /// Memories of this store that this import edited because they were edited in the other system.
    edited: HashSet<MemoryId>,
    /// Changes that are decided but not yet in the store. The next decisions must take them into account.
    pending: PendingMemories,
    predicted: DryRunLinks,
    /// The highest number of a memory in the other system.
    above: u64,
    /// The numbers of redactions in the writes.
    withheld: RedactionCounts,
    report: ForeignImportReport,
}

/// The existing links of the source memories that a dry run has read.
#[derive(Default)]
struct DryRunLinks {
    sources: HashSet<MemoryId>,
    links: HashSet<(MemoryId, MemoryId, Relation)>,
}

/// Returns the key of a link: source, target and relation.
fn link_of(edge: &Association) -> (MemoryId, MemoryId, Relation) {
    (edge.source, edge.target, edge.relation)
}

impl ForeignImport<'_> {
    fn memories(&mut self, batch: &[ForeignMemory], round: ForeignImportRound) -> Result<(), Error> {
        let batch: Vec<&ForeignMemory> =
            batch.iter().filter(|memory| !self.done.contains(&memory.name)).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let (space, _) = access::workplace(self.ports, self.caller)?;
        let batch = match round {
            ForeignImportRound::Edited => self.known_to_differ(&space, batch)?,
            ForeignImportRound::Others => batch,
        };
        let mut candidates = Vec::with_capacity(batch.len());
        for memory in batch {
            match self.candidate(memory, &space) {
                Ok(candidate) => candidates.push(candidate),
                Err(_) if round == ForeignImportRound::Edited => {}
                Err(invalid) => self.report.skipped.push(skipped(memory, invalid.to_string())),
            }
        }
        if candidates.is_empty() {
            return Ok(());
        }
        let outcomes = access::decide_again(|| {
            let (outcomes, mut act) = self.decide(&candidates)?;
            if self.options.dry_run || act.writes.is_empty() {
                return Ok(outcomes);
            }
            let now = self.ports.clock.now();
            act.writes.extend(
                outcomes.iter().any(ForeignImportOutcome::changes).then(|| self.audited(&space, now)),
            );
            let set = access::changes(self.caller, now, act.rights, act.writes);
            let applied = self.ports.store.apply(&set)?;
            Ok(settled(outcomes, applied.loaded))
        })?;
        for (candidate, outcome) in candidates.iter().zip(outcomes) {
            self.note(candidate, outcome);
        }
        Ok(())
    }

    /// Builds the audit entry for an import.
    fn audited(&self, space: &Space, now: Timestamp) -> Write {
        let mut entry = access::audit(self.caller, now, AuditAct::Imported);
        (entry.space, entry.detail) = (Some(space.id), Some(format!("from {}", self.system)));
        let private = space.default_boundary() == Boundary::Private;
        entry.private_to = private.then_some(self.caller.viewer.principal);
        Write::Audit(entry)
    }

    fn note(&mut self, candidate: &ForeignCandidate<'_>, outcome: ForeignImportOutcome) {
        let there = candidate.there;
        self.done.insert(there.name.clone());
        if let Some(id) = outcome.imported_as() {
            self.stand_for.insert(there.name.clone(), id);
        }
        let report = &mut self.report;
        let became = match outcome {
            ForeignImportOutcome::New { renumbered, forgotten, .. } => {
                report.new += 1;
                report.forgotten += u64::from(forgotten);
                report.renumbered.extend(renumbered);
                "new"
            }
            ForeignImportOutcome::Updated { id } => {
                self.edited.insert(id);
                report.updated += 1;
                "updated"
            }
            ForeignImportOutcome::Forgotten { .. } => {
                report.forgotten += 1;
                "forgotten"
            }
            ForeignImportOutcome::Restored { .. } => {
                report.restored += 1;
                "restored"
            }
            ForeignImportOutcome::Known { .. } | ForeignImportOutcome::Elsewhere => {
                report.known += 1;
                return;
            }
            ForeignImportOutcome::Left { why, .. } => {
                report.left.push(skipped(there, why));
                return;
            }
        };
        self.withheld.add(candidate.withheld());
        if self.options.dry_run {
            let says = crate::model::preview::short(candidate.says());
            report.would_be.push(ForeignImportPrediction { what: there.label.clone(), became, says });
        }
    }

    fn links(&mut self, batch: &[ForeignLink]) -> Result<(), Error> {
        let now = self.ports.clock.now();
        let mut edges = Vec::new();
        for link in batch {
            let ends = (self.stand_for.get(&link.source), self.stand_for.get(&link.target));
            match ends {
                // The source and the target became the same memory in this store.
                (Some(source), Some(target)) if source == target => self.report.links.known += 1,
                (Some(source), Some(target)) => edges.push(Association {
                    source: *source,
                    target: *target,
                    relation: link.relation,
                    weight: Weight::new(link.weight.clamp(0.0, 1.0)).unwrap_or(Weight::DEFAULT),
                    linked_by: link.linked_by,
                    created_at: link.created_at.map_or(now, |at| at.min(now)),
                }),
                _ => self.report.links.left_out += 1,
            }
        }
        if edges.is_empty() {
            return Ok(());
        }
        if self.options.dry_run {
            return self.foresee_links(&edges);
        }
        let load = |edge: &Association| Write::Load(Box::new(Record::Association(*edge)));
        let applied = access::decide_again(|| {
            let (_, right) = access::workplace(self.ports, self.caller)?;
            let writes = edges.iter().map(load).collect();
            Ok(self.ports.store.apply(&access::changes(self.caller, now, vec![right], writes))?)
        })?;
        let new_before = self.report.links.new;
        for loaded in applied.loaded {
            match loaded {
                LoadOutcome::Dangling => self.report.links.left_out += 1,
                LoadOutcome::Present => self.report.links.known += 1,
                _ => self.report.links.new += 1,
            }
        }
        if self.report.links.new > new_before {
            // Only the store knows which links are new, so the audit entry is written afterwards, in a separate
            // transaction.
            let (space, right) = access::workplace(self.ports, self.caller)?;
            let writes = vec![self.audited(&space, now)];
            self.ports.store.apply(&access::changes(self.caller, now, vec![right], writes))?;
        }
        Ok(())
    }

    fn foresee_links(&mut self, edges: &[Association]) -> Result<(), Error> {
        let DryRunLinks { sources, links } = &mut self.predicted;
        let more: Vec<MemoryId> =
            edges.iter().map(|edge| edge.source).filter(|source| sources.insert(*source)).collect();
        links.extend(self.ports.store.associations(&self.caller.viewer, &more)?.iter().map(link_of));
        for edge in edges {
            match links.contains(&link_of(edge)) {
                true => self.report.links.known += 1,
                false => self.report.links.new += 1,
            }
        }
        Ok(())
    }
}

/// Updates the outcome of new candidates with the store's results.
fn settled(outcomes: Vec<ForeignImportOutcome>, loaded: Vec<LoadOutcome>) -> Vec<ForeignImportOutcome> {
    let mut loaded = loaded.into_iter();
    let settle = |outcome: ForeignImportOutcome| match outcome {
        ForeignImportOutcome::New { id, forgotten, .. } => match loaded.next() {
            Some(LoadOutcome::Added) => ForeignImportOutcome::New { id, forgotten, renumbered: None },
            Some(LoadOutcome::Renumbered { from, to }) => {
                ForeignImportOutcome::New { id, forgotten, renumbered: Some(RenumberedMemory { from, to }) }
            }
            Some(LoadOutcome::Duplicate { of }) => ForeignImportOutcome::Known { id: of },
            // Somebody else imported the memory at the same time.
            Some(LoadOutcome::Present | LoadOutcome::Dangling) | None => ForeignImportOutcome::Known { id },
        },
        outcome => outcome,
    };
    outcomes.into_iter().map(settle).collect()
}

fn skipped(memory: &ForeignMemory, why: String) -> SkippedItem {
    SkippedItem { what: memory.label.clone(), why }
}
