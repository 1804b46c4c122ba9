//! Errors as people see them: the message, the hint and the exit code.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::binary::{Transcript, Tulving, assert_transcript, finish};

#[test]
fn wrong_commands_and_flags_are_met_with_what_was_meant() {
    let tulving = Tulving::new();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["sav", "text"])
            .run(&["save", "text", "--typ", "fact"])
            .run(&["save", "text", "--type", "facts"])
            .run(&["save"])
            .run(&["get"])
            .run(&["recall", "--mode", "hybrid"])
            .run(&["token", "create"])
            .run(&["save", "--batch", "x", "--pin"])
            .run(&["list", "--limit", "many"])
            .run(&["save", "x", "--importance", "high"])
            .run(&["--colour", "never"])
            .run(&["save", "-", "extra"])
            .run(&["update", "1", "extra", "-"])
            .run(&["save", "x", "--position", "3"])
            .run(&["backup", "create", "-"])
            .run(&["help", "sav"])
    );
}

#[test]
fn wrong_values_are_named_with_what_is_right() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["save", ""])
            .run(&["save", " \n\t "])
            .run_with(&["save", "-"], b"")
            .run(&["save", "x", "--importance", "1.5"])
            .run(&["save", "x", "--importance", "-1"])
            .run(&["save", "x", "--importance", "NaN"])
            .run(&["save", "x", "--updates", "1:2"])
            .run(&["save", "x", "--updates", "1:heavy"])
            .run(&["save", "x", "--updates", "one"])
            .run(&["save", "x", "--occurred-at", "yesterday"])
            .run(&["save", "x", "--occurred-at", "2026-05-27T09:30:00+25:00"])
            .run(&["save", "x", "--valid-from", "2026-02-30"])
            .run(&["save", "x", "--valid-from", "2026-02-02", "--valid-until", "2026-02-01"])
            .run(&["recall", "--mode", "typed"])
            .run(&["recall", " "])
            .run(&["recall", "--limit", "0"])
            .run(&["list", "--limit", "-5"])
            .run(&["list", "--limit", "1001"])
            .run(&["list", "--cursor", "made-up"])
            .run(&["related", "1", "--depth", "6"])
            .run(&["update", "1"])
            .run(&["update", "1", "--title", "a", "--clear", "title"])
            .run(&["associate", "1", "1"])
            .run(&["space", "create", "No Spaces!"])
    );
}

#[test]
fn conditions_that_are_wrong_are_met_with_what_was_meant() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one", "--tag", "old"]);
    let refused = |conditions: &[&str]| -> Vec<String> {
        let with = conditions.iter().flat_map(|condition| ["--where", condition]);
        ["forget"].into_iter().chain(with).map(str::to_owned).collect()
    };
    let mut transcript = Transcript::new(&tulving);
    for conditions in [
        &["tags=old"][..],
        &["colour=red"],
        &["old"],
        &["tag="],
        &["type=facts"],
        &["since=soon"],
        &["pinned=perhaps"],
        &["key=a", "key=b"],
        &["space=default"],
        &["contains= "],
    ] {
        let line = refused(conditions);
        transcript.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert_transcript!(
        transcript
            .run(&["forget", "1", "--where", "tag=old"])
            .run(&["forget", "1", "--dry-run"])
            .run(&["forget", "1", "--expect", "1"])
            .run(&["forget", "--yes"])
            .run(&["forget"])
            .run(&["forget", "--where", "tag=old", "--all-spaces", "--yes"])
            .run(&["forget", "--where", "tag=old", "--expect", "-1"])
            .run(&["forget", "--where", "tag=old", "--dry-run", "--yes"])
            .run(&["list"])
    );
}

#[test]
fn what_is_not_there_is_said_and_where_to_look() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["get", "99"])
            .run(&["get", "#99"])
            .run(&["get", "mem_0192f0c1a2b37cde8f00112233445566"])
            .run(&["get", "ninety-nine"])
            .run(&["update", "99", "text"])
            .run(&["history", "99"])
            .run(&["revert", "1", "7"])
            .run(&["forget", "99", "--hard"])
            .run(&["related", "99"])
            .run(&["associate", "1", "99"])
            .run(&["dissociate", "1", "99"])
            .run(&["audit", "99"])
            .run(&["list", "--space", "nowhere"])
            .run(&["space", "members", "nowhere"])
            .run(&["space", "add-member", "default", "nobody"])
            .run(&["token", "revoke", "nothing"])
            .run(&["load", "nothing.jsonl"])
            .run(&["load", "."])
    );
}

#[test]
fn what_happened_first_is_said() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one", "--key", "first"]);
    tulving.ok(&["save", "two"]);
    tulving.ok(&["space", "create", "team-a"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["update", "2", "--key", "first"])
            .run(&["update", "1", "three", "--if-version", "5"])
            .run(&["space", "create", "team-a"])
            .run(&["space", "remove-member", "team-a", "user"])
            .run(&["forget", "2"])
            .run(&["forget", "2"])
    );
}

#[test]
fn control_characters_are_named_with_their_place() {
    let tulving = Tulving::new();
    assert_transcript!(
        Transcript::new(&tulving)
            .run_with(&["save", "-"], b"a\0b")
            .run(&["save", "red \u{1b}[31malert"])
            .run(&["save", "x", "--tag", "a\nb"])
            .run(&["save", "x", "--title", "a\u{7}b"])
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_named_with_their_place() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    transcript.run_with(&["save", "-"], b"caf\xe9");
    let mut command = tulving.command(&["save"]);
    command.arg(OsStr::from_bytes(b"na\xefve"));
    transcript.note("$ tulving save 'na\\xefve'", &finish(command, b""));
    let mut command = tulving.command(&["save", "x", "--title"]);
    command.arg(OsStr::from_bytes(b"na\xefve"));
    transcript.note("$ tulving save x --title 'na\\xefve'", &finish(command, b""));
    assert_transcript!(transcript);
}

#[test]
fn ten_thousand_tags_are_too_many() {
    let tulving = Tulving::new();
    let tags: Vec<String> = (0..10_000).map(|n| format!("--tag=t{n}")).collect();
    let args: Vec<&str> = ["save", "tagged"].into_iter().chain(tags.iter().map(String::as_str)).collect();
    let run = tulving.run(&args);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert_eq!(run.err.lines().next(), Some("error: there are 10000 tags and the limit is 100"));
    assert_eq!(tulving.ok(&["list"]), "");
}

#[test]
fn what_is_over_the_limit_is_refused_with_both_sizes() {
    let tulving = Tulving::new();
    let run = tulving.run_with(&["save", "-"], &vec![b'a'; 3_000_001]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("the content is 3000001 bytes and the limit is 3000000"), "{}", run.err);
    assert_eq!(tulving.run_with(&["save", "-"], &vec![b'a'; 3_000_000]).code, 0);
    let mut command = tulving.command(&["save", "12345678901"]);
    command.env("TULVING_LIMITS_CONTENT_BYTES", "10");
    let run = finish(command, b"");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("the content is 11 bytes and the limit is 10"), "{}", run.err);
}

#[test]
fn an_endless_input_ends_in_an_error() {
    let tulving = Tulving::new();
    let mut command = tulving.command(&["save", "-"]);
    command.stdin(std::fs::File::open("/dev/zero").expect("a device"));
    let output = command.output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_wrong_line_of_a_dump_is_named() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let dump = tulving.ok(&["dump"]);
    let wrong = format!("{dump}{{\"record\":\"memory\"}}\n");
    let cut = &dump[..dump.trim_end().rfind('\n').expect("several lines") + 1];
    let gap = dump.replace(dump.lines().find(|line| line.contains("\"audit\"")).expect("an entry"), "");
    let newer = br#"{"record":"dump","format":99,"written_by":"tulving 99"}"#;
    assert_transcript!(
        Transcript::new(&tulving)
            .run_with(&["load", "-"], wrong.as_bytes())
            .run_with(&["load", "-"], cut.as_bytes())
            .run_with(&["load", "-"], gap.as_bytes())
            .run_with(&["load", "-"], b"not JSON at all\n")
            .run_with(&["load", "-"], newer)
    );
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let mut command = tulving.command(&["list"]);
    command.stdout(std::fs::File::options().write(true).open("/dev/full").expect("a device"));
    let output = command.output().expect("it ends");
    assert_eq!(output.status.code(), Some(9));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the output cannot be written"));
}

#[test]
fn what_is_no_dump_is_told_from_one() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    tulving.ok(&["backup", "create", "copy.db"]);
    std::fs::write(tulving.folder().join("empty.jsonl"), "").expect("written");
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["load", "copy.db"])
            .run(&["load", "empty.jsonl"])
            .run_with(&["load", "-"], b"\n \n")
            .run(&["load", "/dev/null"])
    );
}

#[test]
fn a_dump_replaces_no_file_of_the_home_and_no_device() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let folder = tulving.folder();
    std::fs::write(tulving.home().join("config.toml"), "").expect("written");
    std::os::unix::fs::symlink(tulving.home().join("api-token"), folder.join("link")).expect("a link");
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe"), rustix::fs::Mode::RUSR).expect("a pipe");
    let mut transcript = Transcript::new(&tulving);
    for file in
        ["home/tulving.db", "home/api-token", "home/config.toml", "link", "pipe", "/dev/stdout", "/dev/null"]
    {
        transcript.run(&["dump", file, "--force"]);
    }
    assert_transcript!(transcript);
    assert_eq!(tulving.ok(&["list"]).lines().count(), 1);
    std::fs::write(folder.join("target.jsonl"), "old").expect("written");
    std::os::unix::fs::symlink("target.jsonl", folder.join("alias.jsonl")).expect("a link");
    tulving.ok(&["dump", "alias.jsonl", "--force"]);
    assert!(folder.join("alias.jsonl").symlink_metadata().expect("there").is_symlink());
    assert!(std::fs::read_to_string(folder.join("target.jsonl")).expect("there").lines().count() > 5);
}

#[test]
fn flags_about_a_question_are_refused_where_there_is_none() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let mut transcript = Transcript::new(&tulving);
    for args in [
        &["recall", "--as-of", "2026-01-01"][..],
        &["recall", "one", "--mode", "text", "--abstain-below", "weak"],
        &["recall", "--mode", "recent", "--lane", "vector", "--fusion", "measured"],
        &["recall", "--mode", "important", "--channel", "c", "--asked-at", "2026-01-01"],
        &["recall", "--mode", "typed", "--type", "fact", "--budget", "5"],
        &["recall", "one", "--budget", "-1"],
        &["recall", "one", "--sort", "recent"],
        &["recall", "one", "--as-of", "2023-01-01"],
        &["embed", "--space", "nope"],
    ] {
        transcript.run(args);
    }
    assert_transcript!(transcript);
}
