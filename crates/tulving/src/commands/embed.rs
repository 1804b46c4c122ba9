//! `tulving embed`: computes the missing vectors now, with progress.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use tulving_core::EmbeddingProgress;
use tulving_core::model::error::Error;

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving embed
  tulving embed --json

Memories of a bulk save, or saved while the model failed, are embedded later; until then they are found by their words.
After a change of the model, this command computes new vectors. Recall uses the old ones until the last is ready; then they
are deleted. It can be interrupted; servers and later commands continue it. It works on all spaces. `tulving model add` sets up
another model.";

/// Flags of `embed`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EmbedArgs {}

/// Number of sections that are embedded between two steps of the bar.
const STEP: usize = 64;
/// Number of vectors of earlier models that are searched at a time. Writers wait during each search.
const DROPPED: usize = 2_000;
/// Number of failures that are shown.
const SHOWN: usize = 5;

/// The result of the command.
#[derive(Default, Serialize)]
struct EmbedReport {
    embedded: u64,
    waiting: u64,
    /// The failures of the model, by id.
    failed: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_over: Option<String>,
}

pub(super) fn run(_: &EmbedArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("embed")?)?;
    let engine = app.with_model_rechecked();
    let mut report = EmbedReport::default();
    step_by_step(
        app,
        printer,
        || engine.change_model(STEP),
        |step| {
            report.embedded += step.done;
            report.waiting = step.left;
            report
                .failed
                .extend(step.failed.into_iter().map(|failed| (failed.memory.to_string(), failed.why)));
            report.took_over = step.took_over.or(report.took_over.take());
        },
    )?;
    let model = app.engine.set_up_model();
    if model.is_some() {
        while app.store.upkeep.drop_stale_vectors(model.as_deref(), DROPPED)? {}
    }
    if printer.json() {
        printer.document(&report)?;
        return Ok(Outcome::Done);
    }
    for (id, why) in report.failed.iter().take(SHOWN) {
        printer.warning(format!("{id}: {why}"))?;
    }
    if let Some(model) = &report.took_over {
        printer.line(format!("Recall now uses the vectors of {model}"))?;
    }
    let line = match (report.embedded, report.waiting) {
        (0, 0) => "Nothing is waiting to be embedded".to_owned(),
        (done, 0) => format!("Embedded {}", counted(done, "memory", "memories")),
        (done, left) => format!("Embedded {}; {left} still wait", counted(done, "memory", "memories")),
    };
    printer.line(line)?;
    Ok(Outcome::Done)
}

/// Embeds all waiting memories, as a part of another command.
pub(super) fn along(app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    if app.engine.set_up_model().is_none() {
        return Ok(());
    }
    step_by_step(app, printer, || app.engine.embed_waiting(STEP), drop)
}

/// Embeds with a progress bar until nothing more can be done now. `described` gets the result of each step.
fn step_by_step(
    app: &App<'_>,
    printer: &mut Printer,
    embed: impl Fn() -> Result<EmbeddingProgress, Error>,
    mut described: impl FnMut(EmbeddingProgress),
) -> Result<(), Failure> {
    let (mut bar, mut done, mut sections) = (None, 0, 0);
    loop {
        let step = embed()?;
        let goes_on = step.goes_on();
        done += step.done;
        sections += step.sections as u64;
        let bar = bar.get_or_insert_with(|| printer.bar("Embedding", Some(step.done + step.left)));
        bar.set_position(done);
        // A long memory takes many steps, during which the bar does not move.
        bar.set_message(format!("Embedding, {} done", counted(sections, "section", "sections")));
        described(step);
        if !goes_on {
            break;
        }
        // The embeddings made the change log long. The fold saves other processes from reading all of it.
        app.fold(printer)?;
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(())
}
