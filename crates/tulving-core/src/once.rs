//! Lets a request be done once, however often it is sent.
//!
//! Who serves requests asks [`begin`] before the verb, and says [`answer`] or [`give_up`] after it. What was begun is in the
//! store, so it holds across processes and restarts.

use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::answer::Once;
use crate::change::Write;
use crate::claim::Claim;
use crate::error::{Error, Field, Invalid};
use crate::limits;
use crate::preview;
use crate::request::Caller;
use crate::text::withhold::Sieve;
use crate::time::Timestamp;

/// How long a claim is known after it was last written.
const LIVES_MILLIS: i64 = 24 * 3_600_000;
/// After so long, one that was not answered is taken to be of a process that died. Longer than any request may take.
const LEASE_MILLIS: i64 = 2 * 60_000;
/// How many old claims go with each new one: more than come, so that they go faster than they came.
const PRUNED: usize = 8;

/// Begins a request, or says what became of it before.
pub(crate) fn begin(parts: &Parts, caller: &Caller, key: &str, fingerprint: [u8; 32]) -> Result<Once, Error> {
    let key = checked(key)?;
    Sieve::new(parts.secrecy.least()).refuse(Field::OnceKey, key)?;
    access::decide_again(|| {
        let now = parts.clock.now();
        let outlived = now.plus_millis(-LIVES_MILLIS);
        let place = match access::space_by_id(parts, caller, caller.space)? {
            Some(_) => Place::Inside,
            None => Place::Outside,
        };
        let known = parts.store.claim(caller.viewer.principal, key)?;
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
        parts.store.apply(&access::changes(caller, now, Vec::new(), writes))?;
        // A claim that this one replaces is older by its lease at least, so the moment tells them apart.
        Ok(Once::Begun(now))
    })
}

/// Whether the caller may enter the space of the call. Some may not and call all the same: a memory of another space, which
/// they name by its id, need not be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    Outside,
}

/// What became of a claim; `None` where it may be taken over. What was answered to somebody inside is told again only
/// inside.
fn before(
    caller: &Caller,
    claim: Claim,
    fingerprint: [u8; 32],
    place: Place,
    now: Timestamp,
) -> Result<Option<Once>, Error> {
    let places = [Place::Inside, Place::Outside];
    let Some(then) = places.into_iter().find(|then| sealed(caller, fingerprint, *then) == claim.fingerprint)
    else {
        return Ok(Some(Once::Differs));
    };
    match claim.answer {
        Some(_) if then == Place::Inside && place == Place::Outside => {
            Err(Error::NoSpace { name: caller.space.to_string() })
        }
        Some(answer) => Ok(Some(Once::Answered(answer))),
        None => Ok((claim.at > now.plus_millis(-LEASE_MILLIS)).then_some(Once::Running)),
    }
}

/// Keeps what was answered. Where the request was answered before, or begun anew by somebody else, this changes nothing.
pub(crate) fn answer(
    parts: &Parts,
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
    write(parts, caller, writes)
}

/// Lets a request that failed be tried anew. One that was answered stays so, and so does one that somebody else began.
pub(crate) fn give_up(parts: &Parts, caller: &Caller, key: &str, begun: Timestamp) -> Result<(), Error> {
    let key = checked(key)?.to_owned();
    write(parts, caller, vec![Write::DropClaim { key, begun }])
}

fn write(parts: &Parts, caller: &Caller, writes: Vec<Write>) -> Result<(), Error> {
    parts.store.apply(&access::changes(caller, parts.clock.now(), Vec::new(), writes))?;
    Ok(())
}

fn checked(key: &str) -> Result<&str, Invalid> {
    let fits = (1..=limits::ONCE_KEY_CHARS).contains(&key.len());
    if fits && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(key);
    }
    Err(Invalid::OnceKey { got: preview::short(key) })
}

/// The digest of a request together with what its caller may reach: with another token of the same principal it may have
/// another answer.
fn sealed(caller: &Caller, fingerprint: [u8; 32], place: Place) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(fingerprint);
    digest.update(caller.space.as_bytes());
    digest.update(caller.ceiling.as_str());
    for space in caller.viewer.within.iter().flatten() {
        digest.update(space.as_bytes());
    }
    // To be confined to nothing is not the same as not to be confined.
    digest.update([u8::from(caller.viewer.within.is_some())]);
    if place == Place::Outside {
        digest.update("outside");
    }
    digest.finalize().into()
}
