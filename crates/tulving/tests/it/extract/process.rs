//! The process that reads: what it may do, what becomes of one that misbehaves, and that nothing is left of any.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tulving_core::model::error::ExtractError;
use tulving_core::ports::{ExtractedText, Extractor};
use tulving_store::extract::{ChildExtractor, ExtractLimits};

use super::{PDF, binary, children, endless, eventually, extractor, is_limited, parent_of, small};

/// Another program in the place of the reading process.
struct Other {
    folder: TempDir,
}

impl Other {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let script = format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display());
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("changed");
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn extract(&self, limits: ExtractLimits) -> Result<ExtractedText, ExtractError> {
        let extracted = ChildExtractor::new(self.path(), limits).extract(PDF, b"a file");
        assert_eq!(children(), [0; 0], "a process is left");
        extracted
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }
}

#[test]
fn it_is_limited_before_it_reads_and_told_little() {
    std::thread::scope(|threads| {
        let limits = ExtractLimits { cpu: Duration::from_secs(3), ..small() };
        let reading = threads.spawn(move || extractor(limits).extract(PDF, &endless()));
        let id = eventually("it does not start", || {
            let id = children().into_iter().next()?;
            // Once it has lowered the last of its limits.
            is_limited(id).then_some(id)
        });
        let limits = fs::read_to_string(format!("/proc/{id}/limits")).expect("its limits");
        let limit = |name: &str| {
            let line = limits.lines().find(|line| line.starts_with(name)).expect("a limit");
            line[name.len()..].split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(limit("Max cpu time"), ["3", "5"]);
        assert_eq!(limit("Max address space"), vec![(400_u64 << 20).to_string(); 2]);
        for (name, most) in [
            ("Max core file size", "0"),
            ("Max file size", "0"),
            ("Max processes", "0"),
            ("Max open files", "64"),
        ] {
            assert_eq!(limit(name), [most, most], "{name}");
        }
        let described = fs::read(format!("/proc/{id}/environ")).expect("its environment");
        for variable in
            String::from_utf8_lossy(&described).split('\0').filter(|variable| !variable.is_empty())
        {
            let name = variable.split('=').next().unwrap_or_default();
            assert!(["PATH", "LANG", "LC_ALL", "TESSDATA_PREFIX"].contains(&name), "{name}");
        }
        let read = reading.join().expect("it ends");
        assert_eq!(read, Err(ExtractError::TookTooLong { limit: Duration::from_secs(3) }));
    });
}

#[test]
fn one_that_hangs_is_ended_in_time_with_all_that_it_started() {
    let other = Other::new("sleep 1000 & echo $! > child; wait");
    let limits = ExtractLimits { wall: Duration::from_millis(700), ..small() };
    let begun = Instant::now();
    let error = other.extract(limits.clone()).expect_err("it hangs");
    assert_eq!(error, ExtractError::Late { after: limits.wall });
    assert!(error.retryable() && begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let child: u32 = other.read("child").trim().parse().expect("it had one");
    // Its new parent may not have waited for it yet.
    eventually("its child still runs", || match fs::read_to_string(format!("/proc/{child}/stat")) {
        Ok(stat) if !stat.contains(") Z ") => None,
        _ => Some(()),
    });
}

#[test]
fn one_that_ends_and_leaves_its_output_to_another_is_not_waited_for() {
    let other = Other::new("sleep 1000 & exit 3");
    let begun = Instant::now();
    let error = other.extract(small()).expect_err("it said nothing");
    assert_eq!(error, ExtractError::Crashed { how: "exit status: 3".to_owned() });
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn one_that_floods_or_talks_nonsense_is_named() {
    let limits = || ExtractLimits { text: 100_000, ..small() };
    let error = Other::new("yes flood").extract(limits()).expect_err("it floods");
    assert!(matches!(error, ExtractError::Crashed { .. }), "{error}");
    let error =
        Other::new("yes flood >&2").extract(ExtractLimits { wall: Duration::from_secs(1), ..limits() });
    assert!(matches!(error, Err(ExtractError::Late { .. })), "{error:?}");
    let error = Other::new("echo nonsense; echo 'out of luck' >&2").extract(limits()).expect_err("nonsense");
    let how = "exit status: 0; it said: out of luck".to_owned();
    assert_eq!(error, ExtractError::Crashed { how });
    // It says that more comes than does.
    let short = r#"printf '{"read":{"by":"pdf","title":null,"pages":1,"cut":false,"bytes":9}}\nshort'"#;
    let error = Other::new(short).extract(limits()).expect_err("not all of it came");
    assert!(matches!(error, ExtractError::Crashed { .. }), "{error}");
    let error = Other::new("kill -SEGV $$").extract(limits()).expect_err("it crashes");
    assert_eq!(error.code(), "extraction_crashed");
    assert!(error.to_string().contains("SIGSEGV"), "{error}");
}

#[test]
fn one_that_cannot_be_started_is_named_and_may_be_later() {
    let error =
        ChildExtractor::new("/there/is/no/such/program", small()).extract(PDF, b"").expect_err("none");
    assert!(matches!(error, ExtractError::NotStarted { .. }) && error.retryable(), "{error}");
}

#[test]
fn one_that_is_killed_costs_its_file_alone() {
    std::thread::scope(|threads| {
        let reading = threads.spawn(|| extractor(ExtractLimits::default()).extract(PDF, &endless()));
        let id = eventually("it does not start", || children().into_iter().next());
        let id = rustix::process::Pid::from_raw(id.try_into().expect("a process")).expect("a process");
        rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("killed");
        let error = reading.join().expect("it ends").expect_err("it was killed");
        assert_eq!(error, ExtractError::Crashed { how: "signal: 9 (SIGKILL)".to_owned() });
    });
    assert_eq!(children(), [0; 0]);
}

/// Runs itself, and kills that.
#[test]
fn none_is_left_when_who_waits_for_it_is_killed() {
    const CHILD: &str = "TULVING_TEST_READS_FOR_EVER";
    if std::env::var_os(CHILD).is_some() {
        let limits = ExtractLimits {
            cpu: Duration::from_secs(100),
            wall: Duration::from_secs(100),
            ..ExtractLimits::default()
        };
        panic!("it ended: {:?}", extractor(limits).extract(PDF, &endless()));
    }
    let mut waits = Command::new(std::env::current_exe().expect("this test"))
        .args(["extract::process::none_is_left_when_who_waits_for_it_is_killed", "--exact"])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let reads = eventually("it does not read", || {
        let all = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
        let mut all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        // Once it has lowered its limits, it also follows its parent.
        all.find(|id| parent_of(*id) == Some(waits.id()) && is_limited(*id))
    });
    std::thread::sleep(Duration::from_millis(50));
    waits.kill().expect("killed");
    waits.wait().expect("waited for");
    eventually("it reads on", || match fs::read_to_string(format!("/proc/{reads}/stat")) {
        Ok(stat) if !stat.contains(") Z ") => None,
        _ => Some(()),
    });
}

#[test]
fn one_whose_parent_is_another_than_it_was_told_does_nothing() {
    let mut command = Command::new(binary());
    command.args(["extract-text", "--media-type", PDF, "--parent", "1"]).env_clear();
    let run = crate::binary::finish(command, b"");
    assert_eq!(run.out, "");
    assert!(run.code != 0 && run.err.contains("the process that asked has ended"), "{}", run.err);
}
