//! Problems found in memories, and proposals to fix them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::id::{MemoryId, MemoryNumber, ProposalId, Version};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{FindingKind, ProposedAct};

/// The problems found in the memories of a space. The report contains no content and no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QualityReport {
    /// Number of memories checked, including mirrors of files.
    pub looked_at: u64,
    /// Number of findings of each kind that was checked.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub counts: BTreeMap<FindingKind, u64>,
    /// The findings by kind, oldest memories first, limited to the requested number for each kind.
    pub findings: Vec<QualityFinding>,
}

/// A problem that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QualityFinding {
    /// The kind of problem.
    pub kind: FindingKind,
    /// The memories concerned.
    pub memories: Vec<FindingMemory>,
    /// The reason, with the value.
    pub why: String,
    /// Advice for manual work, if there is no proposal or if the proposal is not sufficient.
    pub advice: Option<String>,
    /// The proposed actions; apply one of them.
    pub proposals: Vec<QualityProposal>,
}

/// A memory that a finding concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AffectedMemory")]
pub struct FindingMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its number in its space. A mirror has none.
    pub number: Option<MemoryNumber>,
    /// Its name for people: its number, or the file and line that it mirrors.
    pub label: String,
    /// The version that was checked.
    pub version: Version,
    /// The beginning of its content, on one line, without secrets.
    pub preview: String,
    /// Time of the save.
    pub created_at: Timestamp,
    /// Number of times that it was recalled.
    pub access_count: u64,
}

/// A proposed action for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QualityProposal {
    /// The id of the proposal, which stays the same as long as the memories have these versions.
    pub id: ProposalId,
    /// The kind of action.
    pub act: ProposedAct,
    /// The action in words.
    pub does: String,
}

/// A proposal that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AppliedProposal {
    /// The proposal.
    pub proposal: ProposalId,
    /// The kind of action.
    pub act: ProposedAct,
    /// The result in words.
    pub message: String,
    /// The memory that was saved, if any.
    pub saved: Option<MemoryId>,
}
