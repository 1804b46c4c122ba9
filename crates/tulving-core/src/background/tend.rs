//! Applies the lifecycle rules of all spaces, on request and periodically in the background.
//!
//! A run reads memories in pages and writes in small transactions, so that it does not block other callers. If somebody else
//! changes a memory first, that change wins, and the next run checks the memory again. Irreversible steps are taken only
//! after the clock has been steady for a day.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::background::lifecycle::judge::{self, LifecycleDecision, LifecycleStep};
use crate::background::lifecycle::rules::{LifecyclePolicies, LifecyclePolicy};
use crate::model::audit::AuditEntry;
use crate::model::change::{Actor, ChangeSet, RequiredRole, Write};
use crate::model::error::{Error, StoreError};
use crate::model::id::{AuditId, JobId, MemoryId, PrincipalId, SpaceId};
use crate::model::job::{self, Job};
use crate::model::life::LifecycleData;
use crate::model::memory::Memory;
use crate::model::request::{Caller, ForgottenFilter};
use crate::model::space::{Space, Viewer};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, JobState, Role, State};
use crate::rank::decay;
use crate::verbs::access::{self, Ports};
use crate::verbs::jobs;
use crate::verbs::objects;

/// Number of memories in one page.
const PAGE: usize = 500;
/// Number of moves in one transaction, which takes a few milliseconds to write.
const ACT: usize = 100;
/// Number of audit entries deleted in one transaction.
const AUDIT_ACT: usize = 1_000;
/// Lease of the job. The job extends its lease after half of this time; the work between two time checks takes far less than
/// the remaining half.
const LEASE: Duration = Duration::from_secs(600);
const LEASE_HALF: Duration = Duration::from_secs(300);
/// Maximum number of days that a clock may advance between two runs. After a larger jump, or a jump back, irreversible
/// steps are not taken for [`STEADY_DAYS`].
const GAP_DAYS: f64 = 30.0;
/// Number of days that a clock must advance normally before irreversible steps are taken.
const STEADY_DAYS: f64 = 1.0;

/// A request to apply the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TendRequest {
    /// The space to tend; `None` means every space that the caller may tend.
    pub space: Option<SpaceId>,
    /// True to preview the steps without writing.
    pub dry_run: bool,
    /// Maximum number of steps in the result.
    pub shown: usize,
}

/// The steps that rules took, or would take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TendingResult {
    /// Number of memories checked.
    pub looked_at: u64,
    /// Number of memories that began to cool.
    pub cooled: u64,
    /// Number of memories that are active again.
    pub revived: u64,
    /// Number of memories archived.
    pub archived: u64,
    /// Number of forgotten memories permanently deleted.
    pub erased: u64,
    /// Number of deleted audit entries.
    pub audit_removed: u64,
    /// Number of items that will be permanently deleted once the clock has been steady for a day.
    pub held_back: u64,
    /// The first steps, for memories that the caller may see.
    pub steps: Vec<TendedStep>,
}

/// A step that a rule took or would take.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "TendStep")]
pub struct TendedStep {
    /// The step.
    pub step: LifecycleStep,
    /// The reason.
    pub why: String,
    /// The current state of the memory.
    pub memory: Memory,
}

impl TendingResult {
    /// Returns the number of memories moved or erased.
    pub fn moved(&self) -> u64 {
        self.cooled + self.revived + self.archived + self.erased
    }

    fn count(&mut self, step: LifecycleStep) {
        *match step {
            LifecycleStep::Cool => &mut self.cooled,
            LifecycleStep::Revive => &mut self.revived,
            LifecycleStep::Archive => &mut self.archived,
            LifecycleStep::Erase => &mut self.erased,
        } += 1;
    }
}

/// Applies the rules immediately in the spaces that the caller may tend: all spaces for an admin of the org, otherwise the
/// spaces where the caller is an admin.
pub(crate) fn tend(
    ports: &Ports,
    rules: &LifecyclePolicies,
    caller: &Caller,
    request: &TendRequest,
) -> Result<TendingResult, Error> {
    let everywhere = access::is_org_admin(ports, caller)?;
    let spaces = within_reach(ports, caller, request.space, everywhere)?;
    let now = ports.clock.now();
    let known = ports.store.job(JobId::TEND)?.as_ref().map(ClockCheck::of).unwrap_or_default();
    let steady = known.at(now);
    let round = TendingRound {
        ports,
        rules,
        spaces: &spaces,
        now,
        by: Actor { principal: caller.viewer.principal, agent: caller.agent.clone() },
        rights: !everywhere,
        whole: everywhere && request.space.is_none(),
        writes: !request.dry_run,
        final_too: steady.holds(now),
    };
    let mut tended = TendingResult::default();
    let mut described = Vec::new();
    round.run(&mut tended, |life, verdict| {
        if described.len() < request.shown {
            described.push((life.id, life.space, *verdict));
        }
    })?;
    if !request.dry_run {
        note_steady(ports, steady, now)?;
    }
    tended.steps = tell(ports, caller, described)?;
    Ok(tended)
}

/// Applies the rules of all spaces in the background if a run is due and no other process runs it. The run calls `go_on`
/// between pages and stops if `go_on` returns false; the rest waits for the next run.
pub(crate) fn tend_due(
    ports: &Ports,
    rules: &LifecyclePolicies,
    holder: &str,
    interval: Duration,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<TendingResult>, Error> {
    own_job(ports)?;
    let Some(mut job) = jobs::claim_any(ports, &[job::TEND], holder, LEASE)? else {
        return Ok(None);
    };
    let now = ports.clock.now();
    let steady = ClockCheck::of(&job).at(now);
    let spaces = ports.store.spaces(&Viewer { principal: PrincipalId::USER, within: None })?;
    let round = TendingRound {
        ports,
        rules,
        spaces: &spaces,
        now,
        by: Actor { principal: PrincipalId::USER, agent: None },
        rights: false,
        whole: true,
        writes: true,
        final_too: steady.holds(now),
    };
    let mut tended = TendingResult::default();
    let mut taken_at = now;
    let done = round.paged(&mut tended, &mut |_, _| (), &mut || {
        let goes_on = go_on();
        let now = ports.clock.now();
        if now >= taken_at.plus(LEASE_HALF) || now < taken_at {
            job = jobs::extend(ports, job.clone(), LEASE)?;
            taken_at = now;
        }
        Ok(goes_on)
    });
    let rested = jobs::rest(ports, job, steady.payload(), now.plus(interval), done.as_ref().err());
    done?;
    rested.map(|_| Some(tended))
}

/// Returns the spaces that the caller may tend.
fn within_reach(
    ports: &Ports,
    caller: &Caller,
    only: Option<SpaceId>,
    everywhere: bool,
) -> Result<Vec<Space>, Error> {
    let mut spaces = ports.store.spaces(&caller.viewer)?;
    spaces.retain(|space| only.is_none_or(|only| only == space.id));
    if everywhere {
        return Ok(spaces);
    }
    let mut reached = Vec::new();
    for space in spaces {
        match access::require(ports, caller, space.id, Role::Admin) {
            Ok(_) => reached.push(space),
            Err(Error::Denied { .. }) if only.is_none() => {}
            Err(error) => return Err(error),
        }
    }
    if reached.is_empty() {
        // This call returns the error for the caller's space.
        access::require(ports, caller, only.unwrap_or(caller.space), Role::Admin)?;
    }
    Ok(reached)
}

/// Returns the steps that the caller may see, with the current state of each memory.
fn tell(
    ports: &Ports,
    caller: &Caller,
    described: Vec<(MemoryId, SpaceId, LifecycleDecision)>,
) -> Result<Vec<TendedStep>, Error> {
    let ids: Vec<MemoryId> = described.iter().map(|(id, ..)| *id).collect();
    let seen = ports.store.memories(&caller.viewer, &ids)?;
    let mut seen: HashMap<MemoryId, Memory> = seen.into_iter().map(|memory| (memory.id, memory)).collect();
    let mut steps = Vec::new();
    for (id, space, LifecycleDecision { step, why }) in described {
        let memory = match seen.remove(&id) {
            Some(memory) => Some(memory),
            None => ports.store.memory(&caller.viewer, space, id.into(), ForgottenFilter::Only)?,
        };
        steps.extend(memory.map(|memory| TendedStep { step, why: why.to_string(), memory }));
    }
    Ok(steps)
}

/// A run over all memories.
struct TendingRound<'a> {
    ports: &'a Ports,
    rules: &'a LifecyclePolicies,
    spaces: &'a [Space],
    now: Timestamp,
    by: Actor,
    /// True if the actor is an admin of these spaces only. The transaction then checks this role again, and private memories
    /// of other principals are left out.
    rights: bool,
    /// True if audit entries that belong to no space are included.
    whole: bool,
    writes: bool,
    /// True if irreversible steps are included.
    final_too: bool,
}

impl TendingRound<'_> {
    fn run(
        &self,
        tended: &mut TendingResult,
        mut note: impl FnMut(&LifecycleData, &LifecycleDecision),
    ) -> Result<(), Error> {
        self.paged(tended, &mut note, &mut || Ok(true))
    }

    fn paged(
        &self,
        tended: &mut TendingResult,
        note: &mut dyn FnMut(&LifecycleData, &LifecycleDecision),
        go_on: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let policies: HashMap<SpaceId, &LifecyclePolicy> =
            self.spaces.iter().map(|space| (space.id, self.rules.of(space))).collect();
        let ids: Vec<SpaceId> = policies.keys().copied().collect();
        let mut after = None;
        loop {
            let lives = self.ports.store.lives(&ids, after, PAGE)?;
            let Some(last) = lives.last() else { break };
            after = Some(last.id);
            let lives: Vec<LifecycleData> = lives.into_iter().filter(|life| self.reaches(life)).collect();
            tended.looked_at += lives.len() as u64;
            let judged = lives.into_iter().filter_map(|life| {
                let verdict = judge::judge(&life, policies.get(&life.space)?, self.now)?;
                Some((life, verdict))
            });
            let (due, held): (Vec<_>, Vec<_>) =
                judged.partition(|(_, verdict)| self.final_too || verdict.step != LifecycleStep::Erase);
            tended.held_back += held.len() as u64;
            for act in due.chunks(ACT) {
                for (life, verdict) in self.act(act)? {
                    tended.count(verdict.step);
                    note(life, verdict);
                }
            }
            if !go_on()? {
                return Ok(());
            }
        }
        if self.final_too {
            for space in self.spaces {
                tended.audit_removed += self.prune_audit(Some(space.id), self.rules.of(space))?;
            }
            if self.whole {
                tended.audit_removed += self.prune_audit(None, &self.rules.usual)?;
            }
        }
        Ok(())
    }

    fn reaches(&self, life: &LifecycleData) -> bool {
        !self.rights || life.boundary != Boundary::Private || life.owner == self.by.principal
    }

    /// Takes some steps and returns them, except steps that another change has made obsolete.
    fn act<'b>(
        &self,
        due: &'b [(LifecycleData, LifecycleDecision)],
    ) -> Result<Vec<&'b (LifecycleData, LifecycleDecision)>, Error> {
        if !self.writes {
            return Ok(due.iter().collect());
        }
        match self.write(due) {
            Ok(()) => Ok(due.iter().collect()),
            Err(Error::Store(StoreError::Conflict(_))) if due.len() > 1 => {
                let mut done = Vec::new();
                for one in due.chunks(1) {
                    done.extend(self.act(one)?);
                }
                Ok(done)
            }
            Err(Error::Store(StoreError::Conflict(_))) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn write(&self, due: &[(LifecycleData, LifecycleDecision)]) -> Result<(), Error> {
        let (mut rights, mut writes, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for (life, verdict) in due {
            let (id, from) = (life.id, life.status);
            if self.rights {
                rights.push(RequiredRole { space: life.space, role: Role::Admin, over: Some(id) });
            }
            match verdict.step {
                LifecycleStep::Erase => {
                    writes.push(Write::Erase { id, from: Some(life.version) });
                    for entry in self.ports.store.entries(&[id], None)? {
                        if let Some(attachment) = &entry.memory.provenance.attachment {
                            let (write, job) = objects::leaves(attachment, self.now);
                            writes.push(write);
                            files.push(job);
                        }
                    }
                }
                step => writes.push(Write::Move { id, from, to: judge::after(from, step, self.now) }),
            }
            writes.extend(self.audit(life, verdict).map(Write::Audit));
        }
        let by = self.by.clone();
        self.ports.store.apply(&ChangeSet { by, at: self.now, rights, writes })?;
        files.into_iter().for_each(|file| objects::drop_now(self.ports, file));
        Ok(())
    }

    /// Builds the audit entry of a step that hides, erases or revives a memory.
    fn audit(&self, life: &LifecycleData, verdict: &LifecycleDecision) -> Option<AuditEntry> {
        let act = match verdict.step {
            LifecycleStep::Archive => AuditAct::Archived,
            LifecycleStep::Erase => AuditAct::Erased,
            LifecycleStep::Revive if life.status.state == State::Archived => AuditAct::Unarchived,
            LifecycleStep::Cool | LifecycleStep::Revive => return None,
        };
        Some(AuditEntry {
            id: AuditId::mint(self.now),
            at: self.now,
            by: self.by.principal,
            agent: self.by.agent.clone(),
            act,
            space: Some(life.space),
            memory: Some(life.id),
            private_to: (life.boundary == Boundary::Private).then_some(life.owner),
            reason: Some(format!("by rule: {}", verdict.why)),
            detail: None,
        })
    }

    fn prune_audit(&self, space: Option<SpaceId>, policy: &LifecyclePolicy) -> Result<u64, Error> {
        let Some(keep) = policy.keep_audit_days else { return Ok(0) };
        let before = self.now.plus_millis(-i64::from(keep) * 86_400_000);
        if !self.writes {
            return Ok(self.ports.store.audited_before(space, before)?);
        }
        let role = Role::Admin;
        let rights = space.filter(|_| self.rights).map(|space| RequiredRole { space, role, over: None });
        let writes = vec![Write::PruneAudit { space, before, most: AUDIT_ACT }];
        let set =
            ChangeSet { by: self.by.clone(), at: self.now, rights: rights.into_iter().collect(), writes };
        let mut removed = 0;
        loop {
            let pruned = self.ports.store.apply(&set)?.pruned;
            removed += pruned as u64;
            if pruned < AUDIT_ACT {
                return Ok(removed);
            }
        }
    }
}

/// The time since which the clock has advanced normally, as checked at each run of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ClockCheck {
    since: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl ClockCheck {
    fn of(job: &Job) -> Self {
        serde_json::from_value(job.payload.clone()).unwrap_or_default()
    }

    /// Returns the record updated to `now`.
    fn at(self, now: Timestamp) -> Self {
        let goes_on = self.last.is_some_and(|last| last <= now && decay::days(last, now) <= GAP_DAYS);
        Self { since: self.since.filter(|_| goes_on).or(Some(now)), last: Some(now) }
    }

    fn holds(self, now: Timestamp) -> bool {
        self.since.is_some_and(|since| decay::days(since, now) >= STEADY_DAYS)
    }

    fn payload(self) -> serde_json::Value {
        serde_json::json!({ "since": self.since, "last": self.last })
    }
}

/// Returns the single tend job of a store.
fn own_job(ports: &Ports) -> Result<Job, Error> {
    jobs::sole(ports, JobId::TEND, job::TEND, ClockCheck::default().payload())
}

/// Records the state of the clock, unless a server will record it soon.
fn note_steady(ports: &Ports, steady: ClockCheck, now: Timestamp) -> Result<(), Error> {
    let job = own_job(ports)?;
    if job.state != JobState::Waiting {
        return Ok(());
    }
    let noted = Job { payload: steady.payload(), ..job.clone() };
    match jobs::moved(ports, now, job, noted) {
        Err(Error::Store(StoreError::Conflict(_))) => Ok(()),
        done => done.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(n: i64) -> Timestamp {
        Timestamp::from_micros(n * 86_400_000_000)
    }

    #[test]
    fn a_clock_is_steady_after_a_day_without_leaps() {
        let mut steady = ClockCheck::default().at(day(100));
        assert!(!steady.holds(day(100)));
        steady = steady.at(day(101));
        assert!(steady.holds(day(101)));
        let leapt = steady.at(day(30_000));
        assert!(!leapt.holds(day(30_000)), "it ran ahead");
        assert!(!leapt.at(day(102)).holds(day(102)), "and was set back");
        assert!(leapt.at(day(102)).at(day(103)).holds(day(103)));
    }
}
