//! Written conversations: detects them, and splits them into turns.
//!
//! A *chat* was typed by its speakers, with clock times. A *transcript* was written from speech, with times from its
//! beginning. The rules prefer missing one to taking a list of `Note: …` lines for people.

mod exported;
mod label;
mod stamp;

use self::label::{SpeakerLabel, label, role};
use self::stamp::LineTime;

/// Most lines that are read to detect a conversation.
const LINES: usize = 400;

/// Most speakers of one conversation.
const SPEAKERS: usize = 64;

/// The origin of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversationOrigin {
    /// Its speakers typed it.
    Chat,
    /// Somebody wrote down spoken words.
    Transcript,
}

/// The words of one speaker without another in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpeakerTurn {
    /// The speaker, if known.
    pub(super) speaker: Option<String>,
    /// The words, without the time.
    pub(super) text: String,
}

/// Returns the kind of conversation that a text is, if it is one.
pub(super) fn talk(text: &str) -> Option<ConversationOrigin> {
    if is_subtitles(text) || is_archive(text) {
        return Some(ConversationOrigin::Transcript);
    }
    let mut tally = ConversationLineCounts::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES) {
        tally.take_in(line);
    }
    tally.verdict()
}

/// Returns true if a JSON text is a conversation in the form of exports and archives.
pub(super) fn is_exported(json: &str) -> bool {
    exported::messages(json).is_some()
}

/// Returns true if a text is subtitles: WebVTT, SubRip or lines of two times.
pub(super) fn is_subtitles(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(40);
    let Some(first) = lines.next() else { return false };
    if first == "WEBVTT" || first.starts_with("WEBVTT ") {
        return true;
    }
    let cue = if first.bytes().all(|b| b.is_ascii_digit()) { lines.next() } else { Some(first) };
    cue.is_some_and(is_cue)
}

/// Returns true if a text is a conversation archived in Markdown, with a heading of a role above each message.
pub(super) fn is_archive(text: &str) -> bool {
    text.lines().filter(|line| archived(line).is_some()).nth(1).is_some()
}

/// Returns the role, or the name, in the heading of an archived message.
fn archived(line: &str) -> Option<&str> {
    let heading = line.strip_prefix("## ")?;
    let said = ["User", "Assistant", "System"].iter().find_map(|role| heading.strip_prefix(role))?;
    let end = said.strip_suffix(')').and_then(|open| open.rfind(" (")).unwrap_or(said.len());
    match said[..end].strip_prefix(": ") {
        Some(speaker) => Some(speaker.trim()),
        None => said[..end].trim().is_empty().then(|| heading[..heading.len() - said.len()].trim()),
    }
}

/// Returns true if a line has the start and end times of a subtitle.
fn is_cue(line: &str) -> bool {
    let begins = line.starts_with(|c: char| c.is_ascii_digit());
    begins
        && (line.contains(" --> ")
            || (line.len() < 32 && line.matches(':').count() >= 4 && !line.contains(' ')))
}

/// Counts over the lines of a text.
#[derive(Default)]
struct ConversationLineCounts {
    lines: usize,
    /// Lines of a speaker, with a time before them.
    timed: usize,
    /// Timed lines with the time in brackets.
    bracketed: usize,
    /// Lines of a speaker, without a time.
    untimed: usize,
    /// Lines of a name and a time, above the words.
    headed: usize,
    /// The first time, if all times may be relative to a beginning.
    first: Option<LineTime>,
    /// True if the first line has a speaker.
    opens: bool,
    /// Lines whose label is not a name: a field, a note, a log level.
    fields: usize,
    /// The names, each once.
    speakers: Vec<String>,
    /// Lines with any label.
    turns: usize,
    /// Lines whose label is a role in a conversation with a model.
    roles: usize,
    /// Lines whose label is a number in place of a name: `Speaker 1`.
    numbered: usize,
}

impl ConversationLineCounts {
    fn take_in(&mut self, line: &str) {
        self.lines += 1;
        match said(line) {
            Some(SpeakerLine { label, stamp: Some((stamp, bracketed)), .. }) => {
                self.timed += 1;
                self.bracketed += usize::from(bracketed);
                self.first.get_or_insert(stamp);
                self.name(&label);
            }
            Some(SpeakerLine { label, stamp: None, .. }) => {
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

    fn name(&mut self, label: &SpeakerLabel<'_>) {
        self.opens |= self.lines == 1;
        self.fields += usize::from(label.is_field);
        self.roles += usize::from(role(label.name));
        self.numbered += usize::from(label.is_numbered);
        self.turns += 1;
        // A list is enough: speakers are few, and a text with more names than this is not a conversation.
        if self.speakers.len() <= SPEAKERS && !self.speakers.iter().any(|known| known == label.name) {
            self.speakers.push(label.name.to_owned());
        }
    }

    fn verdict(&self) -> Option<ConversationOrigin> {
        let distinct = self.speakers.len();
        if self.turns < 2 || !(2..=SPEAKERS).contains(&distinct) || self.fields * 10 > self.turns {
            return None;
        }
        let again = distinct < self.turns;
        let spoken = self.numbered == self.turns || matches!(self.first, Some(LineTime::Seconds(0..3600)));
        let sort = if spoken { ConversationOrigin::Transcript } else { ConversationOrigin::Chat };
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
        // Enough lines, nearly all with a speaker, and each speaker occurs about twice.
        let untimed = self.untimed >= 4 && share(self.untimed, 7) && distinct * 3 <= self.untimed * 2;
        (timed || headed || by_role || untimed).then_some(sort)
    }
}

/// A line of a speaker.
struct SpeakerLine<'a> {
    label: SpeakerLabel<'a>,
    stamp: Option<(LineTime, bool)>,
    text: &'a str,
}

fn said(line: &str) -> Option<SpeakerLine<'_>> {
    match stamp::leading(line) {
        Some((stamp, bracketed, rest)) => {
            let (label, text) = label(rest, true)?;
            Some(SpeakerLine { label, stamp: Some((stamp, bracketed)), text })
        }
        None => {
            let (label, text) = label(line, false)?;
            Some(SpeakerLine { label, stamp: None, text })
        }
    }
}

/// Returns the name on a line with only a name and a time.
fn headed(line: &str) -> Option<(SpeakerLabel<'_>, LineTime)> {
    if line.len() > 96 {
        return None;
    }
    let (stamp, before) = stamp::trailing(line)?;
    Some((label::name(before)?, stamp))
}

/// Splits a conversation into turns, in order, within the first `most` bytes. A text that is not a conversation is one
/// turn without a speaker.
pub(super) fn turns(text: &str, most: usize) -> Vec<SpeakerTurn> {
    // Parsed as a whole and then cut: the beginning of an export is not valid JSON.
    if let Some(turns) = exported::messages(text) {
        return bounded(turns, most);
    }
    let text = &text[..text.floor_char_boundary(most)];
    let mut turns = SpeakerTurnCollector::default();
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

/// Returns the first of these turns, up to `most` bytes of text.
fn bounded(mut turns: Vec<SpeakerTurn>, most: usize) -> Vec<SpeakerTurn> {
    let mut left = most;
    turns.retain_mut(|turn| {
        let began = left > 0;
        turn.text.truncate(turn.text.floor_char_boundary(left));
        left -= turn.text.len();
        began
    });
    turns
}

/// Reads the spoken text of subtitles. Sentences continue from one cue to the next, so they form one turn until the
/// speaker changes.
fn subtitles(text: &str, turns: &mut SpeakerTurnCollector) {
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
struct SpeakerTurnCollector {
    done: Vec<SpeakerTurn>,
}

impl SpeakerTurnCollector {
    fn begin(&mut self, speaker: Option<&str>, text: &str) {
        match self.done.last_mut() {
            Some(last) if last.speaker.as_deref() == speaker => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            _ => self.done.push(SpeakerTurn { speaker: speaker.map(str::to_owned), text: text.to_owned() }),
        }
    }

    /// Adds a line to the current turn.
    fn go_on(&mut self, line: &str) {
        self.push('\n', line);
    }

    /// Adds words to the current line.
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
            None => self.done.push(SpeakerTurn { speaker: None, text: line.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests;
