//! Checks that a record of a dump is one that a store could have written. A dump may come from anywhere, so what intake
//! refuses is refused here too; only the size of a content is not asked, because another home may allow more.

use crate::error::{Field, Invalid};
use crate::limits;
use crate::memory::{Attachment, Edition, Memory, Text};
use crate::record::{MemoryRecord, Record};
use crate::text::normalize;
use crate::turn::Turn;

/// Counts and numbers beyond this are not believed: other readers of JSON could not hold them.
const LARGEST: u64 = 1 << 53;
/// More versions than anybody will write.
const LAST_VERSION: u32 = 1 << 30;

/// Refuses what no store would have written.
pub(super) fn record(record: &Record) -> Result<(), Invalid> {
    match record {
        Record::Dump { .. } | Record::End { .. } | Record::Member(_) => Ok(()),
        Record::Association(edge) if edge.source == edge.target => Err(Invalid::SelfAssociation),
        Record::Association(_) => Ok(()),
        Record::Org(org) => name(&org.name),
        Record::Team(team) => name(&team.name),
        Record::Principal(principal) => name(&principal.name),
        Record::Space { space, next_number, next_turn } => {
            name(&space.name)?;
            count("next_number", *next_number)?;
            count("next_turn", *next_turn)
        }
        Record::Memory(record) => memory(record),
        Record::Turn(line) => turn(line),
        Record::Audit(entry) => {
            line(Field::Agent, entry.agent.as_deref(), limits::NOTE_CHARS)?;
            line(Field::Reason, entry.reason.as_deref(), limits::NOTE_CHARS)?;
            line(Field::Detail, entry.detail.as_deref(), limits::NOTE_CHARS)
        }
    }
}

fn memory(record: &MemoryRecord) -> Result<(), Invalid> {
    let Memory { edition: current, provenance, place, usage, version, number, .. } = &record.memory;
    edition(current)?;
    count("number", number.map_or(1, |number| number.0))?;
    count("access_count", usage.access_count)?;
    line(Field::Agent, provenance.source_agent.as_deref(), limits::NOTE_CHARS)?;
    line(Field::Agent, provenance.assisted_by_agent.as_deref(), limits::NOTE_CHARS)?;
    if let Some(path) = &provenance.source_path
        && normalize::path(Field::SourcePath, path, limits::PATH_CHARS)? != *path
    {
        return Err(Invalid::Record { why: "the source_path is not in its normal form".to_owned() });
    }
    provenance.attachment.as_ref().map_or(Ok(()), Attachment::check)?;
    line(Field::Conversation, place.conversation.as_deref(), limits::NOTE_CHARS)?;
    line(Field::Speaker, place.speaker.as_deref(), limits::NOTE_CHARS)?;
    line(Field::Agent, record.current.agent.as_deref(), limits::NOTE_CHARS)?;
    let mut last = 0;
    for past in &record.versions {
        edition(&past.edition)?;
        line(Field::Agent, past.agent.as_deref(), limits::NOTE_CHARS)?;
        if past.version.0 <= last || past.version.0 >= version.0 {
            return Err(Invalid::Record { why: format!("version {} is out of order", past.version) });
        }
        last = past.version.0;
    }
    if version.0 == 0 || version.0 > LAST_VERSION {
        return Err(Invalid::Record { why: format!("version {version} is not believed") });
    }
    Ok(())
}

fn edition(edition: &Edition) -> Result<(), Invalid> {
    let Text { content, content_hash, title, summary, tags, .. } = &edition.text;
    if content.is_empty() || normalize::content(content)? != *content {
        return Err(Invalid::Record { why: "the content is not in its normal form".to_owned() });
    }
    if normalize::hash(content) != *content_hash {
        return Err(Invalid::Record { why: "the content is not what its hash says".to_owned() });
    }
    if tags.len() > limits::TAGS {
        return Err(Invalid::TooMany { field: Field::Tags, got: tags.len(), limit: limits::TAGS });
    }
    for tag in tags {
        line(Field::Tag, Some(tag), limits::TAG_CHARS)?;
    }
    line(Field::Key, edition.key.as_deref(), limits::KEY_CHARS)?;
    line(Field::Title, title.as_deref(), limits::TITLE_CHARS)?;
    line(Field::Summary, summary.as_deref(), limits::SUMMARY_CHARS)?;
    line(Field::SourceNote, edition.source_note.as_deref(), limits::NOTE_CHARS)?;
    edition.span.check()
}

fn turn(turn: &Turn) -> Result<(), Invalid> {
    if turn.content.is_empty() || normalize::content(&turn.content)? != turn.content {
        return Err(Invalid::Record { why: "the turn is not in its normal form".to_owned() });
    }
    count("position", turn.position)?;
    line(Field::Conversation, turn.channel.as_deref(), limits::NOTE_CHARS)?;
    line(Field::Speaker, turn.speaker.as_deref(), limits::NOTE_CHARS)?;
    line(Field::Source, Some(&turn.source), limits::NOTE_CHARS)
}

fn name(text: &str) -> Result<(), Invalid> {
    normalize::name(text).map(drop)
}

fn line(field: Field, text: Option<&str>, limit: usize) -> Result<(), Invalid> {
    let Some(text) = text else { return Ok(()) };
    if normalize::line(field, text, limit)? == text {
        Ok(())
    } else {
        Err(Invalid::Record { why: format!("the {field} is not in its normal form") })
    }
}

fn count(what: &str, got: u64) -> Result<(), Invalid> {
    if got <= LARGEST {
        Ok(())
    } else {
        Err(Invalid::Record { why: format!("{what} {got} is not believed") })
    }
}
