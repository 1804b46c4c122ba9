//! The types between the engine and its backends: the queries and their results.
//!
//! The engine trusts nothing from a backend before screening it: [`BackendItem`] is the backend's claim, a
//! [`Memory`](crate::model::memory::Memory) is a claim that passed the screening.

use serde::{Deserialize, Serialize};

use crate::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::model::request::{Filter, SaveRequest};
use crate::model::time::Timestamp;
use crate::model::vocabulary::State;

/// The name of the built-in backend: the store and the index of this home.
pub const BUILT_IN: &str = "sqlite-memory";

/// The role of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendRole {
    /// The backend that is read and written. Exactly one backend is primary.
    Primary,
    /// A backend that is only read.
    Secondary,
}

impl BackendRole {
    /// Returns the name of this value in text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
        }
    }
}

impl std::str::FromStr for BackendRole {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Primary, Self::Secondary].into_iter().find(|role| role.as_str() == text).ok_or(())
    }
}

/// An operation that a backend may offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Saves a memory.
    Save,
    /// Finds memories.
    Recall,
    /// Returns a memory by its id.
    Get,
    /// Lists memories in the order of their creation.
    List,
    /// Forgets a memory.
    Forget,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 5] = [Self::Save, Self::Recall, Self::Get, Self::List, Self::Forget];

    /// Returns the name of this value in text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Save => "save",
            Self::Recall => "recall",
            Self::Get => "get",
            Self::List => "list",
            Self::Forget => "forget",
        }
    }
}

/// A backend's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendDescription {
    /// The version of the backend, in the backend's own format.
    pub version: String,
    /// The verbs that the backend offers, without repetitions, in the order of [`Verb::ALL`].
    pub verbs: Vec<Verb>,
}

/// The memories that a backend may search.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendScope {
    /// The spaces to search. Results from other spaces are dropped.
    pub spaces: Vec<SpaceId>,
    /// The principal who asks. Private memories of others are dropped.
    pub viewer: PrincipalId,
    /// The filter. The engine checks it again, so a backend may ignore it.
    pub filter: Filter,
}

/// The search mode of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendRecallMode {
    /// Memories about the query, best first.
    Question,
    /// Memories that contain the query verbatim, ignoring case, newest first.
    Text,
    /// Newest memories first.
    Recent,
    /// Most important memories first.
    Important,
}

impl BackendRecallMode {
    /// Returns the name of this value in text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Text => "text",
            Self::Recent => "recent",
            Self::Important => "important",
        }
    }
}

/// A recall query for a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendRecallQuery {
    /// The memories to search.
    pub scope: BackendScope,
    /// The search mode.
    pub way: BackendRecallMode,
    /// The query text; `None` if the mode needs none.
    pub query: Option<String>,
    /// Maximum number of results.
    pub limit: usize,
}

/// A list query for a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendListQuery {
    /// The memories to list.
    pub scope: BackendScope,
    /// True for oldest first. Memories of the same instant are ordered by id, in the same direction.
    pub oldest_first: bool,
    /// The position to start after, in that order.
    pub after: Option<(Timestamp, MemoryId)>,
    /// Maximum number of results.
    pub limit: usize,
}

/// A list from a backend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendList {
    /// The memories, in order.
    pub given: Vec<BackendItem>,
    /// True if more memories follow the last memory.
    pub more: bool,
}

/// A memory from a backend, or the reason why it is invalid.
pub type BackendItem = Result<Box<BackendMemory>, String>;

/// A memory as a backend claims it. Missing fields have their defaults; unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct BackendMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its space.
    #[serde(rename = "hub_id", alias = "space")]
    pub space: SpaceId,
    /// Its owner, if the backend names one.
    #[serde(default, rename = "owner_id", alias = "owner")]
    pub owner: Option<PrincipalId>,
    /// Time of the save.
    pub created_at: Timestamp,
    /// Time of the last change.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
    /// Time of the last access.
    #[serde(default)]
    pub accessed_at: Option<Timestamp>,
    /// Number of accesses.
    #[serde(default)]
    pub access_count: Option<u64>,
    /// Its version.
    #[serde(default)]
    pub version: Option<Version>,
    /// Its state.
    #[serde(default)]
    pub state: Option<State>,
    /// Relevance, 0 to 1. If missing, the relevance follows from the rank.
    #[serde(default)]
    pub score: Option<f64>,
    /// The content and the other fields of a save.
    #[serde(flatten)]
    pub said: SaveRequest,
}
