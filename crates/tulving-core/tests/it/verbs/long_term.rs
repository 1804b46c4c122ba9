//! Long-term memory: read, replaced, brought back.

use tulving_core::model::error::{Error, FileError};

use crate::bed::{Bed, refused};

#[test]
fn a_replacement_of_what_has_changed_is_refused() {
    let bed = Bed::new();
    let user = bed.user();
    let none = bed.engine.long_term(&user).expect("read");
    assert_eq!((none.content.as_str(), none.digest.as_deref()), ("", None));
    let first = bed.engine.replace_long_term(&user, "- one\n", Some("")).expect("made");
    refused!(
        bed.engine.replace_long_term(&user, "- other\n", Some("")),
        Error::File(FileError::Changed { .. })
    );
    bed.edit(&user, "memory/MEMORY.md", "- one\n- by hand\n");
    for seen in [first.digest.as_deref(), Some("no digest")] {
        refused!(
            bed.engine.replace_long_term(&user, "- two\n", seen),
            Error::File(FileError::Changed { .. })
        );
    }
    assert_eq!(bed.engine.long_term(&user).expect("read").content, "- one\n- by hand\n");
    let seen = bed.engine.long_term(&user).expect("read").digest;
    let now = bed.engine.replace_long_term(&user, "- two\n", seen.as_deref()).expect("replaced");
    assert_eq!(now.content, "- two\n");
    assert_eq!(now.path, "memory/MEMORY.md");
}

#[test]
fn what_it_said_is_kept_and_can_be_brought_back() {
    let bed = Bed::new();
    let user = bed.user();
    for text in ["one", "two", "three"] {
        bed.clock.advance(std::time::Duration::from_secs(1));
        bed.engine.replace_long_term(&user, text, None).expect("replaced");
    }
    let history = bed.engine.long_term_history(&user).expect("a history");
    let texts: Vec<String> = history
        .iter()
        .map(|previous| bed.engine.long_term_before(&user, &previous.id).expect("a text"))
        .collect();
    assert_eq!(texts, ["two", "one"]);
    bed.clock.advance(std::time::Duration::from_secs(1));
    let now = bed.engine.restore_long_term(&user, &history[1].id).expect("restored");
    assert_eq!(now.content, "one");
    assert_eq!(bed.engine.long_term_history(&user).expect("a history").len(), 3, "three is kept too");
    for unknown in ["", "../../x", "2026-05-27T09-30-00.000000Z"] {
        refused!(bed.engine.restore_long_term(&user, unknown), Error::File(FileError::Absent { .. }));
    }
}
