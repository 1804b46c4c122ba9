//! Documents: text is stored directly, other files as attachments whose text is read later.

use std::time::Duration;

use tulving_core::model::answer::{Receipt, SaveOutcome, Warning};
use tulving_core::model::error::{Error, ExtractError, Invalid, ObjectError};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, ForgetMode, SaveRequest, UpdateRequest};
use tulving_core::model::vocabulary::{ContentType, Derivable, JobState, Role, State};
use tulving_core::ports::{ExtractedText, Objects};
use tulving_core::{Document, JobResult};
use tulving_testkit::objects::hash;
use tulving_text::chunk::ContentForm;

use crate::bed::{Bed, refused, said};

/// Binary data that begins as a PDF.
const PDF: &[u8] = b"%PDF-1.7\n\xff\xfe\x00 first";
const OTHER_PDF: &[u8] = b"%PDF-1.7\n\xff\xfe\x00 second";
const KIND: &str = "application/pdf";

fn document(name: &str, bytes: &[u8]) -> Document {
    Document { name: Some(name.to_owned()), bytes: bytes.to_vec(), about: SaveRequest::default() }
}

fn from_path(path: &str, bytes: &[u8]) -> Document {
    let about = SaveRequest { source_path: Some(path.to_owned()), ..SaveRequest::default() };
    Document { name: Some(path.to_owned()), bytes: bytes.to_vec(), about }
}

#[track_caller]
fn push(bed: &Bed, caller: &Caller, document: Document) -> Receipt {
    match bed.engine.push(caller, document) {
        Ok(receipt) => receipt,
        Err(error) => panic!("not pushed: {error}"),
    }
}

fn work(bed: &Bed) -> Option<JobResult> {
    bed.engine.process_waiting("worker").expect("work")
}

fn trouble(memory: &Memory) -> Option<&str> {
    memory.provenance.attachment.as_ref()?.trouble.as_deref()
}

#[test]
fn text_is_a_memory_in_the_form_that_its_name_tells() {
    let bed = Bed::new();
    let user = bed.user();
    let receipt = push(&bed, &user, document("notes/deploy.md", b"# Deploy\n\nRun the script."));
    assert_eq!((receipt.outcome, receipt.memory.status.state), (SaveOutcome::Created, State::Active));
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!(memory.fields.text.content_type, ContentType::Markdown);
    assert_eq!(memory.fields.text.title.as_deref(), Some("Deploy"));
    assert!(memory.fields.auto.has(Derivable::Title));
    let code = push(&bed, &user, document("main.rs", b"fn main() {}\n"));
    let code = bed.get(&user, code.memory.id);
    assert_eq!(
        code.fields.text.form(),
        ContentForm { content_type: ContentType::Code, language: Some("rust") }
    );
    assert_eq!(work(&bed), None, "nothing has to be done for texts");
}

#[test]
fn what_is_not_valid_is_a_text_with_a_note() {
    let bed = Bed::new();
    let good = push(&bed, &bed.user(), document("good.json", br#"{"port": 7777}"#));
    assert_eq!(bed.get(&bed.user(), good.memory.id).fields.text.content_type, ContentType::Structured);
    let wrong = push(&bed, &bed.user(), document("wrong.json", br#"{"port": "#));
    assert_eq!(bed.get(&bed.user(), wrong.memory.id).fields.text.content_type, ContentType::Text);
    assert_eq!(wrong.warnings.len(), 1, "{:?}", wrong.warnings);
}

#[test]
fn fields_above_a_text_that_cannot_be_read_stay_in_it_and_are_said() {
    let bed = Bed::new();
    let user = bed.user();
    let wrong = push(&bed, &user, document("a.md", b"---\ntitle: [open\n---\n\nThe text."));
    assert_eq!(wrong.warnings.len(), 1, "{:?}", wrong.warnings);
    let note = wrong.warnings[0].to_string();
    assert!(note.starts_with("the fields above the text are not valid YAML"), "{note}");
    assert!(bed.get(&user, wrong.memory.id).fields.text.content.starts_with("---"));
    for text in [
        &b"---\ntitle: Good\n---\n\nThe text."[..],
        b"---\n\nA line: [across\n\n---\n",
        b"---\n- [ ] a: task\n---\n",
    ] {
        let receipt = push(&bed, &user, document("b.md", text));
        assert_eq!(receipt.warnings, [], "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_revert_says_that_the_file_stays() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "the first");
    let first = push(&bed, &user, from_path("/d/a.pdf", PDF));
    assert!(work(&bed).is_some());
    bed.extractor.answer_text(KIND, "the second");
    push(&bed, &user, from_path("/d/a.pdf", OTHER_PDF));
    while work(&bed).is_some() {}
    let reverted = bed.engine.revert(&user, first.memory.id.into(), first.memory.version).expect("reverted");
    assert_eq!(reverted.memory.fields.text.content, "the first");
    let stays = Warning::FileStays { name: Some("a.pdf".to_owned()) };
    assert_eq!(reverted.warnings, [stays], "the file is still the second one");
    let text = bed.save(&user, "what was said");
    bed.update(&user, text.memory.id, &said("something else"));
    let reverted = bed.engine.revert(&user, text.memory.id.into(), text.memory.version).expect("reverted");
    assert_eq!(reverted.warnings, []);
}

#[test]
fn what_is_said_to_be_data_is_data_or_a_text_with_a_note() {
    let bed = Bed::new();
    let user = bed.user();
    let named = |content: &str, language: Option<&str>| SaveRequest {
        content_type: Some(ContentType::Structured),
        language: language.map(str::to_owned),
        ..SaveRequest::new(content)
    };
    let form = |receipt: &Receipt| {
        let text = bed.get(&user, receipt.memory.id).fields.text;
        (text.content_type, text.language, receipt.warnings.len())
    };
    let good = [
        ("{\"port\": 7777}", "json"),
        ("{\"a\": 1}\n{\"a\": 2}", "jsonl"),
        ("port = 7777", "toml"),
        ("port: 7777", "yaml"),
    ];
    for (content, language) in good {
        let receipt = bed.engine.save(&user, named(content, None)).expect("pushed");
        assert_eq!(form(&receipt), (ContentType::Structured, Some(language.to_owned()), 0), "{content}");
    }
    for (content, language) in
        [("{\"port\": ", None), ("Ports are numbers.", None), ("port: 7778", Some("json"))]
    {
        let receipt = bed.engine.save(&user, named(content, language)).expect("pushed");
        assert_eq!(form(&receipt), (ContentType::Text, None, 1), "{content}");
    }
    let about = named("", None);
    let file = push(&bed, &user, Document { about, ..document("wrong.json", b"{\"port\": 1,") });
    assert_eq!(form(&file), (ContentType::Text, None, 1));
    let code = SaveRequest { content_type: Some(ContentType::Code), ..SaveRequest::new("{\"port\"") };
    let receipt = bed.engine.save(&user, code).expect("pushed");
    assert_eq!(form(&receipt).0, ContentType::Code, "another form that is named is believed");
}

#[test]
fn the_text_of_a_file_is_read_by_a_job() {
    let bed = Bed::new();
    let user = bed.user();
    let text = "# The harbour\n\nShips come in at dawn.";
    let extracted = ExtractedText { text: text.to_owned(), by: "pdf", ..ExtractedText::default() };
    bed.extractor.answer(KIND, Ok(extracted));
    let receipt = push(&bed, &user, document("/home/ann/harbour.pdf", PDF));
    assert_eq!((receipt.outcome, receipt.memory.status.state), (SaveOutcome::Created, State::Processing));
    let before = bed.get(&user, receipt.memory.id);
    assert_eq!(before.fields.text.content, "harbour.pdf", "it is found by its name meanwhile");
    let done = work(&bed).expect("a job");
    assert_eq!((done.job.state, done.trouble), (JobState::Done, None));
    assert_eq!(bed.extractor.asked(), [(KIND.to_owned(), PDF.to_vec())]);
    let after = bed.get(&user, receipt.memory.id);
    assert_eq!(after.fields.text.content, text);
    assert_eq!(after.fields.text.title.as_deref(), Some("harbour.pdf"));
    assert_eq!((after.status.state, after.version), (State::Active, before.version), "no version");
    assert_eq!(after.fields.text.content_type, ContentType::File);
    let (attachment, bytes) = bed.engine.attachment(&user, receipt.memory.id.into()).expect("the file");
    assert_eq!((attachment.name.as_deref(), bytes.as_slice()), (Some("harbour.pdf"), PDF));
    assert_eq!(work(&bed), None);
}

#[test]
fn the_title_inside_of_a_file_is_its_title_unless_one_was_given() {
    let bed = Bed::new();
    let extracted = ExtractedText {
        text: "Some text.".to_owned(),
        title: Some("Inside".to_owned()),
        by: "pdf",
        ..ExtractedText::default()
    };
    bed.extractor.answer(KIND, Ok(extracted));
    let plain = push(&bed, &bed.user(), document("a.pdf", PDF));
    let about = SaveRequest { title: Some("Given".to_owned()), ..SaveRequest::default() };
    let named = push(&bed, &bed.user(), Document { about, ..document("b.pdf", OTHER_PDF) });
    while work(&bed).is_some() {}
    let title = |receipt: &Receipt| bed.get(&bed.user(), receipt.memory.id).fields.text.title;
    assert_eq!(title(&plain).as_deref(), Some("Inside"));
    assert_eq!(title(&named).as_deref(), Some("Given"));
}

#[test]
fn a_file_that_cannot_be_read_costs_that_memory_its_text_and_nothing_else() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_next(Err(ExtractError::Encrypted));
    let receipt = push(&bed, &user, document("secret.pdf", PDF));
    let done = work(&bed).expect("a job");
    assert_eq!(done.job.state, JobState::Dead);
    assert_eq!(done.job.last_error.as_deref(), Some("the file is locked with a password"));
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!(memory.status.state, State::Active);
    assert_eq!(memory.fields.text.content, "secret.pdf");
    assert_eq!(trouble(&memory), Some("the file is locked with a password"));
    assert_eq!(work(&bed), None, "it is not tried again by itself");
    bed.extractor.answer_text(KIND, "now it opens");
    bed.engine.retry_job(&user, done.job.id).expect("again");
    assert!(work(&bed).is_some());
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!((memory.fields.text.content.as_str(), trouble(&memory)), ("now it opens", None));
}

#[test]
fn a_file_that_could_not_be_read_is_read_when_it_is_pushed_again() {
    let bed = Bed::new();
    let user = bed.user();
    let archive = [b"PK\x03\x04\x14\0\0\0\0\0", [0xff; 40].as_slice()].concat();
    let unnamed = Document { name: None, ..document("", &archive) };
    bed.extractor.answer_next(Err(ExtractError::Unsupported { media_type: "application/zip".to_owned() }));
    let first = push(&bed, &user, unnamed.clone());
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Dead);
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    bed.extractor.answer_text(word, "what it says");
    let again = push(&bed, &user, document("letter.docx", &archive));
    assert_eq!(
        (again.outcome, again.memory.id, again.memory.status.state),
        (SaveOutcome::Duplicate, first.memory.id, State::Processing)
    );
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    let memory = bed.get(&user, first.memory.id);
    let attachment = memory.provenance.attachment.as_ref().expect("a file");
    assert_eq!((attachment.name.as_deref(), attachment.media_type.as_str()), (Some("letter.docx"), word));
    assert_eq!((memory.fields.text.content.as_str(), trouble(&memory)), ("what it says", None));
    assert_eq!((memory.version, memory.status.state), (first.memory.version, State::Active));
    assert_eq!(bed.engine.jobs(&user, &[JobState::Dead], 9).expect("jobs"), [], "none is left given up");
    let known = push(&bed, &user, unnamed);
    assert_eq!(
        (known.outcome, known.memory.status.state),
        (SaveOutcome::Duplicate, State::Active),
        "what was read stays"
    );
    assert_eq!(work(&bed), None);
}

#[test]
fn a_path_whose_file_could_not_be_read_is_tried_by_the_next_push() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_next(Err(ExtractError::Encrypted));
    let first = push(&bed, &user, from_path("/d/a.pdf", PDF));
    assert!(work(&bed).is_some());
    bed.extractor.answer_text(KIND, "now it opens");
    let again = push(&bed, &user, from_path("/d/a.pdf", PDF));
    assert_eq!(
        (again.outcome, again.memory.id, again.memory.status.state),
        (SaveOutcome::Unchanged, first.memory.id, State::Processing)
    );
    assert!(work(&bed).is_some());
    assert_eq!(bed.get(&user, first.memory.id).fields.text.content, "now it opens");
}

#[test]
fn what_may_pass_is_tried_again_and_then_given_up() {
    let bed = Bed::new();
    let user = bed.user();
    let receipt = push(&bed, &user, document("a.pdf", PDF));
    for attempt in 1..=3 {
        bed.objects.fail(Some(ObjectError::Unreachable { why: "refused".to_owned() }));
        let done = work(&bed).expect("a job");
        let dead = attempt == 3;
        assert_eq!(done.job.state, if dead { JobState::Dead } else { JobState::Waiting });
        let state = bed.get(&user, receipt.memory.id).status.state;
        assert_eq!(state, if dead { State::Active } else { State::Processing });
        assert_eq!(work(&bed), None, "not before its time");
        bed.clock.advance(Duration::from_secs(3_600));
    }
    assert!(trouble(&bed.get(&user, receipt.memory.id)).is_some());
}

#[test]
fn the_same_file_is_one_memory_and_another_of_the_same_name_is_not() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "the same text in both");
    let first = push(&bed, &user, document("a.pdf", PDF));
    let again = push(&bed, &user, document("renamed.pdf", PDF));
    assert_eq!((again.outcome, again.memory.id), (SaveOutcome::Duplicate, first.memory.id));
    let other = push(&bed, &user, document("a.pdf", OTHER_PDF));
    assert_eq!(other.outcome, SaveOutcome::Created);
    while work(&bed).is_some() {}
    for receipt in [&first, &other] {
        assert_eq!(bed.get(&user, receipt.memory.id).fields.text.content, "the same text in both");
    }
    let typed = bed.save(&user, "the same text in both");
    assert_eq!(typed.outcome, SaveOutcome::Created, "what somebody says is not what a file says");
}

#[test]
fn a_file_that_changed_at_its_path_is_read_again_as_a_new_version() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_next(Ok(ExtractedText { text: "old text".to_owned(), ..ExtractedText::default() }));
    let first = push(&bed, &user, from_path("/d/a.pdf", PDF));
    assert!(work(&bed).is_some());
    let same = push(&bed, &user, from_path("/d/a.pdf", PDF));
    assert_eq!((same.outcome, same.memory.id), (SaveOutcome::Unchanged, first.memory.id));
    assert_eq!(work(&bed), None, "what has not changed is not read");
    bed.extractor.answer_next(Ok(ExtractedText { text: "new text".to_owned(), ..ExtractedText::default() }));
    let changed = push(&bed, &user, from_path("/d/a.pdf", OTHER_PDF));
    assert_eq!((changed.outcome, changed.memory.id), (SaveOutcome::Updated, first.memory.id));
    while work(&bed).is_some() {}
    let memory = bed.get(&user, first.memory.id);
    assert_eq!((memory.fields.text.content.as_str(), memory.version.0), ("new text", 2));
    assert_eq!(memory.provenance.attachment.expect("a file").hash, hash(OTHER_PDF));
    let text = push(&bed, &user, from_path("/d/a.pdf", b"now it is plain text"));
    let memory = bed.get(&user, text.memory.id);
    assert_eq!((memory.provenance.attachment, memory.status.state), (None, State::Active));
}

#[test]
fn a_link_is_stored_and_made_ready_and_nothing_is_fetched() {
    let bed = Bed::new();
    let user = bed.user();
    let url = "https://example.org/a/page";
    let receipt = bed.engine.save(&user, SaveRequest::new(url)).expect("a link");
    assert_eq!(receipt.memory.status.state, State::Processing);
    assert_eq!(bed.get(&user, receipt.memory.id).fields.text.content_type, ContentType::Link);
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!((memory.status.state, memory.fields.text.content.as_str()), (State::Active, url));
    assert!(bed.extractor.asked().is_empty());
}

#[test]
fn work_on_what_is_gone_or_was_changed_meanwhile_harms_nothing() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "text of the file");
    let gone = push(&bed, &user, document("a.pdf", PDF));
    bed.forget(&user, gone.memory.id, ForgetMode::Hard);
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    let edited = push(&bed, &user, document("b.pdf", OTHER_PDF));
    let title = UpdateRequest { title: Some(Some("Mine".to_owned())), ..UpdateRequest::default() };
    bed.update(&user, edited.memory.id, &title);
    assert!(work(&bed).is_some());
    let memory = bed.get(&user, edited.memory.id);
    assert_eq!(memory.fields.text.title.as_deref(), Some("Mine"));
    assert_eq!(memory.fields.text.content, "text of the file");
}

#[test]
fn a_file_goes_with_the_last_memory_of_it() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = crate::bed::within(&user, bed.hub("kitchen"));
    let here = push(&bed, &user, document("a.pdf", PDF));
    let there = push(&bed, &hub, document("a.pdf", PDF));
    assert_eq!(bed.objects.count(), 1, "the same bytes are kept once");
    bed.forget(&user, here.memory.id, ForgetMode::Hard);
    assert_eq!(bed.objects.count(), 1, "another memory describes it");
    bed.forget(&hub, there.memory.id, ForgetMode::Soft);
    assert_eq!(bed.objects.count(), 1, "it can be restored");
    bed.forget(&hub, there.memory.id, ForgetMode::Hard);
    assert_eq!(bed.objects.count(), 0);
}

#[test]
fn what_somebody_wrote_before_the_text_was_read_stays() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "text of the file");
    let edited = push(&bed, &user, document("a.pdf", PDF));
    bed.update(&user, edited.memory.id, &said("my own words"));
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    let memory = bed.get(&user, edited.memory.id);
    assert_eq!((memory.fields.text.content.as_str(), memory.status.state), ("my own words", State::Active));
    bed.extractor.answer(KIND, Err(ExtractError::Damaged { why: "cut off".to_owned() }));
    let unread = push(&bed, &user, document("b.pdf", OTHER_PDF));
    let dead = work(&bed).expect("a job").job;
    bed.update(&user, unread.memory.id, &said("my own words for it"));
    bed.extractor.answer_text(KIND, "text of the file");
    bed.engine.retry_job(&user, dead.id).expect("again");
    work(&bed).expect("a job");
    assert_eq!(bed.get(&user, unread.memory.id).fields.text.content, "my own words for it");
}

#[test]
fn work_that_is_begun_again_and_again_and_never_ends_is_given_up_and_said() {
    let bed = Bed::new();
    let user = bed.user();
    let receipt = push(&bed, &user, document("a.pdf", PDF));
    for _ in 0..3 {
        let lease = Duration::from_secs(300);
        bed.take_job("extract", "killed", lease).expect("due");
        bed.clock.advance(lease * 2);
    }
    let given_up = work(&bed).expect("a job").job;
    assert_eq!(given_up.state, JobState::Dead);
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!(memory.status.state, State::Active);
    assert_eq!(trouble(&memory), given_up.last_error.as_deref());
    assert!(trouble(&memory).is_some_and(|why| why.contains("never finished")));
}

#[test]
fn the_text_of_what_was_archived_or_forgotten_meanwhile_is_there_when_it_comes_back() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "text of the file");
    let archived = push(&bed, &user, document("a.pdf", PDF)).memory.id;
    let forgotten = push(&bed, &user, document("b.pdf", OTHER_PDF)).memory.id;
    bed.engine.archive(&user, archived.into()).expect("archived");
    bed.forget(&user, forgotten, ForgetMode::Soft);
    while work(&bed).is_some() {}
    assert_eq!(bed.get(&user, archived).status.state, State::Archived, "it stays where it was put");
    bed.engine.unarchive(&user, archived.into()).expect("back");
    bed.engine.restore(&user, forgotten.into()).expect("back");
    for id in [archived, forgotten] {
        let memory = bed.get(&user, id);
        assert_eq!(memory.fields.text.content, "text of the file");
        assert_eq!(memory.status.state, State::Active);
    }
}

#[test]
fn a_file_that_another_took_the_place_of_goes() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "text of the file");
    let first = push(&bed, &user, from_path("/d/a.pdf", PDF));
    while work(&bed).is_some() {}
    assert_eq!(push(&bed, &user, from_path("/d/a.pdf", OTHER_PDF)).memory.id, first.memory.id);
    while work(&bed).is_some() {}
    assert_eq!(bed.objects.count(), 1, "only the new one");
    assert_eq!(bed.engine.attachment(&user, first.memory.id.into()).expect("there").1, OTHER_PDF);
    bed.forget(&user, first.memory.id, ForgetMode::Hard);
    assert_eq!(bed.objects.count(), 0);
    let left = bed.engine.jobs(&user, &[JobState::Waiting], 10).expect("jobs");
    assert_eq!(left, [], "nothing is left to do");
}

#[test]
fn a_file_whose_memory_never_came_goes_when_nobody_is_keeping_one() {
    let bed = Bed::new();
    let user = bed.user();
    let somebody = bed.objects.keeping().expect("somebody is keeping a file");
    let about = SaveRequest { title: Some("t".repeat(10_000)), ..SaveRequest::default() };
    let refused = bed.engine.push(&user, Document { about, ..document("a.pdf", PDF) });
    refused!(refused, Error::Invalid(_));
    assert_eq!(bed.objects.count(), 1, "it may be the file of the other one");
    bed.clock.advance(Duration::from_secs(700));
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Waiting, "still");
    drop(somebody);
    assert_eq!(work(&bed), None, "not at once again");
    bed.clock.advance(Duration::from_secs(61));
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    assert_eq!(bed.objects.count(), 0);
    assert_eq!(bed.engine.jobs(&user, &[], 10).expect("jobs"), [], "nothing is known of it any more");
}

#[test]
fn what_was_erased_goes_also_where_its_place_was_away() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer_text(KIND, "text of the file");
    let receipt = push(&bed, &user, document("a.pdf", PDF));
    while work(&bed).is_some() {}
    bed.objects.fail(Some(ObjectError::Full));
    bed.forget(&user, receipt.memory.id, ForgetMode::Hard);
    assert_eq!(work(&bed).expect("a job").trouble, Some(ObjectError::Full.to_string()));
    bed.objects.fail(None);
    assert_eq!(bed.objects.count(), 1);
    bed.clock.advance(Duration::from_secs(60));
    assert_eq!(work(&bed).expect("a job").job.state, JobState::Done);
    assert_eq!(bed.objects.count(), 0);
}

#[test]
fn a_file_is_for_those_who_may_see_its_memory() {
    let bed = Bed::new();
    let hub = bed.hub("kitchen");
    let cook = bed.member("cook", hub, Role::Writer);
    let reader = bed.member("guest", hub, Role::Reader);
    let stranger = bed.person("stranger");
    let receipt = push(&bed, &cook, document("a.pdf", PDF));
    assert!(bed.engine.attachment(&reader, receipt.memory.id.into()).is_ok());
    refused!(bed.engine.attachment(&stranger, receipt.memory.id.into()), Error::NoMemory { .. });
    refused!(bed.engine.push(&reader, document("b.pdf", OTHER_PDF)), Error::Denied { .. });
    assert_eq!(bed.objects.count(), 1, "nothing is kept for who may not save");
    let text = bed.save(&cook, "no file");
    refused!(bed.engine.attachment(&cook, text.memory.id.into()), Error::NoAttachment { .. });
}

#[test]
fn a_file_that_is_too_large_or_cannot_be_kept_is_refused_and_leaves_nothing() {
    let bed = Bed::new();
    let huge = vec![0xff; 100_000_001];
    refused!(
        bed.engine.push(&bed.user(), document("a.bin", &huge)),
        Error::Invalid(Invalid::TooLong { got: 100_000_001, .. })
    );
    bed.objects.fail(Some(ObjectError::Full));
    refused!(bed.engine.push(&bed.user(), document("a.pdf", PDF)), Error::Object(ObjectError::Full));
    bed.objects.fail(None);
    assert_eq!((bed.contents(&bed.user()).len(), bed.objects.count()), (0, 0));
}

#[test]
fn no_caller_can_name_an_object_of_another() {
    let read: Result<SaveRequest, _> = serde_json::from_str(
        r#"{"content": "x", "attachment": {"object_key": "k", "media_type": "a/b", "size": 1, "hash": "00"}}"#,
    );
    assert!(read.is_err(), "an attachment is made by a push and by nothing else");
}
