//! Starts this program once more, for work that no caller waits for.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::{env, io};

use crate::config::{Settings, TOKEN};

/// Starts the jobs that ask a language model: `tulving jobs run --background`. The process ends at once if another one does them.
/// Each job runs in the name of the principal that logged the turn, which may be any.
pub(crate) fn start_jobs(settings: &Settings) -> io::Result<()> {
    start(settings, &["jobs", "run", "--background"])
}

/// Starts the maintenance of the index: `tulving fold`. If it is killed, the next process that needs the index starts another.
pub(crate) fn start_fold(settings: &Settings) -> io::Result<()> {
    start(settings, &["fold"])
}

/// Starts a command on the same home, in its own process that outlives this one.
fn start(settings: &Settings, words: &[&str]) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("--home").arg(&settings.home).args(words);
    // The work belongs to the home, not to the caller that caused it.
    command.env_remove(TOKEN);
    // A process group of its own, so that a signal that stops this command does not stop it too.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let child = command.spawn()?;
    // Without this thread, the system reaps the child once this process has ended.
    drop(awaited(child));
    Ok(())
}

/// Waits for a child in its own thread: one that has ended and is not waited for stays in the process list.
fn awaited(mut child: Child) -> io::Result<JoinHandle<io::Result<ExitStatus>>> {
    thread::Builder::new().name("background".to_owned()).spawn(move || child.wait())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_child_that_has_ended_does_not_stay_in_the_list_of_processes() {
        let child = Command::new("true").spawn().expect("started");
        let listed = PathBuf::from(format!("/proc/{}", child.id()));
        let waiting = awaited(child).expect("a thread");
        waiting.join().expect("it waits").expect("it has ended");
        assert!(!listed.exists(), "{}", listed.display());
    }
}
