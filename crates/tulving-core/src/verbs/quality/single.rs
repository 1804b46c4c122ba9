//! Finds problems of a single memory.

use tulving_text::{commands, junk, secrets, terms};

use super::scan::QualityScan;
use super::{ProposedChange, ScanFinding, shown};
use crate::model::error::{Error, Field};
use crate::model::file::{self, FilePath, Folder};
use crate::model::id::Version;
use crate::model::limits;
use crate::model::memory::{Memory, VersionFields};
use crate::model::vocabulary::{CommandKind, FindingKind, JunkKind, MemoryType, ProposedAct, State};
use crate::verbs::access;

/// Maximum length, in bytes, of a content that is not reported as too long.
const LONG: usize = 64 << 10;
/// Maximum number of sections of a content that is not reported as too long.
const SECTIONS: usize = 200;
/// Length, in bytes, below which a content cannot have more than [`SECTIONS`] sections.
const FEW_SECTIONS: usize = 8 << 10;
/// Maximum length, in bytes, of a text that is checked for words. A longer text without words consists only of marks,
/// which [`junk::kind`] detects.
const SHORT: usize = 400;
/// Maximum number of characters of a memory that a reason quotes.
const QUOTED: usize = 80;
/// Number of microseconds in a day.
const DAY: i64 = 86_400_000_000;

/// Returns the problems of a memory.
pub(super) fn at<'a>(scan: &QualityScan<'_>, memory: &'a Memory) -> Result<Vec<ScanFinding<'a>>, Error> {
    let mut found = Vec::new();
    if scan.wants(FindingKind::Secret) {
        found.extend(secret(scan, memory)?);
    }
    let is_mirror = memory.provenance.mirror.is_some();
    if !is_mirror && !scan.is_alive(memory) {
        return Ok(found);
    }
    if scan.wants(FindingKind::Instructions) {
        found.extend(instructions(memory));
    }
    if is_mirror {
        return Ok(found);
    }
    if scan.wants(FindingKind::SupersededPinned) {
        found.extend(superseded_pinned(memory));
    }
    if scan.wants(FindingKind::Oversized) {
        found.extend(oversized(scan, memory)?);
    }
    found.extend(idle(memory).filter(|found| scan.wants(found.kind)));
    if scan.wants(FindingKind::NeverRecalled) {
        found.extend(never_recalled(scan, memory));
    }
    Ok(found)
}

/// Returns true if a version contains no secret.
pub(super) fn is_clean(fields: &VersionFields) -> bool {
    held(fields.texts()).is_none()
}

/// Finds a secret in these texts. Returns the field, and a description that does not reveal the secret.
fn held<'a>(mut texts: impl Iterator<Item = (Field, &'a str)>) -> Option<(Field, String)> {
    texts.find_map(|(field, text)| {
        let found = secrets::find(text);
        let first = found.first()?;
        let line = text[..first.range.start].matches('\n').count() + 1;
        let more = match found.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let place = match field {
            Field::Content => format!("line {line} of its content"),
            Field::File => "the name of its file".to_owned(),
            field => format!("its {}", field.as_str().replace('_', " ")),
        };
        Some((field, format!("a secret ({}) in {place}{more}", first.what)))
    })
}

fn secret<'a>(scan: &QualityScan<'_>, memory: &'a Memory) -> Result<Option<ScanFinding<'a>>, Error> {
    let provenance = &memory.provenance;
    let stands = held(memory.fields.texts().chain(memory.texts_beside()));
    let in_path = stands.as_ref().is_some_and(|(field, _)| *field == Field::SourcePath);
    let why = match stands {
        Some((_, what)) => format!("it contains {what}"),
        None if provenance.mirror.is_some() => match held_in_file(scan, memory) {
            Some(what) => format!("its file contains {what}"),
            None => return Ok(None),
        },
        None => match held_before(scan, memory)? {
            Some((version, what)) => format!("its version {version} contained {what}"),
            None => return Ok(None),
        },
    };
    let advice = match provenance.source_path {
        _ if provenance.mirror.is_some() => Some(match in_path {
            true => "give the file another name; the memory follows",
            false => "remove it from the file; the memory follows",
        }),
        _ if provenance.attachment.is_some() => {
            Some("it was read from the attached file; `tulving forget --hard` erases both")
        }
        Some(_) => Some(match in_path {
            true => {
                "give the file another name, erase this memory with `tulving forget --hard`, and import the file again"
            }
            false => {
                "remove it from the file, erase this memory with `tulving forget --hard`, and import the file again"
            }
        }),
        None => None,
    };
    let actions = match advice {
        Some(_) => Vec::new(),
        None => vec![ProposedChange::new(ProposedAct::ReplaceRedacted, &[memory], "it contained a secret")],
    };
    let beside = "anyone who could see it may know it: change the secret where it is used";
    let advice = advice.map_or_else(|| beside.to_owned(), |advice| format!("{advice}; {beside}"));
    Ok(Some(ScanFinding {
        kind: FindingKind::Secret,
        memories: vec![memory],
        why,
        advice: Some(advice),
        actions,
    }))
}

/// Finds the secret in the file of a mirror whose content shows only the kind of the secret. Returns `None` if the file
/// cannot be read.
fn held_in_file(scan: &QualityScan<'_>, memory: &Memory) -> Option<String> {
    let (path, mirror) = (memory.provenance.source_path.as_deref()?, memory.provenance.mirror?);
    let content = &memory.fields.text.content;
    if !content.contains(secrets::REDACTED) {
        return None;
    }
    let folder = Folder::of(&access::space_of_call(scan.ports, scan.caller).ok()?);
    let name = path.strip_prefix(folder.as_str())?.trim_start_matches('/');
    let found = scan.ports.files.read(&FilePath::new(&folder, name).ok()?, limits::MIRRORED_BYTES).ok()??;
    let text = file::text(&found.bytes);
    let lines = mirror.line as usize..mirror.line as usize + content.lines().count().max(1);
    let at = |secret: &secrets::SecretMatch| text[..secret.range.start].matches('\n').count() + 1;
    let secret = secrets::find(&text).into_iter().find(|secret| lines.contains(&at(secret)))?;
    Some(format!("a secret ({}) in line {}", secret.what, at(&secret)))
}

/// Returns the newest version of a memory that contained a secret.
fn held_before(scan: &QualityScan<'_>, memory: &Memory) -> Result<Option<(Version, String)>, Error> {
    if memory.version == Version::FIRST {
        return Ok(None);
    }
    let mut newest = None;
    scan.ports.store.each_version(&scan.caller.viewer, memory.id, &mut |record| {
        if newest.is_none() {
            newest = held(record.fields.texts()).map(|(_, what)| (record.version, what));
        }
    })?;
    Ok(newest)
}

fn instructions(memory: &Memory) -> Option<ScanFinding<'_>> {
    let content = &memory.fields.text.content;
    let found = commands::find(content);
    let first = found.first()?;
    let does = match first.what {
        CommandKind::Override => "tells an agent to ignore its instructions",
        CommandKind::Role => "tells an agent to act without rules",
        CommandKind::Secrecy => "tells an agent to keep something from the user",
        CommandKind::Exfiltration => "tells an agent to give something away",
        CommandKind::FakeTag => "has markers that a host uses for speakers",
        CommandKind::HiddenText => "has invisible characters",
        CommandKind::Address => "addresses assistants instead of its reader",
    };
    let quote = shown(&content[first.range.clone()], QUOTED);
    let why = match quote.is_empty() {
        true => format!("it {does}"),
        false => format!("it {does}: \u{201c}{quote}\u{201d}"),
    };
    let (actions, advice) = match memory.provenance.mirror {
        Some(_) => (Vec::new(), Some("remove it from the file; the memory follows".to_owned())),
        None => {
            (vec![ProposedChange::new(ProposedAct::Forget, &[memory], "it tries to command an agent")], None)
        }
    };
    Some(ScanFinding { kind: FindingKind::Instructions, memories: vec![memory], why, advice, actions })
}

fn superseded_pinned(memory: &Memory) -> Option<ScanFinding<'_>> {
    memory.superseded_by.filter(|_| memory.status.pinned)?;
    Some(ScanFinding {
        kind: FindingKind::SupersededPinned,
        memories: vec![memory],
        why: "it is pinned, and another memory updates it".to_owned(),
        advice: Some("`tulving unpin` it, or remove the link with `tulving dissociate`".to_owned()),
        actions: Vec::new(),
    })
}

fn oversized<'a>(scan: &QualityScan<'_>, memory: &'a Memory) -> Result<Option<ScanFinding<'a>>, Error> {
    let bytes = memory.fields.text.content.len();
    // The memory of a pushed or imported file is a document, which may be long.
    if memory.provenance.attachment.is_some()
        || memory.provenance.source_path.is_some()
        || bytes < FEW_SECTIONS
    {
        return Ok(None);
    }
    let why = if bytes > LONG {
        format!("its content has {bytes} bytes")
    } else {
        let sections = scan.ports.store.sections(&scan.caller.viewer, memory.id)?.len();
        if sections <= SECTIONS {
            return Ok(None);
        }
        format!("it has {sections} sections")
    };
    let advice = "push it as a file with `tulving push`, or split it into several memories".to_owned();
    let kind = FindingKind::Oversized;
    Ok(Some(ScanFinding { kind, memories: vec![memory], why, advice: Some(advice), actions: Vec::new() }))
}

/// Reports a memory without information. A memory with a name, an attachment or a conversation, or a pinned memory, is
/// never reported.
fn idle(memory: &Memory) -> Option<ScanFinding<'_>> {
    let (fields, provenance) = (&memory.fields, &memory.provenance);
    let named = fields.key.is_some() || fields.given_title().is_some() || provenance.source_path.is_some();
    if named || provenance.attachment.is_some() || memory.place.conversation.is_some() || memory.status.pinned
    {
        return None;
    }
    let content = &fields.text.content;
    let (kind, why) = match junk::kind(content) {
        Some(JunkKind::Marks) => (FindingKind::Empty, "there is no word in it"),
        None if content.len() <= SHORT && terms::terms(content).is_empty() => {
            (FindingKind::Empty, "there is no word in it")
        }
        Some(JunkKind::Pleasantry) => {
            (FindingKind::Junk, "it is a greeting or an acknowledgement and nothing else")
        }
        Some(JunkKind::Repetition) => (FindingKind::Junk, "it repeats one character or one word"),
        Some(JunkKind::Noise) => (FindingKind::Junk, "it looks like random typing"),
        Some(JunkKind::Blob) => (FindingKind::Junk, "it is a long piece of data without a word about it"),
        None => return None,
    };
    let actions = vec![ProposedChange::new(ProposedAct::Forget, &[memory], "it says nothing")];
    Some(ScanFinding { kind, memories: vec![memory], why: why.to_owned(), advice: None, actions })
}

fn never_recalled<'a>(scan: &QualityScan<'_>, memory: &'a Memory) -> Option<ScanFinding<'a>> {
    let usage = memory.usage;
    let days = (scan.now.as_micros() - usage.created_at.as_micros()) / DAY;
    let kept = memory.status.pinned
        || memory.status.state == State::Processing
        || memory.fields.class.memory_type == MemoryType::Identity;
    if usage.access_count > 0 || kept || days < i64::from(scan.older_than_days) {
        return None;
    }
    Some(ScanFinding {
        kind: FindingKind::NeverRecalled,
        memories: vec![memory],
        why: match days {
            0 => "nobody recalled it since it was saved today".to_owned(),
            1 => "nobody recalled it in the day since it was saved".to_owned(),
            days => format!("nobody recalled it in the {days} days since it was saved"),
        },
        advice: None,
        actions: vec![ProposedChange::new(ProposedAct::Archive, &[memory], "it was never recalled")],
    })
}
