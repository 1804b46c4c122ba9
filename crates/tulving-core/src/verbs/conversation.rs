//! Logs the turns of conversations. Each space has one log, which contains only the newest turns.

use std::collections::VecDeque;

use tulving_text::classify::facts;

use crate::model::answer::{LoggedTurn, TurnPage};
use crate::model::change::Write;
use crate::model::error::{Error, Field, Invalid};
use crate::model::id::TurnId;
use crate::model::job::{self, Job};
use crate::model::limits;
use crate::model::llm::{LlmName, LlmUsage};
use crate::model::request::{Caller, TurnFilter, TurnRequest};
use crate::model::space::Space;
use crate::model::turn::{TURNS_BETWEEN_PRUNES, TURNS_KEPT, Turn, TurnReadingSettings};
use crate::model::vocabulary::{JobState, Role};
use crate::text::normalize;
use crate::verbs::access::{self, Ports};
use crate::verbs::read;
use crate::verbs::save::intake;

/// Logs a turn. At regular intervals the same transaction also trims the log. If two processes log at the same time, a
/// trim may be missed; the next trim then removes the additional turns. If a background pass processes this turn, the
/// same transaction enqueues the job. `journaler` is the language model that journals answers, if any.
pub(crate) fn log_turn(
    ports: &Ports,
    caller: &Caller,
    request: &TurnRequest,
    listening: &TurnReadingSettings,
    journaler: Option<&LlmName>,
) -> Result<LoggedTurn, Error> {
    let content = content(&request.content)?;
    let right = access::require(ports, caller, caller.space, Role::Writer)?;
    let space = access::space_of_call(ports, caller)?;
    let mut redactor = ports.redactor(&space);
    let content = redactor.content(Field::Content, content)?;
    let mut line = |field: Field, text: Option<&String>| {
        let mut given = intake::given(field, text.map(String::as_str), limits::NOTE_CHARS)?;
        intake::withhold_line(&mut redactor, field, &mut given, limits::NOTE_CHARS)?;
        Ok::<_, Invalid>(given)
    };
    let source = line(Field::Source, request.source.as_ref())?;
    let channel = line(Field::Conversation, request.channel.as_ref())?;
    let speaker = line(Field::Speaker, request.speaker.as_ref())?;
    let now = ports.clock.now();
    let mut turn = Turn {
        id: TurnId::mint(now),
        space: caller.space,
        logged_by: caller.viewer.principal,
        channel,
        position: 0,
        role: request.role,
        speaker,
        content,
        source: source.unwrap_or_else(|| "unknown".to_owned()),
        at: now,
    };
    let newest = TurnFilter { last: 1, ..TurnFilter::default() };
    let newest = ports.store.turns(&caller.viewer, caller.space, &newest, read::PAGE_BYTES)?;
    let position = newest.last().map_or(1, |newest| newest.position + 1);
    // A worker may claim a job that this transaction drops. The transaction then conflicts and is decided again.
    let applied = access::decide_again(|| {
        let mut writes = vec![Write::LogTurn(turn.clone())];
        writes.extend(work(ports, &space, &turn, listening, journaler)?);
        if position.is_multiple_of(TURNS_BETWEEN_PRUNES) {
            writes.push(pruning(caller));
        }
        Ok(ports.store.apply(&access::changes(caller, now, vec![right], writes))?)
    })?;
    turn.position = applied.positions.first().copied().unwrap_or_default();
    Ok(LoggedTurn { turn, warnings: redactor.withheld().warnings() })
}

/// Returns the content of a turn in its normal form. Refuses a content that is empty or too long.
pub(crate) fn content(said: &str) -> Result<String, Invalid> {
    let (got, limit) = (said.len(), limits::TURN_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::Said, got, limit, unit: "bytes" });
    }
    let content = normalize::content(said)?;
    if content.is_empty() { Err(Invalid::Empty { field: Field::Said }) } else { Ok(content) }
}

/// Returns the jobs that a turn needs.
fn work(
    ports: &Ports,
    space: &Space,
    turn: &Turn,
    listening: &TurnReadingSettings,
    journaler: Option<&LlmName>,
) -> Result<Vec<Write>, Error> {
    if listening.hears(turn, space) && turn.content.len() <= facts::TURN_BYTES {
        return Ok(vec![Write::Enqueue(Job::look_at(turn, turn.at))]);
    }
    match journaler.filter(|_| listening.notes(turn, space)) {
        Some(llm) => journaling(ports, turn, llm),
        None => Ok(Vec::new()),
    }
}

/// Returns the writes that enqueue the journaling of an answer. If too many such jobs wait, the oldest jobs are
/// dropped.
fn journaling(ports: &Ports, turn: &Turn, llm: &LlmName) -> Result<Vec<Write>, Error> {
    let waiting = [JobState::Waiting, JobState::Dead];
    let mut waiting = ports.store.jobs(&waiting, &[job::SHADOW], 2 * job::SHADOWS)?;
    waiting.sort_by_key(|job| (job.created_at, job.id));
    let over = (waiting.len() + 1).saturating_sub(job::SHADOWS);
    let mut writes: Vec<Write> =
        waiting.into_iter().take(over).map(|job| Write::RemoveJob(Box::new(job))).collect();
    if over > 0 {
        let dropped = u64::try_from(over).unwrap_or(u64::MAX);
        writes.push(Write::Spend(LlmUsage::dropped(turn.at.date(), llm, job::SHADOW, dropped)));
    }
    writes.push(Write::Enqueue(Job::journal(turn, turn.at)));
    Ok(writes)
}

/// Trims the log of the caller's space to the newest turns.
pub(crate) fn prune(ports: &Ports, caller: &Caller) -> Result<(), Error> {
    let right = access::require(ports, caller, caller.space, Role::Writer)?;
    let writes = vec![pruning(caller)];
    ports.store.apply(&access::changes(caller, ports.clock.now(), vec![right], writes))?;
    Ok(())
}

fn pruning(caller: &Caller) -> Write {
    Write::PruneTurns { space: caller.space, keep: TURNS_KEPT }
}

/// Returns the newest turns of the caller's space, oldest first, up to the size limit of an answer.
pub(crate) fn turns(ports: &Ports, caller: &Caller, filter: &TurnFilter) -> Result<TurnPage, Error> {
    read::bounded(Field::Limit, filter.last, limits::PAGE)?;
    let page = |filter: &TurnFilter, bytes| ports.store.turns(&caller.viewer, caller.space, filter, bytes);
    let turns = page(filter, ports.limits.answer_bytes)?;
    let earlier = match turns.first() {
        None => false,
        Some(first) => {
            let before = TurnFilter { before: Some(first.position), last: 1, ..filter.clone() };
            !page(&before, 0)?.is_empty()
        }
    };
    Ok(TurnPage { turns, earlier })
}

/// Reads all turns of a channel that are still in the log of the caller's space, oldest first, page by page. Stops once
/// the byte limit is exceeded, because the caller refuses such a log anyway.
pub(crate) fn whole_log(
    ports: &Ports,
    caller: &Caller,
    channel: Option<String>,
    bytes: usize,
) -> Result<Vec<Turn>, Error> {
    let mut filter = TurnFilter { channel, before: None, last: usize::MAX };
    let (mut log, mut taken) = (VecDeque::new(), 0);
    while taken <= bytes {
        let page = ports.store.turns(&caller.viewer, caller.space, &filter, read::PAGE_BYTES)?;
        let Some(first) = page.first() else { break };
        filter.before = Some(first.position);
        for turn in page.into_iter().rev() {
            taken += turn.content.len();
            log.push_front(turn);
        }
    }
    Ok(log.into())
}
