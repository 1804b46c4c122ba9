//! Services that embed: those that speak as OpenAI does, and Ollama.
//!
//! What comes back is checked before it is believed: one vector for each text, all of one size, all numbers finite. It is
//! normalised here. A service that is busy or away is asked again, twice.

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tulving_core::error::ModelError;
use tulving_core::ports::Embedder;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::unit;
use crate::retry::{Failure, retry};
use crate::secret::Secret;

/// Texts in one request: most services allow more, few gain by it.
const BATCH: usize = 64;
const TIME_OUT: Duration = Duration::from_secs(30);
/// 64 vectors of 4,096 numbers as text take 4 MB; whoever sends much more sends something else.
const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;
/// How much of what a service says about its error is repeated.
const REPEATED: usize = 200;

/// An embedding model behind an address.
#[derive(Debug)]
pub struct HttpEmbedder {
    protocol: Protocol,
    model: String,
    url: String,
    key: Option<Secret>,
    time_out: Duration,
    agent: OnceLock<Agent>,
    /// The size of the first vector. All others must have it too.
    size: OnceLock<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    OpenAi,
    Ollama,
}

#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error("{url} cannot be reached: {source}")]
    Unreachable { url: String, source: Box<ureq::Error> },
    #[error("{url} did not answer within {} s", time_out.as_secs_f32())]
    TimedOut { url: String, time_out: Duration },
    #[error("{url} answered {status}: {said}")]
    Status { url: String, status: u16, said: String },
    #[error("the answer of {url} is not one about embeddings: {source}")]
    Garbled { url: String, source: serde_json::Error },
    #[error("{got} vectors came back for {asked} texts")]
    Count { asked: usize, got: usize },
    #[error("the vectors that came back are numbered wrongly")]
    Order,
    #[error("a vector of {got} dimensions came back where the others have {size}")]
    Size { size: usize, got: usize },
    #[error("a vector came back that cannot be normalised")]
    NotNormal,
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
    /// A service that speaks as OpenAI does; `base_url` ends before `/embeddings`.
    pub fn open_ai(base_url: &str, model: &str, key: Option<Secret>) -> Self {
        Self::new(Protocol::OpenAi, base_url, model, key)
    }

    /// Ollama; `base_url` ends before `/api`.
    pub fn ollama(base_url: &str, model: &str) -> Self {
        Self::new(Protocol::Ollama, base_url, model, None)
    }

    fn new(protocol: Protocol, base_url: &str, model: &str, key: Option<Secret>) -> Self {
        let path = match protocol {
            Protocol::OpenAi => "embeddings",
            Protocol::Ollama => "api/embed",
        };
        Self {
            protocol,
            model: model.to_owned(),
            url: format!("{}/{path}", base_url.trim_end_matches('/')),
            key,
            time_out: TIME_OUT,
            agent: OnceLock::new(),
            size: OnceLock::new(),
        }
    }

    /// Gives each request this long instead of 30 seconds.
    #[must_use]
    pub fn within(self, time_out: Duration) -> Self {
        Self { time_out, agent: OnceLock::new(), ..self }
    }

    fn id(&self) -> String {
        match self.protocol {
            Protocol::OpenAi => format!("openai:{}", self.model),
            Protocol::Ollama => format!("ollama:{}", self.model),
        }
    }

    fn batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, HttpError> {
        // Some services refuse an empty text.
        let input: Vec<&str> = texts.iter().map(|text| if text.is_empty() { " " } else { *text }).collect();
        let question = serde_json::to_vec(&Question { model: &self.model, input: &input })
            .map_err(|source| HttpError::Garbled { url: self.url.clone(), source })?;
        let answer = retry(|| self.ask(&question))?;
        let vectors = self.read(&answer, texts.len())?;
        vectors.into_iter().map(|vector| self.check(vector)).collect()
    }

    fn ask(&self, question: &[u8]) -> Result<Vec<u8>, Failure<HttpError>> {
        let mut request = self.agent().post(&self.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.reveal()));
        }
        let mut response = request.send(question).map_err(|error| self.failed(error))?;
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.failed(error))?;
        if response.status().is_success() { Ok(body) } else { Err(self.refused(&response, &body)) }
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(|| {
            Agent::config_builder()
                .timeout_global(Some(self.time_out))
                .http_status_as_error(false)
                // A key goes to the address that was configured and to no other.
                .max_redirects(0)
                .max_redirects_will_error(false)
                .build()
                .into()
        })
    }

    fn failed(&self, error: ureq::Error) -> Failure<HttpError> {
        let url = self.url.clone();
        match error {
            ureq::Error::Timeout(_) => Failure::Final(HttpError::TimedOut { url, time_out: self.time_out }),
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
                Failure::Passing(HttpError::Unreachable { url, source: Box::new(error) }, None)
            }
            _ => Failure::Final(HttpError::Unreachable { url, source: Box::new(error) }),
        }
    }

    fn refused(&self, response: &Response<Body>, body: &[u8]) -> Failure<HttpError> {
        let status = response.status().as_u16();
        let said = String::from_utf8_lossy(body);
        let said = self.key.as_ref().map_or_else(|| said.to_string(), |key| key.hide_in(&said));
        let said: String = said.trim().chars().take(REPEATED).collect();
        let error = HttpError::Status { url: self.url.clone(), status, said };
        let seconds =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        match status {
            429 | 500..=599 => Failure::Passing(error, seconds.map(Duration::from_secs)),
            _ => Failure::Final(error),
        }
    }

    fn read(&self, answer: &[u8], asked: usize) -> Result<Vec<Vec<f32>>, HttpError> {
        let garbled = |source| HttpError::Garbled { url: self.url.clone(), source };
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
        let size = *self.size.get_or_init(|| vector.len());
        if vector.len() != size {
            return Err(HttpError::Size { size, got: vector.len() });
        }
        Ok(vector)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        Ok(self.id())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let batch = self.batch(batch);
            vectors.extend(
                batch.map_err(|error| ModelError::Failed { model: self.id(), why: error.to_string() })?,
            );
        }
        Ok(vectors)
    }
}
