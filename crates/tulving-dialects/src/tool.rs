//! The definition of a tool: its name, its schemas, and the function by which all surfaces call it.

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::Engine;
use tulving_core::files::workspace::{WorkspaceFileList, WorkspaceFileText};
use tulving_core::model::answer::{FailedBackend, Warning};
use tulving_core::model::error::Class;
use tulving_core::model::id::{MemoryRef, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::Caller;
use tulving_core::model::space::{Space, Viewer};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_text::when::TimeInput;

use crate::Dialect;
pub use crate::error::ToolError;
use crate::input::{ToolInput, names_of, refuse_unknown};
use crate::outgoing::{self, ToolReply};
use crate::reading::{object, read, unquoted};
use crate::schema;

/// The context of a tool call: the engine, and the caller confined to the spaces that the dialect can reach. The host
/// chooses the space. So an id from another space is not found, and no argument gives access from one group to another.
pub struct ToolContext<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The caller.
    pub caller: Caller,
    /// Maximum number of items that one call may ask for.
    pub page: i64,
}

impl<'a> ToolContext<'a> {
    /// Opens a context of this dialect for this caller, in its space.
    pub fn open(engine: &'a Engine, caller: &Caller, dialect: Dialect) -> Result<Self, ToolError> {
        let here = caller.space;
        let reached = match dialect.reach() {
            DialectScope::Space => vec![here],
            DialectScope::Hubs => hubs(engine, caller)?,
        };
        let within = caller.viewer.within.as_ref();
        let allowed = |space: &SpaceId| within.is_none_or(|allowed| allowed.contains(space));
        let within = Some(reached.into_iter().filter(allowed).collect());
        let viewer = Viewer { within, ..caller.viewer.clone() };
        Ok(Self { engine, caller: Caller { viewer, ..caller.clone() }, page: i64::MAX })
    }

    /// Records the accesses of earlier calls. So answers that depend on access counts are the same in a long-running process
    /// as in a process that ends after each call. If the accesses cannot be written now, they are recorded later.
    pub fn catch_up(&self) {
        let _ = self.engine.flush();
    }

    /// Opens a context for a caller who is limited only by the caller's own rights, and may ask for at most `page` items at
    /// once.
    pub fn unconfined(engine: &'a Engine, caller: &Caller, page: u64) -> Self {
        Self { engine, caller: caller.clone(), page: i64::try_from(page).unwrap_or(i64::MAX) }
    }

    /// Returns the instant that the caller means by a time, in their time zone.
    pub fn instant(&self, moment: Option<TimeInput>) -> Option<Timestamp> {
        moment.map(|moment| moment.instant(&self.caller.zone, self.engine.now()))
    }

    /// Returns a memory within reach, and counts the access.
    pub fn memory(&self, which: MemoryRef) -> Result<Memory, ToolError> {
        Ok(self.engine.touch(&self.caller, which)?)
    }

    /// Lists the files of the space.
    pub fn files(&self) -> Result<WorkspaceFileList, ToolError> {
        Ok(self.engine.files(&self.caller)?)
    }

    /// Returns the text of a file.
    pub fn file(&self, name: &str) -> Result<WorkspaceFileText, ToolError> {
        Ok(self.engine.file(&self.caller, name)?)
    }
}

/// Returns the spaces that are not groups; from within a group, only that group.
fn hubs(engine: &Engine, caller: &Caller) -> Result<Vec<SpaceId>, ToolError> {
    let spaces = engine.spaces(caller)?;
    let is_group = |space: &Space| space.kind == SpaceKind::Group;
    let in_group = spaces.iter().any(|space| space.id == caller.space && is_group(space));
    let reached = spaces.iter().filter(|space| match in_group {
        true => space.id == caller.space,
        false => !is_group(space),
    });
    Ok(reached.map(|space| space.id).collect())
}

/// The effect of a tool on the stored data. Except for [`Adds`](Self::Adds), a second call with the same arguments has no
/// further effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// Changes nothing.
    Reads,
    /// Adds data, or makes a change that can be reverted.
    Writes,
    /// Adds data with every call.
    Adds,
    /// Removes data.
    Removes,
}

/// Describes the backends that failed, and why.
pub fn failed(failed: &[FailedBackend]) -> Vec<String> {
    failed.iter().map(FailedBackend::to_string).collect()
}

/// Formats search failures as the last lines of a text; empty if there are none.
pub(crate) fn aside(troubles: impl Iterator<Item = String>) -> String {
    troubles.map(|why| format!("\n(The answer is incomplete: {why}.)")).collect()
}

/// Formats warnings for a caller without a terminal.
pub fn warnings(said: &[Warning]) -> Vec<String> {
    warnings_where(said, |by| format!("with an association that `updates` {by}"))
}

/// Formats warnings like [`warnings`]. `again` returns the dialect's words for saving a superseded memory again.
pub(crate) fn warnings_where(said: &[Warning], again: impl Fn(MemoryRef) -> String) -> Vec<String> {
    let one = |warning: &Warning| match warning {
        Warning::Superseded { memory, by } => {
            format!("{memory} was superseded by {by}; if it is true again, save it {}", again(*by))
        }
        Warning::NoLongerValid { memory, at } => {
            format!("{memory} was valid until {at}; if it is true again, give it a later valid_until")
        }
        Warning::Reopened { memory, done_at } => {
            format!("{memory} was done on {} and is open again", done_at.date())
        }
        Warning::Kept { memory, fields } => {
            format!("{memory} says the same already and keeps its own {}", fields.join(", "))
        }
        other => other.to_string(),
    };
    said.iter().map(one).collect()
}

type ToolHandler = Box<dyn Fn(&ToolContext<'_>, Value) -> Result<ToolReply, ToolError> + Send + Sync>;

/// A tool of a dialect.
pub struct DialectTool {
    /// The name used in calls.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// A description for a model: the purpose, and when to use it.
    pub description: &'static str,
    /// The effect on the stored data.
    pub effect: ToolEffect,
    /// The JSON schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON schema of the tool's answer, if the answer is data.
    pub output: Option<Map<String, Value>>,
    run: ToolHandler,
    names: &'static [(&'static str, &'static str)],
    example: Option<&'static str>,
    in_short: bool,
}

/// The spaces that a dialect can reach. The arguments of its tools cannot extend this scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialectScope {
    /// Only the space of the call.
    Space,
    /// Every space that the caller may see and that is not a group. If the call's space is a group, only that group.
    Hubs,
}

impl DialectTool {
    /// Creates a tool that answers with text.
    pub(crate) fn text<A: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        title: &'static str,
        effect: ToolEffect,
        description: &'static str,
        run: fn(&ToolContext<'_>, A) -> Result<String, ToolError>,
    ) -> Self {
        let run =
            move |context: &ToolContext<'_>, arguments| Ok(ToolReply::text(&run(context, read(arguments)?)?));
        Self {
            name,
            title,
            description,
            effect,
            input: schema::schema::<A>(Contract::Deserialize),
            output: None,
            run: Box::new(run),
            names: &[],
            example: None,
            in_short: false,
        }
    }

    /// Creates a tool that answers with data.
    pub(crate) fn data<A: DeserializeOwned + JsonSchema + 'static, O: Serialize + JsonSchema + 'static>(
        name: &'static str,
        title: &'static str,
        effect: ToolEffect,
        description: &'static str,
        run: fn(&ToolContext<'_>, A) -> Result<O, ToolError>,
    ) -> Self {
        let run = move |context: &ToolContext<'_>, arguments| {
            ToolReply::data(&run(context, read(arguments)?)?).map_err(unwritten)
        };
        let mut output = schema::schema::<O>(Contract::Serialize);
        outgoing::add_to_schema(&mut output);
        let (input, output) = (schema::schema::<A>(Contract::Deserialize), Some(output));
        let run = Box::new(run);
        Self {
            name,
            title,
            description,
            effect,
            input,
            output,
            run,
            names: &[],
            example: None,
            in_short: false,
        }
    }

    /// Creates a native tool. Its schema leaves out null, and its answer has no schema, because a model needs neither to
    /// call the tool.
    pub(crate) fn own<I: ToolInput, O: Serialize + 'static>(
        name: &'static str,
        title: &'static str,
        effect: ToolEffect,
        description: &'static str,
        run: fn(&ToolContext<'_>, I) -> Result<O, ToolError>,
    ) -> Self {
        let reader = I::reader();
        let run = move |context: &ToolContext<'_>, arguments| {
            ToolReply::brief(&run(context, reader(object(arguments)?)?)?).map_err(unwritten)
        };
        let mut input = I::schema();
        input.remove("description");
        input.insert("additionalProperties".to_owned(), Value::Bool(false));
        without_null(&mut input);
        let run = Box::new(run);
        let in_short = true;
        Self {
            name,
            title,
            description,
            effect,
            input,
            output: None,
            run,
            names: &[],
            example: None,
            in_short,
        }
    }

    /// Leaves out all arguments except these.
    pub(crate) fn offering(mut self, names: &'static [&'static str]) -> Self {
        if let Some(Value::Object(own)) = self.input.get_mut("properties") {
            own.retain(|name, _| names.contains(&name.as_str()));
            debug_assert_eq!(own.len(), names.len(), "{} offers an argument that does not exist", self.name);
        }
        let known = names_of(&self.input);
        let run = self.run;
        self.run = Box::new(move |context, arguments| {
            if let Value::Object(said) = &arguments {
                refuse_unknown(&known, said)?;
            }
            run(context, arguments)
        });
        self
    }

    /// Sets the dialect's own argument names, paired with the engine's.
    pub(crate) fn naming(self, names: &'static [(&'static str, &'static str)]) -> Self {
        Self { names, ..self }
    }

    /// Returns the schema of the arguments as hosts get it. For a native tool, it has only what a model needs to call the
    /// tool, because hosts put the schemas of all tools into every request to a model.
    pub fn offered_input(&self) -> Map<String, Value> {
        let mut input = self.input.clone();
        if self.in_short {
            shorten(&mut input);
        }
        input
    }

    /// Sets an example of correct arguments, for arguments whose shape is hard to guess. The error after a call with wrong
    /// arguments contains the example.
    pub(crate) fn showing(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// Calls the tool. The arguments are a JSON object, or null if there are no arguments.
    pub fn call(&self, context: &ToolContext<'_>, arguments: Value) -> Result<ToolReply, ToolError> {
        (self.run)(context, unquoted(&self.input, arguments)).map_err(|refusal| {
            let refusal = self.names.iter().fold(refusal, ToolError::renamed);
            match self.example {
                Some(example) => refusal.showing(example),
                None => refusal,
            }
        })
    }
}

impl fmt::Debug for DialectTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Removes null from the types and words of a schema, at every level.
fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    schema.remove("default");
    for_each_below(schema, without_null);
}

/// The keywords of a schema that a model does not need, because the descriptions name the limits and every call is checked.
const CHECKED_ON_CALL: [&str; 9] = [
    "additionalProperties",
    "default",
    "format",
    "maxItems",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
];

/// Minimum number of words of a description that is kept. A shorter description only repeats the name of its argument.
const WORDS_OF_A_DESCRIPTION: usize = 4;

/// Removes from the schema of an object what a model does not need to call the tool, at every level.
fn shorten(schema: &mut Map<String, Value>) {
    schema.retain(|keyword, _| !CHECKED_ON_CALL.contains(&keyword.as_str()));
    let description = schema.get("description").and_then(Value::as_str);
    let is_brief = description.is_some_and(|text| text.split_whitespace().count() < WORDS_OF_A_DESCRIPTION);
    if is_brief || schema.contains_key("properties") {
        schema.remove("description");
    }
    for_each_below(schema, shorten);
}

/// Calls a function with each schema that is part of this schema.
fn for_each_below(schema: &mut Map<String, Value>, change: fn(&mut Map<String, Value>)) {
    for (keyword, below) in schema.iter_mut() {
        match below {
            // The keys of `properties` are argument names, not schema keywords.
            Value::Object(own) if keyword == "properties" => {
                own.values_mut().filter_map(Value::as_object_mut).for_each(change);
            }
            Value::Object(one) => change(one),
            Value::Array(several) => several.iter_mut().filter_map(Value::as_object_mut).for_each(change),
            _ => {}
        }
    }
}

/// Describes an answer that could not be written as JSON.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub fn unwritten(error: serde_json::Error) -> ToolError {
    let message = format!("the answer could not be written: {error}");
    ToolError { code: "internal", message, hint: None, field: None, class: Class::Bug }
}
