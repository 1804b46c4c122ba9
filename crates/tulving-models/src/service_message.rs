//! Messages of services about their errors, made safe to repeat: short, on one line, and without secrets.

use serde_json::Value;

use crate::address::ServiceUrl;
use crate::secret::ApiKey;

/// Maximum number of characters that are repeated.
const REPEATED: usize = 120;

/// Returns a message of a service on one line, shortened, without the key and the hidden parts of the address.
pub(crate) fn repeated(said: &str, address: &ServiceUrl, key: Option<&ApiKey>) -> String {
    let said = key.map_or_else(|| said.to_owned(), |key| key.hide_in(said));
    let said = address.hide_in(&said);
    let said = said.split(|char: char| char.is_whitespace() || char.is_control());
    let said = said.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match said.char_indices().nth(REPEATED) {
        None => said,
        Some((end, _)) => format!("{}…", &said[..end]),
    }
}

/// Returns the error message in the body of an answer if the body has one of the usual forms; else the whole body.
pub(crate) fn complaint(body: &[u8]) -> String {
    let read: Option<Value> = serde_json::from_slice(body).ok();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let said = read.as_ref().and_then(|read| places.iter().find_map(|place| read.pointer(place)?.as_str()));
    said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned)
}
