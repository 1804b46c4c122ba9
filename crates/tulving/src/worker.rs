//! The name under which this process takes work, and the check whether the process of such a name is gone.
//!
//! The name contains the process id, its start time, its id namespace and the boot id, from Linux's `/proc`. For a process
//! on another machine, in another container or on a system without `/proc`, this module cannot detect the end; the lease of
//! its work expires instead.

use std::fs;
use std::sync::LazyLock;

/// The process that exists as long as the machine, or the container, runs.
const FIRST: u32 = 1;

static OWN: LazyLock<String> = LazyLock::new(|| {
    let id = std::process::id();
    match here().zip(start(id)) {
        Some((here, start)) => format!("process {id} of {start} on {here}"),
        None => format!("process {id}"),
    }
});

/// Returns the name under which this process takes work.
pub(crate) fn own() -> &'static str {
    &OWN
}

/// True if the process of this name has certainly ended.
pub(crate) fn is_gone(name: &str) -> bool {
    let described = name.strip_prefix("process ").and_then(|rest| rest.split_once(" of "));
    let Some((id, (started, place))) = described.and_then(|(id, rest)| Some((id, rest.split_once(" on ")?)))
    else {
        return false;
    };
    // If other users' processes are hidden, so is the first one.
    let tells = here().is_some_and(|here| here == place) && start(FIRST).is_some();
    tells && id.parse().is_ok_and(|id| start(id).as_deref() != Some(started))
}

/// Returns the scope of process ids: the boot id and the namespace.
fn here() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), space.to_str()?))
}

/// Returns when a running process started, in clock ticks. The program name before it may contain anything.
fn start(id: u32) -> Option<String> {
    let about = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = about.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    fields.nth(18).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn only_a_process_that_has_ended_here_is_gone() {
        use super::{is_gone, own, start};
        assert!(!is_gone(own()), "{}", own());
        let (id, rest) =
            own().strip_prefix("process ").and_then(|rest| rest.split_once(" of ")).expect("told");
        let (started, place) = rest.split_once(" on ").expect("told");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("a process");
        let named = format!("process {} of {} on {place}", child.id(), start(child.id()).expect("it began"));
        assert!(!is_gone(&named));
        child.kill().expect("killed");
        child.wait().expect("it ends");
        assert!(is_gone(&named));
        assert!(is_gone(&format!("process {id} of {started}1 on {place}")), "another has its id");
        for unknown in [
            format!("process {id}"),
            format!("process {id} of 1 on another machine"),
            "worker".to_owned(),
            format!("process x of {started} on {place}"),
        ] {
            assert!(!is_gone(&unknown), "{unknown}");
        }
    }
}
