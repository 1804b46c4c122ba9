//! Embedding services: those with the protocol of OpenAI, and Ollama.
//!
//! Answers are checked: there must be one vector for each text, all vectors must have the same size, and all numbers
//! must be finite. Then the vectors are normalised. A busy or unreachable service is called again at most twice, unless
//! the caller is in a hurry. The id of a model contains the host and the number of dimensions, because different models
//! may have the same name. A service that does not answer is not called for a while ([`crate::breaker`]);
//! other processes share this pause ([`pause`](super::pause)).

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tulving_core::model::error::ModelError;
use tulving_core::ports::{Embedder, first_vector};
use ureq::http::Response;
use ureq::{Agent, Body};

use super::config::{EmbeddingServiceConfig, RetryPolicy};
use super::pause::PauseFile;
use super::{TextPrefixes, unit};
use crate::address::ServiceUrl;
use crate::agent;
use crate::breaker::{BreakerPermit, CallOutcome, CircuitBreaker, CircuitOpenError};
use crate::retry::{AttemptError, asked, retry};
use crate::secret::ApiKey;
use crate::service_message::{complaint, repeated};

/// Number of texts in one request. Most services allow more, but few are faster with more.
const BATCH: usize = 64;
/// Maximum size of an answer, in bytes. 64 vectors of 4,096 numbers take 4 MB as text, so a much larger answer is
/// taken to be something else.
const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;
/// Number of failures in a row after which a service is paused. One timeout is enough.
const FAILURES: u32 = 3;
/// The time for which the service is paused.
const PAUSE: Duration = Duration::from_secs(30);
/// The text that is embedded to learn the number of dimensions.
const PROBE: &str = "dimensions";

/// An embedding model behind an address.
#[derive(Debug)]
pub struct HttpEmbedder {
    protocol: EmbeddingProtocol,
    model: String,
    prefixes: TextPrefixes,
    /// The protocol, the model, the host and the prefixes: the id without the dimensions.
    name: String,
    address: ServiceUrl,
    key: Option<ApiKey>,
    time_out: Duration,
    patience: RetryPolicy,
    agent: OnceLock<Agent>,
    size: Mutex<VectorSize>,
    breaker: CircuitBreaker,
    note: PauseFile,
}

/// The known number of dimensions.
#[derive(Clone, Copy, Debug)]
enum VectorSize {
    Unknown,
    /// The number of dimensions in the id of a known model.
    Presumed(usize),
    /// The size of the first vector. All later vectors must have the same size.
    Seen(usize),
}

#[derive(Clone, Copy, Debug)]
enum EmbeddingProtocol {
    OpenAi,
    Ollama,
}

#[derive(Debug, thiserror::Error)]
enum EmbeddingHttpError {
    #[error("{url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    #[error("{url} did not answer within {} s", time_out.as_secs_f32())]
    TimedOut { url: String, time_out: Duration },
    #[error("{url} answered {status}{}{said}", if said.is_empty() { "" } else { ": " })]
    Status { url: String, status: u16, said: String },
    #[error("the answer of {url} does not contain embeddings: {why}")]
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

impl EmbeddingHttpError {
    /// Returns true if the service itself failed, so that every request may fail.
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
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct OpenAiEmbeddingResponse {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaEmbeddingResponse {
    embeddings: Vec<Vec<f32>>,
}

impl HttpEmbedder {
    /// Creates the embedder for a service with the protocol of OpenAI. The base address is the part before
    /// `/embeddings`.
    pub fn open_ai(service: EmbeddingServiceConfig, key: Option<ApiKey>) -> Self {
        Self::new(EmbeddingProtocol::OpenAi, service, key)
    }

    /// Creates the embedder for Ollama. The base address is the part before `/api`.
    pub fn ollama(service: EmbeddingServiceConfig) -> Self {
        Self::new(EmbeddingProtocol::Ollama, service, None)
    }

    fn new(protocol: EmbeddingProtocol, service: EmbeddingServiceConfig, key: Option<ApiKey>) -> Self {
        let EmbeddingServiceConfig { base_url, model, prefixes, time_out, patience, known, pause_file } =
            service;
        let (word, path) = match protocol {
            EmbeddingProtocol::OpenAi => ("openai", "embeddings"),
            EmbeddingProtocol::Ollama => ("ollama", "api/embed"),
        };
        let name = format!("{word}:{model}@{}{}", base_url.host(), prefixes.id());
        let size = known.and_then(|id| size_in(&id, &name)).map_or(VectorSize::Unknown, VectorSize::Presumed);
        let note = PauseFile::new(pause_file, &name, PAUSE);
        Self {
            protocol,
            model,
            prefixes,
            name,
            address: base_url.below(path),
            key,
            time_out,
            patience,
            agent: OnceLock::new(),
            size: Mutex::new(size),
            breaker: CircuitBreaker::new(FAILURES, PAUSE),
            note,
        }
    }

    fn size(&self) -> VectorSize {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call through, unless this process or another process has found that the service does not answer.
    fn pass(&self) -> Result<BreakerPermit, CircuitOpenError> {
        let pass = self.breaker.pass(Instant::now())?;
        match self.note.open() {
            Some(open) if !pass.is_trial() => Err(open),
            _ => Ok(pass),
        }
    }

    /// Records the result of a call.
    fn ended<T>(&self, pass: BreakerPermit, done: &Result<T, EmbeddingHttpError>) {
        let ending = match done {
            Err(error @ EmbeddingHttpError::TimedOut { .. }) => CallOutcome::TimedOut(error.to_string()),
            Err(error) if error.is_the_services() => CallOutcome::Failed(error.to_string()),
            Ok(_) | Err(_) => CallOutcome::Answered,
        };
        let why = match &ending {
            CallOutcome::TimedOut(why) | CallOutcome::Failed(why) => Some(why.clone()),
            CallOutcome::Answered | CallOutcome::NotAsked => None,
        };
        let opens = self.breaker.note(pass, ending, Instant::now());
        match why {
            // A hurried caller gives up early, so its timeout does not show that the service is down for patient
            // callers.
            Some(why) if opens && self.patience == RetryPolicy::Patient => self.note.write(&why),
            Some(_) => {}
            None => self.note.clear(),
        }
    }

    /// The vectors of all texts.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingHttpError> {
        let begun = Instant::now();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let time_out = match self.patience {
                RetryPolicy::Patient => self.time_out,
                RetryPolicy::Hurried => self.time_out.saturating_sub(begun.elapsed()),
            };
            vectors.extend(self.batch(batch, time_out)?);
        }
        Ok(vectors)
    }

    fn batch(&self, texts: &[&str], time_out: Duration) -> Result<Vec<Vec<f32>>, EmbeddingHttpError> {
        // Some services refuse an empty text.
        let input: Vec<&str> = texts.iter().map(|text| if text.is_empty() { " " } else { *text }).collect();
        let question = serde_json::to_vec(&EmbeddingRequest { model: &self.model, input: &input })
            .map_err(|error| self.garbled(&error))?;
        let ask = || self.ask(&question, time_out);
        let answer = match self.patience {
            RetryPolicy::Patient => retry(ask),
            RetryPolicy::Hurried => ask().map_err(AttemptError::into_error),
        }?;
        let vectors = self.read(&answer, texts.len())?;
        vectors.into_iter().map(|vector| self.check(vector)).collect()
    }

    fn ask(&self, question: &[u8], time_out: Duration) -> Result<Vec<u8>, AttemptError<EmbeddingHttpError>> {
        if time_out.is_zero() {
            return Err(AttemptError::Final(self.timed_out()));
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

    fn failed(&self, error: &ureq::Error) -> AttemptError<EmbeddingHttpError> {
        let unreachable =
            || EmbeddingHttpError::Unreachable { url: self.url(), why: self.repeated(&error.to_string()) };
        match error {
            ureq::Error::Timeout(_) => AttemptError::Final(self.timed_out()),
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
                AttemptError::Passing(unreachable(), None)
            }
            _ => AttemptError::Final(unreachable()),
        }
    }

    fn timed_out(&self) -> EmbeddingHttpError {
        EmbeddingHttpError::TimedOut { url: self.url(), time_out: self.time_out }
    }

    fn garbled(&self, error: &serde_json::Error) -> EmbeddingHttpError {
        EmbeddingHttpError::Garbled { url: self.url(), why: self.repeated(&error.to_string()) }
    }

    /// The address without its hidden parts.
    fn url(&self) -> String {
        self.address.to_string()
    }

    /// Returns a message of the service, made safe to repeat.
    fn repeated(&self, said: &str) -> String {
        repeated(said, &self.address, self.key.as_ref())
    }

    fn refused(&self, response: &Response<Body>, body: &[u8]) -> AttemptError<EmbeddingHttpError> {
        let status = response.status().as_u16();
        let said = self.repeated(&complaint(body));
        let error = EmbeddingHttpError::Status { url: self.url(), status, said };
        match status {
            429 | 500..=599 => AttemptError::Passing(error, asked(response.headers())),
            _ => AttemptError::Final(error),
        }
    }

    fn read(&self, answer: &[u8], asked: usize) -> Result<Vec<Vec<f32>>, EmbeddingHttpError> {
        let garbled = |error| self.garbled(&error);
        let vectors = match self.protocol {
            EmbeddingProtocol::OpenAi => {
                let mut data =
                    serde_json::from_slice::<OpenAiEmbeddingResponse>(answer).map_err(garbled)?.data;
                // If the service numbers the vectors, they are sorted in the order of the texts.
                data.sort_by_key(|vector| vector.index);
                if data.iter().enumerate().any(|(at, vector)| vector.index.is_some_and(|index| index != at)) {
                    return Err(EmbeddingHttpError::Order);
                }
                data.into_iter().map(|vector| vector.embedding).collect()
            }
            EmbeddingProtocol::Ollama => {
                serde_json::from_slice::<OllamaEmbeddingResponse>(answer).map_err(garbled)?.embeddings
            }
        };
        if vectors.len() != asked {
            return Err(EmbeddingHttpError::Count { asked, got: vectors.len() });
        }
        Ok(vectors)
    }

    fn check(&self, vector: Vec<f32>) -> Result<Vec<f32>, EmbeddingHttpError> {
        let vector = unit(vector).ok_or(EmbeddingHttpError::NotNormal)?;
        let got = vector.len();
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *size, VectorSize::Seen(got));
        match before {
            VectorSize::Seen(before) if before != got => {
                *size = VectorSize::Seen(before);
                Err(EmbeddingHttpError::Size { size: before, got })
            }
            // A different size means a different model. Callers still expect the old one, so they must ask for the model
            // again.
            VectorSize::Presumed(before) if before != got => {
                Err(EmbeddingHttpError::Size { size: before, got })
            }
            _ => Ok(vector),
        }
    }
}

/// Returns the number of dimensions in an id, if the id has this name.
fn size_in(id: &str, name: &str) -> Option<usize> {
    id.strip_prefix(name)?.strip_prefix('/')?.parse().ok()
}

impl Embedder for HttpEmbedder {
    /// Calls the service if the dimensions are not known yet.
    fn model(&self) -> Result<String, ModelError> {
        let size = match self.size() {
            VectorSize::Presumed(size) | VectorSize::Seen(size) => size,
            VectorSize::Unknown => self.embed(&[PROBE])?.first().map_or(0, Vec::len),
        };
        Ok(format!("{}/{size}", self.name))
    }

    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        // A different name is a different model, so the service need not be called.
        if size_in(model, &self.name).is_none() {
            return Ok(false);
        }
        Ok(self.model()? == model)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.prefixes.with_passages(texts, |texts| self.embed_as_is(texts))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        first_vector(&self.name, self.embed_as_is(&[&self.prefixes.question(text)])?)
    }
}

impl HttpEmbedder {
    /// Embeds texts that have their prefixes.
    fn embed_as_is(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let failed = |why: String| ModelError::Failed { model: self.name.clone(), why };
        let pass = self.pass().map_err(|open| failed(open.to_string()))?;
        let vectors = self.vectors(texts);
        self.ended(pass, &vectors);
        vectors.map_err(|error| failed(error.to_string()))
    }
}
