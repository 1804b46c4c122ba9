//! Only this module prints. Results go to standard output; notes, warnings, errors and progress to standard error.
//!
//! With `--json` a command prints exactly one document, and all its errors as one document on standard error at the
//! end; each line of a shell is a command. Colours are only for terminals, unless asked for. A reader that goes away
//! early, as `head` does, is not an error.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use rustyline::history::MemHistory;
use rustyline::{Behavior, Config, Editor};
use serde::Serialize;
use tulving_core::model::answer::Warning;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Clock, SystemClock};

use crate::exit::{self, Outcome};
use crate::failure::{Cause, Failure, InputError};
use crate::interrupt;
use crate::show::style::{self, BAD, FAINT, WARN};
use crate::show::text::block;

/// The width of a terminal that does not report one.
const USUAL_WIDTH: usize = 80;

/// Prints the results and messages of a command.
pub(crate) struct Printer {
    out: BufWriter<Stdout>,
    json: bool,
    colored_out: bool,
    colored_err: bool,
    now: Timestamp,
    line: Option<u64>,
    /// Errors to print at the end, for programs.
    failed: Vec<ErrorDetails>,
    warned: Vec<String>,
}

/// The errors and warnings of a command, as programs read them.
#[derive(Serialize)]
struct FailureDocument<'a> {
    /// The first error, which gave the exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorDetails>,
    /// All errors, if there are several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [ErrorDetails],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
    /// The line of standard input that it is about, if each line is a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

/// An error as programs read it.
#[derive(Serialize)]
struct ErrorDetails {
    code: &'static str,
    class: &'static str,
    message: String,
    hint: Option<String>,
    field: Option<String>,
}

impl Printer {
    /// Creates a printer for people or, with `json`, for programs.
    pub(crate) fn new(json: bool) -> Self {
        let mut printer = Self {
            out: BufWriter::new(io::stdout()),
            json,
            colored_out: false,
            colored_err: false,
            now: SystemClock.now(),
            line: None,
            failed: Vec::new(),
            warned: Vec::new(),
        };
        printer.color(ColorChoice::Auto);
        printer
    }

    /// Sets when later output is coloured.
    pub(crate) fn color(&mut self, choice: ColorChoice) {
        let colored = |detected: ColorChoice| match choice {
            ColorChoice::Auto => detected != ColorChoice::Never,
            ColorChoice::Never => false,
            ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        };
        self.colored_out = colored(AutoStream::choice(&io::stdout()));
        self.colored_err = colored(AutoStream::choice(&io::stderr()));
    }

    /// Begins the next command of this process; `line` is its number if commands are lines of input.
    pub(crate) fn begin(&mut self, line: Option<u64>) {
        (self.now, self.line) = (SystemClock.now(), line);
    }

    /// True if results are coloured.
    pub(crate) fn colored(&self) -> bool {
        self.colored_out
    }

    /// True if the output is for programs.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// The time when the command began.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The width of the terminal; `None` if there is none and nothing must be cut.
    pub(crate) fn columns(&self) -> Option<usize> {
        terminal_columns()
    }

    /// Prints one line of the result.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> Result<(), Failure> {
        let line = line.as_ref();
        let done = if self.colored_out {
            writeln!(self.out, "{line}")
        } else {
            writeln!(self.out, "{}", anstream::adapter::strip_str(line))
        };
        Ok(done.map_err(Cause::Output)?)
    }

    /// Prints several lines of the result.
    pub(crate) fn lines(&mut self, lines: &[String]) -> Result<(), Failure> {
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Prints a text of the user: unchanged into a file or a pipe; on a terminal without control characters and with a
    /// line break at its end.
    pub(crate) fn written(&mut self, text: &str) -> Result<(), Failure> {
        if self.columns().is_none() {
            return self.bytes(text.as_bytes());
        }
        self.lines(&block(text).lines().map(str::to_owned).collect::<Vec<_>>())
    }

    /// Prints bytes of the result unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes).map_err(Cause::Output)?)
    }

    /// Prints the result as one JSON document.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let done = if io::stdout().is_terminal() {
            serde_json::to_writer_pretty(&mut self.out, value)
        } else {
            serde_json::to_writer(&mut self.out, value)
        };
        done.map_err(|error| Cause::Output(error.into()))?;
        self.bytes(b"\n")
    }

    /// Prints a part of a JSON document that is written piece by piece.
    pub(crate) fn part(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        Ok(serde_json::to_writer(&mut self.out, value).map_err(|error| Cause::Output(error.into()))?)
    }

    /// Flushes the output.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush().map_err(Cause::Output)?)
    }

    /// Prints a note about the result. Programs do not need it.
    pub(crate) fn note(&mut self, text: impl Display) -> Result<(), Failure> {
        if !self.json {
            self.finish()?;
            self.error_line(&style::paint(FAINT, text));
        }
        Ok(())
    }

    /// Prints a warning that a part of the request was not carried out.
    pub(crate) fn warning(&mut self, text: impl Display) -> Result<(), Failure> {
        self.finish()?;
        if self.json {
            self.warned.push(text.to_string());
        } else {
            self.error_line(&format!("{} {text}", style::paint(WARN, "warning:")));
        }
        Ok(())
    }

    /// Prints several warnings.
    pub(crate) fn warnings(&mut self, warnings: &[Warning]) -> Result<(), Failure> {
        warnings.iter().try_for_each(|warning| self.warning(warning))
    }

    /// Prints why the command was not done.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        // The output before the failure is valid, so it is written first. If it cannot be written, no reader exists.
        let _ = self.finish();
        let (message, hint) = (failure.message(), failure.hint());
        if self.json {
            let (code, class) = (failure.code(), exit::name(failure.class()));
            let field = failure.field().map(str::to_owned);
            self.failed.push(ErrorDetails { code, class, message, hint, field });
            return;
        }
        self.error_line(&format!("{} {message}", style::paint(BAD, "error:")));
        if let Some(hint) = hint {
            self.error_line(&format!("  {} {hint}", style::paint(FAINT, "hint:")));
        }
    }

    /// Prints a message of clap: help and version are a result, the rest is an error.
    pub(crate) fn clap(&mut self, error: &clap::Error) -> Result<(), Failure> {
        let text = error.render();
        if !error.use_stderr() {
            let help = if self.colored_out { text.ansi().to_string() } else { text.to_string() };
            return self.line(help.trim_end());
        }
        if self.json {
            self.failure(&Failure::of_flags(error));
        } else {
            self.error_line(text.ansi().to_string().trim_end());
        }
        Ok(())
    }

    /// True if a person can be asked.
    pub(crate) fn asks(&self) -> bool {
        io::stdin().is_terminal() && !self.json
    }

    /// Asks a person a question. Only `y` or `yes` means yes; any other answer and Ctrl-C mean no. Returns `None` if no
    /// person can answer.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<Option<bool>, Failure> {
        if !self.asks() {
            return Ok(None);
        }
        self.finish()?;
        // Ctrl-C is an answer here; another way of reading a line would let it end the shell too.
        let config = Config::builder().behavior(Behavior::PreferTerm).build();
        let editor = Editor::<(), MemHistory>::with_history(config, MemHistory::new());
        let answer = editor.and_then(|mut editor| editor.readline(&format!("{question} [y/N] ")));
        Ok(Some(answer.is_ok_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))))
    }

    /// Notes that nothing was done because the answer was no.
    pub(crate) fn declined(&mut self) -> Result<Outcome, Failure> {
        self.note("Nothing was done.")?;
        Ok(Outcome::Declined)
    }

    /// Asks a person for a secret, without showing what is typed.
    pub(crate) fn ask_hidden(&mut self, question: &str) -> Result<String, Failure> {
        self.finish()?;
        let unreadable = |source| InputError::Unreadable { name: "the terminal".to_owned(), source };
        let mode = tcgetattr(io::stdin()).map_err(|error| unreadable(error.into()))?;
        let mut hidden = mode.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        let put_back = move || {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &mode);
        };
        interrupt::first(put_back.clone()).map_err(unreadable)?;
        // The terminal stops showing input before the question is printed, so that a quick answer is not shown either.
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden).map_err(|error| unreadable(error.into()))?;
        let read = rpassword::prompt_password(question);
        put_back();
        match read {
            // The prompt has sent the signal to its own process.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupt::wait(),
            read => Ok(read.map_err(unreadable)?),
        }
    }

    /// Creates a progress bar for long work, shown only at a terminal. `total` is the number of steps, if it is known.
    pub(crate) fn bar(&self, what: &'static str, total: Option<u64>) -> ProgressBar {
        let template = if total.is_some() {
            "{msg} {wide_bar} {percent:>3} %  {elapsed}{left}"
        } else {
            "{msg} {human_pos}  {per_sec}"
        };
        // Before the first step there is no estimate.
        let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
            if state.pos() > 0 {
                let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
            }
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        let style = style.with_key("left", left);
        // Ten updates per second look smooth and cost next to nothing.
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(total, target).with_style(style).with_message(what);
        // The elapsed time advances even while one step takes long.
        bar.enable_steady_tick(Duration::from_secs(1));
        bar
    }

    /// Prints errors and warnings for programs, in one document. For people, they were printed at once.
    pub(crate) fn conclude(&mut self) {
        let (failed, warned) = (std::mem::take(&mut self.failed), std::mem::take(&mut self.warned));
        if failed.is_empty() && warned.is_empty() {
            return;
        }
        let errors = if failed.len() > 1 { failed.as_slice() } else { &[] };
        let document = FailureDocument { error: failed.first(), errors, warnings: &warned, line: self.line };
        self.error_line(&serde_json::to_string(&document).expect("plain texts are JSON"));
    }

    /// Prints a line to standard error. An error is ignored: there is no other place to report it.
    fn error_line(&self, line: &str) {
        let mut err = io::stderr().lock();
        let _ = if self.colored_err {
            writeln!(err, "{line}")
        } else {
            writeln!(err, "{}", anstream::adapter::strip_str(line))
        };
    }
}

/// The width of the terminal that results go to; `None` if they go elsewhere.
pub(crate) fn terminal_columns() -> Option<usize> {
    let stdout = io::stdout();
    let reported = terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
    stdout.is_terminal().then(|| width(reported, std::env::var("COLUMNS").ok().as_deref()))
}

/// Returns the width of a terminal. If the terminal reports none, uses `COLUMNS` of the shell.
fn width(reported: Option<usize>, columns: Option<&str>) -> usize {
    let described = || columns.and_then(|columns| columns.trim().parse().ok());
    reported.filter(|width| *width > 0).or_else(described).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_reports_no_width_has_that_of_the_environment() {
        assert_eq!(width(Some(120), Some("40")), 120);
        assert_eq!(width(Some(0), Some("40")), 40);
        assert_eq!(width(None, Some("40")), 40);
        assert_eq!(width(None, Some("0")), USUAL_WIDTH);
        assert_eq!(width(None, Some("wide")), USUAL_WIDTH);
        assert_eq!(width(None, None), USUAL_WIDTH);
    }
}
