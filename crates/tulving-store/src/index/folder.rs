//! The folder of the index: its files, their lock, and their removal.
//!
//! Only the process with the lock writes or removes files. A file gets its name when it is complete and durable, and is
//! never written again. It is removed when the manifest does not list it and no process reads it.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::dead::DeadDocs;
use super::errors::{DamagedIndexFile, IndexStepError};
use super::manifest::{DeadDocsFile, IndexManifest, NAME, SegmentFile};
use super::segment::{ChecksumMode, Segment, SegmentContent, SegmentWriteError, write};
use super::snapshot::SnapshotPart;
use crate::draft::{self, DraftFile};
use crate::{files, home};

/// The prefix of the names of segment files.
const SEGMENT: &str = "segment-";
/// The prefix of the names of files that list dead docs.
const DEAD: &str = "dead-";
/// The name of the lock file of the writer.
const LOCK: &str = "fold.lock";
/// Size of the write buffer, in bytes.
const BUFFER: usize = 1 << 20;

/// The folder of the index.
pub(super) struct IndexFolder {
    path: PathBuf,
    #[cfg(test)]
    pub(super) steps: super::faults::FailingSteps,
}

/// The right to change the folder. It ends when this value is dropped.
pub(super) struct IndexFolderLock {
    _file: File,
}

/// A value that differs between two manifests, so that a new manifest is noticed without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ManifestStamp(u64, i64, i64, u64);

impl IndexFolder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            #[cfg(test)]
            steps: super::faults::FailingSteps::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the lock if it is free. Creates the folder if it does not exist.
    pub(super) fn lock(&self) -> Result<Option<IndexFolderLock>, IndexStepError> {
        if !self.path.is_dir() {
            home::try_make_folder(&self.path).map_err(IndexStepError::disk(&self.path))?;
        }
        let path = self.path.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = file.map_err(IndexStepError::disk(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(IndexFolderLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(IndexStepError::Disk(path, error)),
        }
    }

    /// The stamp of the manifest, by which a caller notices a new manifest; `None` if there is no manifest.
    pub(super) fn stamp(&self) -> Option<ManifestStamp> {
        let found = self.path.join(NAME).metadata().ok()?;
        Some(ManifestStamp(found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
    }

    /// Reads the manifest; `None` if there is none.
    pub(super) fn manifest(&self) -> Result<Option<IndexManifest>, IndexStepError> {
        let path = self.path.join(NAME);
        match files::read_regular_bytes(&path) {
            Ok(bytes) => Ok(Some(IndexManifest::decoded(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(IndexStepError::Disk(path, error)),
        }
    }

    /// The segments that a manifest lists, with their dead docs.
    pub(super) fn parts(&self, manifest: &IndexManifest) -> Result<Vec<SnapshotPart>, IndexStepError> {
        let mut parts = Vec::new();
        for named in &manifest.segments {
            let segment = self.opened(&named.file, Segment::open)?;
            if (segment.size(), segment.checksum()) != (named.bytes, named.checksum) {
                return Err(damaged(&named.file, "it is not the file that the manifest names").into());
            }
            parts.push(SnapshotPart { erased: named.erased, ..SnapshotPart::new(segment) });
        }
        if let Some(dead) = &manifest.dead {
            let bytes = self.opened(&dead.file, |path| fs::read(path).map_err(IndexStepError::disk(path)))?;
            if crc32fast::hash(&bytes) != dead.checksum {
                return Err(damaged(&dead.file, "it does not match its checksum").into());
            }
            bury(&mut parts, &bytes, &dead.file)?;
        }
        Ok(parts)
    }

    /// Opens a file that the manifest lists. A missing file counts as damage.
    fn opened<T>(
        &self,
        name: &str,
        open: impl FnOnce(&Path) -> Result<T, IndexStepError>,
    ) -> Result<T, IndexStepError> {
        match open(&self.path.join(name)) {
            Err(IndexStepError::Disk(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                Err(damaged(name, "it is missing").into())
            }
            done => done,
        }
    }

    /// Writes a segment to a durable file, and opens that file.
    pub(super) fn write_segment(
        &self,
        _: &IndexFolderLock,
        content: &dyn SegmentContent,
    ) -> Result<SnapshotPart, IndexStepError> {
        let path = self.path.join(format!("{SEGMENT}{:016x}", fastrand::u64(..)));
        self.place(&path, |out| match write(content, out, ChecksumMode::Written) {
            Ok(()) => Ok(()),
            Err(SegmentWriteError::Out(error)) => Err(IndexStepError::Disk(path.clone(), error)),
            Err(SegmentWriteError::In(damaged)) => Err(damaged.into()),
        })?;
        Ok(SnapshotPart::new(Segment::open(&path)?))
    }

    /// Writes the dead docs of these parts to a file; `None` if the parts have none.
    pub(super) fn write_dead(
        &self,
        _: &IndexFolderLock,
        parts: &[SnapshotPart],
    ) -> Result<Option<DeadDocsFile>, IndexStepError> {
        if parts.iter().all(|part| part.dead.is_empty()) {
            return Ok(None);
        }
        let mut words: Vec<u32> = Vec::new();
        for part in parts {
            let view = part.segment.view()?;
            let firsts: Vec<u32> =
                part.dead.docs().iter().copied().filter(|doc| !view.continues(*doc)).collect();
            words.push(u32::try_from(firsts.len()).unwrap_or(u32::MAX));
            words.extend(firsts);
        }
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let file = format!("{DEAD}{:016x}", fastrand::u64(..));
        let path = self.path.join(&file);
        self.place(&path, |out| out.write_all(bytes).map_err(IndexStepError::disk(&path)))?;
        Ok(Some(DeadDocsFile { file, checksum: crc32fast::hash(bytes) }))
    }

    /// Replaces the manifest. From then on the new manifest is valid.
    pub(super) fn write_manifest(
        &self,
        _: &IndexFolderLock,
        manifest: &IndexManifest,
    ) -> Result<(), IndexStepError> {
        self.step()?;
        let path = self.path.join(NAME);
        draft::replace(&path, &manifest.encoded()).map_err(IndexStepError::unwritten(&path))?;
        self.step()
    }

    /// Removes the manifest, after which the folder has no base.
    pub(super) fn forget_manifest(&self, _: &IndexFolderLock) -> Result<(), IndexStepError> {
        let path = self.path.join(NAME);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(IndexStepError::Disk(path, error)),
            _ => files::sync_folder(&self.path).map_err(IndexStepError::unwritten(&path)),
        }
    }

    fn place(
        &self,
        path: &Path,
        fill: impl FnOnce(&mut BufWriter<DraftFile>) -> Result<(), IndexStepError>,
    ) -> Result<(), IndexStepError> {
        self.step()?;
        let mut out = BufWriter::with_capacity(
            BUFFER,
            DraftFile::beside(path, "").map_err(IndexStepError::unwritten(path))?,
        );
        fill(&mut out)?;
        self.step()?;
        let draft =
            out.into_inner().map_err(|error| IndexStepError::Disk(path.to_owned(), error.into_error()))?;
        draft.sync().map_err(IndexStepError::disk(path))?;
        draft.place(path).map_err(|(_, error)| IndexStepError::Disk(path.to_owned(), error))?;
        files::sync_folder(&self.path).map_err(IndexStepError::unwritten(path))?;
        self.step()
    }

    /// Removes the files that the manifest does not list and that no process reads. Returns the number of unlisted
    /// files that had to stay.
    pub(super) fn sweep(&self, _: &IndexFolderLock) -> usize {
        self.stale().iter().filter(|name| !removed(&self.path.join(name))).count()
    }

    /// The files that the manifest does not list. A fold has replaced them or is still writing them.
    pub(super) fn stale(&self) -> Vec<String> {
        let manifest = match self.manifest() {
            Ok(manifest) => manifest,
            // A damaged manifest lists no files.
            Err(IndexStepError::Damaged(_)) => None,
            // The files of an unreadable manifest are unknown, so none may be removed.
            Err(_) => return Vec::new(),
        };
        let named = |name: &str| {
            manifest.as_ref().is_some_and(|manifest| {
                manifest.segments.iter().any(|segment| segment.file == name)
                    || manifest.dead.as_ref().is_some_and(|dead| dead.file == name)
            })
        };
        let Ok(entries) = fs::read_dir(&self.path) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_own(name) && !named(name)).collect()
    }

    /// Total size of the files of the folder in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return 0;
        };
        entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
    }

    /// Fails if a test makes the fold fail at this step.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it does something in tests")]
    fn step(&self) -> Result<(), IndexStepError> {
        Ok(())
    }

    #[cfg(test)]
    fn step(&self) -> Result<(), IndexStepError> {
        self.steps.take(&self.path)
    }
}

/// Returns true if the name is that of a segment or of a file that lists dead docs. Other files in the folder
/// stay.
fn is_own(name: &str) -> bool {
    let digits = name.strip_prefix(SEGMENT).or_else(|| name.strip_prefix(DEAD));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The entry for a segment in a manifest.
pub(super) fn named(part: &SnapshotPart) -> SegmentFile {
    SegmentFile {
        file: part.segment.name().to_owned(),
        bytes: part.segment.size(),
        checksum: part.segment.checksum(),
        erased: part.erased,
    }
}

/// Removes a file if no process reads it. Returns true if the file was removed.
fn removed(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => match file.try_lock() {
            Err(TryLockError::WouldBlock) => false,
            Ok(()) | Err(TryLockError::Error(_)) => fs::remove_file(path).is_ok(),
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Marks the docs listed in a file as dead. The file contains, for each part, the number of memories and the first doc
/// of each memory.
fn bury(parts: &mut [SnapshotPart], bytes: &[u8], file: &str) -> Result<(), IndexStepError> {
    let wrong = || damaged(file, "it does not match the segments");
    let mut words = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned::<u32>);
    for part in parts {
        let view = part.segment.view()?;
        let mut dead = DeadDocs::default();
        for _ in 0..words.next().ok_or_else(wrong)? {
            let first = words.next().filter(|first| *first < part.segment.docs()).ok_or_else(wrong)?;
            dead.kill(&view, first..view.memory_end(first));
        }
        part.dead = dead.into();
    }
    Ok(())
}

fn damaged(file: &str, what: &'static str) -> DamagedIndexFile {
    DamagedIndexFile { file: file.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_goes_while_the_manifest_cannot_be_read() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = IndexFolder::new(home.path());
        let lock = folder.lock().expect("a lock").expect("nobody has it");
        let [manifest, segment] = [NAME, "segment-0000000000000001"].map(|name| home.path().join(name));
        fs::write(&segment, "named by the manifest").expect("written");
        // A folder in place of the manifest: even root cannot read it as a file.
        fs::create_dir(&manifest).expect("made");
        assert_eq!(folder.sweep(&lock), 0);
        assert!(segment.exists());
        fs::remove_dir(&manifest).expect("removed");
        assert_eq!(folder.sweep(&lock), 0);
        assert!(!segment.exists(), "nothing names it");
    }
}
