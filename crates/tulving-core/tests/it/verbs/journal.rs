//! Journals: noting, reading and searching, and who may.

use tulving_core::files::Day;
use tulving_core::model::answer::UnreadableFile;
use tulving_core::model::error::{Error, FileError, Invalid};
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::{Role, SpaceKind};

use crate::bed::{Bed, refused, within};

#[track_caller]
fn snippets(bed: &Bed, caller: &Caller, query: &str, limit: usize) -> Vec<(String, String)> {
    let found = bed.engine.search_journals(caller, query, limit).expect("an answer");
    found.entries.into_iter().map(|hit| (hit.date.to_string(), hit.snippet)).collect()
}

fn today(bed: &Bed) -> Day {
    Day::of(bed.engine.now())
}

#[test]
fn what_is_noted_is_a_line_of_its_own_and_nothing_else_is_touched() {
    let bed = Bed::new();
    let user = bed.user();
    let name = format!("memory/{}", today(&bed).journal());
    let noted = bed.engine.remember(&user, " Prefers Postgres on Hetzner, not RDS.\n").expect("noted");
    assert_eq!((noted.entry.as_str(), noted.created), ("Prefers Postgres on Hetzner, not RDS.", true));
    assert_eq!(noted.path, name);
    let before = "by hand, without an end\r\n\todd  spaces";
    bed.edit(&user, &name, before);
    let noted = bed.engine.remember(&user, "two\nlines").expect("noted");
    assert!(!noted.created);
    let after = bed.files.content(&bed.path(&user, &name)).expect("a file");
    assert_eq!(after, format!("{before}\ntwo\n  lines\n"));
    let journal = bed.engine.journal(&user, today(&bed)).expect("read").expect("a journal");
    assert_eq!(journal.content, after);
    assert_eq!(bed.engine.journal(&user, today(&bed).before()).expect("read"), None);
    refused!(bed.engine.remember(&user, " \n "), Error::Invalid(Invalid::Empty { .. }));
}

#[test]
fn only_real_days_are_journals_and_the_newest_come_first() {
    let bed = Bed::new();
    let user = bed.user();
    for name in [
        "2026-05-25.md",
        "2026-05-27.md",
        "2026-05-26.md",
        "2026-02-30.md",
        "2026-05-27-notes.md",
        "MEMORY.md",
        "deep/2026-05-28.md",
    ] {
        bed.edit(&user, &format!("memory/{name}"), "an entry\n");
    }
    let dates: Vec<String> = bed
        .engine
        .journals(&user)
        .expect("journals")
        .journals
        .iter()
        .map(|journal| journal.date.to_string())
        .collect();
    assert_eq!(dates, ["2026-05-27", "2026-05-26", "2026-05-25"]);
    assert_eq!(snippets(&bed, &user, "ENTRY", 10).len(), 3);
    assert_eq!(snippets(&bed, &user, "entry", 2).len(), 2);
}

#[test]
fn a_text_of_several_lines_is_found_where_the_further_ones_are_indented() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "Deploys with make ship\r\n  on Tuesdays\r\n  at noon\r\n");
    bed.clock.advance(std::time::Duration::from_secs(60));
    for query in ["make ship\non Tuesdays", "MAKE SHIP\r\non tuesdays\r\nat noon"] {
        // The second time from the cache of the first.
        for _ in 0..2 {
            let found = snippets(&bed, &user, query, 5);
            assert_eq!(found.len(), 1, "{query:?}");
            assert_eq!(found[0].1, "Deploys with make ship\non Tuesdays\nat noon");
        }
    }
    assert_eq!(snippets(&bed, &user, "make ship\nat noon", 5), [], "not one below the other");
}

#[test]
fn what_a_list_of_journals_or_conversations_leaves_out_is_named() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-26.md", "an entry\n");
    bed.edit(&user, "conversations/2026-05-26-soup.md", "# Soup\n");
    for name in ["memory/2026-05-27.md", "conversations/2026-05-27-tea.md"] {
        bed.files.make_refused(&bed.path(&user, name));
    }
    let named = |unread: &[UnreadableFile]| unread.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
    let found = bed.engine.journals(&user).expect("journals");
    assert_eq!((found.journals.len(), named(&found.unread)), (1, vec!["memory/2026-05-27.md".to_owned()]));
    let found = bed.engine.conversations(&user).expect("conversations");
    let refused = vec!["conversations/2026-05-27-tea.md".to_owned()];
    assert_eq!((found.conversations.len(), named(&found.unread)), (1, refused));
}

#[test]
fn a_search_gives_the_entries_that_hold_the_text_newest_first_and_sees_edits() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-26.md", "Postgres runs at home\nsomething else\n");
    bed.edit(&user, "memory/2026-05-27.md", "first about postgres\nlast about POSTGRES 100%\n");
    let expected = [
        ("2026-05-27", "last about POSTGRES 100%"),
        ("2026-05-27", "first about postgres"),
        ("2026-05-26", "Postgres runs at home"),
    ]
    .map(|(date, text)| (date.to_owned(), text.to_owned()));
    assert_eq!(snippets(&bed, &user, "postgres", 5), expected);
    assert_eq!(snippets(&bed, &user, "0%", 5).len(), 1, "the text is taken as it is");
    assert_eq!(snippets(&bed, &user, "p_stgres", 5), []);
    bed.edit(&user, "memory/2026-05-26.md", "nothing here\n");
    assert_eq!(snippets(&bed, &user, "postgres", 5), expected[..2]);
    bed.files.set_broken(true);
    assert!(bed.engine.search_journals(&user, "postgres", 5).is_err());
}

#[test]
fn readers_read_writers_note_and_others_learn_nothing() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let writer = bed.member("writer", group, Role::Writer);
    let reader = bed.member("reader", group, Role::Reader);
    let stranger = within(&bed.person("stranger"), group);
    let nowhere = within(&stranger, tulving_core::model::id::SpaceId::mint(bed.engine.now()));
    bed.engine.remember(&writer, "the soup is ready").expect("noted");
    let day = today(&bed);
    assert!(bed.engine.journal(&reader, day).expect("read").is_some());
    assert_eq!(snippets(&bed, &reader, "soup", 5).len(), 1);
    assert_eq!(bed.engine.remember(&reader, "x").expect_err("refused").code(), "no_write_access");
    assert_eq!(
        bed.engine.replace_long_term(&reader, "x", None).expect_err("refused").code(),
        "no_write_access"
    );
    let asked = |caller: &Caller| {
        [
            bed.engine.journals(caller).map(drop),
            bed.engine.journal(caller, day).map(drop),
            bed.engine.search_journals(caller, "soup", 5).map(drop),
            bed.engine.remember(caller, "x").map(drop),
            bed.engine.long_term(caller).map(drop),
            bed.engine.replace_long_term(caller, "x", None).map(drop),
            bed.engine.files(caller).map(drop),
            bed.engine.file(caller, "x.md").map(drop),
            bed.engine.remove_file(caller, "x.md"),
            bed.engine.conversations(caller).map(drop),
            bed.engine.conversation(caller, "x").map(drop),
        ]
        .map(|result| {
            let error = result.expect_err("refused");
            (error.code(), error.to_string().replace(&caller.space.to_string(), "SPACE"))
        })
    };
    assert_eq!(asked(&stranger), asked(&nowhere));
}

#[test]
fn a_journal_that_cannot_be_read_is_named() {
    let bed = Bed::new();
    let user = bed.user();
    bed.files.set_broken(true);
    let error = bed.engine.remember(&user, "x").expect_err("refused");
    assert!(matches!(error, Error::File(FileError::Unusable { .. })), "{error:?}");
}
