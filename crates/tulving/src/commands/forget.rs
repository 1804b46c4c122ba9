//! `tulving forget`: softly, or for good.

use std::cell::Cell;

use clap::Args;
use tulving_core::request::{ForgetRequest, Manner};
use tulving_store::Folded;

use super::moves;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving forget 12 --reason \"no longer true\"
  tulving forget 12 13 14
  tulving restore 12
  tulving forget 12 --hard";

/// Flags of `forget`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Forget {
    #[command(flatten)]
    which: moves::Which,
    /// For good: content, versions and links go, and nothing brings them back
    #[arg(long)]
    hard: bool,
    /// Why, for the audit
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Forget, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let manner = if args.hard { Manner::Hard } else { Manner::Soft };
    let request = ForgetRequest { manner, reason: args.reason.clone() };
    let done = if args.hard { "Erased" } else { "Forgot" };
    let others = Cell::new(false);
    let elsewhere = Cell::new(false);
    let outcome = moves::each(&args.which, app, printer, done, |caller, which| {
        let memory = app.engine.forget(caller, which, &request)?;
        others.set(others.get() || memory.owner != caller.viewer.principal);
        elsewhere.set(memory.backend.is_some());
        Ok(memory)
    })?;
    if elsewhere.get() {
        return Ok(outcome);
    }
    if !args.hard && outcome == Outcome::Done {
        printer.note(match others.get() {
            false => "`tulving restore` brings it back",
            true => "its owner or an admin of the space brings it back with `tulving restore`",
        })?;
    }
    if args.hard {
        scrub(app, printer)?;
    }
    Ok(outcome)
}

/// Gets the text of what was erased out of unused parts of the files, once the answer is given. Where that must wait, the next
/// `forget --hard` or `doctor` does it.
pub(super) fn scrub(app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    printer.finish()?;
    match app.store.scrub().and_then(|_| app.store.erased_lingers()) {
        Ok(false) => {}
        Ok(true) => printer.warning(
            "another process reads the store, so the text may be in its files until that ends; `tulving doctor` tells",
        )?,
        Err(error) => printer.warning(format!("the file is still to be rewritten: {error}"))?,
    }
    match app.index.purge() {
        Ok(Folded::NoNeed | Folded::Done { left: 0, .. } | Folded::Unwritable(_)) => {}
        Ok(Folded::Busy | Folded::Done { .. }) => printer.warning(
            "another process uses the index, so its words may be in there until that ends; `tulving doctor` tells",
        )?,
        Err(error) => printer.warning(format!("the index is still to be rewritten: {error}"))?,
    }
    Ok(())
}
