//! `tulving push`: saves one document of any form.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use tulving_core::model::answer::{Receipt, Warning};
use tulving_core::model::id::MemoryId;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, SaveRequest};
use tulving_core::model::vocabulary::{ContentType, State};
use tulving_core::{Document, JobResult};
use tulving_store::tree;
use tulving_text::classify::form;

use super::save::{self, SourceArgs};
use crate::args::FieldArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show;
use crate::wire::App;
use crate::worker;

const EXAMPLES: &str = "\
Examples:
  tulving push docs/runbook.md
  tulving push report.pdf --tag finance
  tulving push https://example.org/changelog
  git log -1 | tulving push - --title \"Last commit\"

A file is known by its path: pushing it again updates its memory if the file has changed. Text is kept unchanged. The text of
other files is extracted if possible, and the file itself is kept as well. A URL is saved, but nothing is fetched from it.";

/// Flags of `push`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PushArgs {
    /// A file, a URL, or - for standard input
    #[arg(value_name = "FILE|URL|-")]
    what: String,
    /// The file name of standard input; its ending gives the form
    #[arg(long, value_name = "FILE")]
    name: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// Pin it: mark it as one to keep
    #[arg(long)]
    pin: bool,
    #[command(flatten)]
    source: SourceArgs,
}

impl PushArgs {
    fn request(&self, content: String) -> SaveRequest {
        SaveRequest { pinned: self.pin, ..self.source.request(self.fields.request(content)) }
    }
}

pub(super) fn run(args: &PushArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let saved = if form::of_text(None, &args.what).content_type == ContentType::Link {
        app.engine.save(&caller, args.request(args.what.clone()))
    } else {
        app.engine.push(&caller, document(args, app)?)
    };
    let mut receipt = saved.map_err(|error| app.refused(&caller, error))?;
    let worked = finish(app, &caller, &mut receipt, printer)?;
    embed(app, &caller, &mut receipt, printer)?;
    receipt.warnings.extend(trouble(&receipt.memory));
    if printer.json() {
        printer.document(&receipt)?;
        return Ok(Outcome::Done);
    }
    let became = save::what_became(&receipt);
    printer.line(show::memory::sentence(&became, &receipt.memory, printer.columns()))?;
    printer.warnings(&receipt.warnings)?;
    match worked {
        Some(JobResult { lacking: true, .. }) => {
            app.engine.missing_extractors().into_iter().try_for_each(|missing| printer.note(missing))?;
        }
        Some(JobResult { remedy: Some(remedy), .. }) => printer.note(remedy)?,
        _ => {}
    }
    Ok(Outcome::Done)
}

/// Runs the job that a saved memory waits for, if there is one, and shows the memory after the job.
pub(super) fn finish(
    app: &App<'_>,
    caller: &Caller,
    receipt: &mut Receipt,
    printer: &mut Printer,
) -> Result<Option<JobResult>, Failure> {
    if receipt.memory.status.state != State::Processing {
        return Ok(None);
    }
    let worked = work(app, receipt.memory.id, printer)?;
    if let Ok(memory) = app.engine.get(caller, receipt.memory.id.into()) {
        receipt.memory = memory;
    }
    Ok(worked)
}

/// Returns a warning about the text of a file.
fn trouble(memory: &Memory) -> Option<Warning> {
    let unread = if memory.is_unread() { "it is found by its name only: " } else { "" };
    let trouble = memory.provenance.attachment.as_ref()?.trouble.as_deref()?;
    Some(Warning::Form { note: format!("{unread}{trouble}") })
}

fn document(args: &PushArgs, app: &App<'_>) -> Result<Document, Failure> {
    let about = args.request(String::new());
    let most = app.settings.limits.attachment_bytes as u64;
    if args.what == "-" {
        let bytes = input::standard_input(most)?;
        return Ok(Document { name: args.name.clone(), bytes, about });
    }
    if args.name.is_some() {
        return Err(Failure::usage("--name is only for standard input; a file has its own name"));
    }
    let path = Path::new(&args.what);
    if args.what.contains("://") && !path.exists() {
        let what = tulving_core::model::preview::short(&args.what);
        return Err(Failure::usage(format!("`{what}` is not a supported URL"))
            .hinted("a URL begins with http:// or https:// and contains no spaces"));
    }
    let known = input::full_path(path)?;
    let (_, bytes) = tree::read(path, most).map_err(|error| input::unread(path, error))?;
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::usage(format!("{} is empty", path.display()))
            .hinted("nothing was saved; name a file with content"));
    }
    let about = SaveRequest { source_path: Some(known.clone()), ..about };
    Ok(Document { name: Some(known), bytes, about })
}

/// Maximum time for embedding a long document before the answer, and number of sections between two checks of the clock.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: usize = 8;

/// Embeds a document that was too long for the save itself, or prints a note that it will be embedded later. If a service
/// computes the vectors, background work embeds the document.
fn embed(
    app: &App<'_>,
    caller: &Caller,
    receipt: &mut Receipt,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let began = Instant::now();
    let patience = if app.settings.embedding.is_service() { Duration::ZERO } else { PATIENCE };
    let which = receipt.memory.id.into();
    let Ok(mut left) = app.engine.embed_memory(caller, which, 0) else { return Ok(()) };
    receipt.warnings.retain(|warning| !matches!(warning, Warning::EmbeddedLater { .. }));
    let bar = (left > 0).then(|| printer.bar("Embedding", Some(left as u64)));
    while left > 0 && began.elapsed() < patience {
        let Ok(now) = app.engine.embed_memory(caller, which, STEP) else { break };
        if let Some(bar) = &bar {
            bar.inc(left.saturating_sub(now) as u64);
        }
        left = now;
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    if left > 0 && !receipt.warnings.iter().any(|warning| matches!(warning, Warning::NotEmbedded { .. })) {
        receipt.warnings.push(Warning::EmbeddedLater { sections: left });
    }
    Ok(())
}

/// Maximum number of other jobs that this command runs before its own job; a server runs the others.
const OTHERS: usize = 16;

/// Runs the job that a memory waits for, if no other process is running it, and returns the result of the job.
fn work(app: &App<'_>, memory: MemoryId, printer: &mut Printer) -> Result<Option<JobResult>, Failure> {
    let bar = printer.bar("Reading", None);
    let mut own = None;
    for _ in 0..OTHERS {
        match app.engine.process_waiting(worker::own())? {
            Some(done) if done.job.memory() != Some(memory) => {}
            done => {
                own = done;
                break;
            }
        }
    }
    bar.finish_and_clear();
    Ok(own)
}
