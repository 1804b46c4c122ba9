//! Makes requests idempotent: each runs once even if it is sent several times.
//!
//! A server calls [`begin`] before the verb, and [`answer`] or [`give_up`] after it. The claim is in the store, so this
//! works across processes and restarts.

use sha2::{Digest, Sha256};

use crate::model::answer::Once;
use crate::model::change::Write;
use crate::model::claim::Claim;
use crate::model::error::{Error, Field, Invalid};
use crate::model::limits;
use crate::model::preview;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::text::withhold::Redactor;
use crate::verbs::access::{self, Ports};

/// Time that a claim is kept after its last write.
const LIVES_MILLIS: i64 = 24 * 3_600_000;
/// Time after which an unanswered claim is taken to be of a process that died. Longer than any request may take.
const LEASE_MILLIS: i64 = 2 * 60_000;
/// Number of old claims deleted with each new one: more than one, so that they are deleted faster than they are added.
const PRUNED: usize = 8;

/// Begins a request, or returns its earlier result.
pub(crate) fn begin(ports: &Ports, caller: &Caller, key: &str, fingerprint: [u8; 32]) -> Result<Once, Error> {
    let key = checked(key)?;
    Redactor::new(ports.secret_policies.least()).refuse(Field::OnceKey, key)?;
    access::decide_again(|| {
        let now = ports.clock.now();
        let outlived = now.plus_millis(-LIVES_MILLIS);
        let place = match access::space_by_id(ports, caller, caller.space)? {
            Some(_) => SpaceAccess::Inside,
            None => SpaceAccess::Outside,
        };
        let known = ports.store.claim(caller.viewer.principal, key)?;
        let from = known.as_ref().map(|known| known.at);
        if let Some(claim) = known.filter(|known| known.at > outlived)
            && let Some(before) = before(caller, claim, fingerprint, place, now)?
        {
            return Ok(before);
        }
        let fingerprint = sealed(caller, fingerprint, place);
        let writes = vec![
            Write::Claim { key: key.to_owned(), fingerprint, from },
            Write::PruneClaims { before: outlived, most: PRUNED },
            Write::BoundClaims { keep: limits::CLAIMS },
        ];
        ports.store.apply(&access::changes(caller, now, Vec::new(), writes))?;
        // A claim that this one replaces is older by its lease at least, so the timestamp tells them apart.
        Ok(Once::Begun(now))
    })
}

/// The caller's access to the space of the call. A caller without access can still call: a memory given by its id need not
/// be in that space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceAccess {
    Inside,
    Outside,
}

/// Returns the result of a claim; `None` if it may be taken over. An answer given to a caller with access is repeated only
/// to callers with access.
fn before(
    caller: &Caller,
    claim: Claim,
    fingerprint: [u8; 32],
    place: SpaceAccess,
    now: Timestamp,
) -> Result<Option<Once>, Error> {
    let places = [SpaceAccess::Inside, SpaceAccess::Outside];
    let Some(then) = places.into_iter().find(|then| sealed(caller, fingerprint, *then) == claim.fingerprint)
    else {
        return Ok(Some(Once::Differs));
    };
    match claim.answer {
        Some(_) if then == SpaceAccess::Inside && place == SpaceAccess::Outside => {
            Err(Error::NoSpace { name: caller.space.to_string() })
        }
        Some(answer) => Ok(Some(Once::Answered(answer))),
        None => Ok((claim.at > now.plus_millis(-LEASE_MILLIS)).then_some(Once::Running)),
    }
}

/// Keeps the answer. Does nothing if the request was answered before, or begun again by somebody else.
pub(crate) fn answer(
    ports: &Ports,
    caller: &Caller,
    key: &str,
    begun: Timestamp,
    answer: &str,
) -> Result<(), Error> {
    let answer = if answer.len() > limits::KEPT_ANSWER_BYTES { "" } else { answer };
    let key = checked(key)?.to_owned();
    let writes = vec![
        Write::Answer { key, begun, answer: answer.to_owned() },
        Write::BoundAnswers { keep: limits::KEPT_ANSWERS_BYTES },
    ];
    write(ports, caller, writes)
}

/// Lets a failed request be tried again. One that was answered, or that somebody else began, stays.
pub(crate) fn give_up(ports: &Ports, caller: &Caller, key: &str, begun: Timestamp) -> Result<(), Error> {
    let key = checked(key)?.to_owned();
    write(ports, caller, vec![Write::DropClaim { key, begun }])
}

fn write(ports: &Ports, caller: &Caller, writes: Vec<Write>) -> Result<(), Error> {
    ports.store.apply(&access::changes(caller, ports.clock.now(), Vec::new(), writes))?;
    Ok(())
}

fn checked(key: &str) -> Result<&str, Invalid> {
    let fits = (1..=limits::ONCE_KEY_CHARS).contains(&key.len());
    if fits && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(key);
    }
    Err(Invalid::OnceKey { got: preview::short(key) })
}

/// Returns a digest of a request and of the caller's access: another token of the same principal may get another answer.
fn sealed(caller: &Caller, fingerprint: [u8; 32], place: SpaceAccess) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(fingerprint);
    digest.update(caller.space.as_bytes());
    digest.update(caller.ceiling.as_str());
    for space in caller.viewer.within.iter().flatten() {
        digest.update(space.as_bytes());
    }
    // An empty restriction is not the same as no restriction.
    digest.update([u8::from(caller.viewer.within.is_some())]);
    if place == SpaceAccess::Outside {
        digest.update("outside");
    }
    digest.finalize().into()
}
