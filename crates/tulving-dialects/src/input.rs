//! The input of native tools and operations: one argument type, or two argument types whose fields are merged into one
//! object.

use schemars::generate::Contract;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::model::preview;

use crate::error::ToolError;
use crate::reading::deserialize;
use crate::schema;

/// The input of a tool or an operation: one object, or two objects merged into one.
pub trait ToolInput: Sized + 'static {
    /// Returns the schema of the arguments. The generator decides where the schemas of shared types are placed.
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value>;

    /// Returns the same schema with everything inlined.
    fn schema() -> Map<String, Value> {
        Self::schema_from(&mut schema::inlining(Contract::Deserialize))
    }

    /// Returns the function that parses the input.
    fn reader() -> ArgumentReader<Self>;
}

/// Parses arguments.
pub type ArgumentReader<T> = Box<dyn Fn(Map<String, Value>) -> Result<T, ToolError> + Send + Sync>;

/// No arguments.
#[derive(Deserialize, JsonSchema)]
pub struct NoArguments {}

/// An object of arguments.
pub struct SingleInput<A>(pub A);

/// Two objects of arguments, merged into one.
pub struct CombinedInput<A, B>(pub A, pub B);

impl<A: DeserializeOwned + JsonSchema + 'static> ToolInput for SingleInput<A> {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        schema::schema_from::<A>(generator)
    }

    fn reader() -> ArgumentReader<Self> {
        Box::new(|said| deserialize(Value::Object(said)).map(Self))
    }
}

impl<A: DeserializeOwned + JsonSchema + 'static, B: DeserializeOwned + JsonSchema + 'static> ToolInput
    for CombinedInput<A, B>
{
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut first = SingleInput::<A>::schema_from(generator);
        for (name, second) in SingleInput::<B>::schema_from(generator) {
            match (first.get_mut(&name), second) {
                (Some(Value::Object(first)), Value::Object(second)) => first.extend(second),
                (Some(Value::Array(first)), Value::Array(second)) => first.extend(second),
                (Some(_), _) => {}
                (None, second) => drop(first.insert(name, second)),
            }
        }
        first
    }

    fn reader() -> ArgumentReader<Self> {
        let own = names_of(&SingleInput::<A>::schema());
        Box::new(move |said| {
            let (first, second) = said.into_iter().partition(|(name, _)| own.contains(name));
            Ok(Self(deserialize(Value::Object(first))?, deserialize(Value::Object(second))?))
        })
    }
}

/// Returns the arguments of a schema.
pub fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// Returns the names of the arguments in a schema.
pub fn names_of(schema: &Map<String, Value>) -> Vec<String> {
    properties(schema).into_iter().flat_map(Map::keys).cloned().collect()
}

/// Refuses an argument that is not known.
pub fn refuse_unknown(known: &[String], said: &Map<String, Value>) -> Result<(), ToolError> {
    let Some(unknown) = said.keys().find(|name| !known.contains(*name)) else { return Ok(()) };
    let message = format!("there is no argument `{}`", preview::short(unknown));
    let hint =
        if known.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", known.join(", ")) };
    Err(ToolError::invalid("unknown_argument", unknown, message).hinting(hint))
}
