//! `tulving save --batch`: saves many memories from JSON Lines, a thousand per transaction.
//!
//! If a line is wrong, all lines before it are saved, and the wrong line and all later lines are not. The error names the
//! line and the number of saved memories.

use std::path::Path;

use indicatif::ProgressBar;
use serde::Serialize;
use tulving_core::model::answer::{NearPairs, Receipt, SaveOutcome};
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::request::{Caller, SaveRequest};
use tulving_core::model::vocabulary::State;

use super::save::label;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input::InputLines;
use crate::json;
use crate::print::Printer;
use crate::show::text::{counted, counts};
use crate::wire::App;
use crate::worker;

/// Number of memories per transaction. It is large enough to keep the commit cost per memory low, and small enough that
/// other processes wait only for milliseconds.
const TRANSACTION: usize = 1_000;

/// Maximum number of warnings in the output for people. The output for programs lists all warnings.
const LISTED: usize = 20;

/// The result of a batch.
#[derive(Default, Serialize)]
struct BatchReport {
    created: u64,
    updated: u64,
    unchanged: u64,
    duplicate: u64,
    #[serde(rename = "memories")]
    receipts: Vec<Receipt>,
}

impl BatchReport {
    fn total(&self) -> u64 {
        self.created + self.updated + self.unchanged + self.duplicate
    }

    fn count(&mut self, receipts: Vec<Receipt>) {
        for receipt in &receipts {
            match receipt.outcome {
                SaveOutcome::Created => self.created += 1,
                SaveOutcome::Updated => self.updated += 1,
                SaveOutcome::Unchanged => self.unchanged += 1,
                SaveOutcome::Duplicate => self.duplicate += 1,
            }
        }
        self.receipts.extend(receipts);
    }
}

/// A batch in progress.
struct Batch<'a> {
    app: &'a App<'a>,
    caller: Caller,
    lines: InputLines,
    waiting: Vec<(u64, SaveRequest)>,
    report: BatchReport,
    bar: ProgressBar,
}

pub(super) fn run(path: &Path, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let lines = InputLines::open(path)?;
    let bar = printer.bar("Saving", lines.size());
    let caller = app.here()?;
    let mut batch = Batch { app, caller, lines, waiting: Vec::new(), report: BatchReport::default(), bar };
    let done = batch.save_all();
    batch.bar.finish_and_clear();
    batch.finish_links()?;
    if let Err(failure) = done {
        return Err(batch.explain(failure));
    }
    let BatchReport { created, updated, unchanged, duplicate, receipts } = &batch.report;
    if printer.json() {
        printer.document(&batch.report)?;
        return settled(app, printer);
    }
    warn(receipts, printer)?;
    let saved = format!("Saved {}", counted(*created, "memory", "memories"));
    let others = counts(&[(*updated, "updated"), (*unchanged, "unchanged"), (*duplicate, "already known")]);
    printer.line(if others.is_empty() { saved } else { format!("{saved}, {others}") })?;
    settled(app, printer)
}

/// Folds the new memories into the index after the answer. There may be many of them, and otherwise the next recall would
/// have to fold them.
fn settled(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    printer.finish()?;
    app.fold(printer)?;
    Ok(Outcome::Done)
}

/// Shows the parts of the requests that were not carried out, each with its memory.
fn warn(receipts: &[Receipt], printer: &mut Printer) -> Result<(), Failure> {
    let all = || receipts.iter().flat_map(|receipt| receipt.warnings.iter().map(move |w| (receipt, w)));
    for (receipt, warning) in all().take(LISTED) {
        printer.warning(format!("{}: {warning}", label(receipt)))?;
    }
    let more = all().skip(LISTED).count();
    if more > 0 {
        let more = counted(u64::try_from(more).unwrap_or(u64::MAX), "more warning", "more warnings");
        printer.note(format!("and {more}; --json shows all of them"))?;
    }
    // One note covers all similar memories.
    if let Some(pairs) = NearPairs::of(receipts) {
        let how = "if one replaces the other: tulving associate NEWER OLDER --relation updates";
        printer.note(format!("Check these: {pairs}; {how}"))?;
    }
    Ok(())
}

impl Batch<'_> {
    /// Runs the jobs of saved links, as a single save does.
    fn finish_links(&self) -> Result<(), Failure> {
        let waits = |receipt: &&Receipt| receipt.memory.status.state == State::Processing;
        for _ in self.report.receipts.iter().filter(waits) {
            if self.app.engine.process_waiting(worker::own())?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn save_all(&mut self) -> Result<(), Failure> {
        loop {
            match self.next() {
                Ok(Some(waiting)) => self.waiting.push(waiting),
                Ok(None) => return self.save_waiting(),
                Err(failure) => {
                    self.save_waiting()?;
                    return Err(failure);
                }
            }
            if self.waiting.len() == TRANSACTION {
                self.save_waiting()?;
            }
        }
    }

    fn next(&mut self) -> Result<Option<(u64, SaveRequest)>, Failure> {
        let Some((line, text)) = self.lines.next()? else {
            return Ok(None);
        };
        match json::save_request(&text) {
            Ok(request) => Ok(Some((line, request))),
            Err(why) => Err(self.lines.wrong(line, why)),
        }
    }

    /// Saves the waiting memories. If one memory is refused, the memories before it are still saved.
    fn save_waiting(&mut self) -> Result<(), Failure> {
        let mut waiting = std::mem::take(&mut self.waiting);
        match self.save(&waiting) {
            Err(Error::Invalid(Invalid::InBatch { index, source })) => {
                let line = waiting.get(index).map_or(0, |(line, _)| *line);
                waiting.truncate(index);
                self.save(&waiting)?;
                Err(self.lines.refused(line, *source))
            }
            done => done.map_err(|error| self.app.refused(&self.caller, error)),
        }
    }

    fn save(&mut self, waiting: &[(u64, SaveRequest)]) -> Result<(), Error> {
        if waiting.is_empty() {
            return Ok(());
        }
        let requests = waiting.iter().map(|(_, request)| request.clone()).collect();
        self.report.count(self.app.engine.save_many(&self.caller, requests)?);
        self.bar.set_position(if self.lines.size().is_some() {
            self.lines.read()
        } else {
            self.report.total()
        });
        Ok(())
    }

    /// Adds the number of already saved memories to the failure.
    fn explain(&self, failure: Failure) -> Failure {
        let saved = match self.report.total() {
            0 => "nothing was saved".to_owned(),
            saved => format!("{} before it stayed saved", counted(saved, "memory", "memories")),
        };
        let hint = failure.hint().map_or_else(|| saved.clone(), |hint| format!("{hint}; {saved}"));
        failure.hinted(hint)
    }
}
