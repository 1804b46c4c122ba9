//! The folder of the index: its files, who may change them, and when they go.
//!
//! Only who holds the lock writes or removes files. A file gets its name when it is whole and durable, and is never
//! written again. It goes when no manifest names it and nobody reads it.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::dead::Dead;
use super::manifest::{DeadFile, Manifest, NAME, Named};
use super::segment::{Checks, Content, Segment, WriteError, write};
use super::snapshot::Part;
use super::trouble::{Damaged, Trouble};
use crate::draft::Draft;
use crate::{files, home};

/// How the names of segments begin.
const SEGMENT: &str = "segment-";
/// How the names of files about the dead begin.
const DEAD: &str = "dead-";
/// What is locked by who writes.
const LOCK: &str = "fold.lock";
/// How much is written at once.
const BUFFER: usize = 1 << 20;

/// The folder.
pub(super) struct Folder {
    path: PathBuf,
    #[cfg(test)]
    pub(super) steps: super::faults::Steps,
}

/// The right to change the folder, until it is dropped.
pub(super) struct Lock {
    _file: File,
}

/// What tells one manifest from the next without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64, i64, i64, u64);

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            #[cfg(test)]
            steps: super::faults::Steps::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the lock, where nobody has it. Makes the folder where there is none.
    pub(super) fn lock(&self) -> Result<Option<Lock>, Trouble> {
        if !self.path.is_dir() {
            home::try_make_folder(&self.path).map_err(Trouble::disk(&self.path))?;
        }
        let path = self.path.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = file.map_err(Trouble::disk(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Trouble::Disk(path, error)),
        }
    }

    /// Tells whether the manifest is still the same; `None` where there is none.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let found = self.path.join(NAME).metadata().ok()?;
        Some(Stamp(found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
    }

    /// The manifest; `None` where there is none.
    pub(super) fn manifest(&self) -> Result<Option<Manifest>, Trouble> {
        let path = self.path.join(NAME);
        match files::read_regular_bytes(&path) {
            Ok(bytes) => Ok(Some(Manifest::decoded(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Trouble::Disk(path, error)),
        }
    }

    /// The segments that a manifest names, with what is dead in them.
    pub(super) fn parts(&self, manifest: &Manifest) -> Result<Vec<Part>, Trouble> {
        let mut parts = Vec::new();
        for named in &manifest.segments {
            let segment = self.opened(&named.file, Segment::open)?;
            if (segment.size(), segment.checksum()) != (named.bytes, named.checksum) {
                return Err(damaged(&named.file, "it is not the file that the manifest names").into());
            }
            parts.push(Part { erased: named.erased, ..Part::new(segment) });
        }
        if let Some(dead) = &manifest.dead {
            let bytes = self.opened(&dead.file, |path| fs::read(path).map_err(Trouble::disk(path)))?;
            if crc32fast::hash(&bytes) != dead.checksum {
                return Err(damaged(&dead.file, "it does not fit its checksum").into());
            }
            bury(&mut parts, &bytes, &dead.file)?;
        }
        Ok(parts)
    }

    /// A file that is named and missing is damage.
    fn opened<T>(&self, name: &str, open: impl FnOnce(&Path) -> Result<T, Trouble>) -> Result<T, Trouble> {
        match open(&self.path.join(name)) {
            Err(Trouble::Disk(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                Err(damaged(name, "it is missing").into())
            }
            done => done,
        }
    }

    /// Writes a segment, durably, and opens it.
    pub(super) fn write_segment(&self, _: &Lock, content: &dyn Content) -> Result<Part, Trouble> {
        let path = self.path.join(format!("{SEGMENT}{:016x}", fastrand::u64(..)));
        self.place(&path, |out| match write(content, out, Checks::Written) {
            Ok(()) => Ok(()),
            Err(WriteError::Out(error)) => Err(Trouble::Disk(path.clone(), error)),
            Err(WriteError::In(damaged)) => Err(damaged.into()),
        })?;
        Ok(Part::new(Segment::open(&path)?))
    }

    /// Writes what is dead in these parts; `None` where nothing is.
    pub(super) fn write_dead(&self, _: &Lock, parts: &[Part]) -> Result<Option<DeadFile>, Trouble> {
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
        self.place(&path, |out| out.write_all(bytes).map_err(Trouble::disk(&path)))?;
        Ok(Some(DeadFile { file, checksum: crc32fast::hash(bytes) }))
    }

    /// Puts a manifest in the place of the last one. Afterwards it is what counts.
    pub(super) fn write_manifest(&self, _: &Lock, manifest: &Manifest) -> Result<(), Trouble> {
        self.step()?;
        let path = self.path.join(NAME);
        files::replace(&path, &manifest.encoded()).map_err(Trouble::unwritten(&path))?;
        self.step()
    }

    /// Removes the manifest: from now on there is no base.
    pub(super) fn forget_manifest(&self, _: &Lock) -> Result<(), Trouble> {
        let path = self.path.join(NAME);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::Disk(path, error)),
            _ => files::sync_folder(&self.path).map_err(Trouble::unwritten(&path)),
        }
    }

    fn place(
        &self,
        path: &Path,
        fill: impl FnOnce(&mut BufWriter<Draft>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.step()?;
        let mut out =
            BufWriter::with_capacity(BUFFER, Draft::beside(path, "").map_err(Trouble::unwritten(path))?);
        fill(&mut out)?;
        self.step()?;
        let draft = out.into_inner().map_err(|error| Trouble::Disk(path.to_owned(), error.into_error()))?;
        draft.sync().map_err(Trouble::disk(path))?;
        draft.place(path).map_err(|(_, error)| Trouble::Disk(path.to_owned(), error))?;
        files::sync_folder(&self.path).map_err(Trouble::unwritten(path))?;
        self.step()
    }

    /// Removes the files that the manifest does not name and nobody reads. Says how many had to stay.
    pub(super) fn sweep(&self, _: &Lock) -> usize {
        let manifest = match self.manifest() {
            Ok(manifest) => manifest,
            // One that is damaged names nothing.
            Err(Trouble::Damaged(_)) => None,
            // Nobody knows what one names that cannot be read.
            Err(_) => return 0,
        };
        let named = |name: &str| {
            manifest.as_ref().is_some_and(|manifest| {
                manifest.segments.iter().any(|segment| segment.file == name)
                    || manifest.dead.as_ref().is_some_and(|dead| dead.file == name)
            })
        };
        let Ok(entries) = fs::read_dir(&self.path) else {
            return 0;
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let stale = names.filter(|name| is_own(name) && !named(name));
        stale.filter(|name| !removed(&self.path.join(name))).count()
    }

    /// How many bytes the files of the folder have.
    pub(super) fn bytes(&self) -> u64 {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return 0;
        };
        entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
    }

    /// Where tests let a fold fail.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it does something in tests")]
    fn step(&self) -> Result<(), Trouble> {
        Ok(())
    }

    #[cfg(test)]
    fn step(&self) -> Result<(), Trouble> {
        self.steps.take(&self.path)
    }
}

/// Tells whether a name is one that a segment, or a file of what is dead, is given here. Files of others stay.
fn is_own(name: &str) -> bool {
    let digits = name.strip_prefix(SEGMENT).or_else(|| name.strip_prefix(DEAD));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// How a segment is named in a manifest.
pub(super) fn named(part: &Part) -> Named {
    Named {
        file: part.segment.name().to_owned(),
        bytes: part.segment.size(),
        checksum: part.segment.checksum(),
        erased: part.erased,
    }
}

/// Removes a file that nobody reads.
fn removed(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => match file.try_lock() {
            Err(TryLockError::WouldBlock) => false,
            Ok(()) | Err(TryLockError::Error(_)) => fs::remove_file(path).is_ok(),
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Lets die what a file says is dead: for each part how many memories, and the first doc of each.
fn bury(parts: &mut [Part], bytes: &[u8], file: &str) -> Result<(), Trouble> {
    let wrong = || damaged(file, "it does not fit the segments");
    let mut words = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned::<u32>);
    for part in parts {
        let view = part.segment.view()?;
        let mut dead = Dead::default();
        for _ in 0..words.next().ok_or_else(wrong)? {
            let first = words.next().filter(|first| *first < part.segment.docs()).ok_or_else(wrong)?;
            dead.kill(&view, first..view.memory_end(first));
        }
        part.dead = dead.into();
    }
    Ok(())
}

fn damaged(file: &str, what: &'static str) -> Damaged {
    Damaged { file: file.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_goes_while_the_manifest_cannot_be_read() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(home.path());
        let lock = folder.lock().expect("a lock").expect("nobody has it");
        let [manifest, segment] = [NAME, "segment-0000000000000001"].map(|name| home.path().join(name));
        fs::write(&segment, "named by the manifest").expect("written");
        // A folder in its place: also root cannot read that.
        fs::create_dir(&manifest).expect("made");
        assert_eq!(folder.sweep(&lock), 0);
        assert!(segment.exists());
        fs::remove_dir(&manifest).expect("removed");
        assert_eq!(folder.sweep(&lock), 0);
        assert!(!segment.exists(), "nothing names it");
    }
}
