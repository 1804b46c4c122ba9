//! The methods that are answered, and what is wrong with a request for one of them or for another.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CompleteRequestParams, ErrorCode, GetMeta as _,
    GetPromptRequestParams, InitializeRequestParams, JsonObject, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tulving_core::preview;

/// Most characters of a reason. One that tells of a long text would repeat it.
const REASON_CHARS: usize = 300;

/// Says what is wrong with the params in a message, if that is.
type Check = fn(&str) -> Option<String>;

/// Every method that is answered, and how its params are looked at.
const METHODS: [(&str, Check); 11] = [
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

/// Those that a request which stands by itself, as all do since 2026-07-28, cannot ask for.
const WITH_SESSION: [&str; 2] = ["initialize", "ping"];

/// Why a request is not passed on, if it is not.
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

/// Why a request that is none of the methods' is wrong: by its params, or because there is no such method.
pub(super) fn wrong(method: &str, message: &str) -> ErrorData {
    match METHODS.iter().find(|(known, _)| *known == method) {
        Some((_, check)) => {
            let why = check(message).unwrap_or_else(|| "the method takes others".to_owned());
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
struct With<P> {
    #[serde(rename = "params")]
    _params: P,
}

#[derive(Deserialize)]
struct MayHave<P> {
    #[serde(rename = "params")]
    _params: Option<P>,
}

// An array would do for a struct, in the order of its fields; here it never does.
fn check<P: DeserializeOwned>(message: &str) -> Option<String> {
    mistake::<With<JsonObject>>(message).or_else(|| mistake::<With<P>>(message))
}

fn check_optional<P: DeserializeOwned>(message: &str) -> Option<String> {
    mistake::<MayHave<JsonObject>>(message).or_else(|| mistake::<MayHave<P>>(message))
}

fn mistake<T: DeserializeOwned>(message: &str) -> Option<String> {
    let mut message = serde_json::Deserializer::from_str(message);
    let error = serde_path_to_error::deserialize::<_, T>(&mut message).err()?;
    let place = error.path().to_string();
    let why = reason(error.inner());
    Some(if place == "." { why } else { format!("`{}`: {why}", preview::short(&place)) })
}

/// What was not expected, without the place in the text and the names that things have in here.
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
