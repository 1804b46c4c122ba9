//! The Model Context Protocol: the tools of a dialect, memories and files as resources, and the start of a session.
//!
//! The dialect, the space and the principal are fixed when an [`McpServer`] starts, and a client's session cannot change
//! them. So every request is independent. Work runs on the blocking pool, and is completed even if the client disconnects.

mod address;
mod lines;
pub(crate) mod message;
mod method;
pub(crate) mod name;
mod offer;
mod pages;
mod pipe;
mod stdio;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tulving_core::Engine;
use tulving_core::model::error::Class;
use tulving_core::model::request::{BriefingRequest, Caller};
use tulving_dialects::outgoing::{self, ToolReply};
use tulving_dialects::tool::{DialectTool, ToolContext, ToolError};
use tulving_dialects::{Dialect, context};
use tulving_text::visible;

use crate::MaintenanceHook;

use address::McpResource;
pub use pipe::StdioLimits;
pub use stdio::{StdioServerError, on_stdio};

/// The supported protocol revisions, newest first. Many clients know only their own revision, and stop if the server answers
/// with another one. Older clients ignore the parts of an answer that they do not know.
pub const REVISIONS: [ProtocolVersion; 5] = [
    ProtocolVersion::V_2026_07_28,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2024_11_05,
];
/// The name of the prompt that returns the context block for the start of a session.
const SESSION_START: &str = "session-start";
/// The maximum time that the start of a session waits for memories. Agent hosts wait about ten seconds for a server to
/// start.
const OPENING_TIME: Duration = Duration::from_secs(3);

/// Serves one principal in one space, in one dialect.
#[derive(Clone)]
pub struct McpServer {
    engine: Arc<Engine>,
    upkeep: Arc<dyn MaintenanceHook>,
    caller: Caller,
    dialect: Dialect,
    naming: AgentNaming,
}

/// The source of the agent's name if the caller has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentNaming {
    /// The client, at the start of the session or with each request.
    Client,
    /// No further source: the name was already read from the request.
    Nobody,
}

impl McpServer {
    /// Creates a server for this caller.
    pub fn new(
        engine: Arc<Engine>,
        upkeep: Arc<dyn MaintenanceHook>,
        caller: Caller,
        dialect: Dialect,
        naming: AgentNaming,
    ) -> Self {
        Self { engine, upkeep, caller, dialect, naming }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let mut caller = self.caller.clone();
        if caller.agent.is_none() && self.naming == AgentNaming::Client {
            caller.agent = context.client_info().and_then(|client| name::tidy(&client.name));
        }
        // If the client's name looks like a secret, the client is served without a name.
        caller.agent = caller.agent.filter(|name| self.engine.may_be_called(name));
        caller
    }

    /// Runs work with a [`ToolContext`] on the blocking pool.
    async fn at_desk<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&ToolContext<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<Result<T, ToolError>, ErrorData> {
        let (engine, caller, upkeep) =
            (Arc::clone(&self.engine), self.caller(context), Arc::clone(&self.upkeep));
        let dialect = self.dialect;
        let done = tokio::task::spawn_blocking(move || {
            let done = ToolContext::open(&engine, &caller, dialect).and_then(|context| work(&context));
            upkeep.tend();
            done
        });
        done.await.map_err(|_| {
            ErrorData::internal_error("internal error in Tulving; the request was not carried out", None)
        })
    }

    /// Returns the instructions of the dialect, and the memories for the start of a session. If the memories cannot be read
    /// in time, the session starts without them.
    async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        let (dialect, guidance) = (self.dialect, offer::instructions(self.dialect));
        let read = self.at_desk(context, move |context| context::opening(context, dialect));
        let opening = match tokio::time::timeout(OPENING_TIME, read).await {
            Ok(Ok(Ok(opening))) => opening,
            Ok(Ok(Err(refusal))) => {
                tracing::warn!("a session begins without its memories: {refusal}");
                None
            }
            Ok(Err(_)) => None,
            Err(_) => {
                tracing::warn!("a session begins without its memories: reading them takes too long");
                None
            }
        };
        opening.map_or_else(|| guidance.to_owned(), |opening| format!("{guidance}\n\n{opening}"))
    }

    async fn context(
        &self,
        context: &RequestContext<RoleServer>,
        about: Option<String>,
    ) -> Result<String, ErrorData> {
        let dialect = self.dialect;
        let request = BriefingRequest { about, ..BriefingRequest::default() };
        self.at_desk(context, move |context| context::block(context, dialect, &request))
            .await?
            .map_err(|refusal| wrong(&refusal))
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let mut info = ServerConfig::default();
        info.capabilities = capabilities;
        info.server_info = Implementation::new("tulving", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(offer::instructions(self.dialect).to_owned());
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut begun = self.negotiate_initialize(&request)?;
        begun.instructions = Some(self.instructions(&context).await);
        Ok(begun)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.instructions = Some(self.instructions(&context).await);
        Ok(DiscoverResult::from_server_info(REVISIONS.to_vec(), info))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.dialect.tools().iter().map(offer::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.dialect.tool(name).map(offer::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.dialect.find(&request.name).map_err(|refusal| wrong(&refusal))?;
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let done = self.at_desk(&context, move |context| DialectTool::call(tool, context, arguments)).await?;
        Ok(match done {
            Ok(reply) => replied(reply).into(),
            Err(refusal) => refused(&refusal).into(),
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after = request.and_then(|request| request.cursor);
        let after = after.as_deref().map(|cursor| pages::after(cursor).ok_or_else(|| pages::refused(cursor)));
        let after = after.transpose()?;
        let files = self
            .at_desk(&context, |context| context.files())
            .await?
            .map_err(|refusal| wrong(&refusal))?
            .files;
        let first = after.is_none().then(|| offer::context_resource(address::CONTEXT));
        let (page, next) = pages::page(files, after.as_deref());
        let files = page.iter().map(|file| offer::file_resource(&address::of_file(&file.name), file));
        let mut listed = ListResourcesResult::with_all_items(first.into_iter().chain(files).collect());
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            offer::memory_template(address::TEMPLATE),
            offer::file_template(address::FILE_TEMPLATE),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = || {
            let said = format!("there is no resource {}", tulving_core::model::preview::short(&request.uri));
            ErrorData::resource_not_found(said, Some(json!({ "uri": request.uri })))
        };
        let failed = |refusal: ToolError| match refusal.class {
            Class::Absent => missing(),
            _ => wrong(&refusal),
        };
        let contents = match address::named(&request.uri).ok_or_else(missing)? {
            McpResource::Context => {
                // The context block already contains its own warnings about commands.
                let block = self.context(&context, None).await?;
                vec![ResourceContents::text(block, &request.uri).with_mime_type("text/markdown")]
            }
            McpResource::Memory(which) => {
                let found =
                    self.at_desk(&context, move |context| context.memory(which)).await?.map_err(failed)?;
                let unwritten = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
                let said = serde_json::to_string_pretty(&found).map_err(unwritten)?;
                let shown = outgoing::pretty(&found).map_err(unwritten)?;
                resource(shown, &said, &request.uri, "application/json")
            }
            McpResource::File(name) => {
                let media_type = offer::media_type(&name);
                let found = self.at_desk(&context, move |context| context.file(&name)).await?;
                let said = found.map_err(failed)?.content;
                resource(visible::for_models(&said).into_owned(), &said, &request.uri, media_type)
            }
        };
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![offer::session_start(SESSION_START)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != SESSION_START {
            let said = format!(
                "there is no prompt {}; the only prompt is {SESSION_START}",
                tulving_core::model::preview::short(&request.name)
            );
            return Err(ErrorData::invalid_params(said, None));
        }
        let about = request.arguments.as_ref().and_then(|arguments| arguments.get("about"));
        let about = about.and_then(Value::as_str).map(str::to_owned);
        let block = self.context(&context, about).await?;
        let text = if block.is_empty() { "There are no current memories.".to_owned() } else { block };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

fn replied(reply: ToolReply) -> CallToolResult {
    let (text, data) = reply.into_parts();
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = data;
    result
}

/// Returns the tool result that a model reads after a refused call.
fn refused(refusal: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(outgoing::text(&refusal.to_string()))])
}

fn wrong(refusal: &ToolError) -> ErrorData {
    let data = Some(json!({ "code": refusal.code, "field": refusal.field }));
    let said = outgoing::text(&refusal.to_string());
    match refusal.class {
        Class::Caller => ErrorData::invalid_params(said, data),
        _ => ErrorData::internal_error(said, data),
    }
}

/// Returns a resource in the form for models. If the content tries to give commands, a second part contains a warning. So
/// the first part stays unchanged in every format.
fn resource(shown: String, said: &str, uri: &str, media_type: &str) -> Vec<ResourceContents> {
    let mut contents = vec![ResourceContents::text(shown, uri).with_mime_type(media_type)];
    if let Some(mark) = outgoing::mark_of(said) {
        contents.push(ResourceContents::text(mark, format!("{uri}#marked")).with_mime_type("text/plain"));
    }
    contents
}
