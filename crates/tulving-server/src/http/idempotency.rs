//! `Idempotency-Key`: a repeated request is not carried out again, and returns the answer of the first request.

use crate::api::{Operation, OperationMethod};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tulving_core::Engine;
use tulving_core::model::request::Caller;

use super::operations::OperationResponse;
use super::problem::Problem;

const HEADER: &str = "idempotency-key";

/// A request that may be repeated.
pub(super) struct IdempotentRequest {
    key: String,
    fingerprint: [u8; 32],
}

/// Returns the key and fingerprint of a request that writes by POST and has an `Idempotency-Key`.
pub(super) fn asked(
    operation: &Operation,
    headers: &HeaderMap,
    caller: &Caller,
    said: &Map<String, Value>,
) -> Result<Option<IdempotentRequest>, Problem> {
    let mut given = headers.get_all(HEADER).iter();
    let Some(key) = given.next().filter(|_| operation.method == OperationMethod::Post && operation.writes)
    else {
        return Ok(None);
    };
    let refused = |said: &str| {
        Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about("Idempotency-Key"))
    };
    if operation.is_secret {
        return refused(
            "a token is shown only once and not stored, so this request cannot be repeated safely",
        );
    }
    let (Ok(key), None) = (key.to_str(), given.next()) else {
        return refused("the header must be given once, in visible ASCII characters");
    };
    let mut hash = Sha256::new();
    hash.update(operation.name);
    hash.update(caller.space.to_string());
    hash.update(serde_json::to_vec(said).expect("JSON is JSON"));
    Ok(Some(IdempotentRequest { key: key.to_owned(), fingerprint: hash.finalize().into() }))
}

/// Refuses the header on operations that do not support it.
pub(super) fn refuse(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.contains_key(HEADER) {
        true => {
            let said = "this operation does not support Idempotency-Key";
            Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about("Idempotency-Key"))
        }
        false => Ok(()),
    }
}

impl IdempotentRequest {
    /// Carries out the request, unless it was carried out before.
    pub(super) fn run(
        self,
        engine: &Engine,
        caller: &Caller,
        work: impl FnOnce(&Engine, &Caller) -> Result<OperationResponse, Problem>,
    ) -> Result<OperationResponse, Problem> {
        use tulving_core::model::answer::IdempotencyDecision as Known;
        let begun = match engine.begin_once(caller, &self.key, self.fingerprint)? {
            Known::Begun(begun) => begun,
            Known::Answered(sent) if sent.is_empty() => {
                let said = "the request was done before, but its answer was not stored";
                return Err(Problem::new(StatusCode::CONFLICT, "already_done", said).about("Idempotency-Key"));
            }
            Known::Answered(sent) => return serde_json::from_str(&sent).map_err(|_| Problem::fault()),
            Known::Running => {
                return Err(Problem::new(
                    StatusCode::CONFLICT,
                    "still_running",
                    "the same request is still running",
                )
                .about("Idempotency-Key")
                .hinting("try again in a moment"));
            }
            Known::Differs => {
                let said = "the key was used for another request";
                return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", said)
                    .about("Idempotency-Key")
                    .hinting("use a new key for each request"));
            }
        };
        let done = work(engine, caller);
        // If this write fails, or the process ends before it, the work has been done but its answer is not stored. A
        // repeated request is then carried out again after the claim has expired.
        let _ = match &done {
            Ok(sent) => {
                let sent = serde_json::to_string(sent).unwrap_or_default();
                engine.answer_once(caller, &self.key, begun, &sent)
            }
            Err(_) => engine.drop_once(caller, &self.key, begun),
        };
        done
    }
}
