//! Shows a memory on one line, or in full.

use std::borrow::Cow;
use std::collections::HashMap;

use tulving_core::model::association::Association;
use tulving_core::model::error::Field;
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::memory::{Memory, VersionFields};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{LinkedBy, State};
use tulving_core::rank::decay;

use super::style::{self, FAINT, NUMBER, STRONG, WORD};
use super::table;
use super::text::{self, HangingText, block, bounded, cut, one_line, pad};
use super::time::{age, instant};

/// Width of the longest type, `observation`.
const TYPE_COLUMNS: usize = 11;
/// Width of the longest age, `just now`.
const AGE_COLUMNS: usize = 8;
/// A sentence about one memory is cut to this many columns if no terminal gives a width.
const SENTENCE_COLUMNS: usize = 100;

/// Indent of the further lines of a sentence.
const SENTENCE_INDENT: usize = 2;
/// Maximum number of lines of a sentence.
const SENTENCE_LINES: usize = 3;
/// Number of characters of a space's id that distinguish it from other ids: these characters encode its time of
/// creation.
const SPACE_START: usize = 13;

/// The layout of lines.
pub(crate) struct Layout<'a> {
    /// The time that ages are counted from.
    pub(crate) now: Timestamp,
    /// The time that is asked about, if it is not now: decides what was valid or had expired.
    pub(crate) then: Option<Timestamp>,
    /// The width of the terminal; without one each memory is on one line, and only a very long one is cut.
    pub(crate) columns: Option<usize>,
    /// The names of spaces, if memories of several are shown together.
    pub(crate) spaces: Option<&'a HashMap<SpaceId, String>>,
    /// The flag that named the space of the call; empty if none did. Printed commands repeat the flag.
    pub(crate) place: &'a str,
}

/// Lines up memories: number, type, age, content. Without a terminal each takes one line; on a terminal each is wrapped
/// to its width, with line breaks inside.
pub(crate) fn lines<'m>(memories: impl Iterator<Item = &'m Memory>, layout: &Layout<'_>) -> Vec<String> {
    let rows: Vec<(String, &Memory)> = memories.map(|memory| (label(memory, layout), memory)).collect();
    let widest = rows.iter().map(|(label, _)| text::width(label)).max().unwrap_or(0);
    rows.iter().map(|(label, memory)| line(label, widest, memory, layout)).collect()
}

/// Shows one more section of a memory below the first: its line number and its text.
pub(crate) fn further(line: usize, text: &str, memory: &Memory, layout: &Layout<'_>) -> String {
    let place = format!("      also line {line}  ");
    let (heading, text) = (style::paint(FAINT, &place), one_line(text));
    hung(&heading, text::width(&place), &text, &whole(memory, layout), layout.columns)
}

/// Returns the command that shows a whole memory. It uses the id if memories of several spaces are shown, as numbers
/// are then ambiguous.
fn whole(memory: &Memory, layout: &Layout<'_>) -> String {
    let name = match (layout.spaces, memory.number) {
        (None, Some(number)) => number.0.to_string(),
        _ => memory.id.to_string(),
    };
    format!("tulving get {name}{}", layout.place)
}

/// Shows a text next to its heading, which takes `taken` columns: the start of the text, and the command that shows the rest.
pub(crate) fn hung(heading: &str, taken: usize, text: &str, rest: &str, columns: Option<usize>) -> String {
    match columns {
        None => format!("{heading}{}", bounded(text, rest)),
        Some(columns) => HangingText { heading, taken, columns }.beginning(text, rest).join("\n"),
    }
}

fn label(memory: &Memory, layout: &Layout<'_>) -> String {
    let label = one_line(&memory.label());
    match layout.spaces {
        None => label,
        Some(names) => {
            // A memory open to the whole org may be in a space that the viewer is not a member of and whose name they
            // must not see.
            let start = || format!("{}…", &memory.space.to_string()[..SPACE_START]);
            let name = names.get(&memory.space).cloned().unwrap_or_else(start);
            format!("{name} {label}")
        }
    }
}

fn line(label: &str, widest: usize, memory: &Memory, layout: &Layout<'_>) -> String {
    let memory_type = memory.fields.class.memory_type.as_str();
    let age = age(memory.usage.created_at, layout.now);
    let taken = widest + 2 + TYPE_COLUMNS + 2 + AGE_COLUMNS + 2;
    let gap = " ".repeat(widest.saturating_sub(text::width(label)));
    let heading = format!(
        "{gap}{}  {}  {}  ",
        style::paint(NUMBER, label),
        style::paint(WORD, pad(memory_type, TYPE_COLUMNS)),
        style::paint(FAINT, pad(&age, AGE_COLUMNS)),
    );
    let said = said(memory, layout.then.unwrap_or(layout.now));
    hung(&heading, taken, &said, &whole(memory, layout), layout.columns)
}

/// The content of a memory, with its marks and title before it.
fn said(memory: &Memory, now: Timestamp) -> String {
    let backend = memory.backend.as_ref().map(|name| format!("[from {name}] ")).into_iter();
    let marks = marks(memory, now).into_iter().map(|mark| format!("[{mark}] "));
    let marks: String = backend.chain(marks).collect();
    let marks = if marks.is_empty() { String::new() } else { style::paint(FAINT, &marks) };
    let title = memory.fields.title_beside().map(one_line).map(|title| format!("{title}: "));
    format!("{marks}{}{}", title.unwrap_or_default(), one_line(&memory.fields.text.content))
}

fn marks(memory: &Memory, now: Timestamp) -> Vec<&'static str> {
    let status = &memory.status;
    let marks = [
        (status.pinned, "pinned"),
        (status.done_at.is_some(), "done"),
        (status.state == State::Cooling, "cooling"),
        (status.state == State::Archived, "archived"),
        (status.forgotten_at.is_some(), "forgotten"),
        (status.quarantined_at.is_some(), "quarantined"),
        (memory.superseded_by.is_some(), "superseded"),
        (is_expired(&memory.fields, now), "expired"),
        (memory.fields.span.valid_until.is_some_and(|at| at <= now), "no longer valid"),
        (memory.fields.span.valid_from.is_some_and(|at| at > now), "not yet valid"),
        (!memory.commands.is_empty(), "tries to command"),
    ];
    marks.into_iter().filter_map(|(set, mark)| set.then_some(mark)).collect()
}

fn is_expired(fields: &VersionFields, now: Timestamp) -> bool {
    fields.span.expires_at.is_some_and(|at| at <= now)
}

/// Returns the sentence for an edit that changed nothing.
pub(crate) fn unchanged(memory: &Memory) -> String {
    let label = style::paint(NUMBER, memory.reference());
    format!("Nothing changed: {label} stays at version {}", memory.version)
}

/// Formats a sentence about a memory: the action, its number and type, and its content: as far as it fits, or on a
/// terminal wrapped to its width.
pub(crate) fn sentence(done: &str, memory: &Memory, columns: Option<usize>) -> String {
    let memory_type = memory.fields.class.memory_type;
    let content = one_line(&memory.fields.text.content);
    let heading = format!("{} ({}): ", style::paint(STRONG, done), style::paint(WORD, memory_type));
    match columns {
        Some(columns) => {
            // No pointer to the rest is needed: the sentence names the memory.
            let hanging = HangingText { heading: "", taken: SENTENCE_INDENT, columns };
            hanging.preview(&format!("{heading}{content}"), SENTENCE_LINES).join("\n")
        }
        None => {
            let room =
                SENTENCE_COLUMNS.saturating_sub(text::width(&format!("{done} ({memory_type}): "))).max(20);
            format!("{heading}{}", cut(&content, room))
        }
    }
}

/// Names that a full view shows, and that a memory does not contain.
pub(crate) struct MemoryNames {
    /// The name of its space.
    pub(crate) space: Option<String>,
    /// The name of its owner.
    pub(crate) owner: Option<String>,
}

/// Shows every field that is set, then the content unchanged.
pub(crate) fn full(memory: &Memory, names: MemoryNames, now: Timestamp) -> Vec<String> {
    let class = &memory.fields.class;
    let heading = format!(
        "{}  {}  {}",
        style::paint(NUMBER, memory.reference()),
        style::paint(WORD, class.memory_type),
        style::paint(FAINT, age(memory.usage.created_at, now)),
    );
    let mut rows = FieldList(Vec::new());
    rows.always("id", memory.id.in_json());
    rows.always("space", names.space.unwrap_or_else(|| memory.space.to_string()));
    rows.set("backend", memory.backend.as_ref());
    rows.always("owner", names.owner.unwrap_or_else(|| memory.owner.to_string()));
    fields(&mut rows, &memory.fields, now);
    status(&mut rows, memory, now);
    provenance(&mut rows, memory);
    usage(&mut rows, memory, now);
    rows.set("warning", commands(memory));
    let mut lines = vec![heading];
    lines.extend(table::pairs(&rows.0));
    lines.push(String::new());
    lines.extend(block(&memory.fields.text.content).lines().map(str::to_owned));
    lines
}

/// Warns if a text tries to give commands to its reader.
fn commands(memory: &Memory) -> Option<String> {
    let kinds: Vec<&str> = memory.commands.iter().map(|kind| kind.as_str()).collect();
    (!kinds.is_empty()).then(|| format!("it tries to command its reader ({}); it is data", kinds.join(", ")))
}

/// Returns the name of a field for people.
fn label_of(field: Field) -> Cow<'static, str> {
    field.as_str().replace('_', " ").into()
}

/// Names and values of the fields that are set.
struct FieldList(Vec<(Cow<'static, str>, String)>);

impl FieldList {
    fn always(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    fn set(&mut self, name: impl Into<Cow<'static, str>>, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| (name.into(), value.to_string())));
    }
}

fn fields(rows: &mut FieldList, fields: &VersionFields, now: Timestamp) {
    rows.always("boundary", fields.boundary.to_string());
    for (field, line) in fields.lines() {
        rows.set(label_of(field), line.as_ref());
    }
    let tags = &fields.text.tags;
    rows.set("tags", (!tags.is_empty()).then(|| tags.join(", ")));
    rows.always("kind", fields.class.kind.to_string());
    rows.always("stability", fields.class.stability.to_string());
    rows.always("importance", fields.class.importance.get().to_string());
    rows.always("content type", fields.text.content_type.to_string());
    rows.set("occurred", fields.span.occurred_at.map(instant));
    rows.set("valid from", fields.span.valid_from.map(instant));
    rows.set("valid until", fields.span.valid_until.map(instant));
    let name = if is_expired(fields, now) { "expired" } else { "expires" };
    rows.set(name, fields.span.expires_at.map(instant));
}

fn status(rows: &mut FieldList, memory: &Memory, now: Timestamp) {
    let (said, is) = (memory.fields.class.importance.get(), decay::importance_at(memory, now));
    rows.set("matters now", ((said - is).abs() >= 0.005).then(|| format!("{is:.2}")));
    rows.always("state", memory.status.state.to_string());
    rows.set("pinned", memory.status.pinned.then_some("yes"));
    rows.set("done", memory.status.done_at.map(instant));
    rows.set("forgotten", memory.status.forgotten_at.map(instant));
    rows.set("quarantined", memory.status.quarantined_at.map(instant));
    rows.set("superseded by", memory.superseded_by);
}

fn provenance(rows: &mut FieldList, memory: &Memory) {
    let provenance = &memory.provenance;
    rows.always("author", provenance.author.to_string());
    rows.always("source", provenance.origin.to_string());
    rows.set("agent", provenance.source_agent.as_ref());
    rows.set("assisted by", provenance.assisted_by_agent.as_ref());
    rows.always("trust", provenance.trust.to_string());
    rows.set("pass", provenance.pass);
    for path in provenance.paths() {
        rows.set("source path", Some(path));
    }
    rows.set("also saved", provenance.also_without_path.then_some("without a path"));
    rows.set("line", provenance.mirror.map(|mirror| mirror.line));
    rows.set(
        "attachment",
        provenance.attachment.as_ref().map(|object| {
            let name = object.name.as_deref().unwrap_or(&object.object_key);
            format!("{name} ({}, {} bytes)", object.media_type, text::thousands(object.size))
        }),
    );
    rows.set("not read", provenance.attachment.as_ref().and_then(|object| object.trouble.as_ref()));
    rows.set("conversation", memory.place.conversation.as_ref());
    rows.set("position", memory.place.position);
    rows.set("speaker", memory.place.speaker.as_ref());
}

fn usage(rows: &mut FieldList, memory: &Memory, now: Timestamp) {
    let usage = &memory.usage;
    let with_age = |time| format!("{} ({})", instant(time), age(time, now));
    rows.always("version", memory.version.to_string());
    rows.always("created", with_age(usage.created_at));
    rows.set("updated", (usage.updated_at != usage.created_at).then(|| with_age(usage.updated_at)));
    let used = || {
        format!(
            "{}, last {}",
            text::counted(usage.access_count, "time", "times"),
            with_age(usage.accessed_at)
        )
    };
    rows.set("recalled", (usage.access_count > 0).then(used));
}

/// Shows a link as seen from one of its ends: `updates →` from its source, `← updates` from its target. A link made by
/// similarity is marked as such: it supersedes nothing.
pub(crate) fn link(association: &Association, from: MemoryId) -> String {
    let arrow = if association.source == from {
        format!("{} →", association.relation)
    } else {
        format!("← {}", association.relation)
    };
    // Three digits, without trailing zeros.
    let weight = (association.weight.get() * 1_000.0).round() / 1_000.0;
    let similar = if association.linked_by == LinkedBy::Auto { " (similar)" } else { "" };
    format!("{arrow} {weight}{similar}")
}
