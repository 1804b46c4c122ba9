//! Consolidates journals: reads them, runs the pass, and replaces `MEMORY.md` with the result.
//!
//! The pass is recorded with the new text before the file is replaced, and again afterwards. The file is replaced only if it
//! still contains the text that the model received: if somebody edits the file meanwhile, the edit wins.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tulving_text::diff;

use super::Engine;
use super::judging::RecordJudgingReport;
use super::turn_reading;
use crate::background::pass_records;
use crate::background::passes::consolidate::guard::{self, CheckedRewrite, RewriteLimits, RewriteRefusal};
use crate::background::passes::consolidate::{self, ConsolidationInput, JournalExcerpt};
use crate::background::passes::proactive;
use crate::background::passes::{ConsolidationSettings, ConsolidationSummary, RejectedLine};
use crate::files::long_term::{self, LongTermFile};
use crate::files::{self, RecentJournals};
use crate::model::audit::AuditEntry;
use crate::model::change::Write;
use crate::model::error::{Conflict, Error, FileError, StoreError};
use crate::model::file::{self, Folder, LONG_TERM};
use crate::model::id::{AuditId, JobId, PassId, PrincipalId, SpaceId};
use crate::model::job::{self, Job};
use crate::model::limits;
use crate::model::pass::{Pass, PassAct};
use crate::model::preview;
use crate::model::request::{Caller, SaveRequest};
use crate::model::space::{Space, Viewer};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{AuditAct, Author, Origin, PassKind, PassOutcome, Role};
use crate::text::redact;
use crate::verbs::access;
use crate::verbs::jobs;
use crate::verbs::save::{self, SaveOptions};

/// Lease of the job. It is longer than the maximum time for one space.
const LEASE: Duration = Duration::from_secs(300);
/// Maximum delay before a retry after a failure.
const AGAIN: Duration = Duration::from_secs(3_600);
/// Maximum time until the job is due, whatever the interval.
const AHEAD: Duration = Duration::from_secs(23 * 3_600);
/// Token limit of a conversation with a model. Above this limit the model is not asked again, because every further question
/// has to include its earlier answers.
const MOST_TOKENS: u64 = 50_000;
/// The message while another consolidation is running.
const RUNNING: &str = "another consolidation is running; try again when it is done";
/// The note of a memory that waits for review.
const HELD: &str = "consolidation; worded differently from the notes";
/// Maximum number of characters of the reason for removed lines.
const WHY: usize = 300;

/// The result of checking whether journals are due for consolidation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsolidationTick {
    /// Consolidation is turned off, or not due yet.
    NotDue,
    /// Consolidation is turned on, but there is no model.
    NoModel,
    /// The previous pass or other periodic work is still running.
    Busy,
    /// Consolidation ran in these spaces.
    Done(Vec<(Space, ConsolidationSummary)>),
}

impl Engine {
    /// Sets the settings for consolidating journals.
    pub fn set_consolidation(&self, consolidation: ConsolidationSettings) {
        *self.consolidation.lock().unwrap_or_else(PoisonError::into_inner) = consolidation;
    }

    fn consolidation(&self) -> ConsolidationSettings {
        *self.consolidation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches the most recent journals of the caller's space for lasting facts and writes the facts into `MEMORY.md`;
    /// without `write`, only previews the change. The caller must be a writer, or an admin if a model is asked, because not
    /// every writer may cause costs. Only one consolidation runs at a time in a store: during another run, this call does
    /// not ask the model.
    pub fn consolidate(&self, caller: &Caller, write: bool) -> Result<ConsolidationSummary, Error> {
        let (space, _) = access::workplace(&self.ports, caller)?;
        if self.llm().is_some() {
            access::require(&self.ports, caller, space.id, Role::Admin)?;
        }
        if self.llm().is_none() {
            return self.consolidate_here(&space, caller, write, None);
        }
        let Some(mut job) = self.claim_by_hand()? else {
            return Ok(stays(ConsolidationSummary::default(), RUNNING.to_owned()));
        };
        let done = self.consolidate_here(&space, caller, write, Some(&mut job));
        // If another process has taken over the job, this process must not release it.
        let given_back = jobs::give_back(&self.ports, job);
        let done = done?;
        match given_back {
            Ok(_) | Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => Ok(done),
            Err(error) => Err(error),
        }
    }

    /// Claims the single consolidation job, so that nobody else pays for the same work. Returns `None` if the job is already
    /// claimed.
    fn claim_by_hand(&self) -> Result<Option<Job>, Error> {
        let ports = &self.ports;
        let job = jobs::sole(ports, JobId::CONSOLIDATE, job::CONSOLIDATE, serde_json::json!({}))?;
        let now = ports.clock.now();
        match is_held(&job, now) {
            true => Ok(None),
            false => jobs::claim_this(ports, job, now, &self.holder, LEASE),
        }
    }

    /// Consolidates the journals of one space, and judges its memories if that is turned on.
    fn consolidate_here(
        &self,
        space: &Space,
        caller: &Caller,
        write: bool,
        job: Option<&mut Job>,
    ) -> Result<ConsolidationSummary, Error> {
        let described = self.consolidate_space(space, caller, write)?.unwrap_or_else(|| {
            let days = consolidate::DAYS;
            stays(ConsolidationSummary::default(), format!("there are no journals of the last {days} days"))
        });
        let Some(job) = job.filter(|_| self.consolidation().apply) else { return Ok(described) };
        *job = jobs::extend(&self.ports, job.clone(), LEASE)?;
        let judged = self.judge_records(caller, write)?;
        Ok(ConsolidationSummary { records: judged.passes, predicted: judged.predicted, ..described })
    }

    /// Consolidates every space, if consolidation is turned on and due, a model is configured, and no other process runs it.
    pub fn consolidate_due(&self, holder: &str) -> Result<ConsolidationTick, Error> {
        let ConsolidationSettings { enabled, interval, .. } = self.consolidation();
        let ports = &self.ports;
        if !enabled {
            return Ok(ConsolidationTick::NotDue);
        }
        if self.llm().is_none() {
            return Ok(ConsolidationTick::NoModel);
        }
        let job = jobs::sole(ports, JobId::CONSOLIDATE, job::CONSOLIDATE, serde_json::json!({}))?;
        let now = ports.clock.now();
        if ConsolidationRound::of(&job).counts_from().is_none()
            && job.last_error.is_none()
            && !is_held(&job, now)
        {
            // Consolidation was just turned on. The first run is due one interval later, also for processes that start
            // later.
            let round = ConsolidationRound { since: Some(now), ..ConsolidationRound::of(&job) };
            let begun = Job { payload: serde_json::json!(round), ..job.clone() };
            return match jobs::moved(ports, now, job, begun) {
                Ok(_) | Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => {
                    Ok(ConsolidationTick::NotDue)
                }
                Err(error) => Err(error),
            };
        }
        if !is_due(&job, interval, now) {
            return Ok(ConsolidationTick::NotDue);
        }
        let Some(_slot) = self.slot() else { return Ok(ConsolidationTick::Busy) };
        if is_held(&job, now) {
            return Ok(ConsolidationTick::Busy);
        }
        let Some(mut job) = jobs::claim_this(ports, job, now, holder, LEASE)? else {
            return Ok(ConsolidationTick::Busy);
        };
        let mut round = ConsolidationRound::of(&job);
        let done = self.consolidate_all(&mut job, &mut round);
        let rest = match done {
            Ok(_) => {
                round = ConsolidationRound { last: Some(now), done: Vec::new(), ..round };
                interval.min(AHEAD)
            }
            Err(_) => interval.min(AGAIN),
        };
        let due_at = ports.clock.now().plus(rest);
        let rested = jobs::rest(ports, job, serde_json::json!(round), due_at, done.as_ref().err());
        let done = done?;
        rested.map(|_| ConsolidationTick::Done(done))
    }

    /// Consolidates all spaces except those that an interrupted round has already finished. If the model does not answer,
    /// the round ends early, because the other spaces would fail in the same way. Any other failure affects only its space,
    /// and only the step that failed: if judging memories fails, the journals are not sent to the model again.
    fn consolidate_all(
        &self,
        job: &mut Job,
        round: &mut ConsolidationRound,
    ) -> Result<Vec<(Space, ConsolidationSummary)>, Error> {
        let ports = &self.ports;
        let spaces = ports.store.spaces(&Viewer { principal: PrincipalId::USER, within: None })?;
        let mut done = Vec::new();
        for space in spaces {
            if round.done.contains(&space.id) {
                continue;
            }
            let caller = user_in(&space);
            let described = match self.consolidate_space(&space, &caller, true) {
                Err(error @ Error::Llm(_)) => return Err(error),
                Err(error) => {
                    done.push((space, stays(ConsolidationSummary::default(), error.code().to_owned())));
                    continue;
                }
                Ok(described) => described,
            };
            round.done.push(space.id);
            *job = jobs::extend(ports, job.clone(), LEASE)?;
            let judged = match self.consolidation().apply {
                true => self.judge_records(&caller, true),
                false => Ok(RecordJudgingReport::default()),
            };
            let (records, undecided) = match judged {
                Err(error @ Error::Llm(_)) => return Err(error),
                Err(error) => (Vec::new(), Some(error.code().to_owned())),
                Ok(judged) => (judged.passes, None),
            };
            *job = jobs::extend(ports, job.clone(), LEASE)?;
            if described.is_some() || !records.is_empty() || undecided.is_some() {
                done.push((
                    space,
                    ConsolidationSummary { records, undecided, ..described.unwrap_or_default() },
                ));
            }
        }
        Ok(done)
    }

    /// Consolidates the journals of a space. Returns `None` if there are no journals.
    fn consolidate_space(
        &self,
        space: &Space,
        caller: &Caller,
        write: bool,
    ) -> Result<Option<ConsolidationSummary>, Error> {
        let (ports, viewer) = (&self.ports, &caller.viewer);
        let folder = Folder::of(space);
        let RecentJournals { said, unread } = files::recent(ports, &folder, consolidate::DAYS)?;
        let pages: Vec<JournalExcerpt> =
            said.iter().filter_map(|(day, text)| JournalExcerpt::of(day.to_string(), text)).collect();
        let described = ConsolidationSummary { unread, ..ConsolidationSummary::default() };
        if pages.is_empty() {
            let why = || "none of the last journals could be read".to_owned();
            return Ok((!described.unread.is_empty()).then(|| stays(described, why())));
        }
        let known = long_term::load(ports, space)?;
        if let Some(why) = unfit(&known, self.llm().is_some()) {
            // The summary has no model and no journals: no model was asked, and no journal was searched.
            return Ok(Some(stays(described, why)));
        }
        let journals = pages.len();
        let pass = self.begun(space, viewer.principal, journals);
        let now = pass.began_at;
        let described = ConsolidationSummary { journals, model: pass.model.clone(), ..described };
        let by_passes = self.noted_by_passes(viewer, space.id)?;
        let material = ConsolidationInput { pages, known: known.content.clone(), by_passes };
        let (CheckedRewrite { text, left_out, doubtful, put_back, gone }, dropped) = match self
            .rewritten(&material, &known)?
        {
            Err(refused) => {
                let pass = noting(pass, &refused.to_string()).ended(PassOutcome::Failed, now);
                self.note_where(write, &pass)?;
                return Ok(Some(stays(described, format!("the proposed changes were refused: {refused}"))));
            }
            Ok(rewritten) => rewritten,
        };
        let pass = sifted(&left_out, &put_back).into_iter().fold(pass, |pass, fact| noting(pass, &fact));
        let nothing = match left_out.is_empty() && put_back.is_empty() {
            true => "nothing new is worth keeping for good",
            false => "none of the proposed changes can be applied",
        };
        let held = if write { self.hold(space, caller, &pass, doubtful)? } else { None };
        let described = ConsolidationSummary { left_out, held, put_back, ..described };
        let Some(new) = text else {
            let is_record = pass.model.is_some() || !described.left_out.is_empty();
            self.note_where(write && is_record, &pass.ended(PassOutcome::Nothing, now))?;
            return Ok(Some(stays(described, nothing.to_owned())));
        };
        let lines = diff::lines(&known.content, &new);
        let (added, removed) = diff::counts(&lines);
        // A reason is stored only if lines were removed.
        let dropped = dropped.filter(|_| !gone.is_empty());
        let described = ConsolidationSummary {
            added,
            removed,
            diff: diff::described(&lines),
            gone,
            dropped,
            ..described
        };
        if write {
            self.replace(&folder, pass, &known, &new, described).map(Some)
        } else {
            Ok(Some(described))
        }
    }

    /// Saves doubtful lines as memories that wait for review, and returns the pass that saved them. A statement is not saved
    /// if it is already known, already waits for review or was rejected. Nothing is saved if another backend is primary.
    fn hold(
        &self,
        space: &Space,
        caller: &Caller,
        pass: &Pass,
        doubtful: Vec<String>,
    ) -> Result<Option<PassId>, Error> {
        let ports = &self.ports;
        if self.built_in("review").is_err() {
            return Ok(None);
        }
        let id = PassId::mint(ports.clock.now());
        let mut orders = Vec::new();
        for statement in doubtful {
            let known = turn_reading::known(ports, caller, space, &statement)?;
            let waits = turn_reading::waits(ports, caller, space, &statement)?;
            if !waits && !known.iter().any(|known| proactive::is_said(&statement, known)) {
                let request = SaveRequest {
                    author: Some(Author::Auto),
                    source_note: Some(HELD.to_owned()),
                    pass: Some(id),
                    ..SaveRequest::new(statement)
                };
                orders.push(SaveOptions { quarantined: true, ..SaveOptions::of(request) });
            }
        }
        if orders.is_empty() {
            return Ok(None);
        }
        let count = orders.len();
        let note = Pass {
            model: pass.model.clone(),
            note: Some(format!(
                "{count} {} held for review: {HELD}",
                preview::plural(count, "line", "lines")
            )),
            ..Pass::begun(id, PassKind::Consolidate, space.id, pass.by, ports.clock.now())
        };
        save::save_by(ports, caller, orders, Some(&note))?;
        Ok(Some(id))
    }

    /// Returns a pass that begins now and reads this number of journals.
    fn begun(&self, space: &Space, by: PrincipalId, journals: usize) -> Pass {
        let now = self.ports.clock.now();
        let model = self.llm().map(|llm| llm.to_string());
        let looked = format!("{journals} {}", preview::plural(journals, "journal", "journals"));
        let note = Some(match &model {
            Some(_) => format!("{}; {looked}", consolidate::session(now)),
            None => looked,
        });
        Pass { model, note, ..Pass::begun(PassId::mint(now), PassKind::Consolidate, space.id, by, now) }
    }

    /// Returns the digests of the entries that passes wrote into these journals.
    fn noted_by_passes(&self, viewer: &Viewer, space: SpaceId) -> Result<HashSet<String>, Error> {
        let days = i64::try_from(consolidate::DAYS).unwrap_or(i64::MAX);
        // The search begins one day earlier, because a pass may begin before midnight and write after it.
        let since = self.ports.clock.now().plus_millis(-(days + 1) * 86_400_000);
        let acts = pass_records::acts(&self.ports, viewer, (space, PassKind::Shadow), since)?;
        let entry = |act| if let PassAct::Noted { entry, .. } = act { Some(entry) } else { None };
        Ok(acts.into_iter().filter_map(entry).collect())
    }

    /// Returns the checked rewrite of the file, by a model or by rules, and the reason for removed lines.
    fn rewritten(
        &self,
        material: &ConsolidationInput,
        known: &LongTermFile,
    ) -> Result<Result<RewriteOutcome, RewriteRefusal>, Error> {
        let loss = self.consolidation().max_loss;
        if self.llm().is_none() {
            let Some(rewrite) = consolidate::by_rules(material) else {
                return Ok(Ok(RewriteOutcome::default()));
            };
            let trust = RewriteLimits { loss, chars: limits::LONG_TERM_BYTES };
            return Ok(guard::checked(material, &rewrite, trust).map(|checked| (checked, None)));
        }
        let trust = RewriteLimits { loss, chars: long_term::SHOWN };
        let mut prompt = consolidate::prompt(material, &known.prompt());
        let mut refused = RewriteRefusal::Garbled;
        for _ in 0..consolidate::ROUNDS {
            let reply = self.ask(consolidate::PASS, &prompt)?;
            let checked = consolidate::wanted(&reply).and_then(|wanted| {
                let Some(rewrite) = wanted else { return Ok(RewriteOutcome::default()) };
                let checked = guard::checked(material, &rewrite, trust)?;
                let dropped = rewrite.dropped.map(|why| preview::cut(&redact::public(&why), WHY));
                Ok((checked, dropped))
            });
            match checked {
                Ok(new) => return Ok(Ok(new)),
                Err(why) => {
                    prompt = consolidate::again(prompt, &reply, &why);
                    refused = why;
                    if prompt.estimate() > MOST_TOKENS {
                        break;
                    }
                }
            }
        }
        Ok(Err(refused))
    }

    /// Writes the new text if the file still contains the text that the model received.
    fn replace(
        &self,
        folder: &Folder,
        pass: Pass,
        known: &LongTermFile,
        new: &str,
        described: ConsolidationSummary,
    ) -> Result<ConsolidationSummary, Error> {
        let ports = &self.ports;
        let ConsolidationSummary { added, removed, .. } = described;
        let act = PassAct::Replaced {
            file: LONG_TERM.to_owned(),
            from: known.digest.clone(),
            to: file::digest(new.as_bytes()),
            added,
            removed,
        };
        let mut pass = Pass { acts: vec![act], ..pass };
        if let Some(why) = &described.dropped {
            pass = noting(pass, &format!("reason for the removals: {why}"));
        }
        pass_records::note(ports, None, &pass)?;
        let from = long_term::seen_as(known.digest.as_deref().unwrap_or_default());
        let path = long_term::file(folder);
        let from = from.ok_or_else(|| FileError::Changed { name: path.name().to_owned() })?;
        match ports.files.replace(&path, new.as_bytes(), from, Some(ports.clock.now())) {
            Ok(()) => {
                let now = ports.clock.now();
                let entry = AuditEntry {
                    id: AuditId::mint(now),
                    at: now,
                    by: pass.by,
                    agent: None,
                    act: AuditAct::Consolidated,
                    space: Some(pass.space),
                    memory: None,
                    private_to: None,
                    reason: None,
                    detail: Some(format!(
                        "{LONG_TERM}: {added} {} added, {removed} removed; the pass {}",
                        preview::plural(added, "line", "lines"),
                        pass.id
                    )),
                };
                let id = pass.id;
                let done = pass.ended(PassOutcome::Done, now);
                pass_records::note_with(ports, Some(PassOutcome::Begun), &done, vec![Write::Audit(entry)])?;
                Ok(ConsolidationSummary { pass: Some(id), ..described })
            }
            Err(error) => {
                let why = match &error {
                    FileError::Changed { .. } => "the file was edited meanwhile",
                    other => other.code(),
                };
                let failed = noting(Pass { acts: Vec::new(), ..pass }, why);
                let failed = failed.ended(PassOutcome::Failed, ports.clock.now());
                pass_records::note(ports, Some(PassOutcome::Begun), &failed)?;
                match error {
                    // Nothing was changed, so the result lists no changes.
                    FileError::Changed { .. } => {
                        let ConsolidationSummary { journals, model, unread, held, .. } = described;
                        let described = ConsolidationSummary {
                            journals,
                            model,
                            unread,
                            held,
                            ..ConsolidationSummary::default()
                        };
                        Ok(stays(described, why.to_owned()))
                    }
                    error => Err(error.into()),
                }
            }
        }
    }

    fn note_where(&self, write: bool, pass: &Pass) -> Result<(), Error> {
        if write { pass_records::note(&self.ports, None, pass) } else { Ok(()) }
    }
}

/// Returns the user of this home as a caller confined to a space. Facts extracted in the space are saved as this caller.
fn user_in(space: &Space) -> Caller {
    Caller {
        viewer: Viewer { principal: PrincipalId::USER, within: Some(vec![space.id]) },
        ceiling: Role::Writer,
        space: space.id,
        agent: None,
        origin: Origin::Extraction,
        zone: Zone::default(),
    }
}

/// The checked rewrite, and the reason for removed lines of the old text.
type RewriteOutcome = (CheckedRewrite, Option<String>);

/// Returns the numbers of rejected and restored lines, without their content, for the note of a pass.
fn sifted(left_out: &[RejectedLine], put_back: &[String]) -> Vec<String> {
    let mut facts = Vec::new();
    let mut reasons: Vec<&str> = left_out.iter().map(|line| line.why).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for why in reasons {
        let count = left_out.iter().filter(|line| line.why == why).count();
        let lines = preview::plural(count, "new line", "new lines");
        facts.push(format!("{count} {lines} left out: {why}"));
    }
    if !put_back.is_empty() {
        let lines = preview::plural(put_back.len(), "line", "lines");
        facts.push(format!("{} {lines} put back: nothing else mentions the same", put_back.len()));
    }
    facts
}

fn stays(described: ConsolidationSummary, why: String) -> ConsolidationSummary {
    ConsolidationSummary { stays: Some(why), ..described }
}

fn noting(pass: Pass, more: &str) -> Pass {
    let note = pass.note.map_or_else(|| more.to_owned(), |note| format!("{note}; {more}"));
    Pass { note: Some(note), ..pass }
}

/// Returns the reason why a file cannot be rewritten, independent of the journals.
fn unfit(known: &LongTermFile, by_model: bool) -> Option<String> {
    let length = known.content.chars().count();
    if known.content.contains('\u{fffd}') {
        return Some(format!("{} contains bytes that are not text", known.path));
    }
    (by_model && length > long_term::SHOWN).then(|| {
        let shown = long_term::SHOWN;
        format!("{} has {length} characters and a model is shown {shown}: shorten it first", known.path)
    })
}

/// Returns true if the job is due: one interval after the last round, or after the pause that follows a failure.
fn is_due(job: &Job, interval: Duration, now: Timestamp) -> bool {
    if job.last_error.is_some() {
        return job.due_at <= now || job.due_at > now.plus(AHEAD);
    }
    // A time in the future was recorded while the clock was ahead.
    ConsolidationRound::of(job).counts_from().is_some_and(|from| from.plus(interval) <= now || from > now)
}

/// Returns true if another process has claimed the job. A lease that ends later than any valid lease was recorded while the
/// clock was ahead, and is ignored.
fn is_held(job: &Job, now: Timestamp) -> bool {
    job.lease.as_ref().is_some_and(|lease| lease.until > now && lease.until <= now.plus(LEASE))
}

/// The progress of a round, as stored in the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct ConsolidationRound {
    /// Time at which a round last finished all spaces.
    last: Option<Timestamp>,
    /// Spaces finished since then, if the round is incomplete.
    done: Vec<SpaceId>,
    /// Time at which consolidation was first found turned on.
    since: Option<Timestamp>,
}

impl ConsolidationRound {
    fn of(job: &Job) -> Self {
        serde_json::from_value(job.payload.clone()).unwrap_or_default()
    }

    /// Returns the start of the interval until the next round.
    fn counts_from(&self) -> Option<Timestamp> {
        self.last.or(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(1_780_000_000_000_000).plus_millis(hours * 3_600_000)
    }

    #[test]
    fn it_is_due_an_interval_after_the_last_time_whatever_that_is_by_now() {
        let day = Duration::from_secs(24 * 3_600);
        let new = Job::new(job::CONSOLIDATE, serde_json::json!({}), u32::MAX, at(0));
        assert!(!is_due(&new, day, at(48)), "nobody has seen it turned on");
        let on = Job { payload: serde_json::json!({ "since": at(0) }), ..new.clone() };
        assert!(!is_due(&on, day, at(23)) && is_due(&on, day, at(24)), "an interval after it was turned on");
        let done = Job { payload: serde_json::json!({ "last": at(0) }), due_at: at(23), ..new };
        assert!(!is_due(&done, day, at(23)) && is_due(&done, day, at(24)));
        assert!(is_due(&done, Duration::from_secs(3_600), at(1)), "the interval was made shorter");
        assert!(!is_due(&done, Duration::from_secs(72 * 3_600), at(48)), "or longer");
        assert!(is_due(&done, day, at(-1)), "the clock was set back");
        let failed = Job { last_error: Some("x".to_owned()), due_at: at(1), ..done };
        assert!(!is_due(&failed, day, at(0)) && is_due(&failed, day, at(1)));
    }
}
