use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt, PermissionsExt};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use tulving_core::model::file::{AppendResult, FilePath, Folder};
use tulving_core::ports::{Files, From};

use super::made::{Made, Stop, child, file, names, part, workspace};

fn mode(path: &std::path::Path) -> u32 {
    path.metadata().expect("there").permissions().mode() & 0o777
}

#[test]
fn an_entry_is_on_lines_of_its_own() {
    let made = Made::new();
    let day = file("memory/2026-05-27.md");
    let first = made.files.append(&day, "# 2026-05-27").expect("added");
    assert_eq!(first, AppendResult { start: 0, created: true });
    let second = made.files.append(&day, "- one\n- two").expect("added");
    assert_eq!(second, AppendResult { start: 13, created: false });
    assert_eq!(made.text("memory/2026-05-27.md"), "# 2026-05-27\n- one\n- two\n");
    assert_eq!(mode(&made.at("memory/2026-05-27.md")), 0o600);
    assert_eq!(mode(&made.at("memory")), 0o700);
    assert_eq!(made.count_in_home("appends"), 0, "no note is left");

    let group = Folder::parse("groups/kitchen").expect("a folder");
    let path = FilePath::new(&group, "deep/er/log.md").expect("a name");
    made.files.append(&path, "one").expect("added");
    assert_eq!(made.text("groups/kitchen/deep/er/log.md"), "one\n");
}

#[test]
fn what_is_there_stays_to_the_byte() {
    let cases: [(&str, &[u8], &[u8], u64); 7] = [
        ("lf.md", b"a\nb\n", b"a\nb\nx\ny\n", 4),
        ("crlf.md", b"a\r\nb\r\n", b"a\r\nb\r\nx\r\ny\r\n", 6),
        ("open.md", b"a\nb", b"a\nb\nx\ny\n", 4),
        ("open-crlf.md", b"a\r\nb", b"a\r\nb\r\nx\r\ny\r\n", 6),
        ("mark.md", b"\xef\xbb\xbfa\r\n", b"\xef\xbb\xbfa\r\nx\r\ny\r\n", 6),
        ("only-mark.md", b"\xef\xbb\xbf", b"\xef\xbb\xbfx\ny\n", 3),
        ("wild.md", b"\xff\xfe\0\x80\n\xc3", b"\xff\xfe\0\x80\n\xc3\nx\ny\n", 7),
    ];
    let made = Made::new();
    for (name, before, after, start) in cases {
        let name = format!("memory/{name}");
        made.put(&name, before);
        fs::set_permissions(made.at(&name), fs::Permissions::from_mode(0o640)).expect("changed");
        let inode = made.at(&name).metadata().expect("there").ino();
        let added = made.files.append(&file(&name), "x\ny").expect("added");
        assert_eq!(made.bytes(&name), after, "{name}");
        assert_eq!(added, AppendResult { start, created: false }, "{name}");
        assert_eq!(mode(&made.at(&name)), 0o640, "{name}");
        assert_eq!(made.at(&name).metadata().expect("there").ino(), inode, "written in place");
    }
}

#[test]
fn an_append_to_a_large_file_takes_no_longer() {
    let made = Made::new();
    made.put("memory/large.md", "");
    let large = fs::File::options().write(true).open(made.at("memory/large.md")).expect("opened");
    large.set_len(100_000_000_000).expect("enlarged");
    large.write_all_at(b"end\n", 100_000_000_000 - 4).expect("written");
    drop(large);
    let begun = Instant::now();
    let added = made.files.append(&file("memory/large.md"), "one").expect("added");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(added.start, 100_000_000_000);
}

#[test]
fn many_threads_lose_nothing_and_interleave_nothing() {
    let made = Made::new();
    std::thread::scope(|threads| {
        for thread in 0..8 {
            let files = made.again();
            threads.spawn(move || add(&files, thread, 40));
        }
    });
    assert_all_there(&made.text("memory/day.md"), 8, 40);
    assert_eq!(made.count_in_home("appends"), 0);
}

#[test]
fn many_processes_lose_nothing_and_interleave_nothing() {
    const TEST: &str = "workspace::append::many_processes_lose_nothing_and_interleave_nothing";
    if let Some((folder, part)) = part() {
        add(&workspace(&folder), part.parse().expect("a number"), 25);
        return;
    }
    let made = Made::new();
    let binary = std::env::current_exe().expect("this binary");
    let children: Vec<_> = (0..8)
        .map(|number| {
            let mut command = child(&binary, TEST, made.folder.path(), &number.to_string());
            command.stdout(Stdio::null()).spawn().expect("started")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ended").success());
    }
    assert_all_there(&made.text("memory/day.md"), 8, 25);
}

/// Adds entries of very different lengths, some of many pages.
fn add(files: &impl Files, who: usize, count: usize) {
    for n in 0..count {
        let body = "x".repeat(if n % 10 == 0 { 50_000 } else { n });
        let entry = format!("begin {who} {n}\n{body}\nend {who} {n}");
        let added = files.append(&file("memory/day.md"), &entry).expect("added");
        let content = files.read(&file("memory/day.md"), u64::MAX).expect("read").expect("there").bytes;
        let start = usize::try_from(added.start).expect("small");
        assert!(content[start..].starts_with(entry.as_bytes()), "it begins where it says");
    }
}

fn assert_all_there(text: &str, who: usize, count: usize) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), who * count * 3, "every entry, once");
    let mut seen = std::collections::HashSet::new();
    for entry in lines.chunks(3) {
        let id = entry[0].strip_prefix("begin ").expect("a beginning");
        assert_eq!(entry[2], format!("end {id}"));
        assert!(entry[1].bytes().all(|byte| byte == b'x'));
        assert!(seen.insert(id), "{id} twice");
    }
}

#[test]
fn an_editor_that_puts_a_new_file_in_its_place_loses_nothing_that_comes_after() {
    let made = Made::new();
    made.put("memory/day.md", "start\n");
    let stop = AtomicBool::new(false);
    let (day, spare) = (made.at("memory/day.md"), made.at("memory/day.md.tmp"));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut saves = 0;
            while !stop.load(Ordering::Relaxed) {
                fs::write(&spare, format!("save {saves}\n")).expect("written");
                fs::rename(&spare, &day).expect("put there");
                saves += 1;
                std::thread::sleep(Duration::from_millis(fastrand::u64(..30)));
            }
        });
        let _stopping = Stop(&stop);
        for n in 0..100 {
            let added = made.files.append(&file("memory/day.md"), &format!("entry {n}"));
            assert!(added.is_ok(), "{added:?}");
        }
    });
    made.files.append(&file("memory/day.md"), "last").expect("added");
    let text = made.text("memory/day.md");
    assert!(text.starts_with("save ") && text.ends_with("last\n"), "{text}");
}

/// Leaves the files of a process that dies in the middle of an append.
fn leave_torn(made: &Made, name: &str, before: u64, lines: &[u8], written: usize) {
    let head = format!(
        r#"{{"file":{{"root":"{}","folder":"","name":"{name}"}},"start":{before}}}"#,
        HEXLOWER.encode(made.files.folder().as_os_str().as_encoded_bytes()),
    );
    let folder = made.in_home("appends");
    fs::create_dir_all(&folder).expect("made");
    let note = folder.join(format!("{:016x}", made.count_in_home("appends")));
    fs::write(note, [head.as_bytes(), b"\n", lines].concat()).expect("written");
    let mut file = fs::File::options().append(true).open(made.at(name)).expect("opened");
    file.write_all(&lines[..written]).expect("written");
}

const LINES: &[u8] = b"\n## 09:30\nwhat was to be written\n";

#[test]
fn what_a_dead_process_has_written_by_half_is_finished_by_whoever_comes_next() {
    type Next = fn(&Made);
    let nexts: [(&str, Next); 6] = [
        ("read", |made| assert!(made.files.read(&file("memory/day.md"), 1_000).is_ok())),
        ("stamp", |made| assert!(made.files.stamp(&file("memory/day.md")).is_ok())),
        ("list", |made| assert_eq!(names(&made.files, "memory").len(), 1)),
        ("append", |made| assert!(made.files.append(&file("memory/day.md"), "next").is_ok())),
        ("append beside", |made| assert!(made.files.append(&file("memory/other.md"), "x").is_ok())),
        ("replace", |made| {
            let digest = sha2_of(&[b"open line", LINES].concat());
            made.files.replace(&file("memory/day.md"), b"new\n", From::Digest(digest), None).expect("done");
        }),
    ];
    for (what, next) in nexts {
        for written in [1, 12, LINES.len() - 1] {
            let made = Made::new();
            made.put("memory/day.md", "open line");
            leave_torn(&made, "memory/day.md", 9, LINES, written);
            next(&made);
            let expected: &[&[u8]] = match what {
                "append" => &[b"open line", LINES, b"next\n"],
                "replace" => &[b"new\n"],
                _ => &[b"open line", LINES],
            };
            assert_eq!(made.bytes("memory/day.md"), expected.concat(), "{what} {written}");
            assert_eq!(made.count_in_home("appends"), 0, "{what} {written}");
        }
    }
}

fn sha2_of(bytes: &[u8]) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).into()
}

#[test]
fn what_was_written_whole_or_not_at_all_is_left_alone() {
    for written in [0, LINES.len()] {
        let made = Made::new();
        made.put("memory/day.md", "open line");
        leave_torn(&made, "memory/day.md", 9, LINES, written);
        let before = made.bytes("memory/day.md");
        made.files.read(&file("memory/day.md"), 1_000).expect("read");
        assert_eq!(made.bytes("memory/day.md"), before);
        assert_eq!(made.count_in_home("appends"), 0);
    }
}

#[test]
fn an_end_that_somebody_else_wrote_is_left_alone() {
    let afters: [(&[u8], &[u8]); 4] = [
        (b"open line", b"\n## 09:3x"),
        (b"open line", b"\n## 09:30 and a line of the user\n"),
        (b"short", b""),
        (b"another text altogether, which is longer than the other one", b""),
    ];
    for (before, end) in afters {
        let made = Made::new();
        made.put("memory/day.md", [before, end].concat());
        leave_torn(&made, "memory/day.md", 9, LINES, 0);
        made.files.read(&file("memory/day.md"), 1_000).expect("read");
        assert_eq!(made.bytes("memory/day.md"), [before, end].concat());
        assert_eq!(made.count_in_home("appends"), 0);
    }
}

#[test]
fn a_note_of_a_living_process_or_of_another_workspace_stays() {
    let made = Made::new();
    made.put("memory/day.md", "open line");
    leave_torn(&made, "memory/day.md", 9, LINES, 5);
    let note = made.in_home("appends/0000000000000000");
    let living = fs::File::open(&note).expect("opened");
    living.lock().expect("locked");
    made.files.read(&file("memory/day.md"), 1_000).expect("read");
    assert!(note.exists(), "somebody is about to finish it");
    assert_eq!(made.bytes("memory/day.md").len(), 14);
    drop(living);

    let home = tulving_store::Home::open_or_create(&made.in_home("")).expect("a home");
    let other = tulving_store::Workspace::open(&home, &made.outside("other"));
    other.append(&file("memory/day.md"), "x").expect("added");
    assert!(note.exists(), "it is not for this workspace");
    names(&made.files, "memory");
    assert!(!note.exists());
    assert_eq!(made.bytes("memory/day.md"), [b"open line", LINES].concat());
}

#[test]
fn without_a_note_nothing_is_written() {
    let made = Made::new();
    made.put("memory/day.md", "mine\n");
    fs::write(made.in_home("appends"), "not a folder").expect("written");
    made.files.append(&file("memory/day.md"), "x").expect_err("no note can be written");
    made.files.append(&file("memory/new.md"), "x").expect_err("no note can be written");
    assert_eq!(made.text("memory/day.md"), "mine\n");
    assert!(!made.at("memory/new.md").exists());
}

#[test]
fn a_process_that_is_killed_leaves_no_half_entry() {
    const TEST: &str = "workspace::append::a_process_that_is_killed_leaves_no_half_entry";
    if let Some((folder, part)) = part() {
        let files = workspace(&folder);
        for n in 0.. {
            let body = "x".repeat(300_000);
            let entry = format!("begin {part}.{n}\n{body}\nend {part}.{n}");
            files.append(&file("memory/day.md"), &entry).expect("added");
            let mut out = std::io::stdout();
            writeln!(out, "added {part}.{n}").and_then(|()| out.flush()).expect("said");
        }
    }
    let made = Made::new();
    let binary = std::env::current_exe().expect("this binary");
    let mut said = String::new();
    for round in 0..6 {
        let out = made.outside(&format!("out-{round}"));
        let mut command = child(&binary, TEST, made.folder.path(), &round.to_string());
        let out_file = fs::File::create(&out).expect("made");
        let mut child = command.stdout(out_file).stderr(Stdio::null()).spawn().expect("started");
        let begun = Instant::now();
        while !fs::read_to_string(&out).expect("there").contains("added ") {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing was added");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(fastrand::u64(..60)));
        child.kill().expect("killed");
        child.wait().expect("ended");
        said.push_str(&fs::read_to_string(&out).expect("there"));
    }
    made.files.append(&file("memory/day.md"), "begin last\n\nend last").expect("added");
    let text = made.text("memory/day.md");
    assert_all_there(&text, 1, text.lines().count() / 3);
    for added in said.lines().filter_map(|line| line.strip_prefix("added ")) {
        assert!(text.contains(&format!("end {added}\n")), "{added} was acknowledged");
    }
    assert_eq!(made.count_in_home("appends"), 0);
}
