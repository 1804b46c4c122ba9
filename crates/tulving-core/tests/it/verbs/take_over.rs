//! Journals of another workspace, imported repeatedly.

use std::sync::Barrier;

use tulving_core::files::journal_import::LongTermImportOutcome;
use tulving_core::model::error::Error;
use tulving_core::model::foreign::ForeignWorkspace;
use tulving_core::model::vocabulary::Role;

use crate::bed::{Bed, refused};

fn diary(journals: &[(&str, &[u8])], long_term: Option<&str>) -> ForeignWorkspace {
    ForeignWorkspace {
        long_term: long_term.map(|text| text.as_bytes().to_vec()),
        journals: journals.iter().map(|(name, text)| ((*name).to_owned(), text.to_vec())).collect(),
        ..ForeignWorkspace::default()
    }
}

#[test]
fn journals_get_what_they_lack_and_lose_nothing() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-26.md", "here\nin both\n");
    bed.edit(&user, "memory/2026-05-27.md", [0xff, 0xfe]);
    let theirs = || {
        diary(
            &[
                ("2026-05-25.md", b"only there\r\n"),
                ("2026-05-26.md", b"in both\n- there\n  and more\n"),
                ("2026-05-27.md", b"text"),
                ("notes.md", b"no journal"),
            ],
            Some("known there"),
        )
    };
    let described = bed.engine.take_journals(&user, theirs(), true).expect("told");
    assert_eq!(bed.engine.journals(&user).expect("journals").journals.len(), 2, "a dry run writes nothing");
    let taken = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!(taken, described);
    assert_eq!((taken.new, taken.extended, taken.entries, taken.skipped.len()), (1, 1, 1, 2));
    assert_eq!(taken.long_term, Some(LongTermImportOutcome::New));
    let journal = |day: &str| {
        let day = day.parse().expect("a day");
        bed.engine.journal(&user, day).expect("read").expect("a journal").content
    };
    assert_eq!(journal("2026-05-25"), "only there\r\n", "as it is there");
    assert_eq!(journal("2026-05-26"), "here\nin both\n- there\n  and more\n");
    let again = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!((again.new, again.extended, again.known), (0, 0, 2));
    assert_eq!(again.long_term, Some(LongTermImportOutcome::Known));
    bed.edit(&user, "memory/MEMORY.md", "known here");
    let left = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!(left.long_term, Some(LongTermImportOutcome::Left));
    assert_eq!(bed.engine.long_term(&user).expect("read").content, "known here");
}

#[test]
fn a_long_term_memory_that_cannot_be_read_holds_up_no_journal() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "x".repeat((8 << 20) + 1));
    let theirs = diary(&[("2026-05-25.md", b"only there\n")], Some("known there"));
    let taken = bed.engine.take_journals(&user, theirs, false).expect("taken over");
    assert_eq!((taken.new, taken.long_term), (1, None));
    assert_eq!(taken.skipped[0].what, "MEMORY.md");
}

#[test]
fn two_who_take_over_the_same_journals_at_once_add_each_entry_once() {
    const DAYS: usize = 1_000;
    let bed = Bed::new();
    let user = bed.user();
    let name = |n: usize| format!("{:04}-01-01.md", 1_000 + n);
    for n in 0..DAYS {
        bed.edit(&user, &format!("memory/{}", name(n)), "here\n");
    }
    let (other, start) = (bed.beside(), Barrier::new(2));
    std::thread::scope(|scope| {
        for engine in [&bed.engine, &other] {
            let (user, start) = (&user, &start);
            scope.spawn(move || {
                for n in 0..DAYS {
                    let theirs = diary(&[(&name(n), b"there\n")], None);
                    start.wait();
                    engine.take_journals(user, theirs, false).expect("taken over");
                }
            });
        }
    });
    for n in 0..DAYS {
        let path = bed.path(&user, &format!("memory/{}", name(n)));
        assert_eq!(bed.files.content(&path).as_deref(), Some("here\nthere\n"), "{path}");
    }
}

#[test]
fn journals_are_for_those_who_may_write() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let reader = bed.member("reader", hub, Role::Reader);
    let denied = bed.engine.take_journals(&reader, diary(&[("2026-05-25.md", b"x")], None), false);
    refused!(denied, Error::Denied { need: Role::Writer, .. });
    assert!(bed.engine.journals(&reader).expect("journals").journals.is_empty());
}
