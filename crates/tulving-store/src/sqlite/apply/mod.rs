//! Writes a [`ChangeSet`] as one transaction. No other code writes rows.
//!
//! The module checks the rights first, then does the writes in their order, each with its entry in the change log. Any
//! failure undoes all writes of the set.

mod associations;
mod claims;
mod directory;
mod embed;
mod foreign_import;
mod imports;
mod jobs;
mod load;
mod memories;
mod mirrors;
mod passes;
mod paths;
mod row;
mod turns;
mod usage;

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::{Applied, ChangeSet, RequiredRole, Write};
use tulving_core::model::error::{Conflict, StoreError};
use tulving_core::model::id::{MemoryId, PrincipalId, Seq, SpaceId};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, ChangeKind, Role};

use super::failure::SqliteError;
use super::feed::VectorModels;
use super::rows::{self, ColumnReader};
use super::{TransactionCheck, scrub};

pub(super) use embed::drop_stale_vectors;
pub(super) use load::{ChunksByMemory, cut, loads_memories};

/// Applies a set as a transaction. The memories of the set were [cut] before. Also returns true if anything was erased.
pub(super) fn run(
    connection: &mut Connection,
    allowed: &TransactionCheck<'_>,
    changes: &ChangeSet,
    cut: &ChunksByMemory,
) -> Result<(Applied, bool), SqliteError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    allowed()?;
    let done = within(&transaction, changes, cut)?;
    transaction.commit()?;
    Ok(done)
}

/// Applies a set within an open transaction. If this fails, the caller must roll back the transaction.
pub(super) fn within(
    transaction: &Connection,
    changes: &ChangeSet,
    cut: &ChunksByMemory,
) -> Result<(Applied, bool), SqliteError> {
    for right in &changes.rights {
        require(transaction, changes.by.principal, right)?;
    }
    for right in &changes.rights {
        require_in_place(transaction, right)?;
    }
    let mut act = ChangeSetWriter {
        transaction,
        changes,
        applied: Applied::default(),
        next_numbers: HashMap::new(),
        cut,
        models: None,
        erased: ErasedItems::default(),
    };
    for write in &changes.writes {
        act.write(write)?;
    }
    act.keep_next_numbers()?;
    let ErasedItems { records, mirrors } = act.erased;
    if records || mirrors > 0 {
        claims::forget_answers(transaction)?;
    }
    match records {
        true => scrub::raise(transaction)?,
        false => scrub::raise_for_mirrors(transaction, mirrors)?,
    }
    Ok((act.applied, records || mirrors > 0))
}

/// Removes up to `most` of the oldest entries of the change log up to `up_to`, and returns the number of removed
/// entries. The newest entry always stays.
pub(super) fn trim_log(
    connection: &mut Connection,
    allowed: &TransactionCheck<'_>,
    up_to: Seq,
    most: usize,
) -> Result<usize, SqliteError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    allowed()?;
    let trimmed = transaction
        .prepare_cached(
            "DELETE FROM changes WHERE seq IN (SELECT seq FROM changes \
             WHERE seq <= ?1 AND seq < (SELECT max(seq) FROM changes) ORDER BY seq LIMIT ?2)",
        )?
        .execute([rows::signed(up_to.0), rows::limit(most)])?;
    transaction.commit()?;
    Ok(trimmed)
}

fn require(transaction: &Connection, actor: PrincipalId, right: &RequiredRole) -> Result<(), SqliteError> {
    let mut statement = transaction
        .prepare_cached("SELECT role FROM members WHERE principal = ?1 AND realm = 'space' AND of = ?2")?;
    let role: Option<Role> = statement
        .query_row(params![actor.as_bytes(), right.space.as_bytes()], |row| ColumnReader::of(row).word())
        .optional()?;
    if role >= Some(right.role) { Ok(()) } else { Err(Conflict::RightLost.into()) }
}

/// Returns a conflict if the memory is in another space. A missing memory is reported by the write that uses the
/// memory.
fn require_in_place(transaction: &Connection, right: &RequiredRole) -> Result<(), SqliteError> {
    let Some(id) = right.over else {
        return Ok(());
    };
    let mut statement = transaction.prepare_cached("SELECT 1 FROM memories WHERE id = ?1 AND space <> ?2")?;
    let elsewhere = statement.exists(params![id.as_bytes(), right.space.as_bytes()])?;
    if elsewhere { Err(Conflict::Moved { id }.into()) } else { Ok(()) }
}

/// A set while it is being applied.
struct ChangeSetWriter<'a> {
    transaction: &'a Connection,
    changes: &'a ChangeSet,
    applied: Applied,
    /// The next number of each space that got a new memory. It is written once, at the end.
    next_numbers: HashMap<SpaceId, u64>,
    cut: &'a ChunksByMemory,
    /// The current and the next model, once they have been read.
    models: Option<VectorModels>,
    erased: ErasedItems,
}

impl ChangeSetWriter<'_> {
    fn write(&mut self, write: &Write) -> Result<(), SqliteError> {
        match write {
            Write::Insert(new) => self.insert(new),
            Write::Revise(revision) => self.revise(revision),
            Write::Move { id, from, to } => self.shift(*id, from, to),
            Write::Relocate { id, from, to } => self.relocate(*id, *from, *to),
            Write::Erase { id, from } => self.erase(*id, *from),
            Write::Replace { id, from, new } => self.replace(*id, *from, new),
            Write::Embed { id, from, embeddings } => self.embed(*id, *from, embeddings),
            Write::NotEmbedded { id, model } => self.not_embedded(*id, model),
            Write::RequestModel { model } => self.request_model(model),
            Write::ChooseModel { from, to } => self.choose_model(from.as_deref(), to),
            Write::Reline { id, line } => self.reline(*id, *line),
            Write::Mirrored { space, path, from, to } => {
                self.mirrored(*space, path, from.as_ref(), to.as_ref())
            }
            Write::Imported { space, path, to } => self.imported(*space, path, to.as_ref()),
            Write::SetSources { id, from, to } => self.set_sources(*id, from, to),
            Write::Repath { id, from, to } => self.repath(*id, from, to),
            Write::Settle(settled) => self.settle_work(settled),
            Write::Link(association) => self.link(association),
            Write::Unlink { source, target, relation } => self.unlink(*source, *target, *relation),
            Write::Touch(touches) => touches.iter().try_for_each(|touch| self.touch(touch)),
            Write::LogTurn(turn) => self.log_turn(turn),
            Write::PruneTurns { space, keep } => self.prune_turns(*space, *keep),
            Write::Enqueue(job) => self.enqueue(job),
            Write::RemoveJob(job) => self.remove_job(job),
            Write::MoveJob { from, to } => self.move_job(from, to),
            Write::Spend(usage) => self.spend(usage),
            Write::Pass { from, to } => self.note_pass(*from, to),
            Write::AddSpace(space) => self.add_space(space),
            Write::AddPrincipal(principal) => self.add_principal(principal),
            Write::SetMember(member) => self.set_member(member),
            Write::RemoveMember(member) => self.remove_member(member),
            Write::RequireAdmin(space) => self.require_admin(*space),
            Write::AddToken(token, hash) => self.add_token(token, hash),
            Write::RevokeToken(id) => self.revoke_token(*id),
            Write::Claim { key, fingerprint, from } => self.claim(key, *fingerprint, *from),
            Write::Answer { key, begun, answer } => self.answer(key, *begun, answer),
            Write::DropClaim { key, begun } => self.drop_claim(key, *begun),
            Write::BoundClaims { keep } => self.bound_claims(*keep),
            Write::BoundAnswers { keep } => self.bound_answers(*keep),
            Write::PruneClaims { before, most } => self.prune_claims(*before, *most),
            Write::FreezeListing(listing) => self.freeze_listing(listing),
            Write::Audit(entry) => self.audit(entry),
            Write::PruneAudit { space, before, most } => self.prune_audit(*space, *before, *most),
            Write::Load(record) => {
                let loaded = self.load(record)?;
                self.applied.loaded.push(loaded);
                Ok(())
            }
            Write::Adopt(adoption) => {
                let loaded = self.adopt(adoption)?;
                self.applied.loaded.push(loaded);
                Ok(())
            }
            Write::Adopted { item, memory } => self.adopted(item, *memory),
        }
    }

    fn now(&self) -> Timestamp {
        self.changes.at
    }

    /// Writes an entry to the change log.
    fn log(&mut self, kind: ChangeKind, memory: MemoryId, at: ChangeLogScope) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO changes (at, kind, memory, space, owner, boundary) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let seq = statement.insert(params![
            self.changes.at.as_micros(),
            kind.as_str(),
            memory.as_bytes(),
            at.space.as_bytes(),
            at.owner.as_bytes(),
            at.boundary.as_str()
        ])?;
        self.applied.seq = Some(Seq(seq.unsigned_abs()));
        Ok(())
    }

    fn prune_audit(
        &mut self,
        space: Option<SpaceId>,
        before: Timestamp,
        most: usize,
    ) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "DELETE FROM audit WHERE row IN (SELECT row FROM audit WHERE at < ?1 AND space IS ?2 ORDER BY at LIMIT ?3)",
        )?;
        let space = space.as_ref().map(SpaceId::as_bytes);
        self.applied.pruned += statement.execute(params![before.as_micros(), space, rows::limit(most)])?;
        Ok(())
    }

    fn audit(&mut self, entry: &AuditEntry) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO audit (id, at, by, agent, act, space, memory, private_to, reason, detail) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        statement.execute(params![
            entry.id.as_bytes(),
            entry.at.as_micros(),
            entry.by.as_bytes(),
            entry.agent,
            entry.act.as_str(),
            entry.space.as_ref().map(SpaceId::as_bytes),
            entry.memory.as_ref().map(MemoryId::as_bytes),
            entry.private_to.as_ref().map(PrincipalId::as_bytes),
            entry.reason,
            entry.detail
        ])?;
        Ok(())
    }
}

/// Numbers of erased items.
#[derive(Clone, Copy, Default)]
struct ErasedItems {
    /// True if a record was erased.
    records: bool,
    /// Number of erased mirrors.
    mirrors: u32,
}

/// The values of a memory in the change log, in addition to its id.
#[derive(Clone, Copy)]
struct ChangeLogScope {
    space: SpaceId,
    owner: PrincipalId,
    boundary: Boundary,
}

impl ChangeLogScope {
    /// Reads `space, owner, boundary`.
    fn read(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            space: columns.id(SpaceId::from_bytes)?,
            owner: columns.id(PrincipalId::from_bytes)?,
            boundary: columns.word()?,
        })
    }
}

/// The error for a bug in the engine: a write that no state of the store can lead to.
fn impossible(what: String) -> SqliteError {
    StoreError::Failed { what, source: None }.into()
}
