//! What a tool is: its name and schemas for who offers it, and one way to call it for all surfaces.

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::Engine;
use tulving_core::answer::{FailedBackend, Warning};
use tulving_core::error::{Class, Error, Field, FileError, Invalid};
use tulving_core::id::{MemoryRef, SpaceId};
use tulving_core::journal::shelf::{Shelf, ShelfText};
use tulving_core::memory::Memory;
use tulving_core::request::Caller;
use tulving_core::space::{Space, Viewer};
use tulving_core::time::{TimeInput, Timestamp};
use tulving_core::vocabulary::SpaceKind;

use crate::Dialect;
use crate::outgoing::{self, Reply};
use crate::reading::{read, unquoted};

/// Where a dialect is spoken: the engine, and who asks, with no eyes for what lies beyond the dialect's reach. Which space
/// that is comes from the host, so that an id of another space names nothing here, and no argument leads from one group
/// into another.
pub struct Desk<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) caller: Caller,
    /// Most items that one call may ask for.
    pub(crate) page: i64,
}

impl<'a> Desk<'a> {
    /// A desk of this dialect for this caller, in its space.
    pub fn open(engine: &'a Engine, caller: &Caller, dialect: Dialect) -> Result<Self, Refusal> {
        let here = caller.space;
        let reached = match dialect.reach() {
            Reach::Space => vec![here],
            Reach::Hubs => hubs(engine, caller)?,
        };
        let within = caller.viewer.within.as_ref();
        let allowed = |space: &SpaceId| within.is_none_or(|allowed| allowed.contains(space));
        let within = Some(reached.into_iter().filter(allowed).collect());
        let viewer = Viewer { within, ..caller.viewer.clone() };
        Ok(Self { engine, caller: Caller { viewer, ..caller.clone() }, page: i64::MAX })
    }

    /// Counts what was used before this call, so that an answer which shows use, or goes by it, is the same in a process
    /// that goes on as in one that ended after each call. Where it cannot be written down yet, it counts a little later.
    pub(crate) fn catch_up(&self) {
        let _ = self.engine.flush();
    }

    /// A desk for a caller whose reach is nothing but what it may see, and that may ask for so many items at once.
    pub(crate) fn unconfined(engine: &'a Engine, caller: &Caller, page: u64) -> Self {
        Self { engine, caller: caller.clone(), page: i64::try_from(page).unwrap_or(i64::MAX) }
    }

    /// The instant that the caller means by a time, in their time zone.
    pub(crate) fn instant(&self, moment: Option<TimeInput>) -> Option<Timestamp> {
        moment.map(|moment| moment.instant(&self.caller.zone, self.engine.now()))
    }

    /// A memory within reach, which counts as accessed.
    pub fn memory(&self, which: MemoryRef) -> Result<Memory, Refusal> {
        Ok(self.engine.touch(&self.caller, which)?)
    }

    /// The files of the space.
    pub fn files(&self) -> Result<Shelf, Refusal> {
        Ok(self.engine.files(&self.caller)?)
    }

    /// What one of them says.
    pub fn file(&self, name: &str) -> Result<ShelfText, Refusal> {
        Ok(self.engine.file(&self.caller, name)?)
    }
}

/// The spaces that are no groups; from within a group, that group.
fn hubs(engine: &Engine, caller: &Caller) -> Result<Vec<SpaceId>, Refusal> {
    let spaces = engine.spaces(caller)?;
    let is_group = |space: &Space| space.kind == SpaceKind::Group;
    let in_group = spaces.iter().any(|space| space.id == caller.space && is_group(space));
    let reached = spaces.iter().filter(|space| match in_group {
        true => space.id == caller.space,
        false => !is_group(space),
    });
    Ok(reached.map(|space| space.id).collect())
}

/// What calling a tool does to what is stored. Called twice with the same arguments, it does it once, unless it adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Adds to it, or changes what can be brought back.
    Writes,
    /// Adds to it with every call.
    Adds,
    /// Removes something.
    Removes,
}

/// Why a tool did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A stable name for programs.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to change.
    pub hint: Option<String>,
    /// The argument that it is about.
    pub field: Option<String>,
    /// What sort of trouble it is.
    pub class: Class,
}

impl Refusal {
    /// What was asked is wrong.
    pub fn invalid(code: &'static str, field: &str, message: impl Into<String>) -> Self {
        let (message, field) = (message.into(), Some(field.to_owned()));
        Self { code, message, hint: None, field, class: Class::Caller }
    }

    /// The same in a dialect's word for the field that it is about.
    pub(crate) fn renamed(self, (own, theirs): &(&str, &str)) -> Self {
        if self.field.as_deref() != Some(*own) {
            return self;
        }
        // Of several one is wrong, and that is still called so.
        let message = match theirs.strip_suffix('s') == Some(own) {
            true => self.message,
            false => self.message.replacen(&format!("the {own} "), &format!("the {theirs} "), 1),
        };
        Self { field: Some((*theirs).to_owned()), message, ..self }
    }

    /// The same with arguments as they should be, where it is their shape that is wrong.
    fn showing(self, example: &str) -> Self {
        if !["unknown_argument", "missing_argument"].contains(&self.code) {
            return self;
        }
        let hint = match &self.hint {
            Some(hint) => format!("{hint}, for example {example}"),
            None => format!("for example {example}"),
        };
        self.hinting(hint)
    }

    /// The same with what to change.
    #[must_use]
    pub fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        // Other hints name commands of the terminal, which who calls a tool does not have.
        let hint = match &error {
            Error::Invalid(Invalid::TooLong { field: Field::Content, .. }) => {
                Some("split it into several memories".to_owned())
            }
            Error::Invalid(invalid) => invalid.hint(),
            Error::File(
                FileError::TooLarge { .. } | FileError::Changed { .. } | FileError::Exists { .. },
            ) => error.hint(),
            Error::CannotBeDone { .. } => Some("give it the type todo or goal first".to_owned()),
            Error::Changed { .. }
            | Error::Mirrored { .. }
            | Error::Held { .. }
            | Error::NameTaken { .. }
            | Error::CursorExpired => error.hint(),
            _ => None,
        };
        let field = error.field().map(|field| field.to_string());
        Self { code: error.code(), message: error.to_string(), hint, field, class: error.class() }
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Error::from(invalid).into()
    }
}

/// The backends that failed, and why.
pub(crate) fn failed(failed: &[FailedBackend]) -> Vec<String> {
    failed.iter().map(FailedBackend::to_string).collect()
}

/// What could not be looked at, as the last lines of a text; nothing where everything was.
pub(crate) fn aside(troubles: impl Iterator<Item = String>) -> String {
    troubles.map(|why| format!("\n(Not everything was looked at: {why}.)")).collect()
}

/// What was asked and not done, for who has no terminal.
pub(crate) fn warnings(said: &[Warning]) -> Vec<String> {
    warnings_where(said, |by| format!("with an association that `updates` {by}"))
}

/// The same where a dialect has words of its own for how to save what holds again in the place of another.
pub(crate) fn warnings_where(said: &[Warning], again: impl Fn(MemoryRef) -> String) -> Vec<String> {
    let one = |warning: &Warning| match warning {
        Warning::Superseded { memory, by } => {
            format!("{memory} was superseded by {by}; if it holds again, save it {}", again(*by))
        }
        Warning::NoLongerValid { memory, at } => {
            format!("{memory} was said to hold until {at}; if it holds again, give it a later valid_until")
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

type Run = Box<dyn Fn(&Desk<'_>, Value) -> Result<Reply, Refusal> + Send + Sync>;

/// A tool of a dialect.
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does and when to use it, for a model.
    pub description: &'static str,
    /// What calling it does to what is stored.
    pub effect: Effect,
    /// The JSON schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON schema of its answer, where that is data.
    pub output: Option<Map<String, Value>>,
    run: Run,
    names: &'static [(&'static str, &'static str)],
    example: Option<&'static str>,
}

/// How far a dialect reaches, whatever the arguments of its tools name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The space of the call.
    Space,
    /// Every space that the caller may see and that is no group; from within a group, that group.
    Hubs,
}

impl Tool {
    /// A tool that answers with text.
    pub(crate) fn text<A: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        title: &'static str,
        effect: Effect,
        description: &'static str,
        run: fn(&Desk<'_>, A) -> Result<String, Refusal>,
    ) -> Self {
        let run = move |desk: &Desk<'_>, arguments| Ok(Reply::text(&run(desk, read(arguments)?)?));
        Self {
            name,
            title,
            description,
            effect,
            input: schema::<A>(Contract::Deserialize),
            output: None,
            run: Box::new(run),
            names: &[],
            example: None,
        }
    }

    /// A tool that answers with data.
    pub(crate) fn data<A: DeserializeOwned + JsonSchema + 'static, O: Serialize + JsonSchema + 'static>(
        name: &'static str,
        title: &'static str,
        effect: Effect,
        description: &'static str,
        run: fn(&Desk<'_>, A) -> Result<O, Refusal>,
    ) -> Self {
        let run =
            move |desk: &Desk<'_>, arguments| Reply::data(&run(desk, read(arguments)?)?).map_err(unwritten);
        let mut output = schema::<O>(Contract::Serialize);
        outgoing::add_to_schema(&mut output);
        let (input, output) = (schema::<A>(Contract::Deserialize), Some(output));
        let run = Box::new(run);
        Self { name, title, description, effect, input, output, run, names: &[], example: None }
    }

    /// The same tool, whose arguments are called so where the engine has other words.
    pub(crate) fn naming(self, names: &'static [(&'static str, &'static str)]) -> Self {
        Self { names, ..self }
    }

    /// The same tool, whose arguments are shown to who gives others. For those whose shape one would not guess.
    pub(crate) fn showing(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// Calls the tool. Arguments are a JSON object; null stands for none.
    pub fn call(&self, desk: &Desk<'_>, arguments: Value) -> Result<Reply, Refusal> {
        (self.run)(desk, unquoted(&self.input, arguments)).map_err(|refusal| {
            let refusal = self.names.iter().fold(refusal, Refusal::renamed);
            match self.example {
                Some(example) => refusal.showing(example),
                None => refusal,
            }
        })
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(crate) fn unwritten(error: serde_json::Error) -> Refusal {
    let message = format!("the answer could not be written: {error}");
    Refusal { code: "internal", message, hint: None, field: None, class: Class::Bug }
}

pub(crate) fn schema<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // Everything in one place: not every client follows references.
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let mut schema = match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    tidy(&mut schema);
    schema.remove("$schema");
    schema.remove("title");
    schema
}

/// Removes what clients stumble over, here and below: defaults that are null, which the type does not allow, and the formats
/// of numbers (`uint64`, `double`), which JSON Schema does not know and validators warn about.
fn tidy(schema: &mut Map<String, Value>) {
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
