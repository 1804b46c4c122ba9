//! Reads a multipart body: a file and its arguments.

use std::convert::Infallible;

use crate::api::Operation;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use data_encoding::BASE64;
use http_body_util::{BodyExt as _, Full};
use multer::{Field, Multipart};
use serde_json::{Map, Value, json};

use super::arguments;
use super::problem::Problem;

/// The name of the file argument.
const FILE: &str = "file";
/// Maximum number of parts in a body.
const PARTS: usize = 1_000;

/// Returns true if the request declares a multipart body.
pub(super) fn is_multipart(headers: &HeaderMap) -> bool {
    boundary(headers).is_some()
}

fn boundary(headers: &HeaderMap) -> Option<Result<String, Problem>> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("multipart/form-data").then(|| {
        multer::parse_boundary(kind).map_err(|_| {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_multipart", "Content-Type has no boundary")
        })
    })
}

/// Returns the arguments in the parts of a body, or `None` if the body has no parts. A file becomes the same value as in a
/// JSON body.
pub(super) async fn arguments(
    operation: &Operation,
    headers: &HeaderMap,
    bytes: &Bytes,
) -> Result<Option<Map<String, Value>>, Problem> {
    let Some(boundary) = boundary(headers) else { return Ok(None) };
    if !operation.takes_file() {
        let said = "this operation takes no file; the body must be JSON";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", said)
            .hinting("send it with Content-Type: application/json"));
    }
    let stream = Full::new(bytes.clone()).map_err(|never: Infallible| match never {});
    let mut parts = Multipart::new(stream.into_data_stream(), boundary?);
    let (mut said, mut count) = (Map::new(), 0);
    while let Some(part) = parts.next_field().await.map_err(|error| broken(&error))? {
        count += 1;
        if count > PARTS {
            let described = format!("the body has more than {PARTS} parts");
            return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_multipart", described));
        }
        let (name, value) = read(operation, part).await?;
        match (said.get_mut(&name), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (Some(_), _) => return Err(arguments::twice(&name)),
            (None, value) => drop(said.insert(name, value)),
        }
    }
    Ok(Some(said))
}

async fn read(operation: &Operation, part: Field<'_>) -> Result<(String, Value), Problem> {
    let Some(name) = part.name().map(str::to_owned) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_multipart", "a part has no name"));
    };
    if name == FILE {
        let file = part.file_name().map(str::to_owned);
        let bytes = part.bytes().await.map_err(|error| broken(&error))?;
        return Ok((name, json!({ "name": file, "base64": BASE64.encode(&bytes) })));
    }
    let bytes = part.bytes().await.map_err(|error| broken(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let said = format!("the part `{name}` is not UTF-8 at byte {}", error.valid_up_to());
        Problem::new(StatusCode::BAD_REQUEST, "invalid_utf8", said).about(&name)
    })?;
    let value = arguments::read(operation, &name, text)?;
    Ok((name, value))
}

fn broken(error: &multer::Error) -> Problem {
    let said = format!("cannot read the parts of the body: {error}");
    Problem::new(StatusCode::BAD_REQUEST, "invalid_multipart", said)
}
