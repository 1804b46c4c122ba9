//! Arguments that models write in more than one way: a count as `10` or `10.0`, an id as `"#12"` or `12`. For all dialects,
//! this module refuses values out of bounds, and names that cannot refer to a memory.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use tulving_core::model::error::Invalid;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::limits;
pub use tulving_core::model::request::WholeNumber;

use crate::tool::{ToolContext, ToolError};

/// Returns the given number, or the default, if it is within these bounds.
pub fn within(
    field: &str,
    given: Option<WholeNumber>,
    usual: i64,
    bounds: RangeInclusive<i64>,
) -> Result<usize, ToolError> {
    let number = given.map_or(usual, |given| given.0);
    let fits = bounds.contains(&number).then(|| usize::try_from(number).ok()).flatten();
    fits.ok_or_else(|| {
        let message = format!("{field} is {number}; give {} to {}", bounds.start(), bounds.end());
        ToolError::invalid("out_of_range", field, message)
    })
}

/// Returns the number of items to return, within the limit. A context that allows fewer items than the default lowers the
/// default.
pub fn limited(
    context: &ToolContext<'_>,
    limit: Option<WholeNumber>,
    usual: i64,
    most: i64,
) -> Result<usize, ToolError> {
    within("limit", limit, usual.min(context.page), 1..=most.min(context.page))
}

/// Returns the number of items in the list that a recall returns. A context that allows fewer items than the default lowers
/// the default.
pub fn list_limited(
    context: &ToolContext<'_>,
    limit: Option<WholeNumber>,
    most: i64,
) -> Result<usize, ToolError> {
    const USUAL: i64 = limits::LISTED as i64;
    limited(context, limit, USUAL.min(most), most)
}

/// Returns the token limit for the results, if there is one.
pub fn token_budget(given: Option<WholeNumber>) -> Result<Option<usize>, ToolError> {
    const MOST: i64 = limits::BUDGET as i64;
    given.map(|tokens| within("token_budget", Some(tokens), MOST, 1..=MOST)).transpose()
}

/// Returns the token limit for the context block at the start of a session.
pub fn block_budget(given: Option<WholeNumber>) -> Result<usize, ToolError> {
    const USUAL: i64 = 2_000;
    const LEAST: i64 = limits::BRIEFING_LEAST as i64;
    const MOST: i64 = limits::BRIEFING_MOST as i64;
    within("token_budget", given, USUAL, LEAST..=MOST)
}

/// The memory that an operation or a tool is about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryIdArguments {
    /// Its id, or its number such as 12.
    pub id: MemoryRef,
}

/// A reference to a memory as a dialect takes it: an id, `#12`, or the bare number. If the text cannot be a reference, the
/// dialect answers with its own message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRefArgument(pub String);

impl<'de> Deserialize<'de> for MemoryRefArgument {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(MemoryRefTextVisitor).map(Self)
    }
}

impl JsonSchema for MemoryRefArgument {
    fn schema_name() -> Cow<'static, str> {
        "name".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

struct MemoryRefTextVisitor;

impl Visitor<'_> for MemoryRefTextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a memory")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<String, E> {
        Ok(name.to_owned())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        match number.fract() == 0.0 {
            true => Ok(format!("{number:.0}")),
            false => Err(E::invalid_type(serde::de::Unexpected::Float(number), &self)),
        }
    }
}

/// Parses the memory that an argument names.
pub fn named(field: &str, name: &str) -> Result<MemoryRef, ToolError> {
    name.parse()
        .map_err(|error: Invalid| ToolError { field: Some(field.to_owned()), ..ToolError::from(error) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_outside_of_its_bounds_is_refused_with_its_value() {
        assert_eq!(within("depth", None, 3, 1..=5), Ok(3));
        assert_eq!(within("depth", Some(WholeNumber(0)), 3, 0..=5), Ok(0));
        let refusal = within("limit", Some(WholeNumber(i64::MAX)), 10, 1..=50).expect_err("too many");
        assert_eq!(refusal.message, "limit is 9223372036854775807; give 1 to 50");
        assert_eq!((refusal.code, refusal.field.as_deref()), ("out_of_range", Some("limit")));
    }

    #[test]
    fn a_memory_may_be_named_by_its_bare_number() {
        let read = |value| serde_json::from_value::<MemoryRefArgument>(value).map(|name| name.0);
        assert_eq!(read(json!("#12")).expect("a name"), "#12");
        assert_eq!(read(json!(12)).expect("a name"), "12");
        assert_eq!(read(json!(12.0)).expect("a name"), "12");
        assert!(read(json!(12.5)).is_err() && read(json!(null)).is_err() && read(json!({})).is_err());
    }
}
