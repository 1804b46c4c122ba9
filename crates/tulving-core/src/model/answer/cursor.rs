//! Cursors: a position in a list, as a text that callers send back to get the next page.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::model::error::Invalid;
use crate::model::id::{ListingId, MemoryId};
use crate::model::time::Timestamp;

/// The position at which a list continues. The text is opaque to callers; a modified or invented cursor is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// A fingerprint of the request: filter, order and viewer.
    pub fingerprint: u64,
    /// The position.
    pub position: Position,
}

/// A position in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// After the memory with this creation time and id.
    After(Timestamp, MemoryId),
    /// At this offset of a frozen order.
    Frozen(ListingId, u32),
}

const CURSOR_BYTES: usize = 37;

impl Cursor {
    fn to_bytes(self) -> [u8; CURSOR_BYTES] {
        let mut bytes = [0; CURSOR_BYTES];
        bytes[..8].copy_from_slice(&self.fingerprint.to_be_bytes());
        match self.position {
            Position::After(at, id) => {
                bytes[8] = 1;
                bytes[9..17].copy_from_slice(&at.as_micros().to_be_bytes());
                bytes[17..33].copy_from_slice(id.as_bytes());
            }
            Position::Frozen(id, offset) => {
                bytes[8] = 2;
                bytes[13..17].copy_from_slice(&offset.to_be_bytes());
                bytes[17..33].copy_from_slice(id.as_bytes());
            }
        }
        let check = Sha256::digest(&bytes[..33]);
        bytes[33..].copy_from_slice(&check[..4]);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CURSOR_BYTES] = bytes.try_into().ok()?;
        let fingerprint = u64::from_be_bytes(bytes[..8].try_into().ok()?);
        let id = bytes[17..33].try_into().ok()?;
        let position = match bytes[8] {
            1 => Position::After(
                Timestamp::from_micros(i64::from_be_bytes(bytes[9..17].try_into().ok()?)),
                MemoryId::from_bytes(id),
            ),
            2 => {
                let offset = u32::from_be_bytes(bytes[13..17].try_into().ok()?);
                Position::Frozen(ListingId::from_bytes(id), offset)
            }
            _ => return None,
        };
        let cursor = Self { fingerprint, position };
        (cursor.to_bytes() == *bytes).then_some(cursor)
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&data_encoding::BASE64URL_NOPAD.encode(&self.to_bytes()))
    }
}

impl FromStr for Cursor {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        data_encoding::BASE64URL_NOPAD
            .decode(text.trim().as_bytes())
            .ok()
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| Invalid::Cursor { got: crate::model::preview::short(text) })
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(position: Position) -> Cursor {
        Cursor { fingerprint: 7, position }
    }

    #[test]
    fn a_cursor_reads_back_as_it_was_printed() {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        for position in
            [Position::After(now, MemoryId::mint(now)), Position::Frozen(ListingId::mint(now), 40)]
        {
            assert_eq!(cursor(position).to_string().parse(), Ok(cursor(position)));
        }
    }

    #[test]
    fn a_changed_or_made_up_cursor_is_refused() {
        let now = Timestamp::from_micros(5);
        let good = cursor(Position::After(now, MemoryId::mint(now))).to_string();
        for at in 0..good.len() {
            let mut letters: Vec<char> = good.chars().collect();
            letters[at] = if letters[at] == 'A' { 'B' } else { 'A' };
            let changed: String = letters.into_iter().collect();
            assert!(changed.parse::<Cursor>().is_err(), "letter {at}");
        }
        assert!("next".parse::<Cursor>().is_err() && "".parse::<Cursor>().is_err());
    }
}
