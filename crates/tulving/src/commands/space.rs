//! `tulving space`: manages spaces and their members.

use clap::{Args, Subcommand};
use serde::Serialize;
use tulving_core::model::preview;
use tulving_core::model::space::{Membership, Principal};
use tulving_core::model::vocabulary::{Role, SpaceKind};

use tulving_server::api::{MemberListReply, MemberReply, SpaceListReply, SpaceReply};

use crate::args::word;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::table::table;
use crate::show::time::age;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving space list
  tulving space create team-a
  tulving space create family --group
  tulving space add-member team-a reviewer --role reader
  tulving save \"Deploys on Fridays are fine\" --space team-a

A group is isolated: only members can see its memories, whatever their boundary, and no agent tool leads from
one group into another.";

/// Flags of `space`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpaceArgs {
    #[command(subcommand)]
    command: SpaceCommand,
}

#[derive(Debug, Subcommand)]
enum SpaceCommand {
    /// Show the spaces that you are in
    List,
    /// Create a space; you become its admin
    Create {
        /// Lower-case letters, digits, `-`, `_` and `.`
        name: String,
        /// Make it a group: isolated, so that only members see anything in it
        #[arg(long)]
        group: bool,
    },
    /// Show the members of a space
    Members {
        /// The space
        name: String,
    },
    /// Add a member to a space, or change the role of a member
    AddMember {
        /// The space
        name: String,
        /// The principal; `tulving token create --for NAME` makes one
        principal: String,
        /// The role
        #[arg(long, value_parser = word!(Role), default_value = "writer")]
        role: Role,
    },
    /// Remove a member from a space
    RemoveMember {
        /// The space
        name: String,
        /// The principal
        principal: String,
    },
}

pub(super) fn run(args: &SpaceArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        SpaceCommand::List => list(app, printer),
        SpaceCommand::Create { name, group } => {
            create(name, if *group { SpaceKind::Group } else { SpaceKind::Hub }, app, printer)
        }
        SpaceCommand::Members { name } => members(app.engine.members(&app.here()?, name)?, printer),
        SpaceCommand::AddMember { name, principal, role } => {
            let member = app.engine.set_member(&app.here()?, name, principal, *role)?;
            say(
                &serde_json::json!({ "name": principal, "role": member.role }),
                format!("`{principal}` is {} {role} of `{name}`", preview::article(role.as_str())),
                printer,
            )
        }
        SpaceCommand::RemoveMember { name, principal } => {
            app.engine.remove_member(&app.here()?, name, principal)?;
            let removed = serde_json::json!({ "deleted": true });
            say(&removed, format!("`{principal}` is no longer in `{name}`"), printer)
        }
    }
}

fn say(document: &impl Serialize, sentence: String, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(document)?;
    } else {
        printer.line(sentence)?;
    }
    Ok(Outcome::Done)
}

fn list(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let spaces = app.engine.spaces(&caller)?;
    if printer.json() {
        let spaces = spaces.into_iter().map(|space| SpaceReply::of(space, caller.space)).collect();
        printer.document(&SpaceListReply { spaces })?;
        return Ok(Outcome::Done);
    }
    let now = printer.now();
    let row = |space: &tulving_core::model::space::Space| {
        [space.name.clone(), space.kind.to_string(), age(space.created_at, now), space.id.to_string()]
    };
    let rows: Vec<_> = spaces.iter().map(row).collect();
    printer.lines(&table(["name", "kind", "age", "id"], &rows))?;
    Ok(Outcome::Done)
}

fn create(name: &str, kind: SpaceKind, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.everywhere("space create")?;
    let space = app.engine.create_space(caller, name, kind)?;
    let sentence = format!("Created the {kind} `{}`; use it with --space {0}", space.name);
    say(&SpaceReply::of(space, caller.space), sentence, printer)
}

fn members(members: Vec<(Principal, Membership)>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer
            .document(&MemberListReply { members: members.into_iter().map(MemberReply::from).collect() })?;
        return Ok(Outcome::Done);
    }
    let row = |(principal, membership): &(Principal, Membership)| {
        [principal.name.clone(), principal.kind.to_string(), membership.role.to_string()]
    };
    let rows: Vec<_> = members.iter().map(row).collect();
    printer.lines(&table(["name", "kind", "role"], &rows))?;
    Ok(Outcome::Done)
}
