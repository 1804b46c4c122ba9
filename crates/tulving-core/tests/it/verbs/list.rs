//! get, list and count.

use std::time::Duration;

use tulving_core::model::answer::{Cursor, Position};
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef};
use tulving_core::model::limits::Limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, Filter, ForgetMode, ListRequest, SaveRequest, Sort, happened};
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::{MemoryType, Role, State};
use tulving_text::when::TimeInput;

use crate::bed::{Bed, contents, keyed, listing, refused, said, within, words};

const SORTS: [Sort; 8] = [
    Sort::Newest,
    Sort::Oldest,
    Sort::Updated,
    Sort::Accessed,
    Sort::Importance,
    Sort::MostAccessed,
    Sort::Happened,
    Sort::Agenda,
];

fn fill(bed: &Bed, caller: &Caller, count: usize) -> Vec<MemoryId> {
    let one = |n: usize| SaveRequest {
        importance: Some((n % 5) as f64 / 5.0),
        ..SaveRequest::new(format!("memory {n}"))
    };
    (0..count).map(|n| bed.save(caller, one(n)).memory.id).collect()
}

fn pages(bed: &Bed, caller: &Caller, request: &ListRequest, mut between: impl FnMut(usize)) -> Vec<Memory> {
    let mut request = request.clone();
    let mut all = Vec::new();
    for page_number in 0.. {
        let page = bed.engine.list(caller, &request).expect("a page");
        assert!(page.memories.len() <= request.limit);
        all.extend(page.memories);
        let Some(next) = page.next else { break };
        request.cursor = Some(next.to_string().parse().expect("a cursor reads back"));
        between(page_number);
    }
    all
}

#[test]
fn a_number_that_is_not_there_is_named_with_the_space() {
    let bed = Bed::new();
    let user = bed.user();
    let error = bed.engine.get(&user, MemoryRef::Number(MemoryNumber(12))).expect_err("none");
    assert_eq!(error.to_string(), "there is no memory #12 in the space `default`");
    assert_eq!(error.code(), "not_found");
}

#[test]
fn every_order_can_be_paged_from_end_to_end() {
    let bed = Bed::new();
    let user = bed.user();
    let ids = fill(&bed, &user, 25);
    bed.engine.touch(&user, ids[3].into()).unwrap();
    bed.engine.flush().unwrap();
    for sort in SORTS {
        let whole = bed.engine.list(&user, &listing(sort, 1_000)).unwrap();
        assert_eq!((whole.memories.len(), whole.next), (25, None), "{sort:?}");
        for limit in [1, 4, 24, 25] {
            let paged = pages(&bed, &user, &listing(sort, limit), |_| ());
            assert_eq!(paged, whole.memories, "{sort:?} by {limit}");
        }
    }
}

#[test]
fn pages_neither_skip_nor_repeat_while_others_write() {
    for sort in SORTS {
        let bed = Bed::new();
        let user = bed.user();
        let ids = fill(&bed, &user, 40);
        let other = bed.beside();
        let paged = pages(&bed, &user, &listing(sort, 6), |page| {
            other.save(&user, SaveRequest::new(format!("new {page}"))).expect("a save in between");
            let at = page * 6;
            other
                .update(&user, ids[at].into(), &said(&format!("edited {page}")))
                .expect("an edit in between");
            other.touch(&user, ids[at + 1].into()).expect("a touch in between");
            other.flush().expect("written");
            let mut heavy = said(&format!("heavier {page}"));
            heavy.importance = Some(1.0);
            other.update(&user, ids[at + 2].into(), &heavy).expect("another edit");
            bed.forget(&user, ids[at + 3], ForgetMode::Hard);
        });
        let mut listed: Vec<MemoryId> = paged.iter().map(|memory| memory.id).collect();
        let all = listed.len();
        listed.sort();
        listed.dedup();
        assert_eq!(listed.len(), all, "{sort:?}: nothing twice");
        for (n, id) in ids.iter().enumerate() {
            let erased = n % 6 == 3 && n < 36;
            assert!(
                erased || listed.contains(id),
                "{sort:?}: memory {n} was there all the time and was skipped"
            );
        }
    }
}

#[test]
fn a_frozen_order_stays_when_what_it_is_by_changes() {
    let bed = Bed::new();
    let user = bed.user();
    let ids = fill(&bed, &user, 10);
    let before = bed.engine.list(&user, &listing(Sort::Importance, 1_000)).unwrap();
    let order: Vec<MemoryId> = before.memories.iter().map(|memory| memory.id).collect();
    let paged = pages(&bed, &user, &listing(Sort::Importance, 3), |page| {
        let mut heavy = said(&format!("heavier {page}"));
        heavy.importance = Some(1.0);
        bed.update(&user, ids[page], &heavy);
    });
    assert_eq!(paged.iter().map(|memory| memory.id).collect::<Vec<_>>(), order);
    let last = paged.iter().find(|memory| memory.id == ids[0]).expect("listed");
    assert_eq!(last.fields.text.content, "heavier 0", "each memory is given as it is when its page is");
}

#[test]
fn a_cursor_is_good_for_its_own_list_only() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let user = within(&bed.user(), hub);
    let other = bed.member("other", hub, Role::Reader);
    fill(&bed, &user, 10);
    for sort in [Sort::Newest, Sort::Updated] {
        let first = bed.engine.list(&user, &listing(sort, 3)).unwrap();
        let cursor = first.next;
        let next = ListRequest { cursor, ..listing(sort, 3) };
        let mut filtered = next.clone();
        filtered.filter.types = vec![MemoryType::Fact];
        let sorted = ListRequest { sort: Sort::Oldest, ..next.clone() };
        for (wrong, caller) in [(&filtered, &user), (&sorted, &user), (&next, &other)] {
            refused!(bed.engine.list(caller, wrong), Error::Invalid(Invalid::Cursor { .. }));
        }
        let larger = ListRequest { limit: 5, ..next.clone() };
        assert_eq!(
            bed.engine.list(&user, &larger).unwrap().memories.len(),
            5,
            "the size of a page may change"
        );
    }
}

#[test]
fn a_made_up_place_in_a_frozen_order_is_refused() {
    let bed = Bed::new();
    let user = bed.user();
    fill(&bed, &user, 5);
    let first = bed.engine.list(&user, &listing(Sort::Updated, 2)).unwrap();
    let last = &first.memories[1];
    let forged = Cursor {
        position: Position::After(last.usage.created_at, last.id),
        ..first.next.expect("there is more")
    };
    let request = ListRequest { cursor: Some(forged), ..listing(Sort::Updated, 2) };
    refused!(bed.engine.list(&user, &request), Error::Invalid(Invalid::Cursor { .. }));
}

#[test]
fn a_frozen_order_expires() {
    let bed = Bed::new();
    let user = bed.user();
    fill(&bed, &user, 5);
    let first = bed.engine.list(&user, &listing(Sort::Accessed, 2)).unwrap();
    let next = ListRequest { cursor: first.next, ..listing(Sort::Accessed, 2) };
    bed.clock.advance(Duration::from_secs(3_500));
    assert_eq!(bed.engine.list(&user, &next).unwrap().memories.len(), 2);
    bed.clock.advance(Duration::from_secs(200));
    assert_eq!(words(bed.engine.list(&user, &next)), "the cursor has expired");
}

#[test]
fn a_page_holds_from_one_to_a_thousand() {
    let bed = Bed::new();
    let user = bed.user();
    for limit in [0, 1_001, usize::MAX] {
        refused!(
            bed.engine.list(&user, &listing(Sort::Newest, limit)),
            Error::Invalid(Invalid::OutsideRange { .. })
        );
    }
}

#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    let bed = Bed::new();
    let user = bed.user();
    let at = Timestamp::from_micros;
    for until in [at(5), at(4)] {
        let saved = Filter { since: Some(at(5)), until: Some(until), ..Filter::default() };
        let (since, until) = (TimeInput::At(at(5)), TimeInput::At(until));
        let timed = happened(Some(&since), Some(&until), &Zone::default(), bed.engine.now());
        let happened = Filter { timed: timed.into_iter().collect(), ..Filter::default() };
        for filter in [saved, happened] {
            refused!(bed.engine.count(&user, &filter), Error::Invalid(Invalid::NoTimeBetween { .. }));
            let request = ListRequest { filter, ..listing(Sort::Newest, 10) };
            refused!(bed.engine.list(&user, &request), Error::Invalid(Invalid::NoTimeBetween { .. }));
        }
    }
}

#[test]
fn count_and_list_agree() {
    let bed = Bed::new();
    let user = bed.user();
    fill(&bed, &user, 7);
    let mut request = listing(Sort::Newest, 100);
    request.filter.substring = Some("memory 3".to_owned());
    assert_eq!(bed.engine.count(&user, &request.filter).unwrap(), 1);
    assert_eq!(bed.engine.list(&user, &request).unwrap().memories.len(), 1);
}

#[test]
fn a_filter_with_more_tags_than_a_memory_can_have_is_refused() {
    let bed = Bed::new();
    let filter = Filter { tags: vec!["t".to_owned(); 10_000], ..Filter::default() };
    refused!(bed.engine.count(&bed.user(), &filter), Error::Invalid(Invalid::TooMany { .. }));
}

#[test]
fn words_that_look_the_same_find_the_same() {
    let bed = Bed::new();
    let user = bed.user();
    let (composed, apart) = ("t\u{e9}g", "te\u{301}g");
    bed.save(&user, SaveRequest { tags: Some(vec![apart.to_owned()]), ..keyed(apart, "x") });
    for form in [composed, apart] {
        let filter = Filter { tags: vec![form.to_owned()], key: Some(form.to_owned()), ..Filter::default() };
        assert_eq!(bed.engine.count(&user, &filter).unwrap(), 1, "{form}");
    }
}

#[test]
fn a_page_of_long_contents_is_shorter_and_nothing_is_skipped() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 0..40 {
        bed.save(&user, format!("{n} {}", "x".repeat(300_000)).as_str());
    }
    for sort in [Sort::Newest, Sort::Importance] {
        let mut request = listing(sort, 1_000);
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let page = bed.engine.list(&user, &request).unwrap();
            // A page ends with the memory that reaches four million bytes.
            assert!(page.memories.len() <= 14, "{} memories of 300 KB", page.memories.len());
            seen.extend(page.memories.into_iter().map(|memory| memory.id));
            pages += 1;
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => break,
            }
        }
        let distinct: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (40, 40), "{sort:?} in {pages} pages");
    }
}

#[test]
fn a_memory_that_is_longer_than_an_answer_is_given_by_itself_and_its_page_leads_on() {
    let bed = Bed::new().with_limits(Limits { answer_bytes: 50, ..Limits::default() });
    let user = bed.user();
    let long = "a long memory ".repeat(20);
    for content in ["one", long.trim(), "two", "three"] {
        bed.save(&user, content);
    }
    for sort in [Sort::Oldest, Sort::Importance] {
        let mut request = listing(sort, 1_000);
        let mut pages = Vec::new();
        loop {
            let page = bed.engine.list(&user, &request).unwrap();
            assert!(!page.memories.is_empty(), "{sort:?}: every page leads on by a memory");
            pages.push(page.memories.len());
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
        }
        assert_eq!(pages.iter().sum::<usize>(), 4, "{sort:?}: {pages:?}");
        assert_eq!(pages.len(), 2, "{sort:?}: {pages:?}");
    }
}

#[test]
fn the_last_memory_of_a_heavy_page_has_no_cursor_to_an_empty_one() {
    let bed = Bed::new().with_limits(Limits { answer_bytes: 5, ..Limits::default() });
    let user = bed.user();
    bed.save(&user, "just one memory");
    for sort in [Sort::Newest, Sort::Updated] {
        let page = bed.engine.list(&user, &listing(sort, 10)).unwrap();
        assert_eq!((page.memories.len(), page.next), (1, None), "{sort:?}");
    }
}

#[test]
fn a_state_that_was_named_four_times_let_through_what_has_expired() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(
        &user,
        SaveRequest { expires_at: Some(Timestamp::from_micros(1)), ..SaveRequest::new("gone by") },
    );
    bed.save(&user, "here");
    for times in [1, 4] {
        let filter = Filter { states: vec![State::Active; times], ..Filter::default() };
        let page =
            bed.engine.list(&user, &ListRequest { filter, ..listing(Sort::Newest, 10) }).expect("a page");
        assert_eq!(contents(&page), ["here"], "{times}");
    }
}
