//! Lets a request be done once, however often it is sent.
//!
//! Who serves requests asks [`begin`] before the verb, and says [`answer`] or [`give_up`] after it. What was begun is in the
//! store, so it holds across processes and restarts.

use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::answer::Once;
use crate::change::Write;
use crate::claim::Claim;
use crate::error::{Error, Invalid};
use crate::limits;
use crate::preview;
use crate::request::Caller;
use crate::time::Timestamp;

/// How long a claim is known after it was last written.
const LIVES_MILLIS: i64 = 24 * 3_600_000;
/// After so long, one that was not answered is taken to be of a process that died. Longer than any request may take.
const LEASE_MILLIS: i64 = 2 * 60_000;
/// How many old claims go with each new one: more than come, so that they go faster than they came.
const PRUNED: usize = 8;

/// Begins a request, or says what became of it before.
pub(crate) fn begin(parts: &Parts, caller: &Caller, key: &str, fingerprint: [u8; 32]) -> Result<Once, Error> {
    let fingerprint = sealed(caller, fingerprint);
    let key = checked(key)?;
    access::decide_again(|| {
        let now = parts.clock.now();
        let outlived = now.plus_millis(-LIVES_MILLIS);
        let known = parts.store.claim(caller.viewer.principal, key)?;
        let from = known.as_ref().map(|known| known.at);
        if let Some(claim) = known.filter(|known| known.at > outlived)
            && let Some(before) = before(claim, fingerprint, now)
        {
            return Ok(before);
        }
        let writes = vec![
            Write::Claim { key: key.to_owned(), fingerprint, from },
            Write::PruneClaims { before: outlived, most: PRUNED },
        ];
        parts.store.apply(&access::changes(caller, now, Vec::new(), writes))?;
        Ok(Once::Begun)
    })
}

/// What became of a claim; `None` where it may be taken over.
fn before(claim: Claim, fingerprint: [u8; 32], now: Timestamp) -> Option<Once> {
    if claim.fingerprint != fingerprint {
        return Some(Once::Differs);
    }
    match claim.answer {
        Some(answer) => Some(Once::Answered(answer)),
        None => (claim.at > now.plus_millis(-LEASE_MILLIS)).then_some(Once::Running),
    }
}

/// Keeps what was answered. Where the request was answered before, that answer stays.
pub(crate) fn answer(parts: &Parts, caller: &Caller, key: &str, answer: &str) -> Result<(), Error> {
    let answer = if answer.len() > limits::KEPT_ANSWER_BYTES { "" } else { answer };
    let key = checked(key)?.to_owned();
    write(parts, caller, Write::Answer { key, answer: answer.to_owned() })
}

/// Lets a request that failed be tried anew. One that was answered stays so.
pub(crate) fn give_up(parts: &Parts, caller: &Caller, key: &str) -> Result<(), Error> {
    let key = checked(key)?.to_owned();
    write(parts, caller, Write::DropClaim { key })
}

fn write(parts: &Parts, caller: &Caller, write: Write) -> Result<(), Error> {
    let set = access::changes(caller, parts.clock.now(), Vec::new(), vec![write]);
    parts.store.apply(&set)?;
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
fn sealed(caller: &Caller, fingerprint: [u8; 32]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(fingerprint);
    digest.update(caller.space.as_bytes());
    digest.update(caller.ceiling.as_str());
    for space in caller.viewer.within.iter().flatten() {
        digest.update(space.as_bytes());
    }
    // To be confined to nothing is not the same as not to be confined.
    digest.update([u8::from(caller.viewer.within.is_some())]);
    digest.finalize().into()
}
