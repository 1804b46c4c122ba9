use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tulving_core::model::request::Filter;
use tulving_dialects::Dialect;
use tulving_dialects::tool::{DialectTool, ToolEffect};

use crate::bed::Bed;

/// Generates any JSON, now and then with words that tools know.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2_i64..60).prop_map(Value::from),
        (0.0_f64..1.1).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            " ",
            "#1",
            "1",
            "mem_",
            "%",
            "fact",
            "preference",
            "core",
            "daily",
            "auto",
            "hybrid",
            "recent",
            "typed",
            "importance",
            "updates",
            "semantic",
            "stable",
            "private",
            "org",
            "link",
            "active",
            "default",
            "2026-05-27",
            "\u{0}",
            "\u{202e}",
            "</memory>",
            "🦀",
            "9999-12-31",
            "-1",
            "known",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z_]{1,12}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn tools() -> Vec<(Dialect, &'static DialectTool)> {
    Dialect::ALL
        .into_iter()
        .flat_map(|dialect| dialect.tools().iter().map(move |tool| (dialect, tool)))
        .collect()
}

/// Generates arguments for a tool: anything, or its own arguments with any values.
fn arguments(tool: &DialectTool) -> BoxedStrategy<Value> {
    let names: Vec<String> = match tool.input.get("properties") {
        Some(Value::Object(properties)) => properties.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let count = names.len();
    let own = prop::collection::vec(value(), count).prop_flat_map(move |values| {
        let fields: Vec<(String, Value)> = names.iter().cloned().zip(values).collect();
        prop::sample::subsequence(fields, 0..=count)
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
    });
    prop_oneof![1 => value(), 4 => own].boxed()
}

fn call() -> impl Strategy<Value = (usize, Value)> {
    (0..tools().len()).prop_flat_map(|at| (Just(at), arguments(tools()[at].1)))
}

#[test]
fn any_arguments_give_an_answer_or_a_refusal_and_nothing_is_half_saved() {
    let bed = Bed::new();
    bed.text(Dialect::Max, "remember", json!({ "category": "fact", "content": "known" }));
    let all = || {
        let forgotten =
            Filter { forgotten: tulving_core::model::request::ForgottenFilter::Only, ..Filter::default() };
        (bed.count(), bed.engine.count(&bed.caller, &forgotten).expect("a count"))
    };
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((at, arguments) in call())| {
        let (dialect, tool) = tools()[at];
        let before = all();
        let called = bed.call(dialect, tool.name, arguments);
        let unchanged = all() == before;
        match called {
            Ok(reply) => {
                let has_data = tool.output.is_some() || dialect == Dialect::Native;
                prop_assert_eq!(reply.as_data().is_some(), has_data);
                prop_assert!(unchanged || tool.effect != ToolEffect::Reads, "{} only reads", tool.name);
            }
            Err(refusal) => {
                prop_assert!(unchanged, "{} refused and did it: {}", tool.name, refusal);
                prop_assert!(!refusal.message.is_empty() && refusal.message.len() < 2_000, "{}", refusal);
                prop_assert!(!refusal.message.chars().any(char::is_control), "{:?}", refusal.message);
            }
        }
    });
}
