//! `/why`: explains the last answer, as a whole or for one memory part by part.

use tulving_core::model::answer::{Explanation, Hit, LaneMark, ScorePart};
use tulving_core::model::id::MemoryRef;

use crate::args::reference;
use crate::commands::recall::{self, RecallArgs, RecallOutcome};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::table::table;
use crate::wire::App;

/// The last question and its answer. `/why` explains this answer and does not ask the question again.
pub(super) struct LastAnswer {
    pub(super) args: Box<RecallArgs>,
    pub(super) asked: RecallOutcome,
}

impl LastAnswer {
    /// The references of the memories that were found.
    pub(super) fn references(&self) -> Vec<String> {
        self.asked.answer.hits.iter().map(|hit| hit.memory.reference().to_string()).collect()
    }

    pub(super) fn explain(
        &self,
        memory: Option<&str>,
        app: &App<'_>,
        printer: &mut Printer,
    ) -> Result<Outcome, Failure> {
        let mut asked = self.asked.clone();
        let Some(memory) = memory else { return recall::tell(&self.args, asked, true, app, printer) };
        let which = reference(memory)?;
        asked.answer.hits.retain(|hit| names(which, hit));
        let Some(hit) = asked.answer.hits.first() else { return Err(self.not_found(which)) };
        if printer.json() {
            return recall::tell(&self.args, asked, true, app, printer);
        }
        recall::print(&self.args, std::slice::from_ref(hit), true, app, printer)?;
        if let Some(explanation) = &hit.explanation {
            printer.line("")?;
            printer.lines(&parts(explanation))?;
        }
        Ok(Outcome::Done)
    }

    fn not_found(&self, which: MemoryRef) -> Failure {
        let failure = Failure::usage(format!("{which} is not in the last answer"));
        match self.references() {
            found if found.is_empty() => failure.hinted("it is empty"),
            found => failure.hinted(format!("these are: {}", found.join(", "))),
        }
    }
}

/// Returns the failure for `/why` before the first answer.
pub(super) fn nothing_asked() -> Failure {
    Failure::usage("there is no last answer yet")
        .hinted("ask a question first; /why then explains its answer")
}

fn names(which: MemoryRef, hit: &Hit) -> bool {
    match which {
        MemoryRef::Number(number) => hit.memory.number == Some(number),
        MemoryRef::Id(id) => hit.memory.id == id,
        MemoryRef::Foreign(_) => false,
    }
}

/// Shows the parts of the score, and the rank in each lane.
fn parts(explanation: &Explanation) -> Vec<String> {
    let row = |part: &ScorePart| {
        let ScorePart { name, raw, weight, value } = part;
        [name.as_str().to_owned(), figure(*raw), figure(*weight), figure(*value)]
    };
    let mut rows: Vec<[String; 4]> = explanation.parts.iter().map(row).collect();
    rows.push(["score".to_owned(), String::new(), String::new(), figure(explanation.score)]);
    let mut lines = table(["part", "is", "counts", "adds"], &rows);
    let lane = |mark: &LaneMark| [mark.lane.as_str().to_owned(), format!("#{}", mark.rank), figure(mark.raw)];
    let lanes: Vec<[String; 3]> = explanation.lanes.iter().map(lane).collect();
    if !lanes.is_empty() {
        lines.push(String::new());
        lines.extend(table(["lane", "place", "its score"], &lanes));
    }
    lines
}

/// Formats a figure with three digits, and zero without a sign.
fn figure(figure: f64) -> String {
    let text = format!("{figure:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nought_has_no_sign() {
        assert_eq!([figure(-0.0004), figure(-0.0), figure(-0.0006)], ["0.000", "0.000", "-0.001"]);
    }
}
