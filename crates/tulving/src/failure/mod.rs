//! The errors of commands, from the engine's own errors to a file that cannot be read.
//!
//! The engine's errors are not converted to text, so that class, code and hint reach [`print`](crate::print) and
//! [`exit`](crate::exit) unchanged.

mod input;

use std::io;
use std::net::SocketAddr;

pub(crate) use input::InputError;
use tulving_core::model::error::{Class, Error, Invalid, StoreError};
use tulving_core::model::time::InvalidTime;
use tulving_core::model::vocabulary::UnknownWord;
use tulving_dialects::tool::ToolError;
use tulving_models::ModelFolderError;
use tulving_server::http::ListenError;
use tulving_server::mcp::StdioServerError;
use tulving_store::foreign::ForeignError;

use crate::config::SettingError;
use crate::port_owner::PortOwner;

/// The reason why a command failed, and a hint if the cause has no hint.
#[derive(Debug)]
pub(crate) struct Failure {
    cause: Cause,
    hint: Option<String>,
}

/// The cause of a failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// The engine or the store refused.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A setting is unknown or wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A folder has no model that can be used.
    #[error(transparent)]
    ModelFolder(Box<ModelFolderError>),
    /// The data of another memory system cannot be read.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// The flags do not fit together, or one is missing.
    #[error("{0}")]
    Usage(String),
    /// An action that cannot be undone was not confirmed.
    #[error("nothing was done: {0}")]
    Unconfirmed(&'static str),
    /// The caller is not a member of the space.
    #[error("{}", .0.what)]
    NotAMember(NotAMember),
    /// A tool of a dialect refused.
    #[error("{}", .0.message)]
    Refused(ToolError),
    /// The MCP connection failed.
    #[error(transparent)]
    Mcp(#[from] StdioServerError),
    /// The server cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Another process listens on the address already.
    #[error("{address} is taken by {owner}")]
    AddressTaken {
        /// The address.
        address: SocketAddr,
        /// The other process.
        owner: Box<PortOwner>,
    },
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
}

/// The error for a caller who is a member of no space, or not of the space of the call.
#[derive(Debug)]
pub(crate) struct NotAMember {
    /// The message.
    pub(crate) what: String,
    /// The hint.
    pub(crate) hint: String,
}

impl Failure {
    /// Replaces the hint.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns a failure of the command line itself.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Cause::Usage(what.into()).into()
    }

    /// Converts an error of clap.
    pub(crate) fn of_flags(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let said: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let said = said.join(" ");
        let failure = Self::usage(said.strip_prefix("error: ").unwrap_or(&said));
        match text.lines().find_map(|line| line.trim().strip_prefix("tip: ")) {
            Some(tip) => failure.hinted(tip),
            None => failure,
        }
    }

    /// Returns the class of the error.
    pub(crate) fn class(&self) -> Class {
        match &self.cause {
            Cause::Engine(error) => error.class(),
            Cause::Setting(error) => error.class(),
            Cause::Input(error) => error.class(),
            Cause::ModelFolder(error) if error.is_of_the_host() => Class::Host,
            Cause::ModelFolder(_) => Class::Caller,
            Cause::Foreign(error) => error.class(),
            Cause::Usage(_) | Cause::Unconfirmed(_) => Class::Caller,
            Cause::NotAMember(_) => Class::Denied,
            Cause::Refused(refusal) => refusal.class,
            Cause::Listen(ListenError::Taken(_)) | Cause::AddressTaken { .. } => Class::Conflict,
            Cause::Mcp(_) | Cause::Listen(_) | Cause::Output(_) => Class::Host,
        }
    }

    /// Returns a stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match &self.cause {
            Cause::Engine(error) => error.code(),
            Cause::Setting(error) => error.code(),
            Cause::Input(error) => error.code(),
            Cause::ModelFolder(error) => error.code(),
            Cause::Foreign(error) => error.code(),
            Cause::Usage(_) => "usage",
            Cause::Unconfirmed(_) => "unconfirmed",
            Cause::NotAMember(_) => "not_a_member",
            Cause::Refused(refusal) => refusal.code,
            Cause::Mcp(_) => "mcp_stopped",
            Cause::Listen(ListenError::Taken(_)) | Cause::AddressTaken { .. } => "address_taken",
            Cause::Listen(_) => "cannot_listen",
            Cause::Output(_) => "output_failed",
        }
    }

    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        self.hint.clone().or_else(|| match &self.cause {
            Cause::Engine(error) => error.hint(),
            Cause::Setting(error) => error.hint(),
            Cause::Input(error) => error.hint(),
            Cause::ModelFolder(error) => Some(error.hint().to_owned()),
            Cause::Foreign(error) => error.hint(),
            Cause::NotAMember(outside) => Some(outside.hint.clone()),
            Cause::Refused(refusal) => refusal.hint.clone(),
            Cause::Mcp(_) => {
                Some("`tulving mcp` speaks the Model Context Protocol with the client that started it".to_owned())
            }
            Cause::Listen(ListenError::Taken(_)) => Some(
                "`tulving serve` may be running already; stop it, or choose another port with --listen 127.0.0.1:7778"
                    .to_owned(),
            ),
            Cause::AddressTaken { owner, .. } => Some(match owner.home {
                Some(_) => format!(
                    "stop it with `kill {}`, or choose another port with --listen 127.0.0.1:7778",
                    owner.id
                ),
                None => "choose another port with --listen 127.0.0.1:7778".to_owned(),
            }),
            Cause::Listen(ListenError::Refused { .. }) => {
                Some("choose another address or port with --listen".to_owned())
            }
            Cause::Usage(_) | Cause::Unconfirmed(_) | Cause::Output(_) | Cause::Listen(_) => None,
        })
    }

    /// Returns the field of the request that it is about.
    pub(crate) fn field(&self) -> Option<&str> {
        match &self.cause {
            Cause::Engine(error) => error.field().map(|field| field.as_str()),
            Cause::Input(error) => error.field(),
            Cause::Refused(refusal) => refusal.field.as_deref(),
            _ => None,
        }
    }

    /// Returns what happened, followed by the sources that the message does not repeat already.
    pub(crate) fn message(&self) -> String {
        let mut message = self.cause.to_string();
        let mut next = std::error::Error::source(&self.cause);
        while let Some(source) = next {
            let text = source.to_string();
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            next = source.source();
        }
        message
    }

    /// True if the output could not be written, so that nothing more can be printed.
    pub(crate) fn is_output(&self) -> bool {
        matches!(&self.cause, Cause::Output(_))
    }

    /// True if the only problem is that the reader of the output closed the pipe, as `head` does.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(&self.cause, Cause::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl<C: Into<Cause>> From<C> for Failure {
    fn from(cause: C) -> Self {
        Self { cause: cause.into(), hint: None }
    }
}

impl From<ModelFolderError> for Cause {
    fn from(error: ModelFolderError) -> Self {
        Self::ModelFolder(Box::new(error))
    }
}

impl From<Invalid> for Cause {
    fn from(invalid: Invalid) -> Self {
        Self::Engine(invalid.into())
    }
}

impl From<UnknownWord> for Cause {
    fn from(unknown: UnknownWord) -> Self {
        Invalid::from(unknown).into()
    }
}

impl From<InvalidTime> for Cause {
    fn from(invalid: InvalidTime) -> Self {
        Invalid::from(invalid).into()
    }
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}
