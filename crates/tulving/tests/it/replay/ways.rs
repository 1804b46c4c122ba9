//! The four ways to a tool: each opens a home, calls a tool, and returns the answer in one form.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tulving_dialects::Dialect;

use crate::binary::{Tulving, WITHOUT_MODEL, finish};
use crate::serve::client::Server;

/// The name under which every way saves, so that all ways store the same.
const AGENT: &str = "replay";

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Text(String),
    /// The JSON as it was written.
    Data(String),
    /// A refusal: the reason and the necessary change.
    Refused(String),
}

/// A way to the tools of one dialect on one home.
pub(super) trait Way {
    /// The origin of memories that are saved on this way.
    fn origin(&self) -> &'static str;

    /// Calls a tool. Null means a call without arguments.
    fn call(&mut self, tool: &str, arguments: &Value) -> Answer;

    /// The block for the start of a session, from every place where this way has it.
    fn blocks(&mut self) -> Vec<String>;
}

/// Opens a way.
pub(super) type Open = fn(Tulving, Dialect) -> Box<dyn Way>;

/// Every way, by name.
pub(super) const WAYS: [(&str, Open); 4] = [
    ("MCP on standard input and output", |home, dialect| Box::new(Piped::open(home, dialect))),
    ("MCP over HTTP", |home, dialect| Box::new(McpOverHttp(Served::open(home, dialect)))),
    ("POST /v1/dialects", |home, dialect| Box::new(Posted(Served::open(home, dialect)))),
    ("tulving tool", |home, dialect| Box::new(Typed { home, dialect })),
];

fn with_model(command: &mut Command) {
    command.env_remove(WITHOUT_MODEL.0);
}

fn has_data(dialect: Dialect, tool: &str) -> bool {
    dialect == Dialect::Native || dialect.tool(tool).is_some_and(|tool| tool.output.is_some())
}

fn params(tool: &str, arguments: &Value) -> Value {
    let mut params = json!({ "name": tool });
    if !arguments.is_null() {
        params["arguments"] = arguments.clone();
    }
    params
}

/// The answer in a response of the protocol: the text and, if there is data, the same as `structuredContent`, which may have
/// more fields.
fn answered(response: &Value) -> Answer {
    if let Some(error) = response.get("error") {
        assert_eq!(error["code"], -32602, "{response}");
        return Answer::Refused(error["message"].as_str().expect("a sentence").to_owned());
    }
    let result = &response["result"];
    let content = result["content"].as_array().unwrap_or_else(|| panic!("{response}"));
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{response}");
    let text = content[0]["text"].as_str().expect("text").to_owned();
    let refused = result["isError"].as_bool().unwrap_or_default();
    match result.get("structuredContent") {
        Some(data) => {
            assert!(!refused, "{response}");
            let written = serde_json::from_str::<Value>(&text).unwrap_or_default();
            assert!(is_part_of(&written, data), "{response}");
            Answer::Data(text)
        }
        None if refused => Answer::Refused(text),
        None => Answer::Text(text),
    }
}

/// True if everything in a JSON value is in another one, which may have more members in its objects.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|other| is_part_of(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part_of(part, whole))
        }
        _ => part == whole,
    }
}

/// Asks for the block as a client of the protocol does: as resource and as prompt.
fn blocks(mut ask: impl FnMut(&str, &Value) -> Value) -> Vec<String> {
    let read = ask("resources/read", &json!({ "uri": "memory://context" }));
    let got = ask("prompts/get", &json!({ "name": "session-start" }));
    let texts = [&read["result"]["contents"][0]["text"], &got["result"]["messages"][0]["content"]["text"]];
    texts.map(|text| text.as_str().unwrap_or_else(|| panic!("{read} {got}")).to_owned()).to_vec()
}

/// `tulving mcp`, in the revision 2025-11-25: a session of JSON lines.
struct Piped {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    _home: Tulving,
}

impl Piped {
    fn open(home: Tulving, dialect: Dialect) -> Self {
        let mut command = home.command(&["mcp", "--dialect", dialect.as_str(), "--agent", AGENT]);
        with_model(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut piped = Self { child, input, output, asked: 0, _home: home };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "client", "version": "1" },
        });
        assert_eq!(piped.ask("initialize", &hello)["result"]["protocolVersion"], "2025-11-25");
        piped.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        piped
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.tell(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        let response: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(response["id"], self.asked, "{response}");
        response
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Way for Piped {
    fn origin(&self) -> &'static str {
        "mcp"
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        answered(&self.ask("tools/call", &params(tool, arguments)))
    }

    fn blocks(&mut self) -> Vec<String> {
        blocks(|method, params| self.ask(method, params))
    }
}

/// A running `tulving serve`.
struct Served {
    server: Server,
    dialect: Dialect,
    _home: Tulving,
}

impl Served {
    fn open(home: Tulving, dialect: Dialect) -> Self {
        Self { server: Server::start_with(&home, with_model), dialect, _home: home }
    }
}

/// `POST /mcp/{dialect}`, in the revision 2026-07-28: every request is independent.
struct McpOverHttp(Served);

impl McpOverHttp {
    fn ask(&self, method: &str, params: &Value) -> Value {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "client", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        let headers = [
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            ("Mcp-Name", name.expect("every message here is about something")),
            ("X-Tulving-Agent", AGENT),
        ];
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let path = format!("/mcp/{}", self.0.dialect);
        self.0.server.ask("POST", &path, &headers, body.to_string().as_bytes()).json()
    }
}

impl Way for McpOverHttp {
    fn origin(&self) -> &'static str {
        "mcp"
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        answered(&self.ask("tools/call", &params(tool, arguments)))
    }

    fn blocks(&mut self) -> Vec<String> {
        blocks(|method, params| self.ask(method, params))
    }
}

/// `POST /v1/dialects/{dialect}/tools/{tool}`.
struct Posted(Served);

impl Way for Posted {
    fn origin(&self) -> &'static str {
        "api"
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let body = if arguments.is_null() { String::new() } else { arguments.to_string() };
        let path = format!("/v1/dialects/{}/tools/{tool}", self.0.dialect);
        let answer = self.0.server.ask("POST", &path, &[("X-Tulving-Agent", AGENT)], body.as_bytes());
        let (document, written) = (answer.json(), answer.text());
        if answer.status != 200 {
            let code = document["code"].as_str().expect("a code");
            let problem = answer.assert_problem(answer.status, code);
            let said = [&problem["detail"], &problem["hint"]].into_iter().filter_map(Value::as_str);
            return Answer::Refused(said.collect::<Vec<_>>().join("; "));
        }
        if has_data(self.0.dialect, tool) {
            let data = written.strip_prefix("{\"data\":").and_then(|rest| rest.strip_suffix('}'));
            return Answer::Data(data.expect("an envelope").to_owned());
        }
        let text = document["data"]["text"].as_str().expect("text").to_owned();
        assert_eq!(document, json!({ "data": { "text": text } }));
        Answer::Text(text)
    }

    fn blocks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// `tulving tool`, a process for each call.
struct Typed {
    home: Tulving,
    dialect: Dialect,
}

impl Typed {
    fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = self.home.command(&[args, &["--agent", AGENT]].concat());
        with_model(&mut command);
        let run = finish(command, b"");
        if run.code == 0 {
            assert_eq!(run.err, "", "{args:?}");
            return Ok(run.out);
        }
        assert_eq!(run.out, "", "{args:?}");
        Err(run.err)
    }
}

impl Way for Typed {
    fn origin(&self) -> &'static str {
        "cli"
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let given = (!arguments.is_null()).then(|| arguments.to_string());
        let mut args = vec!["tool", self.dialect.as_str(), tool];
        args.extend(given.as_deref());
        match self.run(&args) {
            Ok(out) => {
                let said = out.strip_suffix('\n').expect("a line end").to_owned();
                if has_data(self.dialect, tool) { Answer::Data(said) } else { Answer::Text(said) }
            }
            Err(said) => {
                let said = said.strip_prefix("error: ").and_then(|said| said.strip_suffix('\n'));
                Answer::Refused(said.expect("an error").replace("\n  hint: ", "; "))
            }
        }
    }

    fn blocks(&mut self) -> Vec<String> {
        let args = ["context", "--dialect", self.dialect.as_str()];
        vec![self.run(&args).unwrap_or_else(|said| panic!("{said}"))]
    }
}
