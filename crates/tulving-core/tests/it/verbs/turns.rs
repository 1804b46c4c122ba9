//! Turns of conversations.

use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::request::{Caller, TurnFilter, TurnRequest};
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{Role, TurnRole};

use crate::bed::{Bed, refused, turn, within};

fn last(bed: &Bed, caller: &Caller, last: usize) -> Vec<Turn> {
    let filter = TurnFilter { last, ..TurnFilter::default() };
    bed.engine.turns(caller, &filter).expect("turns").turns
}

#[test]
fn a_turn_is_logged_with_what_was_said() {
    let bed = Bed::new();
    let user = bed.user();
    let request = TurnRequest {
        channel: Some("telegram:42".to_owned()),
        role: TurnRole::Assistant,
        speaker: Some("Max".to_owned()),
        content: "  hello\r\nthere ".to_owned(),
        source: Some("telegram".to_owned()),
    };
    let logged = bed.engine.log_turn(&user, &request).unwrap().turn;
    assert_eq!((logged.position, logged.content.as_str()), (1, "hello\nthere"));
    assert_eq!(last(&bed, &user, 10), [logged]);
    let bare = bed.engine.log_turn(&user, &turn("bare")).unwrap().turn;
    assert_eq!((bare.position, bare.source.as_str()), (2, "unknown"));
    let channel = TurnFilter { channel: Some("telegram:42".to_owned()), before: None, last: 10 };
    assert_eq!(bed.engine.turns(&user, &channel).unwrap().turns.len(), 1);
}

#[test]
fn a_turn_is_no_memory_and_a_memory_no_turn() {
    let bed = Bed::new();
    let user = bed.user();
    bed.engine.log_turn(&user, &turn("Fix the JWT expiry bug")).unwrap();
    assert_eq!(bed.contents(&user), [""; 0]);
    bed.save(&user, "Prefers TypeScript over JavaScript");
    assert_eq!(bed.contents(&user), ["Prefers TypeScript over JavaScript"]);
    assert_eq!(last(&bed, &user, 9).len(), 1);
}

#[test]
fn an_empty_turn_and_an_endless_one_are_refused() {
    let bed = Bed::new();
    let user = bed.user();
    refused!(bed.engine.log_turn(&user, &turn(" \n")), Error::Invalid(Invalid::Empty { .. }));
    refused!(
        bed.engine.log_turn(&user, &turn(&"x".repeat(10_000_001))),
        Error::Invalid(Invalid::TooLong { .. })
    );
    refused!(
        bed.engine.turns(&user, &TurnFilter { last: 0, ..TurnFilter::default() }),
        Error::Invalid(Invalid::OutsideRange { .. })
    );
}

#[test]
fn only_members_log_and_read() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [writer, reader] =
        [("writer", Role::Writer), ("reader", Role::Reader)].map(|(name, role)| bed.member(name, hub, role));
    let stranger = within(&bed.person("stranger"), hub);
    bed.engine.log_turn(&writer, &turn("hello")).unwrap();
    assert_eq!(last(&bed, &reader, 9).len(), 1);
    assert_eq!(last(&bed, &stranger, 9), []);
    for caller in [&reader, &stranger] {
        refused!(bed.engine.log_turn(caller, &turn("x")), Error::Denied { .. });
    }
}

#[test]
fn every_fifty_turns_the_log_is_cut_back_to_two_hundred() {
    let bed = Bed::new();
    let hub = within(&bed.user(), bed.hub("hub"));
    let other = bed.user();
    bed.engine.log_turn(&other, &turn("elsewhere")).unwrap();
    for n in 1..=300_u64 {
        let logged = bed.engine.log_turn(&hub, &turn(&format!("turn {n}"))).unwrap().turn;
        assert_eq!(logged.position, n);
        let kept = last(&bed, &hub, 1_000);
        let oldest = match n {
            ..250 => 1,
            250..300 => 51,
            _ => 101,
        };
        assert_eq!(kept.first().map(|turn| turn.position), Some(oldest), "after turn {n}");
        assert_eq!(kept.last().map(|turn| turn.position), Some(n));
    }
    assert_eq!(last(&bed, &other, 9).len(), 1, "each space has its own log");
}

#[test]
fn the_log_can_be_cut_back_by_hand() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 0..230 {
        bed.engine.log_turn(&user, &turn(&format!("turn {n}"))).unwrap();
    }
    bed.engine.prune_turns(&user).unwrap();
    let kept = last(&bed, &user, 1_000);
    assert_eq!((kept.len(), kept[0].position), (200, 31));
}

#[test]
fn an_answer_ends_where_the_turns_are_long() {
    let bed = Bed::new();
    let user = bed.user();
    for letter in ["a", "b", "c"] {
        bed.engine.log_turn(&user, &turn(&letter.repeat(7_000_000))).unwrap();
    }
    let positions: Vec<u64> = last(&bed, &user, 9).iter().map(|turn| turn.position).collect();
    assert_eq!(positions, [3]);
}

#[test]
fn a_page_of_turns_says_whether_the_log_has_earlier_ones() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 1..=5 {
        let channel = (n % 2 == 1).then(|| "odd".to_owned());
        bed.engine.log_turn(&user, &TurnRequest { channel, ..turn(&format!("turn {n}")) }).unwrap();
    }
    let page = |channel: Option<&str>, before, last| {
        let filter = TurnFilter { channel: channel.map(str::to_owned), before, last };
        let page = bed.engine.turns(&user, &filter).unwrap();
        (page.turns.iter().map(|turn| turn.position).collect::<Vec<_>>(), page.earlier)
    };
    assert_eq!(page(None, None, 2), (vec![4, 5], true));
    assert_eq!(page(None, Some(4), 3), (vec![1, 2, 3], false));
    assert_eq!(page(None, Some(4), 2), (vec![2, 3], true));
    assert_eq!(page(Some("odd"), Some(5), 1), (vec![3], true));
    assert_eq!(page(Some("odd"), Some(3), 9), (vec![1], false));
    assert_eq!(page(None, Some(1), 9), (vec![], false));
    assert_eq!(page(None, Some(u64::MAX), 9).0.len(), 5);
}
