//! `tulving associate`: links one memory to another.

use clap::Args;
use tulving_core::model::answer::CreatedAssociation;
use tulving_core::model::request::AssociationRequest;
use tulving_core::model::vocabulary::Relation;

use crate::args::{number, reference, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, WORD};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving associate 12 3
  tulving associate 12 3 --relation updates
  tulving associate 12 3 --relation caused_by --weight 0.8

Read a link from the first to the second: 12 updates 3. The updated memory is superseded: recall prefers the newer one.
If 3 had updated 12, 12 is valid again: the later call counts.";

/// Flags of `associate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AssociateArgs {
    /// The memory that the link starts from
    #[arg(value_name = "MEMORY")]
    source: String,
    /// The memory that the link points to
    #[arg(value_name = "OTHER-MEMORY")]
    target: String,
    /// The relation [default: related_to]
    #[arg(long, value_parser = word!(Relation))]
    relation: Option<Relation>,
    /// The strength, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    weight: Option<f64>,
}

pub(super) fn run(args: &AssociateArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let (source, target) = (reference(&args.source)?, reference(&args.target)?);
    let request = AssociationRequest { target, relation: args.relation, weight: args.weight };
    let made = app.engine.associate(&app.here()?, source, &request)?;
    if printer.json() {
        printer.document(&made)?;
        return Ok(Outcome::Done);
    }
    let CreatedAssociation { link, warnings } = made;
    let relation = style::paint(WORD, link.relation);
    printer.line(format!("Associated {source} {relation} {target} (weight {})", link.weight.get()))?;
    printer.warnings(&warnings)?;
    Ok(Outcome::Done)
}
