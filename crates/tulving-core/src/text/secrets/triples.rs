//! Which three bytes in a row known words begin or end with, so that one look tells almost every other word apart.

/// How many bits there are: 8 KB of them.
const BITS: usize = 1 << 16;

/// A set of three bytes in a row, a bit for each. Now and then two share a bit, so one may be had that was never added.
pub(super) struct Triples([u64; BITS / 64]);

impl Triples {
    pub(super) const fn new() -> Self {
        Self([0; BITS / 64])
    }

    pub(super) const fn add(&mut self, triple: [u8; 3]) {
        let bit = bit(triple);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Whether these were added, or share their bit with some that were.
    pub(super) fn has(&self, triple: [u8; 3]) -> bool {
        let bit = bit(triple);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

const fn bit([first, second, third]: [u8; 3]) -> usize {
    (first as usize * 961 + second as usize * 31 + third as usize) % BITS
}
