//! The words between the engine and its backends: what a backend is asked, and what it gives.
//!
//! Nothing that a backend gives is believed before the engine has screened it: [`Given`] is what it says, a
//! [`Memory`](crate::memory::Memory) is what is left of that.

use serde::{Deserialize, Serialize};

use crate::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::request::{Filter, SaveRequest};
use crate::time::Timestamp;
use crate::vocabulary::{Origin, State};

/// The name of the backend that is built in: the store and the index of this home.
pub const BUILT_IN: &str = "sqlite-memory";

/// Whether a backend is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendRole {
    /// It is the only one written to, and read.
    Primary,
    /// It is only read.
    Secondary,
}

impl BackendRole {
    /// The word for it.
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

/// What a backend may offer to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Keep a memory.
    Save,
    /// Find memories.
    Recall,
    /// Give one by its id.
    Get,
    /// Give them in the order of their creation.
    List,
    /// Give one up.
    Forget,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Save, Self::Recall, Self::Get, Self::List, Self::Forget];

    /// The word for it.
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

/// What a backend says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its own version, in its own words.
    pub version: String,
    /// What it offers to do, each once, in the order of [`Verb::ALL`].
    pub verbs: Vec<Verb>,
}

/// Among what a backend looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Only in these spaces. What it gives from elsewhere is dropped.
    pub spaces: Vec<SpaceId>,
    /// For whom. Private memories of others are dropped.
    pub viewer: PrincipalId,
    /// Only what fits. It is checked again, so a backend may leave it to the engine.
    pub filter: Filter,
}

/// How a backend finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// What the query is about, best first.
    Question,
    /// What holds the query as it is, in any case, newest first.
    Text,
    /// The newest first.
    Recent,
    /// What matters most first.
    Important,
}

impl Way {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Text => "text",
            Self::Recent => "recent",
            Self::Important => "important",
        }
    }
}

/// A recall, as a backend is asked it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallQuery {
    /// Among what.
    pub scope: Scope,
    /// How.
    pub way: Way,
    /// For what; `None` where the way needs nothing.
    pub query: Option<String>,
    /// How many at the most.
    pub limit: usize,
}

/// A list, as a backend is asked it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery {
    /// Among what.
    pub scope: Scope,
    /// In which order of creation; what was created at the same instant goes by id, in the same direction.
    pub oldest_first: bool,
    /// Only what comes after this in that order.
    pub after: Option<(Timestamp, MemoryId)>,
    /// How many at the most.
    pub limit: usize,
}

/// What a backend lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The memories, in order.
    pub given: Vec<Given>,
    /// Whether there are more after the last of them.
    pub more: bool,
}

/// A memory as a backend gives it, or why what it gave is none.
pub type Given = Result<Box<Claimed>, String>;

/// What a backend says that a memory is. What it leaves out has its default; fields that are not named here are not read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claimed {
    /// Its id.
    pub id: MemoryId,
    /// Where it is.
    pub space: SpaceId,
    /// Whose it is; nobody's where that is not said.
    #[serde(default)]
    pub owner: Option<PrincipalId>,
    /// When it was saved.
    pub created_at: Timestamp,
    /// When it was changed last.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
    /// When it was used last.
    #[serde(default)]
    pub accessed_at: Option<Timestamp>,
    /// How often it was used.
    #[serde(default)]
    pub access_count: Option<u64>,
    /// Its version.
    #[serde(default)]
    pub version: Option<Version>,
    /// Where it stands.
    #[serde(default)]
    pub state: Option<State>,
    /// What carried it in.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// The agent that saved it.
    #[serde(default)]
    pub source_agent: Option<String>,
    /// How well it fits what was asked, 0 to 1; by its place where that is not said.
    #[serde(default)]
    pub score: Option<f64>,
    /// What it says: the fields of a save.
    #[serde(flatten)]
    pub said: SaveRequest,
}
