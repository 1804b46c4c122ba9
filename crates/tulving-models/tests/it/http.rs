//! Embedding by a service, against a small server of our own: what is sent, trusted and retried.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tulving_core::ports::Embedder;
use tulving_models::{ApiKey, EmbedderConfig, EmbeddingServiceConfig, HttpEmbedder, RetryPolicy, embedder};

use crate::server::{Reply, Server};

/// Returns the vectors 3 4 and 4 3 in turn, in OpenAI's format, the last first.
fn vectors(question: &Value) -> Reply {
    let count = question["input"].as_array().map_or(0, Vec::len);
    let vector = |index| if index % 2 == 0 { [3, 4] } else { [4, 3] };
    let data: Vec<Value> =
        (0..count).rev().map(|index| json!({ "index": index, "embedding": vector(index) })).collect();
    say(&json!({ "object": "list", "data": data }))
}

fn say(body: &Value) -> Reply {
    Reply::Say(200, "", body.to_string())
}

fn status(status: u16) -> Reply {
    Reply::Say(status, "", "{\"error\": \"not now\"}".to_owned())
}

fn open_ai(server: &Server) -> HttpEmbedder {
    HttpEmbedder::open_ai(EmbeddingServiceConfig::new(&server.url, "small"), None)
}

/// Returns the error of embedding, without the address, and the number of requests.
fn refusal(script: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> (String, usize) {
    let server = Server::start(script);
    let error = open_ai(&server).embed(&["one", "two"]).expect_err("the answer is not right");
    let described = error.to_string().replace(&server.url, "URL").replace(&server.host(), "HOST");
    (described, server.seen().len())
}

#[test]
fn it_speaks_as_open_ai_does() {
    let server = Server::start(|_, question| vectors(question));
    let key = Some(ApiKey::new("sk-1"));
    let model =
        HttpEmbedder::open_ai(EmbeddingServiceConfig::new(&format!("{}/v1/", server.url), "small"), key);
    assert_eq!(model.embed(&["one", ""]).unwrap(), [[0.6, 0.8], [0.8, 0.6]]);
    assert_eq!(model.model().unwrap(), format!("openai:small@{}/2", server.host()));
    assert_eq!(server.seen().len(), 1, "what was learnt is not asked again");
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/embeddings HTTP/1.1");
    assert!(seen.headers.contains(&"authorization: bearer sk-1".to_owned()), "{:?}", seen.headers);
    assert_eq!(seen.body, json!({ "model": "small", "input": ["one", " "] }));
}

#[test]
fn it_speaks_as_ollama_does() {
    let server = Server::start(|_, _| say(&json!({ "embeddings": [[0.0, 2.0], [5.0, 0.0]] })));
    let model = embedder(&EmbedderConfig::Ollama(EmbeddingServiceConfig::new(&server.url, "tiny"))).unwrap();
    assert_eq!(model.embed(&["one", "two"]).unwrap(), [[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!(server.seen()[0].line, "POST /api/embed HTTP/1.1");
    assert!(server.seen()[0].headers.iter().all(|header| !header.starts_with("authorization")));
}

#[test]
fn many_texts_go_in_batches() {
    let server = Server::start(|_, question| vectors(question));
    assert_eq!(open_ai(&server).embed(&["text"; 150]).unwrap().len(), 150);
    let sizes: Vec<usize> =
        server.seen().iter().map(|seen| seen.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [64, 64, 22]);
    assert!(open_ai(&server).embed(&[]).unwrap().is_empty());
}

#[test]
fn a_busy_or_broken_service_is_asked_again() {
    let server = Server::start(|number, question| match number {
        0 => Reply::Say(429, "retry-after: 0\r\n", String::new()),
        1 => Reply::HangUp,
        _ => vectors(question),
    });
    assert_eq!(open_ai(&server).embed(&["one"]).unwrap().len(), 1);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn three_failures_are_enough() {
    let described = "the model openai:small@HOST failed: URL/embeddings answered 503: not now";
    assert_eq!(refusal(|_, _| status(503)), (described.to_owned(), 3));
}

#[test]
fn a_refusal_is_final() {
    let described = "the model openai:small@HOST failed: URL/embeddings answered 401: not now";
    assert_eq!(refusal(|_, _| status(401)), (described.to_owned(), 1));
}

#[test]
fn a_redirection_is_not_followed() {
    let (described, requests) = refusal(|_, _| Reply::Say(307, "location: /elsewhere\r\n", String::new()));
    assert!(described.contains("answered 307"), "{described}");
    assert_eq!(requests, 1);
}

#[test]
fn nobody_there_is_said() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let described = HttpEmbedder::ollama(EmbeddingServiceConfig::new(&format!("http://{free}"), "tiny"))
        .embed(&["one"])
        .unwrap_err();
    let described = described.to_string();
    let right = format!("ollama:tiny@{free} failed: http://{free}/api/embed cannot be reached");
    assert!(described.contains(&right), "{described}");
}

#[test]
fn a_slow_service_is_left_after_the_time_out() {
    let server = Server::start(|_, _| Reply::Wait(Duration::from_secs(20)));
    let service = EmbeddingServiceConfig {
        time_out: Duration::from_millis(200),
        ..EmbeddingServiceConfig::new(&server.url, "small")
    };
    let model = HttpEmbedder::open_ai(service, None);
    let described = model.embed(&["one"]).unwrap_err().to_string();
    assert!(described.contains("did not answer within 0.2 s"), "{described}");
    let described = model.embed(&["two"]).unwrap_err().to_string();
    assert!(
        described.contains("it is paused for") && described.contains("after it failed once"),
        "{described}"
    );
    assert_eq!(server.seen().len(), 1, "it was not asked again");
}

#[test]
fn a_service_that_fails_is_left_alone_after_three_calls_and_others_know_of_one_that_hangs() {
    let busy = Server::start(|_, _| status(503));
    let hurried = |url: &str, pause_file| {
        let service = EmbeddingServiceConfig {
            patience: RetryPolicy::Hurried,
            pause_file,
            ..EmbeddingServiceConfig::new(url, "small")
        };
        HttpEmbedder::open_ai(service, None)
    };
    let model = hurried(&busy.url, None);
    for _ in 0..6 {
        model.embed(&["one"]).unwrap_err();
    }
    assert_eq!(busy.seen().len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let pause_file = Some(folder.path().join("pause.json"));
    let hung = Server::start(|_, _| Reply::Wait(Duration::from_secs(20)));
    let time_out = Duration::from_millis(200);
    let service = EmbeddingServiceConfig {
        time_out,
        pause_file: pause_file.clone(),
        ..EmbeddingServiceConfig::new(&hung.url, "small")
    };
    HttpEmbedder::open_ai(service, None).embed(&["one"]).unwrap_err();
    let described = hurried(&hung.url, pause_file).embed(&["one"]).unwrap_err().to_string();
    assert!(described.contains("it is paused for"), "{described}");
    assert_eq!(hung.seen().len(), 1, "another process would not have asked");
}

#[test]
fn what_is_not_an_answer_is_not_believed() {
    let described = |body: &'static str| {
        let (described, requests) = refusal(move |_, _| Reply::Say(200, "", body.to_owned()));
        assert_eq!(requests, 1);
        described.trim_start_matches("the model openai:small@HOST failed: ").to_owned()
    };
    assert_eq!(described(r#"{"data": [{"embedding": [1, 0]}]}"#), "1 vectors came back for 2 texts");
    assert_eq!(
        described(r#"{"data": [{"embedding": [1, 0]}, {"embedding": [1, 0, 0]}]}"#),
        "a vector of 3 dimensions came back where the others have 2"
    );
    let twice = r#"{"data": [{"index": 1, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 1]}]}"#;
    assert_eq!(described(twice), "the vectors that came back are numbered wrongly");
    for empty in ["[0, 0]", "[]"] {
        let body = format!(r#"{{"data": [{{"embedding": {empty}}}, {{"embedding": {empty}}}]}}"#);
        assert_eq!(described(body.leak()), "a vector came back that cannot be normalised");
    }
    let no_numbers = [r#"{"data": [{"embedding": [NaN]}]}"#, r#"{"data": [{"embedding": [1e39]}]}"#];
    for garbage in ["", "<html>", r#"{"embeddings": [[1]]}"#].into_iter().chain(no_numbers) {
        assert!(described(garbage).starts_with("the answer of URL/embeddings does not contain embeddings: "));
    }
}

#[test]
fn a_key_is_in_no_error_and_in_no_debug_text() {
    let server = Server::start(|_, _| Reply::Say(401, "", "wrong key: sk-secret".to_owned()));
    let model = HttpEmbedder::open_ai(
        EmbeddingServiceConfig::new(&server.url, "small"),
        Some(ApiKey::new("sk-secret")),
    );
    let described = model.embed(&["one"]).unwrap_err();
    assert!(described.to_string().ends_with("answered 401: wrong key: ***"), "{described}");
    assert!(!format!("{model:?} {described:?}").contains("sk-secret"));
}

#[test]
fn the_key_comes_from_the_variable_that_is_named() {
    let config = |name: &str, url: &str| EmbedderConfig::OpenAi {
        service: EmbeddingServiceConfig::new(url, "small"),
        key_env: Some(name.to_owned()),
    };
    let server = Server::start(|_, question| vectors(question));
    // Cargo sets this one for every test.
    embedder(&config("CARGO_PKG_NAME", &server.url)).unwrap().embed(&["one"]).unwrap();
    assert!(server.seen()[0].headers.contains(&"authorization: bearer tulving-models".to_owned()));
    let described = embedder(&config("TULVING_NO_SUCH_KEY", &server.url)).err().unwrap().to_string();
    assert!(
        described
            .ends_with("the environment variable TULVING_NO_SUCH_KEY should contain its key but is not set"),
        "{described}"
    );
}

#[test]
fn one_name_at_two_places_or_of_two_sizes_is_two_models() {
    let sized = |size: usize| Server::start(move |_, _| say(&json!({ "embeddings": [vec![1.0; size]] })));
    let id = |server: &Server| {
        HttpEmbedder::ollama(EmbeddingServiceConfig::new(&server.url, "tiny")).model().unwrap()
    };
    let (two, three) = (sized(2), sized(3));
    assert_eq!(id(&two), format!("ollama:tiny@{}/2", two.host()));
    assert_eq!(id(&three), format!("ollama:tiny@{}/3", three.host()));
    let model = HttpEmbedder::ollama(EmbeddingServiceConfig::new(&two.url, "tiny"));
    let asked = two.seen().len();
    for other in ["all-minilm-l6-v2", "ollama:tiny", &format!("ollama:tiny@{}/2", three.host())] {
        assert!(!model.makes(other).unwrap(), "{other}");
    }
    assert_eq!(two.seen().len(), asked, "another name is another model without asking");
    assert!(model.makes(&id(&two)).unwrap());
    assert!(!model.makes(&format!("ollama:tiny@{}/3", two.host())).unwrap());
}

#[test]
fn a_size_that_is_known_is_not_asked_for_and_not_trusted() {
    let server = Server::start(|_, _| say(&json!({ "embeddings": [[1.0, 0.0]] })));
    let known = |size: usize| {
        let known = Some(format!("ollama:tiny@{}/{size}", server.host()));
        HttpEmbedder::ollama(EmbeddingServiceConfig {
            known,
            ..EmbeddingServiceConfig::new(&server.url, "tiny")
        })
    };
    let right = known(2);
    assert!(right.model().unwrap().ends_with("/2"));
    assert_eq!(server.seen().len(), 0);
    assert_eq!(right.embed(&["one"]).unwrap(), [[1.0, 0.0]]);
    let wrong = known(5);
    assert!(wrong.model().unwrap().ends_with("/5"));
    let described = wrong.embed(&["one"]).unwrap_err().to_string();
    assert!(described.ends_with("a vector of 2 dimensions came back where the others have 5"), "{described}");
    assert!(wrong.model().unwrap().ends_with("/2"), "now it is known better");
    assert_eq!(wrong.embed(&["one"]).unwrap(), [[1.0, 0.0]]);
}

#[test]
fn who_is_in_a_hurry_asks_once_and_waits_for_all_of_it_together() {
    let hurried = |url: &str, milliseconds: u64| {
        let time_out = Duration::from_millis(milliseconds);
        let service = EmbeddingServiceConfig {
            time_out,
            patience: RetryPolicy::Hurried,
            ..EmbeddingServiceConfig::new(url, "small")
        };
        HttpEmbedder::open_ai(service, None)
    };
    let busy = Server::start(|_, _| status(503));
    hurried(&busy.url, 1_000).embed(&["one"]).unwrap_err();
    assert_eq!(busy.seen().len(), 1);
    let slow = Server::start(|_, question| {
        thread::sleep(Duration::from_millis(300));
        vectors(question)
    });
    let described = hurried(&slow.url, 500).embed(&["text"; 640]).unwrap_err().to_string();
    assert!(described.contains("did not answer within 0.5 s"), "{described}");
    assert!(slow.seen().len() <= 2, "{}", slow.seen().len());
}

#[test]
fn a_password_in_the_address_is_used_and_never_shown() {
    let server = Server::start(|_, _| {
        let echo = format!("no, me:hunter2: {}", "hunter2 key=k123 blah ".repeat(100));
        Reply::Say(403, "", json!({ "error": { "message": echo } }).to_string())
    });
    let written = format!("http://me:hunter2@{}/v1?key=k123", server.host());
    let model = HttpEmbedder::open_ai(EmbeddingServiceConfig::new(&written, "small"), None);
    let described = model.embed(&["one"]).unwrap_err().to_string();
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/embeddings?key=k123 HTTP/1.1");
    assert!(seen.headers.contains(&"authorization: basic bwu6ahvudgvymg==".to_owned()), "{:?}", seen.headers);
    let debug = format!("{model:?} {described}");
    assert!(!debug.contains("hunter2") && !debug.contains("k123"), "{debug}");
    assert!(described.len() < 300, "{described}");
    let nowhere =
        HttpEmbedder::ollama(EmbeddingServiceConfig::new("http://me:hunter2@127.0.0.1:1/?key=k123", "tiny"));
    let described = nowhere.embed(&["one"]).unwrap_err().to_string();
    assert!(!described.contains("hunter2") && !described.contains("k123"), "{described}");
    let no_address =
        HttpEmbedder::ollama(EmbeddingServiceConfig::new("http://me:hunter2@ bad host/?key=k123", "tiny"));
    let described = no_address.embed(&["one"]).unwrap_err().to_string();
    assert!(!described.contains("hunter2") && !described.contains("k123"), "{described}");
}
