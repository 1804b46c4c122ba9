//! Save and forget for an external primary backend: the engine decides, the backend stores.
//!
//! The engine assigns the id. It also checks rights and limits and normalizes the input before the backend receives
//! anything. A backend has no transactions: if a batch fails, the error contains the number of memories already written.

use crate::model::answer::{EditedMemory, ForgottenMemories, Receipt, SaveOutcome, Warning};
use crate::model::backend::BackendListQuery;
use crate::model::error::{BackendError, Error};
use crate::model::id::MemoryRef;
use crate::model::limits;
use crate::model::memory::{Memory, Usage};
use crate::model::request::{Caller, Filter, ForgetMode, ForgetRequest, SaveRequest};
use crate::model::space::Space;
use crate::model::vocabulary::{Boundary, Role};
use crate::ports::Backend;
use crate::text::commands;
use crate::verbs::access::{self, Ports};
use crate::verbs::save::intake::Draft;
use crate::verbs::save::{self as path, assemble};

use super::failure;
use super::read::get_from;
use super::registry::{BackendEntry, BackendLocation, Backends};
use super::screen::BackendScreen;

/// Maximum number of memories with the same key or path to read.
const TWINS: usize = 20;

/// Saves one memory.
pub(crate) fn save(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    request: SaveRequest,
) -> Result<Receipt, Error> {
    path::only(save_many(ports, backends, caller, vec![request]))
}

/// Saves several memories, one after another.
pub(crate) fn save_many(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    requests: Vec<SaveRequest>,
) -> Result<Vec<Receipt>, Error> {
    let entry = backends.primary();
    let BackendLocation::Elsewhere(backend) = &entry.keeps else {
        return path::save_many(ports, caller, requests);
    };
    let orders = requests.into_iter().map(path::SaveOptions::of).collect();
    let ((space, _), drafts) = path::read_all(ports, caller, orders)?;
    let writer = BackendWriter { ports, backends, caller, entry, backend: &**backend };
    let mut receipts = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let receipt = writer.keep(&space, &draft).map_err(|error| after(receipts.len(), error))?;
        receipts.push(receipt);
    }
    Ok(receipts)
}

/// Adds to an error the number of memories of the batch that were already written.
fn after(done: usize, error: Error) -> Error {
    match error {
        Error::Backend { name, source, .. } => Error::Backend { name, done, source },
        error => error,
    }
}

/// Saves memories to an external backend.
struct BackendWriter<'a> {
    ports: &'a Ports,
    backends: &'a Backends,
    caller: &'a Caller,
    entry: &'a BackendEntry,
    backend: &'a dyn Backend,
}

impl BackendWriter<'_> {
    fn keep(&self, space: &Space, draft: &Draft) -> Result<Receipt, Error> {
        let now = self.ports.clock.now();
        let (outcome, memory) = match self.duplicate(space, draft)? {
            None => (SaveOutcome::Created, assemble::fresh(draft, space, self.caller, now)),
            Some(duplicate) => {
                draft.patch.check_span(&duplicate.fields.span)?;
                let fields = draft.onto(&duplicate.fields);
                if fields == duplicate.fields {
                    (SaveOutcome::Unchanged, duplicate)
                } else {
                    if fields.boundary != duplicate.fields.boundary {
                        access::require_over(self.ports, self.caller, duplicate.reference(), &duplicate)?;
                    }
                    let usage = Usage { updated_at: now, ..duplicate.usage };
                    let version = duplicate.version.next();
                    (SaveOutcome::Updated, Memory { version, fields, usage, backend: None, ..duplicate })
                }
            }
        };
        if outcome != SaveOutcome::Unchanged {
            let kept = self.backend.save(&memory, self.entry.within);
            kept.map_err(|error| failure(self.entry, error))?;
        }
        let links = (!draft.links.is_empty()).then(|| Warning::NoLinks { backend: self.entry.name.clone() });
        let withheld = draft.warnings().into_iter();
        let commands = commands::marks(&memory.fields);
        let marked = Warning::marked(commands.clone());
        let warnings = withheld.chain(links).chain(marked).chain(assemble::expired(&memory, now)).collect();
        Ok(Receipt {
            memory: Memory { backend: Some(self.entry.name.clone()), commands, ..memory },
            outcome,
            revived: false,
            changed: Vec::new(),
            near: Vec::new(),
            possible_updates: Vec::new(),
            warnings,
        })
    }

    /// Finds the memory with the draft's key or path. As in the store, a private memory of the caller comes before a shared
    /// memory. Memories without a key are not compared by content.
    fn duplicate(&self, space: &Space, draft: &Draft) -> Result<Option<Memory>, Error> {
        let key = draft.patch.key.clone().flatten();
        let source_path = draft.provenance.source_path.clone();
        let filter = match (key, source_path) {
            (Some(key), _) => Filter { key: Some(key), ..Filter::default() },
            (None, Some(path)) => Filter { source_path: Some(path), ..Filter::default() },
            (None, None) => return Ok(None),
        };
        let filter = Filter { space: Some(space.id), ..filter };
        let screen = BackendScreen::new(self.ports, self.backends, self.caller, self.entry, &filter)?;
        let query =
            BackendListQuery { scope: screen.scope(), oldest_first: false, after: None, limit: TWINS };
        let listed =
            self.backend.list(&query, self.entry.within).map_err(|error| failure(self.entry, error))?;
        let passed = screen.pass(listed.given, TWINS)?;
        if let Some(error) = passed.error() {
            return Err(failure(self.entry, error));
        }
        let mut found: Vec<Memory> = passed.memories.into_iter().map(|(memory, _)| memory).collect();
        found.retain(|memory| self.fits(space, draft, memory));
        found.sort_by_key(|memory| memory.fields.boundary != Boundary::Private);
        Ok(found.into_iter().next())
    }

    /// Returns true if a memory with the draft's key or path also fits the boundary of the draft.
    fn fits(&self, space: &Space, draft: &Draft, memory: &Memory) -> bool {
        let is_private = memory.fields.boundary == Boundary::Private;
        match draft.patch.boundary {
            Some(boundary) => (boundary == Boundary::Private) == is_private,
            None => {
                space.default_boundary() != Boundary::Private || memory.owner == self.caller.viewer.principal
            }
        }
    }
}

/// Forgets a memory and returns its last state.
pub(crate) fn forget(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    which: MemoryRef,
    request: &ForgetRequest,
) -> Result<EditedMemory, Error> {
    let entry = backends.primary();
    let BackendLocation::Elsewhere(backend) = &entry.keeps else {
        return crate::verbs::forget::forget(ports, caller, which, request);
    };
    let (_, warnings) = crate::verbs::forget::reason(ports, caller, request)?;
    let memory = get_from(ports, backends, caller, entry, which)?;
    let hard = request.mode != ForgetMode::Soft;
    if hard {
        access::require_over(ports, caller, which, &memory)?;
    } else {
        access::require_in_place(ports, caller, &memory, Role::Writer)?;
    }
    let gone = backend.forget(memory.id, memory.space, hard, entry.within);
    if gone.map_err(|error: BackendError| failure(entry, error))? {
        Ok(EditedMemory { memory, warnings })
    } else {
        Err(access::absent(ports, caller, which)?)
    }
}

/// Forgets several memories, one after another.
pub(crate) fn forget_many(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    which: &[MemoryRef],
    request: &ForgetRequest,
) -> Result<ForgottenMemories, Error> {
    if let BackendLocation::BuiltIn = backends.primary().keeps {
        return crate::verbs::forget::forget_many(ports, caller, which, request);
    }
    let mut done = 0;
    let mut warnings = Vec::new();
    let mut seen: Vec<MemoryRef> = Vec::new();
    let (forgotten, missing) = access::several(which, limits::FORGETS, |which| {
        // When a memory is named a second time, it is already forgotten, so it counts once.
        if seen.contains(&which) {
            return Err(access::absent(ports, caller, which)?);
        }
        let gone = forget(ports, backends, caller, which, request).map_err(|error| after(done, error))?;
        done += 1;
        seen.push(which);
        // The warnings are the same for every memory, so those of the last one are used.
        warnings = gone.warnings;
        Ok((gone.memory.id, gone.memory))
    })?;
    let missing = missing.into_iter().filter(|which| !seen.contains(which)).collect();
    Ok(ForgottenMemories { forgotten, missing, warnings })
}
