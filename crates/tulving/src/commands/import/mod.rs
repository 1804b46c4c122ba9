//! `tulving import`: imports trees of files, each file as a memory, and the data of other memory systems. It can be repeated.

mod report;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use tulving_core::model::request::{Caller, SaveRequest};
use tulving_core::model::vocabulary::{Boundary, Origin};
use tulving_core::verbs::foreign_import::ForeignImportOptions;
use tulving_core::verbs::import::{self, ImportPlan, ReadFile, SeenFile};
use tulving_store::tree::{self, SkippedPaths, WalkOptions};
use tulving_text::classify::form;

use self::report::{ImportReport, SkippedFile};
use super::embed;
use super::foreign_import::{self, ForeignImportArgs, SortedPaths, SourceAtPath};
use super::jobs::{self, JobRunReport};
use crate::args::word;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving import ~/notes
  tulving import . --dry-run
  tulving import docs src --tag handbook
  tulving import ~/notes --watch --prune
  tulving import ~/.max/max.db --dry-run
  tulving import memories.db --group main --space main

Imports Markdown, text, code, structured data, PDFs, images and Office documents. It skips hidden files, files that may
contain secrets, folders of generated files (node_modules, target, …) and everything that .gitignore, .ignore or
.tulvingignore excludes. A file is known by its path: an unchanged file is not read again, a changed file becomes a new
version, and a moved file keeps its memory. Files with the same content are one memory. Vanished files are reported, and
archived with --prune. An interrupted import continues where it stopped. A dry run decides on up to 200 changed files at
a time; its counts may differ if files further apart exchange their contents.

Data of other systems is recognised by its content: the databases of Max, of Spacebot and of agents with groups, the workspace of
Maven, memories of Memax and of the MCP memory server as JSON, and chats as JSON. It is imported memory by memory; a later import
adds changed memories as new versions. docs/import.md describes the mapping.";

/// Wraps words into lines; the first begins with this text.
fn wrapped(first: &str, words: impl Iterator<Item = &'static str>) -> String {
    let (mut text, mut line) = (String::new(), first.to_owned());
    for word in words {
        if line.len() + word.len() > 77 {
            text.push_str(&line);
            text.push('\n');
            line = "   ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
    text
}

fn help() -> String {
    let mut help = format!("{EXAMPLES}\n\nThe names of files that are taken end with:\n");
    for (group, endings) in form::endings() {
        help.push_str(&wrapped(&format!("  {group}:"), endings.into_iter()));
    }
    help.push_str("\nFolders that are skipped unless you name them or give --include-generated:\n");
    help.push_str(&wrapped(" ", form::generated_folders()));
    help.push_str("  Also virtual environments and caches of any name, which are known by\n  pyvenv.cfg or CACHEDIR.TAG in them.\n");
    help
}

/// Maximum number of files, and approximate maximum size in bytes, of one batch.
const FILES: usize = 200;
const BYTES: usize = 8_000_000;
/// The interval between checks of a watched tree. A large tree is checked less often, so that the checks use only a small
/// part of the time.
const LOOK: Duration = Duration::from_secs(2);
const SELDOM: u32 = 20;
const SELDOMEST: Duration = Duration::from_secs(60);

/// Flags of `import`.
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct ImportArgs {
    /// Folders and files
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Only report what would be done
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Keep following the files until interrupted
    #[arg(long)]
    watch: bool,
    /// Archive the memories of files that have vanished
    #[arg(long)]
    prune: bool,
    /// Also hidden files and folders
    #[arg(long)]
    hidden: bool,
    /// Also folders of generated files, such as node_modules and target
    #[arg(long)]
    include_generated: bool,
    /// Postpone embedding, and reading the text of PDFs and similar files
    #[arg(long)]
    later: bool,
    /// A label for each; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The boundary: who may see them [default: private in `default`, hub elsewhere]
    #[arg(long, value_parser = word!(Boundary))]
    boundary: Option<Boundary>,
    #[command(flatten)]
    other: ForeignImportArgs,
}

pub(super) fn run(args: &ImportArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = Caller { origin: Origin::Import, ..app.here()? };
    if args.later || args.dry_run {
        app.leave_embedding();
    }
    let SortedPaths { sources, files } = args.other.sort(&args.paths, &app.store.home().database())?;
    if let (true, Some((path, _))) = (args.watch, sources.first()) {
        let what =
            format!("--watch follows files, and {} is the data of another memory system", path.display());
        return Err(Failure::usage(what).hinted("import it without --watch, as often as you like"));
    }
    let roots = files.iter().map(|path| ImportRoot::of(path, args.prune)).collect::<Result<Vec<_>, _>>()?;
    let importer = Importer { args, app, caller, roots };
    let taken = importer.adopt(&sources, printer)?;
    let mut report =
        if importer.roots.is_empty() { ImportReport::default() } else { importer.once(printer)? };
    report.sources = taken;
    report.show(args, printer)?;
    if args.dry_run {
        return Ok(Outcome::Done);
    }
    if args.watch || !report.did_nothing() || !report.sources.is_empty() {
        importer.finish(printer)?;
    }
    if args.watch {
        importer.watch(report, printer)?;
    }
    Ok(Outcome::Done)
}

/// A file or folder to import.
struct ImportRoot {
    path: PathBuf,
    /// The prefix of the names of its files.
    known: String,
}

impl ImportRoot {
    /// Returns the root for a path. With `prune`, the path may no longer exist, so that its memories can be archived.
    fn of(path: &Path, prune: bool) -> Result<Self, Failure> {
        let known = match input::full_path(path) {
            Err(_) if prune && is_missing(path) => input::missing_path(path)?,
            known => known?,
        };
        Ok(Self { path: path.to_owned(), known })
    }

    /// Returns the name of a file below this root; `None` if the name is not UTF-8.
    fn name(&self, file: &Path) -> Option<String> {
        let below = file.strip_prefix(&self.path).ok()?;
        match below.as_os_str().is_empty() {
            true => Some(self.known.clone()),
            false => Some(format!("{}/{}", self.known.trim_end_matches('/'), below.to_str()?)),
        }
    }
}

/// True if the name is that of this path or of a file below it.
fn is_within(name: &str, path: &str) -> bool {
    let below = name.strip_prefix(path.trim_end_matches('/'));
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if the path certainly does not exist.
fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The files below the roots.
#[derive(Default)]
struct FoundFiles {
    seen: Vec<SeenFile>,
    /// The path of each file.
    paths: HashMap<String, PathBuf>,
    /// The paths that could not be read: files in them have not vanished.
    unread: Vec<String>,
    /// The skipped paths, each once, even if they are below two roots.
    skipped: HashSet<String>,
    /// The skipped folders of generated files.
    generated: Vec<GeneratedFolder>,
}

/// A folder of generated files.
struct GeneratedFolder {
    /// The index of the root that contains it.
    root: usize,
    name: String,
}

struct Importer<'a> {
    args: &'a ImportArgs,
    app: &'a App<'a>,
    caller: Caller,
    roots: Vec<ImportRoot>,
}

impl Importer<'_> {
    /// Imports the data of other memory systems.
    fn adopt(
        &self,
        sources: &[SourceAtPath],
        printer: &mut Printer,
    ) -> Result<Vec<foreign_import::ForeignImportOutput>, Failure> {
        let options = ForeignImportOptions {
            tags: self.args.tags.clone(),
            boundary: self.args.boundary,
            dry_run: self.args.dry_run,
        };
        let take = |source| self.args.other.take(source, self.app, &self.caller, &options, printer);
        sources.iter().map(take).collect()
    }

    /// Checks all files once, and imports those that have changed.
    fn once(&self, printer: &mut Printer) -> Result<ImportReport, Failure> {
        let mut report = ImportReport::default();
        let began = Instant::now();
        let FoundFiles { seen, paths, unread, generated, .. } = self.look(&mut report);
        let known = self.app.engine.imported(&self.caller)?;
        let is_generated = |root: usize, name: &str| {
            let mut folders = generated.iter().filter(|folder| folder.root == root);
            folders.any(|folder| is_within(name, &folder.name)) && !is_missing(Path::new(name))
        };
        let within = |name: &str| {
            let looked_for = |(at, root): (usize, &ImportRoot)| {
                is_within(name, &root.known) && !self.is_overlooked(root, name) && !is_generated(at, name)
            };
            self.roots.iter().enumerate().any(looked_for) && !unread.iter().any(|path| is_within(name, path))
        };
        let mut plan = import::plan(known, seen, within, |name| is_missing(Path::new(name)));
        report.looking = Some(began.elapsed());
        report.unchanged = plan.unchanged as u64;
        report.forgotten = plan.forgotten.len() as u64;
        let waiting = std::mem::take(&mut plan.read);
        let bar = printer.bar("Importing", Some(waiting.len() as u64));
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for file in waiting {
            bar.inc(1);
            let Some(read) = self.read(file, &paths, &mut report) else { continue };
            bytes += read.bytes.len();
            batch.push(read);
            if batch.len() == FILES || bytes > BYTES {
                self.take(&mut plan, std::mem::take(&mut batch), &mut report)?;
                bytes = 0;
            }
        }
        self.take(&mut plan, batch, &mut report)?;
        bar.finish_and_clear();
        report.vanished = plan.vanished().map(|file| file.path.clone()).collect();
        if self.args.prune {
            let archived = match self.args.dry_run {
                true => self.app.engine.foresee_prune(&self.caller, &plan)?,
                false => self.app.engine.prune_import(&self.caller, &plan)?,
            };
            report.archived = archived.len();
            let with_memory = plan.vanished().filter(|file| archived.contains(&file.memory));
            report.archived_paths = with_memory.map(|file| file.path.clone()).collect();
        }
        report.warnings.extend(self.kept(&plan)?);
        Ok(report)
    }

    /// True if the file exists and is hidden, so that it was skipped.
    fn is_overlooked(&self, root: &ImportRoot, name: &str) -> bool {
        let below = name.strip_prefix(root.known.as_str()).unwrap_or_default();
        !self.args.hidden && below.contains("/.") && !is_missing(Path::new(name))
    }

    /// Returns a note that unchanged files keep their former tags and boundary.
    fn kept(&self, plan: &ImportPlan) -> Result<Option<String>, Failure> {
        let ImportArgs { tags, boundary, .. } = self.args;
        if tags.is_empty() && boundary.is_none() {
            return Ok(None);
        }
        let kept = self.app.engine.differing_import(&self.caller, plan, tags, *boundary)?;
        let say = |kept: usize| {
            let files = counted(kept as u64, "unchanged file keeps its", "unchanged files keep their");
            format!("{files} own tags and boundary; `tulving update` can change them")
        };
        Ok((kept > 0).then(|| say(kept)))
    }

    /// Finds all files that may be imported, and their paths.
    fn look(&self, report: &mut ImportReport) -> FoundFiles {
        let mut found = FoundFiles::default();
        let own = self.app.store.home().database();
        for (at, root) in self.roots.iter().enumerate() {
            let mut skip = |path: &Path, why: String| {
                let path = root.name(path).unwrap_or_else(|| path.display().to_string());
                if found.skipped.insert(path.clone()) {
                    report.skipped.push(SkippedFile { path, why });
                }
            };
            if is_missing(&root.path) && self.args.prune && !self.args.watch {
                continue;
            }
            let mut files = Vec::new();
            let ImportArgs { hidden, include_generated: generated, .. } = *self.args;
            let options = WalkOptions { hidden, generated };
            let SkippedPaths { unread, generated } =
                tree::walk(&root.path, options, &mut |file| files.push(file));
            for file in files {
                let named = file.path == root.path;
                if let Some(why) = foreign_import::hint(&file.path, &own).filter(|_| !named) {
                    skip(&file.path, why);
                    continue;
                }
                match root.name(&file.path) {
                    None => skip(&file.path, "its name is not UTF-8".to_owned()),
                    Some(name) => match form::is_importable(&name) {
                        Err(why) if !named => skip(&file.path, why.to_string()),
                        _ if found.paths.contains_key(&name) => {}
                        _ => {
                            found.seen.push(SeenFile { path: name.clone(), stamp: file.stamp });
                            found.paths.insert(name, file.path);
                        }
                    },
                }
            }
            for trouble in unread {
                let path = trouble.path.as_deref().unwrap_or(&root.path);
                if trouble.hides {
                    found.unread.push(root.name(path).unwrap_or_else(|| root.known.clone()));
                }
                skip(path, trouble.why);
            }
            let named = |path: &PathBuf| root.name(path).unwrap_or_else(|| path.display().to_string());
            found
                .generated
                .extend(generated.iter().map(|path| GeneratedFolder { root: at, name: named(path) }));
        }
        let mut folders: Vec<String> = found.generated.iter().map(|folder| folder.name.clone()).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.retain(|folder| !self.roots.iter().any(|root| root.known == *folder));
        report.skipped_folders = folders;
        found
    }

    fn read(
        &self,
        file: SeenFile,
        paths: &HashMap<String, PathBuf>,
        report: &mut ImportReport,
    ) -> Option<ReadFile> {
        let path = paths.get(&file.path)?;
        let most = self.app.settings.limits.attachment_bytes as u64;
        // A path that the user named may be a link; a path that the search found is never a link.
        let named = self.roots.iter().any(|root| root.path == *path);
        let read = if named { tree::read } else { tree::read_found };
        match read(path, most) {
            Ok((stamp, bytes)) => {
                let about = SaveRequest {
                    tags: (!self.args.tags.is_empty()).then(|| self.args.tags.clone()),
                    boundary: self.args.boundary,
                    ..SaveRequest::default()
                };
                Some(ReadFile { seen: SeenFile { stamp, ..file }, bytes, about })
            }
            Err(error) => {
                report.skipped.push(SkippedFile { path: file.path, why: error.to_string() });
                None
            }
        }
    }

    /// Imports a batch of files, or returns what would be done with them.
    fn take(
        &self,
        plan: &mut ImportPlan,
        batch: Vec<ReadFile>,
        report: &mut ImportReport,
    ) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        let taken = match self.args.dry_run {
            true => self.app.engine.foresee_import(&self.caller, plan, batch),
            false => self.app.engine.import(&self.caller, plan, batch),
        };
        let taken = taken.map_err(|error| self.app.refused(&self.caller, error))?;
        taken.into_iter().for_each(|file| report.note(file));
        Ok(())
    }

    /// Embeds memories and reads the text of documents, unless the user postponed this work.
    fn finish(&self, printer: &mut Printer) -> Result<(), Failure> {
        printer.finish()?;
        self.app.fold(printer)?;
        if self.args.later {
            return Ok(());
        }
        let JobRunReport { failed, lacking, .. } = jobs::process_all(self.app, printer)?;
        if failed > 0 {
            let files = counted(failed, "file", "files");
            printer.note(format!(
                "the text of {files} could not be read; `tulving jobs --state dead` says why"
            ))?;
        }
        if lacking {
            for missing in self.app.engine.missing_extractors() {
                printer.note(missing)?;
            }
        }
        embed::along(self.app, printer)
    }

    /// Follows the files, and prints the changes. A vanished file or a skipped folder is reported once.
    fn watch(&self, first: ImportReport, printer: &mut Printer) -> Result<(), Failure> {
        printer.note("watching; stop with Ctrl-C")?;
        let mut looking = first.looking.unwrap_or_default();
        let mut vanished = first.vanished;
        let mut folders = first.skipped_folders;
        loop {
            thread::sleep((looking * SELDOM).clamp(LOOK, SELDOMEST));
            let mut report = self.once(printer)?;
            looking = report.looking.unwrap_or_default();
            let before = std::mem::replace(&mut vanished, report.vanished.clone());
            report.vanished.retain(|path| !before.contains(path));
            let before = std::mem::replace(&mut folders, report.skipped_folders.clone());
            report.skipped_folders.retain(|path| !before.contains(path));
            if report.did_nothing() && report.vanished.is_empty() {
                continue;
            }
            report.show(self.args, printer)?;
            printer.finish()?;
            if !report.did_nothing() {
                self.finish(printer)?;
            }
        }
    }
}
