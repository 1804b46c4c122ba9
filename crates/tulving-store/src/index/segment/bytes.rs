//! The bytes of a segment: a mapped file, or a buffer in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use memmap2::{Advice, Mmap};

/// Immutable bytes that begin at a multiple of eight.
pub(super) enum SegmentBytes {
    /// A mapped file. Its shared lock prevents its removal while it is used.
    Mapped { map: Mmap, _lock: File },
    /// Words in memory. The last word may be only partly used.
    Held { words: Vec<u64>, length: usize },
}

impl SegmentBytes {
    /// Maps the content of a file.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // Without a lock, the file may be removed while it is mapped, but the mapping stays valid.
        drop(file.try_lock_shared());
        #[expect(
            unsafe_code,
            reason = "files of the index are never written again once they have their name, and the shared lock keeps \
                      them from being removed"
        )]
        // SAFETY: nobody truncates or writes the file while it is mapped, see above.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self::Mapped { map, _lock: file })
    }

    /// Copies these bytes into memory.
    pub(super) fn held(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::Held { words, length: bytes.len() }
    }

    /// Tells the system that this part is read at random, so that it reads nothing ahead.
    pub(super) fn scattered(&self, part: Range<usize>) {
        self.advise(Advice::Random, part);
    }

    /// Requests a part that will be read soon, without waiting for it.
    pub(super) fn fetch(&self, part: Range<usize>) {
        self.advise(Advice::WillNeed, part);
    }

    fn advise(&self, advice: Advice, part: Range<usize>) {
        if let Self::Mapped { map, .. } = self {
            // The request is only a hint, so a failure has no effect.
            drop(map.advise_range(advice, part.start, part.len()));
        }
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped { map, .. } => map,
            Self::Held { words, length } => &bytemuck::cast_slice(words)[..*length],
        }
    }
}
