//! `tulving push`: one document, whatever it is.

use std::path::Path;

use clap::Args;
use tulving_core::Document;
use tulving_core::classify::form;
use tulving_core::id::MemoryId;
use tulving_core::request::SaveRequest;
use tulving_core::vocabulary::{ContentType, State};
use tulving_store::tree;

use super::Placed;
use super::save::{self, About};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving push docs/runbook.md
  tulving push report.pdf --tag finance
  tulving push https://example.org/changelog
  git log -1 | tulving push - --title \"Last commit\"

A file is known by its path: pushing it again updates its memory, or finds that nothing has changed. Text is kept as it is;
of other files the text is read where that is possible, and the file is kept beside it. Of a URL nothing is fetched.";

/// Flags of `push`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Push {
    /// A file, a URL, or - for standard input
    #[arg(value_name = "FILE|URL|-")]
    what: String,
    /// What it is called, where it comes from standard input: its ending tells its form
    #[arg(long, value_name = "FILE")]
    name: Option<String>,
    #[command(flatten)]
    about: About,
}

pub(super) fn run(args: &Push, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let saved = if form::of_text(None, &args.what).content_type == ContentType::Link {
        app.engine.push_text(&caller, args.about.request(args.what.clone()))
    } else {
        app.engine.push(&caller, document(args, app)?)
    };
    let mut receipt = saved.map_err(|error| app.refused(&caller, error))?;
    if receipt.state == State::Processing {
        work(app, receipt.id, printer)?;
    }
    let memory = app.engine.get(&caller, receipt.id.into());
    if let Ok(memory) = &memory {
        receipt.state = memory.standing.state;
    }
    if printer.json() {
        let names = app.space_names()?;
        printer.document(&Placed::new(&receipt, receipt.space, &names))?;
        return Ok(Outcome::Done);
    }
    let became = save::what_became(&receipt);
    match &memory {
        Ok(memory) => printer.line(show::memory::sentence(&became, memory, printer.columns()))?,
        Err(_) => printer.line(became)?,
    }
    for warning in &receipt.warnings {
        printer.warning(warning)?;
    }
    let trouble = memory.ok().and_then(|memory| memory.provenance.attachment?.trouble);
    if let Some(trouble) = trouble {
        printer.warning(format!("it is found by its name only: {trouble}"))?;
    }
    Ok(Outcome::Done)
}

fn document(args: &Push, app: &App<'_>) -> Result<Document, Failure> {
    let about = args.about.request(String::new());
    let most = app.settings.limits.attachment_bytes as u64;
    if args.what == "-" {
        let bytes = input::standard_input(most)?;
        return Ok(Document { name: args.name.clone(), bytes, about });
    }
    if args.name.is_some() {
        return Err(Failure::usage("--name is for standard input; a file has a name"));
    }
    let path = Path::new(&args.what);
    let known = input::full_path(path)?;
    let (_, bytes) = tree::read(path, most).map_err(|error| input::unread(path, error))?;
    let about = SaveRequest { source_path: Some(known.clone()), ..about };
    Ok(Document { name: Some(known), bytes, about })
}

/// How many pieces of work of others are done before one's own; a server does the rest.
const OTHERS: usize = 16;

/// Does the work that a memory waits for, where nobody else is doing it.
fn work(app: &App<'_>, memory: MemoryId, printer: &mut Printer) -> Result<(), Failure> {
    let bar = printer.bar("Reading", None);
    for _ in 0..OTHERS {
        match app.engine.process_waiting(&app.holder())? {
            Some(done) if done.job.memory() != Some(memory) => {}
            _ => break,
        }
    }
    bar.finish_and_clear();
    Ok(())
}
