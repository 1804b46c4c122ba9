//! What an operation is: where it is called, what it takes and gives, and the one way to call it.

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::Engine;
use tulving_core::id::Version;
use tulving_core::preview;
use tulving_core::request::Caller;

use crate::outgoing;
use crate::reading::deserialize;
use crate::tool::{self, Desk, Refusal};

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes or does.
    Post,
    /// Changes a part.
    Patch,
    /// Sets.
    Put,
    /// Removes.
    Delete,
}

impl Method {
    /// Whether arguments that are no part of the address stand in a body, and not in the query.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Patch | Self::Put)
    }

    /// The name, in small letters.
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

type Run = Box<dyn Fn(&Desk<'_>, Map<String, Value>, Audience) -> Result<Answer, Refusal> + Send + Sync>;

/// Who reads the data of an operation, which decides how its texts go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Programs: every character as it is stored. Memories carry their own mark.
    Programs,
    /// Programs that pass on what they read: every character as it is stored, and a mark of what tries to command.
    Relays,
    /// Models: stripped of hidden characters, and marked.
    Models,
}

/// One operation of the service.
pub struct Operation {
    /// By which method.
    pub method: Method,
    /// At which address; `{name}` stands for an argument, and `{*name}` for one that may have `/` in it.
    pub path: &'static str,
    /// Where it is found too.
    pub also: Option<&'static str>,
    /// Its name for programs.
    pub name: &'static str,
    /// The group that it is told in.
    pub group: &'static str,
    /// What it does, in a few words.
    pub title: &'static str,
    /// What else there is to know; may be empty.
    pub description: &'static str,
    /// The JSON schema of its arguments, those of the address among them.
    pub input: Map<String, Value>,
    /// The JSON schema of its data.
    pub output: Map<String, Value>,
    /// Whether it may answer that something new is there.
    pub creates: bool,
    /// Whether its data stands by itself, and not in an envelope.
    pub is_bare: bool,
    /// Whether it changes anything.
    pub writes: bool,
    /// Whether its answer may not be kept anywhere.
    pub is_secret: bool,
    /// The argument that `If-Match` is, where it is done only on what was seen.
    pub condition: Option<&'static str>,
    /// Who reads its data.
    pub audience: Audience,
    run: Run,
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The data, as JSON.
    pub data: String,
    /// Whether something new is there.
    pub created: bool,
    /// What tells the state that was given from others: the version of a memory, the digest of a file.
    pub tag: Option<String>,
}

/// What an operation made, before it is written.
pub(super) struct Made<O> {
    data: O,
    created: bool,
    tag: Option<String>,
}

impl<O> Made<O> {
    /// The same, and it is new.
    pub(super) fn new_if(self, created: bool) -> Self {
        Self { created, ..self }
    }

    /// The same, a memory of this version.
    pub(super) fn of(self, version: Version) -> Self {
        self.tagged(Some(version.to_string()))
    }

    /// The same, in this state.
    pub(super) fn tagged(self, tag: Option<String>) -> Self {
        Self { tag, ..self }
    }
}

impl<O> From<O> for Made<O> {
    fn from(data: O) -> Self {
        Self { data, created: false, tag: None }
    }
}

/// What arguments are called here where the engine has other words.
const NAMES: [(&str, &str); 7] = [
    ("question", "query"),
    ("question", "q"),
    ("text", "query"),
    ("text", "contains"),
    ("tag", "tags"),
    ("budget", "token_budget"),
    ("memories", "ids"),
];

/// What an operation takes: one object, or two that lie flat beside each other.
pub(super) trait Input: Sized + 'static {
    fn schema() -> Map<String, Value>;

    /// What reads it; made once.
    fn reader() -> Reader<Self>;
}

/// Reads arguments.
pub(super) type Reader<T> = Box<dyn Fn(Map<String, Value>) -> Result<T, Refusal> + Send + Sync>;

/// An object of arguments.
pub(super) struct One<A>(pub(super) A);

/// Two objects of arguments, flat beside each other.
pub(super) struct Two<A, B>(pub(super) A, pub(super) B);

impl<A: DeserializeOwned + JsonSchema + 'static> Input for One<A> {
    fn schema() -> Map<String, Value> {
        tool::schema::<A>(Contract::Deserialize)
    }

    fn reader() -> Reader<Self> {
        Box::new(|said| deserialize(Value::Object(said)).map(Self))
    }
}

impl<A: DeserializeOwned + JsonSchema + 'static, B: DeserializeOwned + JsonSchema + 'static> Input
    for Two<A, B>
{
    fn schema() -> Map<String, Value> {
        let mut first = One::<A>::schema();
        for (name, second) in One::<B>::schema() {
            match (first.get_mut(&name), second) {
                (Some(Value::Object(first)), Value::Object(second)) => first.extend(second),
                (Some(Value::Array(first)), Value::Array(second)) => first.extend(second),
                (Some(_), _) => {}
                (None, second) => drop(first.insert(name, second)),
            }
        }
        first
    }

    fn reader() -> Reader<Self> {
        let own = names_of(&One::<A>::schema());
        Box::new(move |said| {
            let (first, second) = said.into_iter().partition(|(name, _)| own.contains(name));
            Ok(Self(deserialize(Value::Object(first))?, deserialize(Value::Object(second))?))
        })
    }
}

impl Operation {
    pub(super) fn new<I: Input, O: Serialize + JsonSchema + 'static>(
        method: Method,
        path: &'static str,
        name: &'static str,
        title: &'static str,
        run: fn(&Desk<'_>, I) -> Result<Made<O>, Refusal>,
    ) -> Self {
        let mut input = I::schema();
        input.remove("description");
        input.insert("additionalProperties".to_owned(), Value::Bool(false));
        let known = names_of(&input);
        let read = I::reader();
        let run = move |desk: &Desk<'_>, said: Map<String, Value>, audience: Audience| {
            refuse_unknown(&known, &said)?;
            let Made { data, created, tag } = run(desk, read(said)?)?;
            let data = match audience {
                Audience::Programs => serde_json::to_string(&data),
                Audience::Relays => outgoing::marked(&data),
                Audience::Models => outgoing::for_models(&data),
            };
            Ok(Answer { data: data.map_err(tool::unwritten)?, created, tag })
        };
        let output = tool::schema::<O>(Contract::Serialize);
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
            writes: method != Method::Get,
            is_secret: false,
            condition: None,
            audience: Audience::Programs,
            run: Box::new(run),
        }
    }

    /// The same, told in this group.
    pub(super) fn within(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// The same, with more to know.
    pub(super) fn saying(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// The same, which may answer that something new is there.
    pub(super) fn creating(self) -> Self {
        Self { creates: true, ..self }
    }

    /// The same, without an envelope.
    pub(super) fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// The same, which changes nothing although its arguments stand in a body.
    pub(super) fn reading(self) -> Self {
        Self { writes: false, ..self }
    }

    /// The same, whose answer may not be kept.
    pub(super) fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// The same, done only on what was seen where `If-Match` says so; it is this argument.
    pub(super) fn matching(self, argument: &'static str) -> Self {
        Self { condition: Some(argument), ..self }
    }

    /// The same, whose data is passed on to models or goes to them, and is marked where it tries to command.
    pub(super) fn read_by(mut self, audience: Audience) -> Self {
        if audience != Audience::Programs {
            outgoing::add_to_schema(&mut self.output);
        }
        Self { audience, ..self }
    }

    /// The same, also at another address.
    pub(super) fn also_at(self, path: &'static str) -> Self {
        Self { also: Some(path), ..self }
    }

    /// The arguments that stand in the address.
    pub fn in_path(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
        self.path.split('/').filter_map(name).map(|name| name.trim_start_matches('*'))
    }

    /// Whether it takes a file, which may be sent as it is.
    pub fn takes_file(&self) -> bool {
        self.argument("file").is_some() && self.in_path().all(|name| name != "file")
    }

    /// The schema of an argument.
    pub fn argument(&self, name: &str) -> Option<&Map<String, Value>> {
        properties(&self.input)?.get(name)?.as_object()
    }

    /// Calls it, for this caller, with the arguments of the address, the query and the body together. So many items may be
    /// asked for at the most.
    pub fn call(
        &self,
        engine: &Engine,
        caller: &Caller,
        page: u64,
        said: Map<String, Value>,
    ) -> Result<Answer, Refusal> {
        let done = (self.run)(&Desk::unconfined(engine, caller, page), said, self.audience);
        done.map_err(|refusal| {
            NAMES.iter().filter(|(_, ours)| self.has(ours)).fold(refusal, Refusal::renamed)
        })
    }

    /// Whether an argument is called so, or a part of one that is an object.
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

fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// The names of the arguments that a schema has.
pub(super) fn names_of(schema: &Map<String, Value>) -> Vec<String> {
    properties(schema).into_iter().flat_map(Map::keys).cloned().collect()
}

/// Refuses what is not among the known arguments.
pub(super) fn refuse_unknown(known: &[String], said: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(unknown) = said.keys().find(|name| !known.contains(*name)) else { return Ok(()) };
    let message = format!("there is no argument `{}`", preview::short(unknown));
    let hint =
        if known.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", known.join(", ")) };
    Err(Refusal::invalid("unknown_argument", unknown, message).hinting(hint))
}
