//! A set of the three bytes that known words begin or end with. One lookup excludes almost every other word.

/// Number of bits: 8 KB.
const BITS: usize = 1 << 16;

/// A set of three-byte sequences, one bit for each. Some share a bit, so the set may report a sequence that was never
/// added.
pub(super) struct ByteTripleSet([u64; BITS / 64]);

impl ByteTripleSet {
    pub(super) const fn new() -> Self {
        Self([0; BITS / 64])
    }

    pub(super) const fn add(&mut self, triple: [u8; 3]) {
        let bit = bit(triple);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Returns true if these bytes were added, or share a bit with others that were.
    pub(super) fn has(&self, triple: [u8; 3]) -> bool {
        let bit = bit(triple);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

const fn bit([first, second, third]: [u8; 3]) -> usize {
    (first as usize * 961 + second as usize * 31 + third as usize) % BITS
}
