//! Backups of the whole home with the real binary: into a new home, from elsewhere, killed in the middle.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::binary::Tulving;
use crate::crash::{KillTimes, endless, kill};
use crate::documents::PICTURE;

/// A home with a memory, a journal, `MEMORY.md`, the file of a group and an attachment, all found by `word`.
fn furnished(word: &str) -> Tulving {
    let tulving = Tulving::new();
    furnish(&tulving, word);
    tulving
}

fn furnish(tulving: &Tulving, word: &str) {
    tulving.ok(&["save", &format!("{word} is saved")]);
    tulving.ok(&["journal", "--note", &format!("{word} is in the journal")]);
    tulving.write("MEMORY.md", format!("# Known\n\n- {word} is always known\n"));
    tulving.ok(&["long-term", "replace", "MEMORY.md"]);
    tulving.run(&["space", "create", "kitchen", "--group"]);
    let write = ["file", "write", "shopping.md", "-", "--space", "kitchen"];
    let run = tulving.run_with(&write, format!("- {word} to buy\n").as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    let picture = [PICTURE, word.as_bytes()].concat();
    tulving.write("picture.png", picture);
    tulving.ok(&["push", "picture.png", "--title", &format!("{word} in a picture")]);
}

/// Checks that everything of [`furnish`] is found, in the files and by recall.
fn assert_whole(tulving: &Tulving, word: &str) {
    let found = tulving.ok(&["recall", "--mode", "text", word, "--limit", "50"]);
    for part in ["is saved", "is in the journal", "is always known"] {
        assert!(found.contains(&format!("{word} {part}")), "{part}: {found}");
    }
    let shown = tulving.ok(&["long-term", "show"]);
    assert!(shown.contains(&format!("{word} is always known")), "{shown}");
    let read = tulving.ok(&["file", "read", "shopping.md", "--space", "kitchen"]);
    assert_eq!(read, format!("- {word} to buy\n"));
    let pictures = tulving.json(&["recall", "--mode", "text", &format!("{word} in a picture")]);
    let memories = pictures["memories"].as_array().expect("memories");
    let with_file = memories.iter().find(|memory| memory["attachment"].is_object()).expect("a picture");
    let number = with_file["number"].to_string();
    let picture = tulving.folder().join("again.png");
    drop(fs::remove_file(&picture));
    tulving.ok(&["attachment", &number, "--output", "again.png"]);
    assert_eq!(fs::read(picture).expect("written"), [PICTURE, word.as_bytes()].concat());
}

#[test]
fn a_restored_home_still_finds_its_files_after_the_next_note() {
    let tulving = furnished("thyme");
    let report = tulving.json(&["backup", "create", "home.tar"]);
    let counts = ["memories", "files", "attachments"].map(|name| report[name].as_u64().expect("a count"));
    assert_eq!(counts, [2, 3, 1], "lines of files are no memories: {report}");
    let file = tulving.folder().join("home.tar").display().to_string();
    let other = Tulving::new();
    let restored = other.json(&["backup", "restore", &file, "--yes"]);
    assert_eq!(restored["files"], 3, "{restored}");
    assert_whole(&other, "thyme");
    other.ok(&["journal", "--note", "the next note"]);
    assert_whole(&other, "thyme");
    other.assert_healthy();
}

#[test]
fn a_workspace_elsewhere_goes_into_the_new_home_unless_a_folder_is_named() {
    let tulving = Tulving::new();
    let agent = tulving.folder().join("agent");
    tulving.configure(&format!("workspace = \"{}\"\n", agent.display()));
    furnish(&tulving, "sage");
    assert!(agent.join("memory/MEMORY.md").exists());
    tulving.ok(&["backup", "create", "home.tar"]);
    let file = tulving.folder().join("home.tar").display().to_string();
    let other = Tulving::new();
    other.ok(&["backup", "restore", &file, "--yes"]);
    assert!(other.home().join("workspace/memory/MEMORY.md").exists());
    fs::remove_dir_all(&agent).expect("removed");
    assert_whole(&other, "sage");

    let third = Tulving::new();
    third.ok(&["backup", "restore", &file, "--workspace", "elsewhere", "--yes"]);
    assert!(third.folder().join("elsewhere/memory/MEMORY.md").exists());
    assert!(!third.home().join("workspace").exists());
    assert_whole(&third, "sage");
}

#[test]
fn settings_come_without_secrets_and_never_replace_those_that_are_there() {
    let tulving = Tulving::new();
    tulving
        .configure("[embedding]\nprovider = \"off\"\nbase_url = \"https://ana:geheim99@models.example\"\n");
    tulving.ok(&["save", "one"]);
    tulving.ok(&["backup", "create", "home.tar"]);
    let file = tulving.folder().join("home.tar");
    let bytes = fs::read(&file).expect("there");
    assert!(!bytes.windows(8).any(|part| part == b"geheim99"), "a password is in the backup");
    let token = fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    assert!(!bytes.windows(token.trim().len()).any(|part| part == token.trim().as_bytes()));
    let file = file.display().to_string();
    let other = Tulving::new();
    assert_eq!(other.json(&["backup", "restore", &file, "--yes"])["config"], "written");
    assert!(other.ok(&["config"]).contains("off"));
    let run = other.run(&["backup", "restore", &file, "--yes"]);
    let said = format!("{}{}", run.out, run.err);
    assert!(said.contains("The existing settings stay unchanged"), "{said}");
}

#[test]
fn config_json_is_part_of_a_backup_without_its_secrets() {
    let tulving = Tulving::new();
    let settings = r#"{"embedding": {"provider": "off", "base_url": "https://ana:geheim99@models.example"}, "space": "default"}"#;
    fs::remove_file(tulving.home().join("config.toml")).unwrap_or_default();
    fs::create_dir_all(tulving.home()).expect("a home");
    fs::write(tulving.home().join("config.json"), settings).expect("written");
    tulving.ok(&["save", "one"]);
    tulving.ok(&["backup", "create", "home.tar"]);
    let file = tulving.folder().join("home.tar");
    let bytes = fs::read(&file).expect("there");
    assert!(bytes.windows(11).any(|part| part == b"config.json"), "config.json is not in the backup");
    assert!(!bytes.windows(8).any(|part| part == b"geheim99"), "a password is in the backup");
    let file = file.display().to_string();
    let other = Tulving::new();
    assert_eq!(other.json(&["backup", "restore", &file, "--yes"])["config"], "written");
    let restored = fs::read_to_string(other.home().join("config.json")).expect("restored");
    let restored: serde_json::Value = serde_json::from_str(&restored).expect("JSON");
    assert_eq!(restored["embedding"], serde_json::json!({ "provider": "off", "base_url": "" }));
    assert!(other.ok(&["config"]).contains("config.json"));
    // Settings of two homes are never mixed: a setting in both files is refused by every command.
    let third = Tulving::new();
    third.configure("space = \"default\"\n");
    assert_eq!(third.json(&["backup", "restore", &file, "--yes"])["config"], "kept");
    assert!(!third.home().join("config.json").exists());
    third.ok(&["list"]);
}

#[test]
fn a_restore_killed_anywhere_leaves_the_old_home_or_the_new_one_whole() {
    let tulving = furnished("thyme");
    tulving.ok(&["backup", "create", "thyme.tar"]);
    let new = tulving.folder().join("thyme.tar").display().to_string();
    let old = furnished("sage");
    old.ok(&["backup", "create", "sage.tar"]);
    let back = old.folder().join("sage.tar").display().to_string();
    let began = Instant::now();
    old.ok(&["backup", "restore", &back, "--yes"]);
    let mut times = KillTimes::up_to(began.elapsed());
    let (mut thyme, mut sage) = (0, 0);
    for _ in 0..40 {
        let child = endless(&old, r#"exec "$0" backup restore "$1" --yes"#, &[&new]);
        kill(child, times.next());
        let is_new = old.ok(&["list"]).contains("thyme is saved");
        times.adapt(is_new);
        if is_new {
            thyme += 1;
            assert_whole(&old, "thyme");
            old.ok(&["backup", "restore", &back, "--yes"]);
        } else {
            sage += 1;
            assert_whole(&old, "sage");
        }
        if thyme >= 4 && sage >= 8 {
            break;
        }
    }
    assert!(thyme > 0 && sage > 0, "{thyme} new and {sage} old: the kills came at the wrong time");
    assert_eq!(odd(&old.home()), [""; 0], "a stage was left behind");
    old.assert_healthy();
}

/// The names that a killed restore may have left in a home.
fn odd(home: &Path) -> Vec<String> {
    let folders = [home.to_owned(), home.join("workspace"), home.join("previous"), home.join("backups")];
    let names = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".tulving-") || name == "restore.json").collect()
}

#[test]
fn processes_that_run_meanwhile_see_the_restored_files() {
    let tulving = furnished("thyme");
    tulving.ok(&["backup", "create", "home.tar"]);
    let file = tulving.folder().join("home.tar").display().to_string();
    let other = furnished("sage");
    let script = r#"while :; do "$0" journal --note "a note"; "$0" recall sage >/dev/null; done"#;
    let writer = endless(&other, script, &[]);
    std::thread::sleep(Duration::from_millis(300));
    other.ok(&["backup", "restore", &file, "--yes"]);
    kill(writer, Duration::from_millis(300));
    assert_whole(&other, "thyme");
    other.assert_healthy();
}
