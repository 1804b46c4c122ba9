//! What becomes of a memory that was noted by itself once somebody says the same on purpose.
//!
//! Its author is the user from then on, and what was said of it beside its content is taken over, as a new version.

use serde_json::Value;

use crate::answer::FieldChange;
use crate::change::Vouched;
use crate::memory::{Edition, Memory};
use crate::request::Caller;
use crate::vocabulary::Author;

use super::intake::Draft;

/// Who stands for a memory once a draft says the same; `None` where that does not change. A pass, and a file that is read,
/// say nothing on purpose.
pub(super) fn vouched(draft: &Draft, twin: &Memory, caller: &Caller) -> Option<Vouched> {
    let (said, is) = (&draft.provenance, &twin.provenance);
    let on_purpose = said.author == Author::User
        && said.pass.is_none()
        && draft.imported.is_none()
        && draft.work().is_none();
    let own = twin.owner == caller.viewer.principal;
    (on_purpose && is.author == Author::Auto)
        .then_some(Vouched { author: Author::User, trust: if own { said.trust } else { is.trust } })
}

/// The fields in which a memory differs from what it was, with both values.
pub(super) fn changes(before: &Memory, after: &Memory) -> Vec<FieldChange> {
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let (was, is) = (&before.provenance, &after.provenance);
    let (stood, stands) = (&before.standing, &after.standing);
    let beside = [
        ("author", was.author.to_string(), is.author.to_string()),
        ("trust", was.trust.to_string(), is.trust.to_string()),
        ("pinned", yes(stood.pinned), yes(stands.pinned)),
        ("quarantined", yes(stood.quarantined_at.is_some()), yes(stands.quarantined_at.is_some())),
    ];
    let beside = beside.into_iter().map(|(field, from, to)| FieldChange { field, from, to });
    let said = before.edition.differences(&after.edition).into_iter().map(|field| FieldChange {
        field,
        from: value(&before.edition, field),
        to: value(&after.edition, field),
    });
    beside.chain(said).filter(|change| change.from != change.to).collect()
}

/// A field of an edition as a person reads it.
fn value(edition: &Edition, field: &str) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match serde_json::to_value(edition).ok().as_ref().and_then(|all| all.get(field)) {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::Array(items)) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Some(one) => plain(one),
    }
}
