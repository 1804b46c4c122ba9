//! Makes and removes the edges between memories.

use crate::access::{self, Parts};
use crate::answer::Associated;
use crate::association::Association;
use crate::change::Write;
use crate::error::{Error, Invalid};
use crate::id::MemoryRef;
use crate::memory::Memory;
use crate::request::{AssociationRequest, Caller};
use crate::retract::{audit, retract};
use crate::save::intake;
use crate::vocabulary::{AuditAct, LinkedBy, Relation, Role};

/// Links one memory to another, or gives the link that is there a new weight. `updates` marks the target as
/// superseded, which takes the right to write where the target lives, and takes back by which links the source was
/// superseded by way of it. A reason is for the audit.
pub(crate) fn associate(
    parts: &Parts,
    caller: &Caller,
    source: MemoryRef,
    request: &AssociationRequest,
    reason: Option<&str>,
) -> Result<Associated, Error> {
    let link = intake::link(request)?;
    access::decide_again(|| {
        let (from, right) = access::find_editable(parts, caller, source)?;
        let to = access::find(parts, caller, link.target)?;
        if from.id == to.id {
            return Err(Invalid::SelfAssociation.into());
        }
        let now = parts.clock.now();
        let mut rights = vec![right];
        let (mut writes, mut warnings) = (Vec::new(), Vec::new());
        if link.relation == Relation::Updates {
            rights.push(access::require_in_place(parts, caller, &to, Role::Writer)?);
            (writes, warnings) = retract(parts, caller, now, (&from, to.id), &[])?;
        }
        let known =
            between(parts, caller, &from, &to)?.into_iter().find(|edge| edge.relation == link.relation);
        let association = Association {
            source: from.id,
            target: to.id,
            relation: link.relation,
            weight: link.weight,
            linked_by: LinkedBy::Caller,
            created_at: known.map_or(now, |known| known.created_at),
        };
        let mut entry = audit(caller, now, AuditAct::Associated, (&from, &to), link.relation);
        entry.reason = reason.map(str::to_owned);
        writes.extend([Write::Link(association), Write::Audit(entry)]);
        parts.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(Associated { link: association, warnings })
    })
}

/// Removes the link of that relation, or all from one memory to the other, and gives what was removed.
pub(crate) fn dissociate(
    parts: &Parts,
    caller: &Caller,
    source: MemoryRef,
    target: MemoryRef,
    relation: Option<Relation>,
) -> Result<Vec<Association>, Error> {
    access::decide_again(|| {
        let (from, right) = access::find_editable(parts, caller, source)?;
        let to = access::find(parts, caller, target)?;
        let gone: Vec<Association> = between(parts, caller, &from, &to)?
            .into_iter()
            .filter(|edge| relation.is_none_or(|relation| relation == edge.relation))
            .collect();
        if gone.is_empty() {
            return Err(Error::NoAssociation { source_ref: source, target_ref: target });
        }
        let now = parts.clock.now();
        let mut writes = Vec::new();
        for edge in &gone {
            writes.push(Write::Unlink { source: edge.source, target: edge.target, relation: edge.relation });
            writes.push(Write::Audit(audit(caller, now, AuditAct::Dissociated, (&from, &to), edge.relation)));
        }
        parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
        Ok(gone)
    })
}

fn between(parts: &Parts, caller: &Caller, from: &Memory, to: &Memory) -> Result<Vec<Association>, Error> {
    let edges = parts.store.associations(&caller.viewer, &[from.id])?;
    Ok(edges.into_iter().filter(|edge| edge.source == from.id && edge.target == to.id).collect())
}
