//! Chats as JSON: each message becomes a memory of its conversation, in the order of the messages.
//!
//! A file contains `{"conversation": "…", "messages": [{"role", "speaker", "content", "at", "id"}]}`, a list of such
//! objects, or one message per line.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tulving_core::model::foreign::{ForeignCollection, ForeignMemory, ForeignTimes};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{ContentType, System};
use tulving_core::{model::limits, model::preview};

use super::json::{self, ForeignJson, ForeignJsonObject};
use super::words;

fn is_message(value: &Value) -> bool {
    let says = |object: &ForeignJsonObject| {
        said(object).is_some()
            && ["role", "speaker"].iter().any(|field| object.get(*field).is_some_and(Value::is_string))
    };
    value.as_object().is_some_and(says)
}

/// Returns the text of a message: its content, or the text parts in its content.
fn said(message: &ForeignJsonObject) -> Option<Cow<'_, str>> {
    match message.get("content")? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            Some(Cow::Owned(texts.collect::<Vec<_>>().join("\n\n")))
        }
        _ => None,
    }
}

fn messages(object: &ForeignJsonObject) -> Option<&Vec<Value>> {
    object.get("messages").and_then(Value::as_array)
}

fn is_conversation(value: &Value) -> bool {
    let talks = |list: &Vec<Value>| list.iter().any(is_message);
    value.as_object().and_then(messages).is_some_and(talks)
}

pub(super) fn is(json: &ForeignJson) -> bool {
    match json {
        ForeignJson::Object(object) => messages(object).is_some_and(|list| list.iter().any(is_message)),
        json => {
            let first = json::elements(json).into_iter().find_map(|(_, value)| value.ok());
            first.is_some_and(|value| is_message(value) || is_conversation(value))
        }
    }
}

/// A conversation: its name, and its messages with their positions in the file.
type ChatConversation<'a> = (String, Vec<(String, &'a ForeignJsonObject)>);

/// All conversations, in the order of the file.
#[derive(Default)]
struct ChatConversationList<'a> {
    all: Vec<ChatConversation<'a>>,
    /// The index of the first conversation with each name.
    first: HashMap<String, usize>,
}

impl<'a> ChatConversationList<'a> {
    fn add(&mut self, name: String, messages: Vec<(String, &'a ForeignJsonObject)>) {
        self.first.entry(name.clone()).or_insert(self.all.len());
        self.all.push((name, messages));
    }

    fn add_message(&mut self, name: String, place: String, message: &'a ForeignJsonObject) {
        match self.first.get(&name) {
            Some(at) => self.all[*at].1.push((place, message)),
            None => self.add(name, vec![(place, message)]),
        }
    }
}

/// Reads a chat. A conversation without a name gets the name `unnamed`.
pub(super) fn read(json: &ForeignJson, unnamed: &str, note: &str) -> Option<ForeignCollection> {
    let mut all = ForeignCollection::new(System::Chat);
    let mut talks = ChatConversationList::default();
    match json {
        ForeignJson::Object(object) => gather(object, unnamed, &mut talks, &mut all)?,
        json => {
            for (place, value) in json::elements(json) {
                one(place, value, unnamed, &mut talks, &mut all);
            }
        }
    }
    for (conversation, messages) in talks.all {
        read_talk(&conversation, &messages, note, &mut all);
    }
    Some(all)
}

/// Reads an element, which is a message or a conversation.
fn one<'a>(
    place: String,
    value: Result<&'a Value, &'a str>,
    unnamed: &str,
    talks: &mut ChatConversationList<'a>,
    all: &mut ForeignCollection,
) {
    let object = match json::object(value) {
        Ok(object) => object,
        Err(why) => return all.skip(place, why),
    };
    if messages(object).is_some() {
        gather(object, unnamed, talks, all);
        return;
    }
    let name = named(object).unwrap_or_else(|| unnamed.to_owned());
    talks.add_message(name, place, object);
}

/// Returns the name of a conversation.
fn named(object: &ForeignJsonObject) -> Option<String> {
    let name = json::written(object, "conversation").or_else(|| json::written(object, "title"))?;
    words::line(&name, limits::NOTE_CHARS)
}

fn gather<'a>(
    object: &'a ForeignJsonObject,
    unnamed: &str,
    talks: &mut ChatConversationList<'a>,
    all: &mut ForeignCollection,
) -> Option<()> {
    let name = named(object).unwrap_or_else(|| unnamed.to_owned());
    let mut read = Vec::new();
    for (place, value) in json::numbered(messages(object)?, "message") {
        match json::object(value) {
            Ok(message) => read.push((place, message)),
            Err(why) => all.skip(format!("{place} of {}", preview::short(&name)), why),
        }
    }
    talks.add(name, read);
    Some(())
}

fn read_talk(
    conversation: &str,
    messages: &[(String, &ForeignJsonObject)],
    note: &str,
    all: &mut ForeignCollection,
) {
    let times: Vec<Option<Timestamp>> =
        messages.iter().map(|(_, message)| json::time(message, "at")).collect();
    let places = places(&times);
    let mut same: HashMap<String, usize> = HashMap::new();
    for (((place, message), at), position) in messages.iter().zip(times).zip(places) {
        let what = || format!("{place} of {}", preview::short(conversation));
        let Some(content) = said(message) else {
            all.skip(what(), "it has no content");
            continue;
        };
        if content.trim().is_empty() {
            // A tool call has no text.
            continue;
        }
        let speaker = json::text(message, "speaker").or_else(|| json::text(message, "role"));
        let speaker = speaker.and_then(|speaker| words::line(speaker, limits::NOTE_CHARS));
        let name = match json::written(message, "id") {
            Some(id) => format!("{conversation}\u{0}id\u{0}{id}"),
            None => {
                let made = at.map(|at| at.to_string()).unwrap_or_default();
                let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(content.as_bytes()));
                let name = format!(
                    "{conversation}\u{0}{made}\u{0}{}\u{0}{hash}",
                    speaker.as_deref().unwrap_or_default()
                );
                let before = same.entry(name.clone()).or_default();
                *before += 1;
                format!("{name}\u{0}{before}")
            }
        };
        let request = SaveRequest {
            content_type: Some(ContentType::Chat),
            conversation: Some(conversation.to_owned()),
            position: Some(position),
            speaker,
            occurred_at: at,
            source_note: Some(note.to_owned()),
            ..SaveRequest::new(content.into_owned())
        };
        all.memories.push(ForeignMemory {
            label: what(),
            times: ForeignTimes { created_at: at, ..ForeignTimes::default() },
            ..ForeignMemory::new(name, request)
        });
    }
}

/// Returns the positions of the messages. If the messages have ascending times, the positions are these times in
/// microseconds, so that the messages of a later export that begins later keep their order. Otherwise they are the
/// positions in the file. A message without a time gets the time of the previous message.
fn places(times: &[Option<Timestamp>]) -> Vec<i64> {
    let mut last = times.iter().flatten().next().copied();
    let described = |at: &Option<Timestamp>| {
        last = at.or(last);
        last.map(Timestamp::as_micros)
    };
    let known: Option<Vec<i64>> = times.iter().map(described).collect();
    match known {
        Some(micros) if micros.is_sorted() => {
            let mut last = i64::MIN;
            let next = |at: i64| {
                last = at.max(last.saturating_add(1));
                last
            };
            micros.into_iter().map(next).collect()
        }
        _ => (1..).take(times.len()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_order_of_their_times_or_of_the_file() {
        let at = |micros: &[i64]| {
            micros.iter().map(|micros| Some(Timestamp::from_micros(*micros))).collect::<Vec<_>>()
        };
        assert_eq!(places(&at(&[5, 5, 5, 6, 9])), [5, 6, 7, 8, 9]);
        assert_eq!(places(&at(&[5, 4])), [1, 2]);
        let some = |micros: i64| Some(Timestamp::from_micros(micros));
        assert_eq!(places(&[None, some(5), None, None, some(6), some(20)]), [5, 6, 7, 8, 9, 20]);
        assert_eq!(places(&[None, None]), [1, 2]);
        assert_eq!(places(&[]), [0_i64; 0]);
    }
}
