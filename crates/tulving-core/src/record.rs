//! The lines of a dump: everything that is true in a store, one JSON object each.

use serde::{Deserialize, Serialize};

use crate::association::Association;
use crate::audit::AuditEntry;
use crate::id::{MemoryId, Number, PrincipalId};
use crate::memory::{Memory, VersionRecord};
use crate::space::{Membership, Org, Principal, Space, Team};
use crate::turn::Turn;
use crate::vocabulary::VersionAct;

/// The version of the dump format.
pub const DUMP_FORMAT: u32 = 1;

/// One line of a dump. Lines refer only to lines before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Dump {
        /// [`DUMP_FORMAT`] when it was written.
        format: u32,
        /// The version of Tulving that wrote it.
        written_by: String,
    },
    /// An org.
    Org(Org),
    /// A team.
    Team(Team),
    /// A principal.
    Principal(Principal),
    /// A space, with the number that its next memory gets.
    Space {
        /// The space.
        #[serde(flatten)]
        space: Space,
        /// The next number.
        next_number: u64,
        /// The position of its next turn.
        next_turn: u64,
    },
    /// A membership.
    Member(Membership),
    /// A memory with its past versions, forgotten or not.
    Memory(Box<MemoryRecord>),
    /// An association.
    Association(Association),
    /// A turn.
    Turn(Turn),
    /// An audit entry.
    Audit(AuditEntry),
}

/// A memory with everything that is kept of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// The memory as it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// The versions before this one, oldest first.
    pub versions: Vec<VersionRecord>,
    /// Who wrote the current version, and why.
    pub current: CurrentVersion,
}

/// Who wrote the current version of a memory, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurrentVersion {
    /// Why.
    pub act: VersionAct,
    /// By whom.
    pub by: PrincipalId,
    /// With which agent.
    pub agent: Option<String>,
}

/// Where a dump goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpPosition {
    /// Which sort of record, in the order of [`Record`].
    pub section: u8,
    /// After which row of it.
    pub after: i64,
}

/// What became of a loaded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loaded {
    /// It is in the store now.
    Added,
    /// It is in, under another number, because its own was taken.
    Renumbered {
        /// The number in the dump.
        from: Number,
        /// The number here.
        to: Number,
    },
    /// The store had it already.
    Present,
    /// The store has a memory with the same content, key or path; that one stands.
    Duplicate {
        /// The memory that stands.
        of: MemoryId,
    },
    /// It refers to a memory that is not here; it was left out.
    Dangling,
}
