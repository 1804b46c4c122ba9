//! The parts of the service that are not operations on data: streams, files, other protocols, and the server itself.

use crate::api::shared;
use serde_json::{Value, json};

use super::super::{attachment, transfer};
use super::refused;

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
/// The schema names of bodies whose fields are described by a tool list or by the MCP specification.
const ARGUMENTS: &str = "ToolArguments";
const MESSAGE: &str = "JsonRpcMessage";
const MEMORY: &str = "mem_0198c5a2b4e07c1f9d3a5e6f70812345";

/// One endpoint: a path with a method.
pub(super) struct OtherEndpoint {
    pub(super) path: &'static str,
    pub(super) method: &'static str,
    /// Its name for programs.
    name: &'static str,
    group: &'static str,
    title: &'static str,
    /// The media type of the answer, and an example.
    answer: (&'static str, Value),
    /// The media type, schema and example of the body. Without a schema, client generators leave out the operation.
    body: Option<(&'static str, Value, Value)>,
    /// The parameters in the path, each with an example.
    named: &'static [(&'static str, &'static str)],
    /// True if the endpoint needs no token.
    is_open: bool,
}

impl OtherEndpoint {
    fn get(path: &'static str, name: &'static str, group: &'static str, title: &'static str) -> Self {
        let answer = (JSON, json!({ "data": [] }));
        Self { path, method: "get", name, group, title, answer, body: None, named: &[], is_open: false }
    }

    fn post(path: &'static str, name: &'static str, group: &'static str, title: &'static str) -> Self {
        Self { method: "post", ..Self::get(path, name, group, title) }
    }

    fn answering(self, kind: &'static str, example: Value) -> Self {
        Self { answer: (kind, example), ..self }
    }

    fn taking(self, kind: &'static str, schema: Value, example: Value) -> Self {
        Self { body: Some((kind, schema, example)), ..self }
    }

    fn naming(self, named: &'static [(&'static str, &'static str)]) -> Self {
        Self { named, ..self }
    }

    fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Returns the OpenAPI description of the endpoint.
    pub(super) fn described(&self) -> Value {
        let (kind, example) = &self.answer;
        let mut described = json!({
            "operationId": self.name,
            "tags": [self.group],
            "summary": self.title,
            "description": self.title,
            "responses": {
                "200": { "description": "Done.", "content": { *kind: { "example": example } } },
                "default": refused(),
            },
        });
        if let Some((kind, schema, example)) = &self.body {
            let content = json!({ *kind: { "schema": schema, "example": example } });
            described["requestBody"] = json!({ "required": true, "content": content });
        }
        if !self.named.is_empty() {
            let one = |(name, example): &(&str, &str)| {
                let schema = json!({ "type": "string", "minLength": 1 });
                json!({ "name": name, "in": "path", "required": true, "schema": schema, "example": example })
            };
            described["parameters"] = self.named.iter().map(one).collect();
        }
        if self.is_open {
            described["security"] = json!([]);
        }
        described
    }
}

/// Returns the schemas of the endpoints' bodies, by name.
pub(super) fn schemas() -> [(String, Value); 2] {
    let open = |description: &str| json!({ "type": "object", "description": description });
    [
        (ARGUMENTS.to_owned(), open("The arguments of a tool, as its schema describes them.")),
        (MESSAGE.to_owned(), open("A message of the Model Context Protocol.")),
    ]
}

/// Returns all endpoints that are not operations.
pub(super) fn all() -> Vec<OtherEndpoint> {
    let event = format!("id: 9f3c1a20-12\nevent: saved\ndata: {{\"id\":\"{MEMORY}\"}}\n\n");
    let line = json!("{\"record\":\"dump\",\"format\":1,\"written_by\":\"0.1.0\"}\n");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let result = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    vec![
        OtherEndpoint::get(
            "/v1/events/stream",
            "followChanges",
            "Events",
            "Follow every change that you may see, as server-sent events; `Last-Event-ID` continues after an event",
        )
        .answering("text/event-stream", json!(event)),
        OtherEndpoint::get("/v1/dump", "dump", "Transfer", "Export everything as JSON Lines. For admins of the org")
            .answering(LINES, line.clone()),
        OtherEndpoint::post(
            transfer::LOAD,
            "load",
            "Transfer",
            "Load a dump, all of it or nothing; records that exist already are not loaded twice. `?with_roles=true` also imports every membership",
        )
        .taking(LINES, json!({ "type": "string" }), line)
        .answering(JSON, json!({ "data": { "added": 1, "roles": [], "roles_left_out": [] } })),
        OtherEndpoint::get(attachment::AT, "getAttachment", "Memories", "Get the file that a memory describes")
            .naming(&[("id", MEMORY)])
            .answering("*/*", json!("%PDF-1.7 …")),
        OtherEndpoint::get("/v1/dialects", "listDialects", "Dialects", "List the dialects and the names of their tools"),
        OtherEndpoint::get(
            "/v1/dialects/{dialect}/tools",
            "listTools",
            "Dialects",
            "List the tools of a dialect, with their schemas",
        )
        .naming(&[("dialect", "max")]),
        OtherEndpoint::post(
            "/v1/dialects/{dialect}/tools/{tool}",
            "callTool",
            "Dialects",
            "Call a tool with its arguments",
        )
        .naming(&[("dialect", "max"), ("tool", "recall")])
        .taking(JSON, shared(ARGUMENTS), json!({ "keyword": "TypeScript" }))
        .answering(JSON, json!({ "data": { "text": "No memories found." } })),
        OtherEndpoint::post("/mcp", "mcp", "MCP", "The Model Context Protocol, with Tulving's own tools")
            .taking(JSON, shared(MESSAGE), message.clone())
            .answering(JSON, result.clone()),
        OtherEndpoint::post(
            "/mcp/{dialect}",
            "mcpOf",
            "MCP",
            "The Model Context Protocol, with the tools of a dialect",
        )
        .naming(&[("dialect", "max")])
        .taking(JSON, shared(MESSAGE), message)
        .answering(JSON, result),
        OtherEndpoint::get(
            "/metrics",
            "metrics",
            "Server",
            "Get metrics in the text format of Prometheus. For admins of the org",
        )
        .answering("text/plain", json!("tulving_http_requests_in_flight 1\n")),
        OtherEndpoint::get("/healthz", "healthy", "Server", "Check that the server answers")
            .open()
            .answering(JSON, json!({ "data": { "status": "ok" } })),
        OtherEndpoint::get("/openapi.json", "describe", "Server", "This description")
            .open()
            .answering(JSON, json!({ "openapi": "3.1.0" })),
    ]
}
