//! Moves the whole content from one store to another: dump and load.
//!
//! A load has two halves. [`load`] checks lines as they come and stages them outside of the store; [`finish`] writes all of
//! them as one transaction once the last line has come. So a load that is refused, cut off or killed leaves nothing, and
//! nobody waits for the store while a dump is still on its way.

mod check;
mod fit;
mod loading;
mod names;
mod report;

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::{Error, StoreError};
use crate::preview;
use crate::record::{DumpPosition, Record};
use crate::request::Caller;
use crate::vocabulary::AuditAct;

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
    let (mut page, next) = parts.store.dump(position, limit)?;
    let here = page.iter().filter(|record| !record.is_frame()).count();
    let records = position.records.saturating_add(u64::try_from(here).unwrap_or(u64::MAX));
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
    lines.into_iter().try_for_each(|(line, record)| loading.add(line, record))
}

/// Writes what was staged, with the entries of the audit, as one transaction. Refused where the dump did not come to its
/// end. What is there already stays as it is, so a dump can be loaded again.
pub(crate) fn finish(parts: &Parts, caller: &Caller, mut loading: Loading) -> Result<LoadReport, Error> {
    access::require_org_admin(parts, caller)?;
    loading.require_end()?;
    let mut fit = Some(fit::Fit::new(parts, caller, loading.options)?);
    let mut outcome = None;
    parts.store.load(&mut |apply| {
        let done = fit.take().map(|fit| fit.run(&mut *loading.stage, apply));
        let commits = matches!(done, Some(Ok(_)));
        outcome = done;
        commits
    })?;
    let unwritten = || StoreError::Failed { what: "the load was not begun".to_owned(), source: None };
    outcome.unwrap_or_else(|| Err(unwritten().into()))
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
