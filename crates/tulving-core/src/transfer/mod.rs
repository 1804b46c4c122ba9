//! Moves the whole content from one store to another: dump and load.

mod check;
mod loading;

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::Error;
use crate::preview;
use crate::record::{DumpPosition, Record};
use crate::request::Caller;
use crate::vocabulary::AuditAct;

pub use loading::{LeftOut, Loading};

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

/// Takes in some lines of a dump, each with its line number. What is there already stays as it is, so a load that was
/// cut off can be run again from the start.
pub(crate) fn load(
    parts: &Parts,
    caller: &Caller,
    loading: &mut Loading,
    lines: Vec<(u64, Record)>,
) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    let mut lines = lines.into_iter().peekable();
    while let Some((line, record)) = lines.next() {
        let sort = std::mem::discriminant(&record);
        let mut run =
            Vec::from_iter(loading.fitted(parts, caller, line, record)?.map(|record| (line, record)));
        while let Some((line, record)) = lines.next_if(|(_, next)| std::mem::discriminant(next) == sort) {
            run.extend(loading.fitted(parts, caller, line, record)?.map(|record| (line, record)));
        }
        loading.take(parts, caller, run)?;
    }
    Ok(())
}

/// Records in the audit that a load came to its end. Refused where the dump did not come to its own.
pub(crate) fn finish(parts: &Parts, caller: &Caller, loading: &Loading) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    loading.require_end()?;
    let detail = format!("{} lines added, {} present", loading.added, loading.present);
    note(parts, caller, AuditAct::Loaded, detail)
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
