//! The files of a space on the command line.

use std::fs;

use crate::binary::Tulving;

#[test]
fn files_are_written_listed_read_and_removed_in_the_folder_of_their_group() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "kitchen", "--group"]);
    tulving.ok(&["space", "create", "garden", "--group"]);
    let write = ["file", "write", "lists/shopping.md", "-", "--new", "--space", "kitchen"];
    assert_eq!(tulving.run_with(&write, b"- thyme\n").code, 0);
    assert_ne!(tulving.run_with(&write, b"- other\n").code, 0, "it is there");
    let path = tulving.home().join("workspace/groups/kitchen/lists/shopping.md");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "- thyme\n");
    assert_eq!(tulving.ok(&["file", "read", "lists/shopping.md", "--space", "kitchen"]), "- thyme\n");
    assert_eq!(
        tulving.json(&["file", "list", "--space", "kitchen"])["files"][0]["name"],
        "lists/shopping.md"
    );
    assert!(tulving.ok(&["context", "--space", "kitchen"]).contains("### lists/shopping.md\n> - thyme\n"));
    assert_eq!(tulving.ok(&["context", "--space", "garden"]), "");
    let found = tulving.ok(&["recall", "--mode", "text", "thyme", "--space", "kitchen"]);
    assert!(found.contains("groups/kitchen/lists/shopping.md:1"), "{found}");
    assert_ne!(tulving.run(&["file", "read", "lists/shopping.md", "--space", "garden"]).code, 0);
    let (error, _) =
        tulving.json_error(&["file", "read", "../kitchen/lists/shopping.md", "--space", "garden"]);
    assert_eq!(error["code"], "invalid_file_name", "{error}");
    tulving.ok(&["file", "remove", "lists/shopping.md", "--space", "kitchen"]);
    assert!(!path.exists());
    let (error, _) = tulving.json_error(&["file", "remove", "lists/shopping.md", "--space", "kitchen"]);
    assert_eq!(error["code"], "file_not_found", "{error}");
}

#[test]
fn a_file_that_the_default_space_does_not_keep_is_refused_with_a_path_that_it_does() {
    let tulving = Tulving::new();
    let refused = tulving.run_with(&["file", "write", "notes/plan.md", "-"], b"x");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("only files below memory/ and conversations/"), "{}", refused.err);
    assert!(refused.err.contains("hint: give a path such as memory/plan.md"), "{}", refused.err);
    assert_eq!(tulving.run_with(&["file", "write", "memory/plan.md", "-"], b"x").code, 0);
}
