//! Tulving in the benchmark: a home that is loaded once, the binary that serves it, and the same server with prepared
//! vectors.
//!
//! Memories are loaded with `save_many` and their vectors with `Write::Embed`, under the name of the built-in model.
//! Computing real vectors would take minutes, and a search takes the same time with any vectors.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tulving_core::model::answer::SaveOutcome;
use tulving_core::model::change::{Actor, ChangeSet, Write};
use tulving_core::model::error::ModelError;
use tulving_core::model::id::PrincipalId;
use tulving_core::model::limits::Limits;
use tulving_core::model::memory::Embedding;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{
    Clock as _, Embedder, NoExtractor, NoFiles, NoObjects, Store as _, SystemClock, Upkeep,
};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_models::MiniLm;
use tulving_server::http::{HttpApp, Listener, RequestLimits as Bounds};
use tulving_store::{FoldOutcome, Home, SearchIndex, SqliteOptions, SqliteStore};

use crate::data::{self, DIMENSIONS, REAL};
use crate::driver::{Connection, Traffic, write_request};
use crate::maintenance::Maintenance;
use crate::process::{Process, Server};
use crate::words::{Words, has_two_sentences};

/// Number of memories that are saved and get their vectors in one act.
const BATCH: usize = 1_000;

/// The source of vectors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// The built-in model.
    BuiltIn,
    /// A table in memory.
    Prepared,
    /// None: memories are found by their words.
    Off,
}

/// An open home.
struct Bed {
    engine: Arc<Engine>,
    store: Arc<SqliteStore>,
    index: Arc<SearchIndex>,
}

impl Bed {
    fn open(folder: &Path, embedder: Arc<dyn Embedder>) -> anyhow::Result<Self> {
        let home = Home::open_or_create(folder)?;
        let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
        let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
        let engine = Arc::new(Engine::new(Ports {
            store: store.clone(),
            embedder,
            former: Vec::new(),
            index: index.clone(),
            files: Arc::new(NoFiles),
            objects: Arc::new(NoObjects),
            extractor: Arc::new(NoExtractor),
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        }));
        Ok(Self { engine, store, index })
    }
}

/// Creates a home with this many memories, their vectors, a complete index and a token.
pub(crate) fn load(folder: &Path, memories: usize, embedded: &[f32]) -> anyhow::Result<()> {
    let (words, model) = (Words::new(), MiniLm.model()?);
    let bed = Bed::open(folder, Arc::new(MiniLm))?;
    let user = bed.engine.user(Origin::Api, None)?;
    for first in (0..memories).step_by(BATCH) {
        let numbers = first..memories.min(first + BATCH);
        let requests = numbers.clone().map(|number| SaveRequest::new(words.text(number))).collect();
        let receipts = bed.engine.save_many(&user, requests)?;
        ensure!(
            receipts.iter().all(|receipt| receipt.outcome == SaveOutcome::Created),
            "two memories have one text"
        );
        let writes = receipts.iter().zip(numbers).map(|(receipt, number)| {
            // The vectors of sentences may be any vectors.
            let places = memories + 2 * number..memories + 2 * number + sentences(number);
            let embedding = Embedding {
                model: model.clone(),
                vector: data::vector(embedded, number),
                sentences: places.map(|place| data::vector(embedded, place)).collect(),
            };
            Write::Embed {
                id: receipt.memory.id,
                from: receipt.memory.version,
                embeddings: vec![(0, embedding)],
            }
        });
        let by = Actor { principal: PrincipalId::USER, agent: None };
        let act = ChangeSet { by, at: SystemClock.now(), rights: Vec::new(), writes: writes.collect() };
        bed.store.apply(&act)?;
    }
    while bed.index.tend_now()? != FoldOutcome::NoNeed {}
    drop(bed);
    let made = binary(folder, Model::Off).arg("list").output()?;
    ensure!(made.status.success(), "the token was not made: {}", String::from_utf8_lossy(&made.stderr));
    Ok(())
}

/// Returns the number of sentences of a text that have their own vectors.
fn sentences(number: usize) -> usize {
    if has_two_sentences(number) { 2 } else { 0 }
}

fn binary(home: &Path, model: Model) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    command.env_clear().env("TULVING_HOME", home).stdin(Stdio::null());
    if model == Model::Off {
        command.env("TULVING_EMBEDDING_PROVIDER", "off");
    }
    command
}

/// The address in the first line of output, which is the same for both servers.
#[derive(Serialize, Deserialize)]
struct Listening {
    url: String,
}

/// Starts a server on a home.
pub(crate) fn start(home: &Path, model: Model, vectors: &Path) -> anyhow::Result<Server> {
    let mut command = match model {
        Model::BuiltIn | Model::Off => {
            let mut command = binary(home, model);
            command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
            // All clients use one token without a rate limit, and the log is not read.
            command.env("TULVING_SERVER_REQUESTS_PER_MINUTE", "0").env("TULVING_LOG", "warn");
            command
        }
        Model::Prepared => {
            let mut command = Command::new(env::current_exe()?);
            command.arg("prepared").arg(home).arg(vectors);
            command
        }
    };
    let mut process = Process(command.stdout(Stdio::piped()).spawn()?);
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().context("its output")?).read_line(&mut line)?;
    let Listening { url } = serde_json::from_str(&line).context("it did not say where it listens")?;
    let address = url.strip_prefix("http://").context("an address")?.parse()?;
    let token = fs::read_to_string(home.join("api-token"))?;
    Ok(Server { process, address, traffic: Box::new(Talk::new(token.trim(), model)) })
}

/// Serves a home as the binary does, except that vectors are looked up.
pub(crate) fn serve_prepared(home: &Path, vectors: &Path) -> anyhow::Result<()> {
    let bed = Bed::open(home, Arc::new(Prepared::new(data::embedded(vectors)?)))?;
    let upkeep: Arc<dyn Upkeep> = bed.store.clone();
    let maintenance = Maintenance::start(&bed.engine, bed.store.home(), &upkeep, &bed.index);
    let listener = Listener::open(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let listening = Listening { url: format!("http://{}", listener.address()) };
    writeln!(stdout(), "{}", json!(listening))?;
    // All clients use one token without a rate limit.
    let bounds = Bounds { requests_per_minute: 0, ..Bounds::default() };
    listener.serve(HttpApp::new(bed.engine, Arc::new(maintenance.signal()), bounds), ());
    maintenance.stop();
    Ok(())
}

/// Returns the vector of a text at once: a prepared one for a question, otherwise one computed from its letters.
struct Prepared {
    embedded: Vec<f32>,
    questions: HashMap<String, usize>,
}

impl Prepared {
    fn new(embedded: Vec<f32>) -> Self {
        Self { embedded, questions: questions().into_iter().zip(REAL..).collect() }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        if let Some(place) = self.questions.get(text) {
            return self.embedded[place * DIMENSIONS..(place + 1) * DIMENSIONS].to_vec();
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        data::vector(&self.embedded, REAL + (hasher.finish() >> 32) as usize)
    }
}

impl Embedder for Prepared {
    fn model(&self) -> Result<String, ModelError> {
        MiniLm.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// The questions: common and rare words in turn.
pub(crate) fn questions() -> Vec<String> {
    let words = Words::new();
    let question = |number: usize| match number % 2 {
        0 => words.common_question(number),
        _ => words.rare_question(number),
    };
    (0..data::MOST_QUESTIONS).map(question).collect()
}

/// The requests of the clients.
struct Talk {
    words: Words,
    authorization: String,
    recalls: Vec<Vec<u8>>,
    model: Model,
}

#[derive(Deserialize)]
struct Answered {
    data: Memory,
}

#[derive(Deserialize)]
struct Memory {
    id: String,
    content: String,
}

impl Talk {
    fn new(token: &str, model: Model) -> Self {
        let authorization = format!("Authorization: Bearer {token}\r\n");
        let recall = |query: String| {
            let mut bytes = Vec::new();
            let body = json!({ "query": query }).to_string();
            write_request(&mut bytes, "POST /v1/recall", &authorization, body.as_bytes());
            bytes
        };
        let recalls = questions().into_iter().map(recall).collect();
        Self { words: Words::new(), authorization, recalls, model }
    }
}

impl Traffic for Talk {
    fn recall(&self, number: usize, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.recalls[number % self.recalls.len()]);
    }

    fn save(&self, number: usize, bytes: &mut Vec<u8>) {
        // The words need no escaping.
        let body = format!("{{\"content\":\"{}\"}}", self.words.text(number));
        write_request(bytes, "POST /v1/memories", &self.authorization, body.as_bytes());
    }

    /// Returns true if something was found and no lane failed; the list of failed lanes is at the end of the answer. Without
    /// vectors, rare words may find nothing.
    fn is_answer(&self, body: &[u8]) -> bool {
        match self.model {
            Model::Off => body.starts_with(b"{\"data\":{\"memories\":["),
            Model::BuiltIn | Model::Prepared => {
                body.starts_with(b"{\"data\":{\"memories\":[{") && body.ends_with(b"\"warnings\":[]}}")
            }
        }
    }

    fn receipt(&self, _: usize, body: &[u8]) -> anyhow::Result<String> {
        Ok(serde_json::from_slice::<Answered>(body)?.data.id)
    }

    fn is_there(&self, asking: &mut Connection, number: usize, receipt: &str) -> anyhow::Result<bool> {
        let mut request = Vec::new();
        write_request(&mut request, &format!("GET /v1/memories/{receipt}"), &self.authorization, b"");
        let found: Answered = serde_json::from_slice(asking.ask(&request)?)?;
        Ok(found.data.id == receipt && found.data.content == self.words.text(number))
    }
}
