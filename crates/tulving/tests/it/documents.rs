//! Documents on the command line: pushed one by one, and imported as trees that change.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::binary::Tulving;
use crate::crash::{endless, kill};

/// A picture of one pixel: bytes that are no text.
pub(crate) const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

/// Sets an old modification time on files, so that their time shows whether they have changed.
fn age(tulving: &Tulving, path: &str) {
    let file = fs::File::options().append(true).open(tulving.folder().join(path)).expect("there");
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).expect("set");
}

fn known_by(tulving: &Tulving, path: &str) -> String {
    let full = tulving.folder().canonicalize().expect("a folder");
    full.join(path).display().to_string()
}

fn counts(report: &Value) -> [u64; 5] {
    ["new", "updated", "moved", "unchanged", "revived"].map(|name| report[name].as_u64().expect("a count"))
}

fn at(tulving: &Tulving, path: &str) -> Option<Value> {
    let path = known_by(tulving, path);
    let listed = |more: &[&str]| {
        let listed = tulving.json(&[&["list", "--source-path", &path], more].concat());
        listed["memories"].as_array().expect("a list").first().cloned()
    };
    listed(&[]).or_else(|| listed(&["--archived"]))
}

#[test]
fn a_file_is_pushed_once_and_updated_when_it_changes() {
    let tulving = Tulving::new();
    tulving.write("runbook.md", "# Deploy runbook\n\n1. Run `make`.\n2. Restart the service.\n");
    let first = tulving.json(&["push", "runbook.md", "--tag", "ops"]);
    assert_eq!((&first["status"], &first["state"]), (&json!("created"), &json!("active")));
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(memory["content_type"], "markdown");
    assert_eq!((&memory["title"], &memory["kind"]), (&json!("Deploy runbook"), &json!("procedural")));
    assert_eq!((&memory["tags"], &memory["source"]), (&json!(["ops"]), &json!("cli")));
    assert_eq!(memory["source_path"], known_by(&tulving, "runbook.md"));
    assert_eq!(tulving.json(&["push", "./runbook.md"])["status"], "unchanged");
    tulving.write("runbook.md", "# Deploy runbook\n\n1. Run `make all`.\n");
    let changed = tulving.json(&["push", "runbook.md"]);
    assert_eq!((&changed["status"], &changed["version"]), (&json!("updated"), &json!(2)));
    assert_eq!(tulving.json(&["list"])["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn standard_input_and_links_are_pushed() {
    let tulving = Tulving::new();
    let run = tulving.run_with(&["push", "-", "--name", "main.py", "--json"], b"def main():\n    pass\n");
    assert_eq!(run.code, 0, "{}", run.err);
    let code = tulving.json(&["get", "1"]);
    assert_eq!((&code["content_type"], &code["language"]), (&json!("code"), &json!("python")));
    assert_eq!(code["source_path"], Value::Null);
    let link = tulving.json(&["push", "https://example.org/changelog"]);
    assert_eq!((&link["status"], &link["state"]), (&json!("created"), &json!("active")));
    assert_eq!(tulving.json(&["get", "2"])["content_type"], "link");
    let wrong = tulving.run_with(&["push", "-", "--name", "a.json"], b"{\"a\": ");
    assert_eq!(wrong.code, 0, "{}", wrong.err);
    assert!(wrong.err.contains("not valid JSON"), "{}", wrong.err);
    assert_eq!(tulving.json(&["get", "3"])["content_type"], "text");
    assert_eq!(tulving.run(&["push", "missing.md"]).code, 9);
    assert_eq!(tulving.run_with(&["push", "-"], b" \n").code, 2);
}

#[test]
fn a_file_that_is_no_text_is_kept_and_given_back() {
    let tulving = Tulving::new();
    tulving.write("dot.png", PICTURE);
    let pushed = tulving.json(&["push", "dot.png"]);
    assert_eq!(pushed["state"], "active", "it was worked on: {pushed}");
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(memory["content_type"], "file");
    assert_eq!(memory["attachment"]["media_type"], "image/png");
    assert_eq!(memory["attachment"]["name"], "dot.png");
    tulving.ok(&["attachment", "1", "--output", "back.png"]);
    assert_eq!(fs::read(tulving.folder().join("back.png")).expect("written"), PICTURE);
    assert_eq!(tulving.run(&["attachment", "1", "--output", "back.png"]).code, 4, "it is there");
    tulving.ok(&["attachment", "1", "--output", "back.png", "--force"]);
    let jobs = tulving.json(&["jobs"]);
    assert_eq!(jobs["jobs"][0]["kind"], "extract");
    tulving.ok(&["forget", "1", "--hard"]);
    let left = files_below(&tulving.home().join("objects/sha256"));
    assert!(left.is_empty(), "{left:?}");
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files_below(&path)),
            path => found.push(path.display().to_string()),
        }
    }
    found
}

#[test]
fn a_dry_run_counts_files_that_say_the_same_once() {
    let tulving = Tulving::new();
    for name in ["a", "b", "c"] {
        tulving.write(&format!("notes/{name}.md"), "# The same\n\nIn three files.\n");
    }
    let dry = tulving.json(&["import", "notes", "--dry-run"]);
    let taken = tulving.json(&["import", "notes"]);
    for described in [&dry, &taken] {
        assert_eq!((&described["new"], &described["known"]), (&json!(1), &json!(2)), "{described}");
    }
}

#[test]
fn a_relative_path_of_a_save_is_that_of_the_file_that_is_there() {
    let tulving = Tulving::new();
    tulving.write("a/README.md", "A\n");
    tulving.ok(&["save", "Notes on ferrets", "--source-path", "a/README.md"]);
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(memory["source_path"].as_str(), Some(known_by(&tulving, "a/README.md").as_str()), "{memory}");
    tulving.ok(&["push", "a/README.md"]);
    assert_eq!(tulving.json(&["list"])["memories"].as_array().map(Vec::len), Some(1), "the same file");
}

#[test]
fn the_same_bytes_under_another_name_leave_the_name_alone() {
    let tulving = Tulving::new();
    for name in ["invoice-march.bin", "zebra.bin"] {
        fs::write(tulving.folder().join(name), [0_u8, 159, 146, 150].repeat(50)).expect("written");
        tulving.ok(&["push", name]);
    }
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(memory["attachment"]["name"], "invoice-march.bin", "{memory}");
    assert!(memory["content"].as_str().is_some_and(|content| content.contains("invoice-march")), "{memory}");
    assert_eq!(memory["source_paths"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_relative_path_finds_the_file_that_is_there() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "# Alpha\n\nThe first note.\n");
    tulving.ok(&["push", "notes/a.md"]);
    tulving.ok(&["save", "Said of a file that is elsewhere", "--source-path", "notes/b.md"]);
    tulving.write("notes/b.md", "There by now\n");
    for (path, says) in [
        ("notes/a.md", "The first note"),
        ("notes/../notes/a.md", "The first note"),
        ("notes/b.md", "elsewhere"),
    ] {
        for command in ["list", "recall"] {
            let found = tulving.ok(&[command, "--source-path", path]);
            assert!(found.contains(says) && found.lines().count() == 1, "{command} {path}: {found}");
        }
    }
    let condition = "source-path=notes/a.md";
    assert!(tulving.ok(&["forget", "--where", condition, "--dry-run"]).contains("The first note"));
}

#[test]
fn a_tree_is_imported_and_followed_as_it_changes() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "# Alpha\n\nThe first note.\n");
    tulving.write("notes/sub/b.txt", "The second note.\n");
    tulving.write("notes/c.rs", "fn main() {}\n");
    tulving.write("notes/built.o", "\0");
    tulving.write("notes/.env", "TOKEN=abc\n");
    tulving.write("notes/ignored/d.md", "left out\n");
    tulving.write("notes/private.md", "left out too\n");
    tulving.write("notes/.gitignore", "ignored/\n");
    tulving.write("notes/.tulvingignore", "private.md\n");
    for path in ["notes/a.md", "notes/sub/b.txt", "notes/c.rs"] {
        age(&tulving, path);
    }
    let dry = tulving.json(&["import", "notes", "--dry-run"]);
    assert_eq!(counts(&dry), [3, 0, 0, 0, 0], "{dry}");
    assert_eq!(tulving.json(&["list"])["memories"].as_array().map(Vec::len), Some(0), "nothing is written");
    let first = tulving.json(&["import", "notes"]);
    assert_eq!(counts(&first), [3, 0, 0, 0, 0], "{first}");
    let skipped: Vec<&str> =
        first["skipped"].as_array().expect("a list").iter().filter_map(|one| one["path"].as_str()).collect();
    assert_eq!(skipped, [known_by(&tulving, "notes/built.o")]);
    assert_eq!(at(&tulving, "notes/a.md").expect("there")["source"], "import");
    let again = tulving.json(&["import", "notes"]);
    assert_eq!(counts(&again), [0, 0, 0, 3, 0], "{again}");

    tulving.write("notes/a.md", "# Alpha\n\nThe first note, mended.\n");
    fs::rename(tulving.folder().join("notes/sub/b.txt"), tulving.folder().join("notes/moved.txt"))
        .expect("moved");
    fs::remove_file(tulving.folder().join("notes/c.rs")).expect("gone");
    let third = tulving.json(&["import", "notes"]);
    assert_eq!(counts(&third), [0, 1, 1, 0, 0], "{third}");
    assert_eq!(third["vanished"], json!([known_by(&tulving, "notes/c.rs")]));
    assert_eq!(at(&tulving, "notes/c.rs").expect("there")["state"], "active", "only when asked");
    let pruned = tulving.json(&["import", "notes", "--prune"]);
    assert_eq!(pruned["archived"], 1);
    assert_eq!(at(&tulving, "notes/c.rs").expect("there")["state"], "archived");
    tulving.write("notes/c.rs", "fn main() {}\n");
    assert_eq!(counts(&tulving.json(&["import", "notes"]))[4], 1, "back from the archive");
    assert_eq!(tulving.json(&["list", "--all"])["memories"].as_array().map(Vec::len), Some(3));
    tulving.assert_healthy();
}

#[test]
fn a_dry_run_says_what_would_be_archived_and_warned_of() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "a note\n");
    tulving.write("notes/b.md", "another note\n");
    tulving.ok(&["import", "notes", "--later"]);
    fs::remove_file(tulving.folder().join("notes/b.md")).expect("gone");
    tulving.write("notes/c.json", "{\"port\": ");
    let dry = tulving.run(&["import", "notes", "--prune", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.out.contains("archived") && !dry.out.contains("vanished"), "{}", dry.out);
    assert!(dry.err.contains("not valid JSON") && !dry.err.contains("--prune"), "{}", dry.err);
    assert_eq!(at(&tulving, "notes/b.md").expect("there")["state"], "active", "nothing is written");
    let real = tulving.run(&["import", "notes", "--prune", "--later"]);
    let summary = |out: &str| out.lines().last().map(|line| line.replace("Would import", "Imported"));
    assert_eq!(summary(&real.out), summary(&dry.out));
}

#[test]
fn a_dry_run_with_prune_says_the_same_as_the_import() {
    let tulving = Tulving::new();
    for name in ["a", "b", "c"] {
        tulving.write(&format!("notes/{name}.md"), "said three times\n");
    }
    tulving.ok(&["import", "notes", "--later"]);
    let prune = |gone: &[&str]| {
        for path in gone {
            fs::remove_file(tulving.folder().join(path)).expect("gone");
        }
        let dry = tulving.ok(&["import", "notes", "--prune", "--later", "--dry-run"]);
        let real = tulving.ok(&["import", "notes", "--prune", "--later"]);
        assert_eq!(dry.replace("Would import", "Imported"), real);
        real
    };
    let described = prune(&["notes/a.md"]);
    assert!(
        described.starts_with("vanished ") && described.ends_with("2 unchanged, 1 vanished\n"),
        "{described}"
    );
    let described = prune(&["notes/b.md", "notes/c.md"]);
    assert!(described.starts_with("archived ") && described.ends_with(": 1 archived\n"), "{described}");
}

#[test]
fn what_is_as_it_was_keeps_its_labels_and_the_import_says_so() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "a note\n");
    tulving.ok(&["import", "notes", "--later"]);
    let again = tulving.run(&["import", "notes", "--later", "--tag", "ops"]);
    assert!(again.err.contains("1 unchanged file keeps its own tags"), "{}", again.err);
    tulving.write("notes/a.md", "a note that changed\n");
    let changed = tulving.json(&["import", "notes", "--later", "--tag", "ops"]);
    assert_eq!((&changed["updated"], &changed["warnings"]), (&json!(1), &json!([])));
    assert_eq!(tulving.json(&["import", "notes", "--later", "--tag", "ops"])["warnings"], json!([]));
}

#[test]
fn what_is_hidden_has_not_vanished_and_links_are_counted() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "a note\n");
    tulving.write("notes/.b/c.md", "a hidden note\n");
    tulving.write("notes/.d.md", "another\n");
    symlink(tulving.folder().join("notes/a.md"), tulving.folder().join("notes/link.md")).expect("a link");
    assert_eq!(tulving.json(&["import", "notes", "--hidden", "--later"])["new"], 3);
    let plain = tulving.json(&["import", "notes", "notes", "--prune", "--later"]);
    assert_eq!((&plain["vanished"], &plain["archived"]), (&json!([]), &json!(0)));
    assert_eq!(plain["skipped"].as_array().map(Vec::len), Some(1), "each once: {plain}");
    assert_eq!(plain["skipped"][0]["path"], known_by(&tulving, "notes/link.md"));
    fs::remove_file(tulving.folder().join("notes/.d.md")).expect("gone");
    assert_eq!(tulving.json(&["import", "notes", "--prune", "--later"])["archived"], 1);
}

#[test]
fn folders_that_tools_fill_are_skipped_and_named() {
    let tulving = Tulving::new();
    tulving.write("app/a.md", "a note\n");
    tulving.write("app/node_modules/x/index.js", "module.exports = 1;\n");
    tulving.write("app/target/debug/b.md", "built\n");
    tulving.write("app/sub/__pycache__/c.py", "cached = 1\n");
    tulving.write("app/dist.md", "a file, not a folder\n");
    let folders = ["app/node_modules", "app/sub/__pycache__", "app/target"];
    let folders = folders.map(|folder| known_by(&tulving, folder));
    let first = tulving.json(&["import", "app", "--later"]);
    assert_eq!((&first["new"], &first["skipped_folders"]), (&json!(2), &json!(folders)), "{first}");
    let described = tulving.run(&["import", "app", "--later"]);
    assert!(described.err.contains("skipped 3 folders of generated files"), "{}", described.err);
    assert!(
        described.err.contains(&folders[0]) && described.err.contains("--include-generated"),
        "{}",
        described.err
    );
    let named = tulving.json(&["import", "app", "app/target", "--later"]);
    assert_eq!((&named["new"], &named["skipped_folders"]), (&json!(1), &json!(folders[..2])), "{named}");
    let all = tulving.json(&["import", "app", "--include-generated", "--later"]);
    assert_eq!((&all["new"], &all["skipped_folders"]), (&json!(2), &json!([])), "{all}");
    let pruned = tulving.json(&["import", "app", "--prune", "--later"]);
    assert_eq!(
        (&pruned["vanished"], &pruned["archived"]),
        (&json!([]), &json!(0)),
        "they are there: {pruned}"
    );
    fs::remove_dir_all(tulving.folder().join("app/target")).expect("gone");
    assert_eq!(tulving.json(&["import", "app", "--prune", "--later"])["archived"], 1);
}

#[test]
fn a_file_that_was_forgotten_and_pushed_again_is_followed_by_the_import() {
    let tulving = Tulving::new();
    tulving.write("notes/one.md", "# One\n");
    tulving.ok(&["import", "notes", "--later"]);
    tulving.ok(&["forget", "1"]);
    tulving.ok(&["push", "notes/one.md"]);
    tulving.write("notes/one.md", "# One, again\n");
    let report = tulving.json(&["import", "notes", "--later"]);
    assert_eq!((&report["updated"], &report["forgotten"]), (&json!(1), &json!(0)), "{report}");
    assert_eq!(tulving.json(&["get", "2"])["version"], 2);
}

#[test]
fn what_is_empty_or_no_link_is_named() {
    let tulving = Tulving::new();
    tulving.write("empty.md", " \n");
    let empty = tulving.run(&["push", "empty.md"]);
    assert!(empty.code == 2 && empty.err.contains("empty.md is empty"), "{}", empty.err);
    let link = tulving.run(&["push", "ftp://example.org/a"]);
    assert!(link.code == 2 && link.err.contains("http://"), "{}", link.err);
}

#[test]
fn a_tree_that_moved_keeps_its_memories_and_one_that_is_gone_can_be_pruned() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "a note\n");
    tulving.write("notes/sub/b.md", "another note\n");
    tulving.ok(&["import", "notes"]);
    fs::rename(tulving.folder().join("notes"), tulving.folder().join("moved")).expect("moved");
    assert_eq!(tulving.json(&["import", "moved"])["moved"], 2);
    fs::remove_dir_all(tulving.folder().join("moved")).expect("removed");
    assert_eq!(tulving.run(&["import", "moved"]).code, 9, "a path that is not there is an error");
    assert_eq!(tulving.json(&["import", "moved", "--prune"])["archived"], 2);
    assert_eq!(at(&tulving, "moved/sub/b.md").expect("there")["state"], "archived");
    let folder = tulving.run(&["push", "."]);
    assert_eq!(folder.code, 2);
    assert!(folder.err.contains("`tulving import` takes whole folders"), "{}", folder.err);
}

#[test]
fn what_lies_behind_a_link_has_vanished() {
    let tulving = Tulving::new();
    tulving.write("notes/sub/a.md", "a note\n");
    tulving.ok(&["import", "notes"]);
    assert_eq!(tulving.run(&["import", "elsewhere"]).code, 9, "a path that is not there is an error");
    fs::rename(tulving.folder().join("notes/sub"), tulving.folder().join("away")).expect("moved");
    symlink(tulving.folder().join("away"), tulving.folder().join("notes/sub")).expect("a link");
    let report = tulving.json(&["import", "notes"]);
    assert_eq!(report["vanished"].as_array().map(Vec::len), Some(1), "links are not followed: {report}");
}

#[test]
fn a_part_that_cannot_be_looked_at_has_not_vanished() {
    let tulving = Tulving::new();
    let deep = "d".repeat(200);
    tulving.write(&format!("notes/{deep}/a.md"), "a note\n");
    tulving.write("notes/b.md", "another note\n");
    tulving.ok(&["import", "notes"]);
    fs::remove_file(tulving.folder().join("notes/b.md")).expect("removed");
    // So long a path names the folder, and is too long for what is in it.
    let long = format!("{}notes", "./".repeat(1_990));
    let report = tulving.json(&["import", &long, "--prune"]);
    assert_eq!(report["skipped"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!((&report["archived"], report["vanished"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    assert_eq!(at(&tulving, &format!("notes/{deep}/a.md")).expect("there")["state"], "active");
    assert_eq!(at(&tulving, "notes/b.md").expect("there")["state"], "archived");
}

#[test]
fn an_import_that_was_killed_goes_on_where_it_was() {
    let tulving = Tulving::new();
    for n in 0..600 {
        tulving.write(&format!("notes/{:02}/{n}.md", n % 20), format!("# Note {n}\n\nIt says {n}.\n"));
    }
    let script = r#"exec "$0" import notes --later"#;
    for round in 0..12 {
        kill(endless(&tulving, script, &[]), Duration::from_millis(40 * (round + 1)));
    }
    tulving.ok(&["import", "notes", "--later"]);
    let memories = tulving.json(&["list", "--all"])["memories"].as_array().expect("a list").clone();
    assert_eq!(memories.len(), 600, "each file once");
    let mut contents: Vec<&str> = memories.iter().filter_map(|memory| memory["content"].as_str()).collect();
    contents.sort_unstable();
    contents.dedup();
    assert_eq!(contents.len(), 600);
    tulving.assert_healthy();
}

#[test]
fn two_who_import_the_same_at_once_make_each_file_once() {
    let tulving = Tulving::new();
    for n in 0..300 {
        tulving.write(&format!("notes/{n}.md"), format!("# Note {n}\n\nIt says {n}.\n"));
    }
    tulving.ok(&["list"]);
    let script = r#""$0" import notes --later --json & "$0" import notes --later --json; wait"#;
    let run = crate::binary::finish(tulving.shell(script, &[]), b"");
    assert_eq!(run.code, 0, "{}", run.err);
    let memories = tulving.json(&["list", "--all"]);
    assert_eq!(memories["memories"].as_array().map(Vec::len), Some(300), "{}", run.err);
    tulving.assert_healthy();
}

#[test]
fn the_same_content_under_several_paths_is_one_memory_with_all_of_them() {
    let tulving = Tulving::new();
    tulving.write("one.md", "# Notes\n\nThe same in both.\n");
    tulving.write("two.md", "# Notes\n\nThe same in both.\n");
    tulving.ok(&["push", "one.md"]);
    let second = tulving.run(&["push", "two.md"]);
    assert!(second.out.starts_with("Already known as #1"), "{}", second.out);
    let paths = json!([known_by(&tulving, "one.md"), known_by(&tulving, "two.md")]);
    let memory = tulving.json(&["get", "1"]);
    assert_eq!((&memory["source_path"], &memory["source_paths"]), (&paths[0], &paths));
    assert_eq!(tulving.json(&["list"])["memories"][0]["source_paths"], paths);
    assert_eq!(at(&tulving, "two.md").expect("found by its other path")["number"], 1);
    let shown = tulving.ok(&["get", "1"]);
    assert_eq!(shown.matches("source path").count(), 2, "{shown}");
    tulving.write("two.md", "# Notes\n\nNo longer the same.\n");
    let changed = tulving.json(&["push", "two.md"]);
    assert_eq!(
        (&changed["status"], &changed["version"], &changed["number"]),
        (&json!("created"), &json!(1), &json!(2))
    );
    let memory = tulving.json(&["get", "1"]);
    assert_eq!((&memory["source_path"], &memory["source_paths"]), (&paths[0], &Value::Null));
    tulving.assert_healthy();
}

#[test]
fn two_processes_that_push_the_same_content_make_one_memory_with_both_paths() {
    let tulving = Tulving::new();
    let count = 24;
    for n in 0..count {
        for side in ["a", "b"] {
            tulving.write(&format!("{side}/{n}.md"), format!("# Note {n}\n\nIt says {n}.\n"));
        }
    }
    tulving.ok(&["list"]);
    let script = r#"
        push() { for n in $(seq 0 23); do "$1" push "$2/$n.md" >> "$2.out" || echo failed; done; }
        push "$0" a & push "$0" b; wait"#;
    let run = crate::binary::finish(tulving.shell(script, &[]), b"");
    assert!(run.code == 0 && !run.out.contains("failed"), "{} {}", run.out, run.err);
    let memories = tulving.json(&["list", "--all"])["memories"].as_array().expect("a list").clone();
    assert_eq!(memories.len(), count);
    for memory in memories {
        assert_eq!(memory["source_paths"].as_array().map(Vec::len), Some(2), "{memory}");
    }
    tulving.assert_healthy();
}

#[test]
fn a_watched_tree_is_followed_until_the_watcher_is_stopped() {
    let tulving = Tulving::new();
    tulving.write("notes/a.md", "the first\n");
    let watcher = endless(&tulving, r#"exec "$0" import notes --watch --later"#, &[]);
    let appears = |path: &str| {
        for _ in 0..200 {
            if at(&tulving, path).is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    };
    let first = appears("notes/a.md");
    tulving.write("notes/b.md", "the second\n");
    let second = appears("notes/b.md");
    fs::remove_file(tulving.folder().join("notes/a.md")).expect("removed");
    let printed = kill(watcher, Duration::from_secs(6));
    assert!(first && second);
    let gone = printed.lines().filter(|line| line.starts_with("vanished ") && line.ends_with("/a.md"));
    assert_eq!(gone.count(), 1, "that it has vanished is said, and once: {printed}");
}
