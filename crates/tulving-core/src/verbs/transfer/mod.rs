//! Transfers the whole content from one store to another: dump and load.
//!
//! A load has two halves. [`load`] checks each line and stages it outside the store; after the last line, [`finish`]
//! writes all lines in one transaction. So a load that is refused, interrupted or killed leaves nothing in the store,
//! and nobody waits for the store while a dump is being received.

mod check;
mod contents;
mod load_staged;
mod loading;
mod names;
mod parts;
mod report;

use crate::model::audit::AuditEntry;
use crate::model::change::Write;
use crate::model::error::{Error, StoreError};
use crate::model::preview;
use crate::model::record::{DumpPosition, Record};
use crate::model::request::Caller;
use crate::model::vocabulary::AuditAct;
use crate::verbs::access::{self, Ports};

use parts::LoadedAttachments;

pub use loading::{DumpLoad, LoadOptions};
pub use report::{DumpMembership, LoadReport, SkippedDumpLine};

/// Returns a page of a dump, and the start of the next one. The last page ends with the number of records, so that a
/// load notices missing records.
pub(crate) fn dump(
    parts: &Ports,
    caller: &Caller,
    position: DumpPosition,
    limit: usize,
) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
    access::require_org_admin(parts, caller)?;
    let (before, section) = (position.records, position.section);
    let (mut page, next) = match section < contents::ATTACHMENTS {
        true => {
            let (page, next) = parts.store.dump(position, limit)?;
            let then = DumpPosition { section: contents::ATTACHMENTS, ..DumpPosition::default() };
            (page, Some(next.unwrap_or(then)))
        }
        false => contents::page(parts, &position)?,
    };
    contents::announce(parts, &mut page)?;
    let here = page.iter().filter(|record| !record.is_frame()).count();
    let records = before.saturating_add(u64::try_from(here).unwrap_or(u64::MAX));
    let next = next.map(|next| DumpPosition { records, ..next });
    if next.is_none() {
        page.push(Record::End { records });
    }
    Ok((page, next))
}

/// Begins a load.
pub(crate) fn begin(parts: &Ports, caller: &Caller, options: LoadOptions) -> Result<DumpLoad, Error> {
    access::require_org_admin(parts, caller)?;
    Ok(DumpLoad::new(parts.store.stage()?, options))
}

/// Checks some lines of a dump, each with its line number, and stages them.
pub(crate) fn load(
    parts: &Ports,
    caller: &Caller,
    loading: &mut DumpLoad,
    lines: Vec<(u64, Record)>,
) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    lines.into_iter().try_for_each(|(line, record)| loading.add(parts, line, record))
}

/// Writes the staged records, with the audit entries, in one transaction. Refused if the dump is incomplete. Existing data
/// stays unchanged, so a dump can be loaded again.
pub(crate) fn finish(parts: &Ports, caller: &Caller, mut loading: DumpLoad) -> Result<LoadReport, Error> {
    access::require_org_admin(parts, caller)?;
    loading.require_end()?;
    let mut kept = LoadedAttachments::default();
    let attachments = loading.attachments.as_mut();
    let outcome = attachments.map_or(Ok(()), |stage| kept.keep(parts, &mut **stage));
    let outcome = outcome.and_then(|()| write(parts, caller, loading));
    let outcome = outcome.map(|report| LoadReport {
        attachments: kept.added,
        attachments_present: kept.present,
        ..report
    });
    kept.release(parts);
    outcome
}

/// Writes the staged records: the store in one transaction, and the files before it is committed.
fn write(parts: &Ports, caller: &Caller, mut loading: DumpLoad) -> Result<LoadReport, Error> {
    let mut fit = Some(load_staged::StagedLoader::new(parts, caller, loading.options)?);
    let (mut outcome, mut made) = (None, Vec::new());
    let committed = parts.store.load(&mut |apply| {
        let done = fit.take().map(|fit| fit.run(&mut *loading.stage, apply, &mut made));
        let commits = matches!(done, Some(Ok(_)));
        outcome = done;
        commits
    });
    if !matches!(committed, Ok(true)) {
        parts::unmake(parts, made);
    }
    committed?;
    let unwritten = || StoreError::Failed { what: "the load was not begun".to_owned(), source: None };
    let mut report = outcome.unwrap_or_else(|| Err(unwritten().into()))?;
    report.left_out_of_dump = loading.left_out;
    Ok(report)
}

/// Adds an audit entry for a restored backup.
pub(crate) fn note_restore(parts: &Ports, caller: &Caller, file: &str) -> Result<(), Error> {
    note(parts, caller, AuditAct::BackupRestored, preview::short(file))
}

fn note(parts: &Ports, caller: &Caller, act: AuditAct, detail: String) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    let now = parts.clock.now();
    let entry = AuditEntry { detail: Some(detail), ..access::audit(caller, now, act) };
    parts.store.apply(&access::changes(caller, now, Vec::new(), vec![Write::Audit(entry)]))?;
    Ok(())
}
