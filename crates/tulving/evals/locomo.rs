//! LoCoMo at turn level: the official `locomo10.json`, each conversation is a haystack.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::ContentType;

use crate::Options;
use crate::bed::Bed;
use crate::metrics::{Asked, Figure, Report, recall, reciprocal_rank};
use crate::read;

#[derive(Deserialize)]
struct Sample {
    sample_id: String,
    conversation: BTreeMap<String, Value>,
    qa: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: u8,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    blip_caption: Option<String>,
}

pub(crate) fn run(path: &Path, options: &Options) -> anyhow::Result<Vec<Report>> {
    let samples: Vec<Sample> = serde_json::from_str(&read::text(path)?).context("not the LoCoMo format")?;
    let mut asked = Vec::new();
    let count = samples.len().min(options.only);
    for at in 0..count {
        let sample = &samples[at];
        let (requests, ids, last) = turns(sample)?;
        let bed = Bed::with(&requests, ids.clone(), options)?;
        let known: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let from = if options.foreign { &samples[(at + 1) % samples.len()] } else { sample };
        for question in &from.qa {
            let unanswerable = options.foreign || options.swapped;
            let gold = if unanswerable { vec!["-".to_owned()] } else { gold(question, &known) };
            if gold.is_empty() {
                continue;
            }
            let category = category(question.category).to_owned();
            let text = match options.swapped {
                true => match swapped(&question.question, asked.len()) {
                    Some(text) => text,
                    None => continue,
                },
                false => question.question.clone(),
            };
            let (found, evidence, micros) = bed.ask(&text, last, 20)?;
            asked.push(Asked {
                haystack: sample.sample_id.clone(),
                question: text,
                category,
                gold,
                found,
                evidence,
                micros,
            });
        }
        eprintln!("{} done", sample.sample_id);
    }
    let figures: Vec<(&'static str, Figure)> = vec![
        ("r@5", |asked| recall(asked, 5)),
        ("r@10", |asked| recall(asked, 10)),
        ("r@20", |asked| recall(asked, 20)),
        ("MRR", reciprocal_rank),
    ];
    let four = [1, 2, 3, 4].map(|n| category(n).to_owned()).to_vec();
    let title = format!("LoCoMo, {count} conversations, turn level");
    Ok(vec![Report { title, figures, groups: vec![("categories 1-4".to_owned(), four)], asked }])
}

/// The attributes that are asked for instead.
const SWAPPED: [&str; 6] = [
    "What phone number",
    "What email address",
    "How much did it cost when",
    "Which website",
    "How many people were there when",
    "In what year",
];
/// The verbs before the subject of a question.
const AUXILIARIES: [&str; 15] = [
    "did", "does", "do", "is", "are", "was", "were", "has", "have", "had", "would", "will", "can", "could",
    "might",
];

/// Returns a question about the same things that asks for another attribute; `None` if the form of the question is
/// unknown. Questions that ask for a time or a number are not changed into the same.
fn swapped(question: &str, at: usize) -> Option<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let verb = words.iter().take(5).position(|word| AUXILIARIES.contains(&word.to_lowercase().as_str()))?;
    let rest = words[verb + 1..].join(" ");
    let asks_when = words[0].eq_ignore_ascii_case("when");
    let asks_count = words[..verb].iter().any(|word| matches!(word.to_lowercase().as_str(), "many" | "much"));
    let attribute = SWAPPED[at % SWAPPED.len()];
    let same = (asks_when && attribute.contains("year")) || (asks_count && attribute.starts_with("How"));
    let verb =
        if attribute.ends_with("when") { String::new() } else { format!(" {}", words[verb].to_lowercase()) };
    (!same && !rest.is_empty()).then(|| format!("{attribute}{verb} {rest}"))
}

fn category(number: u8) -> &'static str {
    match number {
        1 => "1 multi-hop",
        2 => "2 temporal",
        3 => "3 open-domain",
        4 => "4 single-hop",
        _ => "5 adversarial",
    }
}

/// Returns the memories that a user would save from the turns, the ids of the turns, and the time of the last session.
fn turns(sample: &Sample) -> anyhow::Result<(Vec<SaveRequest>, Vec<String>, Option<Timestamp>)> {
    let (mut requests, mut ids, mut last) = (Vec::new(), Vec::new(), None);
    for (name, value) in &sample.conversation {
        if !value.is_array() {
            continue;
        }
        let at = sample.conversation.get(&format!("{name}_date_time")).and_then(Value::as_str);
        let at = at.and_then(read::spoken_time);
        last = last.max(at);
        let turns: Vec<Turn> = serde_json::from_value(value.clone())?;
        for (position, turn) in (0..).zip(turns) {
            let caption = turn.blip_caption.filter(|caption| !caption.trim().is_empty());
            let content = match caption {
                Some(caption) => format!("{}\n{caption}", turn.text),
                None => turn.text,
            };
            if content.trim().is_empty() {
                continue;
            }
            ids.push(turn.dia_id);
            requests.push(SaveRequest {
                content_type: Some(ContentType::Chat),
                conversation: Some(name.clone()),
                position: Some(position),
                speaker: Some(turn.speaker),
                occurred_at: at,
                ..SaveRequest::new(read::clean(&content))
            });
        }
    }
    Ok((requests, ids, last))
}

/// Returns the turns with the answer. A few strings contain several ids or stray marks; ids that do not exist are dropped.
fn gold(question: &Question, known: &HashSet<&str>) -> Vec<String> {
    let mut gold: Vec<String> = Vec::new();
    for text in &question.evidence {
        for word in text.split(|c: char| c.is_whitespace() || ";,".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let id = word
                .split_once(':')
                .map(|(session, turn)| format!("{session}:{}", turn.trim_start_matches('0')));
            let exists = id.filter(|id| known.contains(id.as_str()));
            if let Some(id) = exists.filter(|id| !gold.contains(id)) {
                gold.push(id);
            }
        }
    }
    gold
}
