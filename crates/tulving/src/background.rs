//! Starts another process of this program, for work that no caller waits for.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::{env, io};

use crate::config::{Settings, TOKEN};

/// Starts the jobs that call a language model: `tulving jobs run --background`. The new process ends at once if another
/// process already runs these jobs. Each job runs in the name of the principal that logged the turn, and the jobs may belong
/// to different principals.
pub(crate) fn start_jobs(settings: &Settings) -> io::Result<()> {
    start(settings, &["jobs", "run", "--background"])
}

/// Starts the maintenance of the index: `tulving fold`. If this process is killed, the next process that needs the index
/// starts another one.
pub(crate) fn start_fold(settings: &Settings) -> io::Result<()> {
    start(settings, &["fold"])
}

/// Starts a command on the same home, in its own process that outlives this one.
fn start(settings: &Settings, words: &[&str]) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("--home").arg(&settings.home).args(words);
    // The work belongs to the home, not to the caller that caused it.
    command.env_remove(TOKEN);
    // The child gets its own process group, so that a signal that stops this command does not stop the child.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let child = command.spawn()?;
    // Without this thread, the system reaps the child once this process has ended.
    drop(awaited(child));
    Ok(())
}

/// Waits for a child in a separate thread, because an ended child that nobody waits for stays in the process list.
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
