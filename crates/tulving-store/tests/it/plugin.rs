//! The lifecycle of a plugin's process: started on demand, restarted after it ended, and not left behind.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tulving_core::model::error::BackendError;
use tulving_core::ports::Backend;
use tulving_store::{Plugin, PluginCommand};

/// Timeout for a plugin that is expected to answer.
const PATIENT: Duration = Duration::from_secs(25);

/// A shell script that answers a request for its description.
const DESCRIBED: &str =
    r#"read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocol":1,"version":"7","verbs":[]}}'"#;

fn shell(folder: &TempDir, script: &str) -> Plugin {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    Plugin::new(PluginCommand { command, folder: folder.path().to_owned() })
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn read(folder: &TempDir, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap_or_default()
}

/// True if a process exists, even as a zombie.
fn is_there(id: &str) -> bool {
    Path::new("/proc").join(id.trim()).exists()
}

#[test]
fn it_is_started_when_it_is_first_asked_and_then_goes_on() {
    let folder = folder();
    let plugin = shell(&folder, &format!("echo started >> starts; {DESCRIBED}; cat > rest"));
    assert_eq!(read(&folder, "starts"), "");
    for _ in 0..3 {
        assert_eq!(plugin.describe(PATIENT).expect("it answers").version, "7");
    }
    assert_eq!(read(&folder, "starts"), "started\n");
    drop(plugin);
    assert!(read(&folder, "rest").contains("\"method\":\"close\""), "it is told to end");
}

#[test]
fn one_that_ended_is_started_anew_by_the_next_call() {
    let folder = folder();
    let script =
        format!("[ -e mark ] || {{ touch mark; echo 'no luck' >&2; exit 4; }}; {DESCRIBED}; cat > rest");
    let plugin = shell(&folder, &script);
    let error = plugin.describe(PATIENT).expect_err("it ends");
    assert_eq!(error, BackendError::Gone { why: "exit status: 4; it said: no luck".to_owned() });
    assert_eq!(plugin.describe(PATIENT).expect("it answers").version, "7");
}

#[test]
fn one_that_does_not_stay_is_given_up_for_a_while() {
    let folder = folder();
    let plugin = shell(&folder, "echo started >> starts; exit 1");
    for _ in 0..5 {
        let error = plugin.describe(PATIENT).expect_err("it ends");
        assert_eq!(error, BackendError::Gone { why: "exit status: 1".to_owned() });
    }
    for _ in 0..3 {
        let error = plugin.describe(PATIENT).expect_err("it is given up");
        let why = "it was started 5 times within a minute, and the last time it has ended: exit status: 1";
        assert_eq!(error, BackendError::Gone { why: why.to_owned() });
    }
    assert_eq!(read(&folder, "starts").lines().count(), 5);
}

#[test]
fn one_that_cannot_be_started_is_given_up_for_a_while() {
    let folder = folder();
    let command = vec!["/there/is/no/such/program".to_owned()];
    let plugin = Plugin::new(PluginCommand { command, folder: folder.path().to_owned() });
    for _ in 0..5 {
        let error = plugin.describe(PATIENT).expect_err("it cannot be started");
        assert!(matches!(error, BackendError::NotStarted { .. }), "{error}");
    }
    let error = plugin.describe(PATIENT).expect_err("it is given up");
    let why = "it was started 5 times within a minute, and the last time it could not be started";
    assert_eq!(error, BackendError::Gone { why: why.to_owned() });
}

#[test]
fn one_that_is_slow_to_start_is_late_and_ready_for_a_later_call() {
    let folder = folder();
    // It starts when the test says so.
    let plugin = shell(&folder, &format!("mkfifo go 2>/dev/null; read word < go; {DESCRIBED}; cat > rest"));
    let late = BackendError::TimedOut { after: Duration::from_millis(50) };
    assert_eq!(plugin.describe(Duration::from_millis(50)), Err(late));
    let begun = Instant::now();
    while !folder.path().join("go").exists() {
        assert!(begun.elapsed() < PATIENT);
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::write(folder.path().join("go"), "now\n").expect("told");
    assert_eq!(plugin.describe(PATIENT).expect("it answers").version, "7");
}

#[test]
fn nothing_is_left_of_it_or_of_its_children_when_it_is_dropped() {
    let folder = folder();
    // It neither reads on nor ends, nor does its child.
    let plugin = shell(&folder, &format!("echo $$ > own; sleep 1000 & echo $! > child; {DESCRIBED}; wait"));
    plugin.describe(PATIENT).expect("it answers");
    let (own, child) = (read(&folder, "own"), read(&folder, "child"));
    assert!(is_there(&own) && is_there(&child));
    let begun = Instant::now();
    drop(plugin);
    assert!(begun.elapsed() < PATIENT);
    assert!(!is_there(&own), "it was waited for");
    let stat = |id: &str| fs::read_to_string(Path::new("/proc").join(id.trim()).join("stat"));
    // Its new parent may not have reaped it yet.
    while stat(&child).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(begun.elapsed() < PATIENT, "its child still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}
