//! What services say about their errors, fit to be repeated: short, on one line, and without what is nobody's business.

use serde_json::Value;

use crate::address::Address;
use crate::secret::Secret;

/// How many characters are repeated.
const REPEATED: usize = 120;

/// What others said, on one line, cut short and without the key and what of the address is not shown.
pub(crate) fn repeated(said: &str, address: &Address, key: Option<&Secret>) -> String {
    let said = key.map_or_else(|| said.to_owned(), |key| key.hide_in(said));
    let said = address.hide_in(&said);
    let said = said.split(|char: char| char.is_whitespace() || char.is_control());
    let said = said.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match said.char_indices().nth(REPEATED) {
        None => said,
        Some((end, _)) => format!("{}…", &said[..end]),
    }
}

/// The sentence in what a service says about its error, where it is one of the usual forms; else all of it.
pub(crate) fn complaint(body: &[u8]) -> String {
    let read: Option<Value> = serde_json::from_slice(body).ok();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let said = read.as_ref().and_then(|read| places.iter().find_map(|place| read.pointer(place)?.as_str()));
    said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned)
}
