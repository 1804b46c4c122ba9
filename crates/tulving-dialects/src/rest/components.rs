//! The types that the operations share, under names of their own, for the description of the service.
//!
//! An operation is called with schemas that have everything in one place. A program that makes a client from the description
//! would make a class of every place where a memory stands, so there each type is written once and referred to.

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::operation::Operation;
use crate::tool;

/// Where a description keeps its shared types.
const PLACE: &str = "/components/schemas";

/// Collects the shared types while operations are described.
pub struct Components {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

/// The schemas of one operation, with references to shared types.
pub struct Described {
    /// Its arguments, those of the address among them.
    pub input: Map<String, Value>,
    /// Its data.
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
        Self { taken: generator(Contract::Deserialize), given: generator(Contract::Serialize) }
    }
}

impl Components {
    /// Describes one operation.
    pub fn describe(&mut self, operation: &Operation) -> Described {
        let mut input = (operation.describe.input)(&mut self.taken);
        let mut output = (operation.describe.output)(&mut self.given);
        for schema in [&mut input, &mut output] {
            tool::tidy(schema);
        }
        input.remove("description");
        input.insert("additionalProperties".to_owned(), Value::Bool(false));
        Described { input, output }
    }

    /// The shared types by their names. One that is taken and given in different forms is named for both.
    pub fn into_schemas(mut self) -> Map<String, Value> {
        let mut all = self.given.take_definitions(true);
        for (name, schema) in self.taken.take_definitions(true) {
            debug_assert!(
                all.get(&name).is_none_or(|given| *given == schema),
                "`{name}` is taken in another form than it is given in: name the one that is taken otherwise"
            );
            all.insert(name, schema);
        }
        for schema in all.values_mut().filter_map(Value::as_object_mut) {
            tool::tidy(schema);
        }
        all
    }
}
