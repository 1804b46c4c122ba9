//! The types that several operations share, for the OpenAPI description. Each type has one name.
//!
//! An operation checks its arguments against a schema with all types inlined. From such a schema, a client generator would
//! make a separate class for each occurrence of a memory. So the description contains each type once and references it by
//! name.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use tulving_dialects::operation::{Audience, Operation};
use tulving_dialects::{outgoing, schema};

/// The path of the shared types in an OpenAPI description.
const PLACE: &str = "/components/schemas";
/// The prefix of a reference to a shared type.
const REFERENCE: &str = "#/components/schemas/";

/// Collects the shared types while operations are described.
pub struct Components {
    /// Collects the types of arguments.
    taken: SchemaGenerator,
    /// Collects the types of answers.
    given: SchemaGenerator,
    /// The names of the data types that may have a `marked` member.
    marked: BTreeSet<String>,
}

/// The schemas of one operation, with references to shared types.
pub struct OperationSchemas {
    /// The schema of the arguments, including the arguments in the path.
    pub input: Map<String, Value>,
    /// The data.
    pub output: Map<String, Value>,
}

impl Default for Components {
    fn default() -> Self {
        let generator = |contract| {
            let settings = SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = PLACE.into();
                settings.meta_schema = None;
                settings.contract = contract;
            });
            settings.into_generator()
        };
        let (taken, given) = (generator(Contract::Deserialize), generator(Contract::Serialize));
        Self { taken, given, marked: BTreeSet::new() }
    }
}

impl Components {
    /// Describes one operation.
    pub fn describe(&mut self, operation: &Operation) -> OperationSchemas {
        let mut input = (operation.schemas.input)(&mut self.taken);
        let mut output = (operation.schemas.output)(&mut self.given);
        schema::tidy(&mut input);
        schema::tidy(&mut output);
        leave_out_defaults(&mut input);
        if let (Some(name), true) = (shared_name(&output), operation.audience != Audience::Programs) {
            self.marked.insert(name.to_owned());
        }
        OperationSchemas { input, output }
    }

    /// Returns the shared types by name.
    pub fn into_schemas(mut self) -> Map<String, Value> {
        let mut all = self.given.take_definitions(true);
        for (name, mut schema) in self.taken.take_definitions(true) {
            if let Value::Object(schema) = &mut schema {
                leave_out_defaults(schema);
            }
            debug_assert!(
                all.get(&name).is_none_or(|given| *given == schema),
                "`{name}` is taken and given in different forms: they need two names"
            );
            all.insert(name, schema);
        }
        for (name, schema) in &mut all {
            let Value::Object(schema) = schema else { continue };
            schema::tidy(schema);
            if self.marked.contains(name) {
                outgoing::add_to_schema(schema);
            }
        }
        all
    }
}

/// Removes the defaults of arguments at every level, because TypeScript generators treat an argument with a default as
/// required. The argument's description still states the default.
fn leave_out_defaults(schema: &mut Map<String, Value>) {
    schema.remove("default");
    for (name, below) in schema.iter_mut() {
        match below {
            // The keys of `properties` are argument names, not schema keywords.
            Value::Object(own) if name == "properties" => {
                own.values_mut().filter_map(Value::as_object_mut).for_each(leave_out_defaults);
            }
            Value::Object(one) => leave_out_defaults(one),
            Value::Array(several) => {
                several.iter_mut().filter_map(Value::as_object_mut).for_each(leave_out_defaults);
            }
            _ => {}
        }
    }
}

/// Returns the name of the shared type that a schema refers to.
pub fn shared_name(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(REFERENCE)
}

/// Returns a reference to the shared type with this name.
pub fn shared(name: &str) -> Value {
    serde_json::json!({ "$ref": format!("{REFERENCE}{name}") })
}

#[cfg(test)]
mod tests {
    use super::super::operations;
    use super::*;

    fn schemas() -> Map<String, Value> {
        let mut components = Components::default();
        for operation in operations() {
            let described = components.describe(operation);
            let is_shared =
                shared_name(&described.output).is_some() || described.output.contains_key("items");
            assert!(is_shared, "{operation:?}: {:?}", described.output);
        }
        components.into_schemas()
    }

    #[test]
    fn shared_types_have_plain_names_of_their_own() {
        let all = schemas();
        for name in
            ["Memory", "RecallHit", "Association", "Space", "SaveReceipt", "MemoryFilter", "MemoryType"]
        {
            assert!(all.contains_key(name), "{name} is missing: {:?}", all.keys());
        }
        for name in all.keys() {
            // A digit at the end distinguishes a second type of the same name from the first.
            let is_plain = name.starts_with(|first: char| first.is_ascii_uppercase())
                && name.chars().all(|letter| letter.is_ascii_alphabetic());
            assert!(is_plain, "{name}");
        }
    }

    #[test]
    fn arguments_with_defaults_are_not_required_by_generated_types() {
        let mut components = Components::default();
        let save = operations().iter().find(|one| one.name == "saveMemory").expect("an operation");
        let input = components.describe(save).input;
        assert_eq!(save.argument("pinned").expect("an argument")["default"], false);
        assert!(input["properties"]["pinned"].get("default").is_none(), "{input:?}");
        let new = &components.into_schemas()["NewMemory"]["properties"];
        assert!(new["pinned"].is_object() && new["pinned"].get("default").is_none(), "{new}");
    }

    #[test]
    fn the_mark_is_in_the_type_of_what_is_passed_on() {
        let all = schemas();
        assert!(all["MemoryHistory"]["properties"]["marked"].is_object());
        assert!(all["Memory"]["properties"].get("marked").is_none());
    }
}
