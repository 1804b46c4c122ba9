//! `tulving llm`: tests the configured language model, and keeps its key in the system's keyring.

use std::time::Instant;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use tulving_core::model::error::Error;
use tulving_core::model::llm::{LlmReply, Prompt, StopReason, TEST, Tool};

use crate::config::{KEY_BYTES, KeySource};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::keyring::Keyring;
use crate::print::Printer;
use crate::show::table::pairs;
use crate::show::text::{counted, one_line};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving llm test
  TULVING_LLM_PROVIDER=ollama TULVING_LLM_MODEL=qwen3:4b tulving llm test
  tulving llm test --json
  TULVING_LLM_KEY_ENTRY=openai tulving llm key set

llm.provider and llm.model choose the model; without one, rules do the work. The key is read from
TULVING_LLM_API_KEY, the file of llm.key_file, the keyring entry of llm.key_entry, or
OPENAI_API_KEY or ANTHROPIC_API_KEY. It is never shown.";

const KEY_EXAMPLES: &str = "\
Examples:
  tulving llm key set
  pass show openai | tulving llm key set
  tulving llm key forget

llm.key_entry names the entry. The command asks for the key without showing it, or reads it from standard input.";

/// Flags of `llm`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    command: LlmCommand,
}

#[derive(Debug, Subcommand)]
enum LlmCommand {
    /// Send a small request with one tool, and report the result
    Test,
    /// Manage the key in the system's keyring
    #[command(after_help = KEY_EXAMPLES)]
    Key {
        #[command(subcommand)]
        command: LlmKeyCommand,
    },
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum LlmKeyCommand {
    /// Store the key in the entry, replacing an existing key
    Set,
    /// Remove the entry
    Forget,
}

/// The tool that the model should call, and the word that the model must pass to it.
const TOOL: &str = "check";
const WORD: &str = "ready";

/// The result of the call.
#[derive(Serialize)]
struct LlmTestReport {
    provider: String,
    model: String,
    address: String,
    key: String,
    latency_ms: u64,
    tokens_in: u64,
    tokens_out: u64,
    ended: StopReason,
    tools: ToolCallResult,
}

/// The way the model called the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ToolCallResult {
    /// The model called the tool with the right arguments.
    Work,
    /// The model called the tool with wrong arguments.
    Garbled,
    /// The model did not call the tool.
    NotCalled,
}

impl ToolCallResult {
    fn of(reply: &LlmReply) -> Self {
        let Some(call) = reply.calls.iter().find(|call| call.name == TOOL) else {
            return Self::NotCalled;
        };
        let word = call.arguments.as_ref().ok().and_then(|arguments| arguments.get("word"));
        if word.is_some_and(serde_json::Value::is_string) { Self::Work } else { Self::Garbled }
    }

    const fn said(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Garbled => "called, with arguments that were not asked for",
            Self::NotCalled => "not called",
        }
    }
}

pub(super) fn run(args: &LlmArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match args.command {
        LlmCommand::Test => test(app, printer),
        LlmCommand::Key { command } => key(command, app, printer),
    }
}

fn key(command: LlmKeyCommand, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("llm")?)?;
    let llm = &app.settings.llm;
    let entry = llm.key_entry().ok_or_else(|| {
        Failure::usage("llm.key_entry names no entry of the keyring").hinted(
            "write key_entry = \"openai\", or another name, below [llm] in config.toml; `tulving config path` shows where that is",
        )
    })?;
    let keyring = Keyring::system();
    let (done, said) = match command {
        LlmKeyCommand::Set => {
            let lasts = keyring.keep(entry, &given(printer)?).map_err(Error::from)?;
            ("set", format!("Put the key into the keyring entry `{entry}`. {}", lasts.said()))
        }
        LlmKeyCommand::Forget => {
            keyring.forget(entry).map_err(Error::from)?;
            ("forgotten", format!("Removed the keyring entry `{entry}`"))
        }
    };
    if printer.json() {
        printer.document(&json!({ "entry": entry, "done": done }))?;
    } else {
        printer.line(said)?;
    }
    // Other problems of the configuration are reported by `llm test`.
    let used = llm.key_source(&app.settings.home);
    if let Ok(source @ (KeySource::Environment(_) | KeySource::File(_))) = used {
        printer.warning(format!("another key is used instead: {source}"))?;
    }
    Ok(Outcome::Done)
}

/// Reads the key from the terminal without showing it, or from standard input.
fn given(printer: &mut Printer) -> Result<String, Failure> {
    let text = match printer.asks() {
        true => printer.ask_hidden("Key: ")?,
        // Bytes that are not UTF-8 cannot be a key. The error does not repeat them.
        false => String::from_utf8(input::standard_input(KEY_BYTES)?).unwrap_or_else(|_| "\0".to_owned()),
    };
    match text.trim() {
        "" => Err(Failure::usage("no key was given").hinted("type it, or pass it by standard input")),
        key if key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(key.to_owned()),
        _ => Err(Failure::usage("invalid key: a key is one word of plain characters")),
    }
}

fn test(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("llm")?)?;
    let (config, key) = app.settings.llm.config(&app.settings.home).map_err(Error::from)?;
    let address = config.address().to_string();
    if !printer.json() {
        let model = if config.model.is_empty() { "none" } else { &config.model };
        printer.lines(&pairs(&[
            ("provider", config.provider.to_string()),
            ("model", model.to_owned()),
            ("address", address.clone()),
            ("key", key.to_string()),
        ]))?;
    }
    if config.sends_key_in_the_clear() {
        printer
            .warning("the key goes to another machine without encryption; use an address with https://")?;
    }
    let begun = Instant::now();
    let reply = app.engine.ask(TEST, &prompt(app))?;
    let report = LlmTestReport {
        provider: config.provider.to_string(),
        model: config.model,
        address,
        key: key.to_string(),
        latency_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        tokens_in: reply.tokens.input,
        tokens_out: reply.tokens.output,
        ended: reply.ended,
        tools: ToolCallResult::of(&reply),
    };
    show(&report, &reply, printer)?;
    Ok(Outcome::Done)
}

fn prompt(app: &App<'_>) -> Prompt {
    let schema = json!({
        "type": "object",
        "properties": { "word": { "type": "string", "description": "the word" } },
        "required": ["word"],
        "additionalProperties": false,
    });
    let tool = Tool { name: TOOL.to_owned(), description: "Takes one word.".to_owned(), schema };
    let asked = format!("Call the tool `{TOOL}` with the word `{WORD}`. Say nothing else.");
    Prompt {
        tools: vec![tool],
        within: app.settings.llm.time_out(),
        ..Prompt::new("This is a short test of the connection.", asked)
    }
}

fn show(report: &LlmTestReport, reply: &LlmReply, printer: &mut Printer) -> Result<(), Failure> {
    if printer.json() {
        printer.document(report)?;
    } else {
        let cost = format!(
            "{}, {} in and {} out",
            millis(report.latency_ms),
            counted(report.tokens_in, "token", "tokens"),
            report.tokens_out
        );
        printer.lines(&pairs(&[("answered", cost), ("tools", report.tools.said().to_owned())]))?;
    }
    if report.tools == ToolCallResult::Work {
        return Ok(());
    }
    let said = match one_line(&reply.text) {
        said if said.is_empty() => String::new(),
        said => format!("; it said: {}", tulving_core::model::preview::cut(&said, 120)),
    };
    let why = match report.ended {
        StopReason::Length => "the answer became too long before the tool was called",
        _ => "the model did not use the tool as asked; it may be unsuitable for work that needs tools",
    };
    printer.warning(format!("{why}{said}"))
}

fn millis(millis: u64) -> String {
    if millis < 10_000 { format!("{millis} ms") } else { format!("{} s", millis / 1_000) }
}

#[cfg(test)]
mod tests {
    use tulving_core::model::llm::{Tokens, ToolCall};

    use super::*;

    #[test]
    fn a_tool_works_only_where_it_is_called_as_asked() {
        let reply = |calls: &[(&str, &str)]| LlmReply {
            text: String::new(),
            calls: calls
                .iter()
                .map(|(name, arguments)| ToolCall::written("1".to_owned(), (*name).to_owned(), arguments))
                .collect(),
            tokens: Tokens::default(),
            ended: StopReason::Stop,
        };
        assert_eq!(ToolCallResult::of(&reply(&[])), ToolCallResult::NotCalled);
        assert_eq!(ToolCallResult::of(&reply(&[("other", "{}")])), ToolCallResult::NotCalled);
        assert_eq!(ToolCallResult::of(&reply(&[("check", r#"{"word": "#)])), ToolCallResult::Garbled);
        assert_eq!(ToolCallResult::of(&reply(&[("check", r#"{"word": 5}"#)])), ToolCallResult::Garbled);
        assert_eq!(ToolCallResult::of(&reply(&[("check", r#"{"word": "ready"}"#)])), ToolCallResult::Work);
    }
}
