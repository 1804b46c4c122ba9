//! Logs the turns of conversations, one log per space, cut back to the newest.

use crate::access::{self, Parts};
use crate::answer::Logged;
use crate::change::Write;
use crate::classify::facts;
use crate::error::{Error, Field, Invalid};
use crate::id::TurnId;
use crate::job::{self, Job};
use crate::limits;
use crate::llm::{LlmName, Usage};
use crate::read;
use crate::request::{Caller, TurnFilter, TurnRequest};
use crate::save::intake;
use crate::space::Space;
use crate::text::normalize;
use crate::turn::{Listening, TURNS_BETWEEN_PRUNES, TURNS_KEPT, Turn};
use crate::vocabulary::{JobState, Role};

/// Logs a turn. Every so many, the log is cut back in the same act; where two processes log at the same moment that may
/// be missed, and the next time makes up for it. Where turns are listened to, that this one be looked at is asked for in the
/// same act; `journaler` is the language model that notes answers, where one does.
pub(crate) fn log_turn(
    parts: &Parts,
    caller: &Caller,
    request: &TurnRequest,
    listening: &Listening,
    journaler: Option<&LlmName>,
) -> Result<Logged, Error> {
    let content = content(&request.content)?;
    let right = access::require(parts, caller, caller.space, Role::Writer)?;
    let space = access::space_of_call(parts, caller)?;
    let mut sieve = parts.sieve(&space);
    let content = sieve.content(Field::Content, content)?;
    let mut line = |field: Field, text: Option<&String>| {
        let mut given = intake::given(field, text.map(String::as_str), limits::NOTE_CHARS)?;
        intake::withhold_line(&mut sieve, field, &mut given, limits::NOTE_CHARS)?;
        Ok::<_, Invalid>(given)
    };
    let source = line(Field::Source, request.source.as_ref())?;
    let channel = line(Field::Conversation, request.channel.as_ref())?;
    let speaker = line(Field::Speaker, request.speaker.as_ref())?;
    let now = parts.clock.now();
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
    let newest = TurnFilter { channel: None, last: 1 };
    let newest = parts.store.turns(&caller.viewer, caller.space, &newest, read::PAGE_BYTES)?;
    let position = newest.last().map_or(1, |newest| newest.position + 1);
    // What is dropped may be begun by somebody in the same moment.
    let applied = access::decide_again(|| {
        let mut writes = vec![Write::LogTurn(turn.clone())];
        writes.extend(work(parts, &space, &turn, listening, journaler)?);
        if position.is_multiple_of(TURNS_BETWEEN_PRUNES) {
            writes.push(pruning(caller));
        }
        Ok(parts.store.apply(&access::changes(caller, now, vec![right], writes))?)
    })?;
    turn.position = applied.positions.first().copied().unwrap_or_default();
    Ok(Logged { turn, warnings: sieve.withheld().warnings() })
}

/// What was said in a turn, in its normal form. One that is empty or too long is refused.
pub(crate) fn content(said: &str) -> Result<String, Invalid> {
    let (got, limit) = (said.len(), limits::TURN_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::Said, got, limit, unit: "bytes" });
    }
    let content = normalize::content(said)?;
    if content.is_empty() { Err(Invalid::Empty { field: Field::Said }) } else { Ok(content) }
}

/// The work that a turn asks for.
fn work(
    parts: &Parts,
    space: &Space,
    turn: &Turn,
    listening: &Listening,
    journaler: Option<&LlmName>,
) -> Result<Vec<Write>, Error> {
    if listening.hears(turn, space) && turn.content.len() <= facts::TURN_BYTES {
        return Ok(vec![Write::Enqueue(Job::look_at(turn, turn.at))]);
    }
    match journaler.filter(|_| listening.notes(turn, space)) {
        Some(llm) => journaling(parts, turn, llm),
        None => Ok(Vec::new()),
    }
}

/// A look at an answer, in the place of the oldest that waits where too many do.
fn journaling(parts: &Parts, turn: &Turn, llm: &LlmName) -> Result<Vec<Write>, Error> {
    let waiting = [JobState::Waiting, JobState::Dead];
    let mut waiting = parts.store.jobs(&waiting, &[job::SHADOW], 2 * job::SHADOWS)?;
    waiting.sort_by_key(|job| (job.created_at, job.id));
    let over = (waiting.len() + 1).saturating_sub(job::SHADOWS);
    let mut writes: Vec<Write> =
        waiting.into_iter().take(over).map(|job| Write::RemoveJob(Box::new(job))).collect();
    if over > 0 {
        let dropped = u64::try_from(over).unwrap_or(u64::MAX);
        writes.push(Write::Spend(Usage::dropped(turn.at.date(), llm, job::SHADOW, dropped)));
    }
    writes.push(Write::Enqueue(Job::journal(turn, turn.at)));
    Ok(writes)
}

/// Cuts the log of the caller's space back to the newest turns.
pub(crate) fn prune(parts: &Parts, caller: &Caller) -> Result<(), Error> {
    let right = access::require(parts, caller, caller.space, Role::Writer)?;
    let writes = vec![pruning(caller)];
    parts.store.apply(&access::changes(caller, parts.clock.now(), vec![right], writes))?;
    Ok(())
}

fn pruning(caller: &Caller) -> Write {
    Write::PruneTurns { space: caller.space, keep: TURNS_KEPT }
}

/// The newest turns of the caller's space, oldest first, as many as one answer should carry.
pub(crate) fn turns(parts: &Parts, caller: &Caller, filter: &TurnFilter) -> Result<Vec<Turn>, Error> {
    read::bounded(Field::Limit, filter.last, limits::PAGE)?;
    Ok(parts.store.turns(&caller.viewer, caller.space, filter, parts.limits.answer_bytes)?)
}
