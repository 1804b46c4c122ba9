//! `tulving backup`: copies the whole home into one file while others write, and restores it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use tulving_core::model::error::StoreError;
use tulving_store::{
    BackupCounts, BackupOmission, ConfigOutcome, ConfigTexts, DamagedStoreRestore, ExistingFilePolicy, Home,
    HomeContent, RestoreOptions, RestoreReport, WrittenConfig,
};

use super::cli::Command;
use crate::config::{self, Settings};
use crate::exit::Outcome;
use crate::failure::{Cause, Failure, InputError};
use crate::home_token;
use crate::open_store;
use crate::print::Printer;
use crate::show::text::{counted, one_line, thousands};
use crate::wire::{self, App};

const EXAMPLES: &str = "\
Examples:
  tulving backup create home.tar
  tulving backup restore home.tar
  tar tf home.tar

A backup is the whole home in one tar file: memories, the files of the workspace, attachments, and settings without secrets.
Both work while other processes have the store open. A restore is complete or changes nothing, and keeps the previous contents
as a backup in the home's `backups`.";

/// Maximum number of missing items that a message about a backup lists.
const NAMED: usize = 20;

/// Flags of `backup`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    command: BackupCommand,
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Copy the whole home into a file; other processes can keep writing
    Create {
        /// The file to write
        file: PathBuf,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Replace everything in the home by a backup
    Restore {
        /// The backup
        file: PathBuf,
        /// Put the files of the workspace into this folder instead of the one in use
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(args: &BackupArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("backup")?)?;
    match &args.command {
        BackupCommand::Create { file, force } => create(file, *force, app, printer),
        BackupCommand::Restore { file, workspace, yes } => {
            restore(file, workspace.as_deref(), *yes, app, printer)
        }
    }
}

fn create(file: &Path, force: bool, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if file == Path::new("-") {
        return Err(Failure::usage("a backup cannot be written to standard output; name a file"));
    }
    if !force && file.symlink_metadata().is_ok() {
        return Err(InputError::Exists { path: file.to_owned() }.into());
    }
    let if_exists = if force { ExistingFilePolicy::Replace } else { ExistingFilePolicy::Refuse };
    let objects = app.settings.objects.open(&app.store.home().objects());
    let content = HomeContent {
        home: app.store.home(),
        store: &*app.store.copies,
        files: &app.files,
        objects: &*objects,
        config: packed_config(&app.settings.home)?,
    };
    let bar = printer.bar("Copying", Some(0));
    let report = content.back_up(file, if_exists, &mut |done, all| advance(&bar, done, all));
    bar.finish_and_clear();
    let report = report.map_err(elsewhere)?;
    if printer.json() {
        let mut document = amounts(&report.counts, &report.left_out);
        document["file"] = serde_json::json!(report.path);
        document["bytes"] = report.bytes.into();
        printer.document(&document)?;
    } else {
        let (amounts, file) = (told_amounts(&report.counts), report.path.display());
        printer.line(format!("Backed up {amounts} to {file} ({} bytes)", thousands(report.bytes)))?;
    }
    warn_left_out(&report.left_out, printer)?;
    Ok(Outcome::Done)
}

/// Returns the settings of a home without their secrets.
fn packed_config(home: &Path) -> Result<ConfigTexts, Failure> {
    let text = |path: PathBuf| match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::Unusable { path, verb: "read", why: error.to_string() }),
    };
    let texts = ConfigTexts { toml: text(config::file_of(home))?, json: text(config::json_of(home))? };
    Ok(config::without_secrets(texts))
}

/// Returns the amounts in a backup, for programs.
fn amounts(counts: &BackupCounts, left_out: &[BackupOmission]) -> serde_json::Value {
    serde_json::json!({
        "memories": counts.memories, "files": counts.files, "attachments": counts.attachments,
        "former_texts": counts.former_texts, "left_out": left_out,
    })
}

/// Describes the amounts for people.
fn told_amounts(counts: &BackupCounts) -> String {
    format!(
        "{}, {} and {}",
        counted(counts.memories, "memory", "memories"),
        counted(counts.files, "file", "files"),
        counted(counts.attachments, "attachment", "attachments")
    )
}

/// Warns of what a backup does not contain.
fn warn_left_out(left_out: &[BackupOmission], printer: &mut Printer) -> Result<(), Failure> {
    for BackupOmission { path, why } in left_out.iter().take(NAMED) {
        printer.warning(format!("not in the backup: {}: {}", one_line(path), one_line(why)))?;
    }
    match left_out.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => printer.warning(format!("not in the backup: {more} more")),
    }
}

/// Returns the failure for a copy that was not written, with a hint if the target path is the problem.
pub(super) fn elsewhere(error: StoreError) -> Failure {
    match error {
        StoreError::Unusable { .. } => Failure::from(error).hinted("choose another file"),
        other => other.into(),
    }
}

fn restore(
    file: &Path,
    workspace: Option<&Path>,
    yes: bool,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let target = workspace.unwrap_or(app.files.folder());
    if !confirm(file, target, yes, app.settings, printer)? {
        return printer.declined();
    }
    let objects = app.settings.objects.open(&app.store.home().objects());
    let content = HomeContent {
        home: app.store.home(),
        store: &*app.store.copies,
        files: &app.files,
        objects: &*objects,
        config: packed_config(&app.settings.home)?,
    };
    let bar = printer.bar("Restoring", Some(0));
    let options = RestoreOptions {
        workspace: target,
        busy_wait: app.settings.busy_wait,
        config: &|texts| config::unpacked(&texts, named(workspace).as_deref()),
    };
    let report = content.restore(file, &options, &mut |done, all| advance(&bar, done, all));
    bar.finish_and_clear();
    let report = report?;
    move_in(file, app, printer)?;
    tell(file, workspace, &report, printer)
}

/// Makes a given folder absolute, because the folder becomes a setting, and a setting is not relative to the current folder.
fn named(workspace: Option<&Path>) -> Option<PathBuf> {
    workspace.map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
}

/// Records a restore, and renews the token of the home if the backup does not know it. The restore is already complete, so
/// problems in this step are warnings and not failures.
fn move_in(file: &Path, app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    if let Err(error) = app.engine.note_restore(&app.caller, &file.to_string_lossy()) {
        printer.warning(format!("the restore was not recorded in the audit: {error}"))?;
    }
    if let Err(failure) = home_token::renew(&app.engine, app.store.home()) {
        printer.warning(format!("the token in the home was not renewed: {}", failure.message()))?;
    }
    Ok(())
}

/// The error code of a damaged store.
pub(super) const DAMAGED: &str = "store_damaged";

/// If the command is a restore, restores over a store that is too damaged to be opened or read. Otherwise returns the
/// original failure.
pub(super) fn rescue(
    command: &Command,
    settings: &Settings,
    failure: Failure,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let Command::Backup(BackupArgs { command: BackupCommand::Restore { file, workspace, yes } }) = command
    else {
        return Err(failure);
    };
    // With a damaged store, the owner of a token cannot be determined.
    if failure.code() != DAMAGED || settings.token.is_some() {
        return Err(failure);
    }
    let home = Home::open_or_create(&settings.home)?;
    let files = wire::workspace(&home, settings);
    let workspace = workspace.as_deref();
    let target = workspace.unwrap_or(files.folder());
    if !confirm(file, target, *yes, settings, printer)? {
        return printer.declined();
    }
    printer.warning(failure.message())?;
    let objects = settings.objects.open(&home.objects());
    let damaged = open_store::damaged(&home, settings);
    let rescue = DamagedStoreRestore { home: &home, store: &damaged, files: &files, objects: &*objects };
    let options = RestoreOptions {
        workspace: target,
        busy_wait: settings.busy_wait,
        config: &|texts| config::unpacked(&texts, named(workspace).as_deref()),
    };
    let bar = printer.bar("Restoring", Some(0));
    let report = rescue.restore(file, &options, &mut |done, all| advance(&bar, done, all));
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
                "the restore was not recorded in the audit, and the token in the home was not renewed: {why}"
            ))?;
        }
    }
    tell(file, workspace, &report, printer)
}

fn confirm(
    file: &Path,
    files: &Path,
    yes: bool,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<bool, Failure> {
    // If the file is missing, no confirmation is needed, because the restore reports the error.
    if yes || !file.exists() {
        return Ok(true);
    }
    let home = std::path::absolute(&settings.home).unwrap_or_else(|_| settings.home.clone());
    let elsewhere = match files.starts_with(&home) {
        true => String::new(),
        false => format!(" and the files of memory in {}", files.display()),
    };
    let question =
        format!("Replace everything in {}{elsewhere} by {}?", settings.home.display(), file.display());
    printer.confirm(&question)?.ok_or_else(|| {
        let failure =
            Failure::from(Cause::Unconfirmed("a restore replaces everything and needs confirmation"));
        failure.hinted("add --yes")
    })
}

fn tell(
    file: &Path,
    workspace: Option<&Path>,
    report: &RestoreReport,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    if printer.json() {
        let mut document = amounts(&report.counts, &report.left_out);
        document["file"] = serde_json::json!(file);
        document["previous"] = serde_json::json!(report.previous);
        document["previous_files"] = serde_json::json!(report.previous_files);
        document["schema"] = report.schema.into();
        document["tokens_kept_revoked"] = report.kept_revoked.into();
        document["database_only"] = report.database_only.into();
        document["config"] = config_outcome(report.config).into();
        printer.document(&document)?;
    } else {
        tell_people(file, report, printer)?;
    }
    if let Some(folder) = named(workspace).filter(|_| !matches!(report.config, ConfigOutcome::Written(_))) {
        let folder = folder.display();
        printer.warning(format!(
            "set `workspace` to {folder} in config.toml; until then Tulving looks for the files in another folder"
        ))?;
    }
    warn_left_out(&report.left_out, printer)?;
    Ok(Outcome::Done)
}

fn tell_people(file: &Path, report: &RestoreReport, printer: &mut Printer) -> Result<(), Failure> {
    let restored = match report.database_only {
        true => counted(report.counts.memories, "memory", "memories"),
        false => told_amounts(&report.counts),
    };
    printer.line(format!("Restored {restored} from {}", file.display()))?;
    if report.database_only {
        printer.note(
            "The backup contains only the database; the files and attachments of this home stay unchanged",
        )?;
    }
    for previous in [Some(&report.previous), report.previous_files.as_ref()].into_iter().flatten() {
        printer.note(format!("The previous contents are in {}", previous.display()))?;
    }
    if report.kept_revoked > 0 {
        let tokens = counted(report.kept_revoked, "token", "tokens");
        printer.note(format!("These tokens were revoked after the backup and stay revoked: {tokens}"))?;
    }
    match report.config {
        ConfigOutcome::None => Ok(()),
        ConfigOutcome::Kept => printer.note("The existing settings stay unchanged"),
        ConfigOutcome::Written(WrittenConfig { toml, json }) => {
            let files = match (toml, json) {
                (true, true) => "config.toml and config.json were",
                (false, true) => "config.json was",
                _ => "config.toml was",
            };
            printer.note(format!(
                "{files} written, without secrets and without the former places of files and attachments"
            ))
        }
    }
}

fn config_outcome(config: ConfigOutcome) -> &'static str {
    match config {
        ConfigOutcome::Written(_) => "written",
        ConfigOutcome::Kept => "kept",
        ConfigOutcome::None => "none",
    }
}

fn advance(bar: &ProgressBar, done: u64, all: u64) {
    bar.set_length(all);
    bar.set_position(done);
}
