//! The result of an import: counted while it runs, then printed for people or programs.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde::Serialize;
use tulving_core::verbs::import::{FileImportOutcome, TakenFile};

use super::ImportArgs;
use crate::commands::foreign_import;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::text::{counted, counts, one_line};

/// Maximum number of skipped files that are shown for each reason.
const SHOWN: usize = 3;
/// Maximum number of skipped folders that are shown.
const FOLDERS_SHOWN: usize = 10;

/// The result of an import.
#[derive(Debug, Default, Serialize)]
pub(super) struct ImportReport {
    new: u64,
    /// Number of new files with the content of a known memory. The path is added to that memory.
    known: u64,
    updated: u64,
    pub(super) unchanged: u64,
    moved: u64,
    /// Number of memories that were restored from the archive.
    revived: u64,
    /// Number of files whose memories were forgotten. These memories stay forgotten.
    pub(super) forgotten: u64,
    /// The files that no longer exist.
    pub(super) vanished: Vec<String>,
    /// The number of memories that were archived because their last file vanished.
    pub(super) archived: usize,
    /// The files that were archived with their memory.
    #[serde(skip)]
    pub(super) archived_paths: HashSet<String>,
    pub(super) skipped: Vec<SkippedFile>,
    /// The skipped folders of generated files.
    pub(super) skipped_folders: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The time for finding the changed files; `None` if there were no files.
    #[serde(skip)]
    pub(super) looking: Option<Duration>,
    /// The files, each with the action that was or would be taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileOutcome>,
    /// The results for the data of other memory systems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sources: Vec<foreign_import::ForeignImportOutput>,
}

#[derive(Debug, Serialize)]
pub(super) struct SkippedFile {
    pub(super) path: String,
    pub(super) why: String,
}

#[derive(Debug, Serialize)]
struct FileOutcome {
    path: String,
    became: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

impl ImportReport {
    /// Counts a file.
    pub(super) fn note(&mut self, taken: TakenFile) {
        let TakenFile { path, became, warnings } = taken;
        self.warnings.extend(warnings.into_iter().map(|warning| format!("{path}: {warning}")));
        let (count, became, from) = match became {
            FileImportOutcome::Created => (&mut self.new, "new", None),
            FileImportOutcome::Known => (&mut self.known, "known", None),
            FileImportOutcome::Updated => (&mut self.updated, "updated", None),
            FileImportOutcome::Revived => (&mut self.revived, "revived", None),
            FileImportOutcome::Moved { from } => (&mut self.moved, "moved", Some(from)),
            FileImportOutcome::Unchanged => {
                self.unchanged += 1;
                return;
            }
            FileImportOutcome::Skipped { why } => {
                self.skipped.push(SkippedFile { path, why });
                return;
            }
        };
        *count += 1;
        self.files.push(FileOutcome { path, became, from });
    }

    /// True if no file was imported and no memory was archived.
    pub(super) fn did_nothing(&self) -> bool {
        self.new + self.known + self.updated + self.moved + self.revived == 0 && self.archived == 0
    }

    fn total(&self) -> u64 {
        self.new + self.known + self.updated + self.unchanged + self.moved + self.revived + self.forgotten
    }

    pub(super) fn show(&self, args: &ImportArgs, printer: &mut Printer) -> Result<(), Failure> {
        if printer.json() {
            return printer.document(self);
        }
        for source in &self.sources {
            source.show(args.dry_run, printer)?;
        }
        if self.looking.is_none() {
            return Ok(());
        }
        if args.dry_run {
            printer.lines(&self.predicted())?;
        }
        printer.lines(&self.gone())?;
        for warning in &self.warnings {
            printer.warning(one_line(warning))?;
        }
        for left_out in self.left_out() {
            printer.note(left_out)?;
        }
        if let Some(folders) = self.folders_left_out() {
            printer.note(folders)?;
        }
        printer.line(self.summary(args.dry_run))?;
        if self.total() == 0
            && self.skipped.is_empty()
            && self.skipped_folders.is_empty()
            && self.vanished.is_empty()
        {
            printer.note("no file there can be imported; `tulving import --help` lists the file types")?;
        }
        if !self.vanished.is_empty() && !args.prune {
            printer.note("--prune archives the memories of files that have vanished")?;
        }
        Ok(())
    }

    /// Returns a line for each file that would be imported.
    fn predicted(&self) -> Vec<String> {
        let line = |FileOutcome { path, became, from }: &FileOutcome| {
            let from = from.as_ref().map(|from| format!("  (was {})", one_line(from))).unwrap_or_default();
            format!("{became:8} {}{from}", one_line(path))
        };
        self.files.iter().map(line).collect()
    }

    /// Returns a line for each vanished file.
    fn gone(&self) -> Vec<String> {
        let became = |path| if self.archived_paths.contains(path) { "archived" } else { "vanished" };
        self.vanished.iter().map(|path| format!("{:8} {}", became(path), one_line(path))).collect()
    }

    /// Returns a note for each reason to skip files. A note lists the first skipped files.
    fn left_out(&self) -> Vec<String> {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for SkippedFile { path, why } in &self.skipped {
            reasons.entry(why).or_default().push(path);
        }
        let note = |(why, paths): (&str, Vec<&str>)| {
            let shown = first_of(&paths, SHOWN);
            let files = counted(paths.len() as u64, "file", "files");
            one_line(&format!("skipped {files}: {why} ({shown})"))
        };
        reasons.into_iter().map(note).collect()
    }

    /// Returns a note about the skipped folders.
    fn folders_left_out(&self) -> Option<String> {
        if self.skipped_folders.is_empty() {
            return None;
        }
        let folders = counted(self.skipped_folders.len() as u64, "folder", "folders");
        let shown = first_of(&self.skipped_folders, FOLDERS_SHOWN);
        let skipped =
            format!("skipped {folders} of generated files ({shown}); --include-generated includes them");
        Some(one_line(&skipped))
    }

    fn summary(&self, dry_run: bool) -> String {
        let vanished = self.vanished.iter().filter(|path| !self.archived_paths.contains(*path)).count();
        let counted_by = counts(&[
            (self.new, "new"),
            (self.known, "already known"),
            (self.updated, "updated"),
            (self.moved, "moved"),
            (self.revived, "back from the archive"),
            (self.unchanged, "unchanged"),
            (self.forgotten, "forgotten"),
            (vanished as u64, "vanished"),
            (self.archived as u64, "archived"),
            (self.skipped.len() as u64, "skipped"),
        ]);
        let verb = if dry_run { "Would import" } else { "Imported" };
        let files = counted(self.total(), "file", "files");
        match counted_by.as_str() {
            "" => format!("{verb} {files}"),
            counts => format!("{verb} {files}: {counts}"),
        }
    }
}

/// Returns the first of some paths, and `…` if there are more.
fn first_of<T: AsRef<str>>(paths: &[T], most: usize) -> String {
    let mut shown = paths.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if paths.len() > most {
        shown.push_str(", …");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_does_not_reach_a_terminal_as_an_escape() {
        let path = "/notes/\u{1b}[2Jred\u{7}.md".to_owned();
        let mut report = ImportReport { vanished: vec![path.clone()], ..ImportReport::default() };
        report.note(TakenFile {
            path: path.clone(),
            became: FileImportOutcome::Created,
            warnings: Vec::new(),
        });
        let moved = FileImportOutcome::Moved { from: path.clone() };
        report.note(TakenFile { path: path.clone(), became: moved, warnings: Vec::new() });
        let why = format!("import them with `tulving import {path}`");
        report.note(TakenFile { path, became: FileImportOutcome::Skipped { why }, warnings: Vec::new() });
        let lines = [report.predicted(), report.gone(), report.left_out()].concat();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], "new      /notes/ [2Jred .md");
        assert!(lines.iter().all(|line| !line.contains(char::is_control)), "{lines:?}");
    }
}
