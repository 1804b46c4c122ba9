use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use tulving_core::model::error::FileError;
use tulving_core::ports::Files;

use super::made::{Made, Stop, file};

#[test]
fn a_file_is_read_with_its_stamp() {
    let made = Made::new();
    made.put("memory/a.md", b"\xffnot text\r\n");
    let path = file("memory/a.md");
    let content = made.files.read(&path, 11).expect("read").expect("there");
    assert_eq!(content.bytes, b"\xffnot text\r\n");
    assert_eq!(Some(content.stamp), made.files.stamp(&path).expect("seen"));
    assert_eq!(content.stamp.size, 11);
    assert_eq!(made.files.read(&file("memory/none.md"), 10).expect("read"), None);
    assert_eq!(made.files.read(&file("none/a.md"), 10).expect("read"), None);

    fs::write(made.at("memory/a.md"), "changed").expect("written");
    assert_ne!(Some(content.stamp), made.files.stamp(&path).expect("seen"));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let made = Made::new();
    made.put("memory/a.md", "12345");
    let error = made.files.read(&file("memory/a.md"), 4).expect_err("too large");
    assert_eq!(error, FileError::TooLarge { path: "memory/a.md".into(), size: 5, limit: 4 });
    assert!(made.files.read(&file("memory/a.md"), 5).is_ok());
    made.put("memory/empty.md", "");
    assert!(made.files.read(&file("memory/empty.md"), 0).expect("read").expect("there").bytes.is_empty());
}

#[test]
fn a_file_that_is_put_in_place_as_a_whole_is_read_as_a_whole() {
    let made = Made::new();
    let content = |letter: char| letter.to_string().repeat(200_000);
    made.put("memory/a.md", content('a'));
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let spare = made.at("memory/spare");
            for letter in ('a'..='z').cycle() {
                fs::write(&spare, content(letter)).expect("written");
                fs::rename(&spare, made.at("memory/a.md")).expect("put there");
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let _stopping = Stop(&stop);
        for _ in 0..200 {
            let read = made.files.read(&file("memory/a.md"), 300_000).expect("read").expect("there");
            assert_eq!(read.bytes.len(), 200_000);
            assert!(read.bytes.iter().all(|byte| *byte == read.bytes[0]), "of one state");
        }
    });
}

#[test]
fn a_file_that_grows_beyond_the_limit_while_it_is_read_is_too_large() {
    let made = Made::new();
    made.put("memory/a.md", "");
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            use std::io::Write as _;
            let mut growing = fs::File::options().append(true).open(made.at("memory/a.md")).expect("opened");
            while !stop.load(Ordering::Relaxed) {
                growing.write_all(&[b'x'; 4_096]).expect("written");
                if growing.metadata().expect("there").len() > 4_000_000 {
                    growing.set_len(0).expect("emptied");
                }
            }
        });
        let _stopping = Stop(&stop);
        for _ in 0..300 {
            match made.files.read(&file("memory/a.md"), 1_000_000) {
                Ok(Some(content)) => assert!(content.bytes.len() <= 1_000_000),
                Err(FileError::TooLarge { size, limit, .. }) => assert!(size > limit),
                other => panic!("{other:?}"),
            }
        }
    });
}
