//! The command line of Tulving: reads flags, settings and environment variables, calls one engine method and prints the
//! result.

mod args;
mod background;
mod commands;
mod condition;
mod config;
#[cfg(test)]
mod documents;
mod embedders;
mod exit;
mod failure;
mod global;
mod help;
mod home_token;
mod input;
mod interrupt;
mod json;
mod keyring;
mod log;
mod maintenance;
mod model_watch;
mod nearest;
mod open_store;
mod port_owner;
mod print;
mod reload;
mod show;
mod suggestions;
mod wire;
mod worker;

use std::process::ExitCode;

use print::Printer;

fn main() -> ExitCode {
    let mut printer = Printer::new(commands::wants_json(std::env::args_os()));
    let cli = match commands::parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let printed = printer.clap(&error).and_then(|()| printer.finish());
            return end(printed.map(|()| ExitCode::from(code)), &mut printer);
        }
    };
    let outcome = commands::run(&cli, &mut printer);
    end(outcome.map(exit::Outcome::code), &mut printer)
}

fn end(outcome: Result<ExitCode, failure::Failure>, printer: &mut Printer) -> ExitCode {
    let code = match outcome {
        Ok(code) => code,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure);
            exit::code(failure.class())
        }
    };
    printer.conclude();
    code
}
