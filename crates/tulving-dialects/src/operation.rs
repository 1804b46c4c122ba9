//! The definition of an HTTP operation: its address, its input and output, and the function that carries out a call.
//!
//! Tulving's own operations and the operations of other systems' interfaces are defined in the same way. The server adds the
//! transport, the authentication and the OpenAPI description.

use std::fmt;

use schemars::generate::Contract;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};
use tulving_core::Engine;
use tulving_core::model::id::Version;
use tulving_core::model::request::Caller;

pub use crate::input::{
    ArgumentReader, CombinedInput, SingleInput, ToolInput as OperationInput, names_of, properties,
    refuse_unknown,
};
use crate::tool::{self, ToolContext, ToolError};
use crate::{outgoing, schema};

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationMethod {
    /// Reads.
    Get,
    /// Creates or performs.
    Post,
    /// Changes a part.
    Patch,
    /// Replaces.
    Put,
    /// Removes.
    Delete,
}

impl OperationMethod {
    /// True if the arguments that are not in the path are in the body, and not in the query.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Patch | Self::Put)
    }

    /// Returns the name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }
}

type OperationHandler = Box<
    dyn Fn(&ToolContext<'_>, Map<String, Value>, Audience) -> Result<OperationReply, ToolError> + Send + Sync,
>;

/// The reader of an operation's data. The reader determines how texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Programs: texts are returned exactly as stored. Each memory contains its own mark.
    Programs,
    /// Programs that pass the data on to models: texts are returned exactly as stored, and texts that try to give commands
    /// are marked.
    Relays,
    /// Models: hidden characters are stripped, and texts that try to give commands are marked.
    Models,
}

/// One operation of the service.
pub struct Operation {
    /// The HTTP method.
    pub method: OperationMethod,
    /// The address. `{name}` is replaced by an argument, and `{*name}` by one that may contain `/`.
    pub path: &'static str,
    /// A second address.
    pub also: Option<&'static str>,
    /// Its name for programs.
    pub name: &'static str,
    /// The group that the description lists it in.
    pub group: &'static str,
    /// A short description.
    pub title: &'static str,
    /// A further description; may be empty.
    pub description: &'static str,
    /// The JSON schema of its arguments, including those of the address.
    pub input: Map<String, Value>,
    /// The JSON schema of its data.
    pub output: Map<String, Value>,
    /// True if it may create something.
    pub creates: bool,
    /// True if the data is returned without an envelope.
    pub is_bare: bool,
    /// True if it changes anything.
    pub writes: bool,
    /// True if its answer must not be stored.
    pub is_secret: bool,
    /// The argument that receives the value of `If-Match`, for an operation that depends on the state that the client saw.
    pub condition: Option<&'static str>,
    /// The reader of its data.
    pub audience: Audience,
    /// Generates the schemas again, for a description in which operations share types.
    pub schemas: SchemaBuilders,
    run: OperationHandler,
}

/// Generates the schemas of an operation, with references to types that several operations share.
#[derive(Clone, Copy)]
pub struct SchemaBuilders {
    /// Generates the schema of the arguments.
    pub input: fn(&mut SchemaGenerator) -> Map<String, Value>,
    /// Generates the schema of the data. If the type has a name, the schema is a reference.
    pub output: fn(&mut SchemaGenerator) -> Map<String, Value>,
}

fn arguments<I: OperationInput>(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut schema = I::schema_from(generator);
    schema.remove("description");
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

fn referred<O: JsonSchema>(generator: &mut SchemaGenerator) -> Map<String, Value> {
    match generator.subschema_for::<O>().to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// The answer of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationReply {
    /// The data, as JSON.
    pub data: String,
    /// True if something was created.
    pub created: bool,
    /// A tag that identifies the returned state: the version of a memory, the digest of a file.
    pub tag: Option<String>,
}

/// The result of an operation, before it is serialised.
pub struct OperationOutput<O> {
    data: O,
    created: bool,
    tag: Option<String>,
}

impl<O> OperationOutput<O> {
    /// Sets the `created` flag.
    pub fn new_if(self, created: bool) -> Self {
        Self { created, ..self }
    }

    /// Tags the result with the version of a memory.
    pub fn of(self, version: Version) -> Self {
        self.tagged(Some(version.to_string()))
    }

    /// Tags the result with this state.
    pub fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }
}

impl<O> From<O> for OperationOutput<O> {
    fn from(data: O) -> Self {
        Self { data, created: false, tag: None }
    }
}

/// Pairs of an argument name in the engine and the corresponding name in operations.
const NAMES: [(&str, &str); 7] = [
    ("question", "query"),
    ("question", "q"),
    ("text", "query"),
    ("text", "contains"),
    ("tag", "tags"),
    ("budget", "token_budget"),
    ("memories", "ids"),
];

impl Operation {
    /// Defines an operation.
    pub fn new<I: OperationInput, O: Serialize + JsonSchema + 'static>(
        method: OperationMethod,
        path: &'static str,
        name: &'static str,
        title: &'static str,
        run: fn(&ToolContext<'_>, I) -> Result<OperationOutput<O>, ToolError>,
    ) -> Self {
        let input = arguments::<I>(&mut schema::inlining(Contract::Deserialize));
        let known = names_of(&input);
        let read = I::reader();
        let run = move |context: &ToolContext<'_>, said: Map<String, Value>, audience: Audience| {
            refuse_unknown(&known, &said)?;
            let OperationOutput { data, created, tag } = run(context, read(said)?)?;
            let data = match audience {
                Audience::Programs => serde_json::to_string(&data),
                Audience::Relays => outgoing::marked(&data),
                Audience::Models => outgoing::for_models(&data),
            };
            Ok(OperationReply { data: data.map_err(tool::unwritten)?, created, tag })
        };
        let output = schema::schema::<O>(Contract::Serialize);
        Self {
            method,
            path,
            also: None,
            name,
            group: "",
            title,
            description: "",
            input,
            output,
            creates: false,
            is_bare: false,
            writes: method != OperationMethod::Get,
            is_secret: false,
            condition: None,
            audience: Audience::Programs,
            schemas: SchemaBuilders { input: arguments::<I>, output: referred::<O> },
            run: Box::new(run),
        }
    }

    /// Sets the group in which the description lists the operation.
    pub fn within(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// Adds a further description.
    pub fn saying(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// Declares that the operation may create something.
    pub fn creating(self) -> Self {
        Self { creates: true, ..self }
    }

    /// Declares that the data is returned without an envelope.
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// Declares that the operation changes nothing, although its arguments are in a body.
    pub fn reading(self) -> Self {
        Self { writes: false, ..self }
    }

    /// Declares that the answer of the operation must not be stored.
    pub fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// Makes the operation conditional on `If-Match`. The header's value becomes this argument.
    pub fn matching(self, argument: &'static str) -> Self {
        Self { condition: Some(argument), ..self }
    }

    /// Sets the reader of the data. Data for models is marked if it tries to give commands.
    pub fn read_by(mut self, audience: Audience) -> Self {
        if audience != Audience::Programs {
            outgoing::add_to_schema(&mut self.output);
        }
        Self { audience, ..self }
    }

    /// Adds a second address.
    pub fn also_at(self, path: &'static str) -> Self {
        Self { also: Some(path), ..self }
    }

    /// Returns the arguments in the address.
    pub fn in_path(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
        self.path.split('/').filter_map(name).map(|name| name.trim_start_matches('*'))
    }

    /// True if the operation accepts a file, which may be sent as raw bytes.
    pub fn takes_file(&self) -> bool {
        self.argument("file").is_some() && self.in_path().all(|name| name != "file")
    }

    /// Returns the schema of an argument.
    pub fn argument(&self, name: &str) -> Option<&Map<String, Value>> {
        properties(&self.input)?.get(name)?.as_object()
    }

    /// Calls the operation for this caller, with the arguments of the address, the query and the body together. The caller
    /// may ask for at most `page` items.
    pub fn call(
        &self,
        engine: &Engine,
        caller: &Caller,
        page: u64,
        said: Map<String, Value>,
    ) -> Result<OperationReply, ToolError> {
        let done = (self.run)(&ToolContext::unconfined(engine, caller, page), said, self.audience);
        done.map_err(|refusal| {
            NAMES.iter().filter(|(_, ours)| self.has(ours)).fold(refusal, ToolError::renamed)
        })
    }

    /// True if an argument, or a member of an object argument, has this name.
    fn has(&self, name: &str) -> bool {
        let own = properties(&self.input);
        let mut parts =
            own.into_iter().flat_map(Map::values).filter_map(Value::as_object).filter_map(properties);
        own.is_some_and(|own| own.contains_key(name)) || parts.any(|parts| parts.contains_key(name))
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.path)
    }
}
