//! Many processes on one home at the same time.

use std::process::Stdio;

use crate::binary::Tulving;

const PROCESSES: usize = 8;
const EACH: usize = 500;

#[test]
fn eight_processes_save_at_once_and_none_is_turned_away() {
    let tulving = Tulving::new();
    let script =
        r#"i=0; while [ $i -lt $2 ]; do i=$((i+1)); "$0" save "process $1 memory $i" || exit 1; done"#;
    let children: Vec<_> = (0..PROCESSES)
        .map(|process| {
            let mut command = tulving.shell(script, &[&process.to_string(), &EACH.to_string()]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a shell starts")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "a save failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(tulving.all_ids("default").len(), PROCESSES * EACH);
    tulving.assert_healthy();
}

#[test]
fn a_backup_is_restored_while_others_save() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "before the backup"]);
    let backup = tulving.folder().join("copy.db").to_string_lossy().into_owned();
    tulving.ok(&["backup", "create", &backup]);
    tulving.ok(&["save", "after the backup"]);
    let script = r#"i=0; while [ $i -lt 60 ]; do i=$((i+1)); "$0" save "meanwhile $i" || exit 1; done"#;
    let mut command = tulving.shell(script, &[]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let saving = command.spawn().expect("a shell starts");
    tulving.ok(&["backup", "restore", &backup, "--yes"]);
    let output = saving.wait_with_output().expect("it ends");
    assert!(output.status.success(), "a save failed: {}", String::from_utf8_lossy(&output.stderr));
    let found = tulving.ok(&["recall", "the backup", "--json"]);
    assert!(found.contains("before the backup") && !found.contains("after the backup"), "{found}");
    tulving.assert_healthy();
}
