//! The administrative verbs: spaces, members, principals, tokens, the audit, jobs, and dumps of the store.

use std::collections::HashMap;

use super::Engine;
use crate::model::audit::AuditEntry;
use crate::model::error::Error;
use crate::model::id::{JobId, PassId, PrincipalId};
use crate::model::job::Job;
use crate::model::llm::LlmSpending;
use crate::model::pass::{DescribedPass, LastUndoOutcome, Pass, PassFilter, PassUndoResult};
use crate::model::record::{DumpPosition, Record};
use crate::model::request::{AuditFilter, Caller, TokenRequest};
use crate::model::space::{Membership, Principal, Secret, Space, Token};
use crate::model::vocabulary::{JobState, PrincipalKind, Role, SpaceKind};
use crate::verbs::transfer::{DumpLoad, LoadOptions, LoadReport};
use crate::{
    background::pass_records, verbs::access, verbs::directory, verbs::history, verbs::jobs, verbs::transfer,
    verbs::usage,
};

impl Engine {
    /// Returns the spaces that the caller may see.
    pub fn spaces(&self, caller: &Caller) -> Result<Vec<Space>, Error> {
        Ok(self.ports.store.spaces(&caller.viewer)?)
    }

    /// Creates a space.
    pub fn create_space(&self, caller: &Caller, name: &str, kind: SpaceKind) -> Result<Space, Error> {
        directory::create_space(&self.ports, caller, name, kind)
    }

    /// Returns the members of a space.
    pub fn members(&self, caller: &Caller, space: &str) -> Result<Vec<(Principal, Membership)>, Error> {
        directory::members(&self.ports, caller, space)
    }

    /// Makes a principal a member of a space, or gives a member another role.
    pub fn set_member(
        &self,
        caller: &Caller,
        space: &str,
        principal: &str,
        role: Role,
    ) -> Result<Membership, Error> {
        directory::set_member(&self.ports, caller, space, principal, role)
    }

    /// Removes a membership.
    pub fn remove_member(&self, caller: &Caller, space: &str, principal: &str) -> Result<(), Error> {
        directory::remove_member(&self.ports, caller, space, principal)
    }

    /// Creates a principal.
    pub fn create_principal(
        &self,
        caller: &Caller,
        name: &str,
        kind: PrincipalKind,
    ) -> Result<Principal, Error> {
        directory::create_principal(&self.ports, caller, name, kind)
    }

    /// Returns the names of these principals.
    pub fn names(&self, ids: &[PrincipalId]) -> Result<HashMap<PrincipalId, String>, Error> {
        history::names(&self.ports, ids)
    }

    /// Creates a token. Only this call returns its secret.
    pub fn create_token(&self, caller: &Caller, request: &TokenRequest) -> Result<(Secret, Token), Error> {
        directory::create_token(&self.ports, caller, request)
    }

    /// Returns the tokens that the caller may manage.
    pub fn tokens(&self, caller: &Caller) -> Result<Vec<Token>, Error> {
        directory::tokens(&self.ports, caller)
    }

    /// Revokes a token, specified by id or label.
    pub fn revoke_token(&self, caller: &Caller, which: &str) -> Result<Token, Error> {
        directory::revoke_token(&self.ports, caller, which)
    }

    /// Returns the newest audit entries. The caller must be an admin.
    pub fn audit(&self, caller: &Caller, filter: &AuditFilter) -> Result<Vec<AuditEntry>, Error> {
        directory::audit_entries(&self.ports, caller, filter)
    }

    /// Releases the jobs of holders whose process no longer exists, and returns the number of these jobs.
    pub fn release_jobs(&self, is_gone: &dyn Fn(&str) -> bool) -> Result<usize, Error> {
        jobs::release(&self.ports, is_gone)
    }

    /// Gives a dead job all its attempts back.
    pub fn retry_job(&self, caller: &Caller, id: JobId) -> Result<Job, Error> {
        jobs::retry(&self.ports, caller, id)
    }

    /// Returns the jobs in these states. An empty list means all states.
    pub fn jobs(&self, caller: &Caller, states: &[JobState], limit: usize) -> Result<Vec<Job>, Error> {
        jobs::jobs(&self.ports, caller, states, limit)
    }

    /// Returns the passes in the caller's spaces, newest first.
    pub fn passes(&self, caller: &Caller, filter: &PassFilter) -> Result<Vec<Pass>, Error> {
        pass_records::list(&self.ports, caller, filter)
    }

    /// Returns one pass with a description of each act.
    pub fn pass(&self, caller: &Caller, id: PassId) -> Result<DescribedPass, Error> {
        pass_records::get(&self.ports, caller, id)
    }

    /// Undoes the effects of a pass that still exist, or previews the undo.
    pub fn undo(&self, caller: &Caller, id: PassId, dry_run: bool) -> Result<PassUndoResult, Error> {
        self.built_in("undo")?;
        pass_records::undo(&self.ports, caller, id, dry_run)
    }

    /// Undoes the newest change in the caller's space, made by the caller or by a pass, or previews the undo. A change by
    /// the caller is undone completely, or refused with the reason. A second undo redoes the change.
    pub fn undo_last(&self, caller: &Caller, dry_run: bool) -> Result<LastUndoOutcome, Error> {
        self.built_in("undo")?;
        pass_records::undo_last(&self.ports, caller, dry_run)
    }

    /// Returns the cost of the language model over the last `days` days. The caller must be an admin of the org.
    pub fn usage(&self, caller: &Caller, days: i64) -> Result<LlmSpending, Error> {
        usage::usage(&self.ports, &self.llm, caller, days)
    }

    /// Returns a page of a dump of the complete store. The caller must be an admin of the org.
    pub fn dump(
        &self,
        caller: &Caller,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
        transfer::dump(&self.ports, caller, position, limit)
    }

    /// Begins a load. The caller must be an admin of the org. Nothing is stored until the load is
    /// [finished](Self::finish_load).
    pub fn begin_load(&self, caller: &Caller, options: LoadOptions) -> Result<DumpLoad, Error> {
        transfer::begin(&self.ports, caller, options)
    }

    /// Checks some lines of a dump, each with its number, and keeps them until the load is finished.
    pub fn load(
        &self,
        caller: &Caller,
        loading: &mut DumpLoad,
        lines: Vec<(u64, Record)>,
    ) -> Result<(), Error> {
        transfer::load(&self.ports, caller, loading, lines)
    }

    /// Writes all lines of a load, or none, after the last line has arrived.
    pub fn finish_load(&self, caller: &Caller, loading: DumpLoad) -> Result<LoadReport, Error> {
        transfer::finish(&self.ports, caller, loading)
    }

    /// Records that a backup replaced the content of the store.
    pub fn note_restore(&self, caller: &Caller, file: &str) -> Result<(), Error> {
        transfer::note_restore(&self.ports, caller, file)
    }

    /// Refuses callers who may not read or replace the complete store.
    pub fn require_org_admin(&self, caller: &Caller) -> Result<(), Error> {
        access::require_org_admin(&self.ports, caller)
    }
}
