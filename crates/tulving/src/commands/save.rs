//! `tulving save`: saves one memory from the command line or standard input, or many memories from JSON Lines.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use tulving_core::model::answer::{NearMemory, PossibleUpdate, Receipt, SaveOutcome};
use tulving_core::model::id::MemoryNumber;
use tulving_core::model::preview;
use tulving_core::model::request::{AssociationRequest, Caller, SaveRequest};
use tulving_core::model::vocabulary::{self, Author, Relation, Trust};

use super::{batch, push};
use crate::args::{FieldArgs, reference, time, whole_number, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving save \"Prefers TypeScript over JavaScript\" --type preference
  tulving save Standup is at 9:30 --type routine --tag work
  tulving save \"We chose SQLite\" --type decision --updates 3
  tulving save - --key style-guide --content-type markdown < guide.md
  tulving save --batch memories.jsonl

Each line of a batch is a JSON object with a `content` and any of the fields above, `_` for `-`:
  {\"content\": \"Prefers tea\", \"type\": \"preference\", \"importance\": 0.7}
These fields have other names than their flags:
  \"tags\": [\"a\", \"b\"]          for --tag a --tag b
  \"pinned\": true              for --pin
  \"author\": \"auto\"            for --auto
  \"assisted_by_agent\": \"x\"    for --assisted-by x
  \"associations\": [{\"target\": \"#3\", \"relation\": \"updates\", \"weight\": 0.8}]
                              for --updates 3:0.8 and the other links";

/// Flags of `save`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SaveArgs {
    /// The content to remember; - reads standard input
    #[arg(value_name = "CONTENT", required_unless_present = "batch", conflicts_with = "batch")]
    words: Vec<OsString>,
    /// Save each line of a file of JSON Lines; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["FieldArgs", "pin", "OriginArgs", "SourceArgs", "SpanArgs", "LinkArgs"])]
    batch: Option<PathBuf>,
    #[command(flatten)]
    fields: FieldArgs,
    /// Pin it: mark it as one to keep
    #[arg(long)]
    pin: bool,
    #[command(flatten)]
    origin: OriginArgs,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    span: SpanArgs,
    #[command(flatten)]
    links: LinkArgs,
}

/// Flags about the origin of the memory.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it comes from")]
struct OriginArgs {
    /// Mark it as saved proactively, not on request
    #[arg(long)]
    auto: bool,
    /// The source, in your words
    #[arg(long, value_name = "TEXT")]
    source_note: Option<String>,
    /// The file that it was read from: saving the same path again updates the memory
    #[arg(long, value_name = "PATH")]
    source_path: Option<String>,
    /// The trust in its source [default: own]
    #[arg(long, value_parser = word!(Trust))]
    trust: Option<Trust>,
    /// The conversation it comes from
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
    /// Its position in that conversation
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = whole_number,
        allow_negative_numbers = true,
        requires = "conversation"
    )]
    position: Option<i64>,
    /// The name of the speaker
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
}

/// Flags about the channel of the memory.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it comes from")]
pub(super) struct SourceArgs {
    /// The agent that helped you to write it
    #[arg(long, value_name = "NAME")]
    assisted_by: Option<String>,
    /// The channel through which it comes [default: cli]
    #[arg(long = "source", alias = "origin", value_name = "SOURCE", value_parser = word!(vocabulary::Origin))]
    origin: Option<vocabulary::Origin>,
}

impl SourceArgs {
    /// Adds these flags to a request.
    pub(super) fn request(&self, about: SaveRequest) -> SaveRequest {
        SaveRequest { assisted_by_agent: self.assisted_by.clone(), origin: self.origin, ..about }
    }
}

/// The times at which the memory happened and is true.
#[derive(Debug, Args)]
#[command(next_help_heading = "When (2026-05-27 or 2026-05-27T09:30:00Z)")]
struct SpanArgs {
    /// Time at which it happened
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<String>,
    /// Start of its validity
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// End of its validity
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// Time from which recall no longer finds it
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

/// Links to existing memories.
#[derive(Debug, Args)]
#[command(next_help_heading = "Links, with a weight from 0 to 1 if you like: 12 or 12:0.8; may be repeated")]
struct LinkArgs {
    /// It is related to that memory
    #[arg(long, value_name = "MEMORY")]
    related_to: Vec<String>,
    /// It updates that memory, which is superseded
    #[arg(long, value_name = "MEMORY")]
    updates: Vec<String>,
    /// It contradicts that memory
    #[arg(long, value_name = "MEMORY")]
    contradicts: Vec<String>,
    /// It was caused by what that memory says
    #[arg(long, value_name = "MEMORY")]
    caused_by: Vec<String>,
    /// It is a result of what that memory says
    #[arg(long, value_name = "MEMORY")]
    result_of: Vec<String>,
    /// It is a part of what that memory says
    #[arg(long, value_name = "MEMORY")]
    part_of: Vec<String>,
}

impl LinkArgs {
    fn requests(&self) -> Result<Vec<AssociationRequest>, Failure> {
        let flags = [
            (Relation::RelatedTo, &self.related_to),
            (Relation::Updates, &self.updates),
            (Relation::Contradicts, &self.contradicts),
            (Relation::CausedBy, &self.caused_by),
            (Relation::ResultOf, &self.result_of),
            (Relation::PartOf, &self.part_of),
        ];
        let named = flags.iter().flat_map(|(relation, names)| names.iter().map(|name| (*relation, name)));
        named.map(|(relation, name)| link(relation, name)).collect()
    }
}

/// Parses `12` or `12:0.8`.
fn link(relation: Relation, text: &str) -> Result<AssociationRequest, Failure> {
    let (name, weight) = match text.rsplit_once(':') {
        None => (text, None),
        Some((name, weight)) => {
            let weight: f64 = weight.parse().map_err(|_| {
                Failure::usage(format!("`{}` is not a memory with a weight", preview::short(text)))
                    .hinted("write 12 or 12:0.8")
            })?;
            (name, Some(weight))
        }
    };
    Ok(AssociationRequest { target: reference(name)?, relation: Some(relation), weight })
}

impl SaveArgs {
    fn request(&self, content: String) -> Result<SaveRequest, Failure> {
        let Self { fields, origin, span, .. } = self;
        Ok(SaveRequest {
            author: origin.auto.then_some(Author::Auto),
            source_note: origin.source_note.clone(),
            trust: origin.trust,
            source_path: origin.source_path.clone(),
            conversation: origin.conversation.clone(),
            position: origin.position,
            speaker: origin.speaker.clone(),
            occurred_at: time(span.occurred_at.as_ref())?,
            valid_from: time(span.valid_from.as_ref())?,
            valid_until: time(span.valid_until.as_ref())?,
            expires_at: time(span.expires_at.as_ref())?,
            associations: self.links.requests()?,
            pinned: self.pin,
            ..self.source.request(fields.request(content))
        })
    }
}

pub(super) fn run(args: &SaveArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if let Some(path) = &args.batch {
        return batch::run(path, app, printer);
    }
    let content = input::text(&args.words, app.settings.limits.content_bytes)?;
    let mut request = args.request(content)?;
    app.resolve_source_path(&mut request.source_path)?;
    let caller = app.here()?;
    let saved = app.engine.save(&caller, request);
    let mut receipt = saved.map_err(|error| app.refused(&caller, error))?;
    push::finish(app, &caller, &mut receipt, printer)?;
    if printer.json() {
        printer.document(&receipt)?;
        return Ok(Outcome::Done);
    }
    printer.line(show::memory::sentence(&what_became(&receipt), &receipt.memory, printer.columns()))?;
    printer.warnings(&receipt.warnings)?;
    tell_near(&receipt, &caller, app, printer)?;
    Ok(Outcome::Done)
}

/// Prints which memory a new memory may update or nearly repeats, and what to do if the new memory replaces the older one.
fn tell_near(
    receipt: &Receipt,
    caller: &Caller,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let Some(own) = receipt.memory.number else { return Ok(()) };
    let how = |old: MemoryNumber| format!("tulving associate {} {} --relation updates", own.0, old.0);
    if let Some(PossibleUpdate { number: Some(number), preview, .. }) = receipt.possible_updates.first() {
        return printer.note(format!(
            "Possible update of {number} ({preview}); if it replaces that: {}, or save with --updates {} next time",
            how(*number),
            number.0
        ));
    }
    for NearMemory { id, number, .. } in receipt.near.iter().filter(|near| near.duplicate) {
        let Some(number) = number else { continue };
        let Ok(memory) = app.engine.get(caller, (*id).into()) else { continue };
        let said = preview::short(&memory.fields.text.content);
        return printer
            .note(format!("Nearly the same as {number} ({said}); if it replaces that: {}", how(*number)));
    }
    Ok(())
}

/// Returns the name of the memory of a receipt.
pub(super) fn label(receipt: &Receipt) -> String {
    receipt.memory.reference().to_string()
}

/// Returns the fields that changed because a user saved what had been saved automatically.
fn changed(receipt: &Receipt) -> String {
    let changes: Vec<String> = receipt.changed.iter().map(ToString::to_string).collect();
    if changes.is_empty() { String::new() } else { format!("; {}", changes.join(", ")) }
}

pub(super) fn what_became(receipt: &Receipt) -> String {
    let label = label(receipt);
    let archive = if receipt.revived { ", back from the archive" } else { "" };
    match receipt.outcome {
        SaveOutcome::Created => format!("Saved {label}"),
        SaveOutcome::Updated => {
            format!("Updated {label} to version {}{archive}{}", receipt.memory.version, changed(receipt))
        }
        SaveOutcome::Unchanged => format!("Unchanged {label}{archive}"),
        SaveOutcome::Duplicate => format!("Already known as {label}{archive}"),
    }
}
