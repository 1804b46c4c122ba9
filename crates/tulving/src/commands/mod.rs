//! The commands, one file each. A file defines the flags, calls one engine method and prints the result.

pub(crate) mod associate;
pub(crate) mod attachment;
pub(crate) mod audit;
pub(crate) mod audit_quality;
pub(crate) mod backup;
mod batch;
mod cli;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod consolidate;
pub(crate) mod context;
pub(crate) mod conversation;
pub(crate) mod demo;
pub(crate) mod dissociate;
pub(crate) mod doctor;
pub(crate) mod done;
pub(crate) mod dump;
pub(crate) mod embed;
pub(crate) mod extract_text;
pub(crate) mod file;
pub(crate) mod fold;
pub(crate) mod foreign_import;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod journal;
pub(crate) mod list;
pub(crate) mod llm;
pub(crate) mod load;
pub(crate) mod long_term;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod r#move;
pub(crate) mod passes;
pub(crate) mod push;
pub(crate) mod recall;
pub(crate) mod related;
pub(crate) mod revert;
pub(crate) mod review;
pub(crate) mod save;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod space;
pub(crate) mod status_changes;
pub(crate) mod tend;
pub(crate) mod timeline;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod turn;
pub(crate) mod update;
pub(crate) mod usage;
mod welcome;

use cli::Command;
pub(crate) use cli::{Cli, parse, wants_json};
use tulving_core::model::answer::{FailedLane, Lane};

use crate::config as settings;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::global::GlobalArgs;
use crate::print::Printer;
use crate::wire::{self, App};

/// Runs the command of the command line. A command that needs no home does not open one.
pub(crate) fn run(cli: &Cli, printer: &mut Printer) -> Result<Outcome, Failure> {
    if let Some(Command::Completions(args)) = &cli.command {
        return done(completions::run(args, printer), printer);
    }
    if let Some(Command::ExtractText(args)) = &cli.command {
        return extract_text::run(args);
    }
    if let Some(Command::Demo(args)) = &cli.command {
        return done(demo::run(args, &cli.global, printer), printer);
    }
    let settings = settings::read(&cli.global)?;
    printer.color(settings.color);
    match &cli.command {
        None => done(welcome::run(&settings, printer), printer),
        Some(Command::Config(args)) => done(config::run(args, &cli.global, &settings, printer), printer),
        Some(Command::Fold(args)) => done(fold::run(args, &settings, printer), printer),
        Some(Command::Doctor(args)) => done(doctor::run(args, &settings, printer), printer),
        Some(command) => {
            let app = match wire::open(&settings) {
                Err(failure) => return done(backup::rescue(command, &settings, failure, printer), printer),
                Ok(app) => app,
            };
            app.greet(printer)?;
            match done(act(command, &cli.global, &app, printer), printer) {
                Err(failure) if failure.code() == backup::DAMAGED => {
                    drop(app);
                    done(backup::rescue(command, &settings, failure, printer), printer)
                }
                outcome => {
                    app.settle(printer)?;
                    outcome
                }
            }
        }
    }
}

/// Flushes the output and returns the outcome.
fn done(outcome: Result<Outcome, Failure>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let outcome = outcome?;
    printer.finish()?;
    Ok(outcome)
}

fn act(
    command: &Command,
    global: &GlobalArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    match command {
        Command::Save(args) => save::run(args, app, printer),
        Command::Push(args) => push::run(args, app, printer),
        Command::Import(args) => import::run(args, app, printer),
        Command::Recall(args) => recall::run(args, app, printer),
        Command::Get(args) => get::run(args, app, printer),
        Command::List(args) => list::run(args, app, printer),
        Command::Memory(_) => memory::run(app, printer),
        Command::Shell(_) => shell::run(global, app, printer),
        Command::Update(args) => update::run(args, app, printer),
        Command::History(args) => history::run(args, app, printer),
        Command::Revert(args) => revert::run(args, app, printer),
        Command::Forget(args) => forget::run(args, app, printer),
        Command::Done(args) => done::run(args, app, printer),
        Command::Restore(which) => status_changes::run(&status_changes::RESTORE, which, app, printer),
        Command::Archive(which) => status_changes::run(&status_changes::ARCHIVE, which, app, printer),
        Command::Unarchive(which) => status_changes::run(&status_changes::UNARCHIVE, which, app, printer),
        Command::Pin(which) => status_changes::run(&status_changes::PIN, which, app, printer),
        Command::Unpin(which) => status_changes::run(&status_changes::UNPIN, which, app, printer),
        Command::Review(args) => review::run(args, app, printer),
        Command::Move(args) => r#move::run(args, app, printer),
        Command::Tend(args) => tend::run(args, app, printer),
        Command::Associate(args) => associate::run(args, app, printer),
        Command::Dissociate(args) => dissociate::run(args, app, printer),
        Command::Related(args) => related::run(args, app, printer),
        Command::Timeline(args) => timeline::run(args, app, printer),
        Command::Context(args) => context::run(args, app, printer),
        Command::Journal(args) => journal::run(args, app, printer),
        Command::LongTerm(args) => long_term::run(args, app, printer),
        Command::Consolidate(args) => consolidate::run(args, app, printer),
        Command::File(args) => file::run(args, app, printer),
        Command::ArchiveConversation(args) => conversation::archive(args, app, printer),
        Command::Conversation(args) => conversation::run(args, app, printer),
        Command::Turn(args) => turn::run(args, app, printer),
        Command::Recover(args) => turn::recover(args, app, printer),
        Command::Tool(args) => tool::run(args, app, printer),
        Command::Mcp(args) => mcp::run(args, global, app, printer),
        Command::Serve(args) => serve::run(args, global, app, printer),
        Command::Space(args) => space::run(args, app, printer),
        Command::Token(args) => token::run(args, app, printer),
        Command::Audit(args) => audit::run(args, app, printer),
        Command::AuditQuality(args) => audit_quality::run(args, app, printer),
        Command::Backup(args) => backup::run(args, app, printer),
        Command::Dump(args) => dump::run(args, app, printer),
        Command::Jobs(args) => jobs::run(args, app, printer),
        Command::Passes(args) => passes::run(args, app, printer),
        Command::Undo(args) => passes::undo(args, app, printer),
        Command::Attachment(args) => attachment::run(args, app, printer),
        Command::Embed(args) => embed::run(args, app, printer),
        Command::Model(args) => model::run(args, global, app, printer),
        Command::Llm(args) => llm::run(args, app, printer),
        Command::Usage(args) => usage::run(args, app, printer),
        Command::Load(args) => load::run(args, app, printer),
        Command::Doctor(_)
        | Command::Fold(_)
        | Command::ExtractText(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Demo(_)
        | Command::Help { .. } => unreachable!("these were done before"),
    }
}

/// Warns of search lanes that could not search everything. Does not warn about vectors if embedding is turned `off`.
fn warn_of_lanes(missing: &[FailedLane], off: bool, printer: &mut Printer) -> Result<(), Failure> {
    for FailedLane { lane, why } in missing.iter().filter(|missing| !off || missing.lane != Lane::Vector) {
        printer.warning(format!("the {} lane is incomplete: {why}", lane.as_str()))?;
    }
    Ok(())
}
