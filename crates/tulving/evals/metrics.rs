//! The figures, as `recall@k`, `any@k`, `all@k`, `nDCG@k` are usually defined.

use std::collections::BTreeMap;

use serde::Serialize;

/// A question, the expected results and the actual results.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    pub(crate) haystack: String,
    pub(crate) question: String,
    pub(crate) category: String,
    pub(crate) gold: Vec<String>,
    /// The first results, best first, each once.
    pub(crate) found: Vec<Found>,
    pub(crate) evidence: String,
    pub(crate) micros: u64,
}

/// One result.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) score: f64,
    pub(crate) evidence: f64,
    pub(crate) why: String,
}

/// A figure for one question.
pub(crate) type Figure = fn(&Asked) -> f64;

/// A table of figures over groups of questions.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) title: String,
    /// The names of the figures, and the function that computes each for a question.
    #[serde(skip)]
    pub(crate) figures: Vec<(&'static str, Figure)>,
    /// Groups in addition to `all` and each category: a name and the categories in it.
    #[serde(skip)]
    pub(crate) groups: Vec<(String, Vec<String>)>,
    pub(crate) asked: Vec<Asked>,
}

impl Report {
    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        let mut groups: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
        for asked in &self.asked {
            groups.entry(asked.category.clone()).or_default().push(asked);
        }
        for (name, categories) in &self.groups {
            let members = self.asked.iter().filter(|asked| categories.contains(&asked.category));
            groups.insert(name.clone(), members.collect());
        }
        let names: Vec<String> = self.figures.iter().map(|(name, _)| format!("{name:>9}")).collect();
        println!("{:28} {:>5} {}", "", "n", names.join(" "));
        self.line("all", &self.asked.iter().collect::<Vec<_>>());
        if groups.len() > 1 {
            for (name, members) in &groups {
                self.line(name, members);
            }
        }
        let mut micros: Vec<u64> = self.asked.iter().map(|asked| asked.micros).collect();
        micros.sort_unstable();
        if let Some(median) = micros.get(micros.len() / 2) {
            println!("recall p50 {:.2} ms, without embedding where cached", *median as f64 / 1000.0);
        }
        let mut evidence: BTreeMap<&str, usize> = BTreeMap::new();
        for asked in &self.asked {
            *evidence.entry(&asked.evidence).or_default() += 1;
        }
        let share = |count: usize| 100.0 * count as f64 / self.asked.len().max(1) as f64;
        let evidence = evidence.iter().map(|(word, count)| format!("{word} {:.1} %", share(*count)));
        println!("evidence: {}", evidence.collect::<Vec<_>>().join(", "));
    }

    fn line(&self, name: &str, members: &[&Asked]) {
        let figures = self.figures.iter().map(|(_, figure)| {
            let sum: f64 = members.iter().map(|asked| figure(asked)).sum();
            format!("{:9.2}", 100.0 * sum / members.len().max(1) as f64)
        });
        println!("{name:28} {:5} {}", members.len(), figures.collect::<Vec<_>>().join(" "));
    }
}

fn hits(asked: &Asked, k: usize) -> usize {
    let first = &asked.found[..asked.found.len().min(k)];
    asked.gold.iter().filter(|gold| first.iter().any(|found| found.id == **gold)).count()
}

/// The share of the gold items among the first k.
pub(crate) fn recall(asked: &Asked, k: usize) -> f64 {
    hits(asked, k) as f64 / asked.gold.len().max(1) as f64
}

/// 1 if any gold item is among the first k, else 0.
pub(crate) fn any(asked: &Asked, k: usize) -> f64 {
    f64::from(u8::from(hits(asked, k) > 0))
}

/// 1 if all gold items are among the first k, else 0.
pub(crate) fn all(asked: &Asked, k: usize) -> f64 {
    f64::from(u8::from(hits(asked, k) == asked.gold.len()))
}

/// 1 divided by the rank of the first gold item.
pub(crate) fn reciprocal_rank(asked: &Asked) -> f64 {
    let rank = asked.found.iter().position(|found| asked.gold.contains(&found.id));
    rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
}

/// The discounted gain as a share of the best possible gain; every gold item counts the same.
pub(crate) fn ndcg(asked: &Asked, k: usize) -> f64 {
    let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let first = asked.found.iter().take(k).enumerate();
    let gain: f64 =
        first.filter(|(_, found)| asked.gold.contains(&found.id)).map(|(rank, _)| discount(rank)).sum();
    let best: f64 = (0..asked.gold.len().min(k)).map(discount).sum();
    if best > 0.0 { gain / best } else { 0.0 }
}
