//! Moves the whole content from one store to another: dump and load.
//!
//! A load has two halves. [`load`] checks lines as they come and stages them outside of the store; [`finish`] writes all of
//! them as one transaction once the last line has come. So a load that is refused, cut off or killed leaves nothing, and
//! nobody waits for the store while a dump is still on its way.

mod check;
mod contents;
mod fit;
mod loading;
mod names;
mod parts;
mod report;

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::{Error, StoreError};
use crate::preview;
use crate::record::{DumpPosition, Record};
use crate::request::Caller;
use crate::vocabulary::AuditAct;

use parts::KeptAttachments;

pub use loading::{LoadOptions, Loading};
pub use report::{LeftOut, LoadReport, LoadedRole};

/// A page of a dump, and where the next one begins. The last page ends with how many records there were, so that
/// whoever loads them notices where some are missing.
pub(crate) fn dump(
    parts: &Parts,
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
pub(crate) fn begin(parts: &Parts, caller: &Caller, options: LoadOptions) -> Result<Loading, Error> {
    access::require_org_admin(parts, caller)?;
    Ok(Loading::new(parts.store.stage()?, options))
}

/// Checks some lines of a dump, each with its line number, and stages them.
pub(crate) fn load(
    parts: &Parts,
    caller: &Caller,
    loading: &mut Loading,
    lines: Vec<(u64, Record)>,
) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    lines.into_iter().try_for_each(|(line, record)| loading.add(parts, line, record))
}

/// Writes what was staged, with the entries of the audit, as one transaction. Refused where the dump did not come to its
/// end. What is there already stays as it is, so a dump can be loaded again.
pub(crate) fn finish(parts: &Parts, caller: &Caller, mut loading: Loading) -> Result<LoadReport, Error> {
    access::require_org_admin(parts, caller)?;
    loading.require_end()?;
    let mut kept = KeptAttachments::default();
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

/// Writes what was staged: the store as one transaction, and the files before it is committed.
fn write(parts: &Parts, caller: &Caller, mut loading: Loading) -> Result<LoadReport, Error> {
    let mut fit = Some(fit::Fit::new(parts, caller, loading.options)?);
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

/// Records in the audit that a backup took the place of what was there.
pub(crate) fn note_restore(parts: &Parts, caller: &Caller, file: &str) -> Result<(), Error> {
    note(parts, caller, AuditAct::BackupRestored, preview::short(file))
}

fn note(parts: &Parts, caller: &Caller, act: AuditAct, detail: String) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    let now = parts.clock.now();
    let entry = AuditEntry { detail: Some(detail), ..access::audit(caller, now, act) };
    parts.store.apply(&access::changes(caller, now, Vec::new(), vec![Write::Audit(entry)]))?;
    Ok(())
}
