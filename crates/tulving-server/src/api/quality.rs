//! The quality audit: lists problems of memories, and applies the proposed fixes.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::model::answer::{AppliedProposal, QualityReport};
use tulving_core::model::id::ProposalId;
use tulving_core::model::request::QualityRequest;
use tulving_core::model::vocabulary::FindingKind;

use tulving_dialects::argument::{WholeNumber, limited, within};
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

fn look(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<AuditQualityArguments>,
) -> Result<OperationOutput<QualityReport>, ToolError> {
    let days = within("older_than", which.older_than, USUAL_DAYS, 0..=DAYS)?;
    let request = QualityRequest {
        kinds: which.kinds,
        older_than_days: u32::try_from(days).unwrap_or(u32::MAX),
        limit: limited(context, which.limit, USUAL, MOST)?,
    };
    Ok(context.engine.quality(&context.caller, &request, &mut |_| {})?.into())
}

/// Names a proposal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyProposalArguments {
    /// The id of the proposal, from `/v1/quality`.
    #[schemars(regex(pattern = "^[0-9a-f]{12}$"))]
    proposal: String,
}

fn apply(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<ApplyProposalArguments>,
) -> Result<OperationOutput<AppliedProposal>, ToolError> {
    let id: ProposalId = this.proposal.parse().map_err(|_| {
        ToolError::invalid("invalid_argument", "proposal", "`proposal` is not the id of a proposal")
    })?;
    Ok(context.engine.apply_proposal(&context.caller, id)?.into())
}
