//! Archives a conversation when a session compacts: a file that people can read, and a memory that recall finds.
//!
//! Both or none, also where the process is killed in between: the file is pledged to the memory, and whoever comes next settles
//! what was left. Nothing is overwritten.

use std::collections::HashMap;

use serde::Serialize;

use crate::access::{self, Parts};
use crate::answer::{Unread, Warning};
use crate::error::{Error, Field, FileError, Invalid};
use crate::file::{FilePath, Folder, Pledge};
use crate::id::{MemoryId, Number};
use crate::limits;
use crate::preview;
use crate::read::PAGE_BYTES;
use crate::request::{Caller, Filter, Forgotten, SaveRequest, TurnFilter};
use crate::save;
use crate::space::Viewer;
use crate::text::withhold::Sieve;
use crate::text::{normalize, terms};
use crate::time::Timestamp;
use crate::turn::{TURNS_KEPT, Turn};
use crate::vocabulary::{ContentType, TurnRole};

use super::day::Day;
use super::transcript::{self, Message, Transcript};
use super::{below, readable, unlisted};

pub(crate) use crate::file::CONVERSATIONS as FOLDER;

/// Most characters of what a name is made of.
const SLUG_CHARS: usize = 50;
/// How many conversations of one name a day may have.
const SAME_NAMES: usize = 10_000;
/// Most characters of a message in a summary, and most words that it is said to be about.
const QUOTED: usize = 300;
const WORDS: usize = 12;

/// A conversation to archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveRequest {
    /// The messages; without them, what the log still has.
    pub messages: Option<Vec<Message>>,
    /// What it is about; from the first message where not given.
    pub title: Option<String>,
    /// What it came to; made by rules where not given.
    pub summary: Option<String>,
    /// Of this channel of the log only.
    pub channel: Option<String>,
}

/// What was archived.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Archived {
    /// The path of the file below the workspace.
    pub path: String,
    /// Its name in the folder of the space.
    pub name: String,
    /// The key of the memory.
    pub key: String,
    /// The memory.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// What it says.
    pub summary: String,
    /// How many messages the file has.
    pub messages: usize,
    /// Whether they are what the log still had.
    pub from_log: bool,
    /// What was held back of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A conversation that was archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArchivedFile {
    /// Its name, without folder and ending.
    pub name: String,
    /// Its path below the workspace.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified_at: Timestamp,
}

/// The conversations that were archived in a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conversations {
    /// The conversations, newest first.
    pub conversations: Vec<ArchivedFile>,
    /// What is there and is not listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// Archives a conversation.
pub(crate) fn archive(parts: &Parts, caller: &Caller, request: ArchiveRequest) -> Result<Archived, Error> {
    let (space, _) = access::file_workplace(parts, caller)?;
    let from_log = request.messages.is_none();
    let messages = match request.messages {
        Some(messages) => messages.iter().map(checked).collect::<Result<Vec<_>, _>>()?,
        None => logged(parts, caller, request.channel)?,
    };
    bound(&messages)?;
    let mut sieve = parts.sieve(&space);
    let messages = public(messages, &mut sieve)?;
    let mut title = save::intake::given(Field::Title, request.title.as_deref(), limits::TITLE_CHARS)?;
    save::intake::withhold_line(&mut sieve, Field::Title, &mut title, limits::TITLE_CHARS)?;
    let title = title.unwrap_or_else(|| opening(&messages));
    let given = save::intake::given_text(Field::Summary, request.summary.as_deref(), limits::SUMMARY_CHARS)?;
    let given = given.map(|given| sieve.content(Field::Summary, given)).transpose()?;
    let warnings = sieve.withheld().warnings();
    let now = parts.clock.now();
    let transcript = Transcript { title, messages };
    let text = transcript::write(&transcript, &note(&transcript, from_log, now));
    let (folder, day) = (Folder::of(&space), Day::of(now));
    let slug = slug(&transcript.title);
    for count in 1..=SAME_NAMES {
        let name = if count == 1 { format!("{day}-{slug}") } else { format!("{day}-{slug}-{count}") };
        let path = path(&folder, &name);
        let key = format!("conversation-{name}");
        if is_taken(parts, caller, &key)? {
            continue;
        }
        let pledge = Pledge { path, memory: MemoryId::mint(now) };
        match parts.files.pledge(&pledge, text.as_bytes()) {
            Err(FileError::Exists { .. }) => continue,
            done => done?,
        }
        let summary = summary(&transcript, given.as_deref(), pledge.path.name());
        let request = SaveRequest {
            key: Some(key.clone()),
            title: Some(transcript.title.clone()),
            content_type: Some(ContentType::Transcript),
            // It is for those whom the file is for.
            boundary: Some(space.default_boundary()),
            ..SaveRequest::new(summary.as_str())
        };
        let saved = save::save_as(parts, caller, pledge.memory, request);
        // Where this cannot be done now, whoever comes next does it: by then both are there, or neither.
        let _ = settle(parts, &pledge);
        let receipt = match saved {
            // Somebody was faster.
            Err(Error::Held { .. }) => continue,
            saved => saved?,
        };
        return Ok(Archived {
            path: pledge.path.to_string(),
            name,
            key,
            id: receipt.id,
            number: receipt.number,
            summary,
            messages: transcript.messages.len(),
            from_log,
            warnings,
        });
    }
    Err(FileError::Exists { name: format!("{FOLDER}/{day}-{slug}.md") }.into())
}

/// The conversations that were archived in the caller's space, newest first.
pub(crate) fn list(parts: &Parts, caller: &Caller) -> Result<Conversations, Error> {
    let Some(folder) = readable(parts, caller)? else { return Ok(Conversations::default()) };
    settle_within(parts, &folder)?;
    let mut listed = parts.files.list(&folder, FOLDER, limits::FILES_LISTED)?;
    let unread = unlisted(&mut listed, &folder, FOLDER);
    let mut conversations: Vec<ArchivedFile> = listed
        .files
        .iter()
        .filter_map(|file| {
            let name = below(file.path.name(), FOLDER)?.strip_suffix(".md")?;
            Some(ArchivedFile {
                name: name.to_owned(),
                path: file.path.to_string(),
                size: file.stamp.size,
                modified_at: file.stamp.modified_at(),
            })
        })
        .collect();
    conversations.sort_by(|a, b| (b.modified_at, &b.name).cmp(&(a.modified_at, &a.name)));
    Ok(Conversations { conversations, unread })
}

/// A conversation, read back from its file. It is named as [`list`] does, by its path in the folder, or by the key of its memory.
pub(crate) fn get(parts: &Parts, caller: &Caller, name: &str) -> Result<Transcript, Error> {
    let absent = || FileError::Absent { name: preview::short(name) };
    let folder = readable(parts, caller)?.ok_or_else(absent)?;
    settle_within(parts, &folder)?;
    let bare = name.strip_prefix("conversation-").unwrap_or(name);
    let bare = below(bare, FOLDER).unwrap_or(bare);
    let bare = bare.strip_suffix(".md").unwrap_or(bare);
    let path = FilePath::new(&folder, &format!("{FOLDER}/{bare}.md"))?;
    let found = parts.files.read(&path, limits::CONVERSATION_BYTES as u64 * 2)?;
    let found = found.ok_or_else(absent)?;
    Ok(transcript::read(&super::text(&found.bytes)))
}

/// Settles what a process that was killed left in a folder.
fn settle_within(parts: &Parts, folder: &Folder) -> Result<(), Error> {
    let pledges = parts.files.pledges()?;
    pledges
        .iter()
        .filter(|pledge| pledge.path.folder() == folder)
        .try_for_each(|pledge| settle(parts, pledge))
}

/// Settles a pledge: the file stays where its memory was saved, else it goes.
pub(crate) fn settle(parts: &Parts, pledge: &Pledge) -> Result<(), Error> {
    let entries = parts.store.entries(&[pledge.memory], None)?;
    Ok(parts.files.settle(pledge, !entries.is_empty())?)
}

fn path(folder: &Folder, name: &str) -> FilePath {
    FilePath::new(folder, &format!("{FOLDER}/{name}.md")).expect("slugs are fit")
}

fn is_taken(parts: &Parts, caller: &Caller, key: &str) -> Result<bool, Error> {
    let viewer = Viewer { within: Some(vec![caller.space]), ..caller.viewer.clone() };
    let filter = Filter {
        space: Some(caller.space),
        key: Some(key.to_owned()),
        forgotten: Forgotten::Without,
        ..Filter::default()
    };
    Ok(parts.store.count(&viewer, &filter)? > 0)
}

/// What the log still has.
fn logged(parts: &Parts, caller: &Caller, channel: Option<String>) -> Result<Vec<Message>, Error> {
    let filter = TurnFilter { channel, last: usize::try_from(TURNS_KEPT).unwrap_or(usize::MAX) };
    let turns = parts.store.turns(&caller.viewer, caller.space, &filter, PAGE_BYTES)?;
    let message = |turn: Turn| Message {
        role: turn.role,
        speaker: turn.speaker,
        content: turn.content,
        at: Some(turn.at),
    };
    Ok(turns.into_iter().map(message).collect())
}

/// A message as it is kept: what was said on a terminal may have its codes in it, and line breaks are those of a file.
fn checked(message: &Message) -> Result<Message, Invalid> {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    let content: String = message.content.chars().map(shown).collect();
    let speaker = save::intake::given(Field::Speaker, message.speaker.as_deref(), limits::NOTE_CHARS)?;
    Ok(Message {
        role: message.role,
        speaker,
        content: normalize::unified(&content).trim_matches('\n').to_owned(),
        at: message.at,
    })
}

/// The messages without what must not be stored. One that is private and nothing else is left out.
fn public(messages: Vec<Message>, sieve: &mut Sieve) -> Result<Vec<Message>, Invalid> {
    let mut public = Vec::with_capacity(messages.len());
    for mut message in messages {
        let left = sieve.pass(Field::Conversation, &message.content)?;
        let empty = left.trim().is_empty() && !message.content.trim().is_empty();
        message.content = left.into_owned();
        save::intake::withhold_line(sieve, Field::Speaker, &mut message.speaker, limits::NOTE_CHARS)?;
        public.extend((!empty).then_some(message));
    }
    if public.is_empty() { Err(Invalid::OnlyPrivate { field: Field::Conversation }) } else { Ok(public) }
}

fn bound(messages: &[Message]) -> Result<(), Invalid> {
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

/// What a conversation is about, by how it begins.
fn opening(messages: &[Message]) -> String {
    let said = first(messages).map(|message| preview::short(&message.content)).unwrap_or_default();
    if said.is_empty() { "Conversation".to_owned() } else { said }
}

/// What a user said first; where no user said anything, what anybody did.
fn first(messages: &[Message]) -> Option<&Message> {
    messages.iter().find(|message| message.role == TurnRole::User).or(messages.first())
}

/// What stands below the title.
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

/// What the memory says: what it came to, and where it stands.
fn summary(transcript: &Transcript, given: Option<&str>, name: &str) -> String {
    let said = given.map_or_else(|| by_rules(transcript), str::to_owned);
    format!("{said}\n\nThe whole conversation ({}) is in {name}", counted(transcript.messages.len()))
}

/// A summary without a model: how it began, how it ended, and the words that it is about.
fn by_rules(transcript: &Transcript) -> String {
    let quoted = |message: &Message| preview::cut(&message.content, QUOTED);
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

/// The words that come most often, in the form in which they come first.
fn words(messages: &[Message]) -> Vec<String> {
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

/// A title as part of a name: small letters and digits, with `-` between words.
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

    fn space() -> crate::space::Space {
        crate::space::Space {
            id: crate::id::SpaceId::DEFAULT,
            team: crate::id::TeamId::LOCAL,
            name: "default".to_owned(),
            kind: crate::vocabulary::SpaceKind::Hub,
            created_at: Timestamp::from_micros(0),
        }
    }
}
