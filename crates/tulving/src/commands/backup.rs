//! `tulving backup`: the whole store as one file, taken while others write, and back.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use tulving_core::error::StoreError;
use tulving_store::{Home, IfExists, RestoreReport, SqliteStore};

use crate::args::Command;
use crate::config::Settings;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::home_token;
use crate::input::InputError;
use crate::print::Printer;
use crate::show::text::{counted, thousands};
use crate::wire::{self, App};

const EXAMPLES: &str = "\
Examples:
  tulving backup create memories.db
  tulving backup restore memories.db

Both work while other processes have the store open. A restore keeps what was there in the home's `backups`.";

/// Flags of `backup`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Backup {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Copy the store into a file, while others go on writing
    Create {
        /// The file to make
        file: PathBuf,
        /// Replace a file that is there
        #[arg(long)]
        force: bool,
    },
    /// Put a backup in the place of what is stored
    Restore {
        /// The backup
        file: PathBuf,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(args: &Backup, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("backup")?)?;
    match &args.act {
        Act::Create { file, force } => create(file, *force, app, printer),
        Act::Restore { file, yes } => restore(file, *yes, app, printer),
    }
}

fn create(file: &Path, force: bool, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if file == Path::new("-") {
        return Err(Failure::usage("a backup cannot go to standard output; name a file"));
    }
    if !force && file.symlink_metadata().is_ok() {
        return Err(InputError::Exists { path: file.to_owned() }.into());
    }
    let if_exists = if force { IfExists::Replace } else { IfExists::Refuse };
    let bar = printer.bar("Copying", Some(0));
    let report = app.store.backup(file, if_exists, &mut |done, all| advance(&bar, done, all));
    bar.finish_and_clear();
    let report = report.map_err(elsewhere)?;
    if printer.json() {
        printer.document(&serde_json::json!({
            "file": report.path, "bytes": report.bytes, "memories": report.memories,
        }))?;
    } else {
        printer.line(format!(
            "Backed up {} to {} ({} bytes)",
            counted(report.memories, "memory", "memories"),
            report.path.display(),
            thousands(report.bytes)
        ))?;
    }
    Ok(Outcome::Done)
}

/// Why a copy was not written, with what to do where it is its place that is wrong.
pub(super) fn elsewhere(error: StoreError) -> Failure {
    match error {
        StoreError::Unusable { .. } => Failure::from(error).hinted("choose another file"),
        other => other.into(),
    }
}

fn restore(file: &Path, yes: bool, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if !confirm(file, yes, app.settings, printer)? {
        return printer.declined();
    }
    let bar = printer.bar("Restoring", Some(0));
    let report = app.store.restore(file, &mut |done, all| advance(&bar, done, all));
    bar.finish_and_clear();
    let report = report?;
    move_in(file, app, printer)?;
    tell(file, &report, printer)
}

/// Notes a restore and renews the token of the home where the backup does not know it. What is done is done: what goes wrong
/// here is said and is no failure.
fn move_in(file: &Path, app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    if let Err(error) = app.engine.note_restore(&app.caller, &file.to_string_lossy()) {
        printer.warning(format!("the restore is not in the audit: {error}"))?;
    }
    if let Err(failure) = home_token::renew(&app.engine, app.store.home()) {
        printer.warning(format!("the token in the home was not renewed: {}", failure.message()))?;
    }
    Ok(())
}

/// The code of a store that is damaged.
pub(super) const DAMAGED: &str = "store_damaged";

/// Restores over a store that is too damaged to be opened or read, where that is what was asked; else gives back why the
/// command failed.
pub(super) fn rescue(
    command: &Command,
    settings: &Settings,
    failure: Failure,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let Command::Backup(Backup { act: Act::Restore { file, yes } }) = command else { return Err(failure) };
    // Who a token speaks for cannot be read from a damaged store.
    if failure.code() != DAMAGED || settings.token.is_some() {
        return Err(failure);
    }
    if !confirm(file, *yes, settings, printer)? {
        return printer.declined();
    }
    printer.warning(failure.message())?;
    let home = Home::open_or_create(&settings.home)?;
    let bar = printer.bar("Restoring", Some(0));
    let report = SqliteStore::rescue(&home, wire::options(settings), file, &mut |done, all| {
        advance(&bar, done, all);
    });
    bar.finish_and_clear();
    let report = report?;
    match wire::open(settings) {
        Ok(app) => {
            app.greet(printer)?;
            move_in(file, &app, printer)?;
        }
        Err(failure) => {
            let why = failure.message();
            printer.warning(format!(
                "the restore is not in the audit, and the token in the home was not renewed: {why}"
            ))?;
        }
    }
    tell(file, &report, printer)
}

fn confirm(file: &Path, yes: bool, settings: &Settings, printer: &mut Printer) -> Result<bool, Failure> {
    // What is not there needs no answer, and the one who restores says why.
    if yes || !file.exists() {
        return Ok(true);
    }
    let question = format!("Replace everything in {} by {}?", settings.home.display(), file.display());
    printer.confirm(&question)?.ok_or_else(|| {
        let failure =
            Failure::from(Cause::Unconfirmed("a restore replaces everything and was not confirmed"));
        failure.hinted("add --yes")
    })
}

fn tell(file: &Path, report: &RestoreReport, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&serde_json::json!({
            "file": file, "memories": report.memories, "previous": report.previous, "schema": report.schema,
            "tokens_kept_revoked": report.kept_revoked,
        }))?;
    } else {
        let memories = counted(report.memories, "memory", "memories");
        printer.line(format!("Restored {memories} from {}", file.display()))?;
        printer.note(format!("What was there before is in {}", report.previous.display()))?;
        if report.kept_revoked > 0 {
            let tokens = counted(report.kept_revoked, "token", "tokens");
            printer.note(format!("Still revoked, because revoked since the backup: {tokens}"))?;
        }
    }
    Ok(Outcome::Done)
}

fn advance(bar: &ProgressBar, done: u64, all: u64) {
    bar.set_length(all);
    bar.set_position(done);
}
