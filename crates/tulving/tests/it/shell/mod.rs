//! `tulving shell`, at a terminal and line by line.

/// A pseudo-terminal, and what is shown there.
pub(crate) mod terminal;

use std::os::unix::fs::PermissionsExt;

use crate::binary::{Transcript, Tulving, assert_transcript};
use terminal::{CTRL_C, CTRL_D, PROMPT, TAB, Terminal, UP};

/// The shell at its first prompt.
fn opened(tulving: &Tulving) -> Terminal {
    let mut terminal = Terminal::start(tulving.command(&["shell"]), 100);
    terminal.sees(PROMPT);
    terminal
}

fn ended(mut terminal: Terminal) {
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().code(), Some(0));
}

fn furnished() -> Tulving {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Prefers dark roast", "--type", "preference"]);
    tulving.ok(&["save", "Standup is at 9:30", "--type", "routine"]);
    tulving
}

#[test]
fn a_question_is_answered_and_explained() {
    let tulving = furnished();
    let mut terminal = Terminal::start(tulving.command(&["shell"]), 100);
    terminal.sees("Ctrl-D ends the shell.");
    terminal.sees(PROMPT);
    terminal.asks("/why", "there is no last answer yet");
    let answer = terminal.asks("which roast?", "Prefers dark roast");
    assert!(!answer.contains("keyword #1"), "nobody asked why: {answer}");
    terminal.asks("/why", "keyword #1: words");
    let parts = terminal.asks("/why #1", "importance");
    assert!(parts.contains("counts") && parts.contains("score"), "{parts}");
    terminal.asks("/why 2", "#2 is not in the last answer");
    ended(terminal);
}

#[test]
fn what_is_remembered_here_or_elsewhere_meanwhile_is_found() {
    let tulving = Tulving::new();
    let mut terminal = opened(&tulving);
    terminal.asks("/remember It's 日本語のメモ, “noted” --type event", "Saved #1");
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(memory["content"], "It's 日本語のメモ, “noted”");
    assert_eq!(memory["type"], "event");
    tulving.ok(&["save", "The ferry leaves at noon"]);
    terminal.asks("when does the ferry leave?", "#2");
    terminal.asks("/journal The ferry was late", "Noted in memory/");
    terminal.asks("/journal", "The ferry was late");
    terminal.asks("/memory", "The ferry leaves at noon");
    ended(terminal);
}

#[test]
fn tab_completes_commands_and_the_memories_of_the_last_answer() {
    let tulving = furnished();
    let mut terminal = opened(&tulving);
    terminal.asks(&format!("/rem{TAB}Green tea --ty{TAB}pref{TAB}"), "Saved #3");
    assert_eq!(tulving.json(&["get", "3"])["type"], "preference");
    terminal.types("/re").types(TAB).types(TAB);
    terminal.sees("/restore");
    terminal.sees(PROMPT);
    terminal.types(CTRL_C);
    terminal.sees(PROMPT);
    terminal.asks("standup", "#2");
    terminal.asks(&format!("/forget {TAB}"), "Forgot #2");
    terminal.asks("/restore 2", "Restored #2");
    ended(terminal);
}

#[test]
fn earlier_lines_come_back_in_the_next_session_and_what_is_to_be_remembered_does_not() {
    let tulving = furnished();
    let mut terminal = opened(&tulving);
    let key = format!("gh{}_{}", "p", "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3Jp5Gc0Yb2Ta4");
    terminal.asks("which roast?", "Prefers dark roast");
    terminal.asks("/remember The word is plum", "Saved #3");
    terminal.asks(&format!("who has {key}?"), "No memories found");
    // In this session it comes back, to be mended.
    terminal.types(UP);
    terminal.sees("/remember The word is plum");
    terminal.types(CTRL_C);
    terminal.sees(PROMPT);
    ended(terminal);

    let file = tulving.home().join("shell-history");
    let kept = std::fs::read_to_string(&file).expect("a history");
    assert_eq!(kept, "#V2\nwhich roast?\n");
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);

    let mut terminal = opened(&tulving);
    terminal.types(UP);
    terminal.sees("which roast?");
    terminal.types("\r");
    terminal.sees("Prefers dark roast");
    terminal.sees(PROMPT);
    ended(terminal);
}

#[test]
fn a_history_that_cannot_be_read_is_told_and_left_alone() {
    let tulving = furnished();
    let file = tulving.home().join("shell-history");
    std::fs::write(&file, b"#V2\n\xff\xfe\n").expect("a file");
    let mut terminal = Terminal::start(tulving.command(&["shell"]), 100);
    terminal.sees("warning: the history cannot be read");
    terminal.sees(PROMPT);
    terminal.asks("which roast?", "Prefers dark roast");
    ended(terminal);
    assert_eq!(std::fs::read(&file).expect("a file"), b"#V2\n\xff\xfe\n");
}

#[test]
fn control_c_clears_the_line_and_what_is_wrong_does_not_end_the_shell() {
    let tulving = furnished();
    let mut terminal = opened(&tulving);
    terminal.types("/quit").types(CTRL_C);
    terminal.sees(PROMPT);
    terminal.asks("/rember tea", "did you mean `/remember`?");
    terminal.asks("/forget 99", "there is no memory #99");
    terminal.asks("/context --budget 3", "error:");
    // Two lines that arrive together are both done.
    terminal.types("which roast?\rstandup\r");
    terminal.sees("Prefers dark roast");
    terminal.sees("Standup is at 9:30");
    terminal.sees(PROMPT);
    terminal.types("/quit\r");
    assert_eq!(terminal.ends().code(), Some(0));
}

#[test]
fn a_person_is_asked_before_many_are_forgotten() {
    let tulving = furnished();
    let mut terminal = opened(&tulving);
    for (answer, said) in [("n", "Nothing was done."), ("y", "Forgot 1 memory")] {
        terminal.types("/forget --where type=routine\r");
        terminal.sees("Forget 1 memory? [y/N]");
        terminal.asks(answer, said);
    }
    terminal.types("/forget --where type=preference\r");
    terminal.sees("Forget 1 memory? [y/N]");
    terminal.types(CTRL_C);
    terminal.sees("Nothing was done.");
    terminal.sees(PROMPT);
    terminal.asks("which roast?", "Prefers dark roast");
    ended(terminal);
}

#[test]
fn lines_are_as_wide_as_the_terminal_is_then() {
    let tulving = Tulving::new();
    tulving.ok(&["save", &"roast ".repeat(40)]);
    let mut terminal = Terminal::start(tulving.command(&["shell"]), 60);
    terminal.sees(PROMPT);
    let widest = |said: &str| {
        let lines = said.lines().filter(|line| line.contains("roast roast"));
        lines.map(|line| line.trim_end().chars().count()).max().expect("an answer")
    };
    let (narrow, pointer) = (55..=60, "… (more: tulving get 1)");
    assert!(narrow.contains(&widest(&terminal.asks("roast?", pointer))));
    terminal.resize(90);
    assert!((85..=90).contains(&widest(&terminal.asks("roast?", "roast roast"))));
    ended(terminal);
}

#[test]
fn another_space_is_in_the_prompt_or_in_a_line() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "work"]);
    let nowhere = tulving.run_with(&["shell", "--space", "nope"], b"");
    assert_eq!((nowhere.code, nowhere.out.as_str()), (3, ""), "{}", nowhere.err);
    assert!(nowhere.err.contains("`nope`"), "{}", nowhere.err);
    let mut terminal = Terminal::start(tulving.command(&["shell", "--space", "work"]), 100);
    terminal.sees("\ntulving work> ");
    terminal.types("/remember Only at work\r").sees("Saved #1");
    terminal.sees("\ntulving work> ");
    terminal.types("/remember At home --space defa\t\r").sees("Saved #1");
    terminal.sees("\ntulving work> ");
    ended(terminal);
    assert_eq!(tulving.json(&["get", "1"])["content"], "At home");
    assert_eq!(tulving.json(&["get", "1", "--space", "work"])["content"], "Only at work");
}

#[test]
fn lines_of_a_pipe_are_done_without_a_prompt() {
    let tulving = furnished();
    let mut transcript = Transcript::new(&tulving);
    for script in [
        "which roast?\n\nstandup\n/why\n",
        "which roast?\n/why 1\n",
        "/remember Builds with --release --tag code --pin\n/get 3\n",
        "/forget 3\n/restore 3\n/memory\n",
        "/rember tea\n/list\n/why\n/forget\n//etc\n/remember -\n/forget --where type=fact\nstandup\n",
        "/help\n",
        "/help forget\n",
        "standup\n/quit\n/forget 1\n",
    ] {
        let run = tulving.run_with(&["shell"], script.as_bytes());
        transcript.note(&format!("{script}| tulving shell"), &run);
    }
    assert_transcript!(transcript);
    assert!(!tulving.home().join("shell-history").exists(), "nobody typed anything");
}

#[test]
fn each_answer_is_a_document_and_what_fails_names_its_line() {
    let tulving = furnished();
    let script = b"which roast?\n/forget 99\n\xff\n/why 1\n/help\n";
    let run = tulving.run_with(&["shell", "--json"], script);
    let documents = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    };
    let out = documents(&run.out);
    assert_eq!(out.len(), 3, "{}", run.out);
    assert_eq!(out[0]["memories"][0]["content"], "Prefers dark roast");
    assert!(out[0]["memories"][0]["explanation"].is_null());
    assert!(out[1]["memories"][0]["explanation"]["score"].is_number());
    assert!(out[2]["help"].as_str().expect("a text").contains("/remember"));
    let err = documents(&run.err);
    assert_eq!(err.len(), 2, "{}", run.err);
    assert_eq!((&err[0]["error"]["code"], &err[0]["line"]), (&"not_found".into(), &2.into()));
    assert_eq!((&err[1]["error"]["code"], &err[1]["line"]), (&"invalid_utf8".into(), &3.into()));
    assert_eq!(run.code, 3, "that of the first that failed");
}
