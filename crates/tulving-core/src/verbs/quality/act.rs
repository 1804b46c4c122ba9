//! Carries out proposals, with the same verbs that a user calls.

use super::{MemoryAtVersion, ProposedChange, replace};
use crate::model::answer::AppliedProposal;
use crate::model::error::Error;
use crate::model::id::ProposalId;
use crate::model::request::{AssociationRequest, Caller, ForgetMode, ForgetRequest, UpdateRequest};
use crate::model::score::Weight;
use crate::model::vocabulary::{MemoryType, ProposedAct, Relation};
use crate::verbs::access::Ports;
use crate::{verbs::associate, verbs::edit, verbs::forget, verbs::status};

/// Carries out a proposed change and returns its result.
pub(super) fn act(
    ports: &Ports,
    caller: &Caller,
    id: ProposalId,
    action: &ProposedChange,
) -> Result<AppliedProposal, Error> {
    let stale = || Error::NoProposal { id };
    let first = action.of.first().ok_or_else(stale)?;
    let link = |to: &MemoryAtVersion, relation: Relation| {
        let weight = action.weight.map(Weight::get);
        let request = AssociationRequest { target: to.id.into(), relation: Some(relation), weight };
        associate::associate(ports, caller, first.id.into(), &request, Some(action.reason)).map(drop)
    };
    let (message, saved) = match action.act {
        ProposedAct::Supersede => {
            let older = action.of.get(1).ok_or_else(stale)?;
            link(older, Relation::Updates)?;
            (format!("{} updates {} from now on", first.label, older.label), None)
        }
        ProposedAct::Contradict => {
            let other = action.of.get(1).ok_or_else(stale)?;
            link(other, Relation::Contradicts)?;
            (format!("{} contradicts {} from now on", first.label, other.label), None)
        }
        ProposedAct::Promote => {
            let fact = UpdateRequest {
                if_version: Some(first.version),
                memory_type: Some(MemoryType::Fact),
                ..UpdateRequest::default()
            };
            edit::update(ports, caller, first.id.into(), &fact)?;
            for other in &action.of[1..] {
                link(other, Relation::Updates)?;
            }
            (format!("{} is a fact from now on", first.label), None)
        }
        ProposedAct::Forget => {
            let request = ForgetRequest { mode: ForgetMode::Soft, reason: Some(action.reason.to_owned()) };
            forget::forget(ports, caller, first.id.into(), &request)?;
            (format!("Forgot {}; it can be restored", first.label), None)
        }
        ProposedAct::Archive => {
            status::archive(ports, caller, first.id.into(), Some(action.reason))?;
            (format!("Archived {}; it can be brought back", first.label), None)
        }
        ProposedAct::ReplaceRedacted => {
            let MemoryAtVersion { id: memory, version, label } = first;
            let new = replace::replace(ports, caller, id, (*memory, *version))?;
            (format!("Saved {} without its secrets and erased {label}", new.label()), Some(new.id))
        }
    };
    Ok(AppliedProposal { proposal: id, act: action.act, message, saved })
}
