//! JSON in which a duplicate name is an error. Most readers silently keep the last one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use tulving_core::model::preview;

/// Parses a text, or returns an error with the reason.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<StrictJson>(text).map(|StrictJson(value)| value)
}

struct StrictJson(Value);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(StrictJsonVisitor).map(Self)
    }
}

struct StrictJsonVisitor;

impl<'de> Visitor<'de> for StrictJsonVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(StrictJson(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{}` is given twice", preview::short(&name))));
            }
            let StrictJson(value) = fields.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_twice_is_refused_at_any_depth_and_the_rest_is_read_as_ever() {
        for text in [r#"{"a": 1, "a": 1}"#, r#"{"a": [{"b": 1, "c": 2, "b": 3}]}"#] {
            assert!(parse(text).expect_err("twice").to_string().contains("is given twice"), "{text}");
        }
        for text in
            ["null", "[1, -2, 3.5, true, \"x\"]", r#"{"a": {"a": {"a": []}}, "b": 18446744073709551615}"#]
        {
            assert_eq!(parse(text).expect("JSON"), serde_json::from_str::<Value>(text).expect("JSON"));
        }
        assert!(parse(&"[".repeat(200)).is_err());
    }
}
