//! The only place that prints. Results go to standard output; notes, warnings, errors and progress to standard error.
//!
//! With `--json` a command prints exactly one document, and what went wrong is one document on standard error. Colours
//! are only for terminals, unless asked for. A reader that goes away early, as `head` does, is no error.

use std::fmt::Display;
use std::io::{self, BufRead, BufWriter, IsTerminal, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use tulving_core::ports::{Clock, SystemClock};
use tulving_core::time::Timestamp;

use crate::exit;
use crate::failure::{Cause, Failure};
use crate::show::style::{self, BAD, FAINT, WARN};

/// Prints what a command has to say.
pub(crate) struct Printer {
    out: BufWriter<Stdout>,
    json: bool,
    colored_out: bool,
    colored_err: bool,
    now: Timestamp,
}

/// An error as programs read it.
#[derive(Serialize)]
struct Document<'a> {
    error: Details<'a>,
}

#[derive(Serialize)]
struct Details<'a> {
    code: &'a str,
    class: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    field: Option<&'a str>,
}

impl Printer {
    /// A printer for people or, with `json`, for programs.
    pub(crate) fn new(json: bool) -> Self {
        let mut printer = Self {
            out: BufWriter::new(io::stdout()),
            json,
            colored_out: false,
            colored_err: false,
            now: SystemClock.now(),
        };
        printer.color(ColorChoice::Auto);
        printer
    }

    /// Colours from here on as said.
    pub(crate) fn color(&mut self, choice: ColorChoice) {
        let colored = |detected: ColorChoice| match choice {
            ColorChoice::Auto => detected != ColorChoice::Never,
            ColorChoice::Never => false,
            ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        };
        self.colored_out = colored(AutoStream::choice(&io::stdout()));
        self.colored_err = colored(AutoStream::choice(&io::stderr()));
    }

    /// Whether programs read.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// When the command began.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// How wide the terminal is; `None` where there is none and nothing shall be cut.
    pub(crate) fn columns(&self) -> Option<usize> {
        let stdout = io::stdout();
        let size = terminal_size::terminal_size_of(&stdout);
        stdout.is_terminal().then(|| size.map_or(80, |(width, _)| usize::from(width.0)))
    }

    /// One line of the result.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> Result<(), Failure> {
        let line = line.as_ref();
        let done = if self.colored_out {
            writeln!(self.out, "{line}")
        } else {
            writeln!(self.out, "{}", anstream::adapter::strip_str(line))
        };
        Ok(done.map_err(Cause::Output)?)
    }

    /// Several lines of the result.
    pub(crate) fn lines(&mut self, lines: &[String]) -> Result<(), Failure> {
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Bytes of the result as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes).map_err(Cause::Output)?)
    }

    /// The result as one JSON document.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let done = if io::stdout().is_terminal() {
            serde_json::to_writer_pretty(&mut self.out, value)
        } else {
            serde_json::to_writer(&mut self.out, value)
        };
        done.map_err(|error| Cause::Output(error.into()))?;
        self.bytes(b"\n")
    }

    /// A part of a JSON document that is written piece by piece.
    pub(crate) fn part(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        Ok(serde_json::to_writer(&mut self.out, value).map_err(|error| Cause::Output(error.into()))?)
    }

    /// Writes out what was printed so far.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush().map_err(Cause::Output)?)
    }

    /// Something to know besides the result. Programs do not need it.
    pub(crate) fn note(&mut self, text: impl Display) -> Result<(), Failure> {
        if !self.json {
            self.finish()?;
            self.error_line(&style::paint(FAINT, text));
        }
        Ok(())
    }

    /// Something that was asked and not done, while the rest was.
    pub(crate) fn warning(&mut self, text: impl Display) -> Result<(), Failure> {
        self.finish()?;
        if self.json {
            self.error_line(&serde_json::json!({ "warning": text.to_string() }).to_string());
        } else {
            self.error_line(&format!("{} {text}", style::paint(WARN, "warning:")));
        }
        Ok(())
    }

    /// Why the command was not done.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        // What was printed before is true; if it cannot be written there is nobody left to tell.
        let _ = self.finish();
        let (message, hint) = (failure.message(), failure.hint());
        if self.json {
            let class = exit::name(failure.class());
            self.error_document(Details {
                code: failure.code(),
                class,
                message: &message,
                hint: hint.as_deref(),
                field: failure.field(),
            });
            return;
        }
        self.error_line(&format!("{} {message}", style::paint(BAD, "error:")));
        if let Some(hint) = hint {
            self.error_line(&format!("  {} {hint}", style::paint(FAINT, "hint:")));
        }
    }

    /// What clap has to say: help and version are a result, the rest is an error.
    pub(crate) fn clap(&mut self, error: &clap::Error) -> Result<(), Failure> {
        let text = error.render();
        if !error.use_stderr() {
            let help = if self.colored_out { text.ansi().to_string() } else { text.to_string() };
            return self.line(help.trim_end());
        }
        if self.json {
            let text = text.to_string();
            let said: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            let said = said.join(" ");
            let message = said.strip_prefix("error: ").unwrap_or(&said);
            let hint = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
            self.error_document(Details { code: "usage", class: "caller", message, hint, field: None });
        } else {
            self.error_line(text.ansi().to_string().trim_end());
        }
        Ok(())
    }

    /// Asks a person; anything but `y` or `yes` is no. `None` where no person is there to answer.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<Option<bool>, Failure> {
        if !io::stdin().is_terminal() || self.json {
            return Ok(None);
        }
        self.finish()?;
        let mut err = io::stderr();
        let _ = write!(err, "{question} [y/N] ");
        let _ = err.flush();
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        Ok(Some(read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")))
    }

    /// Progress of long work, shown only to a person at a terminal. `total` in steps, where it is known.
    pub(crate) fn bar(&self, what: &'static str, total: Option<u64>) -> ProgressBar {
        let template = if total.is_some() {
            "{msg} {wide_bar} {percent:>3} %  {eta}"
        } else {
            "{msg} {human_pos}  {per_sec}"
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        // Ten times a second is fluent for an eye and costs nothing.
        let target = ProgressDrawTarget::stderr_with_hz(10);
        ProgressBar::with_draw_target(total, target).with_style(style).with_message(what)
    }

    fn error_document(&self, error: Details<'_>) {
        let text = serde_json::to_string(&Document { error }).expect("plain texts are JSON");
        self.error_line(&text);
    }

    /// Standard error is the last resort: where it cannot be written, nothing can be said.
    fn error_line(&self, line: &str) {
        let mut err = io::stderr().lock();
        let _ = if self.colored_err {
            writeln!(err, "{line}")
        } else {
            writeln!(err, "{}", anstream::adapter::strip_str(line))
        };
    }
}
