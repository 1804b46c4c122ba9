//! `POST /v1/memories`: one memory, or many as one act.

use data_encoding::BASE64_MIME;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::Document;
use tulving_core::model::answer::{Fate, Near, NearPairs, PossibleUpdate, Receipt};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::{AssociationRequest, SaveRequest};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    Author, Boundary, ContentType, Kind, MemoryType, Origin, Relation, Stability, Trust,
};

use super::operation::{
    ArgumentReader, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput,
};
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::{MemoryRefArgument, WholeNumber, named};
use tulving_dialects::memax;
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::words::{self, WordList};

pub(super) fn operations() -> Vec<Operation> {
    let save =
        Operation::new(OperationMethod::Post, "/v1/memories", "saveMemory", "Save one memory or many", save);
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
#[schemars(rename = "NewMemory")]
struct SaveMemoryArguments {
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
    /// The way by which it comes in (default: api).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Origin>")]
    source: Option<Origin>,
    /// The agent that saves it (default: that of the header `X-Tulving-Agent`).
    source_agent: Option<String>,
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
    ttl: Option<WholeNumber>,
    /// Whether it is pinned.
    #[serde(default)]
    pinned: bool,
    /// Links to memories that are there.
    #[serde(default)]
    associations: Vec<NewAssociation>,
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
#[schemars(rename = "NewAssociation")]
pub(super) struct NewAssociation {
    /// The memory that it leads to: an id, or a number in the space such as #12.
    #[schemars(schema_with = "words::memory")]
    pub(super) target: MemoryRefArgument,
    /// How (default: related_to).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Relation>")]
    pub(super) relation: Option<Relation>,
    /// How strongly, 0 to 1 (default: 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(super) weight: Option<f64>,
}

impl NewAssociation {
    pub(super) fn request(self) -> Result<AssociationRequest, ToolError> {
        Ok(AssociationRequest {
            target: named("target", &self.target.0)?,
            relation: self.relation,
            weight: self.weight,
        })
    }
}

impl SaveMemoryArguments {
    fn request(self, now: Timestamp) -> Result<SaveRequest, ToolError> {
        let expires_at = match (self.ttl, self.expires_at) {
            (None, at) => at,
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid(
                    "two_expiries",
                    "ttl",
                    "`ttl` and `expires_at` both say when it expires",
                ));
            }
            (Some(WholeNumber(seconds)), None) => Some(memax::alive_for(seconds, now)?),
        };
        let associations =
            self.associations.into_iter().map(NewAssociation::request).collect::<Result<_, _>>()?;
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
            origin: self.source,
            source_agent: self.source_agent,
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

    /// Returns a request to save a text.
    fn text(mut self, now: Timestamp) -> Result<SaveRequest, ToolError> {
        if self.file.take().is_some() {
            let message = "a file is saved by itself, with nothing in `content` and not among `memories`";
            return Err(ToolError::invalid("two_contents", "file", message));
        }
        if self.content.is_none() {
            return Err(ToolError::invalid("missing_content", "content", "`content` is missing"));
        }
        self.request(now)
    }
}

impl NewFile {
    fn document(self, about: SaveRequest) -> Result<Document, ToolError> {
        let bytes = BASE64_MIME.decode(self.base64.as_bytes()).map_err(|_| {
            ToolError::invalid("invalid_base64", "file", "`file.base64` is not base64")
                .hinting("send the file as multipart/form-data to be spared the encoding".to_owned())
        })?;
        // A path says where the document comes from, and names it.
        let name = about.source_path.clone().or(self.name);
        Ok(Document { name, bytes, about })
    }
}

/// One memory, or many as one act.
enum SaveInput {
    One(Box<SaveMemoryArguments>),
    Many(Vec<SaveMemoryArguments>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveManyArguments {
    /// Several memories, instead of the fields of one.
    #[schemars(length(min = 1, max = 10_000))]
    memories: Vec<SaveMemoryArguments>,
}

impl OperationInput for SaveInput {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let (mut one, many) = (
            SingleInput::<SaveMemoryArguments>::schema_from(generator),
            SingleInput::<SaveManyArguments>::schema_from(generator),
        );
        if let (Some(Value::Object(fields)), Some(Value::Object(list))) =
            (one.get_mut("properties"), many.get("properties"))
        {
            fields.extend(list.clone());
        }
        // Client generators do not understand a choice between three required fields.
        one.remove("required");
        one.insert("minProperties".to_owned(), 1.into());
        let shown = serde_json::json!([{ "content": "Prefers TypeScript over JavaScript" }]);
        one.insert("examples".to_owned(), shown);
        one
    }

    fn reader() -> ArgumentReader<Self> {
        let (one, many) = (SingleInput::reader(), SingleInput::reader());
        Box::new(move |said| {
            if !said.contains_key("memories") {
                return one(said).map(|SingleInput(new)| Self::One(new));
            }
            if let Some(other) = said.keys().find(|name| *name != "memories") {
                let message = format!("`{other}` stands beside `memories`; it belongs into each of them");
                return Err(ToolError::invalid("unknown_argument", other, message));
            }
            many(said).map(|SingleInput(SaveManyArguments { memories })| Self::Many(memories))
        })
    }
}

/// What became of a save. A single one is given whole, of many each is named.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "SaveResult")]
enum SaveReply {
    One(Box<SaveOneReply>),
    Many(SaveManyReply),
}

/// What became of each of many.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SavedMemories")]
struct SaveManyReply {
    /// What became of each, in order.
    memories: Vec<SaveReceiptReply>,
    /// Warnings about several of them: which may update, or nearly repeat, memories that were there before.
    warnings: Vec<String>,
}

/// A memory that was saved, and what became of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SavedMemory")]
struct SaveOneReply {
    #[serde(flatten)]
    memory: MemoryReply,
    #[serde(flatten)]
    fate: SaveOutcomeReply,
}

/// What became of one of many.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SaveReceipt")]
struct SaveReceiptReply {
    /// The memory that now holds the content.
    id: String,
    /// Its number in the space.
    number: Option<u64>,
    /// The version that it has now.
    version: u32,
    #[serde(flatten)]
    fate: SaveOutcomeReply,
}

#[derive(Serialize, JsonSchema)]
struct SaveOutcomeReply {
    /// What became of it.
    #[schemars(schema_with = "words::word::<SaveStatusWords>")]
    status: &'static str,
    /// What changed of a memory that was noted by itself before, such as `author auto → user`.
    changed: Vec<String>,
    /// Memories that say nearly the same; it was linked to them.
    similar: Vec<SimilarMemoryReply>,
    /// Memories that state the same thing with another value, the newest first: it may update them.
    possible_updates: Vec<PossibleUpdateReply>,
    /// What was asked and not done, what it has taken back, and which memory it may update.
    warnings: Vec<String>,
}

/// The possible outcomes of a save.
struct SaveStatusWords;

impl WordList for SaveStatusWords {
    const NAME: &'static str = "SaveStatus";
    const WORDS: &'static [&'static str] = &["created", "updated", "unchanged", "duplicate"];
}

/// A memory that says nearly the same.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SimilarMemory")]
struct SimilarMemoryReply {
    /// Which.
    id: String,
    /// How alike they are, 0 to 1.
    similarity: f64,
}

#[derive(Serialize, JsonSchema)]
struct PossibleUpdateReply {
    /// Which.
    id: String,
    /// Its number in the space.
    number: Option<u64>,
    /// How it begins.
    preview: String,
    /// The value that it states.
    old: String,
    /// The value that the new one states.
    new: String,
}

impl PossibleUpdateReply {
    fn of(update: &PossibleUpdate) -> Self {
        let PossibleUpdate { id, number, preview, old, new } = update.clone();
        Self { id: memax::id(id), number: number.map(|number| number.0), preview, old, new }
    }
}

/// The advice for a new memory that replaces a similar one.
const REPLACES: &str =
    "if one replaces the other, link the newer to the older with an association that `updates` it";

fn fared(receipt: &Receipt) -> SaveOutcomeReply {
    let similar =
        |near: &Near| SimilarMemoryReply { id: memax::id(near.id), similarity: near.similarity.get() };
    SaveOutcomeReply {
        status: memax::status(receipt.fate),
        changed: receipt.changed.iter().map(ToString::to_string).collect(),
        similar: receipt.near.iter().map(similar).collect(),
        possible_updates: receipt.possible_updates.iter().map(PossibleUpdateReply::of).collect(),
        warnings: tool::warnings(&receipt.warnings),
    }
}

/// Lists the memories that resemble others, in one sentence.
fn resembling(receipts: &[Receipt]) -> Option<String> {
    NearPairs::of(receipts).map(|pairs| format!("{pairs}; {REPLACES}"))
}

fn save(desk: &ToolContext<'_>, said: SaveInput) -> Result<OperationOutput<SaveReply>, ToolError> {
    let now = desk.engine.now();
    match said {
        SaveInput::One(mut new) => {
            let receipt = match new.file.take_if(|_| new.content.is_none()) {
                Some(file) => desk.engine.push(&desk.caller, file.document(new.request(now)?)?)?,
                None => desk.engine.push_text(&desk.caller, new.text(now)?)?,
            };
            let memory = desk.engine.get(&desk.caller, MemoryRef::Id(receipt.id))?;
            let mut fate = fared(&receipt);
            fate.warnings.extend(resembling(std::slice::from_ref(&receipt)));
            let saved = SaveOneReply { memory: shown(&memory, now), fate };
            Ok(OperationOutput::from(SaveReply::One(Box::new(saved)))
                .new_if(receipt.fate == Fate::Created)
                .of(receipt.version))
        }
        SaveInput::Many(memories) => {
            let requests = memories.into_iter().map(|new| new.text(now)).collect::<Result<_, _>>()?;
            let receipts = desk.engine.push_texts(&desk.caller, requests)?;
            let outcome = |receipt: &Receipt| SaveReceiptReply {
                id: memax::id(receipt.id),
                number: receipt.number.map(|number| number.0),
                version: receipt.version.0,
                fate: fared(receipt),
            };
            let created = receipts.iter().any(|receipt| receipt.fate == Fate::Created);
            let memories = receipts.iter().map(outcome).collect();
            let warnings = resembling(&receipts).into_iter().collect();
            Ok(OperationOutput::from(SaveReply::Many(SaveManyReply { memories, warnings })).new_if(created))
        }
    }
}
