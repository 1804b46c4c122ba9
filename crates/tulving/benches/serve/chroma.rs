//! chromadb in the benchmark: its own server on the loopback, with the requests that its own client sends.
//!
//! It gets the vectors of questions and memories, so it embeds nothing; it ranks by vectors alone. Its telemetry and its log
//! are turned off.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::json;

use crate::data::{self, DIMENSIONS, MOST_QUESTIONS, REAL};
use crate::driver::{Connection, Traffic, write_request};
use crate::peer::{self, said_by};
use crate::process::{Process, Server};
use crate::words::Words;

const PACKAGES: [&str; 2] = ["numpy", "chromadb"];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/serve/chroma.py");
const BASE: &str = "/api/v2/tenants/default_tenant/databases/default_database/collections";
/// Maximum time until it listens.
const START: Duration = Duration::from_secs(120);

/// Creates its environment, and returns the folder of its programs.
pub(crate) fn environment(folder: &Path) -> anyhow::Result<PathBuf> {
    let python = peer::environment(&folder.join("venv"), &[&PACKAGES])?;
    Ok(python.parent().context("a folder")?.to_owned())
}

/// Creates a collection with this many memories, and returns the version.
pub(crate) fn load(
    programs: &Path,
    folder: &Path,
    memories: usize,
    embedded: &[f32],
) -> anyhow::Result<String> {
    let (texts, vectors) = (folder.with_extension("txt"), folder.with_extension("f32"));
    let words = Words::new();
    let mut lines = BufWriter::new(File::create(&texts)?);
    let mut numbers = BufWriter::new(File::create(&vectors)?);
    for number in 0..memories {
        writeln!(lines, "{}", words.text(number))?;
        numbers.write_all(&data::bytes(&data::vector(embedded, number)))?;
    }
    lines.flush()?;
    numbers.flush()?;
    let mut command = Command::new(programs.join("python"));
    command.arg(SCRIPT).arg(folder).arg(memories.to_string()).args([&texts, &vectors]);
    let version = said_by(&mut command)?.trim().to_owned();
    fs::remove_file(texts)?;
    fs::remove_file(vectors)?;
    Ok(version)
}

/// Starts its server on a folder.
pub(crate) fn start(programs: &Path, folder: &Path, embedded: Arc<[f32]>) -> anyhow::Result<Server> {
    // It needs a port number, so find a free one.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut command = Command::new(programs.join("python"));
    command.arg(programs.join("chroma")).args(["run", "--host", "127.0.0.1", "--path"]).arg(folder);
    command.args(["--port", &address.port().to_string()]);
    command.env("ANONYMIZED_TELEMETRY", "False").env("RUST_LOG", "off");
    let mut process = Process(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        ensure!(began.elapsed() < START && !process.has_ended()?, "it does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(Server { process, address, traffic: Box::new(Talk::new(address, embedded)?) })
}

/// The requests of the clients.
struct Talk {
    words: Words,
    embedded: Arc<[f32]>,
    add: String,
    get: String,
    queries: Vec<Vec<u8>>,
}

#[derive(Deserialize)]
struct Collection {
    id: String,
}

#[derive(Deserialize)]
struct Documents {
    documents: Vec<String>,
}

impl Talk {
    fn new(address: SocketAddr, embedded: Arc<[f32]>) -> anyhow::Result<Self> {
        let mut asking = Vec::new();
        write_request(&mut asking, &format!("GET {BASE}/memories"), "", b"");
        let Collection { id } = serde_json::from_slice(Connection::open(address)?.ask(&asking)?)?;
        let query = |number: usize| {
            let place = REAL + number;
            let vector = &embedded[place * DIMENSIONS..(place + 1) * DIMENSIONS];
            let body = json!({
                "query_embeddings": [vector], "n_results": 10, "include": ["documents", "distances"]
            });
            let mut bytes = Vec::new();
            write_request(&mut bytes, &format!("POST {BASE}/{id}/query"), "", body.to_string().as_bytes());
            bytes
        };
        let queries = (0..MOST_QUESTIONS).map(query).collect();
        let (add, get) = (format!("POST {BASE}/{id}/add"), format!("POST {BASE}/{id}/get"));
        Ok(Self { words: Words::new(), embedded, add, get, queries })
    }
}

impl Traffic for Talk {
    fn recall(&self, number: usize, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.queries[number % self.queries.len()]);
    }

    fn save(&self, number: usize, bytes: &mut Vec<u8>) {
        let vector = BASE64.encode(&data::bytes(&data::vector(&self.embedded, number)));
        let text = self.words.text(number);
        let body =
            format!("{{\"ids\":[\"{number}\"],\"embeddings\":[\"{vector}\"],\"documents\":[\"{text}\"]}}");
        write_request(bytes, &self.add, "", body.as_bytes());
    }

    fn is_answer(&self, body: &[u8]) -> bool {
        body.starts_with(b"{\"ids\":[[\"")
    }

    fn receipt(&self, number: usize, _: &[u8]) -> anyhow::Result<String> {
        Ok(number.to_string())
    }

    fn is_there(&self, asking: &mut Connection, number: usize, receipt: &str) -> anyhow::Result<bool> {
        let mut request = Vec::new();
        let body = json!({ "ids": [receipt], "include": ["documents"] }).to_string();
        write_request(&mut request, &self.get, "", body.as_bytes());
        let Documents { documents } = serde_json::from_slice(asking.ask(&request)?)?;
        Ok(documents == [self.words.text(number)])
    }
}
