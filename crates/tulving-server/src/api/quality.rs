//! The quality audit: lists problems of memories, and applies the proposed fixes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer;
use tulving_core::model::id::ProposalId;
use tulving_core::model::request::QualityRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{FindingKind, ProposedAct};

use tulving_dialects::argument::{WholeNumber, limited, within};
use tulving_dialects::memax;
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of findings of each kind.
const MOST: i64 = 1_000;
const USUAL: i64 = 20;
/// Maximum and default number of days without a recall.
const DAYS: i64 = 36_500;
const USUAL_DAYS: i64 = 90;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/quality", "auditQuality", "Audit the quality of memories", look).read_by(Audience::Relays).saying(
            "Reports problems of the memories in the space of the call that you may see: near-duplicates, contradictions, \
             memories that were never recalled, that are too long, empty or junk, that contain secrets, or that try to command \
             an agent. The secrets themselves are not shown.",
        ),
        Operation::new(OperationMethod::Post, "/v1/quality/apply", "applyProposal", "Apply a proposal", apply)
            .saying("You need the rights for the proposed change. If a memory has changed since the audit, the answer is 404."),
    ]
}

/// The options of an audit.
#[derive(Deserialize, JsonSchema)]
struct AuditQualityArguments {
    /// Only findings of these kinds.
    #[serde(default)]
    kinds: Vec<FindingKind>,
    /// Number of days without a recall after which a memory counts as never recalled, 0 to 36500 (default 90).
    #[schemars(range(min = 0, max = 36500))]
    older_than: Option<WholeNumber>,
    /// Maximum number of findings of each kind, 1 to 1000 (default 20). `counts` includes all of them.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// The result of an audit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityReport")]
struct QualityReply {
    /// Number of memories that were checked.
    looked_at: u64,
    /// Number of findings of each kind.
    counts: BTreeMap<&'static str, u64>,
    /// The findings, kind by kind.
    findings: Vec<QualityFindingReply>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityFinding")]
struct QualityFindingReply {
    /// The kind of problem.
    kind: FindingKind,
    /// The memories concerned.
    memories: Vec<AffectedMemoryReply>,
    /// The reason, with the value.
    why: String,
    /// Advice for manual work, if there is no proposal or more is needed.
    advice: Option<String>,
    /// The proposed changes; apply one of them.
    proposals: Vec<QualityProposalReply>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AffectedMemory")]
struct AffectedMemoryReply {
    /// Its id.
    id: String,
    /// Its number in its space; a mirror of a file has none.
    number: Option<u64>,
    /// Its name for people: its number, or the file and line that it mirrors.
    label: String,
    /// The version that was checked.
    version: u32,
    /// The beginning of its content, without secrets.
    preview: String,
    /// Time of the save.
    created_at: Timestamp,
    /// Number of times that it was recalled.
    access_count: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityProposal")]
struct QualityProposalReply {
    /// Its id, for `/v1/quality/apply`.
    proposal: String,
    /// The kind of change.
    act: ProposedAct,
    /// The change, in words.
    does: String,
}

impl From<answer::QualityFinding> for QualityFindingReply {
    fn from(found: answer::QualityFinding) -> Self {
        let memory = |of: answer::FindingMemory| AffectedMemoryReply {
            id: memax::id(of.id),
            number: of.number.map(|number| number.0),
            label: of.label,
            version: of.version.0,
            preview: of.preview,
            created_at: of.created_at,
            access_count: of.access_count,
        };
        let proposal = |one: answer::QualityProposal| QualityProposalReply {
            proposal: one.id.to_string(),
            act: one.act,
            does: one.does,
        };
        Self {
            kind: found.kind,
            memories: found.memories.into_iter().map(memory).collect(),
            why: found.why,
            advice: found.advice,
            proposals: found.proposals.into_iter().map(proposal).collect(),
        }
    }
}

fn look(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<AuditQualityArguments>,
) -> Result<OperationOutput<QualityReply>, ToolError> {
    let days = within("older_than", which.older_than, USUAL_DAYS, 0..=DAYS)?;
    let request = QualityRequest {
        kinds: which.kinds,
        older_than_days: u32::try_from(days).unwrap_or(u32::MAX),
        limit: limited(context, which.limit, USUAL, MOST)?,
    };
    let report = context.engine.quality(&context.caller, &request, &mut |_| {})?;
    Ok(QualityReply {
        looked_at: report.looked_at,
        counts: report.counts.into_iter().map(|(kind, count)| (kind.as_str(), count)).collect(),
        findings: report.findings.into_iter().map(QualityFindingReply::from).collect(),
    }
    .into())
}

/// Names a proposal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyProposalArguments {
    /// The id of the proposal, from `/v1/quality`.
    #[schemars(regex(pattern = "^[0-9a-f]{12}$"))]
    proposal: String,
}

/// A proposal that was applied.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppliedProposal")]
struct ApplyProposalReply {
    /// The proposal.
    proposal: String,
    /// The kind of change.
    act: ProposedAct,
    /// The result, in words.
    message: String,
    /// The memory that was saved, if any.
    saved: Option<String>,
}

fn apply(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<ApplyProposalArguments>,
) -> Result<OperationOutput<ApplyProposalReply>, ToolError> {
    let id: ProposalId = this.proposal.parse().map_err(|_| {
        ToolError::invalid("invalid_argument", "proposal", "`proposal` is not the id of a proposal")
    })?;
    let done = context.engine.apply_proposal(&context.caller, id)?;
    Ok(ApplyProposalReply {
        proposal: done.proposal.to_string(),
        act: done.act,
        message: done.message,
        saved: done.saved.map(memax::id),
    }
    .into())
}
