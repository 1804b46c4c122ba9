//! `POST /v1/memories`: one memory, or many as one act.

use data_encoding::BASE64_MIME;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::Document;
use tulving_core::answer::{Fate, Near, Receipt};
use tulving_core::id::MemoryRef;
use tulving_core::request::{AssociationRequest, SaveRequest};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Author, Boundary, ContentType, Kind, MemoryType, Relation, Stability, Trust};

use super::operation::{Input, Made, Method, One, Operation, Reader};
use super::shown::{Shown, shown};
use crate::argument::{Name, Whole, named};
use crate::memax;
use crate::tool::{self, Desk, Refusal};
use crate::words::{self, Words};

pub(super) fn operations() -> Vec<Operation> {
    let save = Operation::new(Method::Post, "/v1/memories", "saveMemory", "Save one memory or many", save);
    vec![save.creating().saying(
        "One memory, or `{\"memories\": [...]}` with up to 10,000, which are saved as one act or not at all. What the \
         space knows already is not stored twice. With a `key` or a `source_path` that exists, that memory is updated. \
         A file is sent as \
         `multipart/form-data` with a part `file` and the other arguments as parts beside it; where it is not text, its `state` \
         is processing until its text was read. 201 where something new is there, else 200; `status` says what became of it.",
    )]
}

/// One memory to save.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    /// What to remember.
    #[schemars(length(min = 1))]
    content: Option<String>,
    /// A file, instead of the content.
    file: Option<NewFile>,
    /// Its form (default: told by the path and the content).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<ContentType>")]
    content_type: Option<ContentType>,
    /// The language of code, such as rust.
    language: Option<String>,
    /// Saving under a key that exists updates that memory.
    key: Option<String>,
    /// A name for it.
    title: Option<String>,
    /// It, in short.
    summary: Option<String>,
    /// Labels.
    tags: Option<Vec<String>>,
    /// What it says (default: fact).
    #[serde(default, rename = "type")]
    #[schemars(schema_with = "words::maybe::<MemoryType>")]
    memory_type: Option<MemoryType>,
    /// What it is for; from the type where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Kind>")]
    kind: Option<Kind>,
    /// How soon it goes stale; from the type where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Stability>")]
    stability: Option<Stability>,
    /// How much it matters, 0 to 1; from the type where not given.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// Who may see it; from the space where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Boundary>")]
    boundary: Option<Boundary>,
    /// Whether somebody asked for it (default: user).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Author>")]
    author: Option<Author>,
    /// Where it came from, in your words.
    source_note: Option<String>,
    /// The agent that helped, where a person wrote it.
    assisted_by_agent: Option<String>,
    /// How far its source is trusted (default: own).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Trust>")]
    trust: Option<Trust>,
    /// The file it comes from. Saving a path that exists updates that memory.
    source_path: Option<String>,
    /// The channel it came from.
    conversation: Option<String>,
    /// Its order there.
    position: Option<i64>,
    /// Who said it.
    speaker: Option<String>,
    /// When it happened.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    occurred_at: Option<Timestamp>,
    /// From when on it holds.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    valid_from: Option<Timestamp>,
    /// Until when it holds.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    valid_until: Option<Timestamp>,
    /// From when on recall no longer finds it.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    expires_at: Option<Timestamp>,
    /// Seconds until recall no longer finds it; instead of `expires_at`.
    #[schemars(with = "Option<u64>")]
    ttl: Option<Whole>,
    /// Whether it is pinned.
    #[serde(default)]
    pinned: bool,
    /// Links to memories that are there.
    #[serde(default)]
    associations: Vec<NewLink>,
}

/// A file to save. As `multipart/form-data` it is a part named `file`, as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewFile {
    /// What it is called.
    name: Option<String>,
    /// Its bytes, in base64.
    base64: String,
}

/// A link to make.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLink {
    /// The memory that it leads to: an id, or a number in the space such as #12.
    #[schemars(schema_with = "words::memory")]
    pub(super) target: Name,
    /// How (default: related_to).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Relation>")]
    pub(super) relation: Option<Relation>,
    /// How strongly, 0 to 1 (default: 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) weight: Option<f64>,
}

impl NewLink {
    pub(super) fn request(self) -> Result<AssociationRequest, Refusal> {
        Ok(AssociationRequest {
            target: named("target", &self.target.0)?,
            relation: self.relation,
            weight: self.weight,
        })
    }
}

impl New {
    fn request(self, now: Timestamp) -> Result<SaveRequest, Refusal> {
        let expires_at = match (self.ttl, self.expires_at) {
            (None, at) => at,
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid(
                    "two_expiries",
                    "ttl",
                    "`ttl` and `expires_at` both say when it expires",
                ));
            }
            (Some(Whole(seconds)), None) => Some(memax::alive_for(seconds, now)?),
        };
        let associations = self.associations.into_iter().map(NewLink::request).collect::<Result<_, _>>()?;
        Ok(SaveRequest {
            content_type: self.content_type,
            language: self.language,
            key: self.key,
            title: self.title,
            summary: self.summary,
            tags: self.tags,
            memory_type: self.memory_type,
            kind: self.kind,
            stability: self.stability,
            importance: self.importance,
            boundary: self.boundary,
            author: self.author,
            source_note: self.source_note,
            assisted_by_agent: self.assisted_by_agent,
            trust: self.trust,
            source_path: self.source_path,
            conversation: self.conversation,
            position: self.position,
            speaker: self.speaker,
            occurred_at: self.occurred_at,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            expires_at,
            pinned: self.pinned,
            associations,
            ..SaveRequest::new(self.content.unwrap_or_default())
        })
    }

    /// A text to save.
    fn text(mut self, now: Timestamp) -> Result<SaveRequest, Refusal> {
        if self.file.take().is_some() {
            let message = "a file is saved by itself, with nothing in `content` and not among `memories`";
            return Err(Refusal::invalid("two_contents", "file", message));
        }
        if self.content.is_none() {
            return Err(Refusal::invalid("missing_content", "content", "`content` is missing"));
        }
        self.request(now)
    }
}

impl NewFile {
    fn document(self, about: SaveRequest) -> Result<Document, Refusal> {
        let bytes = BASE64_MIME.decode(self.base64.as_bytes()).map_err(|_| {
            Refusal::invalid("invalid_base64", "file", "`file.base64` is not base64")
                .hinting("send the file as multipart/form-data to be spared the encoding".to_owned())
        })?;
        // A path says where it comes from, and then it is known by that.
        let name = about.source_path.clone().or(self.name);
        Ok(Document { name, bytes, about })
    }
}

/// One memory, or many as one act.
enum Save {
    One(Box<New>),
    Many(Vec<New>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Many {
    /// Several memories, instead of the fields of one.
    #[schemars(length(min = 1, max = 10_000))]
    memories: Vec<New>,
}

impl Input for Save {
    fn schema() -> Map<String, Value> {
        let (mut one, many) = (One::<New>::schema(), One::<Many>::schema());
        if let (Some(Value::Object(fields)), Some(Value::Object(list))) =
            (one.get_mut("properties"), many.get("properties"))
        {
            fields.extend(list.clone());
        }
        // Programs that generate clients do not understand a choice between three required fields.
        one.remove("required");
        one.insert("minProperties".to_owned(), 1.into());
        let shown = serde_json::json!([{ "content": "Prefers TypeScript over JavaScript" }]);
        one.insert("examples".to_owned(), shown);
        one
    }

    fn reader() -> Reader<Self> {
        let (one, many) = (One::reader(), One::reader());
        Box::new(move |said| {
            if !said.contains_key("memories") {
                return one(said).map(|One(new)| Self::One(new));
            }
            if let Some(other) = said.keys().find(|name| *name != "memories") {
                let message = format!("`{other}` stands beside `memories`; it belongs into each of them");
                return Err(Refusal::invalid("unknown_argument", other, message));
            }
            many(said).map(|One(Many { memories })| Self::Many(memories))
        })
    }
}

/// What became of a save. A single one is given whole, of many each is named.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Saved {
    One(Box<SavedOne>),
    Many {
        /// What became of each, in order.
        memories: Vec<Outcome>,
    },
}

#[derive(Serialize, JsonSchema)]
struct SavedOne {
    #[serde(flatten)]
    memory: Shown,
    #[serde(flatten)]
    fate: Fared,
}

#[derive(Serialize, JsonSchema)]
struct Outcome {
    /// The memory that now holds the content.
    id: String,
    /// Its number in the space.
    number: Option<u64>,
    /// The version that it has now.
    version: u32,
    #[serde(flatten)]
    fate: Fared,
}

#[derive(Serialize, JsonSchema)]
struct Fared {
    /// What became of it.
    #[schemars(schema_with = "words::word::<Became>")]
    status: &'static str,
    /// What changed of a memory that was noted by itself before, such as `author auto → user`.
    changed: Vec<String>,
    /// Memories that say nearly the same; it was linked to them.
    similar: Vec<Similar>,
    /// What was asked and not done, and what it has taken back.
    warnings: Vec<String>,
}

/// What can become of a save.
struct Became;

impl Words for Became {
    const WORDS: &'static [&'static str] = &["created", "updated", "unchanged", "duplicate"];
}

#[derive(Serialize, JsonSchema)]
struct Similar {
    /// Which.
    id: String,
    /// How alike they are, 0 to 1.
    similarity: f64,
}

fn fared(receipt: &Receipt) -> Fared {
    let similar = |near: &Near| Similar { id: memax::id(near.id), similarity: near.similarity.get() };
    Fared {
        status: memax::status(receipt.fate),
        changed: receipt.changed.iter().map(ToString::to_string).collect(),
        similar: receipt.near.iter().map(similar).collect(),
        warnings: tool::warnings(&receipt.warnings),
    }
}

fn save(desk: &Desk<'_>, said: Save) -> Result<Made<Saved>, Refusal> {
    let now = desk.engine.now();
    match said {
        Save::One(mut new) => {
            let receipt = match new.file.take_if(|_| new.content.is_none()) {
                Some(file) => desk.engine.push(&desk.caller, file.document(new.request(now)?)?)?,
                None => desk.engine.push_text(&desk.caller, new.text(now)?)?,
            };
            let memory = desk.engine.get(&desk.caller, MemoryRef::Id(receipt.id))?;
            let saved = SavedOne { memory: shown(&memory, now), fate: fared(&receipt) };
            Ok(Made::from(Saved::One(Box::new(saved)))
                .new_if(receipt.fate == Fate::Created)
                .of(receipt.version))
        }
        Save::Many(memories) => {
            let requests = memories.into_iter().map(|new| new.text(now)).collect::<Result<_, _>>()?;
            let receipts = desk.engine.push_texts(&desk.caller, requests)?;
            let outcome = |receipt: &Receipt| Outcome {
                id: memax::id(receipt.id),
                number: receipt.number.map(|number| number.0),
                version: receipt.version.0,
                fate: fared(receipt),
            };
            let created = receipts.iter().any(|receipt| receipt.fate == Fate::Created);
            Ok(Made::from(Saved::Many { memories: receipts.iter().map(outcome).collect() }).new_if(created))
        }
    }
}
