//! The verbs around the memories: spaces, members, principals and tokens, the audit, jobs, and the store as a whole.

use std::collections::HashMap;

use super::Engine;
use crate::audit::AuditEntry;
use crate::error::Error;
use crate::id::{JobId, PassId, PrincipalId};
use crate::job::Job;
use crate::llm::Spending;
use crate::pass::{Pass, PassFilter, ToldPass, Undone};
use crate::record::{DumpPosition, Record};
use crate::request::{AuditFilter, Caller, TokenRequest};
use crate::space::{Membership, Principal, Secret, Space, Token};
use crate::transfer::{LoadOptions, LoadReport, Loading};
use crate::vocabulary::{JobState, PrincipalKind, Role, SpaceKind};
use crate::{access, directory, history, jobs, ledger, transfer, usage};

impl Engine {
    /// The spaces that the caller may see.
    pub fn spaces(&self, caller: &Caller) -> Result<Vec<Space>, Error> {
        Ok(self.parts.store.spaces(&caller.viewer)?)
    }

    /// Makes a space.
    pub fn create_space(&self, caller: &Caller, name: &str, kind: SpaceKind) -> Result<Space, Error> {
        directory::create_space(&self.parts, caller, name, kind)
    }

    /// The members of a space.
    pub fn members(&self, caller: &Caller, space: &str) -> Result<Vec<(Principal, Membership)>, Error> {
        directory::members(&self.parts, caller, space)
    }

    /// Makes a principal a member of a space, or gives a member another role.
    pub fn set_member(
        &self,
        caller: &Caller,
        space: &str,
        principal: &str,
        role: Role,
    ) -> Result<Membership, Error> {
        directory::set_member(&self.parts, caller, space, principal, role)
    }

    /// Takes a membership away.
    pub fn remove_member(&self, caller: &Caller, space: &str, principal: &str) -> Result<(), Error> {
        directory::remove_member(&self.parts, caller, space, principal)
    }

    /// Makes a principal.
    pub fn create_principal(
        &self,
        caller: &Caller,
        name: &str,
        kind: PrincipalKind,
    ) -> Result<Principal, Error> {
        directory::create_principal(&self.parts, caller, name, kind)
    }

    /// The names of principals.
    pub fn names(&self, ids: &[PrincipalId]) -> Result<HashMap<PrincipalId, String>, Error> {
        history::names(&self.parts, ids)
    }

    /// Makes a token, which is shown this once.
    pub fn create_token(&self, caller: &Caller, request: &TokenRequest) -> Result<(Secret, Token), Error> {
        directory::create_token(&self.parts, caller, request)
    }

    /// The tokens that the caller may manage.
    pub fn tokens(&self, caller: &Caller) -> Result<Vec<Token>, Error> {
        directory::tokens(&self.parts, caller)
    }

    /// Revokes a token, by id or label.
    pub fn revoke_token(&self, caller: &Caller, which: &str) -> Result<Token, Error> {
        directory::revoke_token(&self.parts, caller, which)
    }

    /// The newest entries of the audit, for admins.
    pub fn audit(&self, caller: &Caller, filter: &AuditFilter) -> Result<Vec<AuditEntry>, Error> {
        directory::audit_entries(&self.parts, caller, filter)
    }

    /// Lets others take at once what those had taken who are gone, and says how much that was.
    pub fn release_jobs(&self, is_gone: &dyn Fn(&str) -> bool) -> Result<usize, Error> {
        jobs::release(&self.parts, is_gone)
    }

    /// Gives a dead job all its attempts back.
    pub fn retry_job(&self, caller: &Caller, id: JobId) -> Result<Job, Error> {
        jobs::retry(&self.parts, caller, id)
    }

    /// The jobs in these states; empty is all.
    pub fn jobs(&self, caller: &Caller, states: &[JobState], limit: usize) -> Result<Vec<Job>, Error> {
        jobs::jobs(&self.parts, caller, states, limit)
    }

    /// What passes did in spaces of the caller's, newest first.
    pub fn passes(&self, caller: &Caller, filter: &PassFilter) -> Result<Vec<Pass>, Error> {
        ledger::list(&self.parts, caller, filter)
    }

    /// One of them, with its acts in words.
    pub fn pass(&self, caller: &Caller, id: PassId) -> Result<ToldPass, Error> {
        ledger::get(&self.parts, caller, id)
    }

    /// Takes back what a pass did, as far as that still stands, or tells what would be.
    pub fn undo(&self, caller: &Caller, id: PassId, dry_run: bool) -> Result<Undone, Error> {
        self.built_in("undo")?;
        ledger::undo(&self.parts, caller, id, dry_run)
    }

    /// What the language model has cost on the last days, for an admin of the org.
    pub fn usage(&self, caller: &Caller, days: i64) -> Result<Spending, Error> {
        usage::usage(&self.parts, &self.llm, caller, days)
    }

    /// A page of a dump of everything, for an admin of the org.
    pub fn dump(
        &self,
        caller: &Caller,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
        transfer::dump(&self.parts, caller, position, limit)
    }

    /// Begins a load, for an admin of the org. Nothing is stored before it is [finished](Self::finish_load).
    pub fn begin_load(&self, caller: &Caller, options: LoadOptions) -> Result<Loading, Error> {
        transfer::begin(&self.parts, caller, options)
    }

    /// Checks some lines of a dump, each with its number, and keeps them for the end of the load.
    pub fn load(
        &self,
        caller: &Caller,
        loading: &mut Loading,
        lines: Vec<(u64, Record)>,
    ) -> Result<(), Error> {
        transfer::load(&self.parts, caller, loading, lines)
    }

    /// Writes the lines of a load, all or none, once the last of them has come.
    pub fn finish_load(&self, caller: &Caller, loading: Loading) -> Result<LoadReport, Error> {
        transfer::finish(&self.parts, caller, loading)
    }

    /// Records that a backup took the place of what was stored.
    pub fn note_restore(&self, caller: &Caller, file: &str) -> Result<(), Error> {
        transfer::note_restore(&self.parts, caller, file)
    }

    /// Lets only those pass who may replace or read the whole store.
    pub fn require_org_admin(&self, caller: &Caller) -> Result<(), Error> {
        access::require_org_admin(&self.parts, caller)
    }
}
