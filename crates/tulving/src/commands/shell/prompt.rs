//! The prompt: reads a line from a person, with completion, hints and history.
//!
//! The history is a file of the home that only its owner may read. The history does not contain content to remember or to
//! note, because this content belongs only in the store or in a journal, and erasing it there must remove it completely. The
//! history also contains no lines with secrets or private passages.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::{ReadlineError, Signal};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History, MemHistory};
use rustyline::validate::Validator;
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};
use tulving_text::{private, secrets};

use super::line;
use crate::failure::{Failure, InputError};
use crate::print::Printer;
use crate::show::style::{self, FAINT};
use crate::wire::App;

/// Maximum number of lines in the history.
const LINES: usize = 1_000;
/// Maximum length of a line in the history, in bytes. Longer lines are rarely wanted again.
const LINE_BYTES: usize = 1_000;

/// The source of lines.
pub(super) struct ShellPrompt<'a> {
    editor: Editor<PromptHelper<'a>, MemHistory>,
    kept: Option<PromptHistory>,
    text: String,
}

/// The history that outlives this process.
struct PromptHistory {
    lines: FileHistory,
    path: PathBuf,
}

/// Completion and hints.
struct PromptHelper<'a> {
    app: &'a App<'a>,
    grammar: clap::Command,
    references: Vec<String>,
    colored: bool,
}

impl<'a> ShellPrompt<'a> {
    pub(super) fn open(app: &'a App<'a>, printer: &mut Printer) -> Result<Self, Failure> {
        let colored = printer.colored();
        let config = Config::builder()
            .max_history_size(LINES)
            .map_err(unreadable)?
            .completion_type(CompletionType::List)
            .color_mode(if colored { ColorMode::Enabled } else { ColorMode::Disabled })
            .build();
        let mut history = MemHistory::with_config(&config);
        let kept = match PromptHistory::open(app, &config) {
            Ok(kept) => Some(kept),
            Err(error) => {
                printer
                    .warning(format!("the history cannot be read, and nothing is added to it: {error}"))?;
                None
            }
        };
        for line in kept.iter().flat_map(|kept| kept.lines.iter()) {
            history.add(line).map_err(unreadable)?;
        }
        let mut editor = Editor::with_history(config, history).map_err(unreadable)?;
        let aid = PromptHelper { app, grammar: line::grammar(), references: Vec::new(), colored };
        editor.set_helper(Some(aid));
        let text = match app.settings.space.as_str() {
            "default" => "tulving> ".to_owned(),
            space => format!("tulving {space}> "),
        };
        Ok(Self { editor, kept, text })
    }

    /// Reads the next line; `None` at the end. Completes the memories of the last answer.
    pub(super) fn read(&mut self, references: Vec<String>) -> Result<Option<String>, Failure> {
        if let Some(aid) = self.editor.helper_mut() {
            aid.references = references;
        }
        loop {
            match self.editor.readline(&self.text) {
                Ok(line) => return Ok(Some(line)),
                Err(ReadlineError::Eof) => return Ok(None),
                Err(ReadlineError::Interrupted | ReadlineError::Signal(Signal::Interrupt)) => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }

    /// Adds a line to the history of this process, and to the history file if the line may be stored there.
    pub(super) fn keep(&mut self, line: &str, printer: &mut Printer) -> Result<(), Failure> {
        if withheld(line) {
            return Ok(());
        }
        self.editor.add_history_entry(line).map_err(unreadable)?;
        let content = self.editor.helper().is_some_and(|aid| is_content(line, &aid.grammar));
        let Some(kept) = self.kept.as_mut().filter(|_| !content && line.len() <= LINE_BYTES) else {
            return Ok(());
        };
        if let Err(error) = kept.lines.add(line).and_then(|_| kept.lines.append(&kept.path)) {
            self.kept = None;
            printer.warning(format!("nothing more is added to the history: {error}"))?;
        }
        Ok(())
    }
}

impl PromptHistory {
    fn open(app: &App<'_>, config: &Config) -> rustyline::Result<Self> {
        let path = app.store.home().shell_history();
        let mut lines = FileHistory::with_config(config);
        match lines.load(&path) {
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            loaded => loaded?,
        }
        Ok(Self { lines, path })
    }
}

/// True if a line must not be added to any history. As in other shells, a space before the line has this effect.
fn withheld(line: &str) -> bool {
    line.starts_with(char::is_whitespace)
        || !secrets::find(line).is_empty()
        || !private::find(line).is_empty()
}

/// True if a line contains something to remember, which belongs only in the store or in a journal. An unknown command
/// may be such a line, misspelt.
fn is_content(line: &str, grammar: &clap::Command) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("/remember" | "/save") => true,
        Some("/journal") => words.next().is_some(),
        Some(name) => {
            name.starts_with('/') && !name.starts_with("//") && grammar.find_subcommand(name).is_none()
        }
        None => false,
    }
}

fn unreadable(error: ReadlineError) -> Failure {
    let source = match error {
        ReadlineError::Io(source) => source,
        error => io::Error::other(error),
    };
    InputError::Unreadable { name: "the terminal".to_owned(), source }.into()
}

impl PromptHelper<'_> {
    fn spaces(&self) -> Vec<String> {
        // If the caller may not see any spaces, the command reports it.
        let names = self.app.space_names().map(|names| names.into_values().collect());
        let mut names: Vec<String> = names.unwrap_or_default();
        names.sort_unstable();
        names
    }
}

impl Helper for PromptHelper<'_> {}
impl Validator for PromptHelper<'_> {}

impl Highlighter for PromptHelper<'_> {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        style::paint(FAINT, hint).into()
    }
}

impl Hinter for PromptHelper<'_> {
    type Hint = String;

    /// Returns the rest of a command as a hint; `None` without colours, because the hint would look like typed text.
    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<String> {
        if !self.colored || pos < line.len() || line.len() < 2 {
            return None;
        }
        let mut names = self.grammar.get_subcommands().map(clap::Command::get_name);
        names.find_map(|name| name.strip_prefix(line)).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

impl Completer for PromptHelper<'_> {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = &line[..pos];
        let (start, words) = completions(typed, &self.grammar, &self.references, || self.spaces());
        let pair = |word: String| Pair { replacement: format!("{word} "), display: word };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

/// Returns the words that the last word of `typed` may become, and where that word starts.
fn completions(
    typed: &str,
    grammar: &clap::Command,
    references: &[String],
    spaces: impl Fn() -> Vec<String>,
) -> (usize, Vec<String>) {
    let start = typed.trim_end_matches(|c: char| !c.is_whitespace()).len();
    let word = &typed[start..];
    let known = match words_of(typed[..start].trim_end(), word, grammar) {
        WordKind::Commands => {
            grammar.get_subcommands().map(|command| command.get_name().to_owned()).collect()
        }
        WordKind::Flags(flags) => flags,
        WordKind::Values(values) => values,
        WordKind::Spaces => spaces(),
        WordKind::Memories if word.starts_with(|c: char| c.is_ascii_digit()) => {
            references.iter().map(|name| name.trim_start_matches('#').to_owned()).collect()
        }
        WordKind::Memories => references.to_vec(),
        WordKind::Anything => Vec::new(),
    };
    (start, known.into_iter().filter(|known| known.starts_with(word)).collect())
}

/// The kinds of words that are possible.
enum WordKind {
    Commands,
    Flags(Vec<String>),
    Values(Vec<String>),
    Spaces,
    Memories,
    Anything,
}

/// Returns the kind of words that `word` may be after the text before it.
fn words_of(before: &str, word: &str, grammar: &clap::Command) -> WordKind {
    let Some(first) = before.split_whitespace().next() else {
        return if word.starts_with('/') { WordKind::Commands } else { WordKind::Anything };
    };
    let Some(command) = grammar.find_subcommand(first) else { return WordKind::Anything };
    if let Some(flag) = before.split_whitespace().last().and_then(|last| last.strip_prefix("--")) {
        let flag = command.get_arguments().find(|known| known.get_long() == Some(flag));
        match flag.filter(|flag| flag.get_action().takes_values()) {
            Some(flag) if flag.get_id() == "space" => return WordKind::Spaces,
            Some(flag) => {
                let values = flag.get_possible_values();
                return WordKind::Values(values.iter().map(|value| value.get_name().to_owned()).collect());
            }
            None => {}
        }
    }
    if word.starts_with("--") {
        let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
        return WordKind::Flags(shown.filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect());
    }
    match command.get_positionals().next().and_then(|first| first.get_value_names()?.first()?.as_str().into())
    {
        Some("MEMORY") => WordKind::Memories,
        Some("COMMAND") => WordKind::Commands,
        _ => WordKind::Anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(typed: &str) -> Vec<String> {
        let references = ["#3", "#31", "#4"].map(str::to_owned);
        let spaces = || vec!["default".to_owned(), "work".to_owned()];
        completions(typed, &line::grammar(), &references, spaces).1
    }

    #[test]
    fn commands_flags_values_spaces_and_memories_are_completed() {
        for (typed, words) in [
            ("/rem", vec!["/remember"]),
            ("/re", vec!["/recall", "/remember", "/restore"]),
            ("/help /fo", vec!["/forget"]),
            ("/remember --ty", vec!["--type"]),
            ("/remember --type pre", vec!["preference"]),
            ("/remember Tea --type p", vec!["preference", "project", "person"]),
            ("/memory --space w", vec!["work"]),
            ("/forget ", vec!["#3", "#31", "#4"]),
            ("/why 3", vec!["3", "31"]),
            ("/forget 3 #4", vec!["#4"]),
            ("/remember #", vec![]),
            ("rem", vec![]),
            ("what is /rem", vec![]),
            ("/nothing --ty", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(complete(typed), words, "{typed}");
        }
        assert!(complete("/recall --").contains(&"--explain".to_owned()));
    }

    #[test]
    fn what_starts_a_word_is_found_behind_any_letter() {
        let start = |typed: &str| completions(typed, &line::grammar(), &[], Vec::new).0;
        assert_eq!(start("/remember 日本 --ty"), "/remember 日本 ".len());
        assert_eq!(start("/remember\u{3000}--ty"), "/remember\u{3000}".len());
        assert_eq!(start("/rem"), 0);
    }

    #[test]
    fn secrets_and_what_is_private_are_not_kept() {
        let key = format!("gh{}_{}", "p", "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3Jp5Gc0Yb2Ta4");
        assert!(withheld(&format!("is {key} still valid?")));
        assert!(withheld("who is <private>Ada</private>?"));
        assert!(withheld(" who is Ada?"));
        assert!(!withheld("who is Ada?"));
    }

    #[test]
    fn what_is_to_be_remembered_is_no_history() {
        for (line, content) in [
            ("/remember tea", true),
            ("/save tea", true),
            ("/journal tea", true),
            ("/journal", false),
            ("/rember tea", true),
            ("/forget 3", false),
            ("//etc", false),
            ("what did I /remember?", false),
        ] {
            assert_eq!(is_content(line, &line::grammar()), content, "{line}");
        }
    }
}
