//! `tulving shell`: answers questions and runs commands one after the other, while the store and the model stay open.
//!
//! Lines come from the [`prompt`], or from standard input if that is not a terminal. [`mod@line`] parses a line, and
//! the same command runs as outside the shell. An error in one line is printed, and the next line is read.

mod line;
mod prompt;
mod why;

use std::io::{self, IsTerminal};
use std::path::Path;

use clap::Args;
use tulving_core::model::error::Class;

use super::{context, done, forget, get, journal, memory, recall, save, status_changes};
use crate::config;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::global::GlobalArgs;
use crate::input::InputLines;
use crate::print::Printer;
use crate::wire::App;
use line::{ShellCommand, ShellLine};
use prompt::ShellPrompt;
use why::LastAnswer;

const EXAMPLES: &str = "\
Examples:
  tulving shell
  tulving shell --space team-notes
  echo \"how do we deploy?\" | tulving shell
  tulving shell --json < questions.txt

A line is a question, or a command: /remember TEXT, /forget 12, /why, /help for all of them.
Tab completes, the arrow keys show earlier lines, Ctrl-C clears the line, Ctrl-D ends the shell.
If standard input is not a terminal, each of its lines is run without a prompt, and the exit code
is that of the first that failed. With --json each answer is one document on its own line.";

/// Flags of `shell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShellArgs {}

/// The state between lines.
struct ShellSession<'a> {
    global: &'a GlobalArgs,
    app: &'a App<'a>,
    last: Option<LastAnswer>,
}

/// The result of a line.
enum LineResult {
    Done(Outcome),
    Quit,
}

pub(super) fn run(global: &GlobalArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    // A missing space is reported at once, and not by each line.
    app.here()?;
    let mut session = ShellSession { global, app, last: None };
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        session.converse(printer)
    } else {
        session.play(printer)
    }
}

impl ShellSession<'_> {
    /// Reads lines from a person, who sees what fails.
    fn converse(&mut self, printer: &mut Printer) -> Result<Outcome, Failure> {
        let mut prompt = ShellPrompt::open(self.app, printer)?;
        printer.note("Ask a question, or type /help. Ctrl-D ends the shell.")?;
        loop {
            let references = self.last.as_ref().map(LastAnswer::references).unwrap_or_default();
            let Some(text) = prompt.read(references)? else { return Ok(Outcome::Done) };
            if text.trim().is_empty() {
                continue;
            }
            prompt.keep(&text, printer)?;
            printer.begin(None);
            let step = self.take(&text, printer)?;
            printer.conclude();
            if let LineResult::Quit = step {
                return Ok(Outcome::Done);
            }
        }
    }

    /// Reads lines from standard input.
    fn play(&mut self, printer: &mut Printer) -> Result<Outcome, Failure> {
        let mut lines = InputLines::open(Path::new("-"))?;
        let mut outcome = Outcome::Done;
        loop {
            let next = lines.next();
            printer.begin(Some(lines.line()));
            let step = match next {
                Ok(None) => return Ok(outcome),
                Ok(Some((_, text))) => self.take(&text, printer)?,
                // A line that is not UTF-8 is only one line; after a read error nothing more will come.
                Err(failure) if failure.class() == Class::Caller => {
                    LineResult::Done(described(&failure, printer))
                }
                Err(failure) => return Err(failure),
            };
            printer.conclude();
            match step {
                LineResult::Quit => return Ok(outcome),
                LineResult::Done(done) if outcome == Outcome::Done => outcome = done,
                LineResult::Done(_) => {}
            }
        }
    }

    /// Runs a line completely: the work after an answer is done before the next line.
    fn take(&mut self, text: &str, printer: &mut Printer) -> Result<LineResult, Failure> {
        let step = match self.act(text, printer) {
            Ok(step) => step,
            Err(failure) if failure.is_output() => return Err(failure),
            Err(failure) => LineResult::Done(described(&failure, printer)),
        };
        printer.finish()?;
        self.app.settle(printer)?;
        Ok(step)
    }

    fn act(&mut self, text: &str, printer: &mut Printer) -> Result<LineResult, Failure> {
        let ShellLine { space, command } = line::read(text)?;
        let Some(space) = space else { return self.run(command, self.app, printer) };
        let settings = config::read(&GlobalArgs { space: Some(space), ..self.global.clone() })?;
        self.run(command, &self.app.with(&settings), printer)
    }

    fn run(
        &mut self,
        command: ShellCommand,
        app: &App<'_>,
        printer: &mut Printer,
    ) -> Result<LineResult, Failure> {
        let outcome = match command {
            ShellCommand::Recall(args) => self.ask(args, app, printer),
            ShellCommand::Why { memory } => match &self.last {
                Some(last) => last.explain(memory.as_deref(), app, printer),
                None => Err(why::nothing_asked()),
            },
            ShellCommand::Memory(_) => memory::run(app, printer),
            ShellCommand::Get(args) => get::run(&args, app, printer),
            ShellCommand::Remember(args) => save::run(&args, app, printer),
            ShellCommand::Forget(args) => forget::run(&args, app, printer),
            ShellCommand::Done(args) => done::run(&args, app, printer),
            ShellCommand::Restore(which) => {
                status_changes::run(&status_changes::RESTORE, &which, app, printer)
            }
            ShellCommand::Journal(args) => journal::run(&args, app, printer),
            ShellCommand::Context(args) => context::run(&args, app, printer),
            ShellCommand::Help { command } => help(command.as_deref(), printer),
            ShellCommand::Quit => return Ok(LineResult::Quit),
        };
        outcome.map(LineResult::Done)
    }

    fn ask(
        &mut self,
        args: Box<recall::RecallArgs>,
        app: &App<'_>,
        printer: &mut Printer,
    ) -> Result<Outcome, Failure> {
        let asked = recall::ask(&args, app)?;
        let last = self.last.insert(LastAnswer { args, asked });
        recall::tell(&last.args, last.asked.clone(), last.args.explains(), app, printer)
    }
}

/// Prints why a line failed, and returns the outcome for the whole shell.
fn described(failure: &Failure, printer: &mut Printer) -> Outcome {
    printer.failure(failure);
    Outcome::Partly(failure.class())
}

fn help(command: Option<&str>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let text = line::help(command)?;
    if printer.json() {
        let text = anstream::adapter::strip_str(&text).to_string();
        printer.document(&serde_json::json!({ "help": text }))?;
    } else {
        printer.line(text)?;
    }
    Ok(Outcome::Done)
}
