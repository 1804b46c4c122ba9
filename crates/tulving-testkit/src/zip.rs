//! Zip archives for tests, and streams that unpack to far more than their size.

/// Number of times that the last 258 blanks are repeated in a block.
const REPEATS: usize = 3_876;
/// Number of blanks in a block, with the first.
const BLANKS: usize = 1 + REPEATS * 258;

/// A part of an archive.
pub struct ZipPart {
    name: String,
    content: Vec<u8>,
    /// The unpacked size.
    size: u64,
    sum: u32,
    is_packed: bool,
}

impl ZipPart {
    /// A part that is stored unpacked.
    pub fn plain(name: &str, content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        let (size, sum) = (content.len() as u64, checksum(&content));
        Self { name: name.to_owned(), content, size, sum, is_packed: false }
    }

    /// A part that unpacks to `head`, and then to a million times `count` blanks.
    pub fn bomb(name: &str, head: &str, count: usize) -> Self {
        let content = [&stored(head.as_bytes())[..], &deflated_blanks(count)].concat();
        let size = (head.len() + count * BLANKS) as u64;
        // A reader that limits the unpacked size never compares the checksum of a larger part.
        let sum = match count {
            ..=10 => checksum(&[head.as_bytes(), &b" ".repeat(count * BLANKS)].concat()),
            _ => 0,
        };
        Self { name: name.to_owned(), content, size, sum, is_packed: true }
    }

    /// The same part with a false, small size.
    #[must_use]
    pub fn lying(self) -> Self {
        Self { size: 1_000, ..self }
    }
}

/// An archive of these parts.
pub fn zip(parts: &[ZipPart]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for part in parts {
        let place = u32::try_from(file.len()).expect("a small archive");
        let packed = u32::try_from(part.content.len()).expect("a small part");
        let size = u32::try_from(part.size).expect("a small part");
        let mut about = Vec::new();
        about.extend([20, 0, 0, 0, if part.is_packed { 8 } else { 0 }, 0, 0, 0, 0x21, 0]);
        for number in [part.sum, packed, size] {
            about.extend(number.to_le_bytes());
        }
        about.extend(u16::try_from(part.name.len()).expect("a short name").to_le_bytes());
        about.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend_from_slice(&about);
        file.extend(part.name.as_bytes());
        file.extend_from_slice(&part.content);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend_from_slice(&about);
        directory.extend([0; 10]);
        directory.extend(place.to_le_bytes());
        directory.extend(part.name.as_bytes());
    }
    let place = u32::try_from(file.len()).expect("a small archive");
    let count = u16::try_from(parts.len()).expect("few parts").to_le_bytes();
    let length = u32::try_from(directory.len()).expect("a small directory");
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].concat());
    file.extend([length.to_le_bytes(), place.to_le_bytes()].concat());
    file.extend([0, 0]);
    file
}

/// A zlib stream that unpacks to a million times `count` blanks.
pub fn zlib_bomb(count: usize) -> Vec<u8> {
    [&b"\x78\x9c"[..], &deflated_blanks(count), b"\0\0\0\0"].concat()
}

/// A stored deflate block that is not the last one.
fn stored(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short text");
    [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes(), content].concat()
}

/// Deflate blocks with a million blanks each, and an empty one at the end: a blank, and then again and again "the same 258
/// times more", which is thirteen bits each time.
fn deflated_blanks(count: usize) -> Vec<u8> {
    let mut bits = BitWriter::default();
    // Not the last block, fixed codes.
    bits.push(0b010, 3);
    bits.push_code(0x30 + u32::from(b' '), 8);
    for _ in 0..REPEATS {
        // Length 258 is the code 285; distance 1 is five zero bits.
        bits.push_code(0b1100_0000 + (285 - 280), 8);
        bits.push(0, 5);
    }
    bits.push_code(0, 7);
    // An empty stored block ends at a byte, so the next one can begin.
    bits.push(0b000, 3);
    let mut block = bits.finish();
    block.extend([0, 0, 0xff, 0xff]);
    let mut stream = block.repeat(count);
    stream.extend([0b011, 0]);
    stream
}

/// Bits from the lowest on, as in deflate.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    used: u32,
}

impl BitWriter {
    fn push(&mut self, bits: u32, count: u32) {
        for at in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = u8::from(bits >> at & 1 == 1);
            let last = self.bytes.last_mut().expect("one was just added");
            *last |= bit << (self.used % 8);
            self.used += 1;
        }
    }

    /// Writes a code from the highest bit on.
    fn push_code(&mut self, code: u32, count: u32) {
        for at in (0..count).rev() {
            self.push(code >> at & 1, 1);
        }
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// The checksum of a part in zip archives.
fn checksum(content: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in content {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_one_that_zip_archives_have() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
