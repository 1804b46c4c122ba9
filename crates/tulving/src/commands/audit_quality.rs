//! `tulving audit-quality`: lists what is wrong with memories, and applies proposals one by one.

use std::collections::BTreeMap;

use clap::Args;
use tulving_core::model::answer::{AppliedProposal, FindingMemory, QualityFinding, QualityReport};
use tulving_core::model::error::Field;
use tulving_core::model::id::ProposalId;
use tulving_core::model::limits;
use tulving_core::model::request::QualityRequest;
use tulving_core::model::vocabulary::{FindingKind, ProposedAct};

use super::forget;
use crate::args::{count, count_within, whole_number, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT, NUMBER, STRONG, WORD};
use crate::show::text::{HangingText, counted, one_line, pad, thousands, width};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving audit-quality
  tulving audit-quality --kind secret --kind instructions
  tulving audit-quality --kind never_recalled --older-than 30 --all
  tulving audit-quality --apply 3f0a377ba0a4

It checks the memories of one space that you may see, and changes nothing without --apply. A proposal
is valid as long as the memories have the versions that were checked.";

/// Maximum number of days that a user may give.
const DAYS: usize = 36_500;
/// Indent of the details of a finding.
const INDENT: &str = "      ";

/// Flags of `audit-quality`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditQualityArgs {
    /// Only findings of this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = word!(FindingKind))]
    kinds: Vec<FindingKind>,
    /// A memory counts as never recalled after so many days
    #[arg(long, value_name = "DAYS", default_value_t = 90, value_parser = whole_number, allow_negative_numbers = true)]
    older_than: i64,
    /// Maximum number of findings of each kind; all are counted
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
    /// All findings
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Apply the proposals with these ids
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["kinds", "older_than", "limit", "all"])]
    apply: Vec<String>,
}

pub(super) fn run(args: &AuditQualityArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if !args.apply.is_empty() {
        return apply(args, app, printer);
    }
    let days = count_within(Field::OlderThan, args.older_than, 0, DAYS)?;
    let request = QualityRequest {
        kinds: args.kinds.clone(),
        older_than_days: u32::try_from(days).unwrap_or(u32::MAX),
        limit: if args.all { usize::MAX } else { count(Field::Limit, args.limit, limits::PAGE)? },
    };
    let caller = app.here()?;
    let bar = printer.bar("Looking", None);
    let looked = app.engine.quality(&caller, &request, &mut |more| bar.inc(more as u64));
    bar.finish_and_clear();
    let report = looked?;
    if printer.json() {
        printer.document(&report)?;
    } else {
        show(&report, &app.place(&caller)?, printer)?;
    }
    Ok(Outcome::Done)
}

/// Applies each proposal. All ids are read before the first is applied; an id that is no longer valid is reported, and
/// the others are still applied.
fn apply(args: &AuditQualityArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let ids = args.apply.iter().map(|id| id.parse()).collect::<Result<Vec<ProposalId>, _>>()?;
    let caller = app.here()?;
    let mut outcome = Outcome::Done;
    let mut done: Vec<AppliedProposal> = Vec::new();
    for id in ids {
        match app.engine.apply_proposal(&caller, id) {
            Ok(one) => {
                if !printer.json() {
                    printer.line(&one.message)?;
                }
                done.push(one);
            }
            Err(error) => {
                let failure = Failure::from(error);
                if outcome == Outcome::Done {
                    outcome = Outcome::Partly(failure.class());
                }
                printer.failure(&failure);
            }
        }
    }
    if printer.json() && !done.is_empty() {
        printer.document(&BTreeMap::from([("done", &done)]))?;
    }
    if done.iter().any(|one| one.act == ProposedAct::ReplaceRedacted) {
        forget::scrub(app, printer)?;
    }
    Ok(outcome)
}

fn show(report: &QualityReport, place: &str, printer: &mut Printer) -> Result<(), Failure> {
    let looked = counted(report.looked_at, "memory", "memories");
    let found: u64 = report.counts.values().sum();
    if found == 0 {
        return printer.line(format!("Checked {looked} and found no problems"));
    }
    printer.line(format!("Checked {looked} and found {}", counted(found, "problem", "problems")))?;
    let counts: Vec<_> = report.counts.iter().filter(|(_, count)| **count > 0).collect();
    let widest = counts.iter().map(|(kind, _)| kind.as_str().len()).max().unwrap_or(0);
    for (kind, count) in counts {
        printer.line(format!(
            "  {}  {}",
            style::paint(WORD, pad(kind.as_str(), widest)),
            thousands(*count)
        ))?;
    }
    for (kind, count) in &report.counts {
        let findings: Vec<&QualityFinding> = report.findings.iter().filter(|one| one.kind == *kind).collect();
        if findings.is_empty() {
            continue;
        }
        printer.line("")?;
        printer.line(style::paint(STRONG, heading(*kind)))?;
        for finding in &findings {
            printer.lines(&lines(finding, place, printer.columns()))?;
        }
        let left = count - findings.len() as u64;
        if left > 0 {
            printer.line(style::paint(FAINT, format!("  and {} more; --all shows them", thousands(left))))?;
        }
    }
    Ok(())
}

/// Returns the heading for findings of a kind.
fn heading(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Secret => "Secrets",
        FindingKind::Instructions => "Tries to command an agent",
        FindingKind::Contradiction => "Contradictions",
        FindingKind::NearDuplicate => "Near-duplicates",
        FindingKind::Differs => "Nearly the same, except for a number or a negation",
        FindingKind::CompetingValues => "The same thing with another value",
        FindingKind::Repeated => "Observed several times",
        FindingKind::SupersededPinned => "Superseded and pinned",
        FindingKind::Fork => "Updated by several memories",
        FindingKind::Oversized => "Too long for one memory",
        FindingKind::Empty => "Contains no words",
        FindingKind::Junk => "Contains no information",
        FindingKind::NeverRecalled => "Never recalled",
    }
}

/// Shows a finding: the memories, the reason, advice for manual changes, and the commands that apply the proposals.
fn lines(finding: &QualityFinding, place: &str, columns: Option<usize>) -> Vec<String> {
    let mut lines: Vec<String> = finding.memories.iter().map(|memory| line(memory, columns)).collect();
    lines.push(format!("{INDENT}{}", one_line(&finding.why)));
    lines.extend(finding.advice.iter().map(|advice| style::paint(FAINT, format!("{INDENT}{advice}"))));
    for proposal in &finding.proposals {
        let does = style::paint(FAINT, format!("# {}", one_line(&proposal.does)));
        lines.push(format!("{INDENT}tulving audit-quality{place} --apply {}  {does}", proposal.id));
    }
    lines
}

fn line(memory: &FindingMemory, columns: Option<usize>) -> String {
    let label = one_line(&memory.label);
    let preview = one_line(&memory.preview);
    let (heading, taken) = (format!("  {}  ", style::paint(NUMBER, &label)), width(&label) + 4);
    match columns {
        None => format!("{heading}{preview}"),
        Some(columns) => HangingText { heading: &heading, taken, columns }.lines(&preview).join("\n"),
    }
}
