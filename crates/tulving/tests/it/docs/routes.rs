//! `docs/routes.md` is what `/openapi.json` of a running server says; `cargo xtask reference` rewrites it.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::root;
use crate::binary::Tulving;
use crate::serve::client::Server;

#[test]
fn the_references_of_routes_are_what_a_server_says() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let document = server.ask("GET", "/openapi.json", &[], b"").json();
    let (file, page) = (root().join("docs/routes.md"), page(&document));
    if std::env::var_os("REFERENCE").is_some_and(|value| value == "write") {
        fs::write(&file, &page).expect("the page is written");
    }
    let there = fs::read_to_string(&file).unwrap_or_default();
    assert!(there == page, "docs/routes.md is not what the server says; `cargo xtask reference` rewrites it");
}

/// Every operation, by what it is about.
fn page(document: &Value) -> String {
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let mut overview: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let section = operation["tags"][0].as_str().unwrap_or("Other");
            sections.entry(section).or_default().push_str(&described(document, method, path, operation));
            overview.entry(section).or_default().push(in_short(method, path, operation));
        }
    }
    let mut page = String::from(
        "# The routes\n\n<!-- Made by `cargo xtask reference` from /openapi.json. -->\n\n\
         Every operation of the server, first in short, then with its arguments. `/openapi.json` of a running server also \
         describes the answers. [http.md](http.md) explains tokens, errors, retries and events.\n\n## In short\n\n\
         | request | what it does |\n|---|---|\n",
    );
    for row in overview.into_values().flatten() {
        page.push_str(&format!("{row}\n"));
    }
    for (section, text) in sections {
        page.push_str(&format!("\n## {section}\n{text}"));
    }
    page
}

/// The row of an operation in the overview, with a link to its section.
fn in_short(method: &str, path: &str, operation: &Value) -> String {
    let name = format!("{} {path}", method.to_uppercase());
    let anchor = name.to_lowercase().replace(' ', "-");
    let anchor: String = anchor.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
    let about = operation["summary"].as_str().unwrap_or_default().trim().replace('|', "\\|");
    format!("| [`{name}`](#{anchor}) | {about} |")
}

fn described(document: &Value, method: &str, path: &str, operation: &Value) -> String {
    let about = operation["description"].as_str().or(operation["summary"].as_str()).unwrap_or_default();
    let mut text = format!("\n### `{} {path}`\n\n{}\n", method.to_uppercase(), about.trim());
    let mut rows = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolved(document, parameter);
        let name = parameter["name"].as_str().unwrap_or_default();
        let place = parameter["in"].as_str().unwrap_or_default();
        let required = parameter["required"] == true;
        let kind = kind(document, &parameter["schema"]);
        rows.push(row(name, place, required, &kind, &parameter["description"]));
    }
    let content = operation["requestBody"]["content"].as_object().into_iter().flatten();
    for (_, body) in content.filter(|(form, _)| *form == "application/json") {
        let schema = resolved(document, &body["schema"]);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = required.iter().any(|one| one == name);
            rows.push(row(name, "body", required, &kind(document, field), &field["description"]));
        }
    }
    if !rows.is_empty() {
        text.push_str(&format!(
            "\n| argument | in | type | what it is |\n|---|---|---|---|\n{}\n",
            rows.join("\n")
        ));
    }
    text
}

/// The types that a schema allows.
fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    match (&schema["type"], schema["anyOf"].as_array()) {
        (Value::String(kind), _) => kind.clone(),
        (Value::Array(kinds), _) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        (_, Some(choices)) => {
            choices.iter().map(|choice| kind(document, choice)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn row(name: &str, place: &str, required: bool, kind: &str, about: &Value) -> String {
    let kind = if required { format!("{kind}, required") } else { kind.to_owned() };
    let about = about.as_str().unwrap_or_default();
    let about = about.replace('\n', " ").replace('|', "\\|");
    format!("| `{name}` | {place} | {kind} | {about} |")
}

/// The target of a reference.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        Some(path) => document.pointer(path).expect("what is referred to is there"),
        None => value,
    }
}
