//! The flags that every command takes.

use std::path::PathBuf;

use clap::Args;

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// Work in this space (name or id) and reach no other
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "default_space")]
    pub(crate) space: Option<String>,
    /// Work in this space if no other is named; other spaces stay reachable
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) default_space: Option<String>,
    /// Keep everything in this folder instead of TULVING_HOME
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The agent that acts for you; each save records its name
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The use of colour in the output; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub(crate) color: Option<Color>,
}

/// The setting for colour in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        })
    }
}
