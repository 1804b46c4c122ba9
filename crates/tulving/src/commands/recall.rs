//! `tulving recall`: finds memories again.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use tulving_core::model::answer::{Answer, FurtherSection, Hit, Lane, ListAnswer, Strength};
use tulving_core::model::error::Field;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, Fusion, ListBounds, Mode, RecallQuestion, RecallRequest, Sort};

use super::warn_of_lanes;
use crate::args::{FilterArgs, count, fusion, order, time, whole_number, word};
use crate::exit::Outcome;
use crate::failure::{Failure, NotAMember};
use crate::input;
use crate::print::Printer;
use crate::show::memory::{Layout, further, lines};
use crate::show::style::{self, FAINT};
use crate::show::text::{HangingText, counted, thousands};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving recall \"how do we deploy?\"
  tulving recall \"what did Marta decide last week\" --explain
  tulving recall \"dark roast\" --type preference
  tulving recall \"who owns billing\" --as-of 2026-03-01
  tulving recall \"what are my open todos?\"
  tulving recall \"how many decisions did we make last week?\"
  tulving recall --type decision --since 2026-05-01
  tulving recall --mode important --limit 5
  tulving recall --mode text 'max_retries='
  tulving recall - < question.txt

A question is answered by meaning, by word and by relation; nothing in it is an operator.
It may have up to 50,000 bytes, and - reads it from standard input.
A question that only names a type (todos, goals, decisions, people, preferences, projects,
routines, events, facts, observations), with or without a time, returns all of them: up to
100, or --limit. Without a question, all memories that match the filters are listed; open todos and
goals come first.
--mode text searches content, title and key for the exact text, ignoring case. With --mode recent,
important or typed, a text keeps only the memories that contain exactly this text.
A recalled memory counts as used, unless there is no evidence that it is an answer.";

/// The default number of memories.
const USUAL: usize = 10;

/// Flags of `recall`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecallArgs {
    /// The question, or - for standard input; without it, all memories that match the filters, or the newest
    #[arg(value_name = "QUESTION")]
    words: Vec<OsString>,
    /// The way to search: by meaning and words, by exact text, the newest, the most important, or all of the types named by
    /// --type
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// The order, if there is no question [default: from the mode]
    #[arg(long, value_name = "ORDER", value_parser = order())]
    sort: Option<Sort>,
    /// Maximum number [default: 10, or 100 for a list of all of a type or filter, or 3 if nothing seems to answer the
    /// question]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number, allow_negative_numbers = true)]
    limit: Option<i64>,
    #[command(flatten)]
    asking: QuestionArgs,
    #[command(flatten)]
    chooser: FilterArgs,
}

/// Flags about the question.
#[derive(Debug, Args)]
#[command(next_help_heading = "About the question (only with --mode hybrid, unless it says otherwise)")]
struct QuestionArgs {
    /// Explain each score; with any mode
    #[arg(long)]
    explain: bool,
    /// Answer as of this time, from memories that were valid and not superseded then; also for lists
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// The time that words such as "last week" refer to [default: now]
    #[arg(long, value_name = "TIME")]
    asked_at: Option<String>,
    /// Prefer the memories of this conversation
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Return nothing if the evidence is weaker than this
    #[arg(long, value_name = "STRENGTH", value_parser = word!(Strength))]
    abstain_below: Option<Strength>,
    /// Take the last word as the beginning of a word, to search while somebody types
    #[arg(long)]
    prefix: bool,
    /// Maximum number of tokens of all results, estimated; also for lists
    #[arg(long, value_name = "TOKENS", value_parser = whole_number, allow_negative_numbers = true)]
    budget: Option<i64>,
    /// Only these search lanes; may be repeated
    #[arg(long = "lane", value_name = "LANE", value_parser = word!(Lane))]
    lanes: Vec<Lane>,
    /// The way to merge the lanes [default: measured]
    #[arg(long, value_name = "FUSION", value_parser = fusion())]
    fusion: Option<Fusion>,
}

/// The mode of a recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Hybrid,
    Text,
    Recent,
    Important,
    Typed,
}

impl QuestionArgs {
    fn ask(&self, question: String) -> Result<RecallQuestion, Failure> {
        let mut ask = RecallQuestion::new(question);
        ask.as_of = time(self.as_of.as_ref())?;
        ask.asked_at = time(self.asked_at.as_ref())?;
        ask.channel.clone_from(&self.channel);
        ask.abstain_below = self.abstain_below;
        ask.prefix = self.prefix;
        ask.token_budget = self.budget()?;
        ask.fusion = self.fusion.unwrap_or_default();
        if !self.lanes.is_empty() {
            ask.lanes.clone_from(&self.lanes);
        }
        Ok(ask)
    }

    fn budget(&self) -> Result<Option<usize>, Failure> {
        self.budget.map(|tokens| count(Field::Budget, tokens, limits::BUDGET)).transpose()
    }

    /// Returns the bounds of a list without a question.
    fn bounds(&self) -> Result<ListBounds, Failure> {
        Ok(ListBounds { as_of: time(self.as_of.as_ref())?, token_budget: self.budget()? })
    }

    /// Returns the given flags that need a question. A list allows some of them.
    fn given(&self, listed: bool) -> Vec<&'static str> {
        let flags = [
            ("--as-of", self.as_of.is_some() && !listed),
            ("--asked-at", self.asked_at.is_some()),
            ("--channel", self.channel.is_some()),
            ("--abstain-below", self.abstain_below.is_some()),
            ("--prefix", self.prefix),
            ("--budget", self.budget.is_some() && !listed),
            ("--lane", !self.lanes.is_empty()),
            ("--fusion", self.fusion.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }

    /// Refuses flags that would have no effect.
    fn refuse(&self, mode: Option<ModeArg>, listed: bool) -> Result<(), Failure> {
        let given = self.given(listed);
        if given.is_empty() {
            return Ok(());
        }
        let (flags, need) = (given.join(", "), if given.len() == 1 { "needs" } else { "need" });
        let mode = mode.and_then(|mode| Some(mode.to_possible_value()?.get_name().to_owned()));
        Err(match mode {
            None => Failure::usage(format!("{flags} {need} a question, but there is none"))
                .hinted("tulving recall \"who owns billing?\" --as-of 2026-03-01"),
            Some(mode) => Failure::usage(format!("{flags} {need} --mode hybrid, not --mode {mode}"))
                .hinted("leave --mode out: a question uses the mode hybrid"),
        })
    }
}

impl RecallArgs {
    /// True if the scores must be explained.
    pub(super) fn explains(&self) -> bool {
        self.asking.explain
    }

    fn request(&self, app: &App<'_>) -> Result<RecallRequest, Failure> {
        let text = match self.words.as_slice() {
            [] => None,
            words => Some(input::text(words, app.settings.limits.content_bytes)?.trim().to_owned()),
        };
        let mut filter = self.chooser.filter(&app.settings.zone)?;
        app.resolve_source_path(&mut filter.source_path)?;
        let mode = match (self.mode, text) {
            (None, None) if filter.is_empty() => {
                self.asking.refuse(None, false)?;
                Mode::Recent
            }
            (None, None) => {
                self.asking.refuse(None, true)?;
                Mode::Filtered(self.asking.bounds()?)
            }
            (None | Some(ModeArg::Hybrid), _) if self.sort.is_some() => {
                return Err(Failure::usage("--sort needs --mode text, recent, important or typed: the answers to a question come best first")
                    .hinted("tulving recall --mode text \"billing\" --sort recent"));
            }
            (None | Some(ModeArg::Hybrid), text) => {
                let list_limit = Some(self.limit(limits::LISTED)?);
                Mode::Hybrid(Box::new(RecallQuestion {
                    list_limit,
                    nearest_limit: Some(self.limit(limits::NEAREST)?),
                    ..self.asking.ask(text.unwrap_or_default())?
                }))
            }
            (Some(ModeArg::Text), text) => {
                self.asking.refuse(self.mode, false)?;
                Mode::Substring(text.unwrap_or_default())
            }
            (Some(how), text) => {
                self.asking.refuse(self.mode, false)?;
                filter.substring = text;
                match how {
                    ModeArg::Important => Mode::Important,
                    ModeArg::Typed => Mode::Typed,
                    ModeArg::Recent | ModeArg::Hybrid | ModeArg::Text => Mode::Recent,
                }
            }
        };
        let usual = if matches!(mode, Mode::Filtered(_)) { limits::LISTED } else { USUAL };
        Ok(RecallRequest { mode, filter, sort: self.sort, limit: self.limit(usual)? })
    }

    /// Returns the given limit, or else this one.
    fn limit(&self, usual: usize) -> Result<usize, Failure> {
        self.limit.map_or(Ok(usual), |limit| count(Field::Limit, limit, limits::RECALL))
    }
}

/// A recall: the caller, the request and the answer.
#[derive(Clone)]
pub(super) struct RecallOutcome {
    caller: Caller,
    request: RecallRequest,
    pub(super) answer: Answer,
}

pub(super) fn run(args: &RecallArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let asked = ask(args, app)?;
    tell(args, asked, args.explains(), app, printer)
}

/// Runs the recall, and prints nothing yet.
pub(super) fn ask(args: &RecallArgs, app: &App<'_>) -> Result<RecallOutcome, Failure> {
    let mut request = args.request(app)?;
    let caller = app.here()?;
    if !args.chooser.all_spaces {
        request.filter.space = Some(caller.space);
    }
    let answer = app.engine.recall(&caller, &request)?;
    Ok(RecallOutcome { caller, request, answer })
}

/// Prints an answer, with or without the explanation of its scores.
pub(super) fn tell(
    args: &RecallArgs,
    asked: RecallOutcome,
    explain: bool,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let RecallOutcome { caller, request, mut answer } = asked;
    if printer.json() {
        if !explain {
            answer.hits.iter_mut().for_each(|hit| hit.explanation = None);
        }
        printer.document(&answer)?;
        return Ok(Outcome::Done);
    }
    // A caller who requests the vector lane gets the warning that there are no vectors, even if embedding is turned off.
    let off = app.settings.embedding.is_off() && !args.asking.lanes.contains(&Lane::Vector);
    warn_of_lanes(&answer.missing, off, printer)?;
    for unread in &answer.unread {
        printer.warning(unread)?;
    }
    for failed in &answer.failed_backends {
        printer.warning(failed)?;
    }
    if answer.hits.is_empty() {
        if let Some(NotAMember { what, hint }) = app.outside(&caller, request.filter.space)? {
            printer.note(format!("No memories: {what}; {hint}"))?;
            return Ok(Outcome::Done);
        }
        nothing(args, &request.mode, &answer, printer)?;
        return mention_archived(&answer.archived, printer);
    }
    let asked = matches!(request.mode, Mode::Hybrid(_));
    if let Some(list) = answer.listed.as_ref().filter(|_| asked) {
        match list.ranked {
            true => printer.note(ranked_instead(list))?,
            false => printer.line(format!("{}:", list.what))?,
        }
    }
    if let Some(note) = &answer.note {
        printer.note(note)?;
    }
    print(args, &answer.hits, explain, app, printer)?;
    if answer.evidence == Some(Strength::Weak) {
        printer.note("The evidence is weak: these memories may not answer the question.")?;
    }
    if answer.left_out > 0 {
        printer.note(format!("{} more did not fit into the budget.", thousands(answer.left_out)))?;
    }
    let shown = u64::try_from(answer.hits.len()).unwrap_or(u64::MAX);
    let list = answer.listed.as_ref().filter(|list| !list.ranked);
    let (found, shown_of) = (thousands(answer.total_found), thousands(shown));
    if (answer.evidence.is_none() || list.is_some()) && answer.total_found > shown {
        let more = match answer.total_found > limits::RECALL as u64 {
            true => "`tulving list` has all of them, page by page",
            // The limit allows more, but the budget does not.
            false if answer.left_out > 0 => "--budget shows more",
            false => "--limit shows more",
        };
        printer.note(format!("{shown_of} of {found}; {more}"))?;
    } else if list.is_some() && !asked {
        printer.note(format!("{shown_of} of {found}"))?;
    }
    if let Some(list) = list {
        mention_superseded(list, printer)?;
    }
    mention_archived(&answer.archived, printer)
}

/// Returns the note for an empty list: nothing of this type is saved, and other memories are shown instead.
fn ranked_instead(list: &ListAnswer) -> String {
    format!("{} are saved. These memories match the question best.", capitalised(&list.what))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Prints the number of superseded memories that a list leaves out.
fn mention_superseded(list: &ListAnswer, printer: &mut Printer) -> Result<(), Failure> {
    if list.superseded == 0 {
        return Ok(());
    }
    let left_out = counted(list.superseded, "superseded memory is", "superseded memories are");
    printer.note(format!("{left_out} left out; `tulving list` shows them"))
}

/// Prints which archived memories contain every word of the question, and how to show them.
fn mention_archived(archived: &[MemoryRef], printer: &mut Printer) -> Result<Outcome, Failure> {
    let names: Vec<String> = archived.iter().map(ToString::to_string).collect();
    let first = names.first().map(|name| name.trim_start_matches('#').to_owned());
    if let Some(first) = first {
        let matches = counted(names.len() as u64, "archived match", "archived matches");
        printer.note(format!(
            "{matches}: {}; `tulving get {first}` shows it, `tulving unarchive {first}` brings it back",
            names.join(", ")
        ))?;
    }
    Ok(Outcome::Done)
}

/// Prints the memories, each on a line with its further sections below.
pub(super) fn print(
    args: &RecallArgs,
    hits: &[Hit],
    explain: bool,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let names = args.chooser.all_spaces.then(|| app.space_names()).transpose()?;
    let then = time(args.asking.as_of.as_ref())?;
    let (now, columns, place) = (printer.now(), printer.columns(), app.place(&app.here()?)?);
    let layout = Layout { now, then, columns, spaces: names.as_ref(), place: &place };
    let shown: Vec<Memory> = hits.iter().map(best_part).collect();
    for (line, hit) in lines(shown.iter(), &layout).iter().zip(hits) {
        printer.line(line)?;
        if explain {
            let why = style::paint(FAINT, &hit.why);
            printer.line(match columns {
                None => format!("      {why}"),
                Some(columns) => HangingText { heading: "      ", taken: 6, columns }.lines(&why).join("\n"),
            })?;
        }
        for FurtherSection { section, content, .. } in &hit.further {
            let text = part(content, &section.heading_path, None);
            printer.line(further(section.line, &text, &hit.memory, &layout))?;
        }
    }
    Ok(())
}

/// Returns the memory with only its best section, below the headings of that section, and its first line.
fn best_part(hit: &Hit) -> Memory {
    let mut memory = hit.memory.clone();
    if let Some(section) = &hit.section {
        memory.fields.text.content = part(hit.shown(), hit.heading_path(), Some(section.line));
    }
    memory
}

/// Returns a section below its headings, and below its first line number unless that is 1.
fn part(section: &str, path: &[String], line: Option<usize>) -> String {
    let below = below_headings(section, path);
    let line = line.filter(|line| *line > 1).map(|line| format!("line {line}"));
    let parts = path.iter().map(String::as_str).chain(line.as_deref()).chain([below]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<&str>>().join(" › ")
}

/// Returns a section without the headings at its start, if they are those of its path.
fn below_headings<'a>(section: &'a str, path: &[String]) -> &'a str {
    let mut rest = section.trim_start();
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let heading = line.trim().strip_prefix('#').map(|line| line.trim_matches(['#', ' ', '\t']));
        if !heading.is_some_and(|heading| path.iter().any(|above| above == heading)) {
            return rest;
        }
        rest = after.trim_start();
    }
}

/// Prints that no memories were found. An empty result is an answer, not an error.
fn nothing(args: &RecallArgs, mode: &Mode, answer: &Answer, printer: &mut Printer) -> Result<(), Failure> {
    if let Some(list) = answer.listed.as_ref().filter(|_| matches!(mode, Mode::Hybrid(_))) {
        return match answer.left_out {
            0 => {
                printer.line(format!("{}.", capitalised(&list.what)))?;
                mention_superseded(list, printer)
            }
            _ => printer.note(format!("None of {} fits into the budget. Give a larger --budget.", list.what)),
        };
    }
    let what = match mode {
        Mode::Substring(text) => {
            format!("No memory contains “{}”.", tulving_core::model::preview::short(text))
        }
        Mode::Hybrid(ask) if answer.withheld == 0 && ask.as_of.is_some() => {
            let then = args.asking.as_of.as_deref().unwrap_or_default();
            format!("No memory about it was valid at {then}.")
        }
        Mode::Hybrid(_) if answer.withheld > 0 => match answer.evidence {
            Some(Strength::Weak) => "No answer found: the evidence is weak.".to_owned(),
            _ => "No answer found: there is no evidence.".to_owned(),
        },
        Mode::Hybrid(_) if answer.left_out > 0 => {
            format!("None of the {} found fits into the budget.", thousands(answer.left_out))
        }
        _ => "No memories found.".to_owned(),
    };
    let tip = match mode {
        Mode::Hybrid(_) if answer.withheld > 0 => "Without --abstain-below, the nearest memories are shown.",
        Mode::Hybrid(_) if answer.left_out > 0 => "Give a larger --budget.",
        Mode::Hybrid(ask) if ask.as_of.is_some() => "Try a later time, other words, or --all-spaces.",
        Mode::Substring(_) | Mode::Hybrid(_) => "Try other words, or --all-spaces.",
        Mode::Filtered(_) if answer.left_out > 0 => "Give a larger --budget.",
        _ if args.chooser.has_types() => "Try without --type, or `tulving list --all-spaces`.",
        _ => "Save one with `tulving save \"…\"`.",
    };
    printer.note(format!("{what} {tip}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_does_not_repeat_the_headings_above_it() {
        let path = ["House".to_owned(), "Visitors".to_owned()];
        let below = |section| below_headings(section, &path);
        assert_eq!(below("### Visitors\n\nRing twice.\n"), "Ring twice.\n");
        assert_eq!(below("# House\n## Visitors ##\nRing twice."), "Ring twice.");
        assert_eq!(below("Ring twice.\n# House"), "Ring twice.\n# House");
        assert_eq!(below("## Other\nRing."), "## Other\nRing.");
        assert_eq!(below("## Visitors"), "");
        assert_eq!(below("Visitors ring twice."), "Visitors ring twice.");
    }
}
