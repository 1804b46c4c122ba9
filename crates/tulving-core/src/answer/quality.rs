//! What was found wrong with memories, and what is proposed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{MemoryId, Number, ProposalId, Version};
use crate::time::Timestamp;
use crate::vocabulary::{FindingKind, ProposedAct};

/// What was found among the memories of a space. It holds no content and no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many memories were looked at, mirrors of files among them.
    pub looked_at: u64,
    /// How many findings there are of each kind that was looked for.
    pub counts: BTreeMap<FindingKind, u64>,
    /// The findings, kind by kind, the oldest memories first; of each kind as many as were asked for.
    pub findings: Vec<Finding>,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The memories that it is about.
    pub memories: Vec<Concerned>,
    /// Why, with the value.
    pub why: String,
    /// What to do by hand, where nothing is proposed or more is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What can be done about it; of several, one.
    pub proposals: Vec<Proposal>,
}

/// A memory that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Concerned {
    /// Which.
    pub id: MemoryId,
    /// Its number in its space. A mirror has none.
    pub number: Option<Number>,
    /// What a person calls it: its number, or the file and line that it mirrors.
    pub label: String,
    /// The version that was looked at.
    pub version: Version,
    /// How it begins, on one line, without secrets.
    pub preview: String,
    /// When it was saved.
    pub created_at: Timestamp,
    /// How often it was recalled.
    pub access_count: u64,
}

/// Something that can be done about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Its name, the same for as long as the memories have these versions.
    pub id: ProposalId,
    /// What sort of act it is.
    pub act: ProposedAct,
    /// What it does, in words.
    pub does: String,
}

/// What was done as it was proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done {
    /// The proposal.
    pub proposal: ProposalId,
    /// What sort of act it was.
    pub act: ProposedAct,
    /// What became of it, in words.
    pub message: String,
    /// The memory that was saved, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<MemoryId>,
}
