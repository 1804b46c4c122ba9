//! Errors in the data of another system, with hints.

use std::io;
use std::path::PathBuf;

use tulving_core::model::error::Class;
use tulving_core::model::preview;
use tulving_core::model::vocabulary::System;

/// An error in the data of another system. Nothing was imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// The system returned an error.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path has the wrong kind: it is neither a file nor a folder, or it is the other one of these two.
    #[error("{} is {is} where {needs} is needed", path.display())]
    NotAFile {
        /// The given path.
        path: PathBuf,
        /// The kind of the path.
        is: &'static str,
        /// The kind that is needed.
        needs: &'static str,
    },
    /// The file is larger than the limit.
    #[error("{} has {size} bytes and the limit is {limit}", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The size of the file or of its content, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A table has more rows than the limit.
    #[error("{} has more than {limit} rows in its table `{table}`", path.display())]
    TooMany {
        /// The path of the file.
        path: PathBuf,
        /// The name of the table.
        table: &'static str,
        /// The limit, in rows.
        limit: usize,
    },
    /// The file is not a SQLite database, although its name may look like one.
    #[error("{} is not a SQLite database", path.display())]
    NotADatabase {
        /// The path of the file.
        path: PathBuf,
    },
    /// Another program is writing to the database.
    #[error("{} is being written by another program", path.display())]
    Busy {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// A description of the damage.
        why: String,
    },
    /// The file is a database of an unknown program.
    #[error("{} is a database of an unknown program: {}", path.display(), tables(.found))]
    Unknown {
        /// The path of the file.
        path: PathBuf,
        /// The names of the tables in the database.
        found: Vec<String>,
    },
    /// The data was not written by the named system.
    #[error("{} is not what {system} writes: {why}", path.display())]
    NotOf {
        /// The path of the file or folder.
        path: PathBuf,
        /// The named system.
        system: System,
        /// The part that is missing.
        why: String,
    },
    /// The file is not JSON.
    #[error("{} is not JSON: see line {line}, column {column}", path.display())]
    NotJson {
        /// The path of the file.
        path: PathBuf,
        /// The line of the error, counted from 1.
        line: usize,
        /// The column of the error, counted from 1.
        column: usize,
    },
    /// The file is a store of Tulving.
    #[error("{} is a store of Tulving itself", path.display())]
    Ours {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file contains the memories of several groups, which must not be mixed.
    #[error("{} contains the memories of {} groups: {}", path.display(), groups.len(), listed(.groups))]
    SeveralGroups {
        /// The path of the file.
        path: PathBuf,
        /// The names of the groups.
        groups: Vec<String>,
    },
    /// The file has no memories of the named group.
    #[error("{} contains nothing of the group `{group}`", path.display())]
    NoGroup {
        /// The path of the file.
        path: PathBuf,
        /// The name of the group.
        group: String,
        /// The names of the groups in the file.
        groups: Vec<String>,
    },
}

/// Lists as many names of tables as fit into a message.
fn tables(found: &[String]) -> String {
    const SHOWN: usize = 8;
    if found.is_empty() {
        return "it has no tables".to_owned();
    }
    let more = if found.len() > SHOWN { ", …" } else { "" };
    format!("it has the tables {}{more}", listed(&found[..found.len().min(SHOWN)]))
}

/// Lists names from another system, shortened for a message.
fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| preview::short(name)).collect();
    names.join(", ")
}

impl ForeignError {
    /// The class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } => Class::Host,
            Self::Busy { .. } => Class::Busy,
            Self::Damaged { .. }
            | Self::NotAFile { .. }
            | Self::TooLarge { .. }
            | Self::TooMany { .. }
            | Self::NotADatabase { .. }
            | Self::Unknown { .. }
            | Self::NotOf { .. }
            | Self::NotJson { .. }
            | Self::Ours { .. }
            | Self::SeveralGroups { .. }
            | Self::NoGroup { .. } => Class::Caller,
        }
    }

    /// Returns the stable code of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable",
            Self::NotAFile { .. } => "not_regular",
            Self::TooLarge { .. } | Self::TooMany { .. } => "too_large",
            Self::NotADatabase { .. } => "not_a_database",
            Self::Busy { .. } => "busy",
            Self::Damaged { .. } => "damaged_source",
            Self::Unknown { .. } => "unknown_source",
            Self::NotOf { .. } => "wrong_source",
            Self::NotJson { .. } => "invalid_json",
            Self::Ours { .. } => "own_store",
            Self::SeveralGroups { .. } => "several_groups",
            Self::NoGroup { .. } => "group_not_found",
        }
    }

    /// Returns the hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotADatabase { .. } => {
                "it may be encrypted or damaged; bring a plain copy of it".to_owned()
            }
            Self::Busy { .. } => "try again, or stop that program first".to_owned(),
            Self::Damaged { .. } => {
                "`sqlite3 FILE .recover` may save the contents of a database; nothing was imported".to_owned()
            }
            Self::Unknown { .. } => {
                "Tulving knows the databases of Max, Spacebot and agents with groups; name one with --as"
                    .to_owned()
            }
            Self::NotOf { .. } => "leave out --as to detect the system, or name another one".to_owned(),
            Self::Ours { .. } => {
                "`tulving backup restore` brings a backup back; `tulving dump` and `load` move content"
                    .to_owned()
            }
            Self::SeveralGroups { .. } => {
                "choose one with --group NAME, and import each group into its own space".to_owned()
            }
            Self::NoGroup { groups, .. } => format!("it has {}", listed(groups)),
            Self::TooLarge { .. } | Self::TooMany { .. } => "split it into smaller ones".to_owned(),
            Self::Unreadable { .. } | Self::NotAFile { .. } | Self::NotJson { .. } => return None,
        })
    }
}
