//! Services that embed: those that speak as OpenAI does, and Ollama.
//!
//! What comes back is checked before it is believed: one vector for each text, all of one size, all numbers finite. It is
//! normalised here. A service that is busy or away is asked again, twice, unless in a hurry. The id of a model says where
//! it is and how many dimensions it has, because one name may stand for several models. One that does not answer is left
//! alone for a while ([`crate::breaker`]), by other processes too ([`pause`](super::pause)).

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tulving_core::error::ModelError;
use tulving_core::ports::Embedder;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::pause::PauseNote;
use super::unit;
use crate::address::Address;
use crate::agent;
use crate::breaker::{Breaker, Ending, Open, Pass};
use crate::config::{Patience, Service};
use crate::retry::{Failure, asked, retry};
use crate::said::{complaint, repeated};
use crate::secret::Secret;

/// Texts in one request: most services allow more, few gain by it.
const BATCH: usize = 64;
/// 64 vectors of 4,096 numbers as text take 4 MB; whoever sends much more sends something else.
const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;
/// After how many failures in a row a service is left alone; after one where it did not answer in time.
const FAILURES: u32 = 3;
/// For how long.
const PAUSE: Duration = Duration::from_secs(30);
/// What is embedded to learn how many dimensions there are.
const PROBE: &str = "dimensions";

/// An embedding model behind an address.
#[derive(Debug)]
pub struct HttpEmbedder {
    protocol: Protocol,
    model: String,
    /// The protocol, the model and the host: the id without the dimensions.
    name: String,
    address: Address,
    key: Option<Secret>,
    time_out: Duration,
    patience: Patience,
    agent: OnceLock<Agent>,
    size: Mutex<Size>,
    breaker: Breaker,
    note: PauseNote,
}

/// What is known of the dimensions.
#[derive(Clone, Copy, Debug)]
enum Size {
    Unknown,
    /// As others found it before.
    Presumed(usize),
    /// As the first vector has it. All others must have it too.
    Seen(usize),
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    OpenAi,
    Ollama,
}

#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error("{url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    #[error("{url} did not answer within {} s", time_out.as_secs_f32())]
    TimedOut { url: String, time_out: Duration },
    #[error("{url} answered {status}{}{said}", if said.is_empty() { "" } else { ": " })]
    Status { url: String, status: u16, said: String },
    #[error("the answer of {url} is not one about embeddings: {why}")]
    Garbled { url: String, why: String },
    #[error("{got} vectors came back for {asked} texts")]
    Count { asked: usize, got: usize },
    #[error("the vectors that came back are numbered wrongly")]
    Order,
    #[error("a vector of {got} dimensions came back where the others have {size}")]
    Size { size: usize, got: usize },
    #[error("a vector came back that cannot be normalised")]
    NotNormal,
}

impl HttpError {
    /// Whether the service is at fault, so that it may fail at everything.
    fn is_the_services(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } => true,
            Self::Status { status, .. } => matches!(status, 429 | 500..=599),
            Self::Garbled { .. } | Self::Count { .. } | Self::Order | Self::Size { .. } | Self::NotNormal => {
                false
            }
        }
    }
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

impl HttpEmbedder {
    /// A service that speaks as OpenAI does; its address ends before `/embeddings`.
    pub fn open_ai(service: Service, key: Option<Secret>) -> Self {
        Self::new(Protocol::OpenAi, service, key)
    }

    /// Ollama; its address ends before `/api`.
    pub fn ollama(service: Service) -> Self {
        Self::new(Protocol::Ollama, service, None)
    }

    fn new(protocol: Protocol, service: Service, key: Option<Secret>) -> Self {
        let Service { base_url, model, time_out, patience, known, pause_file } = service;
        let (word, path) = match protocol {
            Protocol::OpenAi => ("openai", "embeddings"),
            Protocol::Ollama => ("ollama", "api/embed"),
        };
        let name = format!("{word}:{model}@{}", base_url.host());
        let size = known.and_then(|id| size_in(&id, &name)).map_or(Size::Unknown, Size::Presumed);
        let note = PauseNote::new(pause_file, &name, PAUSE);
        Self {
            protocol,
            model,
            name,
            address: base_url.below(path),
            key,
            time_out,
            patience,
            agent: OnceLock::new(),
            size: Mutex::new(size),
            breaker: Breaker::new(FAILURES, PAUSE),
            note,
        }
    }

    fn size(&self) -> Size {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the service may be asked, as far as this process and others know.
    fn pass(&self) -> Result<Pass, Open> {
        let pass = self.breaker.pass(Instant::now())?;
        match self.note.open() {
            Some(open) if !pass.is_trial() => Err(open),
            _ => Ok(pass),
        }
    }

    /// Takes in what came of a call.
    fn ended<T>(&self, pass: Pass, done: &Result<T, HttpError>) {
        let ending = match done {
            Err(error @ HttpError::TimedOut { .. }) => Ending::TimedOut(error.to_string()),
            Err(error) if error.is_the_services() => Ending::Failed(error.to_string()),
            Ok(_) | Err(_) => Ending::Answered,
        };
        let why = match &ending {
            Ending::TimedOut(why) | Ending::Failed(why) => Some(why.clone()),
            Ending::Answered | Ending::NotAsked => None,
        };
        let opens = self.breaker.note(pass, ending, Instant::now());
        match why {
            // Who is in a hurry gives up early, which says little to those who are not.
            Some(why) if opens && self.patience == Patience::Patient => self.note.write(&why),
            Some(_) => {}
            None => self.note.clear(),
        }
    }

    /// The vectors of all texts.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
        let begun = Instant::now();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let time_out = match self.patience {
                Patience::Patient => self.time_out,
                Patience::Hurried => self.time_out.saturating_sub(begun.elapsed()),
            };
            vectors.extend(self.batch(batch, time_out)?);
        }
        Ok(vectors)
    }

    fn batch(&self, texts: &[&str], time_out: Duration) -> Result<Vec<Vec<f32>>, HttpError> {
        // Some services refuse an empty text.
        let input: Vec<&str> = texts.iter().map(|text| if text.is_empty() { " " } else { *text }).collect();
        let question = serde_json::to_vec(&Question { model: &self.model, input: &input })
            .map_err(|error| self.garbled(&error))?;
        let ask = || self.ask(&question, time_out);
        let answer = match self.patience {
            Patience::Patient => retry(ask),
            Patience::Hurried => ask().map_err(Failure::into_error),
        }?;
        let vectors = self.read(&answer, texts.len())?;
        vectors.into_iter().map(|vector| self.check(vector)).collect()
    }

    fn ask(&self, question: &[u8], time_out: Duration) -> Result<Vec<u8>, Failure<HttpError>> {
        if time_out.is_zero() {
            return Err(Failure::Final(self.timed_out()));
        }
        let mut request = self.agent().post(self.address.reveal()).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.reveal()));
        }
        let request = request.config().timeout_global(Some(time_out)).build();
        let mut response = request.send(question).map_err(|error| self.failed(&error))?;
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.failed(&error))?;
        if response.status().is_success() { Ok(body) } else { Err(self.refused(&response, &body)) }
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(|| agent::config(&self.address).build().into())
    }

    fn failed(&self, error: &ureq::Error) -> Failure<HttpError> {
        let unreachable =
            || HttpError::Unreachable { url: self.url(), why: self.repeated(&error.to_string()) };
        match error {
            ureq::Error::Timeout(_) => Failure::Final(self.timed_out()),
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
                Failure::Passing(unreachable(), None)
            }
            _ => Failure::Final(unreachable()),
        }
    }

    fn timed_out(&self) -> HttpError {
        HttpError::TimedOut { url: self.url(), time_out: self.time_out }
    }

    fn garbled(&self, error: &serde_json::Error) -> HttpError {
        HttpError::Garbled { url: self.url(), why: self.repeated(&error.to_string()) }
    }

    /// The address as it may be shown.
    fn url(&self) -> String {
        self.address.to_string()
    }

    /// What others said, as it may be repeated.
    fn repeated(&self, said: &str) -> String {
        repeated(said, &self.address, self.key.as_ref())
    }

    fn refused(&self, response: &Response<Body>, body: &[u8]) -> Failure<HttpError> {
        let status = response.status().as_u16();
        let said = self.repeated(&complaint(body));
        let error = HttpError::Status { url: self.url(), status, said };
        match status {
            429 | 500..=599 => Failure::Passing(error, asked(response.headers())),
            _ => Failure::Final(error),
        }
    }

    fn read(&self, answer: &[u8], asked: usize) -> Result<Vec<Vec<f32>>, HttpError> {
        let garbled = |error| self.garbled(&error);
        let vectors = match self.protocol {
            Protocol::OpenAi => {
                let mut data = serde_json::from_slice::<OpenAiAnswer>(answer).map_err(garbled)?.data;
                // In the order of the texts, where the service says which is which.
                data.sort_by_key(|vector| vector.index);
                if data.iter().enumerate().any(|(at, vector)| vector.index.is_some_and(|index| index != at)) {
                    return Err(HttpError::Order);
                }
                data.into_iter().map(|vector| vector.embedding).collect()
            }
            Protocol::Ollama => serde_json::from_slice::<OllamaAnswer>(answer).map_err(garbled)?.embeddings,
        };
        if vectors.len() != asked {
            return Err(HttpError::Count { asked, got: vectors.len() });
        }
        Ok(vectors)
    }

    fn check(&self, vector: Vec<f32>) -> Result<Vec<f32>, HttpError> {
        let vector = unit(vector).ok_or(HttpError::NotNormal)?;
        let got = vector.len();
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *size, Size::Seen(got));
        match before {
            Size::Seen(before) if before != got => {
                *size = Size::Seen(before);
                Err(HttpError::Size { size: before, got })
            }
            // From here on it is another model; whoever took it for the old one asks again.
            Size::Presumed(before) if before != got => Err(HttpError::Size { size: before, got }),
            _ => Ok(vector),
        }
    }
}

/// The dimensions that an id of this name has.
fn size_in(id: &str, name: &str) -> Option<usize> {
    id.strip_prefix(name)?.strip_prefix('/')?.parse().ok()
}

impl Embedder for HttpEmbedder {
    /// Asks the service where nothing is known of the dimensions yet.
    fn model(&self) -> Result<String, ModelError> {
        let size = match self.size() {
            Size::Presumed(size) | Size::Seen(size) => size,
            Size::Unknown => self.embed(&[PROBE])?.first().map_or(0, Vec::len),
        };
        Ok(format!("{}/{size}", self.name))
    }

    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        // One of another name is another model, whatever the service would say.
        if size_in(model, &self.name).is_none() {
            return Ok(false);
        }
        Ok(self.model()? == model)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let failed = |why: String| ModelError::Failed { model: self.name.clone(), why };
        let pass = self.pass().map_err(|open| failed(open.to_string()))?;
        let vectors = self.vectors(texts);
        self.ended(pass, &vectors);
        vectors.map_err(|error| failed(error.to_string()))
    }
}
