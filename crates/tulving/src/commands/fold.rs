//! `tulving fold`: maintains the index. Commands start it in the background if it would take long.

use clap::Args;
use tulving_store::Home;

use crate::config::Settings;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::open_store::OpenStore;
use crate::print::Printer;

/// Flags of `fold`.
#[derive(Debug, Args)]
pub(crate) struct FoldArgs {}

/// Folds a long tail, and rebuilds the index if this is needed and no other process is rebuilding it.
pub(super) fn run(_: &FoldArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome, Failure> {
    let home = Home::open_or_create(&settings.home)?;
    if let Err(error) = OpenStore::open(&home, settings)?.index.tend() {
        printer.warning(format!("the index was not folded: {error}"))?;
    }
    Ok(Outcome::Done)
}
