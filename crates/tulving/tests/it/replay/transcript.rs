//! Reads a transcript: calls and their answers, as plain text.
//!
//! - `== title` begins a scene, which is played on its own home.
//! - `> tool {…}` calls a tool. Its arguments may continue over several lines, as in the seeds.
//! - `> #12 is next` saves and forgets until the next memory has that number. Only Max counts this way.
//! - `> session-start` asks for the block for the start of a session.
//! - The lines below a call are its answer: text, JSON, or `! ` and the message of a refusal.
//! - `// ` begins a comment with the place of the example in the seed.
//!
//! `$name` matches a value that differs from run to run; [`holes`](super::holes) defines the matches. In arguments it is the
//! value found before, and `$x*50001` is that many x.

use serde_json::Value;

/// A scene, which is played on one home.
pub(super) struct Scene {
    pub(super) title: String,
    pub(super) steps: Vec<Step>,
}

/// One call and its answer.
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) act: Act,
    pub(super) answer: String,
}

pub(super) enum Act {
    Call { tool: String, arguments: Value },
    Next(u64),
    SessionStart,
}

pub(super) fn read(text: &str) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with("// "));
    while let Some((line, text)) = lines.next() {
        if let Some(title) = text.strip_prefix("== ") {
            scenes.push(Scene { title: title.to_owned(), steps: Vec::new() });
            continue;
        }
        if text.is_empty() && scenes.is_empty() {
            continue;
        }
        let steps =
            &mut scenes.last_mut().unwrap_or_else(|| panic!("line {line}: a scene comes first")).steps;
        if let Some(call) = text.strip_prefix("> ") {
            let mut call = call.to_owned();
            let act = loop {
                if let Some(act) = act(&call) {
                    break act;
                }
                let (_, more) = lines.next().unwrap_or_else(|| panic!("line {line} has no end: {call}"));
                call.push_str(more);
            };
            steps.push(Step { line, act, answer: String::new() });
        } else if let Some(step) = steps.last_mut() {
            step.answer.push_str(text);
            step.answer.push('\n');
        } else {
            assert!(text.is_empty(), "line {line}: a call comes first");
        }
    }
    for step in scenes.iter_mut().flat_map(|scene| &mut scene.steps) {
        step.answer.truncate(step.answer.trim_end().len());
    }
    scenes
}

/// The call in a line, if the line is complete.
fn act(call: &str) -> Option<Act> {
    if call == "session-start" {
        return Some(Act::SessionStart);
    }
    if let Some(number) = call.strip_prefix('#').and_then(|rest| rest.strip_suffix(" is next")) {
        return Some(Act::Next(number.parse().expect("a number")));
    }
    let (tool, arguments) = call.split_once(' ').unwrap_or((call, "null"));
    let arguments = serde_json::from_str(arguments).ok()?;
    Some(Act::Call { tool: tool.to_owned(), arguments })
}

/// The lines in which the two differ, from the first to the last.
pub(super) fn difference(expected: &str, answered: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), answered.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let both = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(both).take_while(|(old, new)| old == new).count();
    let mut text = String::new();
    let mut show = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push_str(&format!("    {mark} {line}\n"));
        }
    };
    show(' ', &old[..head]);
    show('-', &old[head..old.len() - tail]);
    show('+', &new[head..new.len() - tail]);
    show(' ', &old[old.len() - tail..]);
    text
}
