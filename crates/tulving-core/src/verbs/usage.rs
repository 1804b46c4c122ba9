//! The cost of the language model, for an admin of the org.

use crate::model::error::{Error, Field, Invalid};
use crate::model::limits;
use crate::model::llm::LlmSpending;
use crate::model::request::Caller;
use crate::verbs::access::{self, Ports};
use crate::verbs::ask::{self, Llm};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Returns the usage of the last `days` days, including today. `days` is from 1 to [`USAGE_DAYS`](limits::USAGE_DAYS).
pub(crate) fn usage(ports: &Ports, llm: &Llm, caller: &Caller, days: i64) -> Result<LlmSpending, Error> {
    access::require_org_admin(ports, caller)?;
    if !(1..=limits::USAGE_DAYS).contains(&days) {
        let most = limits::USAGE_DAYS;
        return Err(Invalid::OutsideRange { field: Field::Days, got: days, least: 1, most }.into());
    }
    let first = ports.clock.now().plus_millis((1 - days) * DAY_MILLIS).date();
    Ok(LlmSpending {
        llm: llm.model.name(),
        tokens_per_day: llm.tokens_per_day,
        today: ask::spent_today(ports)?,
        usage: ports.store.usage(&first)?,
    })
}
