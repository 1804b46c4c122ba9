//! Validates a record of a dump as intake validates a request. A dump may come from an untrusted source, so this module
//! refuses everything that intake refuses. Only the size of a content is not checked, because another home may allow
//! more.
//!
//! Values that intake would only normalise are also only normalised, because the normal form depends on the version
//! that wrote the record, and every record that a home has stored must be loadable.

use std::collections::HashSet;

use crate::model::error::{Field, Invalid};
use crate::model::limits;
use crate::model::memory::{Attachment, Memory, MemoryText, VersionFields};
use crate::model::preview;
use crate::model::record::{MemoryRecord, PartRecord, Record};
use crate::model::turn::Turn;
use crate::text::normalize;

use super::parts;

/// Upper bound for counts and numbers: other JSON readers could not represent larger ones.
const LARGEST: u64 = 1 << 53;
/// Upper bound for a version number, higher than any real version number.
const LAST_VERSION: u32 = 1 << 30;
/// Maximum growth of a text by Unicode composition (Unicode Standard Annex 15). Lines used to be measured before they
/// were composed, so stored lines may exceed their limit by this factor.
const GROWTH: usize = 3;

/// Normalises a record. Refuses values that no store would have written.
pub(super) fn record(record: &mut Record) -> Result<(), Invalid> {
    match record {
        Record::Dump { .. } | Record::End { .. } | Record::Member(_) => Ok(()),
        Record::Attachment(part) => hash(part),
        Record::File(file) => hash(&file.part),
        Record::Missing { what, why } => {
            *what = within(Field::Detail, what, limits::PATH_CHARS)?;
            *why = within(Field::Reason, why, limits::NOTE_CHARS)?;
            Ok(())
        }
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
            line(Field::Agent, &mut entry.agent, limits::NOTE_CHARS)?;
            line(Field::Reason, &mut entry.reason, limits::NOTE_CHARS)?;
            line(Field::Detail, &mut entry.detail, limits::NOTE_CHARS)
        }
    }
}

fn memory(record: &mut MemoryRecord) -> Result<(), Invalid> {
    let Memory { fields: current, provenance, place, usage, version, number, .. } = &mut record.memory;
    fields(current)?;
    count("number", number.map_or(1, |number| number.0))?;
    count("access_count", usage.access_count)?;
    line(Field::Agent, &mut provenance.source_agent, limits::NOTE_CHARS)?;
    line(Field::Agent, &mut provenance.assisted_by_agent, limits::NOTE_CHARS)?;
    let mut sources = provenance.sources();
    for path in &mut sources.paths {
        *path = normalize::path(Field::SourcePath, path, limits::PATH_CHARS)?;
    }
    let mut known = HashSet::new();
    sources.paths.retain(|path| known.insert(path.clone()));
    provenance.set_sources(sources);
    provenance.attachment.as_ref().map_or(Ok(()), Attachment::check)?;
    line(Field::Conversation, &mut place.conversation, limits::NOTE_CHARS)?;
    line(Field::Speaker, &mut place.speaker, limits::NOTE_CHARS)?;
    line(Field::Agent, &mut record.current.agent, limits::NOTE_CHARS)?;
    let mut last = 0;
    for past in &mut record.versions {
        fields(&mut past.fields)?;
        line(Field::Agent, &mut past.agent, limits::NOTE_CHARS)?;
        if past.version.0 <= last || past.version.0 >= version.0 {
            return Err(Invalid::Record { why: format!("version {} is out of order", past.version) });
        }
        last = past.version.0;
    }
    if version.0 == 0 || version.0 > LAST_VERSION {
        return Err(Invalid::Record { why: format!("version {version} is not plausible") });
    }
    Ok(())
}

fn fields(fields: &mut VersionFields) -> Result<(), Invalid> {
    let MemoryText { content: said, content_hash, tags, .. } = &mut fields.text;
    if normalize::hash(said) != *content_hash {
        return Err(Invalid::Record { why: "the content does not match its hash".to_owned() });
    }
    if content(said)? {
        *content_hash = normalize::hash(said);
    }
    if tags.len() > limits::TAGS {
        return Err(Invalid::TooMany { field: Field::Tags, got: tags.len(), limit: limits::TAGS });
    }
    for tag in &mut *tags {
        *tag = within(Field::Tag, tag, limits::TAG_CHARS)?;
    }
    let mut known = HashSet::new();
    tags.retain(|tag| known.insert(tag.clone()));
    for (field, text, limit) in fields.lines_mut() {
        line(field, text, limit)?;
    }
    fields.span.check()
}

fn turn(turn: &mut Turn) -> Result<(), Invalid> {
    content(&mut turn.content)?;
    count("position", turn.position)?;
    line(Field::Conversation, &mut turn.channel, limits::NOTE_CHARS)?;
    line(Field::Speaker, &mut turn.speaker, limits::NOTE_CHARS)?;
    turn.source = within(Field::Source, &turn.source, limits::NOTE_CHARS)?;
    Ok(())
}

/// Normalises a content, and returns true if it changed.
fn content(text: &mut String) -> Result<bool, Invalid> {
    let normal = normalize::content(text)?;
    if normal.is_empty() {
        return Err(Invalid::Empty { field: Field::Content });
    }
    let changed = normal != *text;
    *text = normal;
    Ok(changed)
}

fn hash(part: &PartRecord) -> Result<(), Invalid> {
    if parts::is_hash(&part.hash) {
        Ok(())
    } else {
        Err(Invalid::Record { why: format!("`{}` is not a SHA-256", preview::short(&part.hash)) })
    }
}

fn name(text: &str) -> Result<(), Invalid> {
    normalize::name(text).map(drop)
}

/// Normalises a line that may be missing. A blank line counts as missing.
fn line(field: Field, text: &mut Option<String>, limit: usize) -> Result<(), Invalid> {
    *text = match text.take().filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(within(field, &text, limit)?),
        None => None,
    };
    Ok(())
}

fn within(field: Field, text: &str, limit: usize) -> Result<String, Invalid> {
    normalize::line(field, text, limit.saturating_mul(GROWTH))
}

fn count(what: &str, got: u64) -> Result<(), Invalid> {
    if got <= LARGEST {
        Ok(())
    } else {
        Err(Invalid::Record { why: format!("{what} {got} is not plausible") })
    }
}
