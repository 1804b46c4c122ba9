//! Adds up the signs of a document for each kind.

use super::RuleClassification;
use super::clause::{self, SentenceForm};
use super::cues::{DocumentTrait, HEADINGS, NAMES, PHRASES, TRAITS};
use super::heads::{days, headings, longest, title};
use super::label::{is_definition, label};
use super::words::{count, holds, of_path, spaced};
use crate::classify::lexicon::listed;
use crate::classify::page::{ListItemMark, PageBlock, ParsedPage, is_version};
use crate::vocabulary::{Kind, Stability};
use crate::when::WEEKDAYS;

/// Minimum score of the kind that wins, and its minimum lead over the next kind.
const ENOUGH: f32 = 2.0;
const AHEAD: f32 = 0.5;

/// Weight of a folder name, relative to the weight of the file name.
const FOLDER: f32 = 0.75;

/// Maximum score of the headings, and maximum score of the names.
const MOST: f32 = 6.0;

/// Number of sentences, and number of headings, up to which a single phrase or heading has its full weight. In longer
/// documents the weight is reduced in proportion.
const SENTENCES: f32 = 30.0;
const HEADS: f32 = 15.0;

/// Minimum weight of a phrase that counts without support.
const LOUD: f32 = 0.7;

/// Maximum total score of phrases with a weight below [`LOUD`], if there is no phrase with that weight.
const QUIET: f32 = 1.0;

/// Maximum number of sentences of a personal report. A longer report counts as a history.
const STORY: usize = 20;

/// A document counts as a list of conventions if at least this share of its sentences are rules.
const RULES: f32 = 0.5;

/// The score of each kind, and the additional properties.
#[derive(Debug, Default)]
pub(super) struct KindScores {
    scores: [f32; Kind::ALL.len()],
    traits: Vec<DocumentTrait>,
    makes: SentenceFormCounts,
}

/// The number of sentences of each form.
#[derive(Debug, Default)]
struct SentenceFormCounts {
    all: usize,
    acts: usize,
    rules: usize,
    tells: usize,
    recounts: usize,
    defines: usize,
    leads: usize,
    predicts: usize,
}

impl SentenceFormCounts {
    fn share(&self, part: usize) -> f32 {
        if self.all == 0 { 0.0 } else { part as f32 / self.all as f32 }
    }
}

impl KindScores {
    pub(super) fn of(page: &ParsedPage<'_>, name: Option<&str>) -> Self {
        let mut signs = Self::default();
        signs.read_names(page, name);
        if signs.is_changelog(page) {
            // A changelog contains lines such as "Add this" and "Fix that", which are not instructions.
            signs.scores = Default::default();
            signs.traits.push(DocumentTrait::Changes);
            return signs;
        }
        signs.read_headings(page);
        signs.read_sentences(page);
        signs.read_lists(page);
        signs.read_tables_and_code(page);
        signs
    }

    pub(super) fn sorted(&self) -> RuleClassification {
        let kind = self.kind();
        let has = |found: DocumentTrait| self.traits.contains(&found);
        let conventions = has(DocumentTrait::Convention)
            || (self.makes.all >= 4
                && self.makes.share(self.makes.rules) >= RULES
                && kind != Some(Kind::Rationale));
        let stability = match kind {
            Some(Kind::Episodic) if has(DocumentTrait::Record) => Some(Stability::Stable),
            Some(Kind::Episodic) => Some(Stability::Volatile),
            Some(Kind::Procedural) => Some(Stability::Evolving),
            Some(Kind::Rationale) => Some(Stability::Stable),
            Some(Kind::Semantic) | None if has(DocumentTrait::Foundation) => Some(Stability::Stable),
            Some(Kind::Semantic) | None
                if conventions || has(DocumentTrait::Plan) || has(DocumentTrait::Changes) =>
            {
                Some(Stability::Evolving)
            }
            Some(Kind::Semantic) | None => None,
        };
        RuleClassification { kind, stability }
    }

    /// Returns the kind whose score is high enough and whose lead over every other kind is large enough.
    fn kind(&self) -> Option<Kind> {
        let mut ranked: Vec<(f32, Kind)> =
            self.scores.iter().copied().zip(Kind::ALL.iter().copied()).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ((best, kind), (next, _)) = (ranked[0], ranked[1]);
        (best >= ENOUGH && best - next >= AHEAD).then_some(kind)
    }

    /// Returns the weight of a single sign, depending on the length of the document.
    fn dense(&self) -> f32 {
        (SENTENCES / self.makes.all.max(1) as f32).min(1.0)
    }

    fn add(&mut self, kind: Kind, weight: f32) {
        self.scores[kind as usize] += weight;
    }

    fn read_names(&mut self, page: &ParsedPage<'_>, name: Option<&str>) {
        let title = title(page);
        if title.starts_with("1:1") || title.contains(" 1:1") {
            self.add(Kind::Episodic, 3.0);
        }
        if title.ends_with('?') && title.contains(" or ") {
            self.add(Kind::Rationale, 1.5);
        }
        let title = spaced(&title);
        let path = name.map(of_path).unwrap_or_default();
        let mut counted = [0.0_f32; Kind::ALL.len()];
        for (kind, weight) in longest(NAMES, &title).chain(longest(NAMES, &path.file)) {
            counted[kind as usize] += weight;
        }
        for (kind, weight) in longest(NAMES, &path.folders) {
            counted[kind as usize] += FOLDER * weight;
        }
        for field in ["type", "kind", "category", "tags"] {
            let value = page.field(field).map(|value| spaced(&value)).unwrap_or_default();
            for (kind, weight) in longest(NAMES, &value) {
                counted[kind as usize] += weight;
            }
        }
        for (score, counted) in self.scores.iter_mut().zip(counted) {
            *score += counted.min(MOST);
        }
        self.add(Kind::Episodic, days(&title, &path));
        let described =
            |words: &str| holds(&title, words) || holds(&path.file, words) || holds(&path.folders, words);
        self.traits = TRAITS.iter().filter(|(words, _)| described(words)).map(|(_, found)| *found).collect();
        if title.starts_with(" why ") || title.starts_with(" on why ") {
            self.add(Kind::Rationale, 1.0);
        }
    }

    /// Returns true if a document lists changes, version by version.
    fn is_changelog(&self, page: &ParsedPage<'_>) -> bool {
        let versions = page.headings().filter(|(_, text)| is_version(text)).count();
        let headings = page.headings().count();
        self.traits.contains(&DocumentTrait::Changes) || (versions >= 2 && versions * 3 >= headings)
    }

    fn read_headings(&mut self, page: &ParsedPage<'_>) {
        let mut counted = [0.0_f32; Kind::ALL.len()];
        let mut seen: Vec<&str> = Vec::new();
        let mut orders = 0_usize;
        let mut questions = 0_usize;
        let headings = headings(page);
        let dense = (HEADS / headings.len().max(1) as f32).min(1.0);
        for heading in headings {
            // The number in "1. Detection" is not part of the heading's name.
            let words = spaced(
                heading.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ')),
            );
            let cue = HEADINGS
                .iter()
                .filter(|(cue, ..)| words[1..].strip_prefix(cue).is_some_and(|rest| rest.starts_with(' ')));
            if let Some((cue, kind, weight)) = cue.max_by_key(|(cue, ..)| cue.len()) {
                if !seen.contains(cue) {
                    seen.push(cue);
                    counted[*kind as usize] += weight;
                }
            } else {
                orders += usize::from(clause::acts(&heading));
            }
            questions += usize::from(heading.ends_with('?'));
        }
        counted[Kind::Procedural as usize] += 0.75 * orders.min(3) as f32;
        counted[Kind::Semantic as usize] += questions.min(2) as f32;
        for (score, counted) in self.scores.iter_mut().zip(counted) {
            *score += (counted * dense).min(MOST);
        }
    }

    fn read_sentences(&mut self, page: &ParsedPage<'_>) {
        let mut text = String::new();
        for sentence in page.sentences() {
            let SentenceForm { acts, rules, tells, recounts, defines, leads, predicts } =
                clause::make(sentence);
            self.makes.all += 1;
            self.makes.acts += usize::from(acts);
            self.makes.rules += usize::from(rules);
            self.makes.tells += usize::from(tells);
            self.makes.recounts += usize::from(recounts);
            self.makes.defines += usize::from(defines);
            self.makes.leads += usize::from(leads && !acts);
            self.makes.predicts += usize::from(predicts);
            text.push_str(&spaced(&unquoted(sentence)));
        }
        let dense = self.dense();
        let (mut loud, mut quiet) = ([0.0_f32; Kind::ALL.len()], [0.0_f32; Kind::ALL.len()]);
        for (phrase, kind, each, most) in PHRASES {
            let sum = if *each >= LOUD { &mut loud } else { &mut quiet };
            sum[*kind as usize] += (count(&text, phrase) as f32 * each * dense).min(*most);
        }
        for (kind, (loud, quiet)) in Kind::ALL.iter().zip(loud.into_iter().zip(quiet)) {
            // Most texts contain a "because", so quiet phrases support stronger signs and have little weight alone.
            self.add(*kind, loud + quiet.min(QUIET + loud));
        }
        let on_a_day = WEEKDAYS.iter().filter(|day| holds(&text, &format!("on {day}"))).count();
        self.add(Kind::Episodic, 0.5 * dense * on_a_day.min(2) as f32);
        let SentenceFormCounts { all, acts, tells, defines, leads, predicts, .. } = self.makes;
        if acts >= 2 {
            self.add(Kind::Procedural, (5.0 * self.makes.share(acts)).min(3.5));
        }
        if leads >= 2 {
            self.add(Kind::Procedural, (3.5 * self.makes.share(leads)).min(2.5));
        }
        if all >= 3 && self.makes.share(predicts) >= 0.5 {
            self.traits.push(DocumentTrait::Plan);
        }
        // A text about actions of people is a story. Other text in the past tense is episodic only if it has a day, a
        // meeting or a similar sign.
        let (described, recounted) = (self.makes.share(tells), self.makes.share(self.makes.recounts));
        if (3..=STORY).contains(&all) && recounted >= 0.5 {
            self.add(Kind::Episodic, 1.0 + 2.0 * recounted);
        } else if all >= 3
            && described >= 0.3
            && recounted >= 0.2
            && self.scores[Kind::Episodic as usize] >= 0.9
        {
            self.add(Kind::Episodic, if described >= 0.5 { 2.0 } else { 1.0 });
        }
        if all >= 3 {
            self.add(Kind::Semantic, (4.0 * self.makes.share(defines)).min(2.5));
        }
    }

    fn read_lists(&mut self, page: &ParsedPage<'_>) {
        let (mut steps, mut numbers, mut boxes, mut bullets) = (0_usize, 0_usize, 0_usize, 0_usize);
        let (mut lines, mut defined) = (0_usize, 0_usize);
        for (_, text) in page.prose() {
            for line in text.lines() {
                lines += 1;
                defined += usize::from(label(line).is_some_and(|(_, said)| is_definition(said)));
            }
        }
        for block in &page.blocks {
            let PageBlock::Item { mark, text } = block else { continue };
            let acts = clause::acts(text) || clause::acts(lead(text));
            match mark {
                ListItemMark::Number if acts => steps += 1,
                ListItemMark::Number => numbers += 1,
                ListItemMark::Box => boxes += usize::from(acts),
                ListItemMark::Bullet => bullets += usize::from(acts),
            }
        }
        let dense = self.dense();
        let counted = |each: f32, items: usize, most: f32| (each * dense * items as f32).min(most);
        let procedural = counted(0.75, steps, 3.0)
            + counted(0.25, numbers, 1.0)
            + counted(0.6, boxes, 3.0)
            + counted(0.5, bullets, 2.5);
        self.add(Kind::Procedural, procedural);
        if defined >= 3 && defined * 10 >= lines * 4 {
            self.add(Kind::Semantic, 3.0);
            self.traits.push(DocumentTrait::Foundation);
        }
    }

    fn read_tables_and_code(&mut self, page: &ParsedPage<'_>) {
        let (mut shells, mut endpoints) = (0_usize, 0_usize);
        for block in &page.blocks {
            match block {
                PageBlock::Code { language, text } => shells += usize::from(is_shell(language, text)),
                PageBlock::Table(rows) => self.read_table(rows),
                PageBlock::Heading { text, .. }
                | PageBlock::Paragraph(text)
                | PageBlock::Item { text, .. } => {
                    endpoints += ["GET /", "POST /", "PUT /", "PATCH /", "DELETE /"]
                        .iter()
                        .map(|verb| text.matches(verb).count())
                        .sum::<usize>();
                }
            }
        }
        let dense = self.dense();
        self.add(Kind::Procedural, (0.75 * shells as f32 * dense).min(2.0));
        self.add(Kind::Semantic, (endpoints as f32 * dense).min(3.0));
    }

    fn read_table(&mut self, rows: &[Vec<String>]) {
        let head = spaced(&rows.first().map(|row| row.join(" ")).unwrap_or_default());
        let any = |words: &[&str]| words.iter().any(|word| holds(&head, word));
        if any(&["term", "word", "abbreviation", "acronym"])
            && any(&["meaning", "definition", "description", "stands for"])
        {
            self.add(Kind::Semantic, 3.0);
            self.traits.push(DocumentTrait::Foundation);
        } else if any(&["method", "endpoint", "path", "field", "parameter", "key", "column", "type", "name"])
        {
            self.add(Kind::Semantic, 2.0);
        }
    }
}

/// Returns a sentence without its quotes, because quoted words are not the author's words.
fn unquoted(sentence: &str) -> String {
    let mut said = String::with_capacity(sentence.len());
    let mut quoted = false;
    for c in sentence.chars() {
        match c {
            '"' => quoted = !quoted,
            '“' | '«' => quoted = true,
            '”' | '»' => quoted = false,
            c if !quoted => said.push(c),
            _ => {}
        }
    }
    // A quotation mark without a closing mark does not begin a quotation.
    if quoted { sentence.to_owned() } else { said }
}

/// Returns the text of an item after its label: "order a laptop" for "Day one: order a laptop".
fn lead(text: &str) -> &str {
    label(text).map_or("", |(_, said)| said)
}

/// Returns true if code contains shell commands.
fn is_shell(language: &str, text: &str) -> bool {
    let typed = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first == "$"
            || first.starts_with("./")
            || listed("sudo cd make git npm cargo docker kubectl curl pip apt brew helm ssh", first)
    };
    let named = listed("sh bash shell zsh console shell-session powershell", &language.to_lowercase());
    named || (language.is_empty() && text.lines().any(typed))
}
