//! Starts this program once more, for work that nobody waits for.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::{env, io};

use crate::config::{Settings, TOKEN};

/// Starts a command on the same home, in a process of its own that outlives this one.
pub(crate) fn start(settings: &Settings, words: &[&str]) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("--home").arg(&settings.home).args(words);
    // It is the home's work, whoever gave rise to it.
    command.env_remove(TOKEN);
    // A group of its own, so that what stops this command does not stop it too.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
}
