//! Converts the errors of a bucket to the errors for a caller.
//!
//! A service reports an error with an HTTP status, and with a code and a message in the body. The codes are those of
//! Amazon, which other services use too.

use std::error::Error;

use tulving_core::model::error::ObjectError;
use tulving_core::model::preview;

use super::wire::S3RequestError;

/// Maximum number of characters of a service's message that an error repeats.
const REPEATED: usize = 200;

/// An error as the service reported it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct S3ErrorReply {
    status: Option<u16>,
    code: String,
    message: String,
    /// True if the service did not answer.
    unanswered: bool,
}

impl S3ErrorReply {
    /// Finds the error of the service in an error of `object_store`.
    pub(super) fn by(error: &object_store::Error) -> Self {
        let mut last: &(dyn Error + 'static) = error;
        while let Some(next) = last.source() {
            last = next;
            if let Some(unanswered) = last.downcast_ref::<S3RequestError>() {
                return Self { message: unanswered.to_string(), unanswered: true, ..Self::default() };
            }
        }
        Self::read(&last.to_string())
    }

    /// Reads the status and the body from the message of `object_store`.
    fn read(text: &str) -> Self {
        let between = |from: &str, to: &str| {
            let (_, rest) = text.split_once(from)?;
            rest.split_once(to).map(|(found, _)| found)
        };
        let status = between("status code: ", " ").and_then(|status| status.parse().ok());
        let code = between("<Code>", "</Code>").unwrap_or_default().to_owned();
        let message = match between("<Message>", "</Message>") {
            Some(message) => message,
            None if status.is_some() => "",
            None => text,
        };
        Self { status, code, message: message.to_owned(), unanswered: false }
    }

    /// Formats the error as text, without secrets.
    fn words(&self, hide: impl Fn(&str) -> String) -> String {
        let status = self.status.map_or_else(String::new, |status| format!("it answered {status}"));
        let parts = [status.as_str(), &self.code, &self.message];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        preview::cut(&hide(&said.join(": ")), REPEATED)
    }
}

/// Returns the error for a caller; `None` if the only problem is a missing object.
pub(super) fn of(
    verb: &'static str,
    described: &S3ErrorReply,
    hide: impl Fn(&str) -> String,
) -> Option<ObjectError> {
    let why = described.words(hide);
    Some(match (described.code.as_str(), described.status) {
        _ if described.unanswered => ObjectError::Unreachable { why },
        ("NoSuchKey", _) => return None,
        ("NoSuchBucket" | "PermanentRedirect" | "AuthorizationHeaderMalformed" | "InvalidBucketName", _) => {
            ObjectError::Missing { why }
        }
        ("QuotaExceeded" | "XMinioStorageFull" | "XMinioAdminBucketQuotaExceeded", _) | (_, Some(507)) => {
            ObjectError::Full
        }
        ("ExpiredToken" | "InvalidToken", _) | (_, Some(401 | 403)) => ObjectError::Denied { verb, why },
        (_, Some(404)) => return None,
        (_, Some(301 | 307 | 308)) => ObjectError::Missing { why },
        (_, Some(408 | 429 | 500..)) | (_, None) => ObjectError::Unreachable { why },
        _ => ObjectError::Unusable { verb, why },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Option<ObjectError> {
        of("read", &S3ErrorReply::read(text), str::to_owned)
    }

    fn answer(status: &str, code: &str) -> String {
        let body = format!("<Error><Code>{code}</Code><Message>no</Message></Error>");
        format!("Server returned non-2xx status code: {status}: {body}")
    }

    #[test]
    fn what_a_service_says_is_told_apart() {
        for (status, code) in [("404 Not Found", "NoSuchKey"), ("404 Not Found", "")] {
            assert_eq!(heard(&answer(status, code)), None, "{status} {code}");
        }
        let denied = heard(&answer("403 Forbidden", "SignatureDoesNotMatch"));
        let why = "it answered 403: SignatureDoesNotMatch: no".to_owned();
        assert_eq!(denied, Some(ObjectError::Denied { verb: "read", why }));
        let missing = heard(&answer("404 Not Found", "NoSuchBucket"));
        assert!(matches!(missing, Some(ObjectError::Missing { .. })), "{missing:?}");
        assert_eq!(heard(&answer("507 Insufficient Storage", "XMinioStorageFull")), Some(ObjectError::Full));
        let busy = heard(&answer("503 Service Unavailable", "SlowDown")).expect("trouble");
        assert!(busy.retryable(), "{busy}");
        let wrong = heard(&answer("400 Bad Request", "InvalidRequest")).expect("trouble");
        assert!(!wrong.retryable(), "{wrong}");
    }

    #[test]
    fn what_is_not_known_is_repeated() {
        let heard = heard("Received redirect without LOCATION").expect("trouble");
        let why = "Received redirect without LOCATION".to_owned();
        assert_eq!(heard, ObjectError::Unreachable { why });
    }
}
