//! A small set of our own with a floor, so that nobody breaks ranking unnoticed: the real model, the real index, the same
//! verbs as a user's. `cargo xtask eval` measures large public sets.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use tulving_core::model::answer::Strength;
use tulving_core::model::id::MemoryId;
use tulving_core::model::limits::Limits;
use tulving_core::model::request::{
    Caller, Filter, Fusion, Mode, RecallQuestion, RecallRequest, SaveRequest,
};
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_models::EmbedderConfig;
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};

/// The daily set, as the evaluation grades it.
#[path = "../../evals/daily.rs"]
#[expect(dead_code, reason = "only the evaluation prints tables")]
mod daily;

const SET: &str = include_str!("../sets/own.json");

#[derive(Deserialize)]
struct Set {
    memories: Vec<Named>,
    questions: Vec<Question>,
    unanswerable: Vec<String>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(flatten)]
    request: serde_json::Value,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    gold: Vec<String>,
}

struct Bed {
    engine: Engine,
    user: Caller,
    names: HashMap<MemoryId, String>,
    set: Set,
    _folder: tempfile::TempDir,
}

fn bed() -> Bed {
    let set: Set = serde_json::from_str(SET).expect("the set");
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::open_or_create(folder.path()).expect("a home");
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default()).expect("a store"));
    let engine = Engine::new(Ports {
        store: store.clone(),
        embedder: tulving_models::embedder(&EmbedderConfig::BuiltIn).expect("the model"),
        former: Vec::new(),
        index: Arc::new(SearchIndex::open(store, &home.index_dir())),
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Limits::default(),
        secret_policies: SecretPolicies::default(),
    });
    let user = engine.user(Origin::Api, None).expect("the user");
    let requests = set.memories.iter().map(|named| {
        serde_json::from_value::<SaveRequest>(named.request.clone()).expect("a memory of the set")
    });
    let receipts = engine.save_many(&user, requests.collect()).expect("saved");
    let names =
        receipts.iter().zip(&set.memories).map(|(receipt, named)| (receipt.memory.id, named.id.clone()));
    let names = names.collect();
    assert_eq!(engine.embed_waiting(1_000).expect("embedded").left, 0);
    Bed { engine, user, names, set, _folder: folder }
}

impl Bed {
    fn ask(&self, ask: RecallQuestion, limit: usize) -> (Vec<&str>, Option<Strength>) {
        let mode = Mode::Hybrid(Box::new(ask));
        let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit };
        let answer = self.engine.recall(&self.user, &request).expect("an answer");
        assert_eq!(answer.missing, []);
        let names = answer.hits.iter().map(|hit| self.names[&hit.memory.id].as_str());
        (names.collect(), answer.evidence)
    }

    /// The mean share of the gold within the first k, and the questions that found none of it.
    fn recall_at(&self, k: usize, fusion: Fusion) -> (f64, Vec<&str>) {
        let (mut sum, mut missed) = (0.0, Vec::new());
        for Question { question, gold } in &self.set.questions {
            let (found, _) = self.ask(RecallQuestion { fusion, ..RecallQuestion::new(question) }, k);
            let hits = gold.iter().filter(|gold| found.contains(&gold.as_str())).count();
            sum += hits as f64 / gold.len() as f64;
            if hits == 0 {
                missed.push(question.as_str());
            }
        }
        (100.0 * sum / self.set.questions.len() as f64, missed)
    }
}

#[test]
fn ranking_keeps_its_floor_on_a_small_set_of_our_own() {
    let bed = bed();
    let (at_1, missed_1) = bed.recall_at(1, Fusion::Measured);
    let (at_5, missed_5) = bed.recall_at(5, Fusion::Measured);
    assert!(at_1 >= FLOOR_AT_1, "recall@1 is {at_1:.1}, missed: {missed_1:#?}");
    assert!(at_5 >= FLOOR_AT_5, "recall@5 is {at_5:.1}, missed: {missed_5:#?}");
    let (fused, _) = bed.recall_at(5, Fusion::Ranks);
    assert!(at_5 >= fused, "rank fusion finds more: {fused:.1} against {at_5:.1}");
}

#[test]
fn evidence_tells_questions_that_have_an_answer_from_those_that_have_none() {
    let bed = bed();
    let strength = |question: &str| bed.ask(RecallQuestion::new(question), 5).1.expect("a strength");
    let known = bed.set.questions.iter().filter(|asked| strength(&asked.question) == Strength::None).count();
    let all = bed.set.questions.len();
    assert!(known * 10 <= all, "{known} of {all} answerable questions have no evidence");
    for question in &bed.set.unanswerable {
        let got = strength(question);
        assert!(got < Strength::Strong, "{question}: {got:?}");
    }
}

const FLOOR_AT_1: f64 = 70.0;
const FLOOR_AT_5: f64 = 90.0;

#[test]
fn ranking_and_evidence_keep_their_floor_on_the_open_half_of_the_daily_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = tulving_models::embedder(&EmbedderConfig::BuiltIn).expect("the model");
    let grades = daily::grade(model, folder.path(), Some(daily::Half::Open)).expect("the grades");
    let answered = grades.count(|one| one.kind != "nothing");
    let nothing = grades.count(|one| one.kind == "nothing");
    let [with, helped, without, noise] = grades.prompts(None);
    assert_eq!((answered.questions, nothing.questions, with, without), (139, 19, 23, 26));
    let got = (answered.first, answered.in_three, answered.missed, helped, noise, nothing.wrongly_strong);
    assert!(answered.first >= DAILY_FIRST && answered.in_three >= DAILY_IN_THREE, "{got:?}");
    assert!(answered.missed <= DAILY_MISSED && helped >= DAILY_HELPED, "{got:?}");
    assert!(noise <= DAILY_NOISE && nothing.wrongly_strong <= DAILY_WRONGLY_STRONG, "{got:?}");
}

/// Of 139 questions, 104 had a right memory first, 122 among the first three, and 10 were missed; of 23 prompts, 12 got a
/// memory that helps, and 1 of 26 others got one anyway; 1 of 19 questions without an answer had strong evidence. The
/// floor leaves room for two or three that differ by a rounding.
const DAILY_FIRST: usize = 101;
const DAILY_IN_THREE: usize = 119;
const DAILY_MISSED: usize = 12;
const DAILY_HELPED: usize = 10;
const DAILY_NOISE: usize = 2;
const DAILY_WRONGLY_STRONG: usize = 2;
