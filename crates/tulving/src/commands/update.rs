//! `tulving update`: writes a new version of a memory.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tulving_core::model::answer::EditedMemory;
use tulving_core::model::id::Version;
use tulving_core::model::request::UpdateRequest;
use tulving_core::model::vocabulary::{Boundary, ContentType, Kind, MemoryType, Stability};

use crate::args::{number, reference, time, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show::memory::{sentence, unchanged};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving update 12 \"Prefers Rust over TypeScript\"
  tulving update 12 --type decision --importance 0.9
  tulving update 12 --clear key --clear expires-at
  tulving update 12 - --if-version 3 < guide.md";

/// Flags of `update`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpdateArgs {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// New content; - reads standard input
    #[arg(value_name = "CONTENT")]
    words: Vec<OsString>,
    /// Only if it still has this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u32>,
    /// Take a field away; may be repeated
    #[arg(long, value_name = "FIELD", value_enum)]
    clear: Vec<ClearableField>,
    /// New type
    #[arg(long = "type", value_name = "TYPE", value_parser = word!(MemoryType))]
    memory_type: Option<MemoryType>,
    /// New kind
    #[arg(long, value_parser = word!(Kind))]
    kind: Option<Kind>,
    /// New stability
    #[arg(long, value_parser = word!(Stability))]
    stability: Option<Stability>,
    /// New importance, 0 to 1
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    importance: Option<f64>,
    /// New labels, instead of all the old ones; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// New key
    #[arg(long)]
    key: Option<String>,
    /// New title
    #[arg(long)]
    title: Option<String>,
    /// New summary
    #[arg(long)]
    summary: Option<String>,
    /// New form of the content
    #[arg(long, value_name = "FORM", value_parser = word!(ContentType))]
    content_type: Option<ContentType>,
    /// New language of code, such as rust
    #[arg(long, value_name = "NAME")]
    language: Option<String>,
    /// New boundary
    #[arg(long, value_parser = word!(Boundary))]
    boundary: Option<Boundary>,
    /// The source, in your words
    #[arg(long, value_name = "TEXT")]
    source_note: Option<String>,
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

/// A field that may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClearableField {
    Key,
    Title,
    Summary,
    Tags,
    Language,
    SourceNote,
    OccurredAt,
    ValidFrom,
    ValidUntil,
    ExpiresAt,
}

impl UpdateArgs {
    /// Returns the change of a field that may be empty: set, cleared, or left as it is.
    fn change<T>(&self, field: ClearableField, given: Option<T>) -> Result<Option<Option<T>>, Failure> {
        match (given, self.clear.contains(&field)) {
            (Some(_), true) => {
                let name = field.to_possible_value().map(|value| value.get_name().to_owned());
                Err(Failure::usage(format!("{} is both given and cleared", name.unwrap_or_default())))
            }
            (Some(value), false) => Ok(Some(Some(value))),
            (None, true) => Ok(Some(None)),
            (None, false) => Ok(None),
        }
    }

    fn request(&self, app: &App<'_>) -> Result<UpdateRequest, Failure> {
        let content = match self.words.as_slice() {
            [] => None,
            words => Some(input::text(words, app.settings.limits.content_bytes)?),
        };
        let tags = self.change(ClearableField::Tags, (!self.tags.is_empty()).then(|| self.tags.clone()))?;
        Ok(UpdateRequest {
            if_version: self.if_version.map(Version),
            content,
            content_type: self.content_type,
            language: self.change(ClearableField::Language, self.language.clone())?,
            key: self.change(ClearableField::Key, self.key.clone())?,
            title: self.change(ClearableField::Title, self.title.clone())?,
            summary: self.change(ClearableField::Summary, self.summary.clone())?,
            tags: tags.map(Option::unwrap_or_default),
            memory_type: self.memory_type,
            kind: self.kind,
            stability: self.stability,
            importance: self.importance,
            boundary: self.boundary,
            source_note: self.change(ClearableField::SourceNote, self.source_note.clone())?,
            occurred_at: self.change(ClearableField::OccurredAt, time(self.occurred_at.as_ref())?)?,
            valid_from: self.change(ClearableField::ValidFrom, time(self.valid_from.as_ref())?)?,
            valid_until: self.change(ClearableField::ValidUntil, time(self.valid_until.as_ref())?)?,
            expires_at: self.change(ClearableField::ExpiresAt, time(self.expires_at.as_ref())?)?,
        })
    }
}

pub(super) fn run(args: &UpdateArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let request = args.request(app)?;
    let caller = app.here()?;
    // The update reports what is wrong with the memory or the request.
    let before = app.engine.get(&caller, which).ok();
    let edited = app.engine.update(&caller, which, &request)?;
    if printer.json() {
        printer.document(&edited)?;
        return Ok(Outcome::Done);
    }
    let EditedMemory { memory, warnings } = edited;
    if before.is_some_and(|before| before.version == memory.version) {
        printer.line(unchanged(&memory))?;
        printer.warnings(&warnings)?;
        return Ok(Outcome::Done);
    }
    let done = format!("Updated {} to version {}", memory.reference(), memory.version);
    printer.line(sentence(&done, &memory, printer.columns()))?;
    printer.warnings(&warnings)?;
    Ok(Outcome::Done)
}
