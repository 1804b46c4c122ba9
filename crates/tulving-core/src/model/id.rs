//! Identifiers, each with its own type so that one cannot be mistaken for another.
//!
//! All ids are UUIDs of version 7: they ascend with time, so an index on them grows at its end. The ids of the rows
//! that every home starts with are fixed, so that a dump of one home fits into another.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::model::error::Invalid;
use crate::model::time::Timestamp;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates an id that sorts after all ids that this process created before.
            pub fn mint(now: Timestamp) -> Self {
                Self(mint(now))
            }

            /// Derives an id from the name of an item in another system. The same name and time always give the same id,
            /// which sorts by the time `made`.
            pub fn derived(made: Timestamp, name: &[u8; 32]) -> Self {
                Self(derived(made, name))
            }

            /// Returns true if the id was derived from this name, with any time.
            pub fn is_derived_from(&self, name: &[u8; 32]) -> bool {
                let mut derived = *derived(Timestamp::from_micros(0), name).as_bytes();
                derived[..MADE].copy_from_slice(&self.0.as_bytes()[..MADE]);
                derived == *self.0.as_bytes()
            }

            /// Creates the id with exactly these bytes, as read back from a store.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the sixteen bytes, in the order in which ids sort.
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
                    .map_err(|_| Invalid::Id { got: crate::model::preview::short(text) })
            }
        }
    )+};
}

/// Implements ids that are plain UUIDs in JSON.
macro_rules! uuids {
    ($($name:ident),+ $(,)?) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(out)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                Uuid::deserialize(input).map(Self)
            }
        }
    )+};
}

uuids!(SpaceId, TeamId, OrgId, PrincipalId, TokenId, TurnId, JobId, PassId, AuditId, ListingId);

impl MemoryId {
    /// Returns the id as it is written in JSON: `mem_` and 32 hexadecimal digits.
    pub fn in_json(&self) -> String {
        format!("mem_{}", self.0.simple())
    }
}

/// Writes `mem_` and 32 hexadecimal digits.
impl Serialize for MemoryId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.in_json())
    }
}

/// Reads `mem_` and 32 hexadecimal digits, or a plain UUID.
impl<'de> Deserialize<'de> for MemoryId {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(input)?;
        text.strip_prefix("mem_").unwrap_or(&text).parse().map_err(de::Error::custom)
    }
}

ids! {
    /// Identifies a memory, in every space and on every machine.
    MemoryId,
    /// Identifies a space.
    SpaceId,
    /// Identifies a team, which has spaces.
    TeamId,
    /// Identifies an org, which has teams.
    OrgId,
    /// Identifies a person or an agent.
    PrincipalId,
    /// Identifies a token; not the token itself.
    TokenId,
    /// Identifies a turn of a conversation.
    TurnId,
    /// Identifies a background job.
    JobId,
    /// Identifies a pass, so that everything it wrote can be undone together.
    PassId,
    /// Identifies an audit entry.
    AuditId,
    /// Identifies the frozen order of a listing; see [`Cursor`](crate::model::answer::Cursor).
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
    /// The user who owns this home.
    pub const USER: Self = Self(fixed(4));
}

impl JobId {
    /// The single periodic job that applies lifecycle rules.
    pub const TEND: Self = Self(fixed(5));
    /// The single periodic job that consolidates journals.
    pub const CONSOLIDATE: Self = Self(fixed(6));
}

/// Returns a version-7 id of the first millisecond of 1970. No generated id can be equal to it.
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

/// Number of bytes of an id that encode its time.
const MADE: usize = 6;

fn derived(made: Timestamp, name: &[u8; 32]) -> Uuid {
    let millis = made.as_micros().max(0).unsigned_abs() / 1_000;
    let mut rest = [0; 10];
    rest.copy_from_slice(&name[..10]);
    uuid::Builder::from_unix_timestamp_millis(millis, &rest).into_uuid()
}

/// The number of a memory in its space: the `12` of `#12`. Numbers ascend and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryNumber(pub u64);

impl fmt::Display for MemoryNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The version of a memory, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u32);

impl Version {
    /// The version of a new memory.
    pub const FIRST: Self = Self(1);

    /// Returns the version after this one.
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

/// The position of an entry in the change log. Ascends in the order of commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// An id of another system: `mem_` and fewer hexadecimal digits than ours have, such as `mem_a1b2c3d4`. The text parses as
/// an id but never matches a memory of this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignId {
    /// Stored as bytes, since errors carry references and a `u128` would double their size.
    value: [u8; 16],
    digits: u8,
}

impl ForeignId {
    /// Number of hexadecimal digits of our own ids.
    const OURS: usize = 32;

    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("mem_")?;
        let fits = (1..Self::OURS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u128::from_str_radix(digits, 16).ok().filter(|_| fits)?;
        Some(Self { value: value.to_be_bytes(), digits: u8::try_from(digits.len()).ok()? })
    }
}

impl fmt::Display for ForeignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, digits) = (u128::from_be_bytes(self.value), usize::from(self.digits));
        write!(f, "mem_{value:0digits$x}")
    }
}

/// A caller's reference to a memory: its number in the space of the call, or its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryRef {
    /// `#12` or `12`.
    Number(MemoryNumber),
    /// A UUID, or `mem_` and its 32 hexadecimal digits.
    Id(MemoryId),
    /// `mem_` and fewer than 32 digits: an id of another system, which no memory has.
    Foreign(ForeignId),
}

impl MemoryRef {
    /// Creates a reference by number if there is one, else by id.
    pub fn of(number: Option<MemoryNumber>, id: MemoryId) -> Self {
        number.map_or(Self::Id(id), Self::Number)
    }
}

impl FromStr for MemoryRef {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let wrong = || Invalid::MemoryRef { got: crate::model::preview::short(text) };
        let digits = text.strip_prefix('#').unwrap_or(text);
        if digits.len() <= 19 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return digits.parse().map(|n| Self::Number(MemoryNumber(n))).map_err(|_| wrong());
        }
        if let Some(foreign) = ForeignId::parse(text) {
            return Ok(Self::Foreign(foreign));
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
            Self::Foreign(id) => id.fmt(f),
        }
    }
}

impl Serialize for MemoryRef {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => id.serialize(out),
            Self::Number(_) | Self::Foreign(_) => out.collect_str(self),
        }
    }
}

/// Reads the text, and a bare number, with or without a fraction of zero: models write `12` and `12.0` for `#12`.
impl<'de> Deserialize<'de> for MemoryRef {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(MemoryRefVisitor)
    }
}

struct MemoryRefVisitor;

impl Visitor<'_> for MemoryRefVisitor {
    type Value = MemoryRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a memory")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<MemoryRef, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<MemoryRef, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<MemoryRef, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<MemoryRef, E> {
        if number.fract() == 0.0 {
            format!("{number:.0}").parse().map_err(E::custom)
        } else {
            Err(E::invalid_type(de::Unexpected::Float(number), &self))
        }
    }
}

impl From<MemoryId> for MemoryRef {
    fn from(id: MemoryId) -> Self {
        Self::Id(id)
    }
}

/// Identifies a proposal about memories: a digest of the proposed action and of the versions concerned, so the id stays the
/// same as long as the action and the versions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId([u8; 6]);

impl ProposalId {
    /// Returns the id of a proposal with this description.
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
            .ok_or_else(|| Invalid::ProposalId { got: crate::model::preview::short(text) })
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
        assert_eq!("#12".parse(), Ok(MemoryRef::Number(MemoryNumber(12))));
        assert_eq!("12".parse(), Ok(MemoryRef::Number(MemoryNumber(12))));
        let id = MemoryId::mint(Timestamp::from_micros(1));
        assert_eq!(id.to_string().parse(), Ok(MemoryRef::Id(id)));
        assert_eq!(format!("mem_{}", id.to_string().replace('-', "")).parse(), Ok(MemoryRef::Id(id)));
    }

    #[test]
    fn a_short_id_of_another_system_reads_as_an_id_that_no_memory_has() {
        for foreign in ["mem_a1b2c3d4", "mem_0", "mem_00a1", "mem_0198c5a2b4e07c1f9d3a5e6f7081234"] {
            let which: MemoryRef = foreign.parse().expect(foreign);
            assert!(matches!(which, MemoryRef::Foreign(_)), "{foreign}");
            assert_eq!(which.to_string(), foreign);
        }
        assert_eq!("mem_A1B2".parse::<MemoryRef>(), "mem_a1b2".parse());
        assert_ne!("mem_a1".parse::<MemoryRef>(), "mem_0a1".parse());
    }

    #[test]
    fn other_names_are_refused_with_the_name() {
        let long = format!("mem_{}", "a".repeat(33));
        for wrong in [
            "",
            "#",
            "#-1",
            "12a",
            "a1b2c3d4",
            "mem_",
            "mem_xyz",
            "mem_+1",
            "mem_ a1",
            "MEM_a1b2c3d4",
            &long,
            "#99999999999999999999",
            "🦀",
        ] {
            let error = wrong.parse::<MemoryRef>().expect_err(wrong);
            assert!(matches!(error, Invalid::MemoryRef { .. }), "{wrong}: {error}");
        }
    }
}
