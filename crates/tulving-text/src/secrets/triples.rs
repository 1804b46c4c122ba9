//! A set of the first or last three bytes of known words. A single lookup in the set excludes almost every other word.

/// Number of bits of the set: 8 KB.
const BITS: usize = 1 << 16;

/// A set of three-byte sequences, with one bit for each sequence. Some sequences share a bit, so the set may report a
/// sequence that was never added.
pub(super) struct ByteTripleSet([u64; BITS / 64]);

impl ByteTripleSet {
    pub(super) const fn new() -> Self {
        Self([0; BITS / 64])
    }

    pub(super) const fn add(&mut self, triple: [u8; 3]) {
        let bit = bit(triple);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Returns true if these bytes were added, or if they share a bit with bytes that were added.
    pub(super) fn has(&self, triple: [u8; 3]) -> bool {
        let bit = bit(triple);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

const fn bit([first, second, third]: [u8; 3]) -> usize {
    (first as usize * 961 + second as usize * 31 + third as usize) % BITS
}
