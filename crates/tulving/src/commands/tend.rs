//! `tulving tend`: applies the rules for aged memories, or lists what they would do.

use clap::Args;
use tulving_core::background::lifecycle::judge::LifecycleStep;
use tulving_core::model::request::Caller;
use tulving_core::{TendRequest, TendedStep, TendingResult};
use tulving_server::api::TendReply;

use crate::config::SettingSource;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::sentence;
use crate::show::style::{self, FAINT};
use crate::show::text::{counted, one_line};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving tend --dry-run
  tulving tend
  tulving tend --space team-notes --limit 500 --json

A memory that is unused for long cools: recall ranks it lower until it is used again. After a long time a cooling memory of low
importance is archived: hidden from recall, but shown by `get` and `list --archived`, and restored by `unarchive`. Expired memories
are archived too. The rules are settings below `tend` (`tulving config --help`); a server applies them by itself.";

/// Flags of `tend`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TendArgs {
    /// List what would be done, and why; write nothing
    #[arg(long)]
    dry_run: bool,
    /// Maximum number of steps to list
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
}

pub(super) fn run(args: &TendArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let named = *app.settings.space_source() != SettingSource::Default;
    let request =
        TendRequest { space: named.then_some(caller.space), dry_run: args.dry_run, shown: args.limit };
    let tended = app.engine.tend(&caller, &request)?;
    if printer.json() {
        printer.document(&TendReply { dry_run: args.dry_run, tended: tended.clone() })?;
    } else {
        for step in &tended.steps {
            described(step, args.dry_run, printer)?;
        }
        let untold = tended.moved().saturating_sub(tended.steps.len() as u64);
        if untold > 0 {
            printer.note(format!("{untold} more: beyond --limit, gone for good, or private to others"))?;
        }
        printer.line(summary(&tended, args.dry_run))?;
    }
    if tended.held_back > 0 {
        printer.warning(format!(
            "{} waiting to be deleted until the clock has run for a day without a jump",
            counted(tended.held_back, "forgotten memory is", "forgotten memories are")
        ))?;
    }
    warn_of_absent_spaces(&caller, app, printer)?;
    Ok(Outcome::Done)
}

/// Warns of rules for spaces that do not exist. Only a caller who sees all spaces can detect such rules.
fn warn_of_absent_spaces(caller: &Caller, app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    if app.engine.require_org_admin(caller).is_err() {
        return Ok(());
    }
    let spaces = app.engine.spaces(caller)?;
    let known = |name: &str| spaces.iter().any(|space| space.is_called(name));
    for name in app.settings.tending.rules().spaces.keys().filter(|name| !known(name)) {
        printer
            .warning(format!("config.toml has rules for `{}`, and there is no such space", one_line(name)))?;
    }
    Ok(())
}

fn described(step: &TendedStep, dry_run: bool, printer: &mut Printer) -> Result<(), Failure> {
    let (done, would) = match step.step {
        LifecycleStep::Cool => ("Cooled", "Would cool"),
        LifecycleStep::Revive => ("Revived", "Would revive"),
        LifecycleStep::Archive => ("Archived", "Would archive"),
        LifecycleStep::Erase => ("Erased", "Would erase"),
    };
    let done = format!("{} {}", if dry_run { would } else { done }, step.memory.reference());
    printer.line(sentence(&done, &step.memory, printer.columns()))?;
    printer.line(format!("      {}", style::paint(FAINT, &step.why)))
}

fn summary(tended: &TendingResult, dry_run: bool) -> String {
    let parts = [
        (tended.cooled, "cooled"),
        (tended.revived, "revived"),
        (tended.archived, "archived"),
        (tended.erased, "erased"),
        (tended.audit_removed, "removed from the audit"),
    ];
    let would = if dry_run { " would be" } else { "" };
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count}{would} {what}")).collect();
    let looked = counted(tended.looked_at, "memory", "memories");
    match parts.is_empty() {
        true => format!("Checked {looked}; nothing is due"),
        false => format!("Checked {looked}; {}", parts.join(", ")),
    }
}
