//! `tulving llm test` and `tulving usage`, with a service of the test: errors and hints, the spent tokens, and no calls while
//! the model is off.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::{Run, Transcript, Tulving, assert_transcript, finish};
use crate::serve::client::Server;
use crate::shell::terminal::{CTRL_C, Terminal};

const KEY: &str = "sk-not-to-be-seen";
const KEY_LIKE: &str = "sk-proj-Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3Jp5Gc0";

/// A service that gives prepared answers in order, and records the requests.
pub(crate) struct Service {
    pub(crate) url: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Service {
    pub(crate) fn saying(status: u16, body: &str) -> Self {
        let body = body.to_owned();
        Self::answering(move |_| (status, body.clone()))
    }

    /// Creates a service that answers each request with a status and a body.
    pub(crate) fn answering(answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&heard);
        // Ends with the process, because a listener cannot be stopped.
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream.try_clone().expect("shared"));
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
                let length = head.to_lowercase().split("content-length: ").nth(1).map_or(0, |rest| {
                    rest.split("\r\n").next().and_then(|length| length.parse().ok()).unwrap_or(0)
                });
                let mut asked = vec![0; length];
                let _ = reader.read_exact(&mut asked);
                let asked = String::from_utf8_lossy(&asked).into_owned();
                log.lock().expect("whole").push(head + &asked);
                let (status, body) = answer(&asked);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\nretry-after: 0\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, heard }
    }

    /// Creates a service with the protocol of OpenAI, which calls the tool as requested.
    fn good() -> Self {
        Self::saying(200, &good().to_string())
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("whole").clone()
    }
}

fn good() -> Value {
    let call = json!({ "id": "c1", "type": "function",
                       "function": { "name": "check", "arguments": "{\"word\": \"ready\"}" } });
    json!({ "choices": [{ "message": { "content": null, "tool_calls": [call] }, "finish_reason": "tool_calls" }],
            "usage": { "prompt_tokens": 61, "completion_tokens": 14 } })
}

/// Sets up a language model at that address.
pub(crate) fn set_up(command: &mut Command, url: &str) {
    command.env("TULVING_LLM_PROVIDER", "openai").env("TULVING_LLM_MODEL", "small");
    command.env("TULVING_LLM_BASE_URL", url).env("TULVING_LLM_API_KEY", KEY);
}

pub(crate) fn asking(tulving: &Tulving, url: &str, args: &[&str]) -> Command {
    let mut command = tulving.command(args);
    set_up(&mut command, url);
    command
}

/// Runs a command, whose output must not contain the key.
fn run(command: Command) -> Run {
    let run = finish(command, b"");
    assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "{}{}", run.out, run.err);
    run
}

#[test]
fn a_good_set_up_is_tried_in_one_call_and_what_it_cost_is_kept() {
    let tulving = Tulving::new();
    let service = Service::good();
    let described = run(asking(&tulving, &service.url, &["llm", "test", "--json"]));
    assert_eq!(described.code, 0, "{}", described.err);
    let report: Value = serde_json::from_str(&described.out).expect("one document");
    assert_eq!((&report["provider"], &report["model"]), (&json!("openai"), &json!("small")));
    assert_eq!((&report["tools"], &report["ended"]), (&json!("work"), &json!("tool_calls")));
    assert_eq!((&report["tokens_in"], &report["tokens_out"]), (&json!(61), &json!(14)));
    assert_eq!(report["key"], "environment TULVING_LLM_API_KEY");
    assert!(report["latency_ms"].is_u64());
    assert_eq!(service.heard().len(), 1);
    assert!(service.heard()[0].contains(KEY), "the service gets it");

    let shown = run(asking(&tulving, &service.url, &["llm", "test"]));
    assert!(shown.out.contains("61 tokens in and 14 out") && shown.out.contains("work"), "{}", shown.out);
    let usage = tulving.json(&["usage"]);
    let [row] = &usage["usage"].as_array().expect("rows")[..] else { panic!("one row: {usage}") };
    assert_eq!((&row["pass"], &row["calls"], &row["failures"]), (&json!("test"), &json!(2), &json!(0)));
    assert_eq!((&row["tokens_in"], &row["tokens_out"]), (&json!(122), &json!(28)));
    assert_eq!(usage["today"], 150);
    let shown = tulving.ok(&["usage", "--days", "30"]);
    assert!(
        shown.lines().nth(1).is_some_and(|line| line.contains("openai") && line.contains("122")),
        "{shown}"
    );
    let stored = tulving.files_with(KEY);
    assert!(stored.is_empty(), "the key is in {stored:?}");
}

#[test]
fn what_is_wrong_with_a_set_up_is_said_with_what_to_do() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    transcript
        .run(&["llm", "test"])
        .run(&["llm", "key", "set"])
        .run(&["usage"])
        .run(&["usage", "--days", "0"])
        .run(&["llm"]);
    let mut note = |what: &str, url: &str, command: Command| {
        let mut described = run(command);
        // A port differs from run to run, and so do the columns beside it.
        for text in [&mut described.out, &mut described.err] {
            *text = text.replace(url, "[url]");
        }
        transcript.note(&format!("# {what}\n$ tulving llm test"), &described);
    };
    let model_unknown =
        r#"{"error": {"message": "The model `small` does not exist", "code": "model_not_found"}}"#;
    let words = r#"{"choices": [{"message": {"content": "I am ready!"}, "finish_reason": "stop"}]}"#;
    for (what, status, body) in [
        ("wrong key", 401, r#"{"error": {"message": "Incorrect API key provided: sk-not-to-be-seen"}}"#),
        ("nothing there", 404, "404 page not found"),
        ("unknown model", 404, model_unknown),
        ("too many calls", 429, r#"{"error": {"message": "slow down"}}"#),
        ("trouble of its own", 500, "{}"),
        ("sent elsewhere", 301, ""),
        ("not JSON", 200, "Hello!"),
        ("another protocol", 200, r#"{"message": {"content": "hi"}}"#),
        ("web page", 200, "<!doctype html><title>Sign in</title>"),
        ("no tools", 200, words),
    ] {
        let service = Service::saying(status, body);
        // Not what it takes, which differs.
        let mut command = asking(&tulving, &service.url, &["llm", "test"]);
        if what == "no tools" {
            command.args(["--json"]);
            let described = run(command);
            assert!(described.out.contains("\"not_called\"") && described.code == 0, "{}", described.out);
            assert!(
                described.err.contains("did not use the tool") && described.err.contains("I am ready!"),
                "{}",
                described.err
            );
            continue;
        }
        note(what, &service.url, command);
    }
    let nobody = "http://127.0.0.1:1";
    note("nobody there", nobody, asking(&tulving, nobody, &["llm", "test"]));
    let bare = |variables: &[(&str, &str)]| {
        let mut command = asking(&tulving, "", &["llm", "test"]);
        command.env_remove("TULVING_LLM_API_KEY").envs(variables.iter().copied());
        command
    };
    note("no key", nobody, bare(&[]));
    note("no model", nobody, bare(&[("TULVING_LLM_MODEL", ""), ("OPENAI_API_KEY", KEY)]));
    note("no such file", nobody, bare(&[("TULVING_LLM_KEY_FILE", "none.key")]));
    note(
        "a key that was given as the name of its entry",
        nobody,
        bare(&[("TULVING_LLM_KEY_ENTRY", KEY_LIKE)]),
    );
    note("no such provider", nobody, bare(&[("TULVING_LLM_PROVIDER", "claude")]));
    assert_transcript!(transcript);
}

#[test]
fn a_service_that_hangs_is_left_after_the_time_that_is_set() {
    let tulving = Tulving::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut command = asking(&tulving, &url, &["llm", "test", "--json"]);
    command.env("TULVING_LLM_TIMEOUT_SECONDS", "1");
    let described = run(command);
    assert_eq!(described.code, 6, "{}", described.err);
    assert!(
        described.err.contains("\"llm_timeout\"") && described.err.contains("did not answer within 1 s"),
        "{}",
        described.err
    );
    let usage = tulving.json(&["usage"]);
    assert_eq!(usage["usage"][0]["failures"], 1);
    assert!(usage["today"].as_u64().is_some_and(|tokens| tokens > 0), "what may have been paid for counts");
}

#[test]
fn a_service_of_this_machine_is_not_asked_through_a_proxy() {
    let tulving = Tulving::new();
    let (service, proxy) = (Service::good(), Service::saying(200, "{}"));
    let mut command = asking(&tulving, &service.url, &["llm", "test"]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        command.env(name, &proxy.url);
    }
    assert_eq!(run(command).code, 0);
    assert_eq!((service.heard().len(), proxy.heard().len()), (1, 0));
}

#[test]
fn a_spent_budget_stops_calls_before_they_are_made() {
    let tulving = Tulving::new();
    let service = Service::good();
    let test = |budget: &str| {
        let mut command = asking(&tulving, &service.url, &["llm", "test", "--json"]);
        command.env("TULVING_LLM_TOKENS_PER_DAY", budget);
        run(command)
    };
    assert_eq!(test("70").code, 0);
    let spent = test("70");
    assert_eq!(spent.code, 5, "{}", spent.err);
    assert!(spent.err.contains("75 tokens were spent today; the limit is 70"), "{}", spent.err);
    let help = run(tulving.command(&["--help"])).out;
    let described = help.split("\n  5 ").nth(1).and_then(|rest| rest.split("\n  6 ").next()).expect("a code");
    assert!(described.contains("has spent the day's tokens"), "{described}");
    assert_eq!(service.heard().len(), 1);
    assert_eq!(test("76").code, 0);
    assert_eq!(service.heard().len(), 2);
}

#[test]
fn the_key_is_read_from_its_file_and_shown_nowhere() {
    let tulving = Tulving::new();
    let service = Service::good();
    std::fs::create_dir(tulving.home()).expect("a home");
    std::fs::write(tulving.home().join("llm.key"), format!("{KEY}\n")).expect("written");
    let config = format!(
        "[llm]\nprovider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"http://me:hunter2@{}/?q=t123\"\nkey_file = \"llm.key\"\n",
        service.url.trim_start_matches("http://")
    );
    tulving.configure(&config);
    for args in
        [&["llm", "test"][..], &["config"], &["config", "--json"], &["doctor"], &["save", "one"], &["usage"]]
    {
        let described = run(tulving.command(args));
        assert!(
            !format!("{}{}", described.out, described.err).contains("hunter2"),
            "{args:?}: {}{}",
            described.out,
            described.err
        );
        assert!(
            !format!("{}{}", described.out, described.err).contains("t123"),
            "{args:?}: {}{}",
            described.out,
            described.err
        );
    }
    assert!(service.heard()[0].contains(&format!("x-api-key: {KEY}")), "{:?}", service.heard());
    assert!(tulving.ok(&["get", "1"]).contains("one"));
}

/// Uses the kernel's keyring; if it is refused, as in many containers, checks the refusal.
#[cfg(target_os = "linux")]
#[test]
fn the_key_is_kept_in_the_keyring_of_the_system_and_shown_nowhere() {
    let tulving = Tulving::new();
    let service = Service::good();
    let entry = format!("it-{}", std::process::id());
    let command = |args: &[&str]| {
        let mut command = asking(&tulving, &service.url, args);
        command.env_remove("TULVING_LLM_API_KEY").env("TULVING_LLM_KEY_ENTRY", &entry);
        command
    };
    let given = |key: &str| {
        let set = finish(command(&["llm", "key", "set"]), key.as_bytes());
        assert!(!format!("{}{}", set.out, set.err).contains(key.trim()), "{}{}", set.out, set.err);
        set
    };
    for wrong in ["two words", "\u{fc}ber"] {
        assert!(given(wrong).err.contains("invalid key: "), "{wrong}");
    }
    let none = finish(command(&["llm", "key", "set"]), b" \n");
    assert_eq!((none.code, none.err.contains("no key was given")), (2, true), "{}", none.err);

    let set = given(&format!("{KEY}\n"));
    if set.code != 0 {
        assert_eq!(set.code, 9, "{}", set.err);
        assert!(
            set.err.contains(&format!("the entry `{entry}`")) && set.err.contains("hint:"),
            "{}",
            set.err
        );
        return;
    }
    assert!(set.out.contains("The kernel forgets it"), "{}", set.out);
    let described = run(command(&["llm", "test", "--json"]));
    let config = run(command(&["config"]));
    let mut before = command(&["llm", "key", "set"]);
    before.env("TULVING_LLM_API_KEY", KEY);
    let before = finish(before, KEY.as_bytes());
    let forgotten = run(command(&["llm", "key", "forget", "--json"]));

    let report: Value = serde_json::from_str(&described.out).expect("one document");
    assert_eq!(report["key"], format!("keyring entry {entry}"));
    assert!(service.heard()[0].contains(KEY), "the service gets it");
    let line = config.out.lines().find(|line| line.starts_with("llm key")).expect("a line");
    assert!(line.ends_with(&format!("keyring entry {entry}")), "{line}");
    assert!(
        before.err.contains("another key is used instead: environment TULVING_LLM_API_KEY"),
        "{}",
        before.err
    );
    assert_eq!((forgotten.code, forgotten.out.contains("forgotten")), (0, true), "{}", forgotten.err);
    assert!(tulving.files_with(KEY).is_empty());

    for args in [&["llm", "test"][..], &["llm", "key", "forget"]] {
        let gone = run(command(args));
        assert_eq!(gone.code, 9, "{}", gone.err);
        assert!(gone.err.contains(&format!("has no entry `{entry}`")), "{}", gone.err);
    }
    let config = run(command(&["config"]));
    assert!(config.err.contains("has no entry") && config.code == 0, "{}", config.err);
    assert_eq!(run(command(&["save", "tea"])).code, 0, "it keeps nobody from the memories");
}

#[test]
fn a_set_up_that_cannot_be_used_keeps_nobody_from_the_memories() {
    let tulving = Tulving::new();
    for (name, value) in [("TULVING_LLM_MODEL", ""), ("TULVING_LLM_KEY_FILE", "no/such/file")] {
        let mut save = asking(&tulving, "", &["save", &format!("with a wrong {name}")]);
        save.env_remove("TULVING_LLM_API_KEY").env(name, value);
        let saved = run(save);
        assert_eq!((saved.code, saved.err.as_str()), (0, ""), "{}", saved.err);
    }
    let mut recall = asking(&tulving, "http://127.0.0.1:1", &["recall", "wrong"]);
    recall.env_remove("TULVING_LLM_API_KEY");
    assert_eq!(run(recall).code, 0);
}

#[test]
fn off_means_that_no_connection_is_made() {
    let tulving = Tulving::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    silent.set_nonblocking(true).expect("it does not wait");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    let off = |command: &mut Command| {
        command.env("TULVING_LLM_PROVIDER", "none").env("TULVING_LLM_BASE_URL", &url);
        command.env("TULVING_LLM_MODEL", "small").env("TULVING_LLM_API_KEY", KEY);
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(proxy, &url);
        }
    };
    for args in [
        &["save", "I prefer tea"][..],
        &["turn", "log", "user", "I prefer tea to coffee"],
        &["journal", "--note", "Tea it is"],
        &["recall", "what do I drink"],
        &["context"],
        &["jobs", "run"],
        &["doctor"],
        &["usage"],
        &["llm", "test"],
    ] {
        let mut command = tulving.command(args);
        off(&mut command);
        run(command);
    }
    let server = Server::start_with(&tulving, off);
    let body = json!({ "role": "user", "content": "I always take my tea without milk" }).to_string();
    let logged = server.ask("POST", "/v1/turns", &[("Content-Type", "application/json")], body.as_bytes());
    assert_eq!(logged.status, 201, "{}", logged.text());
    assert_eq!(server.get("/v1/usage").json()["data"]["provider"], Value::Null);
    // The maintenance of the server runs between calls.
    thread::sleep(Duration::from_millis(300));
    let nobody = silent.accept().expect_err("nobody may come");
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
}

#[test]
fn what_was_spent_is_told_over_http_to_admins_of_the_org() {
    let tulving = Tulving::new();
    let service = Service::good();
    assert_eq!(run(asking(&tulving, &service.url, &["llm", "test"])).code, 0);
    let server = Server::start_with(&tulving, |command| {
        command.env("TULVING_LLM_PROVIDER", "ollama").env("TULVING_LLM_MODEL", "tiny");
        command.env("TULVING_LLM_TOKENS_PER_DAY", "1000");
    });
    let described = server.get("/v1/usage?days=1").json()["data"].clone();
    assert_eq!((&described["provider"], &described["model"]), (&json!("ollama"), &json!("tiny")));
    assert_eq!((&described["today"], &described["tokens_per_day"]), (&json!(75), &json!(1_000)));
    assert_eq!(
        (&described["usage"][0]["model"], &described["usage"][0]["calls"]),
        (&json!("small"), &json!(1))
    );
    assert_eq!(server.get("/v1/usage?days=0").status, 400);
    let made = tulving.json(&["token", "create", "--for", "reader", "--role", "reader"]);
    let token = made["token"].as_str().expect("a token");
    let mut as_reader = tulving.command(&["usage", "--json"]);
    as_reader.env("TULVING_TOKEN", token);
    assert_eq!(run(as_reader).code, 8);
    let mut testing = asking(&tulving, &service.url, &["llm", "test"]);
    testing.env("TULVING_TOKEN", token);
    assert_eq!(run(testing).code, 8, "to spend takes an admin too");
    assert_eq!(service.heard().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn control_c_at_the_question_for_a_key_leaves_the_terminal_as_it_was() {
    let tulving = Tulving::new();
    let mut command = tulving.shell("trap : INT; \"$0\" llm key set; echo \"code $?\"; stty -a", &[]);
    command.env("TULVING_LLM_KEY_ENTRY", format!("it-{}-none", std::process::id()));
    let mut terminal = Terminal::start(command, 100);
    terminal.sees("Key: ");
    terminal.types("sk-half").types(CTRL_C);
    let described = terminal.sees("code 130\n");
    assert!(!described.contains("sk-half"), "{described}");
    terminal.sees("\nisig icanon iexten echo ");
    assert_eq!(terminal.ends().code(), Some(0));
}
