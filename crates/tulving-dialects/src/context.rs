//! The block to put into a system prompt at the start of a session.

use tulving_core::request::BriefingRequest;
use tulving_core::text::block;

use crate::tool::{Desk, Refusal};
use crate::{Dialect, max, outgoing};

/// The block of a dialect. Those of max and maven have neither a budget nor a subject.
pub fn block(desk: &Desk<'_>, dialect: Dialect, request: &BriefingRequest) -> Result<String, Refusal> {
    match dialect {
        Dialect::Max => max::summary(desk),
        Dialect::Maven => {
            let known = desk.engine.long_term(&desk.caller)?;
            // Its heading and a blank line stand above.
            Ok(outgoing::text_from(&known.prompt(), &format!("\n\n{}", known.content)))
        }
        // It has room for a mark in each line, within its budget.
        _ => Ok(block::block(&desk.engine.briefing(&desk.caller, request)?)),
    }
}
