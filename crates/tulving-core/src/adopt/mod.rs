//! Takes in what another system has kept, as often as one likes: each of its memories is one here, once.
//!
//! Which memory stands for one of theirs is known by its name there, and what it said then. What was edited there since
//! becomes a new version, unless it was edited here too; what was forgotten there is forgotten here, softly. Nothing here goes
//! because it is no longer there. An adoption that was cut off goes on where it was.

mod decide;
mod turns;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::access::{self, Parts};
use crate::association::Association;
use crate::change::Write;
use crate::error::Error;
use crate::foreign::{Collection, ForeignLink, ForeignMemory, Skipped};
use crate::id::{MemoryId, Number};
use crate::record::{Loaded, Record};
use crate::request::{Caller, SaveRequest};
use crate::save::dedupe::Pending;
use crate::save::intake;
use crate::score::Weight;
use crate::text::withhold::Withheld;
use crate::vocabulary::{Boundary, Relation, System};

use self::decide::{Candidate, Fate};

/// How many memories are taken in as one act.
const MEMORIES: usize = 500;
/// How many links are.
const LINKS: usize = 1_000;

/// What is said of all that is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptOptions {
    /// Labels beside their own.
    pub tags: Vec<String>,
    /// Who may see them, whatever was said there.
    pub boundary: Option<Boundary>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// Whose memories they are.
    pub system: System,
    /// How many are new.
    pub new: u64,
    /// How many were edited there since.
    pub updated: u64,
    /// How many are as they were, or are said by a memory that is here.
    pub known: u64,
    /// How many were forgotten there and are now forgotten here; those that are new count as such too.
    pub forgotten: u64,
    /// How many an earlier import had archived or forgotten, and are back there and here.
    pub restored: u64,
    /// Those that got another number, because theirs was taken.
    pub renumbered: Vec<Renumbered>,
    /// Those that differ from what is there and were let be, and why.
    pub left: Vec<Skipped>,
    /// What could not be taken in, and why.
    pub skipped: Vec<Skipped>,
    /// The links between them.
    pub links: Tally,
    /// The log of the conversation.
    pub turns: Tally,
    /// What else is to be told.
    pub notes: Vec<String>,
    /// What would become of each that is not known, where nothing is written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would_be: Vec<WouldBe>,
}

/// How many of something were taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many are new.
    pub new: u64,
    /// How many were here.
    pub known: u64,
    /// How many were left out.
    pub left_out: u64,
}

/// A memory that got another number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renumbered {
    /// Its number there.
    pub from: Number,
    /// Its number here.
    pub to: Number,
}

/// What would become of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WouldBe {
    /// What it is called there.
    pub what: String,
    /// `new`, `updated`, `forgotten` or `restored`.
    pub became: &'static str,
    /// How it begins.
    pub says: String,
}

/// Takes in a collection. `progress` hears of how many memories more were looked at.
pub(crate) fn adopt(
    parts: &Parts,
    caller: &Caller,
    collection: Collection,
    options: &AdoptOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Adopted, Error> {
    let (space, _) = access::workplace(parts, caller)?;
    // What is wrong with what is said of all is said once.
    let of_all = SaveRequest {
        tags: Some(options.tags.clone()),
        boundary: options.boundary,
        ..SaveRequest::new("all")
    };
    intake::read(of_all, &space, parts.limits)?;
    let Collection { system, mut memories, links, turns, mut unread, notes } = collection;
    let mut names = HashSet::with_capacity(memories.len());
    memories.retain(|memory| {
        let first = names.insert(memory.name.clone());
        if !first {
            unread.push(skipped(memory, "another one of the same name comes before it".to_owned()));
        }
        first
    });
    drop(names);
    let mut taking = Taking {
        parts,
        caller,
        options,
        system,
        stand_for: HashMap::new(),
        done: HashSet::new(),
        edited: HashSet::new(),
        pending: Pending::default(),
        foreseen: Foreseen::default(),
        withheld: Withheld::default(),
        above: memories.iter().filter_map(|memory| memory.number).map(|number| number.0).max().unwrap_or(0),
        report: Adopted {
            system,
            new: 0,
            updated: 0,
            known: 0,
            forgotten: 0,
            restored: 0,
            renumbered: Vec::new(),
            left: Vec::new(),
            skipped: unread,
            links: Tally::default(),
            turns: Tally::default(),
            notes,
            would_be: Vec::new(),
        },
    };
    // What was edited there first: a memory that is new may say what another one no longer does.
    for batch in memories.chunks(MEMORIES) {
        taking.memories(batch, Round::Edited)?;
    }
    for batch in memories.chunks(MEMORIES) {
        taking.memories(batch, Round::Others)?;
        progress(batch.len());
    }
    for batch in links.chunks(LINKS) {
        taking.links(batch)?;
    }
    taking.turns(&turns, &space)?;
    taking.report.notes.extend(taking.withheld.warnings().iter().map(ToString::to_string));
    Ok(taking.report)
}

/// Of which memories it is the turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Those that are known and say something else than they did.
    Edited,
    /// All others.
    Others,
}

/// An adoption under way.
struct Taking<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    options: &'a AdoptOptions,
    system: System,
    /// Which memory stands for one of theirs, by its name there.
    stand_for: HashMap<String, MemoryId>,
    /// Those of theirs that were looked at.
    done: HashSet<String>,
    /// Those of ours that were edited just now, because they were there.
    edited: HashSet<MemoryId>,
    /// What was decided and is not in the store, so that the next can be decided on it.
    pending: Pending,
    foreseen: Foreseen,
    /// The highest number that one of theirs has.
    above: u64,
    /// What was held back of what is written.
    withheld: Withheld,
    report: Adopted,
}

/// The links that are here, as far as a dry run has looked.
#[derive(Default)]
struct Foreseen {
    sources: HashSet<MemoryId>,
    links: HashSet<(MemoryId, MemoryId, Relation)>,
}

impl Taking<'_> {
    fn memories(&mut self, batch: &[ForeignMemory], round: Round) -> Result<(), Error> {
        let batch: Vec<&ForeignMemory> =
            batch.iter().filter(|memory| !self.done.contains(&memory.name)).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let (space, _) = access::workplace(self.parts, self.caller)?;
        let batch = match round {
            Round::Edited => self.known_to_differ(&space, batch)?,
            Round::Others => batch,
        };
        let mut candidates = Vec::with_capacity(batch.len());
        for memory in batch {
            match self.candidate(memory, &space) {
                Ok(candidate) => candidates.push(candidate),
                Err(_) if round == Round::Edited => {}
                Err(invalid) => self.report.skipped.push(skipped(memory, invalid.to_string())),
            }
        }
        if candidates.is_empty() {
            return Ok(());
        }
        let fates = access::decide_again(|| {
            let (fates, act) = self.decide(&candidates)?;
            if self.options.dry_run || act.writes.is_empty() {
                return Ok(fates);
            }
            let set = access::changes(self.caller, self.parts.clock.now(), act.rights, act.writes);
            let applied = self.parts.store.apply(&set)?;
            Ok(settled(fates, applied.loaded))
        })?;
        for (candidate, fate) in candidates.iter().zip(fates) {
            self.note(candidate, fate);
        }
        Ok(())
    }

    fn note(&mut self, candidate: &Candidate<'_>, fate: Fate) {
        let there = candidate.there;
        self.done.insert(there.name.clone());
        if let Some(id) = fate.stands_for() {
            self.stand_for.insert(there.name.clone(), id);
        }
        let report = &mut self.report;
        let became = match fate {
            Fate::New { renumbered, forgotten, .. } => {
                report.new += 1;
                report.forgotten += u64::from(forgotten);
                report.renumbered.extend(renumbered);
                "new"
            }
            Fate::Updated { id } => {
                self.edited.insert(id);
                report.updated += 1;
                "updated"
            }
            Fate::Forgotten { .. } => {
                report.forgotten += 1;
                "forgotten"
            }
            Fate::Restored { .. } => {
                report.restored += 1;
                "restored"
            }
            Fate::Known { .. } | Fate::Elsewhere => {
                report.known += 1;
                return;
            }
            Fate::Left { why, .. } => {
                report.left.push(skipped(there, why));
                return;
            }
        };
        self.withheld.add(candidate.withheld());
        if self.options.dry_run {
            let says = crate::preview::short(candidate.says());
            report.would_be.push(WouldBe { what: there.label.clone(), became, says });
        }
    }

    fn links(&mut self, batch: &[ForeignLink]) -> Result<(), Error> {
        let now = self.parts.clock.now();
        let mut edges = Vec::new();
        for link in batch {
            let ends = (self.stand_for.get(&link.source), self.stand_for.get(&link.target));
            match ends {
                // Both turned out to be one memory here.
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
            let (_, right) = access::workplace(self.parts, self.caller)?;
            let writes = edges.iter().map(load).collect();
            Ok(self.parts.store.apply(&access::changes(self.caller, now, vec![right], writes))?)
        })?;
        for loaded in applied.loaded {
            match loaded {
                Loaded::Dangling => self.report.links.left_out += 1,
                Loaded::Present => self.report.links.known += 1,
                _ => self.report.links.new += 1,
            }
        }
        Ok(())
    }

    fn foresee_links(&mut self, edges: &[Association]) -> Result<(), Error> {
        let link = |edge: &Association| (edge.source, edge.target, edge.relation);
        let Foreseen { sources, links } = &mut self.foreseen;
        let more: Vec<MemoryId> =
            edges.iter().map(|edge| edge.source).filter(|source| sources.insert(*source)).collect();
        links.extend(self.parts.store.associations(&self.caller.viewer, &more)?.iter().map(link));
        for edge in edges {
            match links.contains(&link(edge)) {
                true => self.report.links.known += 1,
                false => self.report.links.new += 1,
            }
        }
        Ok(())
    }
}

/// What became of candidates once the store has said what became of those that are new.
fn settled(fates: Vec<Fate>, loaded: Vec<Loaded>) -> Vec<Fate> {
    let mut loaded = loaded.into_iter();
    let settle = |fate: Fate| match fate {
        Fate::New { id, forgotten, .. } => match loaded.next() {
            Some(Loaded::Added) => Fate::New { id, forgotten, renumbered: None },
            Some(Loaded::Renumbered { from, to }) => {
                Fate::New { id, forgotten, renumbered: Some(Renumbered { from, to }) }
            }
            Some(Loaded::Duplicate { of }) => Fate::Known { id: of },
            // Somebody else took it in at the same time.
            Some(Loaded::Present | Loaded::Dangling) | None => Fate::Known { id },
        },
        fate => fate,
    };
    fates.into_iter().map(settle).collect()
}

fn skipped(memory: &ForeignMemory, why: String) -> Skipped {
    Skipped { what: memory.label.clone(), why }
}
