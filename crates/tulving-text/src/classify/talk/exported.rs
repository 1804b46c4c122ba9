//! Conversations as JSON: the messages that `archive_conversation` takes.
//!
//! ```json
//! {"title": "Fix the expiry", "messages": [{"role": "user", "content": "Fix it"}, {"role": "assistant", "content": "On it."}]}
//! ```
//!
//! The list alone, without the object around it, is also valid. A message has a `role` (user, assistant, system) and a
//! `content`, and may have a `speaker` and a time `at`. JSON of any other form is not a conversation.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::SpeakerTurn;
use crate::vocabulary::TurnRole;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportMessage<'a> {
    role: TurnRole,
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    speaker: Option<Cow<'a, str>>,
    #[serde(default, rename = "at")]
    _at: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct ConversationExport<'a> {
    #[serde(borrow)]
    messages: Vec<ExportMessage<'a>>,
}

/// Returns the messages of an exported conversation. Returns `None` if the text is not a conversation or has no
/// messages.
pub(super) fn messages(json: &str) -> Option<Vec<SpeakerTurn>> {
    let messages = match json.trim_start().as_bytes().first()? {
        b'[' => serde_json::from_str::<Vec<ExportMessage<'_>>>(json).ok()?,
        b'{' => serde_json::from_str::<ConversationExport<'_>>(json).ok()?.messages,
        _ => return None,
    };
    let turn = |message: ExportMessage<'_>| {
        let speaker = message.speaker.map_or_else(|| message.role.as_str().to_owned(), Cow::into_owned);
        SpeakerTurn { speaker: Some(speaker), text: message.content.into_owned() }
    };
    (!messages.is_empty()).then(|| messages.into_iter().map(turn).collect())
}
