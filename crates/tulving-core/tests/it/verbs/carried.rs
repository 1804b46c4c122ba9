//! A dump carries attachments and files into the home that loads it.

use tulving_core::Document;
use tulving_core::LoadOptions;
use tulving_core::model::file::{FilePath, Folder};
use tulving_core::model::record::{DumpPosition, FileRecord, PartRecord, Record};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_core::ports::{Objects, Transfer};

use crate::bed::{Bed, within};

/// Returns binary data that is longer than one part.
fn scan() -> Vec<u8> {
    b"%PDF-1.7\n\xff\xfe\x00".iter().copied().chain((0..700_000_u32).map(|n| (n % 251) as u8)).collect()
}

/// Creates a home with files of several sorts and an attachment.
fn filled() -> Bed {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "tea at four");
    bed.edit(&user, "memory/MEMORY.md", "# Memory\n\n- likes tea\n");
    bed.edit(&user, "memory/2026-05-27.md", "- noted\n".repeat(80_000));
    bed.edit(&user, "conversations/2026-05-27-hello.md", "# Hello\n");
    bed.edit(&user, "notes/own.md", "somebody's own file");
    let group = within(&user, bed.space("kitchen", SpaceKind::Group));
    bed.edit(&group, "recipes/soup.md", "");
    let document =
        Document { name: Some("scan.pdf".to_owned()), bytes: scan(), about: SaveRequest::default() };
    bed.engine.push(&user, document).expect("pushed");
    bed
}

fn dumped(bed: &Bed) -> Vec<Record> {
    let (mut records, mut position) = (Vec::new(), Some(DumpPosition::default()));
    while let Some(at) = position {
        let (page, next) = bed.engine.dump(&bed.user(), at, 100).expect("a page");
        records.extend(page);
        position = next;
    }
    records
}

/// Returns the files that are kept for memory.
fn kept(bed: &Bed) -> Vec<(String, String)> {
    let mut files = bed.files.all();
    files.retain(|(path, _)| path != "notes/own.md");
    files.sort();
    files
}

fn attachment(bed: &Bed) -> Option<Vec<u8>> {
    let keys = bed.store.attached(None, 10).expect("read");
    bed.objects.get(keys.first()?).expect("readable")
}

fn recounted(mut records: Vec<Record>) -> Vec<Record> {
    let count = records.iter().filter(|record| !record.is_frame()).count();
    *records.last_mut().expect("an end") = Record::End { records: count as u64 };
    records
}

#[test]
fn attachments_and_files_go_with_a_dump() {
    let from = filled();
    let records = dumped(&from);
    let Record::Dump { format: 3, holds, left_out, .. } = &records[0] else { panic!("{:?}", records[0]) };
    assert_eq!(holds.len(), 3, "{holds:?}");
    assert!(left_out.contains(&"tokens".to_owned()), "{left_out:?}");
    let parts = records.iter().filter(|record| matches!(record, Record::Attachment(_))).count();
    assert_eq!(parts, 3, "700 kB in parts of 256 KiB");
    let to = Bed::new();
    let report = to.load(records.clone());
    assert_eq!((report.memories, report.files, report.attachments), (2, 4, 1));
    assert_eq!(report.left_out_of_dump, *left_out);
    assert_eq!(kept(&to), kept(&from));
    assert_eq!(kept(&to).len(), 4);
    assert_eq!(attachment(&to), Some(scan()));
    let again = to.load(records);
    assert_eq!(
        (again.files, again.files_present, again.attachments, again.attachments_present),
        (0, 4, 0, 1)
    );
}

#[test]
fn a_file_that_is_here_and_differs_stays_and_is_named() {
    let to = Bed::new();
    to.edit(&to.user(), "memory/MEMORY.md", "# Mine\n");
    let report = to.load(dumped(&filled()));
    assert_eq!(report.files_differ, ["memory/MEMORY.md"]);
    assert_eq!(report.files, 3);
    let path = FilePath::new(&Folder::parse("").expect("the workspace"), "memory/MEMORY.md").expect("a path");
    assert_eq!(to.files.content(&path).as_deref(), Some("# Mine\n"));
}

#[test]
fn an_attachment_that_is_gone_is_named_in_the_dump_and_by_the_load() {
    let from = filled();
    let key = from.store.attached(None, 10).expect("read").pop().expect("an attachment");
    from.objects.remove(&key).expect("removed");
    let records = dumped(&from);
    let missing = |record: &Record| matches!(record, Record::Missing { what, .. } if what.contains(&key));
    assert!(records.iter().any(missing), "it is named");
    let report = Bed::new().load(records);
    assert_eq!(report.missing.len(), 1);
    assert_eq!(report.attachments_missing, ["scan.pdf"]);
}

#[test]
fn a_dump_of_before_says_which_attachments_are_missing() {
    let mut records = filled().dump();
    records.retain(|record| !record.is_frame());
    assert_eq!(Bed::new().load(records).attachments_missing, ["scan.pdf"]);
}

/// A manipulation of the parts of a dump.
type RecordsTampering = fn(&mut Vec<Record>);

fn first_file(records: &mut [Record]) -> &mut FileRecord {
    let found = records.iter_mut().find_map(|record| match record {
        Record::File(file) => Some(file),
        _ => None,
    });
    found.expect("a file")
}

fn first_part(records: &mut [Record]) -> &mut PartRecord {
    let found = records.iter_mut().find_map(|record| match record {
        Record::Attachment(part) => Some(part),
        _ => None,
    });
    found.expect("an attachment")
}

#[test]
fn files_that_are_not_whole_or_lead_elsewhere_are_refused_and_leave_nothing() {
    let tampered: [(&str, RecordsTampering); 7] = [
        ("does not match its hash", |records| first_file(records).part.data = "dGVh".repeat(9)),
        ("not base64", |records| first_part(records).data = "?".to_owned()),
        ("is not a SHA-256", |records| first_part(records).hash = "../../etc".to_owned()),
        ("a part of the attachment", |records| {
            let second = records
                .iter()
                .position(|record| matches!(record, Record::Attachment(part) if part.offset > 0));
            records.remove(second.expect("a second part"));
        }),
        ("lead out of the folder", |records| {
            let last = records.len() - 2;
            if let Record::File(file) = &mut records[last] {
                file.path = "../escaped.md".to_owned();
            }
        }),
        ("keeps only files below memory/ and conversations/", |records| {
            first_file(records);
            for record in records {
                if let Record::File(file) = record
                    && file.path == "conversations/2026-05-27-hello.md"
                {
                    file.path = "AGENTS.md".to_owned();
                }
            }
        }),
        ("more than a load accepts", |records| first_file(records).part.size = u64::MAX),
    ];
    let good = dumped(&filled());
    for (expected, change) in tampered {
        let mut records = good.clone();
        change(&mut records);
        let to = Bed::new();
        let before = dumped(&to);
        let refused = to.try_load(recounted(records), LoadOptions::default()).expect_err(expected);
        assert!(refused.to_string().contains(expected), "{expected}: {refused}");
        assert_eq!(dumped(&to), before);
        assert!(to.files.all().is_empty(), "{expected}");
        assert_eq!(to.objects.count(), 0, "{expected}");
    }
}
