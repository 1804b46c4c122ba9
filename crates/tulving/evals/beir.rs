//! A set of the BEIR family: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` (or `qrels/test.tsv`).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use tulving_core::model::request::SaveRequest;

use crate::Options;
use crate::bed::Bed;
use crate::metrics::{Asked, Figure, Report, ndcg, recall};
use crate::read;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

pub(crate) fn run(folder: &Path, options: &Options) -> anyhow::Result<Vec<Report>> {
    let corpus: Vec<Document> = lines(&read::file(folder, "corpus.jsonl")?)?;
    let queries: Vec<Query> = lines(&read::file(folder, "queries.jsonl")?)?;
    let qrels = read::file(folder, "qrels.tsv").or_else(|_| read::file(&folder.join("qrels"), "test.tsv"))?;
    let gold = gold(&read::text(&qrels)?);
    let documents: Vec<Document> =
        corpus.into_iter().filter(|document| !document.text.trim().is_empty()).collect();
    let requests = documents.iter().map(|document| {
        let title: String = read::clean(&document.title).trim().chars().take(500).collect();
        SaveRequest {
            title: Some(title).filter(|title| !title.is_empty()),
            key: Some(document.id.clone()),
            ..SaveRequest::new(read::clean(&document.text))
        }
    });
    let ids = documents.iter().map(|document| document.id.clone()).collect();
    let bed = Bed::with(&requests.collect::<Vec<_>>(), ids, options)?;
    let mut asked = Vec::new();
    for query in queries.iter().filter(|query| gold.contains_key(&query.id)).take(options.only) {
        let (found, evidence, micros) = bed.ask(&query.text, None, 100)?;
        asked.push(Asked {
            haystack: folder.display().to_string(),
            question: query.text.clone(),
            category: "all".to_owned(),
            gold: gold[&query.id].clone(),
            found,
            evidence,
            micros,
        });
    }
    let figures: Vec<(&'static str, Figure)> = vec![
        ("nDCG@10", |asked| ndcg(asked, 10)),
        ("r@10", |asked| recall(asked, 10)),
        ("r@100", |asked| recall(asked, 100)),
    ];
    let title = format!("{}, {} documents", folder.display(), documents.len());
    Ok(vec![Report { title, figures, groups: Vec::new(), asked }])
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = read::text(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).with_context(|| format!("a line of {}", path.display())))
        .collect()
}

/// The documents that answer each query.
fn gold(tsv: &str) -> BTreeMap<String, Vec<String>> {
    let mut gold: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in tsv.lines().skip(1) {
        let mut cells = line.split('\t');
        if let (Some(query), Some(document), Some(score)) = (cells.next(), cells.next(), cells.next())
            && score.trim().parse::<i64>().is_ok_and(|score| score > 0)
        {
            gold.entry(query.to_owned()).or_default().push(document.to_owned());
        }
    }
    gold
}
