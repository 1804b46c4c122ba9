//! Memax: memories in the form that its service and its command line return.
//!
//! A file contains `{"memories": […]}`, `{"data": […]}`, `{"data": {"memories": […]}}`, a list, or one memory per line.
//! If a file is only one page of several, the import notes this.

use serde_json::Value;
use sha2::{Digest, Sha256};
use tulving_core::model::foreign::{ForeignCollection, ForeignMemory, ForeignStatus, ForeignTimes};
use tulving_core::model::id::{MemoryId, MemoryRef};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{ContentType, State, System};
use tulving_core::{model::limits, model::preview};

use super::json::{self, ForeignJson, ForeignJsonElement, ForeignJsonObject};
use super::words;

/// Fields that only memories of Memax have.
const TELLING: &[&str] = &[
    "hub_id",
    "owner_id",
    "content_hash",
    "kind",
    "stability",
    "boundary",
    "retrieval_weight",
    "source_agent",
];

/// Returns true if the value is a memory as Memax writes it.
fn is_memory(value: &Value) -> bool {
    let fits = |object: &ForeignJsonObject| {
        object.get("content").is_some_and(Value::is_string)
            && TELLING.iter().any(|field| object.contains_key(*field))
    };
    value.as_object().is_some_and(fits)
}

/// Returns the list of memories inside an answer.
fn wrapped(object: &ForeignJsonObject) -> Option<&Vec<Value>> {
    object.get("memories").and_then(Value::as_array).or_else(|| match object.get("data")? {
        Value::Array(list) => Some(list),
        Value::Object(data) => data.get("memories").and_then(Value::as_array),
        _ => None,
    })
}

pub(super) fn is(json: &ForeignJson) -> bool {
    match json {
        // An empty export is accepted too.
        ForeignJson::Object(object) => wrapped(object).is_some_and(|list| list.first().is_none_or(is_memory)),
        json => json::elements(json).iter().find_map(|(_, value)| value.ok()).is_some_and(is_memory),
    }
}

pub(super) fn read(json: &ForeignJson, note: &str) -> Option<ForeignCollection> {
    let mut all = ForeignCollection::new(System::Memax);
    let elements: Vec<ForeignJsonElement<'_>> = match json {
        ForeignJson::Object(object) => {
            all.notes.extend(one_page(object));
            json::numbered(wrapped(object)?, "element")
        }
        json => json::elements(json),
    };
    for (place, value) in elements {
        match json::object(value) {
            Err(why) => all.skip(place, why),
            Ok(object) => match memory(object, note) {
                Ok(memory) => all.memories.push(memory),
                Err(why) => {
                    let what = json::written(object, "id").map_or(place, |id| preview::short(&id));
                    all.skip(what, why);
                }
            },
        }
    }
    Some(all)
}

/// Returns a note if the answer is one page of several, so that the file does not contain all memories.
fn one_page(object: &ForeignJsonObject) -> Option<String> {
    let page = object.get("data").and_then(Value::as_object).unwrap_or(object);
    let more = page.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    more.then(|| {
        "this is one page of several; `memax list --all --format json` gives all memories".to_owned()
    })
}

fn memory(object: &ForeignJsonObject, note: &str) -> Result<ForeignMemory, &'static str> {
    let content = object.get("content").and_then(Value::as_str).ok_or("it has no content")?;
    let line = |field: &str, limit| json::text(object, field).and_then(|text| words::line(text, limit));
    let content_type = match json::word(object, "content_type") {
        // The memory contains the text of a file. The file itself is not in an export.
        Some(ContentType::File) => Some(ContentType::Text),
        known => known,
    };
    let request = SaveRequest {
        content_type,
        key: line("key", limits::KEY_CHARS),
        title: line("title", limits::TITLE_CHARS),
        summary: line("summary", limits::SUMMARY_CHARS),
        tags: json::texts(object, "tags").map(words::labels),
        memory_type: json::word(object, "type"),
        kind: json::word(object, "kind"),
        stability: json::word(object, "stability"),
        importance: object.get("importance").and_then(Value::as_f64).and_then(words::unit),
        boundary: json::word(object, "boundary"),
        author: json::word(object, "author"),
        source_note: line("source_note", limits::NOTE_CHARS)
            .or_else(|| line("hint", limits::NOTE_CHARS))
            .or_else(|| Some(note.to_owned())),
        assisted_by_agent: line("assisted_by_agent", limits::NOTE_CHARS),
        source_path: json::text(object, "source_path").map(str::to_owned),
        occurred_at: json::time(object, "occurred_at"),
        pinned: object.get("pinned").and_then(Value::as_bool).unwrap_or(false),
        ..SaveRequest::new(content)
    };
    let stands = match json::word(object, "state") {
        Some(State::Archived) => ForeignStatus::Archived,
        Some(State::Cooling) => ForeignStatus::Cooling,
        _ => ForeignStatus::Active,
    };
    let id = json::written(object, "id");
    let name = id.clone().unwrap_or_else(|| {
        format!("content {}", data_encoding::HEXLOWER.encode(&Sha256::digest(content.as_bytes())))
    });
    let label = id.as_deref().or(request.title.as_deref()).unwrap_or(content);
    Ok(ForeignMemory {
        label: preview::short(label),
        id: id.as_deref().and_then(memory_id),
        agent: line("source_agent", limits::NOTE_CHARS),
        times: ForeignTimes {
            created_at: json::time(object, "created_at"),
            updated_at: json::time(object, "updated_at"),
            accessed_at: json::time(object, "accessed_at"),
            access_count: words::count(object.get("access_count").and_then(Value::as_i64)),
        },
        stands,
        ..ForeignMemory::new(name, request)
    })
}

/// Returns the id of a memory as Tulving's id if it is a UUID, with or without the prefix `mem_`.
fn memory_id(id: &str) -> Option<MemoryId> {
    match id.parse() {
        Ok(MemoryRef::Id(id)) => Some(id),
        _ => None,
    }
}
