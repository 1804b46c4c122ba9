//! JSON schemas of arguments and answers, in the form that clients understand.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// Returns the schema of a type with all referenced types inlined, because some clients do not follow references.
pub fn schema<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    schema_from::<T>(&mut inlining(contract))
}

/// Returns a generator of schemas without references.
pub fn inlining(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    settings.into_generator()
}

/// Returns the schema of a type. The generator decides where the schemas of referenced types are placed.
pub fn schema_from<T: JsonSchema>(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut schema = match T::json_schema(generator).to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    tidy(&mut schema);
    schema
}

/// Removes parts that confuse clients, at every level: null defaults, which the type does not allow, and the formats of
/// numbers (`uint64`, `double`), which JSON Schema does not know and validators warn about.
pub fn tidy(schema: &mut Map<String, Value>) {
    let is_number = ["integer", "number"].iter().any(|number| match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == number),
        kind => kind.is_some_and(|kind| kind == number),
    });
    if is_number {
        schema.remove("format");
    }
    schema.retain(|name, value| !(name == "default" && value.is_null()));
    let below = schema.values_mut().flat_map(|value| match value {
        Value::Array(several) => several.iter_mut().collect(),
        one => vec![one],
    });
    below.filter_map(Value::as_object_mut).for_each(tidy);
}
