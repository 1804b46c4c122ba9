//! `tulving config`: shows each setting and its source.

use clap::{Args, Subcommand};
use tulving_core::model::error::Error;
use tulving_store::Home;

use crate::config::{self, KeySource, SettingSource, SettingValue, Settings};
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::global::GlobalArgs;
use crate::print::Printer;
use crate::show::table::table;
use crate::wire;

const EXAMPLES: &str = "\
Examples:
  tulving config
  tulving config path
  TULVING_SPACE=team-a tulving config

`config.toml` in the home, then the environment, then flags: the later one wins. A block of
JSON, such as another tool's, goes into `config.json` in the same folder.";

/// Flags of `config`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", config::reference()))]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show where config.toml is, or would be
    Path,
}

pub(super) fn run(
    args: &ConfigArgs,
    global: &GlobalArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let file = config::file_of(&settings.home);
    if let Some(ConfigCommand::Path) = args.command {
        if printer.json() {
            printer.document(&serde_json::json!({ "path": file }))?;
        } else {
            printer.line(file.display().to_string())?;
        }
        return Ok(Outcome::Done);
    }
    let (home, source) = config::home(global)?;
    let mut chosen = settings.chosen.clone();
    if settings.token.is_some() {
        match place(settings) {
            Ok(name) if *settings.space_source() == SettingSource::Default => confine(&mut chosen, name),
            Ok(_) => {}
            Err(failure) => printer.warning(said(&failure))?,
        }
    }
    for unknown in &settings.unknown_variables {
        printer.warning(format!("{unknown}; {}", unknown.hint()))?;
    }
    let key = key(settings, printer)?;
    if printer.json() {
        let home = serde_json::json!({ "path": home, "source": source });
        printer.document(&serde_json::json!({ "home": home, "settings": chosen, "llm_key": key }))?;
        return Ok(Outcome::Done);
    }
    let mut rows = vec![["home".to_owned(), home.display().to_string(), source.to_string()]];
    let row =
        |chosen: &SettingValue| [chosen.key.to_owned(), chosen.value.clone(), chosen.source.to_string()];
    rows.extend(chosen.iter().map(row));
    rows.extend(key.map(|source| ["llm key".to_owned(), "***".to_owned(), source]));
    printer.lines(&table(["key", "value", "from"], &rows))?;
    Ok(Outcome::Done)
}

/// Describes the source of the language model's key, if a model is configured.
fn key(settings: &Settings, printer: &mut Printer) -> Result<Option<String>, Failure> {
    if settings.llm.is_off() {
        return Ok(None);
    }
    match settings.llm.key_source(&settings.home) {
        Ok(KeySource::Nowhere) => Ok(None),
        Ok(source) => Ok(Some(source.to_string())),
        Err(error) => {
            printer.warning(said(&Error::from(error).into()))?;
            Ok(None)
        }
    }
}

/// Describes a failure that does not end the command, with its hint.
fn said(failure: &Failure) -> String {
    match failure.hint() {
        None => failure.message(),
        Some(hint) => format!("{}; {hint}", failure.message()),
    }
}

/// Returns the name of the space that a token works in. If there is no store, the function does not create one.
fn place(settings: &Settings) -> Result<String, Failure> {
    let made = settings.home.exists() && Home::open_or_create(&settings.home)?.database().exists();
    if !made {
        return Err(Error::BadToken.into());
    }
    let app = wire::open(settings)?;
    let caller = app.here()?;
    match app.outside(&caller, Some(caller.space))? {
        Some(outside) => Err(Cause::NotAMember(outside).into()),
        None => Ok(app.engine.space(&caller)?.name),
    }
}

/// Shows the space of a confined token instead of the default.
fn confine(chosen: &mut [SettingValue], name: String) {
    if let Some(space) = chosen.iter_mut().find(|chosen| chosen.key == "space" && chosen.value != name) {
        space.json = name.clone().into();
        (space.value, space.source) = (name, SettingSource::Token);
    }
}
