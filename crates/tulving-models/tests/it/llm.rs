//! Language models, against a small server of our own: what is sent to each service, trusted of its answers and retried,
//! and how slow, wrong or hostile services are handled.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tulving_core::model::error::{Class, LlmError};
use tulving_core::model::llm::{Message, Prompt, StopReason, Tokens, Tool, ToolCall};
use tulving_core::ports::LanguageModel;
use tulving_models::{ApiKey, LlmConfig, LlmProvider, language_model};

use crate::server::{Reply, Server};

const ALL: [LlmProvider; 3] = [LlmProvider::OpenAi, LlmProvider::Anthropic, LlmProvider::Ollama];
const KEY: &str = "sk-very-secret-1";

fn config(provider: LlmProvider, url: &str) -> LlmConfig {
    LlmConfig { key: Some(ApiKey::new(KEY)), ..LlmConfig::new(provider, url, "small") }
}

fn model(provider: LlmProvider, server: &Server) -> Arc<dyn LanguageModel> {
    language_model(&config(provider, &server.url)).expect("set up")
}

fn prompt() -> Prompt {
    Prompt { within: Duration::from_secs(10), ..Prompt::new("Be brief.", "How are you?") }
}

fn note() -> Tool {
    let schema =
        json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] });
    Tool { name: "note".to_owned(), description: "Notes a word.".to_owned(), schema }
}

/// Returns a valid answer of such a service, with these words and these tool calls.
fn spoken(provider: LlmProvider, words: &str, calls: &[(&str, Value)]) -> Value {
    match provider {
        LlmProvider::OpenAi => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(name, arguments)| {
                    json!({ "id": format!("id_{name}"), "type": "function",
                            "function": { "name": name, "arguments": arguments.to_string() } })
                })
                .collect();
            let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
            json!({ "choices": [{ "message": { "role": "assistant", "content": words, "tool_calls": calls },
                                  "finish_reason": reason }],
                    "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 } })
        }
        LlmProvider::Anthropic => {
            let mut content = vec![json!({ "type": "text", "text": words })];
            content.extend(calls.iter().map(|(name, arguments)| {
                json!({ "type": "tool_use", "id": format!("id_{name}"), "name": name, "input": arguments })
            }));
            let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
            json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": reason,
                    "usage": { "input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 7 } })
        }
        LlmProvider::Ollama => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(name, arguments)| json!({ "function": { "name": name, "arguments": arguments } }))
                .collect();
            json!({ "message": { "role": "assistant", "content": words, "tool_calls": calls }, "done": true,
                    "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7 })
        }
    }
}

fn say(body: &Value) -> Reply {
    Reply::Say(200, "content-type: application/json\r\n", body.to_string())
}

fn good(provider: LlmProvider) -> Reply {
    say(&spoken(provider, "Well.", &[]))
}

/// Returns the result of a prompt to a server with this script, the number of requests, and the duration.
fn failing(
    provider: LlmProvider,
    within: Duration,
    script: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static,
) -> (LlmError, usize, Duration) {
    let server = Server::start(script);
    let begun = Instant::now();
    let error =
        model(provider, &server).complete(&Prompt { within, ..prompt() }).expect_err("it is no answer");
    assert!(!format!("{error} {error:?} {:?}", error.hint()).contains(KEY), "{error}");
    (error, server.seen().len(), begun.elapsed())
}

/// Does the same for all services, with enough time.
fn all_fail(script: impl Fn(usize) -> Reply + Send + Sync + Clone + 'static) -> Vec<(LlmError, usize)> {
    let fail = |provider| {
        let script = script.clone();
        let (error, requests, _) =
            failing(provider, Duration::from_secs(20), move |number, _| script(number));
        (error, requests)
    };
    ALL.into_iter().map(fail).collect()
}

#[test]
fn each_service_is_asked_in_its_own_words() {
    for provider in ALL {
        let server = Server::start(move |_, _| good(provider));
        let reply = model(provider, &server).complete(&prompt()).expect("answered");
        assert_eq!((reply.text.as_str(), reply.ended), ("Well.", StopReason::Stop));
        assert!(reply.calls.is_empty());
        assert_eq!(reply.tokens, Tokens { input: 11, output: 7 });
        let seen = &server.seen()[0];
        assert_eq!(seen.body["model"], "small");
        assert_ne!(seen.body["stream"], true);
        let has = |header: &str| seen.headers.iter().any(|seen| seen == header);
        match provider {
            LlmProvider::OpenAi => {
                assert_eq!(seen.line, "POST /chat/completions HTTP/1.1");
                assert!(has(&format!("authorization: bearer {KEY}")));
                assert_eq!(seen.body["max_tokens"], 1_024);
                assert_eq!(seen.body["messages"][0], json!({ "role": "system", "content": "Be brief." }));
                assert_eq!(seen.body["messages"][1], json!({ "role": "user", "content": "How are you?" }));
            }
            LlmProvider::Anthropic => {
                assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
                assert!(has(&format!("x-api-key: {KEY}")) && has("anthropic-version: 2023-06-01"));
                assert!(seen.headers.iter().all(|header| !header.starts_with("authorization")));
                assert_eq!(
                    (&seen.body["max_tokens"], &seen.body["system"]),
                    (&json!(1_024), &json!("Be brief."))
                );
                let asked = json!([{ "type": "text", "text": "How are you?" }]);
                assert_eq!(seen.body["messages"], json!([{ "role": "user", "content": asked }]));
            }
            LlmProvider::Ollama => {
                assert_eq!(seen.line, "POST /api/chat HTTP/1.1");
                assert_eq!(seen.body["stream"], false);
                assert_eq!(seen.body["options"], json!({ "num_predict": 1_024 }));
            }
        }
    }
}

#[test]
fn tools_are_offered_called_and_answered() {
    for provider in ALL {
        let server = Server::start(move |number, _| match number {
            0 => say(&spoken(
                provider,
                "One moment.",
                &[("note", json!({ "word": "tulving" })), ("other", json!({}))],
            )),
            _ => good(provider),
        });
        let llm = model(provider, &server);
        let mut prompt = Prompt { tools: vec![note()], ..prompt() };
        let reply = llm.complete(&prompt).expect("answered");
        assert_eq!((reply.text.as_str(), reply.ended), ("One moment.", StopReason::ToolCalls));
        let [call, other] = &reply.calls[..] else { panic!("two calls, and not {:?}", reply.calls) };
        assert_eq!((call.name.as_str(), &call.arguments), ("note", &Ok(json!({ "word": "tulving" }))));
        assert!(!call.id.is_empty() && call.id != other.id);
        let offered = &server.seen()[0].body["tools"][0];
        match provider {
            LlmProvider::Anthropic => assert_eq!(offered["input_schema"], note().schema),
            _ => assert_eq!(offered["function"]["parameters"], note().schema),
        }
        prompt.messages.push(reply.message());
        for call in &reply.calls {
            let (id, name) = (call.id.clone(), call.name.clone());
            prompt.messages.push(Message::ToolResult {
                id,
                name,
                content: "noted".to_owned(),
                failed: false,
            });
        }
        assert_eq!(llm.complete(&prompt).expect("answered").text, "Well.");
        let again = &server.seen()[1].body["messages"];
        let second = |place: &str| again.pointer(place).cloned().unwrap_or_default();
        match provider {
            LlmProvider::OpenAi => {
                assert_eq!(second("/2/tool_calls/0/function/arguments"), r#"{"word":"tulving"}"#);
                assert_eq!(
                    second("/3"),
                    json!({ "role": "tool", "tool_call_id": "id_note", "content": "noted" })
                );
            }
            LlmProvider::Anthropic => {
                assert_eq!(second("/1/content/1/input"), json!({ "word": "tulving" }));
                assert_eq!(second("/2/content/1/tool_use_id"), "id_other");
                assert_eq!(again.as_array().map(Vec::len), Some(3));
            }
            LlmProvider::Ollama => {
                assert_eq!(second("/2/tool_calls/0/function/arguments"), json!({ "word": "tulving" }));
                assert_eq!(second("/4"), json!({ "role": "tool", "tool_name": "other", "content": "noted" }));
            }
        }
    }
}

#[test]
fn an_answer_by_a_schema_is_asked_for_and_is_the_text() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"],
                         "additionalProperties": false });
    for provider in ALL {
        let server = Server::start(move |_, _| match provider {
            LlmProvider::Anthropic => say(&spoken(provider, "", &[("give_answer", json!({ "a": 5 }))])),
            _ => say(&spoken(provider, r#"{"a":5}"#, &[])),
        });
        let llm = model(provider, &server);
        let prompt = Prompt { answer: Some(schema.clone()), ..prompt() };
        let reply = llm.complete(&prompt).expect("answered");
        assert_eq!(
            (reply.text.as_str(), reply.ended, reply.calls.len()),
            (r#"{"a":5}"#, StopReason::Stop, 0)
        );
        let asked = server.seen()[0].body.clone();
        match provider {
            LlmProvider::OpenAi => {
                let form = &asked["response_format"];
                assert_eq!(
                    (&form["type"], &form["json_schema"]["strict"]),
                    (&json!("json_schema"), &json!(true))
                );
                assert_eq!(form["json_schema"]["schema"], schema);
            }
            LlmProvider::Anthropic => {
                assert_eq!(asked["tool_choice"], json!({ "type": "tool", "name": "give_answer" }));
                assert_eq!(asked["tools"][0]["input_schema"], schema);
            }
            LlmProvider::Ollama => assert_eq!(asked["format"], schema),
        }
        let both = Prompt { tools: vec![note()], ..prompt };
        llm.complete(&both).expect("answered");
        if provider == LlmProvider::Anthropic {
            assert_eq!(
                server.seen()[1].body["tool_choice"],
                json!({ "type": "any" }),
                "the others stay callable"
            );
        }
    }
}

#[test]
fn another_model_may_be_named_for_one_prompt() {
    let server = Server::start(|_, _| good(LlmProvider::OpenAi));
    let prompt = Prompt { model: Some("large".to_owned()), ..prompt() };
    model(LlmProvider::OpenAi, &server).complete(&prompt).expect("answered");
    assert_eq!(server.seen()[0].body["model"], "large");
}

#[test]
fn what_services_leave_out_or_say_otherwise_is_no_trouble() {
    let answer = json!({ "choices": [{ "message": {
        "content": [{ "type": "text", "text": "in " }, { "type": "text", "text": "parts" }],
        "tool_calls": [
            { "function": { "name": "a", "arguments": { "as": "object" } } },
            { "id": null, "function": { "name": "b" } },
            { "id": "c", "function": { "name": "c", "arguments": "{\"cut\": " } },
        ] } }] });
    let server = Server::start(move |_, _| say(&answer));
    let reply = model(LlmProvider::OpenAi, &server).complete(&prompt()).expect("answered");
    assert_eq!((reply.text.as_str(), reply.ended), ("in parts", StopReason::ToolCalls));
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_1", "c"]);
    assert_eq!(reply.calls[0].arguments, Ok(json!({ "as": "object" })));
    assert_eq!(reply.calls[1].arguments, Ok(json!({})));
    assert!(reply.calls[2].arguments.is_err(), "an error of that call alone");
    assert!(
        reply.tokens.input > 0 && reply.tokens.output > 0,
        "counted where nobody says: {:?}",
        reply.tokens
    );
}

#[test]
fn a_service_that_says_it_counted_nothing_is_counted() {
    let mut answer = spoken(LlmProvider::Ollama, "Well.", &[]);
    answer["prompt_eval_count"] = json!(0);
    answer["eval_count"] = json!(-1);
    let server = Server::start(move |_, _| say(&answer));
    let reply = model(LlmProvider::Ollama, &server).complete(&prompt()).expect("answered");
    assert_eq!(reply.tokens, Tokens { input: prompt().estimate(), output: 2 });
}

#[test]
fn an_answer_that_became_too_long_says_so() {
    let ended = |provider, place: &'static str, reason: &'static str| {
        let server = Server::start(move |_, _| {
            let mut body = spoken(provider, "cut", &[]);
            *body.pointer_mut(place).expect("there") = json!(reason);
            say(&body)
        });
        model(provider, &server).complete(&prompt()).expect("answered").ended
    };
    assert_eq!(ended(LlmProvider::OpenAi, "/choices/0/finish_reason", "length"), StopReason::Length);
    assert_eq!(ended(LlmProvider::Anthropic, "/stop_reason", "max_tokens"), StopReason::Length);
    assert_eq!(ended(LlmProvider::Ollama, "/done_reason", "length"), StopReason::Length);
    assert_eq!(ended(LlmProvider::OpenAi, "/choices/0/finish_reason", "new"), StopReason::Other);
}

#[test]
fn a_refusal_to_answer_is_one_by_policy() {
    let policy = |provider, body: Value| {
        let (error, requests, _) = failing(provider, Duration::from_secs(10), move |_, _| say(&body));
        assert_eq!(requests, 1);
        assert!(matches!(error, LlmError::Policy { .. }), "{error:?}");
        error.to_string()
    };
    let refusing = json!({ "choices": [{ "message": { "content": null, "refusal": "I will not." } }] });
    assert_eq!(policy(LlmProvider::OpenAi, refusing), "the language model refused to answer: I will not.");
    let filtered =
        json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] });
    policy(LlmProvider::OpenAi, filtered);
    policy(LlmProvider::Anthropic, json!({ "content": [], "stop_reason": "refusal" }));
    let said = json!({ "error": { "code": "content_policy_violation", "message": "no" } });
    let (error, _, _) = failing(LlmProvider::OpenAi, Duration::from_secs(10), move |_, _| {
        Reply::Say(400, "", said.to_string())
    });
    assert!(matches!(error, LlmError::Policy { .. }), "{error:?}");
}

#[test]
fn a_wrong_key_is_said_at_once_and_not_repeated() {
    let wrong = format!("{{\"error\": {{\"message\": \"Incorrect API key provided: {KEY}\"}}}}");
    for (error, requests) in all_fail(move |_| Reply::Say(401, "", wrong.clone())) {
        assert_eq!(requests, 1);
        assert_eq!((error.code(), error.class()), ("llm_wrong_key", Class::Host));
        assert!(error.to_string().ends_with("Incorrect API key provided: ***"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("TULVING_LLM_API_KEY")));
    }
}

#[test]
fn a_wrong_address_and_an_unknown_model_are_told_apart() {
    for (error, requests) in all_fail(|_| Reply::Say(404, "", "404 page not found".to_owned())) {
        assert_eq!((error.code(), requests), ("llm_wrong_address", 1));
    }
    let page = || Reply::Say(404, "content-type: text/html\r\n", "<html>Not found</html>".to_owned());
    for (error, _) in all_fail(move |_| page()) {
        assert_eq!(error.code(), "llm_wrong_address");
        assert!(!error.to_string().contains('<'), "{error}");
    }
    let unknown = r#"{"error": {"message": "The model `small` does not exist", "code": "model_not_found"}}"#;
    for (error, requests) in all_fail(move |_| Reply::Say(404, "", unknown.to_owned())) {
        assert_eq!((error.code(), requests), ("llm_no_model", 1));
        assert!(error.to_string().contains("has no model `small`"), "{error}");
    }
}

#[test]
fn a_service_that_asks_for_a_pause_gets_it() {
    for provider in ALL {
        let server = Server::start(move |number, _| match number {
            0 => Reply::Say(429, "retry-after: 1\r\n", "{\"error\": \"slow down\"}".to_owned()),
            _ => good(provider),
        });
        let begun = Instant::now();
        assert_eq!(model(provider, &server).complete(&prompt()).expect("answered").text, "Well.");
        assert_eq!(server.seen().len(), 2);
        assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_pause_that_is_longer_than_the_time_is_not_waited_for() {
    let (error, requests, took) = failing(LlmProvider::OpenAi, Duration::from_secs(5), |_, _| {
        Reply::Say(429, "retry-after: 3600\r\n", String::new())
    });
    assert_eq!((error.code(), requests), ("llm_rate_limited", 1));
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(matches!(error, LlmError::RateLimited { pause: Some(pause), .. } if pause.as_secs() == 3_600));
}

#[test]
fn an_account_with_nothing_left_is_not_asked_again() {
    let said = r#"{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}"#;
    let (error, requests, _) = failing(LlmProvider::OpenAi, Duration::from_secs(9), move |_, _| {
        Reply::Say(429, "", said.to_owned())
    });
    assert_eq!((error.code(), requests, error.retryable()), ("llm_quota_spent", 1, false));
}

#[test]
fn passing_trouble_is_tried_again_twice_and_then_told() {
    for provider in ALL {
        let server = Server::start(move |number, _| match number {
            0 => Reply::Say(500, "", "{}".to_owned()),
            1 => Reply::Say(529, "", r#"{"error": {"type": "overloaded_error"}}"#.to_owned()),
            _ => good(provider),
        });
        assert_eq!(model(provider, &server).complete(&prompt()).expect("answered").text, "Well.");
        assert_eq!(server.seen().len(), 3);
    }
    for (error, requests) in all_fail(|_| Reply::Say(503, "", r#"{"error": "not now"}"#.to_owned())) {
        assert_eq!((error.code(), requests, error.class()), ("llm_failing", 3, Class::Upstream));
        assert!(error.to_string().ends_with("failed (503): not now"), "{error}");
    }
}

#[test]
fn what_may_have_been_done_is_not_tried_again() {
    for status in [400, 418, 422, 501, 504] {
        let (_, requests, _) = failing(LlmProvider::OpenAi, Duration::from_secs(9), move |_, _| {
            Reply::Say(status, "", "{}".to_owned())
        });
        assert_eq!(requests, 1, "{status}");
    }
    for (error, requests) in all_fail(|_| Reply::HangUp) {
        assert_eq!((error.code(), requests), ("llm_unreachable", 1), "{error}");
    }
}

#[test]
fn a_service_that_hangs_is_left_when_the_time_is_over() {
    for provider in ALL {
        let within = Duration::from_millis(500);
        let (error, requests, took) = failing(provider, within, |_, _| Reply::Wait(Duration::from_secs(20)));
        assert_eq!((error.code(), requests), ("llm_timeout", 1));
        assert!(error.to_string().ends_with("did not answer within 0.5 s"), "{error}");
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn a_service_that_drips_is_left_when_the_time_is_over() {
    for provider in ALL {
        let (error, _, took) =
            failing(provider, Duration::from_millis(700), |_, _| Reply::Drip(Duration::from_millis(50)));
        assert_eq!(error.code(), "llm_timeout");
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn the_setting_bounds_the_time_whatever_the_prompt_says() {
    let server = Server::start(|_, _| Reply::Wait(Duration::from_secs(20)));
    let config =
        LlmConfig { time_out: Duration::from_millis(300), ..config(LlmProvider::Ollama, &server.url) };
    let begun = Instant::now();
    let error = language_model(&config).expect("set up").complete(&prompt()).expect_err("late");
    assert_eq!(error.code(), "llm_timeout");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_answer_that_is_cut_off_is_said_to_be() {
    for provider in ALL {
        let whole = spoken(provider, "Well.", &[]).to_string();
        let (error, requests, _) =
            failing(provider, Duration::from_secs(9), move |_, _| Reply::Cut(whole.clone(), 10));
        assert_eq!((error.code(), requests), ("llm_cut_off", 1), "{error}");
    }
}

#[test]
fn a_gigantic_answer_is_not_taken_in() {
    for provider in ALL {
        let (error, requests, _) = failing(provider, Duration::from_secs(20), |_, _| Reply::Flood);
        assert_eq!((error.code(), requests), ("llm_answer_too_large", 1), "{error}");
        assert!(error.to_string().ends_with("is larger than 1048576 bytes"), "{error}");
    }
    let just_too_large = "x".repeat((1 << 20) + 1);
    let (error, _, _) = failing(LlmProvider::OpenAi, Duration::from_secs(20), move |_, _| {
        Reply::Say(200, "", just_too_large.clone())
    });
    assert_eq!(error.code(), "llm_answer_too_large");
}

#[test]
fn what_is_no_answer_is_not_believed() {
    let bodies = [
        "",
        "Hello!",
        "[]",
        "{}",
        "null",
        "5",
        r#"{"choices": []}"#,
        r#"{"choices": [{}]}"#,
        "{\"a\": \u{0}",
    ];
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in bodies.into_iter().map(str::to_owned).chain([deep]) {
        let shown = body.chars().take(40).collect::<String>();
        for (error, requests) in all_fail(move |_| Reply::Say(200, "", body.clone())) {
            assert_eq!((error.code(), requests), ("llm_malformed", 1), "{shown}: {error}");
        }
    }
    let (error, _, _) = failing(LlmProvider::OpenAi, Duration::from_secs(9), |_, _| {
        Reply::Babble(b"SSH-2.0-OpenSSH_9.7\r\n\r\n")
    });
    assert_eq!(error.code(), "llm_malformed", "{error}");
}

#[test]
fn a_web_page_is_named_as_one() {
    let page = "<!DOCTYPE html><html><title>Sign in</title></html>";
    for status in [200, 403, 407] {
        for (error, requests) in all_fail(move |_| Reply::Say(status, "", page.to_owned())) {
            assert_eq!((error.code(), requests), ("llm_web_page", 1), "{status}: {error}");
        }
    }
    for (error, requests) in all_fail(move |_| Reply::Say(502, "", page.to_owned())) {
        assert_eq!((error.code(), requests), ("llm_failing", 3));
        assert!(error.to_string().ends_with("failed (502)"), "{error}");
    }
}

#[test]
fn a_failure_with_the_status_of_a_success_is_a_failure() {
    let said = json!({ "error": { "code": 429, "message": "rate limited upstream" } });
    let (error, requests, _) = failing(LlmProvider::OpenAi, Duration::from_secs(20), move |_, _| say(&said));
    assert_eq!((error.code(), requests), ("llm_rate_limited", 3));
    let said = json!({ "error": "model 'small' not found" });
    let (error, _, _) = failing(LlmProvider::Ollama, Duration::from_secs(20), move |_, _| {
        Reply::Say(404, "", said.to_string())
    });
    assert_eq!(error.code(), "llm_no_model");
}

#[test]
fn a_prompt_that_is_too_long_is_told_as_such() {
    let said = json!({ "error": { "message": "This model's maximum context length is 4096 tokens",
                                  "code": "context_length_exceeded" } });
    let (error, requests, _) = failing(LlmProvider::OpenAi, Duration::from_secs(9), move |_, _| {
        Reply::Say(400, "", said.to_string())
    });
    assert_eq!((error.code(), error.class(), requests), ("llm_prompt_too_large", Class::Caller, 1));
}

#[test]
fn no_redirection_is_followed_and_the_key_goes_nowhere_else() {
    for provider in ALL {
        let elsewhere = Server::start(move |_, _| good(provider));
        let location: &'static str = format!("location: {}/stolen\r\n", elsewhere.url).leak();
        for status in [301, 302, 303, 307, 308] {
            let (error, requests, _) = failing(provider, Duration::from_secs(9), move |_, _| {
                Reply::Say(status, location, String::new())
            });
            assert_eq!((error.code(), requests), ("llm_redirected", 1));
        }
        assert_eq!(elsewhere.seen().len(), 0);
    }
}

#[test]
fn nobody_there_is_tried_again_and_said() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let llm = language_model(&config(LlmProvider::Ollama, &format!("http://{free}"))).expect("set up");
    let begun = Instant::now();
    let error = llm.complete(&prompt()).expect_err("nobody is there");
    assert!(matches!(error, LlmError::Unreachable { refused: true, .. }), "{error:?}");
    assert!(error.to_string().starts_with(&format!("http://{free}/api/chat cannot be reached")), "{error}");
    assert!(begun.elapsed() > Duration::from_millis(300), "with pauses between: {:?}", begun.elapsed());
    let no_host = language_model(&config(LlmProvider::Ollama, "http://host.invalid:1")).expect("set up");
    let error = no_host.complete(&prompt()).expect_err("no such host");
    assert_eq!(error.code(), "llm_unreachable", "{error}");
}

#[test]
fn encryption_that_the_service_does_not_speak_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let llm = language_model(&config(LlmProvider::OpenAi, &format!("https://{address}/v1"))).expect("set up");
    let error = llm.complete(&prompt()).expect_err("no TLS");
    assert_eq!(error.code(), "llm_tls", "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("https://")));
}

#[test]
fn an_address_that_is_none_is_said() {
    for url in ["http://", "http://me:hunter2@ bad host/"] {
        let error = language_model(&config(LlmProvider::OpenAi, url)).expect("set up").complete(&prompt());
        let error = error.expect_err("no address");
        assert_eq!(error.code(), "llm_not_set_up", "{url}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn a_service_that_fails_again_and_again_is_left_alone_for_a_while() {
    let served = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&served);
    let server = Server::start(move |_, _| match count.fetch_add(1, Ordering::SeqCst) {
        0..3 => Reply::Say(501, "", "{}".to_owned()),
        _ => good(LlmProvider::OpenAi),
    });
    let pause = Duration::from_millis(400);
    let llm = language_model(&LlmConfig { failures: 3, pause, ..config(LlmProvider::OpenAi, &server.url) })
        .expect("set up");
    for _ in 0..3 {
        assert_eq!(llm.complete(&prompt()).expect_err("it fails").code(), "llm_failing");
    }
    let open = llm.complete(&prompt()).expect_err("it is left alone");
    assert_eq!((open.code(), open.class()), ("llm_circuit_open", Class::Busy));
    assert_eq!(served.load(Ordering::SeqCst), 3, "nobody was asked");
    thread::sleep(pause);
    assert_eq!(llm.complete(&prompt()).expect("tried once more").text, "Well.");
    assert_eq!(llm.complete(&prompt()).expect("and again").text, "Well.");
}

#[test]
fn only_so_many_calls_are_under_way_at_once() {
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (Arc::clone(&inside), Arc::clone(&most));
    let server = Server::start(move |_, _| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(100));
        now.fetch_sub(1, Ordering::SeqCst);
        good(LlmProvider::OpenAi)
    });
    let config = LlmConfig { max_concurrent: 2, ..config(LlmProvider::OpenAi, &server.url) };
    let llm = language_model(&config).expect("set up");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(llm.complete(&prompt()).expect("answered").text, "Well."));
        }
    });
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[test]
fn who_finds_no_place_in_time_is_told_and_asks_nobody() {
    let server = Server::start(|_, _| {
        thread::sleep(Duration::from_millis(1_500));
        good(LlmProvider::OpenAi)
    });
    let config = LlmConfig { max_concurrent: 1, ..config(LlmProvider::OpenAi, &server.url) };
    let llm = language_model(&config).expect("set up");
    thread::scope(|scope| {
        let first = scope.spawn(|| llm.complete(&prompt()));
        while server.seen().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        let hurried = Prompt { within: Duration::from_millis(200), ..prompt() };
        assert_eq!(llm.complete(&hurried).expect_err("no place"), LlmError::Busy { limit: 1 });
        assert!(first.join().expect("no panic").is_ok());
    });
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn the_key_is_in_no_debug_text() {
    let config = config(LlmProvider::Anthropic, "http://me:hunter2@localhost:1/?token=t123");
    let described = format!("{config:?}");
    assert!(
        !described.contains(KEY) && !described.contains("hunter2") && !described.contains("t123"),
        "{described}"
    );
}

#[test]
fn calls_that_were_garbled_can_be_told_to_the_model() {
    for provider in ALL {
        let server = Server::start(move |_, _| good(provider));
        let garbled = ToolCall::written("x".to_owned(), "note".to_owned(), "{\"word\": ");
        let mut prompt = prompt();
        prompt.messages.push(Message::Assistant { text: String::new(), calls: vec![garbled] });
        let content = "the arguments are not JSON".to_owned();
        let (id, name) = ("x".to_owned(), "note".to_owned());
        prompt.messages.push(Message::ToolResult { id, name, content, failed: true });
        model(provider, &server).complete(&prompt).expect("answered");
        let sent = server.seen()[0].body.to_string();
        assert!(sent.contains("word") && sent.contains("the arguments are not JSON"), "{sent}");
    }
}
