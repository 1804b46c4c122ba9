//! Archives a conversation when a session compacts its context: writes a file that people can read, and a memory that recall
//! finds.
//!
//! Both are written or neither, even if the process is killed in between. A pending file names its memory, and the next
//! process completes or removes the pending file. Existing files are not overwritten.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_text::terms;

use crate::model::answer::{UnreadableFile, Warning, WarningMessage, with_messages};
use crate::model::error::{Error, Field, FileError, Invalid};
use crate::model::file::{FilePath, Folder, PendingFile};
use crate::model::id::{MemoryId, MemoryNumber};
use crate::model::limits;
use crate::model::preview;
use crate::model::request::{Caller, Filter, ForgottenFilter, SaveRequest};
use crate::model::space::Viewer;
use crate::model::time::Timestamp;
use crate::model::turn::{TURNS_KEPT, Turn};
use crate::model::vocabulary::{AuditAct, ContentType, TurnRole};
use crate::text::normalize;
use crate::text::redact::Redactor;
use crate::verbs::access::{self, Ports};
use crate::verbs::conversation;
use crate::verbs::save;

use super::day::Day;
use super::transcript::{self, Transcript, TranscriptMessage};
use super::{below, readable, unlisted};

pub(crate) use crate::model::file::CONVERSATIONS as FOLDER;

/// Maximum number of characters of a title in a file name.
const SLUG_CHARS: usize = 50;
/// Maximum number of conversations with the same name on one day.
const SAME_NAMES: usize = 10_000;
/// Maximum number of characters of a message in a summary, and maximum number of topic words.
const QUOTED: usize = 300;
const WORDS: usize = 12;

/// A conversation to archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewConversation")]
pub struct ConversationArchiveRequest {
    /// The messages, in order (default: the turns in the log).
    pub messages: Option<Vec<TranscriptMessage>>,
    /// The title (default: the beginning of the conversation).
    pub title: Option<String>,
    /// A summary, by which recall finds it.
    pub summary: Option<String>,
    /// Only turns of this channel of the log.
    pub channel: Option<String>,
}

/// The result of an archive request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ArchivedConversation")]
pub struct ConversationArchiveReceipt {
    /// The path of the file below the workspace.
    pub path: String,
    /// The name of the file in the folder of the space.
    pub name: String,
    /// The key of the memory.
    pub key: String,
    /// The memory.
    pub id: MemoryId,
    /// The number of the memory.
    pub number: Option<MemoryNumber>,
    /// The text of the memory.
    pub summary: String,
    /// The number of messages in the file.
    pub messages: usize,
    /// True if the messages came from the log.
    pub from_log: bool,
    /// Parts of the text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// An archived conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ConversationInfo")]
pub struct ConversationFile {
    /// The name, without folder and extension.
    pub name: String,
    /// The path below the workspace.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change.
    pub modified_at: Timestamp,
}

/// The archived conversations of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ConversationList")]
pub struct ConversationFileList {
    /// The conversations, newest first.
    pub conversations: Vec<ConversationFile>,
    /// Files that are not listed, each with the reason.
    pub unread: Vec<UnreadableFile>,
}

/// Archives a conversation.
pub(crate) fn archive(
    ports: &Ports,
    caller: &Caller,
    request: ConversationArchiveRequest,
) -> Result<ConversationArchiveReceipt, Error> {
    let (space, right) = access::file_workplace(ports, caller)?;
    let from_log = request.messages.is_none();
    let messages = match request.messages {
        Some(messages) => messages.iter().map(checked).collect::<Result<Vec<_>, _>>()?,
        None => logged(ports, caller, request.channel)?,
    };
    bound(&messages)?;
    let mut redactor = ports.redactor(&space);
    let messages = public(messages, &mut redactor)?;
    let mut title = save::intake::given(Field::Title, request.title.as_deref(), limits::TITLE_CHARS)?;
    save::intake::withhold_line(&mut redactor, Field::Title, &mut title, limits::TITLE_CHARS)?;
    let title = title.unwrap_or_else(|| opening(&messages));
    let given = save::intake::given_text(Field::Summary, request.summary.as_deref(), limits::SUMMARY_CHARS)?;
    let given = given.map(|given| redactor.content(Field::Summary, given)).transpose()?;
    let warnings = redactor.withheld().warnings();
    let now = ports.clock.now();
    let transcript = Transcript { title, messages };
    let text = transcript::write(&transcript, &note(&transcript, from_log, now));
    let (folder, day) = (Folder::of(&space), Day::of(now));
    let slug = slug(&transcript.title);
    for count in 1..=SAME_NAMES {
        let name = if count == 1 { format!("{day}-{slug}") } else { format!("{day}-{slug}-{count}") };
        let path = path(&folder, &name);
        let key = format!("conversation-{name}");
        if is_taken(ports, caller, &key)? {
            continue;
        }
        let pending_file = PendingFile { path, memory: MemoryId::mint(now) };
        match ports.files.add_pending_file(&pending_file, text.as_bytes()) {
            Err(FileError::Exists { .. }) => continue,
            done => done?,
        }
        let summary = summary(&transcript, given.as_deref(), pending_file.path.name());
        let request = SaveRequest {
            key: Some(key.clone()),
            title: Some(transcript.title.clone()),
            content_type: Some(ContentType::Transcript),
            // The memory has the same audience as the file.
            boundary: Some(space.default_boundary()),
            ..SaveRequest::new(summary.as_str())
        };
        let saved = save::save_as(ports, caller, pending_file.memory, request);
        // If this fails now, the next process does it. Finally both the file and the memory exist, or neither.
        let _ = settle(ports, &pending_file);
        let receipt = match saved {
            // Another process has already used this name.
            Err(Error::Held { .. }) => continue,
            saved => saved?,
        };
        // The file and the memory exist already. If this entry cannot be written, only the audit is incomplete.
        let _ = super::audit(
            ports,
            caller,
            (&space, right),
            AuditAct::FileWritten,
            pending_file.path.to_string(),
        );
        return Ok(ConversationArchiveReceipt {
            path: pending_file.path.to_string(),
            name,
            key,
            id: receipt.memory.id,
            number: receipt.memory.number,
            summary,
            messages: transcript.messages.len(),
            from_log,
            warnings,
        });
    }
    Err(FileError::Exists { name: format!("{FOLDER}/{day}-{slug}.md") }.into())
}

/// Lists the archived conversations of the caller's space, newest first.
pub(crate) fn list(ports: &Ports, caller: &Caller) -> Result<ConversationFileList, Error> {
    let Some(folder) = readable(ports, caller)? else { return Ok(ConversationFileList::default()) };
    settle_within(ports, &folder)?;
    let mut listed = ports.files.list(&folder, FOLDER, limits::FILES_LISTED)?;
    let unread = unlisted(&mut listed, &folder, FOLDER);
    let mut conversations: Vec<ConversationFile> = listed
        .files
        .iter()
        .filter_map(|file| {
            let name = below(file.path.name(), FOLDER)?.strip_suffix(".md")?;
            Some(ConversationFile {
                name: name.to_owned(),
                path: file.path.to_string(),
                size: file.stamp.size,
                modified_at: file.stamp.modified_at(),
            })
        })
        .collect();
    conversations.sort_by(|a, b| (b.modified_at, &b.name).cmp(&(a.modified_at, &a.name)));
    Ok(ConversationFileList { conversations, unread })
}

/// Reads an archived conversation from its file. `name` is its name from [`list`], its path in the folder, or the key of its
/// memory.
pub(crate) fn get(ports: &Ports, caller: &Caller, name: &str) -> Result<Transcript, Error> {
    let absent = || FileError::Absent { name: preview::short(name) };
    let folder = readable(ports, caller)?.ok_or_else(absent)?;
    settle_within(ports, &folder)?;
    let bare = name.strip_prefix("conversation-").unwrap_or(name);
    let bare = below(bare, FOLDER).unwrap_or(bare);
    let bare = bare.strip_suffix(".md").unwrap_or(bare);
    let path = FilePath::new(&folder, &format!("{FOLDER}/{bare}.md"))?;
    let found = ports.files.read(&path, limits::CONVERSATION_BYTES as u64 * 2)?;
    let found = found.ok_or_else(absent)?;
    Ok(transcript::read(&super::text(&found.bytes)))
}

/// Settles the files in a folder that a killed process left pending.
fn settle_within(ports: &Ports, folder: &Folder) -> Result<(), Error> {
    let pending_files = ports.files.pending_files()?;
    pending_files
        .iter()
        .filter(|pending_file| pending_file.path.folder() == folder)
        .try_for_each(|pending_file| settle(ports, pending_file))
}

/// Settles a pending file: keeps the file if its memory was saved, and otherwise removes it.
pub(crate) fn settle(ports: &Ports, pending_file: &PendingFile) -> Result<(), Error> {
    let entries = ports.store.entries(&[pending_file.memory], None)?;
    Ok(ports.files.settle(pending_file, !entries.is_empty())?)
}

fn path(folder: &Folder, name: &str) -> FilePath {
    FilePath::new(folder, &format!("{FOLDER}/{name}.md")).expect("slugs are fit")
}

fn is_taken(ports: &Ports, caller: &Caller, key: &str) -> Result<bool, Error> {
    let viewer = Viewer { within: Some(vec![caller.space]), ..caller.viewer.clone() };
    let filter = Filter {
        space: Some(caller.space),
        key: Some(key.to_owned()),
        forgotten: ForgottenFilter::Without,
        ..Filter::default()
    };
    Ok(ports.store.count(&viewer, &filter)? > 0)
}

/// Returns the turns that the log still contains.
fn logged(ports: &Ports, caller: &Caller, channel: Option<String>) -> Result<Vec<TranscriptMessage>, Error> {
    let turns = conversation::whole_log(ports, caller, channel, limits::CONVERSATION_BYTES)?;
    let message = |turn: Turn| TranscriptMessage {
        role: turn.role,
        speaker: turn.speaker,
        content: turn.content,
        at: Some(turn.at),
    };
    Ok(turns.into_iter().map(message).collect())
}

/// Cleans a message for storage: replaces control codes, which text from a terminal may contain, with spaces, and converts
/// line breaks to those of a file.
fn checked(message: &TranscriptMessage) -> Result<TranscriptMessage, Invalid> {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    let content: String = message.content.chars().map(shown).collect();
    let speaker = save::intake::given(Field::Speaker, message.speaker.as_deref(), limits::NOTE_CHARS)?;
    Ok(TranscriptMessage {
        role: message.role,
        speaker,
        content: normalize::unified(&content).trim_matches('\n').to_owned(),
        at: message.at,
    })
}

/// Removes text that must not be stored from the messages. A message that is entirely private is left out.
fn public(
    messages: Vec<TranscriptMessage>,
    redactor: &mut Redactor,
) -> Result<Vec<TranscriptMessage>, Invalid> {
    let mut public = Vec::with_capacity(messages.len());
    for mut message in messages {
        let left = redactor.pass(Field::Conversation, &message.content)?;
        let empty = left.trim().is_empty() && !message.content.trim().is_empty();
        message.content = left.into_owned();
        save::intake::withhold_line(redactor, Field::Speaker, &mut message.speaker, limits::NOTE_CHARS)?;
        public.extend((!empty).then_some(message));
    }
    if public.is_empty() { Err(Invalid::OnlyPrivate { field: Field::Conversation }) } else { Ok(public) }
}

fn bound(messages: &[TranscriptMessage]) -> Result<(), Invalid> {
    let (got, limit) = (messages.len(), limits::MESSAGES);
    if got == 0 {
        return Err(Invalid::Empty { field: Field::Conversation });
    }
    if got > limit {
        return Err(Invalid::TooMany { field: Field::Conversation, got, limit });
    }
    let (got, limit) =
        (messages.iter().map(|message| message.content.len()).sum(), limits::CONVERSATION_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::Conversation, got, limit, unit: "bytes" });
    }
    Ok(())
}

/// Makes a title from the first message.
fn opening(messages: &[TranscriptMessage]) -> String {
    let said = first(messages).map(|message| preview::short(&message.content)).unwrap_or_default();
    if said.is_empty() { "Conversation".to_owned() } else { said }
}

/// Returns the first message of a user, or else the first message.
fn first(messages: &[TranscriptMessage]) -> Option<&TranscriptMessage> {
    messages.iter().find(|message| message.role == TurnRole::User).or(messages.first())
}

/// Returns the text below the title in the file.
fn note(transcript: &Transcript, from_log: bool, now: Timestamp) -> String {
    let whole = if from_log {
        format!(" From the log, which keeps the last {TURNS_KEPT} turns.")
    } else {
        String::new()
    };
    format!("{}, archived at {now}.{whole}", counted(transcript.messages.len()))
}

fn counted(messages: usize) -> String {
    if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") }
}

/// Returns the text of the memory: the outcome of the conversation, and the path of the file.
fn summary(transcript: &Transcript, given: Option<&str>, name: &str) -> String {
    let said = given.map_or_else(|| by_rules(transcript), str::to_owned);
    format!("{said}\n\nThe whole conversation ({}) is in {name}", counted(transcript.messages.len()))
}

/// Builds a summary without a model: the first and the last message, and the topic words.
fn by_rules(transcript: &Transcript) -> String {
    let quoted = |message: &TranscriptMessage| preview::cut(&message.content, QUOTED);
    let messages = &transcript.messages;
    let mut lines = vec![transcript.title.clone()];
    let began = first(messages).map(quoted).filter(|began| *began != transcript.title);
    lines.extend(began.map(|began| format!("It began with: {began}")));
    let last = messages.last().filter(|_| messages.len() > 1);
    lines.extend(last.map(|last| format!("It ended with: {}", quoted(last))));
    let words = words(messages);
    if !words.is_empty() {
        lines.push(format!("It was about: {}", words.join(", ")));
    }
    lines.join("\n")
}

/// Returns the most frequent words, each in the form of its first occurrence.
fn words(messages: &[TranscriptMessage]) -> Vec<String> {
    let mut counts: HashMap<String, (usize, usize, String)> = HashMap::new();
    let mut place = 0;
    for message in messages {
        let spoken = message.content.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let says = |word: &&str| {
            word.chars().count() > 2
                && word.chars().any(char::is_alphabetic)
                && !terms::is_stop_word(&word.to_lowercase())
        };
        for word in spoken.filter(says) {
            place += 1;
            if let Some(term) = terms::terms(word).into_iter().next() {
                counts.entry(term).or_insert((0, place, word.to_owned())).0 += 1;
            }
        }
    }
    let mut words: Vec<(usize, usize, String)> = counts.into_values().collect();
    words.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    words.into_iter().take(WORDS).map(|(_, _, word)| word).collect()
}

/// Converts a title into a part of a file name: lower-case letters and digits, with `-` between words.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let gap = usize::from(!slug.is_empty());
        if slug.chars().count() + gap + word.chars().count() > SLUG_CHARS {
            if slug.is_empty() {
                slug = word.chars().take(SLUG_CHARS).collect();
            }
            break;
        }
        slug.extend((gap > 0).then_some('-'));
        slug.push_str(&word);
    }
    if slug.is_empty() { "conversation".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_part_of_a_name() {
        for (title, expected) in [
            ("Fix the JWT expiry bug!", "fix-the-jwt-expiry-bug"),
            ("../../etc/passwd", "etc-passwd"),
            ("Über Köln — später", "über-köln-später"),
            ("???", "conversation"),
            ("日本語の長い題名", "日本語の長い題名"),
        ] {
            assert_eq!(slug(title), expected);
        }
        assert!(slug(&"word ".repeat(40)).chars().count() <= SLUG_CHARS);
        assert!(FilePath::new(&Folder::of(&space()), &slug(&"x".repeat(300))).is_ok());
    }

    fn space() -> crate::model::space::Space {
        crate::model::space::Space {
            id: crate::model::id::SpaceId::DEFAULT,
            team: crate::model::id::TeamId::LOCAL,
            name: "default".to_owned(),
            kind: crate::model::vocabulary::SpaceKind::Hub,
            created_at: Timestamp::from_micros(0),
        }
    }
}
