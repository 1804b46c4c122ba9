//! Creates and removes the links between memories.

use crate::model::answer::CreatedAssociation;
use crate::model::association::Association;
use crate::model::change::Write;
use crate::model::error::{Error, Invalid};
use crate::model::id::MemoryRef;
use crate::model::memory::Memory;
use crate::model::request::{AssociationRequest, Caller};
use crate::model::vocabulary::{AuditAct, LinkedBy, Relation, Role};
use crate::verbs::access::{self, Ports};
use crate::verbs::retract::{Edge, audit, retract};
use crate::verbs::save::intake;

/// Links one memory to another, or gives an existing link a new weight. A link with the relation `updates` marks the
/// target as superseded, so the caller needs the right to write in the target's space. Such a link also removes the
/// links through which the target superseded the source, directly or through other memories. The audit entry contains
/// the reason.
pub(crate) fn associate(
    ports: &Ports,
    caller: &Caller,
    source: MemoryRef,
    request: &AssociationRequest,
    reason: Option<&str>,
) -> Result<CreatedAssociation, Error> {
    let link = intake::link(request)?;
    access::decide_again(|| {
        let (from, right) = access::find_editable(ports, caller, source)?;
        let to = access::find(ports, caller, link.target)?;
        if from.id == to.id {
            return Err(Invalid::SelfAssociation.into());
        }
        let now = ports.clock.now();
        let mut rights = vec![right];
        let (mut writes, mut warnings) = (Vec::new(), Vec::new());
        if link.relation == Relation::Updates {
            rights.push(access::require_in_place(ports, caller, &to, Role::Writer)?);
            (writes, warnings) = retract(ports, caller, now, (&from, to.id), &[])?;
        }
        let known =
            between(ports, caller, &from, &to)?.into_iter().find(|edge| edge.relation == link.relation);
        let association = Association {
            source: from.id,
            target: to.id,
            relation: link.relation,
            weight: link.weight,
            linked_by: LinkedBy::Caller,
            created_at: known.as_ref().map_or(now, |known| known.created_at),
        };
        let edge = (link.relation, known.as_ref().map(Edge::of));
        let mut entry = audit(caller, now, AuditAct::Associated, (&from, &to), edge);
        entry.reason = reason.map(str::to_owned);
        writes.extend([Write::Link(association), Write::Audit(entry)]);
        ports.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(CreatedAssociation { link: association, warnings })
    })
}

/// Removes the links from `source` to `target`, and returns them. If `relation` is given, removes only the link with
/// this relation.
pub(crate) fn dissociate(
    ports: &Ports,
    caller: &Caller,
    source: MemoryRef,
    target: MemoryRef,
    relation: Option<Relation>,
) -> Result<Vec<Association>, Error> {
    access::decide_again(|| {
        let (from, right) = access::find_editable(ports, caller, source)?;
        let to = access::find(ports, caller, target)?;
        let gone: Vec<Association> = between(ports, caller, &from, &to)?
            .into_iter()
            .filter(|edge| relation.is_none_or(|relation| relation == edge.relation))
            .collect();
        if gone.is_empty() {
            return Err(Error::NoAssociation { source_ref: source, target_ref: target });
        }
        let now = ports.clock.now();
        let mut writes = Vec::new();
        for edge in &gone {
            writes.push(Write::Unlink { source: edge.source, target: edge.target, relation: edge.relation });
            let was = (edge.relation, Some(Edge::of(edge)));
            writes.push(Write::Audit(audit(caller, now, AuditAct::Dissociated, (&from, &to), was)));
        }
        ports.store.apply(&access::changes(caller, now, vec![right], writes))?;
        Ok(gone)
    })
}

fn between(ports: &Ports, caller: &Caller, from: &Memory, to: &Memory) -> Result<Vec<Association>, Error> {
    let edges = ports.store.associations(&caller.viewer, &[from.id])?;
    Ok(edges.into_iter().filter(|edge| edge.source == from.id && edge.target == to.id).collect())
}
