//! Writes a conversation as a Markdown file, and reads it back.
//!
//! ```text
//! # Fix the JWT expiry bug
//!
//! 2 messages, archived at 2026-05-27T09:30:00.000000Z.
//!
//! ## User (2026-05-27T09:29:00.000000Z)
//!
//! Fix the JWT expiry bug
//!
//! ## Assistant: Max
//!
//! On it.
//! ```
//!
//! A line of a message that would be read as a heading of the second level starts with `\`, as in Markdown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::model::vocabulary::TurnRole;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ConversationMessage")]
pub struct TranscriptMessage {
    /// The speaker's role.
    pub role: TurnRole,
    /// The speaker's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The text.
    pub content: String,
    /// Time of the message: 2026-05-27T09:30:00Z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Conversation")]
pub struct Transcript {
    /// The title of the conversation.
    pub title: String,
    /// The messages, in order.
    pub messages: Vec<TranscriptMessage>,
}

/// The prefix of a message's heading.
const HEADING: &str = "## ";

/// Formats a conversation as a Markdown file. `note` is the text below the title.
pub fn write(transcript: &Transcript, note: &str) -> String {
    let mut text = format!("# {}\n\n{note}\n", transcript.title);
    for message in &transcript.messages {
        text.push('\n');
        text.push_str(HEADING);
        text.push_str(role(message.role));
        if let Some(speaker) = &message.speaker {
            text.push_str(": ");
            text.push_str(speaker);
        }
        if let Some(at) = message.at {
            text.push_str(&format!(" ({at})"));
        }
        text.push_str("\n\n");
        for line in message.content.split('\n') {
            if line.trim_start_matches('\\').starts_with(HEADING) {
                text.push('\\');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Parses the conversation in a file. Text before the first message is left out.
pub fn read(text: &str) -> Transcript {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().trim().to_owned();
    let mut messages: Vec<TranscriptMessage> = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(message) = heading(line) {
            messages.push(message);
        } else if let Some(message) = messages.last_mut() {
            let escaped = line.starts_with('\\') && line.trim_start_matches('\\').starts_with(HEADING);
            message.content.push_str(if escaped { &line[1..] } else { line });
            message.content.push('\n');
        }
    }
    for message in &mut messages {
        message.content = message.content.trim_matches('\n').to_owned();
    }
    Transcript { title, messages }
}

fn role(role: TurnRole) -> &'static str {
    match role {
        TurnRole::User => "User",
        TurnRole::Assistant => "Assistant",
        TurnRole::System => "System",
    }
}

/// Returns the message that a heading begins, with an empty text. Returns `None` if the line is not the heading of a
/// message.
fn heading(line: &str) -> Option<TranscriptMessage> {
    let rest = line.strip_prefix(HEADING)?.trim_end();
    let (rest, at) = match rest.rsplit_once(" (").and_then(|(rest, at)| Some((rest, at.strip_suffix(')')?))) {
        Some((before, at)) => match at.parse() {
            Ok(at) => (before, Some(at)),
            Err(_) => (rest, None),
        },
        None => (rest, None),
    };
    let (said, speaker) = match rest.split_once(": ") {
        Some((said, speaker)) => (said, Some(speaker.to_owned())),
        None => (rest, None),
    };
    let role =
        [TurnRole::User, TurnRole::Assistant, TurnRole::System].into_iter().find(|one| role(*one) == said)?;
    Some(TranscriptMessage { role, speaker, content: String::new(), at })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(role: TurnRole, speaker: Option<&str>, content: &str, at: Option<&str>) -> TranscriptMessage {
        let at = at.map(|at| at.parse().expect("a time"));
        TranscriptMessage { role, speaker: speaker.map(str::to_owned), content: content.to_owned(), at }
    }

    #[test]
    fn a_conversation_reads_back_as_it_was() {
        let messages = vec![
            message(
                TurnRole::User,
                None,
                "Fix the bug\n\n## User\n\\## twice\n# no",
                Some("2026-05-27T09:29:00Z"),
            ),
            message(TurnRole::Assistant, Some("Max (the other): one"), "On it — ```\n## System\n```", None),
            message(TurnRole::System, None, "done", Some("2026-05-27")),
        ];
        let transcript = Transcript { title: "A bug".to_owned(), messages };
        let text = write(&transcript, "3 messages.");
        assert!(
            text.starts_with(
                "# A bug\n\n3 messages.\n\n## User (2026-05-27T09:29:00.000000Z)\n\nFix the bug\n"
            ),
            "{text}"
        );
        assert_eq!(read(&text), transcript);
        assert_eq!(read(&text.replace('\n', "\r\n")), transcript);
        assert_eq!(read("nothing of the kind").messages, []);
    }

    proptest! {
        #[test]
        fn nothing_in_a_message_is_taken_for_another(content in "[#\\\\ Usera\\n]{1,40}") {
            let content = content.trim_matches('\n').to_owned();
            let messages = vec![TranscriptMessage { role: TurnRole::User, speaker: None, content, at: None }];
            let transcript = Transcript { title: "t".to_owned(), messages };
            prop_assert_eq!(read(&write(&transcript, "n")), transcript);
        }
    }
}
