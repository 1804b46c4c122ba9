//! Updates an automatically captured memory when a user explicitly saves the same statement.
//!
//! The user becomes the author of the memory, and the fields given with the content are applied as a new version.

use serde_json::Value;

use crate::model::answer::FieldChange;
use crate::model::change::ConfirmedOrigin;
use crate::model::memory::{Memory, VersionFields};
use crate::model::request::Caller;
use crate::model::vocabulary::Author;

use super::intake::Draft;

/// Returns the new author and trust of a memory if a draft has the same content; `None` if they do not change. A save
/// by a pass or from an imported file does not count as explicit.
pub(super) fn confirmed(draft: &Draft, duplicate: &Memory, caller: &Caller) -> Option<ConfirmedOrigin> {
    let (said, is) = (&draft.provenance, &duplicate.provenance);
    let on_purpose = said.author == Author::User
        && said.pass.is_none()
        && draft.imported.is_none()
        && draft.work().is_none();
    let own = duplicate.owner == caller.viewer.principal;
    (on_purpose && is.author == Author::Auto)
        .then_some(ConfirmedOrigin { author: Author::User, trust: if own { said.trust } else { is.trust } })
}

/// Returns the fields in which two states of a memory differ, with both values.
pub(super) fn changes(before: &Memory, after: &Memory) -> Vec<FieldChange> {
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let (was, is) = (&before.provenance, &after.provenance);
    let (stood, stands) = (&before.status, &after.status);
    let beside = [
        ("author", was.author.to_string(), is.author.to_string()),
        ("trust", was.trust.to_string(), is.trust.to_string()),
        ("pinned", yes(stood.pinned), yes(stands.pinned)),
        ("quarantined", yes(stood.quarantined_at.is_some()), yes(stands.quarantined_at.is_some())),
    ];
    let beside = beside.into_iter().map(|(field, from, to)| FieldChange { field, from, to });
    let said = before.fields.differences(&after.fields).into_iter().map(|field| FieldChange {
        field,
        from: value(&before.fields, field),
        to: value(&after.fields, field),
    });
    beside.chain(said).filter(|change| change.from != change.to).collect()
}

/// Returns a field of a version in readable form.
fn value(fields: &VersionFields, field: &str) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match serde_json::to_value(fields).ok().as_ref().and_then(|all| all.get(field)) {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::Array(items)) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Some(one) => plain(one),
    }
}
