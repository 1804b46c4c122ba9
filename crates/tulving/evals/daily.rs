//! The daily set: memories of one user of coding agents, and questions and prompts about them.
//!
//! The set was written by hand without knowledge of the ranking; [its page](daily/README.md) describes it. Each memory is
//! saved at its own time with the default settings, and all questions are asked at one time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{Answer, Hit, Strength};
use tulving_core::model::id::MemoryId;
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, Filter, Mode, RecallQuestion, RecallRequest, SaveRequest};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{MemoryType, Origin};
use tulving_core::ports::{Embedder, NoExtractor, NoFiles, NoObjects};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_store::{Home, SearchIndex, SqliteStore};
use tulving_testkit::clock::ManualClock;

const MEMORIES: &str = include_str!("daily/memories.jsonl");
const QUESTIONS: &str = include_str!("daily/questions.jsonl");
const PROMPTS: &str = include_str!("daily/prompts.jsonl");
/// The time of all questions.
const NOW: &str = "2026-06-15T12:00:00Z";
/// Number of results in which a right one must be, so that it is not missed.
const SHOWN: usize = 10;
/// Number of results that a coding agent gets with a prompt.
const WITH_A_PROMPT: usize = 3;

/// A memory of the set.
#[derive(Deserialize)]
struct DailyMemory {
    id: String,
    content: String,
    #[serde(rename = "type")]
    memory_type: Option<MemoryType>,
    saved_at: Timestamp,
    occurred_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
    valid_until: Option<Timestamp>,
    tags: Option<Vec<String>>,
    project: Option<String>,
    updates: Option<String>,
    #[serde(default)]
    done: bool,
}

/// The half of the set that a question or a prompt belongs to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Half {
    /// It may be looked at.
    Open,
    /// It is only counted.
    Held,
}

#[derive(Deserialize)]
struct DailyQuestion {
    id: String,
    q: String,
    kind: String,
    half: Half,
    first: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    total: Option<u64>,
}

#[derive(Deserialize)]
struct DailyPrompt {
    id: String,
    text: String,
    half: Half,
    want: Vec<String>,
}

/// A question with its grade.
#[derive(Serialize)]
pub(crate) struct GradedQuestion {
    pub(crate) id: String,
    question: String,
    pub(crate) kind: String,
    pub(crate) half: Half,
    expected: Vec<String>,
    found: Vec<GradedHit>,
    pub(crate) evidence: &'static str,
    /// True if the first result is right; for a list, if it is complete and its total is right.
    pub(crate) first: bool,
    /// True if a right result is among the first three; for a list, as `first`.
    pub(crate) in_three: bool,
    /// True if a right result is among the first five; for a list, as `first`.
    pub(crate) in_five: bool,
    /// True if no right result is shown at all.
    pub(crate) missed: bool,
    /// True if the question has no answer, and the evidence is called strong.
    pub(crate) wrongly_strong: bool,
    /// True if the question asks for a list or a count.
    pub(crate) is_list: bool,
    strong: bool,
}

#[derive(Serialize)]
struct GradedHit {
    id: String,
    evidence: f64,
    score: f64,
    why: String,
}

/// A prompt with its grade.
#[derive(Serialize)]
pub(crate) struct GradedPrompt {
    id: String,
    pub(crate) half: Half,
    wanted: Vec<String>,
    /// The best results, whatever their evidence is.
    nearest: Vec<GradedHit>,
    /// The memories that are given to the agent, because their evidence is strong.
    given: Vec<GradedHit>,
    /// True if a memory that helps is given.
    pub(crate) helped: bool,
    /// True if nothing helps, but something is given.
    pub(crate) noise: bool,
}

/// The grades of the whole set.
#[derive(Serialize)]
pub(crate) struct DailyGrades {
    pub(crate) questions: Vec<GradedQuestion>,
    pub(crate) prompts: Vec<GradedPrompt>,
}

/// Saves the memories in a new home below a folder, and asks all questions, or those of one half.
pub(crate) fn grade(
    embedder: Arc<dyn Embedder>,
    folder: &std::path::Path,
    half: Option<Half>,
) -> anyhow::Result<DailyGrades> {
    let daily = DailyHome::new(embedder, folder)?;
    let mut questions: Vec<DailyQuestion> = lines(QUESTIONS)?;
    let mut prompts: Vec<DailyPrompt> = lines(PROMPTS)?;
    questions.retain(|one| half.is_none_or(|half| one.half == half));
    prompts.retain(|one| half.is_none_or(|half| one.half == half));
    Ok(DailyGrades {
        questions: questions.into_iter().map(|one| daily.question(one)).collect::<Result<_, _>>()?,
        prompts: prompts.into_iter().map(|one| daily.prompt(one)).collect::<Result<_, _>>()?,
    })
}

fn lines<T: for<'a> Deserialize<'a>>(text: &str) -> anyhow::Result<Vec<T>> {
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

struct DailyHome {
    engine: Engine,
    user: Caller,
    names: HashMap<MemoryId, String>,
    _folder: tempfile::TempDir,
}

impl DailyHome {
    fn new(embedder: Arc<dyn Embedder>, folder: &std::path::Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in(folder)?;
        let home = Home::open_or_create(folder.path())?;
        let store = Arc::new(SqliteStore::open(&home, tulving_store::SqliteOptions::default())?);
        let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
        let clock = Arc::new(ManualClock::new());
        let engine = Engine::new(Ports {
            store,
            embedder,
            former: Vec::new(),
            index: index.clone(),
            files: Arc::new(NoFiles),
            objects: Arc::new(NoObjects),
            extractor: Arc::new(NoExtractor),
            clock: clock.clone(),
            limits: limits::Limits::default(),
            secret_policies: SecretPolicies::default(),
        });
        let user = engine.user(Origin::Cli, None)?;
        let mut names = HashMap::new();
        let mut saved: HashMap<String, Memory> = HashMap::new();
        let mut memories: Vec<DailyMemory> = lines(MEMORIES)?;
        memories.sort_by_key(|memory| memory.saved_at);
        for memory in memories {
            clock.set(memory.saved_at);
            let updates = memory.updates.as_ref().and_then(|of| saved.get(of)).map(|of| of.id.into());
            let request = SaveRequest {
                memory_type: memory.memory_type,
                occurred_at: memory.occurred_at,
                valid_from: memory.valid_from,
                valid_until: memory.valid_until,
                tags: memory.tags,
                project: memory.project,
                updates,
                ..SaveRequest::new(memory.content)
            };
            let receipt = engine.save(&user, request).with_context(|| memory.id.clone())?;
            if memory.done {
                engine.done(&user, receipt.memory.id.into(), None)?;
            }
            names.insert(receipt.memory.id, memory.id.clone());
            saved.insert(memory.id, receipt.memory);
        }
        clock.set(NOW.parse().context("the time of the questions")?);
        while engine.embed_waiting(10_000)?.left > 0 {}
        index.tend()?;
        Ok(Self { engine, user, names, _folder: folder })
    }

    fn ask(&self, text: &str, limit: usize) -> anyhow::Result<Answer> {
        let ask = RecallQuestion { list_limit: Some(limits::LISTED), ..RecallQuestion::new(text) };
        let mode = Mode::Hybrid(Box::new(ask));
        let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit };
        Ok(self.engine.recall(&self.user, &request)?)
    }

    fn hits(&self, hits: &[Hit]) -> Vec<GradedHit> {
        let of = |hit: &Hit| GradedHit {
            id: self.names.get(&hit.memory.id).cloned().unwrap_or_default(),
            evidence: hit.evidence(),
            score: hit.relevance_score.get(),
            why: hit.why.clone(),
        };
        hits.iter().map(of).collect()
    }

    fn question(&self, asked: DailyQuestion) -> anyhow::Result<GradedQuestion> {
        let answer = self.ask(&asked.q, SHOWN)?;
        let found = self.hits(&answer.hits);
        let strong = answer.evidence == Some(Strength::Strong);
        let among = |first: usize| found.iter().take(first).any(|hit| asked.first.contains(&hit.id));
        let nothing = asked.kind == "nothing";
        let (first, in_three, in_five, missed) = if !asked.all.is_empty() {
            let complete = asked.all.iter().all(|id| found.iter().any(|hit| hit.id == *id));
            let counted = answer.listed.is_none() || asked.total == Some(answer.total_found);
            (complete && counted, complete && counted, complete && counted, !complete)
        } else if nothing {
            (!strong, !strong, !strong, false)
        } else {
            (among(1), among(3), among(5), !among(SHOWN))
        };
        Ok(GradedQuestion {
            is_list: !asked.all.is_empty(),
            expected: if asked.all.is_empty() { asked.first } else { asked.all },
            id: asked.id,
            question: asked.q,
            kind: asked.kind,
            half: asked.half,
            found,
            evidence: answer.evidence.map_or("listed", Strength::as_str),
            first,
            in_three,
            in_five,
            missed,
            wrongly_strong: nothing && strong,
            strong,
        })
    }

    fn prompt(&self, asked: DailyPrompt) -> anyhow::Result<GradedPrompt> {
        let mut end = asked.text.len().min(limits::QUESTION_BYTES);
        while !asked.text.is_char_boundary(end) {
            end -= 1;
        }
        let answer = self.ask(&asked.text[..end], SHOWN)?;
        let nearest = self.hits(&answer.hits);
        let shown = if answer.evidence == Some(Strength::Strong) { WITH_A_PROMPT } else { 0 };
        let given = self.hits(&answer.hits[..answer.hits.len().min(shown)]);
        let helped = given.iter().any(|hit| asked.want.contains(&hit.id));
        let noise = asked.want.is_empty() && !given.is_empty();
        Ok(GradedPrompt { id: asked.id, half: asked.half, wanted: asked.want, nearest, given, helped, noise })
    }
}

/// The counts of a group of questions.
#[derive(Default)]
pub(crate) struct DailyCounts {
    pub(crate) questions: usize,
    pub(crate) first: usize,
    pub(crate) in_three: usize,
    pub(crate) missed: usize,
    pub(crate) strong: usize,
    pub(crate) wrongly_strong: usize,
}

impl DailyGrades {
    /// Counts the questions that pass a test.
    pub(crate) fn count(&self, test: impl Fn(&GradedQuestion) -> bool) -> DailyCounts {
        let mut counts = DailyCounts::default();
        for one in self.questions.iter().filter(|one| test(one)) {
            counts.questions += 1;
            counts.first += usize::from(one.first);
            counts.in_three += usize::from(one.in_three);
            counts.missed += usize::from(one.missed);
            counts.strong += usize::from(one.strong);
            counts.wrongly_strong += usize::from(one.wrongly_strong);
        }
        counts
    }

    /// Counts the prompts of a half that have memories that help, those that got one, those without, and those of them that
    /// got one anyway.
    pub(crate) fn prompts(&self, half: Option<Half>) -> [usize; 4] {
        let of = |test: &dyn Fn(&GradedPrompt) -> bool| {
            self.prompts.iter().filter(|one| half.is_none_or(|half| one.half == half) && test(one)).count()
        };
        [
            of(&|one| !one.wanted.is_empty()),
            of(&|one| one.helped),
            of(&|one| one.wanted.is_empty()),
            of(&|one| one.noise),
        ]
    }

    /// Returns the tables of both halves and of all kinds.
    pub(crate) fn tables(&self) -> String {
        let mut lines = vec![format!(
            "{:28} {:>5} {:>7} {:>9} {:>7} {:>7} {:>13}",
            "daily", "n", "first", "in three", "missed", "strong", "wrong strong"
        )];
        let mut line = |name: &str, counts: DailyCounts| {
            lines.push(format!(
                "{name:28} {:5} {:7} {:9} {:7} {:7} {:13}",
                counts.questions,
                counts.first,
                counts.in_three,
                counts.missed,
                counts.strong,
                counts.wrongly_strong
            ));
        };
        let answerable = |one: &GradedQuestion| one.kind != "nothing";
        for (name, half) in [("open", Some(Half::Open)), ("held", Some(Half::Held)), ("both", None)] {
            let of = |one: &GradedQuestion| half.is_none_or(|half| one.half == half);
            line(&format!("{name}, with an answer"), self.count(|one| of(one) && answerable(one)));
            line(&format!("{name}, without"), self.count(|one| of(one) && !answerable(one)));
        }
        let kinds: BTreeMap<&str, ()> = self.questions.iter().map(|one| (one.kind.as_str(), ())).collect();
        for kind in kinds.into_keys() {
            line(kind, self.count(|one| one.kind == kind));
        }
        lines.push(String::new());
        for (name, half) in [("open", Some(Half::Open)), ("held", Some(Half::Held)), ("both", None)] {
            let [with, helped, without, noise] = self.prompts(half);
            lines.push(format!("prompts, {name}: {helped} of {with} helped, noise on {noise} of {without}"));
        }
        lines.join("\n")
    }
}
