//! `tulving config`: each setting and where it came from.

use clap::{Args, Subcommand};

use crate::args::Global;
use crate::config::{self, Settings};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::table::table;

const EXAMPLES: &str = "\
Examples:
  tulving config
  tulving config path
  TULVING_SPACE=team-a tulving config

`config.toml` in the home, then the environment, then flags: the later one wins.";

/// Flags of `config`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", config::reference()))]
pub(crate) struct Config {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show where config.toml is, or would be
    Path,
}

pub(super) fn run(
    args: &Config,
    global: &Global,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let file = config::file_of(&settings.home);
    if let Some(Act::Path) = args.act {
        if printer.json() {
            printer.document(&serde_json::json!({ "path": file }))?;
        } else {
            printer.line(file.display().to_string())?;
        }
        return Ok(Outcome::Done);
    }
    let (home, source) = config::home(global)?;
    if printer.json() {
        let home = serde_json::json!({ "path": home, "source": source });
        printer.document(&serde_json::json!({ "home": home, "settings": settings.chosen }))?;
        return Ok(Outcome::Done);
    }
    let mut rows = vec![["home".to_owned(), home.display().to_string(), source.to_string()]];
    rows.extend(
        settings
            .chosen
            .iter()
            .map(|chosen| [chosen.key.to_owned(), chosen.value.clone(), chosen.source.to_string()]),
    );
    printer.lines(&table(["key", "value", "from"], &rows))?;
    Ok(Outcome::Done)
}
