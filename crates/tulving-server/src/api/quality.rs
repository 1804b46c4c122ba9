//! The quality audit: problems of memories, and applying the proposed fixes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer;
use tulving_core::model::id::ProposalId;
use tulving_core::model::request::QualityRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{FindingKind, ProposedAct};

use super::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::argument::{WholeNumber, limited, within};
use tulving_dialects::memax;
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

/// Most findings of each kind.
const MOST: i64 = 1_000;
const USUAL: i64 = 20;
/// Most days.
const DAYS: i64 = 36_500;
const USUAL_DAYS: i64 = 90;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/quality", "auditQuality", "What is wrong with memories", look).read_by(Audience::Relays).saying(
            "Of the space of the call, as far as you may see it: near-duplicates, contradictions, memories that were never \
             recalled, that are too long, empty or junk, that hold secrets or try to command an agent. Secrets are not told.",
        ),
        Operation::new(OperationMethod::Post, "/v1/quality/apply", "applyProposal", "Do what is proposed", apply)
            .saying("With the rights that the act takes. Where a memory has changed since, it is 404."),
    ]
}

/// What to look for.
#[derive(Deserialize, JsonSchema)]
struct AuditQualityArguments {
    /// Only findings of these kinds.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<FindingKind>")]
    kinds: Vec<FindingKind>,
    /// After how many days without a recall a memory counts as never recalled, 0 to 36500 (default 90).
    #[schemars(range(min = 0, max = 36500))]
    older_than: Option<WholeNumber>,
    /// Most findings of each kind, 1 to 1000 (default 20). All are counted.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityReport")]
struct QualityReply {
    /// How many memories were looked at.
    looked_at: u64,
    /// How many findings there are of each kind.
    counts: BTreeMap<&'static str, u64>,
    /// The findings, kind by kind.
    findings: Vec<QualityFindingReply>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityFinding")]
struct QualityFindingReply {
    /// What it is.
    #[schemars(schema_with = "words::word::<FindingKind>")]
    kind: FindingKind,
    /// The memories that it is about.
    memories: Vec<AffectedMemoryReply>,
    /// Why, with the value.
    why: String,
    /// What to do by hand.
    advice: Option<String>,
    /// What can be done about it; of several, one.
    proposals: Vec<QualityProposalReply>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AffectedMemory")]
struct AffectedMemoryReply {
    /// Its id.
    id: String,
    /// Its number in its space; a mirror of a file has none.
    number: Option<u64>,
    /// What a person calls it: its number, or the file and line that it mirrors.
    label: String,
    /// The version that was looked at.
    version: u32,
    /// How it begins, without secrets.
    preview: String,
    /// When it was saved.
    #[schemars(schema_with = "words::time")]
    created_at: Timestamp,
    /// How often it was recalled.
    access_count: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QualityProposal")]
struct QualityProposalReply {
    /// Its name, for `/v1/quality/apply`.
    proposal: String,
    /// What sort of act it is.
    #[schemars(schema_with = "words::word::<ProposedAct>")]
    act: ProposedAct,
    /// What it does, in words.
    does: String,
}

impl From<answer::Finding> for QualityFindingReply {
    fn from(found: answer::Finding) -> Self {
        let memory = |of: answer::Concerned| AffectedMemoryReply {
            id: memax::id(of.id),
            number: of.number.map(|number| number.0),
            label: of.label,
            version: of.version.0,
            preview: of.preview,
            created_at: of.created_at,
            access_count: of.access_count,
        };
        let proposal = |one: answer::Proposal| QualityProposalReply {
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
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<AuditQualityArguments>,
) -> Result<OperationOutput<QualityReply>, ToolError> {
    let days = within("older_than", which.older_than, USUAL_DAYS, 0..=DAYS)?;
    let request = QualityRequest {
        kinds: which.kinds,
        older_than_days: u32::try_from(days).unwrap_or(u32::MAX),
        limit: limited(desk, which.limit, USUAL, MOST)?,
    };
    let report = desk.engine.quality(&desk.caller, &request, &mut |_| {})?;
    Ok(QualityReply {
        looked_at: report.looked_at,
        counts: report.counts.into_iter().map(|(kind, count)| (kind.as_str(), count)).collect(),
        findings: report.findings.into_iter().map(QualityFindingReply::from).collect(),
    }
    .into())
}

/// Which proposal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyProposalArguments {
    /// The proposal, as `/v1/quality` names it.
    #[schemars(regex(pattern = "^[0-9a-f]{12}$"))]
    proposal: String,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppliedProposal")]
struct ApplyProposalReply {
    /// The proposal.
    proposal: String,
    /// What sort of act it was.
    #[schemars(schema_with = "words::word::<ProposedAct>")]
    act: ProposedAct,
    /// What became of it, in words.
    message: String,
    /// The memory that was saved, where one was.
    saved: Option<String>,
}

fn apply(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<ApplyProposalArguments>,
) -> Result<OperationOutput<ApplyProposalReply>, ToolError> {
    let id: ProposalId = this.proposal.parse().map_err(|_| {
        ToolError::invalid("invalid_argument", "proposal", "`proposal` is not the id of a proposal")
    })?;
    let done = desk.engine.apply_proposal(&desk.caller, id)?;
    Ok(ApplyProposalReply {
        proposal: done.proposal.to_string(),
        act: done.act,
        message: done.message,
        saved: done.saved.map(memax::id),
    }
    .into())
}
