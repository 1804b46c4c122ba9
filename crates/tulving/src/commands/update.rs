//! `tulving update`: writes a new version of a memory.

use std::ffi::OsString;

use clap::Args;
use tulving_core::model::answer::EditedMemory;
use tulving_core::model::id::Version;
use tulving_core::model::request::UpdateRequest;

use crate::args::{ClearableField, FieldArgs, change, reference, time};
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
    /// Clear a field; may be repeated
    #[arg(long, value_name = "FIELD", value_enum)]
    clear: Vec<ClearableField>,
    #[command(flatten)]
    fields: FieldArgs,
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

impl UpdateArgs {
    fn request(&self, app: &App<'_>) -> Result<UpdateRequest, Failure> {
        let content = match self.words.as_slice() {
            [] => None,
            words => Some(input::text(words, app.settings.limits.content_bytes)?),
        };
        let clear = self.clear.as_slice();
        Ok(UpdateRequest {
            if_version: self.if_version.map(Version),
            content,
            source_note: change(clear, ClearableField::SourceNote, self.source_note.clone())?,
            occurred_at: change(clear, ClearableField::OccurredAt, time(self.occurred_at.as_ref())?)?,
            valid_from: change(clear, ClearableField::ValidFrom, time(self.valid_from.as_ref())?)?,
            valid_until: change(clear, ClearableField::ValidUntil, time(self.valid_until.as_ref())?)?,
            expires_at: change(clear, ClearableField::ExpiresAt, time(self.expires_at.as_ref())?)?,
            ..self.fields.edit(clear)?
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
