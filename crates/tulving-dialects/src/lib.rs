//! The dialects: the tools that agents call, our own and those of other systems. A dialect does no I/O and makes no
//! decisions: it renames arguments, sets defaults and reshapes answers, and the engine carries out the calls.

#![expect(
    clippy::needless_pass_by_value,
    reason = "all tools have the same signature, and most consume their arguments"
)]

pub mod argument;
pub mod context;
pub mod conversation;
mod document;
mod error;
pub mod finding;
pub mod groups;
pub mod input;
pub mod listed;
pub mod maven;
pub mod max;
pub mod memax;
pub mod native;
mod opening;
pub mod operation;
pub mod outgoing;
pub mod reading;
pub mod recovery;
pub mod schema;
pub mod spacebot;
pub mod strict;
pub mod tool;
pub mod words;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use operation::Operation;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use tool::{DialectScope, DialectTool, ToolError};
use tulving_core::model::error::Class;

/// The tools of one memory system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Tulving's own tools.
    #[default]
    Native,
    /// The tools of Max: remember, recall, forget.
    Max,
    /// The tools of Memax: hubs, kinds and stabilities.
    Memax,
    /// The tools of agents with groups: keyed memories in sealed groups.
    Groups,
    /// The tools of Maven: journals.
    Maven,
    /// The tools of Spacebot: typed memories and associations.
    Spacebot,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] =
        [Self::Native, Self::Max, Self::Memax, Self::Groups, Self::Maven, Self::Spacebot];

    /// Returns the name used in flags and addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Max => "max",
            Self::Memax => "memax",
            Self::Groups => "groups",
            Self::Maven => "maven",
            Self::Spacebot => "spacebot",
        }
    }

    /// Returns the tools of this dialect, in the order in which they are offered.
    pub fn tools(self) -> &'static [DialectTool] {
        static TOOLS: LazyLock<[Vec<DialectTool>; 6]> = LazyLock::new(|| {
            Dialect::ALL.map(|dialect| {
                let tools = match dialect {
                    Dialect::Native => native::tools(),
                    Dialect::Max => max::tools(),
                    Dialect::Memax => memax::tools(),
                    Dialect::Groups => groups::tools(),
                    Dialect::Maven => maven::tools(),
                    Dialect::Spacebot => spacebot::tools(),
                };
                tools.into_iter().map(|tool| tool.naming(dialect.names())).collect()
            })
        });
        &TOOLS[self as usize]
    }

    /// Returns the spaces that the tools of this dialect can reach.
    pub(crate) const fn reach(self) -> DialectScope {
        match self {
            Self::Memax => DialectScope::Hubs,
            _ => DialectScope::Space,
        }
    }

    /// Returns the HTTP operations of the other system's interface, in that system's formats. The addresses are those in
    /// that system's documentation, or are below a base path with the dialect's name.
    pub fn operations(self) -> Vec<Operation> {
        match self {
            Self::Max => max::operations(),
            Self::Native | Self::Memax | Self::Groups | Self::Maven | Self::Spacebot => Vec::new(),
        }
    }

    /// Returns pairs of the engine's argument names and this dialect's own.
    const fn names(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Native => {
                &[("question", "query"), ("text", "contains"), ("budget", "token_budget"), ("tag", "tags")]
            }
            Self::Max => &[("text", "keyword")],
            Self::Memax => &[("question", "query"), ("agent", "assisted_by_agent"), ("tag", "tags")],
            Self::Groups => &[("question", "query"), ("text", "query")],
            Self::Maven => &[("text", "query")],
            Self::Spacebot => {
                &[("question", "query"), ("source_note", "source"), ("conversation", "channel_id")]
            }
        }
    }

    /// Returns the tool with this name.
    pub fn tool(self, name: &str) -> Option<&'static DialectTool> {
        self.tools().iter().find(|tool| tool.name == name)
    }

    /// Returns the tool with this name, or a refusal that lists the names of the tools.
    pub fn find(self, name: &str) -> Result<&'static DialectTool, ToolError> {
        self.tool(name).ok_or_else(|| {
            let known: Vec<&str> = self.tools().iter().map(|tool| tool.name).collect();
            let message = format!("{self} has no tool `{}`", tulving_core::model::preview::short(name));
            ToolError {
                code: "unknown_tool",
                message,
                hint: Some(format!("it has {}", known.join(", "))),
                field: None,
                class: Class::Caller,
            }
        })
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Dialect {
    fn schema_name() -> Cow<'static, str> {
        "Dialect".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for an unknown dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialectError(pub String);

impl fmt::Display for UnknownDialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Dialect::ALL.map(Dialect::as_str).join(", ");
        write!(f, "there is no dialect `{}`; there are {names}", tulving_core::model::preview::short(&self.0))
    }
}

impl std::error::Error for UnknownDialectError {}

impl FromStr for Dialect {
    type Err = UnknownDialectError;

    fn from_str(name: &str) -> Result<Self, UnknownDialectError> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.as_str() == name);
        found.ok_or_else(|| UnknownDialectError(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_its_tools_and_their_names_are_its_own() {
        let names = |dialect: Dialect| dialect.tools().iter().map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!(
            names(Dialect::Native),
            [
                "save",
                "recall",
                "list",
                "update",
                "forget",
                "done",
                "associate",
                "context",
                "log_turn",
                "archive_conversation"
            ]
        );
        assert_eq!(names(Dialect::Max), ["remember", "recall", "forget"]);
        assert_eq!(
            names(Dialect::Memax),
            [
                "memax_push",
                "memax_recall",
                "memax_get",
                "memax_list",
                "memax_hubs",
                "memax_hub_members",
                "memax_forget"
            ]
        );
        assert_eq!(
            names(Dialect::Groups),
            ["save_memory", "recall_memories", "forget_memory", "list_memories"]
        );
        assert_eq!(names(Dialect::Maven), ["remember", "memory_search", "memory_get"]);
        assert_eq!(names(Dialect::Spacebot), ["memory_save", "memory_recall", "memory_delete"]);
    }

    #[test]
    fn a_dialect_is_known_by_its_name() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.as_str().parse(), Ok(dialect));
        }
        assert!("mex".parse::<Dialect>().expect_err("unknown").to_string().contains("native, max, memax"));
    }

    #[test]
    fn every_schema_is_an_object_without_references() {
        for tool in Dialect::ALL.into_iter().flat_map(Dialect::tools) {
            let schemas = std::iter::once(&tool.input).chain(&tool.output);
            for schema in schemas {
                assert_eq!(schema.get("type").and_then(|t| t.as_str()), Some("object"), "{}", tool.name);
                let text = serde_json::to_string(schema).expect("JSON");
                assert!(!text.contains("$ref"), "{}: {text}", tool.name);
            }
            assert!(tool.description.len() < 1_200 && !tool.description.is_empty(), "{}", tool.name);
        }
    }
}
