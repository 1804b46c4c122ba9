//! `tulving token`: manages the tokens with which agents and programs act.

use clap::{Args, Subcommand};
use tulving_core::model::id::{PrincipalId, SpaceId};
use tulving_core::model::preview;
use tulving_core::model::request::TokenRequest;
use tulving_core::model::space::Token;
use tulving_core::model::vocabulary::{PrincipalKind, Role};

use tulving_server::api::{CreateTokenReply, TokenListReply};

use crate::args::word;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::home_token;
use crate::print::Printer;
use crate::show::style::{self, STRONG};
use crate::show::table::table;
use crate::show::time::age;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving token create --for reviewer --label laptop
  tulving token create --for bot --space team-a --role reader
  tulving token list
  tulving token revoke laptop
  tulving token rotate

Programs pass a token in TULVING_TOKEN. It is shown once; only its hash is kept. The home's own token is in its file api-token.";

/// Flags of `token`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token, and its principal if the name is new
    Create(TokenCreateArgs),
    /// Show the tokens
    List,
    /// Revoke a token at once
    Revoke {
        /// Its label or id
        token: String,
    },
    /// Write a new token to the file api-token of the home, and revoke the old one
    Rotate,
}

#[derive(Debug, Args)]
struct TokenCreateArgs {
    /// The principal that it acts for
    #[arg(long = "for", value_name = "NAME")]
    principal: String,
    /// The kind of a new principal
    #[arg(long, value_parser = word!(PrincipalKind), default_value = "agent")]
    kind: PrincipalKind,
    /// A label for the token [default: the name]
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Confine it to this space and make them a member; may be repeated
    #[arg(long = "space", id = "space", value_name = "NAME")]
    spaces: Vec<String>,
    /// The role: the most that the token may do
    #[arg(long, value_parser = word!(Role), default_value = "writer")]
    role: Role,
}

pub(super) fn run(args: &TokenArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        TokenCommand::Create(args) => create(args, app, printer),
        TokenCommand::List => list(app, printer),
        TokenCommand::Revoke { token } => revoke(token, app, printer),
        TokenCommand::Rotate => rotate(app, printer),
    }
}

fn create(args: &TokenCreateArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let request = TokenRequest {
        label: args.label.clone().unwrap_or_else(|| args.principal.clone()),
        principal: args.principal.clone(),
        introduce: Some(args.kind),
        spaces: spaces(args, app)?,
        role: args.role,
    };
    // For this command, `--space` confines the new token and not the caller.
    let caller = match args.spaces.first() {
        Some(space) => app.engine.enter(&app.caller, space)?,
        None => app.here()?,
    };
    let (secret, kept) = app.engine.create_token(&caller, &request)?;
    if printer.json() {
        printer.document(&CreateTokenReply { token: secret.reveal().to_owned(), known: kept })?;
        return Ok(Outcome::Done);
    }
    printer.line(style::paint(STRONG, secret.reveal()))?;
    printer.note(format!(
        "{} {} token for `{}`, shown only once. Programs use it as TULVING_TOKEN.",
        if preview::article(kept.role.as_str()) == "an" { "An" } else { "A" },
        kept.role,
        args.principal
    ))?;
    Ok(Outcome::Done)
}

fn spaces(args: &TokenCreateArgs, app: &App<'_>) -> Result<Vec<SpaceId>, Failure> {
    args.spaces.iter().map(|name| Ok(app.engine.enter(&app.caller, name)?.space)).collect()
}

fn list(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let tokens = app.engine.tokens(&app.here()?)?;
    if printer.json() {
        printer.document(&TokenListReply { tokens })?;
        return Ok(Outcome::Done);
    }
    let ids: Vec<PrincipalId> = tokens.iter().map(|token| token.principal).collect();
    let names = app.engine.names(&ids)?;
    let spaces = app.space_names()?;
    let now = printer.now();
    let row = |token: &Token| {
        let within: Vec<String> =
            token.spaces.iter().map(|id| spaces.get(id).cloned().unwrap_or_else(|| id.to_string())).collect();
        [
            token.label.clone(),
            names.get(&token.principal).cloned().unwrap_or_else(|| token.principal.to_string()),
            token.role.to_string(),
            if within.is_empty() { "all".to_owned() } else { within.join(", ") },
            age(token.created_at, now),
            if token.revoked_at.is_some() { "revoked" } else { "live" }.to_owned(),
            token.id.to_string(),
        ]
    };
    let rows: Vec<_> = tokens.iter().map(row).collect();
    printer.lines(&table(["label", "for", "role", "spaces", "age", "state", "id"], &rows))?;
    Ok(Outcome::Done)
}

fn rotate(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let home = app.store.home();
    let revoked = home_token::rotate(&app.engine, home, app.everywhere("token rotate")?)?;
    let file = home.token_file();
    if printer.json() {
        printer.document(&serde_json::json!({ "token_file": file, "revoked": revoked }))?;
        return Ok(Outcome::Done);
    }
    printer.line(format!("A new token is in {}; the old one was revoked", file.display()))?;
    printer.note("Give the new token to clients that use the home's token.")?;
    Ok(Outcome::Done)
}

fn revoke(which: &str, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let token = app.engine.revoke_token(&app.here()?, which)?;
    if printer.json() {
        printer.document(&token)?;
    } else {
        printer.line(format!("Revoked the token `{}` ({})", token.label, token.id))?;
    }
    Ok(Outcome::Done)
}
