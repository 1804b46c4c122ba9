//! Conversations that are written down: whether a text is one, and who says what in it.
//!
//! A *chat* was typed by those who speak, at the time of a clock; a *transcript* was written down from what was spoken,
//! counted from its beginning. The rules rather miss one than take a list of `Note: …` lines for people.

mod exported;
mod label;
mod stamp;

use self::label::{Label, label, role};
use self::stamp::Stamp;

/// Most lines that are looked at to tell whether a text is a conversation.
const LINES: usize = 400;

/// Most people who speak in one conversation.
const SPEAKERS: usize = 64;

/// What a conversation was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Talk {
    /// Those who speak typed it.
    Chat,
    /// Somebody wrote down what was spoken.
    Transcript,
}

/// What one said without another between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Who, where it is known.
    pub(super) speaker: Option<String>,
    /// What, without the time.
    pub(super) text: String,
}

/// What conversation a text is, if it is one.
pub(super) fn talk(text: &str) -> Option<Talk> {
    if is_subtitles(text) || is_archive(text) {
        return Some(Talk::Transcript);
    }
    let mut tally = Tally::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES) {
        tally.take_in(line);
    }
    tally.verdict()
}

/// Whether a JSON text is a conversation in the form in which messages are exported and archived.
pub(super) fn is_exported(json: &str) -> bool {
    exported::messages(json).is_some()
}

/// Whether a text is subtitles: WebVTT, SubRip or lines of two times.
pub(super) fn is_subtitles(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(40);
    let Some(first) = lines.next() else { return false };
    if first == "WEBVTT" || first.starts_with("WEBVTT ") {
        return true;
    }
    let cue = if first.bytes().all(|b| b.is_ascii_digit()) { lines.next() } else { Some(first) };
    cue.is_some_and(is_cue)
}

/// Whether a text is a conversation as it is archived in Markdown: a heading of a role above each message.
pub(super) fn is_archive(text: &str) -> bool {
    text.lines().filter(|line| archived(line).is_some()).nth(1).is_some()
}

/// The role, or the name, of whoever the heading of an archived message names.
fn archived(line: &str) -> Option<&str> {
    let heading = line.strip_prefix("## ")?;
    let said = ["User", "Assistant", "System"].iter().find_map(|role| heading.strip_prefix(role))?;
    let end = said.strip_suffix(')').and_then(|open| open.rfind(" (")).unwrap_or(said.len());
    match said[..end].strip_prefix(": ") {
        Some(speaker) => Some(speaker.trim()),
        None => said[..end].trim().is_empty().then(|| heading[..heading.len() - said.len()].trim()),
    }
}

/// Whether a line says from when to when a subtitle is shown.
fn is_cue(line: &str) -> bool {
    let begins = line.starts_with(|c: char| c.is_ascii_digit());
    begins
        && (line.contains(" --> ")
            || (line.len() < 32 && line.matches(':').count() >= 4 && !line.contains(' ')))
}

/// What was counted of the lines of a text.
#[derive(Default)]
struct Tally {
    lines: usize,
    /// Lines that somebody says, with the time before it.
    timed: usize,
    /// Those whose time is in brackets.
    bracketed: usize,
    /// Lines that somebody says, without a time.
    untimed: usize,
    /// Lines of a name and a time, above what is said.
    headed: usize,
    /// The first time, where all of them may be counted from a beginning.
    first: Option<Stamp>,
    /// Whether the first line is said by somebody.
    opens: bool,
    /// Lines whose label is no name: a field, a note, a level of a log.
    fields: usize,
    /// The names, each once.
    speakers: Vec<String>,
    /// Lines with a label, of any sort.
    turns: usize,
    /// Lines whose label is that of a part in a conversation with a model.
    roles: usize,
    /// Lines whose label is a number in the place of a name: `Speaker 1`.
    numbered: usize,
}

impl Tally {
    fn take_in(&mut self, line: &str) {
        self.lines += 1;
        match said(line) {
            Some(Said { label, stamp: Some((stamp, bracketed)), .. }) => {
                self.timed += 1;
                self.bracketed += usize::from(bracketed);
                self.first.get_or_insert(stamp);
                self.name(&label);
            }
            Some(Said { label, stamp: None, .. }) => {
                self.untimed += 1;
                self.name(&label);
            }
            None => {
                if let Some((label, stamp)) = headed(line) {
                    self.headed += 1;
                    self.first.get_or_insert(stamp);
                    self.name(&label);
                }
            }
        }
    }

    fn name(&mut self, label: &Label<'_>) {
        self.opens |= self.lines == 1;
        self.fields += usize::from(label.is_field);
        self.roles += usize::from(role(label.name));
        self.numbered += usize::from(label.is_numbered);
        self.turns += 1;
        // A list is searched: those who speak are few, and a text with more names than this is no conversation.
        if self.speakers.len() <= SPEAKERS && !self.speakers.iter().any(|known| known == label.name) {
            self.speakers.push(label.name.to_owned());
        }
    }

    fn verdict(&self) -> Option<Talk> {
        let distinct = self.speakers.len();
        if self.turns < 2 || !(2..=SPEAKERS).contains(&distinct) || self.fields * 10 > self.turns {
            return None;
        }
        let again = distinct < self.turns;
        let spoken = self.numbered == self.turns || matches!(self.first, Some(Stamp::Seconds(0..3600)));
        let sort = if spoken { Talk::Transcript } else { Talk::Chat };
        let share = |count: usize, tenths: usize| count * 10 >= self.lines * tenths;
        let timed = self.timed >= 2
            && (again || self.bracketed == self.timed)
            && (share(self.timed, 5) || (self.opens && self.timed >= 4 && share(self.timed, 3)));
        let headed = self.headed >= 2
            && (again || self.numbered == self.turns)
            && self.headed * 2 <= self.lines
            && share(self.headed, 1);
        // An export of a conversation with a model: its messages may be long, and its names are known.
        let by_role = self.roles == self.untimed && self.untimed >= 2 && self.opens && self.timed == 0;
        // Enough lines, nearly all of them said, and each speaker heard about twice.
        let untimed = self.untimed >= 4 && share(self.untimed, 7) && distinct * 3 <= self.untimed * 2;
        (timed || headed || by_role || untimed).then_some(sort)
    }
}

/// A line that somebody says.
struct Said<'a> {
    label: Label<'a>,
    stamp: Option<(Stamp, bool)>,
    text: &'a str,
}

fn said(line: &str) -> Option<Said<'_>> {
    match stamp::leading(line) {
        Some((stamp, bracketed, rest)) => {
            let (label, text) = label(rest, true)?;
            Some(Said { label, stamp: Some((stamp, bracketed)), text })
        }
        None => {
            let (label, text) = label(line, false)?;
            Some(Said { label, stamp: None, text })
        }
    }
}

/// The name on a line that has nothing but a name and a time.
fn headed(line: &str) -> Option<(Label<'_>, Stamp)> {
    if line.len() > 96 {
        return None;
    }
    let (stamp, before) = stamp::trailing(line)?;
    Some((label::name(before)?, stamp))
}

/// Who says what in a conversation, in order, as far as `most` bytes go. Of a text that is none it is one turn of nobody.
pub(super) fn turns(text: &str, most: usize) -> Vec<Turn> {
    // Read whole and then cut: what is left of an export in the middle of it is none.
    if let Some(turns) = exported::messages(text) {
        return bounded(turns, most);
    }
    let text = &text[..text.floor_char_boundary(most)];
    let mut turns = Turns::default();
    if is_subtitles(text) {
        subtitles(text, &mut turns);
    } else if is_archive(text) {
        for line in text.lines().skip_while(|line| archived(line).is_none()) {
            match archived(line) {
                Some(speaker) => turns.begin(Some(speaker), ""),
                None => turns.go_on(line),
            }
        }
    } else {
        for line in text.lines().map(str::trim) {
            match said(line) {
                Some(said) if !said.label.is_field => turns.begin(Some(said.label.name), said.text),
                _ => match headed(line) {
                    Some((label, _)) => turns.begin(Some(label.name), ""),
                    None => turns.go_on(line),
                },
            }
        }
    }
    turns.done
}

/// The first of these turns that say so many bytes together.
fn bounded(mut turns: Vec<Turn>, most: usize) -> Vec<Turn> {
    let mut left = most;
    turns.retain_mut(|turn| {
        let began = left > 0;
        turn.text.truncate(turn.text.floor_char_boundary(left));
        left -= turn.text.len();
        began
    });
    turns
}

/// The spoken text of subtitles. A sentence goes on from one to the next, so that they are one turn until another speaks.
fn subtitles(text: &str, turns: &mut Turns) {
    let mut cues = false;
    for line in text.lines().map(str::trim) {
        if is_cue(line) {
            cues = true;
            continue;
        }
        let number = line.bytes().all(|b| b.is_ascii_digit());
        if !cues || number || line.starts_with("NOTE") {
            continue;
        }
        match line.strip_prefix("<v ").and_then(|rest| rest.split_once('>')) {
            Some((speaker, said)) => turns.begin(Some(speaker), said.trim_end_matches("</v>")),
            None => turns.append(line),
        }
    }
}

#[derive(Default)]
struct Turns {
    done: Vec<Turn>,
}

impl Turns {
    fn begin(&mut self, speaker: Option<&str>, text: &str) {
        match self.done.last_mut() {
            Some(last) if last.speaker.as_deref() == speaker => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            _ => self.done.push(Turn { speaker: speaker.map(str::to_owned), text: text.to_owned() }),
        }
    }

    /// A further line of what is being said.
    fn go_on(&mut self, line: &str) {
        self.push('\n', line);
    }

    /// More words of the same line.
    fn append(&mut self, line: &str) {
        self.push(' ', line);
    }

    fn push(&mut self, gap: char, line: &str) {
        match self.done.last_mut() {
            Some(last) => {
                let more = gap == '\n' || !line.is_empty();
                if more && !last.text.is_empty() {
                    last.text.push(gap);
                }
                last.text.push_str(line);
            }
            None if line.is_empty() => {}
            None => self.done.push(Turn { speaker: None, text: line.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests;
