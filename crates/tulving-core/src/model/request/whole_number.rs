//! A whole number as models write it: `10` or `10.0`.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// A whole number. A number that is too large for an `i64` becomes the largest `i64`, which exceeds every limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeNumber(pub i64);

impl Serialize for WholeNumber {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(WholeNumberVisitor).map(Self)
    }
}

struct WholeNumberVisitor;

impl Visitor<'_> for WholeNumberVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<i64, E> {
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<i64, E> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has no fraction, and the cast stops at the bounds"
        )]
        match number.fract() == 0.0 {
            true => Ok(number as i64),
            false => Err(E::invalid_type(de::Unexpected::Float(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_count_may_be_written_with_a_point() {
        let read = |value| serde_json::from_value::<WholeNumber>(value).map(|whole| whole.0);
        assert_eq!(read(json!(10)).expect("a count"), 10);
        assert_eq!(read(json!(10.0)).expect("a count"), 10);
        assert_eq!(read(json!(-3)).expect("a count"), -3);
        assert_eq!(read(json!(u64::MAX)).expect("a count"), i64::MAX);
        assert_eq!(read(json!(1e300)).expect("a count"), i64::MAX);
        for wrong in [json!(1.5), json!("10"), json!(true), json!([1])] {
            assert!(read(wrong).expect_err("refused").to_string().contains("expected a whole number"));
        }
    }
}
