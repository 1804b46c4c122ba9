//! The part of `tulving import` that reads the data of other memory systems: their databases, exports and journals.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tulving_core::files::journal_import::{JournalImportReport, LongTermImportOutcome};
use tulving_core::model::foreign::SkippedItem;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::System;
use tulving_core::verbs::foreign_import::{ForeignImportCounts, ForeignImportOptions, ForeignImportReport};
use tulving_store::foreign::{self, ForeignContent, ForeignError, ForeignSource};

use crate::failure::Failure;
use crate::print::Printer;
use crate::show::text::{self, counted, one_line};
use crate::wire::App;

/// The word of `--as` for ordinary files and folders.
const FILES: &str = "files";
/// Maximum number of entries of each sort in the output for people. The output for programs lists all entries.
const LISTED: usize = 20;

/// Flags for the data of other memory systems.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other memories")]
pub(crate) struct ForeignImportArgs {
    /// The type of the data, if it is not detected: max, spacebot, groups, maven, memax, mcp, chat or files
    #[arg(long = "as", value_name = "WHAT", value_parser = words(), hide_possible_values = true)]
    what: Option<String>,
    /// The group, if a database has several
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

fn words() -> clap::builder::PossibleValuesParser {
    let words: Vec<&'static str> = System::WORDS.iter().copied().chain([FILES]).collect();
    clap::builder::PossibleValuesParser::new(words)
}

/// The result of importing another system's data.
#[derive(Debug, Serialize)]
pub(super) struct ForeignImportOutput {
    path: String,
    #[serde(flatten)]
    became: ForeignImportSummary,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ForeignImportSummary {
    Memories(ForeignImportReport),
    Journals(ImportedJournals),
}

#[derive(Debug, Serialize)]
struct ImportedJournals {
    system: System,
    #[serde(flatten)]
    taken: JournalImportReport,
}

/// The data of another memory system, and its path.
pub(super) type SourceAtPath = (PathBuf, ForeignSource);

/// Paths, separated by their content.
#[derive(Default)]
pub(super) struct SortedPaths {
    pub(super) sources: Vec<SourceAtPath>,
    pub(super) files: Vec<PathBuf>,
}

impl ForeignImportArgs {
    /// Separates the data of other memory systems from ordinary files and folders. `own` is the database of this home.
    pub(super) fn sort(&self, paths: &[PathBuf], own: &Path) -> Result<SortedPaths, Failure> {
        let SortedPaths { mut sources, mut files } = SortedPaths::default();
        for path in paths {
            if is_same(path, own) {
                return Err(ForeignError::Ours { path: path.clone() }.into());
            }
            if self.what.is_none() && is_dump(path) {
                return Err(Failure::usage(format!("{} is a dump of Tulving", path.display()))
                    .hinted("load it with `tulving load`, or keep it as a document with `--as files`"));
            }
            let found = match self.what.as_deref() {
                Some(FILES) => None,
                // The caller decides whether a missing path is an error.
                None if !path.exists() => None,
                Some(word) => Some(foreign::of(path, word.parse::<System>()?)?),
                None => foreign::find(path)?,
            };
            match found {
                Some(source) => sources.push((path.clone(), source)),
                None => files.push(path.clone()),
            }
        }
        if let (Some(group), true) =
            (&self.group, sources.iter().all(|(_, source)| source.system() != System::Groups))
        {
            return Err(Failure::usage(format!(
                "--group {group} applies only to the database of a groups system, and none was given"
            )));
        }
        Ok(SortedPaths { sources, files })
    }

    /// Imports the data of one source.
    pub(super) fn take(
        &self,
        (path, source): &SourceAtPath,
        app: &App<'_>,
        caller: &Caller,
        options: &ForeignImportOptions,
        printer: &mut Printer,
    ) -> Result<ForeignImportOutput, Failure> {
        let group = self.group.as_deref().filter(|_| source.system() == System::Groups);
        let became = match source.read(group)? {
            ForeignContent::Memories(collection) => {
                let bar = printer.bar("Importing", Some(collection.memories.len() as u64));
                let adopted = app.engine.adopt(caller, collection, options, &mut |more| bar.inc(more as u64));
                bar.finish_and_clear();
                ForeignImportSummary::Memories(adopted.map_err(|error| app.refused(caller, error))?)
            }
            ForeignContent::Journals(diary) => {
                let taken = app.engine.take_journals(caller, diary, options.dry_run);
                let taken = taken.map_err(|error| app.refused(caller, error))?;
                ForeignImportSummary::Journals(ImportedJournals { system: source.system(), taken })
            }
        };
        Ok(ForeignImportOutput { path: path.display().to_string(), became })
    }
}

/// Returns a hint if a file found in a folder is another system's database, which is not imported automatically. `own`
/// is the database of this home.
pub(super) fn hint(path: &Path, own: &Path) -> Option<String> {
    if is_same(path, own) {
        return Some("it is the store itself".to_owned());
    }
    if !foreign::is_named_like_a_database(path) {
        return None;
    }
    let whose = whose(foreign::glance(path)?);
    Some(format!("it contains {whose}; import them with `tulving import {}`", path.display()))
}

/// True if both are the same file. Only SQLite may open the database of this home: closing it in any other way releases
/// the locks that this process holds on it.
fn is_same(path: &Path, own: &Path) -> bool {
    let which = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    which(path).is_some_and(|found| which(own) == Some(found))
}

/// True if the file is the output of `tulving dump`.
fn is_dump(path: &Path) -> bool {
    const BEGIN: &[u8] = br#"{"record":"dump""#;
    let mut begin = [0; BEGIN.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == BEGIN
}

/// Describes the data of a system for people.
fn whose(system: System) -> &'static str {
    match system {
        System::Max => "Max's memories",
        System::Spacebot => "Spacebot's memories",
        System::Groups => "the memories of an agent with groups",
        System::Maven => "Maven's journals",
        System::Memax => "memories of Memax",
        System::Mcp => "entities of the MCP memory server",
        System::Chat => "a chat",
    }
}

impl ForeignImportOutput {
    pub(super) fn show(&self, dry_run: bool, printer: &mut Printer) -> Result<(), Failure> {
        match &self.became {
            ForeignImportSummary::Memories(adopted) => self.show_memories(adopted, dry_run, printer),
            ForeignImportSummary::Journals(journals) => self.show_journals(&journals.taken, dry_run, printer),
        }
    }

    fn show_memories(
        &self,
        adopted: &ForeignImportReport,
        dry_run: bool,
        printer: &mut Printer,
    ) -> Result<(), Failure> {
        for one in &adopted.would_be {
            printer.line(format!("{:9} {}  {}", one.became, one_line(&one.what), one_line(&one.says)))?;
        }
        let counts = [
            (adopted.new, "new"),
            (adopted.updated, "updated"),
            (adopted.known, "already known"),
            (adopted.forgotten, "forgotten there"),
            (adopted.restored, "back"),
            (adopted.renumbered.len() as u64, "renumbered"),
            (adopted.left.len() as u64, "left unchanged here"),
            (adopted.skipped.len() as u64, "skipped"),
        ];
        printer.line(self.headline(whose(adopted.system), &counts, dry_run))?;
        print_counts("links", &adopted.links, printer)?;
        print_counts("turns of the conversation", &adopted.turns, printer)?;
        for moved in adopted.renumbered.iter().take(LISTED) {
            printer.line(format!("  {} is now {}", moved.from, moved.to))?;
        }
        more(adopted.renumbered.len(), printer)?;
        listed("left unchanged", &adopted.left, printer)?;
        listed("skipped", &adopted.skipped, printer)?;
        adopted.notes.iter().try_for_each(|note| printer.note(note))
    }

    fn show_journals(
        &self,
        taken: &JournalImportReport,
        dry_run: bool,
        printer: &mut Printer,
    ) -> Result<(), Failure> {
        let counts = [
            (taken.new, "new"),
            (taken.extended, "longer"),
            (taken.known, "already known"),
            (taken.skipped.len() as u64, "skipped"),
        ];
        printer.line(self.headline(whose(System::Maven), &counts, dry_run))?;
        match taken.long_term {
            Some(LongTermImportOutcome::New) => printer.line("  MEMORY.md: new")?,
            Some(LongTermImportOutcome::Known) => printer.line("  MEMORY.md: already known")?,
            Some(LongTermImportOutcome::Left) => {
                printer.warning("there is another MEMORY.md here, which was left unchanged")?;
                printer.note("merge the two with `tulving long-term edit`")?;
            }
            None => {}
        }
        if taken.beside > 0 {
            printer.note("only `memory` was read; --as files imports all files there as documents")?;
        }
        listed("skipped", &taken.skipped, printer)?;
        printer.warnings(&taken.warnings)
    }

    fn headline(&self, what: &str, counts: &[(u64, &str)], dry_run: bool) -> String {
        let name = Path::new(&self.path).file_name().and_then(|name| name.to_str()).unwrap_or(&self.path);
        let counts = Some(text::counts(counts)).filter(|counts| !counts.is_empty());
        let counts = counts.unwrap_or_else(|| "nothing".to_owned());
        let would = if dry_run { "would import " } else { "" };
        format!("{}: {would}{what}: {counts}", one_line(name))
    }
}

fn print_counts(what: &str, counts: &ForeignImportCounts, printer: &mut Printer) -> Result<(), Failure> {
    let counts =
        text::counts(&[(counts.new, "new"), (counts.known, "already known"), (counts.left_out, "left out")]);
    if counts.is_empty() { Ok(()) } else { printer.line(format!("  {what}: {counts}")) }
}

fn listed(how: &str, skipped: &[SkippedItem], printer: &mut Printer) -> Result<(), Failure> {
    for SkippedItem { what, why } in skipped.iter().take(LISTED) {
        printer.warning(format!("{} was {how}: {why}", one_line(what)))?;
    }
    more(skipped.len(), printer)
}

fn more(count: usize, printer: &mut Printer) -> Result<(), Failure> {
    match count.saturating_sub(LISTED) {
        0 => Ok(()),
        more => {
            let more = counted(more as u64, "more", "more");
            printer.note(format!("and {more}; --json lists all of them"))
        }
    }
}
