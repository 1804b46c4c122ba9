//! `tulving audit`: what was done, by whom and why. For admins.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::error::{Error, Field};
use tulving_core::model::id::{MemoryId, MemoryRef, PrincipalId};
use tulving_core::model::limits;
use tulving_core::model::request::AuditFilter;

use crate::args::{count, reference, whole_number};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::table::table;
use crate::show::time::instant;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving audit
  tulving audit 12
  tulving audit --space team-a
  tulving audit --limit 200 --json";

/// Flags of `audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Only about this memory; name an erased memory by its full id
    #[arg(value_name = "MEMORY")]
    memory: Option<String>,
    /// Maximum number, newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
}

/// An entry of the audit, for programs.
#[derive(Serialize)]
struct NamedAuditEntry<'a> {
    #[serde(flatten)]
    entry: &'a AuditEntry,
    by_name: Option<&'a str>,
}

pub(super) fn run(args: &AuditArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let last = count(Field::Limit, args.limit, limits::PAGE)?;
    let memory = match &args.memory {
        None => None,
        Some(name) => Some(identify(reference(name)?, app)?),
    };
    // A space that is named only in the settings is a default, and does not limit which entries are shown.
    let space = app.settings.is_confined().then(|| app.here().map(|here| here.space)).transpose()?;
    let entries = app.engine.audit(&app.caller, &AuditFilter { space, memory, last })?;
    let ids: Vec<PrincipalId> = entries.iter().map(|entry| entry.by).collect();
    let names = app.engine.names(&ids)?;
    if printer.json() {
        let named = |entry| {
            let entry: &AuditEntry = entry;
            NamedAuditEntry { entry, by_name: names.get(&entry.by).map(String::as_str) }
        };
        let entries: Vec<_> = entries.iter().map(named).collect();
        printer.document(&BTreeMap::from([("entries", &entries)]))?;
        return Ok(Outcome::Done);
    }
    if entries.is_empty() {
        printer.note("No audit entries.")?;
        return Ok(Outcome::Done);
    }
    let row = |entry: &AuditEntry| {
        let by = names.get(&entry.by).cloned().unwrap_or_else(|| entry.by.to_string());
        [
            instant(entry.at),
            entry.agent.as_ref().map_or_else(|| by.clone(), |agent| format!("{by} with {agent}")),
            entry.act.to_string(),
            entry.memory.map(|id| id.to_string()).unwrap_or_default(),
            [entry.reason.as_deref(), entry.detail.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; "),
        ]
    };
    let rows: Vec<_> = entries.iter().map(row).collect();
    printer.lines(&table(["when", "who", "act", "memory", "why"], &rows))?;
    Ok(Outcome::Done)
}

/// Returns the id of a memory, which may be forgotten. A given id is not looked up, because the memory may be erased.
fn identify(which: MemoryRef, app: &App<'_>) -> Result<MemoryId, Failure> {
    if let MemoryRef::Id(id) = which {
        return Ok(id);
    }
    let caller = app.here()?;
    match app.engine.get(&caller, which) {
        Ok(memory) => Ok(memory.id),
        Err(error @ (Error::NoMemory { .. } | Error::Forgotten { .. })) => {
            match app.engine.get_forgotten(&caller, which)? {
                Some(memory) => Ok(memory.id),
                None => {
                    Err(Failure::from(error).hinted("use the full id for a memory that was deleted for good"))
                }
            }
        }
        Err(error) => Err(error.into()),
    }
}
