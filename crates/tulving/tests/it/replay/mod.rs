//! The examples of the seeds, played exactly on every way to a tool: MCP on standard input and output, MCP over
//! HTTP, plain HTTP and the command line.
//!
//! The transcripts are in `tests/replay`, one for each dialect; [`transcript`] describes their format. Each scene is
//! played on a new home, by the real binary with its model. Where a transcript is open, the ways must still agree.

/// Values that differ from run to run.
mod holes;

/// A scene that is being played.
mod stage;

/// Reads a transcript, and compares it with the answers.
mod transcript;

/// The four ways.
mod ways;

use serde_json::{Map, Value, json};
use tulving_dialects::Dialect;

use self::stage::Stage;
use self::transcript::{difference, read};
use self::ways::WAYS;

#[test]
fn max() {
    play(Dialect::Max, include_str!("../../replay/max.txt"));
}

#[test]
fn memax() {
    play(Dialect::Memax, include_str!("../../replay/memax.txt"));
}

#[test]
fn groups() {
    play(Dialect::Groups, include_str!("../../replay/groups.txt"));
}

#[test]
fn maven() {
    play(Dialect::Maven, include_str!("../../replay/maven.txt"));
}

#[test]
fn spacebot() {
    play(Dialect::Spacebot, include_str!("../../replay/spacebot.txt"));
}

#[test]
fn native() {
    play(Dialect::Native, include_str!("../../replay/native.txt"));
}

#[test]
fn every_tool_takes_and_refuses_the_same_on_every_way() {
    for dialect in Dialect::ALL {
        let calls = calls(dialect);
        let described = WAYS.map(|(_, open)| {
            let mut stage = Stage::open(open, dialect);
            for (tool, arguments) in &calls {
                stage.call(tool, arguments);
            }
            stage.described
        });
        if let Some(what) = disagreement(&described) {
            panic!("{dialect}: {what}");
        }
    }
}

/// Calls of every tool: a valid one, one without arguments, one with an unknown argument, and for each argument one with an
/// invalid value.
fn calls(dialect: Dialect) -> Vec<(String, Value)> {
    let mut calls = vec![("no_such_tool".to_owned(), json!({}))];
    for tool in dialect.tools() {
        let field = |name: &str| tool.input.get(name).cloned().unwrap_or_default();
        let (properties, required) = (field("properties"), field("required"));
        let needed = required.as_array().into_iter().flatten().filter_map(Value::as_str);
        let good: Map<String, Value> =
            needed.map(|name| (name.to_owned(), fitting(name, &properties[name]))).collect();
        let mut call = |arguments: Value| calls.push((tool.name.to_owned(), arguments));
        call(Value::Object(good.clone()));
        call(Value::Null);
        call(json!({ "colour": "red" }));
        for name in properties.as_object().into_iter().flatten().map(|(name, _)| name) {
            for wrong in [json!({ "a": true }), json!("nonsense"), json!(-1), json!(null)] {
                let mut arguments = good.clone();
                arguments.insert(name.clone(), wrong);
                call(Value::Object(arguments));
            }
        }
    }
    calls
}

/// Possible values for an argument of this name and schema.
fn fitting(name: &str, schema: &Value) -> Value {
    match (name, schema["type"].as_str()) {
        ("memories", _) => json!([{ "content": "We deploy with make ship" }]),
        (_, Some("array")) => json!([]),
        (_, Some("integer")) => json!(1),
        _ => schema["enum"].get(0).cloned().unwrap_or_else(|| json!("#1")),
    }
}

/// Plays a transcript on every way, and returns the differences of each.
#[track_caller]
fn play(dialect: Dialect, text: &str) {
    let mut wrong = Vec::new();
    for scene in read(text) {
        let mut described: Vec<Vec<String>> = Vec::new();
        for (name, open) in WAYS {
            let mut stage = Stage::open(open, dialect);
            for step in &scene.steps {
                if let Err(what) = stage.play(step) {
                    wrong.push(format!("{dialect}.txt:{}: {name}: {}\n{what}", step.line, scene.title));
                }
            }
            described.push(stage.described);
        }
        wrong.extend(disagreement(&described).map(|what| format!("{dialect}.txt: {}: {what}", scene.title)));
    }
    assert!(wrong.is_empty(), "what was expected (-) and what came (+):\n\n{}", wrong.join("\n"));
}

/// The first answer in which two ways differ.
fn disagreement(described: &[Vec<String>]) -> Option<String> {
    let (first, others) = described.split_first()?;
    let (way, (one, other)) = (1..).zip(others).find_map(|(way, other)| {
        let both = first.iter().zip(other);
        Some((way, both.into_iter().find(|(one, other)| one != other)?))
    })?;
    let shown = difference(one, other);
    Some(format!("{} (-) and {} (+) differ:\n{shown}", WAYS[0].0, WAYS[way].0))
}
