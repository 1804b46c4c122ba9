//! Makes a backup of a whole home while other processes continue to write.
//!
//! The database is read first, as a snapshot of one moment. While attachments are read, no process can remove any, so
//! that every attachment that the database refers to exists. Files are read one folder at a time, and no process of
//! Tulving writes to a folder while it is read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tulving_core::model::copy::StoreCopy;
use tulving_core::model::error::{ObjectError, StoreError};
use tulving_core::ports::{Clock, Objects, SystemClock};

use super::{BackupReport, ConfigTexts, HomeContent, extent};
use crate::archive::{self, ArchiveWriter, BackupArchive, BackupManifest};
use crate::draft::DraftFile;
use crate::files;
use crate::home::Home;
use crate::pending::ReplaceScope;
use crate::sqlite::{ExistingFilePolicy, free_target, put};
use crate::workspace::{Workspace, lock_folder};

/// Maximum depth of folders that are read. The listing of the workspace itself stops at a smaller depth.
const DEPTH: usize = 20;

type BackupFileWriter = ArchiveWriter<BufWriter<File>>;

impl HomeContent<'_> {
    /// Writes the whole home into one file, as it is at this moment, while other processes continue to read and write.
    ///
    /// Calls `progress` with the number of bytes done and the total. The file appears only after it was completed and
    /// read back. [`check_target`](crate::check_target) lists the files that a backup must not replace.
    pub fn back_up(
        &self,
        to: &Path,
        if_exists: ExistingFilePolicy,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport, StoreError> {
        let target = free_target(self.home, to, if_exists)?;
        let (draft, manifest) = self.archive_beside(&target, progress)?;
        let bytes = put(draft, to, &target, if_exists)?;
        let BackupManifest { counts, left_out, .. } = manifest;
        Ok(BackupReport { path: to.to_owned(), bytes, counts, left_out })
    }

    /// Writes a whole backup as a draft in the folder of `to`. The draft is durable and was read back.
    pub(super) fn archive_beside(
        &self,
        to: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(DraftFile, BackupManifest), StoreError> {
        // If removals cannot be blocked, an attachment that disappears during the backup is listed as missing.
        let hold = self.objects.keeping().ok();
        let database = DraftFile::beside(to, ".db")?;
        let copy = self.store.copy_into(database.path(), to, progress)?;
        let draft = DraftFile::beside(to, ".tar")?;
        let written = self.write(&draft, &database, &copy, progress);
        let manifest = written.map_err(|error| files::unwritten(to, "written", &error))?;
        drop(hold);
        read_back(&draft, &manifest).map_err(|error| files::unwritten(to, "written", &error))?;
        Ok((draft, manifest))
    }

    fn write(
        &self,
        draft: &DraftFile,
        database: &DraftFile,
        copy: &StoreCopy,
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<BackupManifest> {
        let file = File::options().write(true).open(draft.path())?;
        let StoreCopy { erasure, erased_text_left, .. } = *copy;
        let mut archive =
            ArchiveWriter::begin(BufWriter::new(file), SystemClock.now(), erasure, erased_text_left)?;
        let database = File::open(database.path())?;
        archive.add(archive::DATABASE, database.metadata()?.len(), database)?;
        let ConfigTexts { toml, json } = &self.config;
        for (path, text) in [(archive::CONFIG, toml), (archive::CONFIG_JSON, json)] {
            if let Some(text) = text {
                archive.add_bytes(path, text.as_bytes())?;
            }
        }
        add_objects(&mut archive, self.objects, &copy.attached, progress)?;
        add_files(&mut archive, self.home, self.files)?;
        let bytes = archive.bytes();
        progress(bytes, bytes);
        let manifest = archive.finish(copy.memories)?;
        draft.sync()?;
        Ok(manifest)
    }
}

/// Writes the files of a home whose database cannot be read, as a draft in the folder of `to`.
pub(super) fn files_beside(home: &Home, workspace: &Workspace, to: &Path) -> Result<DraftFile, StoreError> {
    let draft = DraftFile::beside(to, ".tar")?;
    let write = || -> io::Result<()> {
        let file = File::options().write(true).open(draft.path())?;
        let mut archive = ArchiveWriter::begin(BufWriter::new(file), SystemClock.now(), None, true)?;
        archive.leave_out(archive::DATABASE, "it was damaged, and is kept in a separate file");
        add_files(&mut archive, home, workspace)?;
        archive.finish(0)?;
        draft.sync()
    };
    write().map_err(|error| files::unwritten(to, "written", &error))?;
    Ok(draft)
}

/// Adds the files of the workspace and their previous texts.
fn add_files(archive: &mut BackupFileWriter, home: &Home, workspace: &Workspace) -> io::Result<()> {
    workspace.mend();
    let root = workspace.folder();
    let mut walk = BackupFolderWalk { archive, prefix: archive::WORKSPACE, root };
    walk.enter(root, "", Some(extent(&home.workspace(), root)), 0)?;
    let previous = home.previous();
    let mut walk = BackupFolderWalk { archive: walk.archive, prefix: archive::PREVIOUS, root: &previous };
    walk.enter(&previous, "", Some(ReplaceScope::All), 0)
}

/// Adds the attachments that the database refers to. An attachment that is not available is listed as left out.
fn add_objects(
    archive: &mut BackupFileWriter,
    objects: &dyn Objects,
    keys: &[String],
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<()> {
    let mut unreachable: Option<ObjectError> = None;
    for key in keys {
        let path = format!("{}{key}", archive::OBJECTS);
        if let Some(error) = &unreachable {
            archive.leave_out(path, error.to_string());
            continue;
        }
        match objects.get(key) {
            Ok(Some(bytes)) => archive.add_bytes(&path, &bytes)?,
            Ok(None) => archive.leave_out(path, "it is missing"),
            Err(error @ (ObjectError::Damaged { .. } | ObjectError::NotAKey { .. })) => {
                archive.leave_out(path, error.to_string());
            }
            // If the store of the attachments does not answer, the other attachments are not requested.
            Err(error) => {
                archive.leave_out(path, error.to_string());
                unreachable = Some(error);
            }
        }
        let bytes = archive.bytes();
        progress(bytes, bytes);
    }
    Ok(())
}

/// A walk through a folder, in the order of the names.
struct BackupFolderWalk<'a> {
    archive: &'a mut BackupFileWriter,
    prefix: &'static str,
    root: &'a Path,
}

impl BackupFolderWalk<'_> {
    /// Adds the content of a folder. `here` is the path of the folder below the root. `extent` applies only to the
    /// root.
    fn enter(
        &mut self,
        folder: &Path,
        here: &str,
        extent: Option<ReplaceScope>,
        depth: usize,
    ) -> io::Result<()> {
        let Some((lock, mut entries)) = listed(folder)? else {
            return Ok(());
        };
        entries.retain(|entry| extent.is_none_or(|extent| extent.covers(&entry.file_name())));
        let mut deeper = Vec::new();
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Some(name) =
                name.to_str().filter(|name| !name.contains(['\\']) && !name.contains(char::is_control))
            else {
                let shown = name.to_string_lossy().escape_debug().to_string();
                self.leave_out(&joined(here, &shown), "its name is not plain text");
                continue;
            };
            let below = joined(here, name);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                deeper.push((entry.path(), below));
            } else if kind.is_file() {
                self.file(&entry.path(), &below)?;
            } else if kind.is_symlink() {
                self.link(&entry.path(), &below)?;
            } else {
                self.leave_out(&below, files::sort(kind));
            }
        }
        drop(lock);
        for (folder, below) in deeper {
            match depth < DEPTH {
                true => self.enter(&folder, &below, None, depth + 1)?,
                false => self.leave_out(&below, "it is too many folders deep"),
            }
        }
        Ok(())
    }

    /// Adds a file. A file that has disappeared is skipped.
    fn file(&mut self, path: &Path, below: &str) -> io::Result<()> {
        match read(path) {
            Ok(bytes) => self.archive.add_bytes(&format!("{}{below}", self.prefix), &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                self.leave_out(below, &error.to_string());
                Ok(())
            }
        }
    }

    /// Adds the content of a file that a link inside the folder leads to. Links that lead out of the folder are never
    /// followed.
    fn link(&mut self, path: &Path, below: &str) -> io::Result<()> {
        let inside = |path: &Path| -> Option<PathBuf> {
            let (real, root) = (path.canonicalize().ok()?, self.root.canonicalize().ok()?);
            (real.starts_with(root) && real.is_file()).then_some(real)
        };
        match inside(path) {
            Some(real) => self.file(&real, below),
            None => {
                self.leave_out(below, "it is a link to a folder or out of the workspace");
                Ok(())
            }
        }
    }

    fn leave_out(&mut self, below: &str, why: &str) {
        self.archive.leave_out(format!("{}{below}", self.prefix), why);
    }
}

/// Returns the entries of a folder sorted by name, with a lock that keeps processes of Tulving from writing to the
/// folder; `None` if the folder does not exist.
fn listed(folder: &Path) -> io::Result<Option<(File, Vec<fs::DirEntry>)>> {
    let opened = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    lock_folder(&opened)?;
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(Some((opened, entries)))
}

/// Returns the bytes of a regular file. If a link or a pipe has replaced the file, the link is not followed and the
/// call does not block.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a backup in the same way as a restore, and compares it with the manifest that was written.
fn read_back(draft: &DraftFile, manifest: &BackupManifest) -> io::Result<()> {
    let archive = BackupArchive::verified(File::open(draft.path())?, &mut |_| ())
        .map_err(|why| io::Error::other(format!("the written backup cannot be read: {why}")))?;
    match archive.manifest == *manifest {
        true => Ok(()),
        false => Err(io::Error::other("the written backup does not have the expected content")),
    }
}

fn joined(here: &str, name: &str) -> String {
    if here.is_empty() { name.to_owned() } else { format!("{here}/{name}") }
}
