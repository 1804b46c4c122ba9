//! Makes requests idempotent: each request runs once even if a client sends it several times.
//!
//! A server calls [`begin`] before the verb, and [`answer`] or [`give_up`] after it. The claim is in the store, so
//! requests are idempotent across processes and restarts.

use sha2::{Digest, Sha256};

use crate::model::answer::IdempotencyDecision;
use crate::model::change::Write;
use crate::model::claim::Claim;
use crate::model::error::{Error, Field, Invalid};
use crate::model::limits;
use crate::model::preview;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::text::redact::Redactor;
use crate::verbs::access::{self, Ports};

/// Time for which a claim stays in the store after its last change.
const LIVES_MILLIS: i64 = 24 * 3_600_000;
/// Time after which an unanswered claim counts as abandoned by a dead process. It is longer than any request may take.
const LEASE_MILLIS: i64 = 2 * 60_000;
/// Number of expired claims deleted with each new claim. It is greater than 1, so that expired claims are deleted
/// faster than new claims are added.
const PRUNED: usize = 8;

/// Begins a request, or returns the result of an earlier request with the same key.
pub(crate) fn begin(
    ports: &Ports,
    caller: &Caller,
    key: &str,
    fingerprint: [u8; 32],
) -> Result<IdempotencyDecision, Error> {
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
        // A claim that the new claim replaces is older by at least the lease, so the timestamps of the two claims
        // differ.
        Ok(IdempotencyDecision::Begun(now))
    })
}

/// The caller's access to the space of the call. A caller without access can still make requests, because a memory
/// given by its id may be in another space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceAccess {
    Inside,
    Outside,
}

/// Returns the result of a claim; `None` if a new request may replace the claim. An answer for a caller with access is
/// returned again only to callers with access.
fn before(
    caller: &Caller,
    claim: Claim,
    fingerprint: [u8; 32],
    place: SpaceAccess,
    now: Timestamp,
) -> Result<Option<IdempotencyDecision>, Error> {
    let places = [SpaceAccess::Inside, SpaceAccess::Outside];
    let Some(then) = places.into_iter().find(|then| sealed(caller, fingerprint, *then) == claim.fingerprint)
    else {
        return Ok(Some(IdempotencyDecision::Differs));
    };
    match claim.answer {
        Some(_) if then == SpaceAccess::Inside && place == SpaceAccess::Outside => {
            Err(Error::NoSpace { name: caller.space.to_string() })
        }
        Some(answer) => Ok(Some(IdempotencyDecision::Answered(answer))),
        None => Ok((claim.at > now.plus_millis(-LEASE_MILLIS)).then_some(IdempotencyDecision::Running)),
    }
}

/// Stores the answer of a request. Does nothing if the request already has an answer, or has been begun again in the
/// meantime.
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

/// Removes the claim of a failed request, so that a client can retry. Does nothing if the request already has an
/// answer, or has been begun again in the meantime.
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

/// Returns a digest of a request and of the caller's access. The access is included because another token of the same
/// principal may get another answer.
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
