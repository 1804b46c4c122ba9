//! `tulving fold`: maintains the index. Commands start it in the background if it would take long.

use std::sync::Arc;

use clap::Args;
use tulving_store::{Home, SqliteStore};

use crate::config::Settings;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::wire;

/// Flags of `fold`.
#[derive(Debug, Args)]
pub(crate) struct FoldArgs {}

/// Folds a long tail, and rebuilds the index if that is needed and no other process does.
pub(super) fn run(_: &FoldArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome, Failure> {
    let home = Home::open_or_create(&settings.home)?;
    let store = Arc::new(SqliteStore::open(&home, wire::options(settings))?);
    if let Err(error) = wire::index(&store).tend() {
        printer.warning(format!("the index was not folded: {error}"))?;
    }
    Ok(Outcome::Done)
}
