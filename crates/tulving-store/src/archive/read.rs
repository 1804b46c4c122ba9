//! Reads a backup without trusting its content: every entry is compared with the manifest before any of it is used.
//!
//! Reading fails on links, folders and devices, on names that backups do not use, on names that occur twice, on sizes
//! and hashes that do not match, and on anything beyond the limits below. This module writes nothing.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::Path;

use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tar::EntryType;

use super::{
    ArchiveEntry, BackupHeader, BackupManifest, DATABASE, FORMAT, HEADER, MANIFEST, NAME_BYTES, OBJECTS,
    PREVIOUS, VERSION, WORKSPACE, why_not,
};

/// Maximum size of the header, in bytes.
const HEADER_BYTES: u64 = 64 << 10;
/// Maximum size of the manifest, in bytes: enough for about two million entries.
const MANIFEST_BYTES: u64 = 512 << 20;
/// The position of the magic bytes of a tar file.
const MAGIC_AT: u64 = 257;
const MAGIC: &[u8] = b"ustar";

/// A backup. All of its entries were compared with its manifest.
#[derive(Debug)]
pub(crate) struct BackupArchive {
    file: File,
    pub(crate) manifest: BackupManifest,
    /// The offset of the content of each entry, by the name of the entry.
    places: HashMap<String, u64>,
}

/// Returns true if an open file has the magic bytes of a tar file. Rewinds the file.
pub(crate) fn is_archive(mut file: &File) -> io::Result<bool> {
    let mut found = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(MAGIC_AT))?;
    let read = file.read_exact(&mut found);
    file.rewind()?;
    match read {
        Ok(()) => Ok(found == MAGIC),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the header of a backup; `None` if the file is not a backup.
pub(crate) fn header_of(path: &Path) -> Option<BackupHeader> {
    let mut tar = tar::Archive::new(File::open(path).ok()?);
    let mut first = tar.entries().ok()?.raw(true).next()?.ok()?;
    let is_header = first.path_bytes().as_ref() == HEADER.as_bytes();
    let mut content = Vec::new();
    first.by_ref().take(HEADER_BYTES).read_to_end(&mut content).ok()?;
    is_header.then(|| serde_json::from_slice(&content).ok()).flatten()
}

impl BackupArchive {
    /// Reads a whole backup and compares it with its manifest. Calls `progress` with the number of bytes read so far.
    ///
    /// The error describes the damage.
    pub(crate) fn verified(file: File, progress: &mut dyn FnMut(u64)) -> Result<Self, String> {
        let mut found = ArchiveScan::default();
        {
            let mut tar = tar::Archive::new(&file);
            let entries = tar.entries().map_err(|error| unreadable(&error))?.raw(true);
            for entry in entries {
                let entry = entry.map_err(|error| unreadable(&error))?;
                progress(entry.raw_file_position());
                found.take(entry)?;
            }
        }
        let (manifest, places) = found.checked()?;
        Ok(Self { file, manifest, places })
    }

    /// Returns the entries with this prefix, each with the rest of its name.
    pub(crate) fn below<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a ArchiveEntry)> + 'a {
        let entries = self.manifest.entries.iter();
        entries.filter_map(move |entry| Some((entry.path.strip_prefix(prefix)?, entry)))
    }

    /// Returns the entry with this name.
    pub(crate) fn entry(&self, path: &str) -> Option<&ArchiveEntry> {
        self.manifest.entries.iter().find(|entry| entry.path == path)
    }

    /// Copies the content of an entry, and compares it with the manifest again, because the file may have changed since
    /// it was opened.
    pub(crate) fn copy(&self, entry: &ArchiveEntry, target: &mut dyn Write) -> io::Result<()> {
        let changed = || io::Error::other("the backup was changed while it was restored");
        let at = *self.places.get(&entry.path).ok_or_else(changed)?;
        (&self.file).seek(SeekFrom::Start(at))?;
        let (size, sha256) = copy_hashed(&mut (&self.file).take(entry.size), target)?;
        if (size, &sha256) == (entry.size, &entry.sha256) { Ok(()) } else { Err(changed()) }
    }
}

/// The entries read so far.
#[derive(Default)]
struct ArchiveScan {
    entries: Vec<ArchiveEntry>,
    places: HashMap<String, u64>,
    /// The name of the next entry, if that name is too long for its tar header.
    long_name: Option<Vec<u8>>,
    manifest: Option<BackupManifest>,
}

impl ArchiveScan {
    fn take(&mut self, mut entry: tar::Entry<'_, impl Read>) -> Result<(), String> {
        if self.manifest.is_some() {
            return Err("something follows its manifest".to_owned());
        }
        match entry.header().entry_type() {
            EntryType::Regular => {}
            EntryType::GNULongName if self.long_name.is_none() => {
                let mut name = Vec::new();
                let bound = NAME_BYTES as u64 + 2;
                entry.by_ref().take(bound).read_to_end(&mut name).map_err(|error| unreadable(&error))?;
                while name.last() == Some(&0) {
                    name.pop();
                }
                self.long_name = Some(name);
                return Ok(());
            }
            _ => return Err("it has an entry that is not a regular file".to_owned()),
        }
        let name = self.long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = String::from_utf8(name).map_err(|_| "a name is not text".to_owned())?;
        if let Some(why) = why_not(&path) {
            return Err(format!("{why}: {path:?}"));
        }
        if self.entries.is_empty() != (path == HEADER) {
            return Err(format!("its first entry is not {HEADER}"));
        }
        if path == MANIFEST {
            self.manifest = Some(small(&mut entry, MANIFEST, MANIFEST_BYTES)?);
            return Ok(());
        }
        let (at, size) = (entry.raw_file_position(), entry.size());
        if path == HEADER {
            return self.take_header(entry, at);
        }
        let (found, sha256) = copy_hashed(&mut entry, &mut io::sink()).map_err(|error| unreadable(&error))?;
        if found != size {
            return Err("it was cut off".to_owned());
        }
        self.note(ArchiveEntry { path, size, sha256 }, at)
    }

    fn take_header(&mut self, mut entry: tar::Entry<'_, impl Read>, at: u64) -> Result<(), String> {
        let content = bounded(&mut entry, HEADER, HEADER_BYTES)?;
        let header: BackupHeader = parsed(&content, HEADER)?;
        if header.format != FORMAT {
            return Err(format!("its format is {:?}, not {FORMAT:?}", header.format));
        }
        if header.version > VERSION {
            let version = header.version;
            return Err(format!("its format has version {version}; a newer Tulving has made it"));
        }
        let sha256 = HEXLOWER.encode(&Sha256::digest(&content));
        self.note(ArchiveEntry { path: HEADER.to_owned(), size: content.len() as u64, sha256 }, at)
    }

    fn note(&mut self, entry: ArchiveEntry, at: u64) -> Result<(), String> {
        match self.places.insert(entry.path.clone(), at) {
            None => self.entries.push(entry),
            Some(_) => return Err(format!("{:?} is in it twice", entry.path)),
        }
        Ok(())
    }

    /// Compares the entries with the manifest.
    fn checked(mut self) -> Result<(BackupManifest, HashMap<String, u64>), String> {
        let Some(manifest) = self.manifest.take() else {
            return Err("it was cut off: it has no manifest".to_owned());
        };
        if let Some((found, listed)) =
            self.entries.iter().zip(&manifest.entries).find(|(found, listed)| found != listed)
        {
            let path = &found.path;
            return Err(match found.path == listed.path {
                true => format!("{path:?} is damaged: it does not match its hash"),
                false => format!("{path:?} is not in its manifest"),
            });
        }
        let counts = manifest.counts;
        let below =
            |prefix: &str| self.entries.iter().filter(|entry| entry.path.starts_with(prefix)).count() as u64;
        let counted = (below(WORKSPACE), below(PREVIOUS), below(OBJECTS));
        if self.entries.len() != manifest.entries.len()
            || counted != (counts.files, counts.former_texts, counts.attachments)
        {
            return Err("it contains less than its manifest says".to_owned());
        }
        let is_named_for =
            |entry: &ArchiveEntry| !entry.path.starts_with(OBJECTS) || entry.path.ends_with(&entry.sha256);
        if let Some(entry) = self.entries.iter().find(|entry| !is_named_for(entry)) {
            return Err(format!("{:?} is damaged: it does not match its name", entry.path));
        }
        if !self.places.contains_key(DATABASE) {
            return Err("it has no database".to_owned());
        }
        self.refuse_files_as_folders()?;
        Ok((manifest, self.places))
    }

    /// Refuses a backup in which one name is both a file and the folder of another file.
    fn refuse_files_as_folders(&self) -> Result<(), String> {
        let names: HashSet<&Path> = self.entries.iter().map(|entry| Path::new(&entry.path)).collect();
        let nested = |name: &&&Path| name.ancestors().skip(1).any(|above| names.contains(above));
        match names.iter().find(nested) {
            None => Ok(()),
            Some(name) => Err(format!("{name:?} is below a file")),
        }
    }
}

/// Reads the content of an entry of at most `most` bytes.
fn bounded(entry: &mut tar::Entry<'_, impl Read>, name: &str, most: u64) -> Result<Vec<u8>, String> {
    if entry.size() > most {
        return Err(format!("its {name} is too large"));
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content).map_err(|error| unreadable(&error))?;
    if content.len() as u64 != entry.size() {
        return Err("it was cut off".to_owned());
    }
    Ok(content)
}

fn small<T: DeserializeOwned>(
    entry: &mut tar::Entry<'_, impl Read>,
    name: &str,
    most: u64,
) -> Result<T, String> {
    parsed(&bounded(entry, name, most)?, name)
}

fn parsed<T: DeserializeOwned>(content: &[u8], name: &str) -> Result<T, String> {
    serde_json::from_slice(content).map_err(|error| format!("its {name} cannot be read: {error}"))
}

fn unreadable(error: &io::Error) -> String {
    format!("it is damaged or was cut off: {error}")
}

/// Copies all bytes, and returns their number and their SHA-256.
fn copy_hashed(source: &mut dyn Read, target: &mut dyn Write) -> io::Result<(u64, String)> {
    let mut buffer = vec![0; 1 << 16];
    let (mut hash, mut size) = (Sha256::new(), 0);
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hash.update(&buffer[..count]);
        target.write_all(&buffer[..count])?;
        size += count as u64;
    }
    Ok((size, HEXLOWER.encode(&hash.finalize())))
}
