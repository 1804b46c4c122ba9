//! What callers get back.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::association::Association;
use crate::error::Invalid;
use crate::id::{ListingId, MemoryId, MemoryRef, Number, PrincipalId, SpaceId, Version};
use crate::memory::{Edition, Memory};
use crate::score::Score;
use crate::time::Timestamp;
use crate::vocabulary::{State, VersionAct};

/// What became of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A new memory.
    Created,
    /// The memory of that key or path has a new version.
    Updated,
    /// The memory of that key or path said so already.
    Unchanged,
    /// A memory with the same content was there.
    Duplicate,
}

/// The proof of a save: given only after the commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receipt {
    /// The memory that now holds the content.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// Where it is.
    pub space: SpaceId,
    /// What became of the save.
    pub fate: Fate,
    /// Whether an archived memory came back to active.
    pub revived: bool,
    /// The version it has now.
    pub version: Version,
    /// How it stands.
    pub state: State,
    /// What was asked and not done, by name.
    pub warnings: Vec<Warning>,
}

/// Something that was asked and not done; the rest was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The target of an association does not exist, or may not be seen.
    AssociationSkipped {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// The caller may not write where the target lives, so it is linked but not superseded.
    NotSuperseded {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// The content is known, and the memory that holds it keeps these fields as they were.
    Kept {
        /// The memory.
        memory: MemoryRef,
        /// The fields.
        fields: Vec<&'static str>,
    },
    /// It has expired already, so recall does not find it.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// The content is not embedded yet; recall finds it by its words.
    NotEmbedded {
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AssociationSkipped { target } => {
                write!(f, "the association with {target} was left out: there is no such memory")
            }
            Self::NotSuperseded { target } => {
                write!(f, "{target} was linked as related_to: you may not mark it as superseded")
            }
            Self::Kept { memory, fields } => {
                write!(f, "{memory} keeps its own {}; `tulving update` can change that", fields.join(", "))
            }
            Self::Expired { at } => write!(f, "it expired at {at}: recall does not find it"),
            Self::NotEmbedded { why } => write!(f, "not embedded yet: {why}"),
        }
    }
}

/// One memory found, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How well it fits, 0 to 1.
    pub relevance_score: Score,
    /// Why it is here, in a few words.
    pub why: String,
}

/// What a recall found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many there were before the limit.
    pub total_found: u64,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The memories, in order.
    pub memories: Vec<Memory>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Cursor>,
}

/// Where a list goes on. Opaque to callers; a changed or made-up one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Belongs to this request: filter, order and viewer.
    pub fingerprint: u64,
    /// The place.
    pub position: Position,
}

/// A place in a list.
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
            .ok_or_else(|| Invalid::Cursor { got: crate::preview::short(text) })
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

/// One version in a memory's history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Which version.
    pub version: Version,
    /// Whether it is the one that holds now.
    pub current: bool,
    /// Why it was written.
    pub act: VersionAct,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// The name of whom.
    pub by_name: String,
    /// With which agent.
    pub agent: Option<String>,
    /// The fields that differ from the version before.
    pub changed: Vec<&'static str>,
    /// What it said.
    pub edition: Edition,
}

/// A memory near another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relative {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How many hops away.
    pub distance: usize,
    /// The associations by which it was reached, strongest first.
    pub via: Vec<Association>,
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
