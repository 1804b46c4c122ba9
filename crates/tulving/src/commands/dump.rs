//! `tulving dump`: writes everything in the store as JSON Lines.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use tulving_core::model::record::{DumpPosition, Record};
use tulving_store::DraftFile;

use super::backup;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure, InputError};
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving dump memories.jsonl
  tulving dump | gzip > memories.jsonl.gz
  tulving load memories.jsonl --home elsewhere

The dump contains all spaces, forgotten memories and all versions, with attachments and the files of the
workspace (MEMORY.md, journals, conversations, files of groups). It does not contain tokens, passes, previous
texts of files or settings; its first line says so.";

/// Number of records per read: small, so that the write-ahead log can be truncated in between.
const PAGE: usize = 1_000;

/// Flags of `dump`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DumpArgs {
    /// The file to write; - is standard output
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &DumpArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if args.file == Path::new("-") {
        let bar = ProgressBar::hidden();
        let written = write(app, &bar, &mut |line| printer.bytes(line))?;
        warn(&written, printer)?;
        return Ok(Outcome::Done);
    }
    let bar = printer.bar("Dumping", None);
    let written = to_file(args, app, &bar);
    bar.finish_and_clear();
    let written = written?;
    let records = written.records;
    if printer.json() {
        let document =
            serde_json::json!({ "file": args.file, "records": records, "missing": written.missing });
        printer.document(&document)?;
    } else {
        printer.line(format!(
            "Wrote {} to {}",
            counted(records, "record", "records"),
            args.file.display()
        ))?;
    }
    warn(&written, printer)?;
    Ok(Outcome::Done)
}

/// The result of the dump.
#[derive(Default)]
struct DumpReport {
    /// Number of records between the first line and the last.
    records: u64,
    /// The attachments and files that could not be read, and why.
    missing: Vec<(String, String)>,
}

fn warn(written: &DumpReport, printer: &mut Printer) -> Result<(), Failure> {
    for (what, why) in &written.missing {
        printer.warning(format!("{what} is not in the dump: {why}"))?;
    }
    Ok(())
}

/// Writes to a draft and renames it at the end, so that a dump is complete or absent. Only its owner may read it.
fn to_file(args: &DumpArgs, app: &App<'_>, bar: &ProgressBar) -> Result<DumpReport, Failure> {
    refuse_devices(&args.file)?;
    let path = &tulving_store::check_target(app.store.home(), &args.file).map_err(backup::elsewhere)?;
    if !args.force && args.file.symlink_metadata().is_ok() {
        return Err(InputError::Exists { path: args.file.clone() }.into());
    }
    let unwritable =
        |source: io::Error| -> Failure { InputError::Unwritable { path: path.clone(), source }.into() };
    // If this process is killed, the next process that writes into the folder or opens the home removes the draft.
    let draft = DraftFile::beside(path, ".jsonl").map_err(backup::elsewhere)?;
    let (draft, written) = fill(draft, app, bar, &unwritable)?;
    draft.replace(path).map_err(unwritable)?;
    Ok(written)
}

/// Refuses a device, a pipe or a socket: a file cannot replace it, and the user meant to write to it.
fn refuse_devices(path: &Path) -> Result<(), Failure> {
    let special = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    // `metadata` follows these paths to the target of the output, which may be a regular file.
    let stream = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|name| path.starts_with(name));
    if special || stream {
        return Err(InputError::NotRegular { path: path.to_owned() }.into());
    }
    Ok(())
}

fn fill(
    draft: DraftFile,
    app: &App<'_>,
    bar: &ProgressBar,
    unwritable: &dyn Fn(io::Error) -> Failure,
) -> Result<(DraftFile, DumpReport), Failure> {
    let mut out = BufWriter::new(draft);
    let written = write(app, bar, &mut |line| out.write_all(line).map_err(unwritable))?;
    let draft = out.into_inner().map_err(|error| unwritable(error.into_error()))?;
    draft.sync().map_err(unwritable)?;
    Ok((draft, written))
}

/// Writes each record as a line, and returns the result.
fn write(
    app: &App<'_>,
    bar: &ProgressBar,
    take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<DumpReport, Failure> {
    let mut position = Some(DumpPosition::default());
    let mut written = DumpReport::default();
    while let Some(from) = position {
        let (page, next) = app.engine.dump(app.everywhere("dump")?, from, PAGE)?;
        for record in page {
            let mut line = serde_json::to_vec(&record).map_err(|error| Cause::Output(error.into()))?;
            line.push(b'\n');
            take(&line)?;
            written.records += u64::from(!record.is_frame());
            if let Record::Missing { what, why } = record {
                written.missing.push((what, why));
            }
        }
        bar.set_position(written.records);
        position = next;
    }
    Ok(written)
}
