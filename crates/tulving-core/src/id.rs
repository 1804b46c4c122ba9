//! Identifiers, each its own type so that one cannot be passed for another.
//!
//! All ids are UUIDs of version 7: they ascend with time, so an index on them grows at its end. The ids of the
//! rows that every home starts with are fixed, so that a dump of one home fits into another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::Invalid;
use crate::time::Timestamp;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id that sorts after the ones minted before it in this process.
            pub fn mint(now: Timestamp) -> Self {
                Self(mint(now))
            }

            /// The id of something that has a name elsewhere: the same each time, and it sorts by when that was made.
            pub fn derived(made: Timestamp, name: &[u8; 32]) -> Self {
                Self(derived(made, name))
            }

            /// Whether it was derived from this name, whenever that was made.
            pub fn is_derived_from(&self, name: &[u8; 32]) -> bool {
                let mut derived = *derived(Timestamp::from_micros(0), name).as_bytes();
                derived[..MADE].copy_from_slice(&self.0.as_bytes()[..MADE]);
                derived == *self.0.as_bytes()
            }

            /// The id with exactly these bytes, as read back from a store.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The sixteen bytes, in the order in which ids sort.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Uuid::parse_str(text.trim())
                    .map(Self)
                    .map_err(|_| Invalid::Id { got: crate::preview::short(text) })
            }
        }
    )+};
}

ids! {
    /// Names one memory, in every space and on every machine.
    MemoryId,
    /// Names one space.
    SpaceId,
    /// Names one team, which holds spaces.
    TeamId,
    /// Names one org, which holds teams.
    OrgId,
    /// Names one person or agent.
    PrincipalId,
    /// Names one token; not the token itself.
    TokenId,
    /// Names one turn of a conversation.
    TurnId,
    /// Names one piece of background work.
    JobId,
    /// Names one background act of a model, so that all it wrote can be undone together.
    PassId,
    /// Names one entry of the audit.
    AuditId,
    /// Names one frozen order of a listing; see [`Cursor`](crate::answer::Cursor).
    ListingId,
}

impl OrgId {
    /// The org that every home starts with.
    pub const LOCAL: Self = Self(fixed(1));
}

impl TeamId {
    /// The team that every home starts with.
    pub const LOCAL: Self = Self(fixed(2));
}

impl SpaceId {
    /// The space `default`.
    pub const DEFAULT: Self = Self(fixed(3));
}

impl PrincipalId {
    /// The user whose home this is.
    pub const USER: Self = Self(fixed(4));
}

impl JobId {
    /// The one job that applies rules, time and again.
    pub const TEND: Self = Self(fixed(5));
    /// The one job that consolidates journals, time and again.
    pub const CONSOLIDATE: Self = Self(fixed(6));
}

/// A version-7 id of the epoch's first millisecond, which minting can never produce.
const fn fixed(last: u8) -> Uuid {
    let mut bytes = [0; 16];
    bytes[6] = 0x70;
    bytes[8] = 0x80;
    bytes[15] = last;
    Uuid::from_bytes(bytes)
}

fn mint(now: Timestamp) -> Uuid {
    static CONTEXT: std::sync::Mutex<uuid::ContextV7> = std::sync::Mutex::new(uuid::ContextV7::new());
    let micros = now.as_micros().max(0).unsigned_abs();
    let nanos = u32::try_from(micros % 1_000_000).unwrap_or(0) * 1_000;
    Uuid::new_v7(uuid::Timestamp::from_unix(&CONTEXT, micros / 1_000_000, nanos))
}

/// How many bytes of an id say when it was made.
const MADE: usize = 6;

fn derived(made: Timestamp, name: &[u8; 32]) -> Uuid {
    let millis = made.as_micros().max(0).unsigned_abs() / 1_000;
    let mut rest = [0; 10];
    rest.copy_from_slice(&name[..10]);
    uuid::Builder::from_unix_timestamp_millis(millis, &rest).into_uuid()
}

/// The number of a memory in its space: the `12` of `#12`. Ascends, and is never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(pub u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The version of a memory, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u32);

impl Version {
    /// The version that a new memory has.
    pub const FIRST: Self = Self(1);

    /// The version after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The place of an entry in the change log. Ascends in the order of commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// How a caller names a memory: by its number in the space of the call, or by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryRef {
    /// `#12` or `12`.
    Number(Number),
    /// A UUID, or `mem_` and its 32 hexadecimal digits.
    Id(MemoryId),
}

impl MemoryRef {
    /// The number where there is one, else the id.
    pub fn of(number: Option<Number>, id: MemoryId) -> Self {
        number.map_or(Self::Id(id), Self::Number)
    }
}

impl FromStr for MemoryRef {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let wrong = || Invalid::MemoryRef { got: crate::preview::short(text) };
        let digits = text.strip_prefix('#').unwrap_or(text);
        if digits.len() <= 19 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return digits.parse().map(|n| Self::Number(Number(n))).map_err(|_| wrong());
        }
        Uuid::parse_str(text.strip_prefix("mem_").unwrap_or(text))
            .map(|id| Self::Id(MemoryId(id)))
            .map_err(|_| wrong())
    }
}

impl fmt::Display for MemoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

impl Serialize for MemoryRef {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MemoryRef {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

impl From<MemoryId> for MemoryRef {
    fn from(id: MemoryId) -> Self {
        Self::Id(id)
    }
}

/// Names one proposal of what to do about a memory: a digest of what is proposed and of the versions it is about, so it
/// is the same for as long as those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId([u8; 6]);

impl ProposalId {
    /// The id of a proposal that this text describes.
    pub fn of(description: &str) -> Self {
        let digest = Sha256::digest(description.as_bytes());
        Self(digest[..6].try_into().expect("a digest has 32 bytes"))
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl FromStr for ProposalId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).ok();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| Invalid::ProposalId { got: crate::preview::short(text) })
    }
}

impl Serialize for ProposalId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_minted_in_one_instant_ascend() {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let ids: Vec<_> = (0..1_000).map(|_| MemoryId::mint(now)).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_derived_id_is_the_same_each_time_and_sorts_by_its_time() {
        let (early, late) =
            (Timestamp::from_micros(1_700_000_000_000_000), Timestamp::from_micros(1_700_000_001_000_000));
        let id = MemoryId::derived(early, &[7; 32]);
        assert_eq!(id, MemoryId::derived(early, &[7; 32]));
        assert_ne!(id, MemoryId::derived(early, &[8; 32]));
        assert!(MemoryId::derived(early, &[255; 32]) < MemoryId::derived(late, &[0; 32]));
        assert_eq!(Uuid::from_bytes(*id.as_bytes()).get_version_num(), 7);
        assert!(id.is_derived_from(&[7; 32]) && !id.is_derived_from(&[8; 32]));
    }

    #[test]
    fn a_memory_is_named_by_number_or_id() {
        assert_eq!("#12".parse(), Ok(MemoryRef::Number(Number(12))));
        assert_eq!("12".parse(), Ok(MemoryRef::Number(Number(12))));
        let id = MemoryId::mint(Timestamp::from_micros(1));
        assert_eq!(id.to_string().parse(), Ok(MemoryRef::Id(id)));
        assert_eq!(format!("mem_{}", id.to_string().replace('-', "")).parse(), Ok(MemoryRef::Id(id)));
    }

    #[test]
    fn other_names_are_refused_with_the_name() {
        for wrong in ["", "#", "#-1", "12a", "mem_", "#99999999999999999999", "🦀"] {
            let error = wrong.parse::<MemoryRef>().expect_err(wrong);
            assert!(matches!(error, Invalid::MemoryRef { .. }), "{wrong}: {error}");
        }
    }
}
