//! `/v1/recall`, `/v1/memories/search` and `/v1/context`: find memories.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};
use tulving_core::model::answer::Answer;
use tulving_core::model::request::{BriefingRequest, MemoryFilter, RecallQuery};
use tulving_dialects::argument::{WholeNumber, block_budget};
use tulving_dialects::context::SessionContext;
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::{Dialect, context, finding};

use tulving_dialects::operation::{
    ArgumentReader, CombinedInput, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput,
};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/recall", "recall", "Find memories for a question", recall).reading().saying(
            "Searches by meaning, by words and by associations. For a long document the best section is returned. `evidence` \
             says whether the memories found really are about the question. A question that only names a type (\"what are my \
             open todos?\", \"all decisions from the last two weeks\", \"how many goals are open?\") returns all memories of that \
             type (`listed`). A call with filters and no question returns all memories that match.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/search", "searchMemories", "Find memories for a question", search)
            .saying("The same as `POST /v1/recall`, with the arguments in the query string."),
        Operation::new(OperationMethod::Get, "/v1/context", "getContext", "Get the context for the start of a session", block)
            .saying("Returns a block for the system prompt, fenced as data, within a token budget."),
    ]
}

/// The same arguments as a query string, in which `q` is the question.
struct SearchInput(CombinedInput<RecallQuery, MemoryFilter>);

impl OperationInput for SearchInput {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut schema = CombinedInput::<RecallQuery, MemoryFilter>::schema_from(generator);
        if let Some(Value::Object(own)) = schema.get_mut("properties")
            && let Some(query) = own.remove("query")
        {
            own.insert("q".to_owned(), query);
        }
        schema
    }

    fn reader() -> ArgumentReader<Self> {
        let read = CombinedInput::reader();
        Box::new(move |mut said| {
            if let Some(query) = said.remove("q") {
                said.insert("query".to_owned(), query);
            }
            let renamed = |refusal: ToolError| match refusal.field.as_deref() {
                Some("query") => ToolError {
                    message: refusal.message.replace("`query`", "`q`"),
                    field: Some("q".to_owned()),
                    ..refusal
                },
                _ => refusal,
            };
            read(said).map(Self).map_err(renamed)
        })
    }
}

fn search(
    context: &ToolContext<'_>,
    SearchInput(asked): SearchInput,
) -> Result<OperationOutput<Answer>, ToolError> {
    found(context, asked, "q")
}

fn recall(
    context: &ToolContext<'_>,
    asked: CombinedInput<RecallQuery, MemoryFilter>,
) -> Result<OperationOutput<Answer>, ToolError> {
    found(context, asked, "query")
}

/// Finds memories for the question in the field of this name, or all that match the filter.
fn found(
    context: &ToolContext<'_>,
    CombinedInput(query, filter): CombinedInput<RecallQuery, MemoryFilter>,
    field: &str,
) -> Result<OperationOutput<Answer>, ToolError> {
    Ok(finding::recall(context, query, filter, field)?.into())
}

#[derive(Deserialize, JsonSchema)]
struct ContextArguments {
    /// The topic of the session, if known.
    about: Option<String>,
    /// Maximum number of tokens, 50 to 100000 (default 2000).
    #[schemars(range(min = 50, max = 100_000))]
    token_budget: Option<WholeNumber>,
    /// The dialect that determines its form (default: native).
    dialect: Option<Dialect>,
    /// True to also return the memories of a native block, section by section (default false).
    #[serde(default)]
    sections: bool,
}

fn block(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ContextArguments>,
) -> Result<OperationOutput<SessionContext>, ToolError> {
    let dialect = asked.dialect.unwrap_or_default();
    let request = BriefingRequest { about: asked.about, token_budget: block_budget(asked.token_budget)? };
    let context = ToolContext::open(context.engine, &context.caller, dialect)?;
    match (asked.sections, dialect) {
        (false, _) => Ok(context::as_block(&context, dialect, &request)?.into()),
        (true, Dialect::Native) => Ok(context::in_sections(&context, &request)?.into()),
        (true, _) => {
            let message = format!("the block of {dialect} has no sections");
            Err(ToolError::invalid("conflicting_arguments", "sections", message))
        }
    }
}
