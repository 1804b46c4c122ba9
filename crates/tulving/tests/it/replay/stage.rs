//! A scene that is being played: one way on one home, and the values known so far.

use serde_json::{Value, json};
use tulving_core::model::preview;
use tulving_dialects::Dialect;

use super::holes::{Holes, pretty, pruned};
use super::transcript::{Act, Step, difference};
use super::ways::{Answer, Open, Way};
use crate::binary::Tulving;

pub(super) struct Stage {
    way: Box<dyn Way>,
    holes: Holes,
    /// The answers, without the values that may differ between ways.
    pub(super) described: Vec<String>,
}

impl Stage {
    /// A way with its own home.
    pub(super) fn open(open: Open, dialect: Dialect) -> Self {
        let way = open(Tulving::new(), dialect);
        let holes = Holes::new(way.origin());
        Self { way, holes, described: Vec::new() }
    }

    /// Plays a step, and returns the differences from the transcript.
    pub(super) fn play(&mut self, step: &Step) -> Result<(), String> {
        match &step.act {
            Act::Next(number) => {
                self.skip_to(*number);
                Ok(())
            }
            Act::SessionStart => {
                // The block ends with a line end, so that what is put after it begins a line.
                let expected = format!("{}\n", step.answer);
                let mut blocks = self.way.blocks().into_iter();
                blocks.try_for_each(|block| self.compare(&expected, &block))
            }
            Act::Call { tool, arguments } => {
                let (expected, answer) = match self.call(tool, arguments) {
                    Answer::Text(text) => (step.answer.clone(), text),
                    Answer::Refused(text) => (step.answer.clone(), format!("! {text}")),
                    Answer::Data(written) => data(&step.answer, &written),
                };
                let shown = preview::cut(&arguments.to_string(), 200);
                self.compare(&expected, &answer).map_err(|what| format!("    > {tool} {shown}\n{what}"))
            }
        }
    }

    /// Calls a tool and records its answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let answer = self.way.call(tool, &self.holes.filled(arguments));
        let (kind, written) = match &answer {
            Answer::Text(text) => ("text", text),
            Answer::Data(written) => ("data", written),
            Answer::Refused(text) => ("refused", text),
        };
        let shown = preview::cut(&arguments.to_string(), 200);
        self.described.push(format!("{tool} {shown} {kind}: {}", self.holes.masked(written)));
        answer
    }

    fn compare(&mut self, expected: &str, answer: &str) -> Result<(), String> {
        self.holes.fit(expected, answer).map_err(|named| difference(expected, &named))
    }

    /// Saves and forgets, so that the next memory has this number.
    fn skip_to(&mut self, number: u64) {
        loop {
            let saved = self.call("remember", &json!({ "category": "fact", "content": "filler" }));
            let Answer::Text(said) = saved else { panic!("{saved:?}") };
            let given = said.strip_prefix("Remembered (#").and_then(|rest| rest.split_once(','));
            let given: u64 = given.and_then(|(number, _)| number.parse().ok()).expect("a number");
            self.call("forget", &json!({ "memory_id": given }));
            if given + 1 == number {
                return;
            }
            assert!(given < number, "{number} was given before");
        }
    }
}

/// The data of a transcript and of an answer, in one form.
fn data(expected: &str, written: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(written).expect("JSON");
    match serde_json::from_str(expected) {
        Ok(expected) => (pretty(&expected), pretty(&pruned(&answer, &expected))),
        Err(_) => (expected.to_owned(), pretty(&answer)),
    }
}
