//! Writes a backup entry by entry, and collects the entries for the manifest.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tulving_core::model::time::Timestamp;

use super::{
    ArchiveEntry, BackupCounts, BackupHeader, BackupManifest, BackupOmission, FORMAT, HEADER, MANIFEST,
    OBJECTS, PREVIOUS, VERSION, WORKSPACE, why_not,
};

/// A backup that is being written.
pub(crate) struct ArchiveWriter<W: Write> {
    tar: tar::Builder<W>,
    /// The modification time of every entry, in seconds since 1970.
    time: u64,
    names: HashSet<String>,
    manifest: BackupManifest,
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins a backup by writing its header. `erasure` is the id of the last erasure.
    pub(crate) fn begin(
        target: W,
        now: Timestamp,
        erasure: Option<[u8; 16]>,
        erased_text_left: bool,
    ) -> io::Result<Self> {
        let header = BackupHeader {
            format: FORMAT.to_owned(),
            version: VERSION,
            made_at: now.to_string(),
            erasure: erasure.map(|mark| HEXLOWER.encode(&mark)),
            erased_text_left,
        };
        let time = u64::try_from(now.as_micros() / 1_000_000).unwrap_or(0);
        let tar = tar::Builder::new(target);
        let mut writer = Self { tar, time, names: HashSet::new(), manifest: BackupManifest::default() };
        writer.add_bytes(HEADER, &serde_json::to_vec_pretty(&header)?)?;
        Ok(writer)
    }

    /// Adds an entry of exactly `size` bytes.
    pub(crate) fn add(&mut self, path: &str, size: u64, content: impl Read) -> io::Result<()> {
        if let Some(why) = why_not(path) {
            return Err(io::Error::other(format!("{path:?}: {why}")));
        }
        if !self.names.insert(path.to_owned()) {
            return Err(io::Error::other(format!("{path:?} occurs twice")));
        }
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(self.time);
        header.set_size(size);
        let mut hashing = HashingReader { inner: content.take(size), hash: Sha256::new(), size: 0 };
        self.tar.append_data(&mut header, path, &mut hashing)?;
        if hashing.size != size {
            return Err(io::Error::other(format!("{path:?} became shorter while it was read")));
        }
        let sha256 = HEXLOWER.encode(&hashing.hash.finalize());
        self.manifest.entries.push(ArchiveEntry { path: path.to_owned(), size, sha256 });
        Ok(())
    }

    /// Adds an entry with this content.
    pub(crate) fn add_bytes(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.add(path, content.len() as u64, content)
    }

    /// Records a part of the home that is not in the backup.
    pub(crate) fn leave_out(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.manifest.left_out.push(BackupOmission { path: path.into(), why: why.into() });
    }

    /// Number of bytes of all contents so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.manifest.entries.iter().map(|entry| entry.size).sum()
    }

    /// Writes the manifest and completes the file.
    pub(crate) fn finish(mut self, memories: u64) -> io::Result<BackupManifest> {
        let below = |prefix: &str| {
            self.manifest.entries.iter().filter(|entry| entry.path.starts_with(prefix)).count() as u64
        };
        self.manifest.counts = BackupCounts {
            memories,
            files: below(WORKSPACE),
            former_texts: below(PREVIOUS),
            attachments: below(OBJECTS),
        };
        let manifest = self.manifest.clone();
        self.add_bytes(MANIFEST, &serde_json::to_vec_pretty(&manifest)?)?;
        self.tar.into_inner()?.flush()?;
        Ok(manifest)
    }
}

/// Hashes and counts the bytes read through it.
struct HashingReader<R> {
    inner: R,
    hash: Sha256,
    size: u64,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.size += count as u64;
        Ok(count)
    }
}
