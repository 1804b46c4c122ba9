//! Reads the fields above a Markdown text: YAML between lines of `---`, or TOML between lines of `+++`.
//!
//! Reads names and values, each with its lines. The callers decide what the fields mean.

use std::ops::Range;

use saphyr_parser::{Event, Parser};
use toml::de::{DeTable, DeValue};

/// Maximum length of the fields, in bytes.
pub const FIELDS_BYTES: usize = 64 << 10;

/// A text that begins with front matter fields, without a byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontMatterBlock<'a> {
    /// The line that encloses the fields: `---` or `+++`.
    pub fence: &'a str,
    /// The text between the fences.
    pub head: &'a str,
    /// The text below the fields.
    pub body: &'a str,
}

impl FrontMatterBlock<'_> {
    /// Returns the fields in order. `None` if the fields cannot be read, or if two fields share a line.
    pub fn fields(&self) -> Option<Vec<FrontMatterField>> {
        match self.fence {
            "+++" => toml_fields(self.head),
            _ => yaml_fields(self.head),
        }
    }
}

/// Finds the fields above a text. Returns `None` if the text does not begin with a fence, or if the fields are too
/// long.
pub fn fenced(text: &str) -> Option<FrontMatterBlock<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.split_inclusive('\n').next()?;
    let fence = first.trim_end();
    if !matches!(fence, "---" | "+++") {
        return None;
    }
    let mut at = first.len();
    for line in text[first.len()..].split_inclusive('\n') {
        let end = line.trim_end();
        if end == fence || (fence == "---" && end == "...") {
            return Some(FrontMatterBlock {
                fence,
                head: &text[first.len()..at],
                body: &text[at + line.len()..],
            });
        }
        at += line.len();
        if at > FIELDS_BYTES {
            return None;
        }
    }
    None
}

/// A field, and the range of its lines, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatterField {
    /// The name as written.
    pub name: String,
    /// The value.
    pub value: FrontMatterValue,
    /// The lines, counted from the first line below the fence.
    pub lines: Range<usize>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrontMatterValue {
    /// A text, number, date or truth value, as written.
    One(String),
    /// A list of such values.
    Many(Vec<String>),
    /// Another value, such as a mapping.
    Other,
}

/// Returns the text between the fences of a text that begins with fields, and true if that text is TOML.
pub fn head(text: &str) -> Option<(&str, bool)> {
    let FrontMatterBlock { fence, head, .. } = fenced(text)?;
    let toml = fence == "+++";
    // A horizontal rule may look like a fence, but the line below a rule is not a field.
    let first = head.lines().next()?;
    let (name, _) = first.split_once(if toml { '=' } else { ':' })?;
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    name.chars().all(letter).then_some((head, toml))
}

/// Returns the fields of a YAML mapping, in order. `None` if the text is not a mapping, or if two fields share a line.
fn yaml_fields(head: &str) -> Option<Vec<FrontMatterField>> {
    let mut events = Parser::new_from_str(head);
    let mut next = || events.next()?.ok();
    loop {
        match next()?.0 {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::MappingStart(..) => break,
            _ => return None,
        }
    }
    let mut found = Vec::new();
    loop {
        let (name, line) = match next()? {
            (Event::Scalar(name, ..), span) => (name.into_owned(), span.start.line().checked_sub(1)?),
            (Event::MappingEnd, _) => break,
            _ => return None,
        };
        let value = match next()?.0 {
            Event::Scalar(text, ..) => FrontMatterValue::One(text.into_owned()),
            Event::SequenceStart(..) => yaml_list(&mut next)?,
            Event::MappingStart(..) => {
                skip(&mut next)?;
                FrontMatterValue::Other
            }
            Event::Alias(_) => FrontMatterValue::Other,
            _ => return None,
        };
        found.push((name, value, line));
    }
    placed(found, head.lines().count())
}

type YamlEventSource<'a, 'b> = dyn FnMut() -> Option<(Event<'a>, saphyr_parser::Span)> + 'b;

/// Reads the rest of a list of texts. Returns [`FrontMatterValue::Other`] if an entry is not a text.
fn yaml_list(next: &mut YamlEventSource<'_, '_>) -> Option<FrontMatterValue> {
    let (mut list, mut plain) = (Vec::new(), true);
    loop {
        match next()?.0 {
            Event::Scalar(text, ..) => list.push(text.into_owned()),
            Event::SequenceEnd => break,
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                skip(next)?;
                plain = false;
            }
            _ => plain = false,
        }
    }
    Some(if plain { FrontMatterValue::Many(list) } else { FrontMatterValue::Other })
}

/// Skips to the end of the open list or mapping.
fn skip(next: &mut YamlEventSource<'_, '_>) -> Option<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        match next()?.0 {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth -= 1,
            Event::StreamEnd => return None,
            _ => {}
        }
    }
    Some(())
}

/// Returns the fields of a TOML table, in order.
fn toml_fields(head: &str) -> Option<Vec<FrontMatterField>> {
    let table = DeTable::parse(head).ok()?;
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    };
    let value = |value: &DeValue<'_>| match value {
        DeValue::Array(list) => {
            let texts: Option<Vec<String>> = list.iter().map(|one| text(one.get_ref())).collect();
            texts.map_or(FrontMatterValue::Other, FrontMatterValue::Many)
        }
        other => text(other).map_or(FrontMatterValue::Other, FrontMatterValue::One),
    };
    let breaks: Vec<usize> = head.match_indices('\n').map(|(at, _)| at).collect();
    let line = |at: usize| breaks.partition_point(|end| *end < at);
    let mut found: Vec<(String, FrontMatterValue, usize)> = Vec::new();
    for (name, one) in table.get_ref() {
        found.push((name.get_ref().to_string(), value(one.get_ref()), line(name.span().start)));
        // The keys of a table may be on distant lines: `a.b = 1` above another field, and `a.c = 2` below that field.
        let within = keys(one.get_ref()).into_iter();
        found.extend(within.map(|at| (String::new(), FrontMatterValue::Other, line(at))));
    }
    found.sort_by_key(|(_, _, line)| *line);
    found.dedup_by_key(|(_, _, line)| *line);
    placed(found, head.lines().count())
}

/// Returns the start position of each key within a table.
fn keys(value: &DeValue<'_>) -> Vec<usize> {
    let (mut begin, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        if let DeValue::Table(table) = value {
            begin.extend(table.keys().map(|key| key.span().start));
            open.extend(table.values().map(|value| value.get_ref()));
        }
    }
    begin
}

/// Assigns to each field the lines up to the next field.
fn placed(found: Vec<(String, FrontMatterValue, usize)>, end: usize) -> Option<Vec<FrontMatterField>> {
    let starts: Vec<usize> = found.iter().map(|(_, _, line)| *line).chain([end]).collect();
    let apart = starts.windows(2).all(|pair| pair[0] < pair[1]);
    let field = |((name, value, _), lines): ((String, FrontMatterValue, usize), &[usize])| FrontMatterField {
        name,
        value,
        lines: lines[0]..lines[1],
    };
    apart.then(|| found.into_iter().zip(starts.windows(2)).map(field).collect())
}
