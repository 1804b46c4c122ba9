//! `POST /v1/memories`: saves one memory, or several memories in one operation.

use data_encoding::BASE64_MIME;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::Document;
use tulving_core::model::answer::{Receipt, SaveOutcome, SavedMemories};
use tulving_core::model::request::SaveRequest;
use tulving_dialects::reading::deserialize;
use tulving_dialects::tool::{ToolContext, ToolError};

use tulving_dialects::operation::{
    ArgumentReader, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput,
};

pub(super) fn operations() -> Vec<Operation> {
    let save =
        Operation::new(OperationMethod::Post, "/v1/memories", "saveMemory", "Save one memory or many", save);
    vec![save.creating().saying(
        "Takes one memory, or `{\"memories\": [...]}` with up to 10,000, which are all saved or none. Content that the \
         space already has is not stored twice. If a memory with the `key` or `source_path` exists, it is updated. \
         Send a file as `multipart/form-data`: a part `file`, and a part for each other argument. If the file is not text, \
         its `state` is `processing` until its text has been extracted. Returns 201 if a memory was created, else 200; \
         `status` says which of them it was.",
    )]
}

/// A file to save. In `multipart/form-data` it is a part named `file` with the raw bytes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewFile {
    /// Its name.
    name: Option<String>,
    /// Its bytes, in base64.
    base64: String,
}

/// A file instead of a content.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileArguments {
    /// A file, instead of the content.
    file: NewFile,
}

impl NewFile {
    fn document(self, about: SaveRequest) -> Result<Document, ToolError> {
        let bytes = BASE64_MIME.decode(self.base64.as_bytes()).map_err(|_| {
            ToolError::invalid("invalid_base64", "file", "`file.base64` is not base64")
                .hinting("encode it as base64, or send the file as multipart/form-data".to_owned())
        })?;
        // The source path identifies the document, so it takes precedence over the file name.
        let name = about.source_path.clone().or(self.name);
        Ok(Document { name, bytes, about })
    }
}

/// One memory, a file, or many memories as one act.
enum SaveInput {
    One(Box<SaveRequest>),
    File(NewFile, Box<SaveRequest>),
    Many(Vec<SaveRequest>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveManyArguments {
    /// Several memories, instead of the fields of one.
    #[schemars(length(min = 1, max = 10_000))]
    memories: Vec<SaveRequest>,
}

impl OperationInput for SaveInput {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut one = SingleInput::<SaveRequest>::schema_from(generator);
        let others = [
            SingleInput::<FileArguments>::schema_from(generator),
            SingleInput::<SaveManyArguments>::schema_from(generator),
        ];
        for other in others {
            if let (Some(Value::Object(fields)), Some(Value::Object(more))) =
                (one.get_mut("properties"), other.get("properties"))
            {
                fields.extend(more.clone());
            }
        }
        // Client generators do not understand a choice between three required fields.
        one.remove("required");
        one.insert("minProperties".to_owned(), 1.into());
        let shown = serde_json::json!([{ "content": "Prefers TypeScript over JavaScript" }]);
        one.insert("examples".to_owned(), shown);
        one
    }

    fn reader() -> ArgumentReader<Self> {
        Box::new(move |mut said| {
            if said.contains_key("memories") {
                if let Some(other) = said.keys().find(|name| *name != "memories") {
                    let message =
                        format!("`{other}` and `memories` cannot be combined; set it in each memory");
                    return Err(ToolError::invalid("unknown_argument", other, message));
                }
                let SaveManyArguments { memories } = deserialize(without_nulls(Value::Object(said)))?;
                return Ok(Self::Many(memories));
            }
            let file = said.remove("file").filter(|file| !file.is_null());
            let request: SaveRequest = deserialize(without_nulls(Value::Object(said)))?;
            match file {
                None => Ok(Self::One(Box::new(with_content(request)?))),
                Some(_) if !request.content.is_empty() => {
                    let message = "`file` cannot be combined with `content` or `memories`";
                    Err(ToolError::invalid("two_contents", "file", message))
                }
                Some(file) => {
                    let FileArguments { file } = deserialize(serde_json::json!({ "file": file }))?;
                    Ok(Self::File(file, Box::new(request)))
                }
            }
        })
    }
}

/// Removes members that are null, because null means that the argument is missing.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let given = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        value => value,
    }
}

/// Refuses a request without a content.
fn with_content(request: SaveRequest) -> Result<SaveRequest, ToolError> {
    if request.content.is_empty() {
        return Err(ToolError::invalid("missing_content", "content", "`content` is missing"));
    }
    Ok(request)
}

/// The receipt of a save. Of many memories, one receipt each.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "SaveResult")]
enum SaveReply {
    One(Box<Receipt>),
    Many(SavedMemories),
}

fn save(context: &ToolContext<'_>, said: SaveInput) -> Result<OperationOutput<SaveReply>, ToolError> {
    let receipt = match said {
        SaveInput::One(request) => context.engine.save(&context.caller, *request)?,
        SaveInput::File(file, about) => context.engine.push(&context.caller, file.document(*about)?)?,
        SaveInput::Many(requests) => {
            let memories = context.engine.save_many(&context.caller, requests)?;
            let created = memories.iter().any(|receipt| receipt.outcome == SaveOutcome::Created);
            return Ok(OperationOutput::from(SaveReply::Many(SavedMemories::of(memories))).new_if(created));
        }
    };
    let (created, version) = (receipt.outcome == SaveOutcome::Created, receipt.memory.version);
    Ok(OperationOutput::from(SaveReply::One(Box::new(receipt))).new_if(created).of(version))
}
