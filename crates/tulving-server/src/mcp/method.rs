//! The supported methods, and the errors for wrong requests.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CompleteRequestParams, ErrorCode, GetMeta as _,
    GetPromptRequestParams, InitializeRequestParams, JsonObject, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tulving_core::model::preview;

/// Maximum length of a reason, in characters. Without a limit, a reason about a long text would repeat the whole text.
const REASON_CHARS: usize = 300;

/// Returns the mistake in the params of a message, if there is one.
type ParamsCheck = fn(&str) -> Option<String>;

/// Every supported method, and the check of its params.
const METHODS: [(&str, ParamsCheck); 11] = [
    ("completion/complete", check::<CompleteRequestParams>),
    ("initialize", check::<InitializeRequestParams>),
    ("ping", check_optional::<JsonObject>),
    ("prompts/get", check::<GetPromptRequestParams>),
    ("prompts/list", check_optional::<PaginatedRequestParams>),
    ("resources/list", check_optional::<PaginatedRequestParams>),
    ("resources/read", check::<ReadResourceRequestParams>),
    ("resources/templates/list", check_optional::<PaginatedRequestParams>),
    ("server/discover", check::<JsonObject>),
    ("tools/call", check::<CallToolRequestParams>),
    ("tools/list", check_optional::<PaginatedRequestParams>),
];

/// Methods of the revisions with sessions. Since revision 2026-07-28 all requests are independent and cannot use these
/// methods.
const WITH_SESSION: [&str; 2] = ["initialize", "ping"];

/// Returns the error for a request that must be refused, or `None` if the request is valid.
pub(super) fn refusal(request: &ClientRequest, message: &str) -> Option<ErrorData> {
    let method = request.method();
    let is_known = METHODS.iter().any(|(known, _)| *known == method);
    let revision = request.get_meta().protocol_version();
    let stands_alone = revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28);
    if !is_known || (stands_alone && WITH_SESSION.contains(&method)) {
        return Some(unknown(method));
    }
    matches!(request, ClientRequest::CustomRequest(_)).then(|| wrong(method, message))
}

/// Returns the error for a request that rmcp did not recognise: its parameters are wrong, or the method does not exist.
pub(super) fn wrong(method: &str, message: &str) -> ErrorData {
    match METHODS.iter().find(|(known, _)| *known == method) {
        Some((_, check)) => {
            let why = check(message).unwrap_or_else(|| "they do not match the method".to_owned());
            ErrorData::invalid_params(format!("the params of {method} are wrong: {why}"), None)
        }
        None => unknown(method),
    }
}

fn unknown(method: &str) -> ErrorData {
    let said = format!("there is no method `{}` here", preview::short(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said, None)
}

#[derive(Deserialize)]
struct RequiredParams<P> {
    #[serde(rename = "params")]
    _params: P,
}

#[derive(Deserialize)]
struct OptionalParams<P> {
    #[serde(rename = "params")]
    _params: Option<P>,
}

// Serde also accepts an array for a struct, in the order of the fields, but the parameters must be an object.
fn check<P: DeserializeOwned>(message: &str) -> Option<String> {
    mistake::<RequiredParams<JsonObject>>(message).or_else(|| mistake::<RequiredParams<P>>(message))
}

fn check_optional<P: DeserializeOwned>(message: &str) -> Option<String> {
    mistake::<OptionalParams<JsonObject>>(message).or_else(|| mistake::<OptionalParams<P>>(message))
}

fn mistake<T: DeserializeOwned>(message: &str) -> Option<String> {
    let mut message = serde_json::Deserializer::from_str(message);
    let error = serde_path_to_error::deserialize::<_, T>(&mut message).err()?;
    let place = error.path().to_string();
    let why = reason(error.inner());
    Some(if place == "." { why } else { format!("`{}`: {why}", preview::short(&place)) })
}

/// Returns the description of an error, without its position in the text and without the names of internal types.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let text = match text.rsplit_once(", expected ") {
        Some((got, wanted)) if wanted == "a map" || wanted.starts_with("struct ") => {
            format!("{got}, expected an object")
        }
        _ => text.to_owned(),
    };
    preview::cut(&text, REASON_CHARS)
}
