//! The cost of the language model, for an admin of the org.

use crate::model::error::{Error, Field, Invalid};
use crate::model::limits;
use crate::model::llm::Spending;
use crate::model::request::Caller;
use crate::verbs::access::{self, Parts};
use crate::verbs::ask::{self, Llm};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Returns the usage of today and the days before, `days` of them in all, 1 to
/// [`USAGE_DAYS`](limits::USAGE_DAYS).
pub(crate) fn usage(parts: &Parts, llm: &Llm, caller: &Caller, days: i64) -> Result<Spending, Error> {
    access::require_org_admin(parts, caller)?;
    if !(1..=limits::USAGE_DAYS).contains(&days) {
        let most = limits::USAGE_DAYS;
        return Err(Invalid::OutsideRange { field: Field::Days, got: days, least: 1, most }.into());
    }
    let first = parts.clock.now().plus_millis((1 - days) * DAY_MILLIS).date();
    Ok(Spending {
        llm: llm.model.name(),
        tokens_per_day: llm.tokens_per_day,
        today: ask::spent_today(parts)?,
        usage: parts.store.usage(&first)?,
    })
}
