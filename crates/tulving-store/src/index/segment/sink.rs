//! The output of a segment: writes sections one after the other and computes their checksums.

use std::io::{self, Write};

use bytemuck::NoUninit;

use super::layout::{ALIGNMENT, BLOCK, SegmentHead, SegmentSection, SegmentTrailer};
use super::write::ChecksumMode;

/// Writes sections one after the other and computes their checksums.
pub(super) struct SectionWriter<'a> {
    out: &'a mut dyn Write,
    checks: ChecksumMode,
    written: u64,
    sections: Vec<(u64, u64)>,
    checksums: Vec<u32>,
    block: crc32fast::Hasher,
    /// Number of bytes of the current block that are already written.
    filled: usize,
}

impl<'a> SectionWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, checks: ChecksumMode) -> Self {
        Self {
            out,
            checks,
            written: 0,
            sections: Vec::new(),
            checksums: Vec::new(),
            block: crc32fast::Hasher::new(),
            filled: 0,
        }
    }

    /// Begins the next section in the order of the file.
    pub(super) fn begin(&mut self, section: SegmentSection) -> io::Result<()> {
        debug_assert_eq!(section as usize, self.sections.len(), "sections are written in their order");
        let start = self.written.next_multiple_of(ALIGNMENT as u64);
        let gap = usize::try_from(start - self.written).unwrap_or(0);
        self.out.write_all(&[0; ALIGNMENT][..gap])?;
        self.written = start;
        self.sections.push((start, 0));
        Ok(())
    }

    /// Appends bytes to the current section.
    pub(super) fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        while self.checks == ChecksumMode::Written && !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.block.update(now);
            self.filled += now.len();
            if self.filled == BLOCK {
                self.close_block();
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Ends the current section.
    pub(super) fn end(&mut self) {
        if let Some((start, length)) = self.sections.last_mut() {
            *length = self.written - *start;
        }
        if self.filled > 0 {
            self.close_block();
        }
    }

    fn close_block(&mut self) {
        self.checksums.push(std::mem::take(&mut self.block).finalize());
        self.filled = 0;
    }

    /// Writes a section from its bytes.
    pub(super) fn all(&mut self, section: SegmentSection, bytes: &[u8]) -> io::Result<()> {
        self.begin(section)?;
        self.put(bytes)?;
        self.end();
        Ok(())
    }

    /// Writes a section, value by value.
    pub(super) fn each<T: NoUninit>(
        &mut self,
        section: SegmentSection,
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        self.begin(section)?;
        let values = values.into_iter();
        let room = values.size_hint().1.unwrap_or(usize::MAX).clamp(1, BLOCK / size_of::<T>().max(1));
        let mut some = Vec::with_capacity(room);
        for value in values {
            some.push(value);
            if some.len() == some.capacity() {
                self.put(bytemuck::cast_slice(&some))?;
                some.clear();
            }
        }
        self.put(bytemuck::cast_slice(&some))?;
        self.end();
        Ok(())
    }

    /// Writes the head, with the positions of all sections, and the trailer.
    pub(super) fn finish(self, head: SegmentHead) -> io::Result<()> {
        let head = SegmentHead { sections: self.sections, checksums: self.checksums, ..head }.encoded();
        let trailer = SegmentTrailer {
            offset: self.written,
            length: head.len() as u64,
            checksum: crc32fast::hash(&head),
        };
        self.out.write_all(&head)?;
        self.out.write_all(&trailer.encoded())?;
        self.out.flush()
    }
}
