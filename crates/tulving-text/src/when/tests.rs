use proptest::prelude::*;

use super::*;

/// The time of the questions: a Wednesday.
const NOW: &str = "2023-06-14T15:00:00Z";

/// Returns the intervals of a question as pairs of days. Both days are inclusive.
fn days(question: &str) -> Vec<String> {
    let now: Timestamp = NOW.parse().expect("a time");
    intervals(question, now, &Zone::default())
        .into_iter()
        .map(|interval| {
            let last = interval.until.plus_millis(-1).date();
            let first = interval.from.date();
            if first == last { first } else { format!("{first}..{last}") }
        })
        .collect()
}

#[track_caller]
fn means(question: &str, expected: &str) {
    assert_eq!(days(question), [expected], "{question}");
}

#[test]
fn dates_are_read_in_their_usual_forms() {
    for question in [
        "What happened on 8 May, 2023?",
        "What happened on May 8, 2023?",
        "What happened on May 8th 2023?",
        "What happened on the 8th of May 2023?",
        "What happened on May 8th?",
        "what happened on 2023-05-08",
        "What happened on 05/08/2023?",
        "What happened on 8.5.2023?",
        "What happened on 2023/5/8?",
        "What happened on May the 8th?",
    ] {
        means(question, "2023-05-08");
    }
    means("Who called on 13/04/2023?", "2023-04-13");
    means("Who called on the 5th of June?", "2023-06-05");
    means("Who called on the 20th?", "2023-05-20");
    means("Who called on 24 December?", "2022-12-24");
}

#[test]
fn any_friday_is_no_time() {
    for question in ["is Ana in on a Friday?", "who is here every Monday?", "when may we ship on a Friday?"] {
        assert_eq!(days(question), [""; 0], "{question}");
    }
    means("who called on Friday?", "2023-06-09");
}

#[test]
fn a_relative_day_is_left_out_and_other_times_stay() {
    let now: Timestamp = NOW.parse().expect("a time");
    let left = |question: &str| without_relative_days(question, now, &Zone::default());
    assert_eq!(left("who did I talk to last Monday?"), "who did I talk to?");
    assert_eq!(left("what did Ana say yesterday about tea"), "what did Ana say about tea");
    for same in [
        "what happened yesterday?",
        "who did I talk to last week?",
        "who called on 24 December?",
        "who called on Friday?",
        "",
        "tea",
    ] {
        assert_eq!(left(same), same);
    }
}

#[test]
fn months_years_and_seasons_are_as_long_as_they_are() {
    means("Where did she go in May 2023?", "2023-05-01..2023-05-31");
    means("Where did she go in May?", "2023-05-01..2023-05-31");
    means("Where did she go in August?", "2022-08-01..2022-08-31");
    means("Where did she go in 2022?", "2022-01-01..2022-12-31");
    means("Where did she go in the summer of 2022?", "2022-06-01..2022-08-31");
    means("Where did she go in fall 2021?", "2021-09-01..2021-11-30");
    means("Where did she go last summer?", "2022-06-01..2022-08-31");
    means("Where did she go last May?", "2023-05-01..2023-05-31");
    means("Where did she go in mid-April?", "2023-04-11..2023-04-20");
    means("Who came in Feb. 2023?", "2023-02-01..2023-02-28");
    means("the 2022 trip", "2022-01-01..2022-12-31");
}

#[test]
fn parts_of_months_and_years_are_read() {
    for (question, expected) in [
        ("What happened in the second week of May?", "2023-05-08..2023-05-14"),
        ("What did we decide in the 1st week of May?", "2023-05-01..2023-05-07"),
        ("Who came in the last week of February?", "2023-02-22..2023-02-28"),
        ("What was planned at the beginning of May?", "2023-05-01..2023-05-10"),
        ("What did I buy in the middle of March 2022?", "2022-03-11..2022-03-20"),
        ("Where was I at the end of last month?", "2023-05-21..2023-05-31"),
        ("What broke in early May?", "2023-05-01..2023-05-10"),
        ("What broke in late 2022?", "2022-09-01..2022-12-31"),
        ("What did we ship in the first half of 2022?", "2022-01-01..2022-06-30"),
        ("What is left of the second quarter of 2022?", "2022-04-01..2022-06-30"),
    ] {
        means(question, expected);
    }
    for question in
        ["What is at the end of the list?", "Who won the first half of the game?", "Is it late of May?"]
    {
        assert!(days(question).len() <= 1, "{question}");
    }
    let now: Timestamp = NOW.parse().expect("a time");
    let before = intervals("What did we do before the end of May?", now, &Zone::default())[0];
    assert_eq!(before.until.date(), "2023-05-21");
}

#[test]
fn feasts_are_days() {
    means("What did I cook at Christmas?", "2022-12-25");
    means("What did I cook on New Year's Eve?", "2022-12-31");
    means("What did I cook for Valentine’s Day 2021?", "2021-02-14");
    means("What did I wear on Halloween?", "2022-10-31");
    means("What did I cook for Thanksgiving?", "2022-11-24");
    assert!(days("What is her favourite Halloween costume?").is_empty());
}

#[test]
fn relative_times_are_counted_from_now() {
    means("What did I eat today?", "2023-06-14");
    means("What did I eat yesterday?", "2023-06-13");
    means("What did I eat the day before yesterday?", "2023-06-12");
    means("What did I eat last night?", "2023-06-13");
    means("What will I eat tomorrow?", "2023-06-15");
    means("What did I do last week?", "2023-06-05..2023-06-11");
    means("What did I do this week?", "2023-06-12..2023-06-18");
    means("What will I do next week?", "2023-06-19..2023-06-25");
    means("What did I do last weekend?", "2023-06-10..2023-06-11");
    means("What did I do last month?", "2023-05-01..2023-05-31");
    means("What did I do last year?", "2022-01-01..2022-12-31");
    means("What did I do in the past month?", "2023-05-14..2023-06-14");
    means("What did I do on Monday?", "2023-06-12");
    means("What did I do on Wednesday?", "2023-06-14");
    means("What did I do last Wednesday?", "2023-06-07");
    means("What did I do last Thursday?", "2023-06-08");
    means("What will I do next Tuesday?", "2023-06-20");
}

#[test]
fn what_is_so_long_ago_is_as_wide_as_its_unit() {
    means("What did I buy 3 days ago?", "2023-06-11");
    means("What did I buy two weeks ago?", "2023-05-28..2023-06-03");
    means("What did I buy a month ago?", "2023-04-29..2023-05-28");
    means("What did I buy a couple of months ago?", "2023-03-15..2023-05-13");
    means("What did I buy a few days ago?", "2023-06-10..2023-06-11");
    means("What did I buy an hour ago?", "2023-06-14");
    means("What did I buy a year ago?", "2021-12-14..2022-12-13");
}

#[test]
fn the_last_days_reach_up_to_today() {
    means("What did I buy in the last 10 days?", "2023-06-04..2023-06-14");
    means("What did I buy over the past few weeks?", "2023-05-24..2023-06-14");
    means("What did I buy in the past two months?", "2023-04-14..2023-06-14");
}

#[test]
fn what_is_counted_from_today_may_be_told_of_up_to_today() {
    let mentioned_until = |question: &str| {
        let now: Timestamp = NOW.parse().expect("a time");
        let found = intervals(question, now, &Zone::default());
        assert_eq!(found.len(), 1, "{question}");
        found[0].mentioned_until.date()
    };
    assert_eq!(mentioned_until("What did I buy last month?"), "2023-06-15");
    assert_eq!(mentioned_until("What did I buy two weeks ago?"), "2023-06-15");
    assert_eq!(mentioned_until("What did I buy the day before yesterday?"), "2023-06-15");
    assert_eq!(mentioned_until("What did I buy in the past ten days?"), "2023-06-15");
    assert_eq!(mentioned_until("What did I buy in May 2023?"), "2023-06-01");
    assert_eq!(mentioned_until("What did I buy on 5 May?"), "2023-05-06");
    assert_eq!(mentioned_until("What will I buy tomorrow?"), "2023-06-16");
}

#[test]
fn ranges_and_open_ends_are_read() {
    means("Where was I between March and May 2023?", "2023-03-01..2023-05-31");
    means("Where was I between November and January?", "2022-11-01..2023-01-31");
    means("Where was I from 3 April to 10 April 2023?", "2023-04-03..2023-04-10");
    means("Where was I between 2019 and 2021?", "2019-01-01..2021-12-31");
    let far = |time: Timestamp| time.as_micros() == Timestamp::from_micros(i64::MAX).as_micros();
    let now: Timestamp = NOW.parse().expect("a time");
    let since = intervals("Where have I been since January?", now, &Zone::default())[0];
    assert!(since.from.date() == "2023-01-01" && far(since.until));
    let after = intervals("Where was I after 5 June 2023?", now, &Zone::default())[0];
    assert!(after.from.date() == "2023-06-06" && far(after.until));
    let before = intervals("Where was I before 5 June 2023?", now, &Zone::default())[0];
    assert_eq!(before.until.date(), "2023-06-05");
    assert_eq!(before.from, Timestamp::from_micros(i64::MIN));
}

#[test]
fn times_beside_others_are_read() {
    means("Who called the week before 9 June 2023?", "2023-06-02..2023-06-08");
    means("Who called the Sunday before 25 May 2023?", "2023-05-21");
    means("Who called the day after 5 June 2023?", "2023-06-06");
    means("Who called two days before Christmas?", "2022-12-23");
    means("Who called the weekend before 17 May 2023?", "2023-05-13..2023-05-14");
    means("Who called in the week of May 8?", "2023-05-08..2023-05-14");
}

#[test]
fn several_times_are_all_given() {
    assert_eq!(days("Was it in May or in April?"), ["2023-05-01..2023-05-31", "2023-04-01..2023-04-30"]);
}

#[test]
fn a_whole_date_in_the_question_is_where_it_is_seen_from() {
    let found = days("What did she do last week, as she said on November 6, 2022?");
    assert_eq!(found, ["2022-10-24..2022-10-30", "2022-11-06"]);
}

#[test]
fn words_that_may_mean_something_else_do_not_count() {
    for question in [
        "May I ask something?",
        "What may she do?",
        "Did they march for peace?",
        "Who won the second prize in the sun?",
        "How did 2000 people fit in?",
        "Was it a group of 2000 people?",
        "Did it cost $2000?",
        "What did April say?",
        "Did he fall down the stairs?",
        "What did she do recently?",
        "Who lives on the 5th floor?",
        "What is in version 1.2.3 or 2.0.1?",
        "Did she run 5 may be?",
        "What did the May-Britt band play?",
        "room 2019b",
        "",
    ] {
        assert_eq!(days(question), Vec::<String>::new(), "{question}");
    }
}

#[test]
fn a_question_for_a_time_is_known() {
    for question in [
        "When did Caroline go?",
        "when's the party",
        "What date was it?",
        "On what exact day did he leave?",
        "Which year did we move?",
        "How long ago was it?",
        "In what month did it rain?",
        "Do you remember when I moved?",
        "What time is the meeting?",
        "How many weeks passed?",
        "She left when?",
        "What is the date of the wedding?",
    ] {
        assert!(asks_when(question), "{question}");
    }
    for question in [
        "What did she say when it rained?",
        "Who called?",
        "When I was in Paris, what did I eat?",
        "What kind of day trip?",
        "",
    ] {
        assert!(!asks_when(question), "{question}");
    }
}

#[test]
fn a_text_that_names_a_time_is_known() {
    for text in [
        "I went there yesterday.",
        "We met last Friday!",
        "It was in 2019.",
        "See you at 5pm",
        "See you at 5 p.m.",
        "The call is at 11 A.M",
        "at 10:30 sharp",
        "two weeks ago",
        "on 8 May",
        "I've been here since school",
        "this weekend",
        "for three years",
    ] {
        assert!(names_time(text), "{text}");
    }
    for text in [
        "You may go.",
        "They march on.",
        "I like it.",
        "The ratio is 10:1000",
        "2000 people",
        "a last word",
        "Take 5 a. More is too much",
        "5 p.mx",
    ] {
        assert!(!names_time(text), "{text}");
    }
}

#[test]
fn a_long_question_takes_linear_time() {
    for piece in ["May ", "1/", "between March and ", "a ", "9", "2023 ", "two days before ", "when "] {
        let text = piece.repeat(100_000 / piece.len());
        let now: Timestamp = NOW.parse().expect("a time");
        let _ = (intervals(&text, now, &Zone::default()), asks_when(&text), names_time(&text));
    }
}

fn phrase() -> impl Strategy<Value = String> {
    let words = [
        "may",
        "May",
        "8",
        "8th",
        "31",
        "2023",
        "9999",
        "of",
        "the",
        "last",
        "next",
        "week",
        "ago",
        "a",
        "couple",
        "few",
        "between",
        "and",
        "since",
        "before",
        "after",
        "Monday",
        "summer",
        "-",
        "/",
        ".",
        "99",
        "years",
        "months",
        "on",
        "february",
        "29",
        "decades",
        "past",
        "9999",
        "Thanksgiving",
        "weekend",
        "in",
        "day",
        "yesterday",
        "0",
    ];
    prop::collection::vec((prop::sample::select(words.to_vec()), prop::bool::ANY), 0..9).prop_map(|words| {
        words.into_iter().map(|(word, space)| format!("{word}{}", if space { " " } else { "" })).collect()
    })
}

proptest! {
    #[test]
    fn any_question_at_any_time_gives_stretches_that_are_not_empty(
        question in prop_oneof![phrase(), "\\PC{0,40}".prop_map(String::from)],
        now in prop_oneof![any::<i64>(), 0..4_000_000_000_000_000_i64],
    ) {
        let now = Timestamp::from_micros(now);
        for interval in intervals(&question, now, &Zone::default()) {
            prop_assert!(interval.from < interval.until, "{:?}", interval);
        }
        let _ = (asks_when(&question), names_time(&question));
    }
}

#[test]
fn a_question_for_a_time_alone_is_told_from_one_for_something() {
    let now: Timestamp = NOW.parse().expect("a time");
    for alone in [
        "What happened last week?",
        "what did I do yesterday",
        "What's new since Monday?",
        "anything on 2023-05-08?",
        "Tell me about May 2023",
        "what have we been up to in the last three days?",
        "What went on between March and May 2023?",
    ] {
        assert!(asks_of_time_alone(alone, now), "{alone}");
    }
    for other in [
        "What did Ana do last week?",
        "which database crashed yesterday?",
        "what happened?",
        "what did I eat on 2023-05-08?",
        "what were the 3 things we did last week?",
        "Was habe ich letzte Woche gemacht?",
        "",
    ] {
        assert!(!asks_of_time_alone(other, now), "{other}");
    }
}

#[test]
fn yesterday_is_a_day_of_the_zone_of_who_asks() {
    let now: Timestamp = "2026-05-27T22:30:00Z".parse().expect("a time");
    let asked = |zone: &str| {
        let zone = Zone::named(zone).expect("a zone");
        intervals("What happened yesterday?", now, &zone)[0]
    };
    let vienna = asked("Europe/Vienna");
    assert_eq!(vienna.from.to_string(), "2026-05-26T22:00:00.000000Z");
    assert_eq!(vienna.until.to_string(), "2026-05-27T22:00:00.000000Z", "the 28th has begun there");
    let west = asked("America/Los_Angeles");
    assert_eq!(west.from.to_string(), "2026-05-26T07:00:00.000000Z");
    let day = |text: &str| text.parse::<Timestamp>().expect("a day");
    assert!(
        west.has(day("2026-05-26")) && !west.has(day("2026-05-27")),
        "what was given as a day is that day"
    );
    assert!(!west.has(day("2026-05-26T06:59:00Z")) && west.has(day("2026-05-27T06:59:00Z")));
    assert!(vienna.has(day("2026-05-27T23:59:59.999Z")), "the journal of that day");
}
