//! LongMemEval at session level: the official format, each question has its own haystack.
//!
//! A session is ranked by its best turn. One run uses only the turns of the user, another one all turns.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::ContentType;

use crate::Options;
use crate::bed::Bed;
use crate::metrics::{Asked, Figure, Report, all, any};
use crate::read;

#[derive(Deserialize)]
struct Question {
    question_id: String,
    question_type: String,
    question: String,
    question_date: String,
    haystack_session_ids: Vec<String>,
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    role: String,
    content: String,
}

impl Turn {
    fn is_saved(&self, user_only: bool) -> bool {
        (!user_only || self.role == "user") && !self.content.trim().is_empty()
    }
}

/// Number of turns to request, so that they contain enough sessions.
const TURNS: usize = 100;

pub(crate) fn run(path: &Path, options: &Options) -> anyhow::Result<Vec<Report>> {
    let questions: Vec<Question> =
        serde_json::from_str(&read::text(path)?).context("not the LongMemEval format")?;
    let user = report("user turns", &questions, options, true)?;
    let both = report("all turns", &questions, options, false)?;
    Ok(vec![user, both])
}

fn report(name: &str, questions: &[Question], options: &Options, user_only: bool) -> anyhow::Result<Report> {
    let mut asked = Vec::new();
    for question in questions.iter().take(options.only) {
        let gold = gold(question, user_only);
        if gold.is_empty() {
            continue;
        }
        let (requests, ids) = turns(question, user_only);
        let bed = Bed::with(&requests, ids, options)?;
        let at = read::written_time(&question.question_date);
        let (turns, evidence, micros) = bed.ask(&question.question, at, TURNS)?;
        let mut found: Vec<crate::metrics::Found> = Vec::new();
        for turn in turns {
            if !found.iter().any(|known| known.id == turn.id) {
                found.push(turn);
            }
        }
        asked.push(Asked {
            haystack: question.question_id.clone(),
            question: question.question.clone(),
            category: question.question_type.clone(),
            gold,
            found,
            evidence,
            micros,
        });
        eprint!("\r{name}: {}", asked.len());
    }
    eprintln!();
    let figures: Vec<(&'static str, Figure)> = vec![
        ("any@5", |asked| any(asked, 5)),
        ("all@5", |asked| all(asked, 5)),
        ("any@10", |asked| any(asked, 10)),
        ("all@10", |asked| all(asked, 10)),
    ];
    let title = format!("LongMemEval format, session level, {name}");
    Ok(Report { title, figures, groups: Vec::new(), asked })
}

/// Returns the sessions with the answer, if any of their turns is saved.
fn gold(question: &Question, user_only: bool) -> Vec<String> {
    let sessions = question.haystack_session_ids.iter().zip(&question.haystack_sessions);
    let gold = sessions.filter(|(id, turns)| {
        question.answer_session_ids.contains(id) && turns.iter().any(|turn| turn.is_saved(user_only))
    });
    gold.map(|(id, _)| id.clone()).collect()
}

fn turns(question: &Question, user_only: bool) -> (Vec<SaveRequest>, Vec<String>) {
    let (mut requests, mut ids) = (Vec::new(), Vec::new());
    let sessions = question.haystack_session_ids.iter().zip(&question.haystack_dates);
    for ((id, date), turns) in sessions.zip(&question.haystack_sessions) {
        let at = read::written_time(date);
        for (position, turn) in (0..).zip(turns) {
            if !turn.is_saved(user_only) {
                continue;
            }
            ids.push(id.clone());
            requests.push(SaveRequest {
                content_type: Some(ContentType::Chat),
                conversation: Some(id.clone()),
                position: Some(position),
                speaker: Some(turn.role.clone()),
                occurred_at: at,
                ..SaveRequest::new(read::clean(&turn.content))
            });
        }
    }
    (requests, ids)
}
