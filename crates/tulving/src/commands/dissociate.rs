//! `tulving dissociate`: removes links from one memory to another.

use std::collections::BTreeMap;

use clap::Args;
use tulving_core::model::vocabulary::Relation;

use crate::args::{reference, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, WORD};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving dissociate 12 3
  tulving dissociate 12 3 --relation updates";

/// Flags of `dissociate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DissociateArgs {
    /// The memory that the link starts from
    #[arg(value_name = "MEMORY")]
    source: String,
    /// The memory that the link points to
    #[arg(value_name = "OTHER-MEMORY")]
    target: String,
    /// Only the link of this relation [default: all of them]
    #[arg(long, value_parser = word!(Relation))]
    relation: Option<Relation>,
}

pub(super) fn run(args: &DissociateArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let (source, target) = (reference(&args.source)?, reference(&args.target)?);
    let removed = app.engine.dissociate(&app.here()?, source, target, args.relation)?;
    if printer.json() {
        printer.document(&BTreeMap::from([("deleted", &removed)]))?;
        return Ok(Outcome::Done);
    }
    for link in &removed {
        let relation = style::paint(WORD, link.relation);
        printer.line(format!("Removed {source} {relation} {target}"))?;
    }
    Ok(Outcome::Done)
}
