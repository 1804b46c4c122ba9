//! The bytes of a segment: a file in memory, or what was only ever in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use memmap2::{Advice, Mmap};

/// Bytes that begin at a multiple of eight and never change.
pub(super) enum Bytes {
    /// A file. Its lock, shared, keeps it from being removed for as long as it is used.
    Mapped { map: Mmap, _lock: File },
    /// Words, of which the last may be used in part.
    Held { words: Vec<u64>, length: usize },
}

impl Bytes {
    /// The content of a file.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // Where it cannot be locked, its name may go while it is read; what is mapped stays.
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

    /// These bytes.
    pub(super) fn held(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::Held { words, length: bytes.len() }
    }

    /// Says that a part is read here and there, so that nothing around is read as well.
    pub(super) fn scattered(&self, part: Range<usize>) {
        self.advise(Advice::Random, part);
    }

    /// Asks for a part that is read soon, without waiting for it.
    pub(super) fn fetch(&self, part: Range<usize>) {
        self.advise(Advice::WillNeed, part);
    }

    fn advise(&self, advice: Advice, part: Range<usize>) {
        if let Self::Mapped { map, .. } = self {
            // It is only advice.
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
