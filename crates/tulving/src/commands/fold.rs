//! `tulving fold`: looks after the index. Commands start it by themselves where that would take long, and do not wait.

use std::io;
use std::sync::Arc;

use clap::Args;
use tulving_store::{Home, SqliteStore};

use crate::background;
use crate::config::Settings;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::wire;

/// Flags of `fold`.
#[derive(Debug, Args)]
pub(crate) struct Fold {}

/// Folds a long tail, and makes the index anew where that is needed and nobody else does.
pub(super) fn run(_: &Fold, settings: &Settings, printer: &mut Printer) -> Result<Outcome, Failure> {
    let home = Home::open_or_create(&settings.home)?;
    let store = Arc::new(SqliteStore::open(&home, wire::options(settings))?);
    if let Err(error) = wire::index(&store).tend() {
        printer.warning(format!("the index was not folded: {error}"))?;
    }
    Ok(Outcome::Done)
}

/// Starts it as a process of its own that outlives this one. Where it is ended, whoever needs the index next starts
/// another.
pub(crate) fn start(settings: &Settings) -> io::Result<()> {
    background::start(settings, &["fold"])
}
