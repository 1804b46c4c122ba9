//! Detects written conversations, and splits them into turns.
//!
//! In a *chat*, the speakers typed their messages, and times are clock times. A *transcript* was written from speech,
//! and times are relative to its beginning. The rules prefer to miss a conversation rather than to treat a list of
//! `Note: …` lines as one.

mod exported;
mod label;
mod stamp;

use self::label::{SpeakerLabel, label, role};
use self::stamp::LineTime;

/// Maximum number of lines that are read to detect a conversation.
const LINES: usize = 400;

/// Maximum number of speakers of one conversation.
const SPEAKERS: usize = 64;

/// The origin of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversationOrigin {
    /// The speakers typed the conversation.
    Chat,
    /// Spoken words were transcribed.
    Transcript,
}

/// Consecutive words of one speaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpeakerTurn {
    /// The speaker, if known.
    pub(super) speaker: Option<String>,
    /// The words of the speaker, without the time.
    pub(super) text: String,
}

/// Returns the origin of a text that is a conversation, or `None` for any other text.
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

/// Returns true if a JSON text is a conversation in the format of exports and archives.
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

/// Returns true if a text is a conversation archived in Markdown, with a role as the heading of each message.
pub(super) fn is_archive(text: &str) -> bool {
    text.lines().filter(|line| archived(line).is_some()).nth(1).is_some()
}

/// Returns the role or the name in the heading of an archived message.
fn archived(line: &str) -> Option<&str> {
    let heading = line.strip_prefix("## ")?;
    let said = ["User", "Assistant", "System"].iter().find_map(|role| heading.strip_prefix(role))?;
    let end = said.strip_suffix(')').and_then(|open| open.rfind(" (")).unwrap_or(said.len());
    match said[..end].strip_prefix(": ") {
        Some(speaker) => Some(speaker.trim()),
        None => said[..end].trim().is_empty().then(|| heading[..heading.len() - said.len()].trim()),
    }
}

/// Returns true if a line contains the start time and the end time of a subtitle.
fn is_cue(line: &str) -> bool {
    let begins = line.starts_with(|c: char| c.is_ascii_digit());
    begins
        && (line.contains(" --> ")
            || (line.len() < 32 && line.matches(':').count() >= 4 && !line.contains(' ')))
}

/// Counts of the different lines of a text.
#[derive(Default)]
struct ConversationLineCounts {
    lines: usize,
    /// Number of lines with a speaker and a time before the speaker.
    timed: usize,
    /// Number of timed lines with the time in brackets.
    bracketed: usize,
    /// Number of lines with a speaker and without a time.
    untimed: usize,
    /// Number of lines with only a name and a time, above the speaker's words.
    headed: usize,
    /// The first time, if all times may be relative to the beginning of the conversation.
    first: Option<LineTime>,
    /// True if the first line has a speaker.
    opens: bool,
    /// Number of lines whose label is not a name but a field, a note or a log level.
    fields: usize,
    /// The names, without repetitions.
    speakers: Vec<String>,
    /// Number of lines with any label.
    turns: usize,
    /// Number of lines whose label is a role in a conversation with a model.
    roles: usize,
    /// Number of lines whose label has a number instead of a name: `Speaker 1`.
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
        // A list is fast enough: a conversation has few speakers, and a text with more than the maximum number of names
        // is not a conversation.
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
        // In an export of a conversation with a model, messages may be long, and the names of the roles are known.
        let by_role = self.roles == self.untimed && self.untimed >= 2 && self.opens && self.timed == 0;
        // A conversation has enough lines, nearly all lines have a speaker, and each speaker occurs about twice.
        let untimed = self.untimed >= 4 && share(self.untimed, 7) && distinct * 3 <= self.untimed * 2;
        (timed || headed || by_role || untimed).then_some(sort)
    }
}

/// A line with the label of a speaker.
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

/// Returns the name and the time of a line that contains only these two.
fn headed(line: &str) -> Option<(SpeakerLabel<'_>, LineTime)> {
    if line.len() > 96 {
        return None;
    }
    let (stamp, before) = stamp::trailing(line)?;
    Some((label::name(before)?, stamp))
}

/// Splits a conversation into turns, in order, within the first `most` bytes. Returns a text that is not a conversation
/// as one turn without a speaker.
pub(super) fn turns(text: &str, most: usize) -> Vec<SpeakerTurn> {
    // The complete text is parsed before it is cut, because the beginning of an export is not valid JSON.
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

/// Returns the first turns, with at most `most` bytes of text in total.
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

/// Reads the spoken text of subtitles. A sentence may continue in the next subtitle, so the subtitles form one turn
/// until the speaker changes.
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
