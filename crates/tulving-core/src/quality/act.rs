//! Does what was proposed, by the verbs that a person would use.

use super::{Deed, Subject, replace};
use crate::access::Parts;
use crate::answer::Done;
use crate::error::Error;
use crate::id::ProposalId;
use crate::request::{AssociationRequest, Caller, ForgetRequest, Manner};
use crate::vocabulary::{ProposedAct, Relation};
use crate::{associate, forget, standing};

/// Does a deed and says what became of it.
pub(super) fn act(parts: &Parts, caller: &Caller, id: ProposalId, deed: &Deed) -> Result<Done, Error> {
    let stale = || Error::NoProposal { id };
    let first = deed.of.first().ok_or_else(stale)?;
    let (message, saved) = match deed.act {
        ProposedAct::Supersede => {
            let older = deed.of.get(1).ok_or_else(stale)?;
            let request = AssociationRequest {
                target: older.id.into(),
                relation: Some(Relation::Updates),
                weight: deed.weight.map(crate::score::Weight::get),
            };
            associate::associate(parts, caller, first.id.into(), &request)?;
            (format!("{} updates {} from now on", first.label, older.label), None)
        }
        ProposedAct::Forget => {
            let request = ForgetRequest { manner: Manner::Soft, reason: Some(deed.reason.to_owned()) };
            forget::forget(parts, caller, first.id.into(), &request)?;
            (format!("Forgot {}; it can be restored", first.label), None)
        }
        ProposedAct::Archive => {
            standing::archive(parts, caller, first.id.into())?;
            (format!("Archived {}; it can be brought back", first.label), None)
        }
        ProposedAct::ReplaceRedacted => {
            let Subject { id: memory, version, label } = first;
            let new = replace::replace(parts, caller, id, (*memory, *version))?;
            (format!("Saved {} without its secrets and erased {label}", new.label()), Some(new.id))
        }
    };
    Ok(Done { proposal: id, act: deed.act, message, saved })
}
