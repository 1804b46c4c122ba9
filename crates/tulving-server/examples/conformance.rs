//! A server for the conformance suite of the Model Context Protocol, over the same listener, host check, authorisation and
//! transport as memories. `cargo xtask test conformance` runs it; it is in no release.
//!
//! Usage: `conformance HOME`. It takes the tokens of that home, listens on a free port and prints its address.
#![expect(clippy::print_stdout, reason = "it says where it listens")]

use std::borrow::Cow;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tulving_core::model::limits::Limits as Intake;
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_server::http::{HttpApp, Listener, RequestLimits};
use tulving_server::{MaintenanceHook, mcp};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};
use tulving_testkit::embedder::NoEmbedder;

/// A red dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// Tools, named by what the suite looks for in their answers. Those that it expects to log or to ask answer at once, as
/// every tool of ours does.
const TOOLS: [&str; 9] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_logging_tool",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
];
/// A tool that needs a capability that no client of the suite declares.
const DEMANDING: &str = "test_missing_capability";
/// A tool with an argument that is repeated in a header.
const WITH_HEADER: &str = "test_x_mcp_header";
/// A tool whose schema has every keyword that must be preserved.
const WITH_SCHEMA: &str = "json_schema_2020_12_tool";

fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::args().nth(1).ok_or("usage: conformance HOME")?;
    let home = Home::open_or_create(Path::new(&home))?;
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
    let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
    let engine = Engine::new(Ports {
        store,
        embedder: Arc::new(NoEmbedder),
        former: Vec::new(),
        index,
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Intake::default(),
        secret_policies: SecretPolicies::default(),
    });
    let app = HttpApp::with_mcp(Arc::new(engine), Arc::new(Idle), RequestLimits::default(), |_, _| Fixture);
    let listener = Listener::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    println!("http://{}", listener.address());
    listener.serve(app, ());
    Ok(())
}

/// An upkeep that does nothing, because nothing is saved here.
struct Idle;

impl MaintenanceHook for Idle {
    fn tend(&self) {}
}

#[derive(Clone)]
struct Fixture;

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::default();
        info.capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        info.server_info = Implementation::new("conformance", env!("CARGO_PKG_VERSION"));
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&mcp::REVISIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = TOOLS.into_iter().chain([DEMANDING, WITH_HEADER, WITH_SCHEMA]);
        Ok(ListToolsResult::with_all_items(names.filter_map(|name| self.get_tool(name)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema = match name {
            WITH_SCHEMA => every_keyword(),
            WITH_HEADER => json!({
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } }
            }),
            DEMANDING => json!({ "type": "object" }),
            _ if TOOLS.contains(&name) => json!({ "type": "object" }),
            _ => return None,
        };
        let Value::Object(schema) = schema else { return None };
        Some(Tool::new(name.to_owned(), "Asked for by the conformance suite", Arc::new(schema)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if self.get_tool(name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {name}"), None));
        }
        let text = ContentBlock::text("This is a simple text response for testing.");
        let image = ContentBlock::image(PNG, "image/png");
        let content = match name {
            DEMANDING => {
                let data = Some(json!({ "requiredCapabilities": { "sampling": {} } }));
                let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
                return Err(ErrorData::new(code, "it takes a client that samples", data));
            }
            "test_error_handling" => {
                let said = ContentBlock::text("This tool intentionally returns an error for testing");
                return Ok(CallToolResult::error(vec![said]).into());
            }
            "test_image_content" => vec![image],
            "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
            "test_embedded_resource" => vec![embedded("test://embedded-resource")],
            "test_multiple_content_types" => vec![text, image, embedded("test://mixed-content-resource")],
            _ => vec![text],
        };
        Ok(CallToolResult::success(content).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("test://static-text", "text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "binary").with_mime_type("image/png"),
        ]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let templated = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, templated) {
            ("test://static-text", _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
            }
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let text = json!({ "id": id, "templateTest": true }).to_string();
                ResourceContents::text(text, uri).with_mime_type("application/json")
            }
            _ => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found(format!("there is no resource {uri}"), data));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let content = match request.name.as_str() {
            "test_simple_prompt" => ContentBlock::text("This is a simple prompt for testing."),
            "test_prompt_with_arguments" => {
                let (first, second) = (given("arg1"), given("arg2"));
                ContentBlock::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))
            }
            "test_prompt_with_embedded_resource" => embedded(given("resourceUri")),
            "test_prompt_with_image" => ContentBlock::image(PNG, "image/png"),
            name => return Err(ErrorData::invalid_params(format!("there is no prompt {name}"), None)),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new(Role::User, content)]).into())
    }
}

fn embedded(uri: &str) -> ContentBlock {
    ContentBlock::embedded_text(uri, "This is an embedded resource content.")
}

fn prompt(name: &str, arguments: &[&str]) -> Prompt {
    let arguments = arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
    Prompt::new(name, Some("Asked for by the conformance suite"), Some(arguments))
}

fn every_keyword() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}
