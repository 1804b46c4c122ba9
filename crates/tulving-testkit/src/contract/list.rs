//! Lists, ids and counts agree with a plain filter and a plain sort, and pages follow each other.

use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::memory::{Memory, Mirror};
use tulving_core::model::request::{Filter, ForgottenFilter, Quarantined, Sort, TimeCondition};
use tulving_core::model::score::Importance;
use tulving_core::model::space::MemberOf;
use tulving_core::model::time::{Period, Timestamp};
use tulving_core::model::vocabulary::{
    Author, Boundary, ContentType, Kind, MemoryType, Role, Stability, State,
};
use tulving_core::ports::ReadLimit;

use super::{StoreFactory, good, world};
use crate::build::{StoreFixture, eyes};
use crate::seed::{RandomSeed, SeedPanicGuard};

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

fn pick<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// Returns a few values of a vocabulary, often none.
fn some<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> Vec<T> {
    if random.u8(..3) > 0 {
        return Vec::new();
    }
    (0..=random.usize(..2)).map(|_| pick(random, from)).collect()
}

fn maybe<T>(random: &mut fastrand::Rng, value: impl FnOnce(&mut fastrand::Rng) -> T) -> Option<T> {
    (random.u8(..6) == 0).then(|| value(random))
}

fn instant(random: &mut fastrand::Rng) -> Timestamp {
    crate::build::second(random.i64(0..400))
}

/// Returns an instant, or the day around it in the form in which a date without a time is stored.
fn instant_or_day(random: &mut fastrand::Rng) -> Timestamp {
    let at = instant(random);
    match random.u8(..3) {
        0 => at.date().parse().expect("a date"),
        1 => at.plus_millis(86_400_000).date().parse::<Timestamp>().expect("a date").plus_millis(-1),
        _ => at,
    }
}

/// A period whose days differ slightly from its instants, so that a test fails if the wrong ones are compared.
fn period(random: &mut fastrand::Rng) -> Period {
    let (from, until) = (instant(random), instant(random));
    let day: Timestamp = from.date().parse().expect("a date");
    let days =
        (day.plus_millis(random.i64(-1..=1) * 86_400_000), day.plus_millis(random.i64(0..=2) * 86_400_000));
    Period { from, until, days }
}

fn timed(random: &mut fastrand::Rng) -> TimeCondition {
    let mut period = period(random);
    let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    match random.u8(..4) {
        0 => period = Period { from: first, days: (first, period.days.1), ..period },
        1 => period = Period { until: last, days: (period.days.0, last), ..period },
        _ => {}
    }
    pick(random, &[TimeCondition::Happened(period), TimeCondition::Done(period), TimeCondition::Due(period)])
}

/// A memory with random fields. Each has few values so that filters match.
fn random_memory(
    world: &StoreFixture,
    random: &mut fastrand::Rng,
    space: SpaceId,
    owner: PrincipalId,
    n: usize,
) -> Memory {
    let word = pick(random, &["Alpha", "beta", "GAMMA", "über"]);
    let mut memory = world.put(space, owner, &format!("{word} {n}"), |m| {
        m.fields.class.memory_type =
            pick(random, &[MemoryType::Fact, MemoryType::Identity, MemoryType::Goal, MemoryType::Todo]);
        m.fields.class.kind = pick(random, Kind::ALL);
        m.fields.class.stability = pick(random, Stability::ALL);
        m.fields.class.importance = Importance::new(f64::from(random.u8(..4)) / 4.0).expect("within bounds");
        m.fields.boundary = pick(random, &[Boundary::Private, Boundary::Hub]);
        m.fields.text.content_type = pick(random, &ContentType::ALL[..3]);
        m.fields.text.tags =
            ["a", "b", "c"].into_iter().filter(|_| random.bool()).map(str::to_owned).collect();
        m.fields.text.title = maybe(random, |_| "Titel ÜBER alles".to_owned());
        m.fields.key = maybe(random, |_| format!("key-{n}"));
        m.fields.span.expires_at = maybe(random, instant);
        m.fields.span.valid_from = maybe(random, instant);
        m.fields.span.valid_until = maybe(random, instant);
        m.fields.span.occurred_at = maybe(random, instant_or_day);
        m.place.conversation = maybe(random, |_| "channel".to_owned());
        m.provenance.author = pick(random, Author::ALL);
        m.fields.project = random.bool().then(|| "project".to_owned());
        m.provenance.source_agent = random.bool().then(|| "agent".to_owned());
        m.status.state = pick(random, State::ALL);
        m.status.pinned = random.u8(..4) == 0;
        m.status.done_at = maybe(random, instant_or_day);
        if random.u8(..8) == 0 {
            m.provenance.source_path = Some(format!("path-{n}"));
            let occurrence = 0;
            m.provenance.mirror = random.bool().then_some(Mirror { line: 1, occurrence });
        }
    });
    let now = world.now();
    match random.u8(..10) {
        0 => memory = world.shift(&memory, |s| s.forgotten_at = Some(now)),
        1 => memory = world.shift(&memory, |s| s.quarantined_at = Some(now)),
        2 => memory = world.edit(&memory, |e| e.source_note = Some("edited".to_owned())),
        3 => {
            let touch =
                tulving_core::model::change::RecallCount { id: memory.id, count: random.u64(1..4), at: now };
            world.apply(vec![tulving_core::model::change::Write::Touch(vec![touch])]);
            if memory.status.state == State::Cooling {
                memory.status.state = State::Active;
            }
            memory.usage.access_count = touch.count;
            memory.usage.accessed_at = now;
        }
        _ => {}
    }
    memory
}

fn random_filter(random: &mut fastrand::Rng, spaces: &[SpaceId]) -> Filter {
    Filter {
        space: maybe(random, |random| pick(random, spaces)),
        types: some(random, MemoryType::ALL),
        kinds: some(random, Kind::ALL),
        stabilities: some(random, Stability::ALL),
        states: some(random, State::ALL),
        content_types: some(random, &ContentType::ALL[..4]),
        tags: some(random, &["a", "b", "c", "d"]).into_iter().map(str::to_owned).collect(),
        key: maybe(random, |random| format!("key-{}", random.u8(..150))),
        source_path: maybe(random, |random| format!("path-{}", random.u8(..150))),
        project: maybe(random, |_| "project".to_owned()),
        conversation: maybe(random, |_| "channel".to_owned()),
        author: maybe(random, |random| pick(random, Author::ALL)),
        source_agent: maybe(random, |_| "agent".to_owned()),
        pinned: maybe(random, fastrand::Rng::bool),
        done: maybe(random, fastrand::Rng::bool),
        since: maybe(random, instant),
        until: maybe(random, instant),
        timed: maybe(random, |random| (0..=random.usize(..2)).map(|_| timed(random)).collect())
            .unwrap_or_default(),
        substring: maybe(random, |random| {
            pick(random, &["ALPHA", "Über", "a", "KEY-1", "tel ü", "nothing"]).to_owned()
        }),
        content_only: random.bool(),
        forgotten: if random.u8(..8) == 0 { ForgottenFilter::Only } else { ForgottenFilter::Without },
        quarantined: pick(random, &[Quarantined::Without, Quarantined::Only, Quarantined::Either]),
        records_only: random.u8(..8) == 0,
        states_at: maybe(random, instant),
        valid_at: maybe(random, instant),
    }
}

/// Implements the documented filter for a viewer who is a plain member of both spaces.
fn matches(filter: &Filter, memory: &Memory, viewer: PrincipalId) -> bool {
    let (fields, text, class) = (&memory.fields, &memory.fields.text, &memory.fields.class);
    let within = |at: Timestamp| {
        filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at < until)
    };
    let holds = |field: Option<&str>| {
        let fold = |text: &str| text.to_lowercase();
        let needle = filter.substring.as_deref().map(fold).unwrap_or_default();
        field.is_some_and(|field| fold(field).contains(&needle))
    };
    let one_of = |name: bool, empty: bool| empty || name;
    let visible = memory.owner == viewer || fields.boundary != Boundary::Private;
    let forgotten = match filter.forgotten {
        ForgottenFilter::Without => memory.status.forgotten_at.is_none(),
        ForgottenFilter::Only => memory.status.forgotten_at.is_some() && memory.owner == viewer,
    };
    let expired = matches!((fields.span.expires_at, filter.states_at), (Some(end), Some(at)) if end <= at);
    let state = if expired { State::Archived } else { memory.status.state };
    let given = |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
    visible
        && forgotten
        && match filter.quarantined {
            Quarantined::Without => memory.status.quarantined_at.is_none(),
            Quarantined::Only => memory.status.quarantined_at.is_some(),
            Quarantined::Either => true,
        }
        && filter.space.is_none_or(|space| space == memory.space)
        && one_of(filter.types.contains(&class.memory_type), filter.types.is_empty())
        && one_of(filter.kinds.contains(&class.kind), filter.kinds.is_empty())
        && one_of(filter.stabilities.contains(&class.stability), filter.stabilities.is_empty())
        && one_of(filter.states.contains(&state), filter.states.is_empty())
        && one_of(filter.content_types.contains(&text.content_type), filter.content_types.is_empty())
        && filter.tags.iter().all(|tag| text.tags.contains(tag))
        && given(&filter.key, &fields.key)
        && given(&filter.source_path, &memory.provenance.source_path)
        && given(&filter.project, &fields.project)
        && given(&filter.conversation, &memory.place.conversation)
        && given(&filter.source_agent, &memory.provenance.source_agent)
        && filter.author.is_none_or(|author| author == memory.provenance.author)
        && filter.pinned.is_none_or(|pinned| pinned == memory.status.pinned)
        && filter.done.is_none_or(|done| match done {
            true => memory.status.done_at.is_some(),
            false => {
                memory.status.done_at.is_none()
                    && matches!(class.memory_type, MemoryType::Todo | MemoryType::Goal)
            }
        })
        && within(memory.usage.created_at)
        && filter.timed.iter().all(|timed| is_of(*timed, memory))
        && (holds(Some(&text.content))
            || (!filter.content_only && (holds(text.title.as_deref()) || holds(fields.key.as_deref()))))
        && !(filter.records_only && memory.provenance.mirror.is_some())
        && filter.valid_at.is_none_or(|then| memory.held_at(then))
}

/// Implements the documented time filter.
fn is_of(timed: TimeCondition, memory: &Memory) -> bool {
    let ends = |period: Period, at: Timestamp| {
        if at.is_day() { period.days } else { (period.from, period.until) }
    };
    let within = |period: Period, at: Timestamp| ends(period, at).0 <= at && at < ends(period, at).1;
    match timed {
        TimeCondition::Happened(period) => {
            within(period, memory.fields.span.occurred_at.unwrap_or(memory.usage.created_at))
        }
        TimeCondition::Done(period) => memory.status.done_at.is_some_and(|at| within(period, at)),
        TimeCondition::Due(period) => due(memory).is_none_or(|at| at < ends(period, at).1),
    }
}

fn due(memory: &Memory) -> Option<Timestamp> {
    let span = &memory.fields.span;
    if !matches!(memory.fields.class.memory_type, MemoryType::Todo | MemoryType::Goal) {
        return None;
    }
    match (span.valid_until, span.expires_at, span.occurred_at) {
        (Some(end), ..) | (None, Some(end), _) => Some(end),
        (None, None, Some(at)) if at > memory.usage.created_at => Some(at),
        _ => None,
    }
}

fn sorted(mut memories: Vec<&Memory>, sort: Sort) -> Vec<MemoryId> {
    memories.sort_by(|a, b| {
        let by = match sort {
            Sort::Newest | Sort::Oldest => a.usage.created_at.cmp(&b.usage.created_at),
            Sort::Updated => a.usage.updated_at.cmp(&b.usage.updated_at),
            Sort::Accessed => a.usage.accessed_at.cmp(&b.usage.accessed_at),
            Sort::Importance => {
                let [a, b] = [a, b].map(|m| m.fields.class.importance.get());
                a.total_cmp(&b)
            }
            Sort::MostAccessed => a.usage.access_count.cmp(&b.usage.access_count),
            Sort::Happened => {
                let [a, b] = [a, b].map(|m| m.fields.span.occurred_at.unwrap_or(m.usage.created_at));
                a.cmp(&b)
            }
            Sort::Agenda => {
                let [first, second] = [a, b].map(|m| {
                    let (done, due) = (m.status.done_at, due(m));
                    (done.is_none(), done, due.is_some(), due.map(std::cmp::Reverse))
                });
                let [a_matters, b_matters] = [a, b].map(|m| m.fields.class.importance.get());
                let by = first.cmp(&second).then(a_matters.total_cmp(&b_matters));
                by.then(a.usage.created_at.cmp(&b.usage.created_at))
            }
        };
        let ascending = by.then(a.id.cmp(&b.id));
        if sort == Sort::Oldest { ascending } else { ascending.reverse() }
    });
    memories.into_iter().map(|memory| memory.id).collect()
}

fn ids(memories: &[Memory]) -> Vec<MemoryId> {
    memories.iter().map(|memory| memory.id).collect()
}

/// Random memories, random filters, every order: list, ids and count agree with a plain filter.
pub fn every_filter_agrees_with_a_plain_one(fresh: StoreFactory<'_>) {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let world = world(fresh);
    let spaces = ["one", "two"].map(|name| world.hub(name));
    let people = ["ann", "bob"].map(|name| world.principal(name));
    for space in spaces {
        for who in people {
            world.join(who, MemberOf::Space(space), Role::Writer);
        }
    }
    let memories: Vec<Memory> = (0..150)
        .map(|n| {
            let (space, owner) = (pick(&mut random, &spaces), pick(&mut random, &people));
            random_memory(&world, &mut random, space, owner, n)
        })
        .collect();
    for round in 0..600 {
        let viewer = pick(&mut random, &people);
        let filter = random_filter(&mut random, &spaces);
        let sort = pick(&mut random, &SORTS);
        let expected =
            sorted(memories.iter().filter(|memory| matches(&filter, memory, viewer)).collect(), sort);
        let eyes = eyes(viewer);
        let described = format!("round {round}: {filter:?} by {sort:?}");
        let found = good(world.store.ids(&eyes, &filter, sort));
        let differs =
            memories.iter().find(|memory| found.contains(&memory.id) != expected.contains(&memory.id));
        assert_eq!(differs, None, "{described}");
        assert_eq!(found, expected, "{described}");
        assert_eq!(good(world.store.count(&eyes, &filter)), expected.len() as u64, "{described}");
        let limit = random.usize(1..60);
        let listed = good(world.store.list(&eyes, &filter, sort, limit, None));
        assert_eq!(ids(&listed), expected[..limit.min(expected.len())], "{described}, limit {limit}");
        for memory in &listed {
            let written = memories.iter().find(|written| written.id == memory.id);
            assert_eq!(Some(memory), written, "{described}: it is given whole");
        }
    }
}

/// A substring is literal, in content, title and key, in any case and script.
pub fn substrings_are_literal_and_ignore_case(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("literal");
    let contents = [
        "100% sure",
        "100 percent sure",
        "snake_case",
        "snakeXcase",
        r"C:\temp\new",
        "C:/temp/new",
        "it's \"quoted\" *and* [bracketed]?",
        "ÄRGER mit Größe",
        "ПРИВЕТ мир",
        "Prefers Dark Mode",
    ];
    for content in contents {
        world.put(space, owner, content, |_| ());
    }
    world.put(space, owner, "by title", |m| m.fields.text.title = Some("The Title_1".to_owned()));
    world.put(space, owner, "by key", |m| m.fields.key = Some("Key%1".to_owned()));
    world.put(space, owner, "not by these", |m| {
        m.fields.text.summary = Some("zebra".to_owned());
        m.fields.text.tags = vec!["zebra".to_owned()];
        m.fields.source_note = Some("zebra".to_owned());
    });
    let cases: &[(&str, &[&str])] = &[
        ("100%", &["100% sure"]),
        ("%", &["100% sure", "by key"]),
        ("_", &["snake_case", "by title"]),
        ("e_c", &["snake_case"]),
        (r"\", &[r"C:\temp\new"]),
        (r"\t", &[r"C:\temp\new"]),
        ("*and*", &["it's \"quoted\" *and* [bracketed]?"]),
        ("[b", &["it's \"quoted\" *and* [bracketed]?"]),
        ("'", &["it's \"quoted\" *and* [bracketed]?"]),
        ("ärger MIT", &["ÄRGER mit Größe"]),
        ("GRÖSSE", &[]),
        ("привет", &["ПРИВЕТ мир"]),
        ("dark mode", &["Prefers Dark Mode"]),
        ("TITLE_", &["by title"]),
        ("key%", &["by key"]),
        ("zebra", &[]),
        ("dark  mode", &[]),
    ];
    for (needle, expected) in cases {
        let filter = Filter { substring: Some((*needle).to_owned()), ..Filter::default() };
        let found = good(world.store.list(&eyes(owner), &filter, Sort::Oldest, 99, None));
        let found: Vec<&str> = found.iter().map(|memory| memory.fields.text.content.as_str()).collect();
        assert_eq!(found, *expected, "{needle}");
    }
}

/// All orders except `Oldest` are descending. Memories with equal values are sorted by id, in the direction of the
/// order.
pub fn orders_fall_and_ties_go_by_id(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("ties");
    let at = world.now();
    let made: Vec<Memory> = (0..20)
        .map(|n| {
            let memory = crate::build::memory(at, space, owner, &format!("at once {n}"));
            world.save(memory)
        })
        .collect();
    let mut ascending = ids(&made);
    ascending.sort();
    let descending: Vec<MemoryId> = ascending.iter().rev().copied().collect();
    for sort in SORTS {
        let expected = if sort == Sort::Oldest { &ascending } else { &descending };
        let filter = Filter::default();
        assert_eq!(good(world.store.ids(&eyes(owner), &filter, sort)), *expected, "{sort:?}");
        let listed = good(world.store.list(&eyes(owner), &filter, sort, 99, None));
        assert_eq!(ids(&listed), *expected, "{sort:?}");
    }
}

fn follow(
    world: &StoreFixture,
    viewer: PrincipalId,
    filter: &Filter,
    sort: Sort,
    limit: usize,
    mut between: impl FnMut(),
) -> Vec<MemoryId> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = good(world.store.list(&eyes(viewer), filter, sort, limit, after));
        assert!(page.len() <= limit);
        let Some(last) = page.last() else {
            return all;
        };
        after = Some((last.usage.created_at, last.id));
        all.extend(ids(&page));
        between();
    }
}

/// A read ends with the memory that brings the total size of the contents to this many bytes. It returns at least one
/// memory.
pub fn a_read_ends_where_the_contents_have_so_many_bytes(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("bytes");
    for n in 0..5 {
        world.save(crate::build::memory(
            crate::build::second(n),
            space,
            owner,
            &format!("{n}{}", "x".repeat(9)),
        ));
    }
    let (viewer, filter) = (eyes(owner), Filter { space: Some(space), ..Filter::default() });
    let all = good(world.store.ids(&viewer, &filter, Sort::Oldest));
    for (bytes, many) in [(0, 1), (1, 1), (10, 1), (11, 2), (20, 2), (49, 5), (usize::MAX, 5)] {
        let extent = ReadLimit::whole(9, bytes);
        let listed = good(world.store.list_within(&viewer, &filter, Sort::Oldest, extent, None));
        assert_eq!(ids(&listed), all[..many], "{bytes}");
        let read = good(world.store.memories_within(&viewer, &all, bytes));
        assert_eq!(ids(&read), all[..many], "{bytes}");
    }
    let extent = ReadLimit::whole(3, 49);
    assert_eq!(good(world.store.list_within(&viewer, &filter, Sort::Oldest, extent, None)).len(), 3);
}

/// A read may request only the start of each content. The start never ends within a character, and all other fields are
/// unchanged.
pub fn a_read_gives_the_beginning_of_each_content(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("beginnings");
    for (n, more) in [(0, 0), (1, 500), (2, 1_000)] {
        let content = format!("{n} é漢字{}", "x".repeat(more));
        world.save(crate::build::memory(crate::build::second(n), space, owner, &content));
    }
    let (viewer, filter) = (eyes(owner), Filter { space: Some(space), ..Filter::default() });
    let whole = good(world.store.list(&viewer, &filter, Sort::Oldest, 9, None));
    for each in [0, 1, 3, 4, 6, 2_000, usize::MAX] {
        for sort in [Sort::Oldest, Sort::Importance] {
            let extent = ReadLimit { each, ..ReadLimit::whole(9, usize::MAX) };
            let mut read = good(world.store.list_within(&viewer, &filter, sort, extent, None));
            read.sort_by_key(|memory| (memory.usage.created_at, memory.id));
            let mut expected = whole.clone();
            for memory in &mut expected {
                let content = &mut memory.fields.text.content;
                *content = content.chars().take(each).collect();
            }
            assert_eq!(read, expected, "{each}");
        }
    }
    let extent = ReadLimit { limit: 9, bytes: 5, each: 3 };
    assert_eq!(
        good(world.store.list_within(&viewer, &filter, Sort::Oldest, extent, None)).len(),
        2,
        "bytes are those given"
    );
}

/// Pages of any size, each starting after the end of the previous page, return the whole list once, even if
/// times are equal.
pub fn pages_follow_each_other(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pages");
    for n in 0..30 {
        let at = crate::build::second(n / 4);
        let mut memory = crate::build::memory(at, space, owner, &format!("memory {n}"));
        memory.status.pinned = n % 3 == 0;
        world.save(memory);
    }
    for filter in [Filter::default(), Filter { pinned: Some(true), space: Some(space), ..Filter::default() }]
    {
        for sort in [Sort::Newest, Sort::Oldest] {
            let whole = good(world.store.ids(&eyes(owner), &filter, sort));
            for limit in [1, 2, 3, 7, 30, 100] {
                assert_eq!(follow(&world, owner, &filter, sort, limit, || ()), whole, "{sort:?} by {limit}");
            }
        }
    }
}

/// A memory that exists during the whole read is returned once, whatever is saved, edited and erased in the meantime.
pub fn pages_stand_still_while_others_write(fresh: StoreFactory<'_>) {
    for sort in [Sort::Newest, Sort::Oldest] {
        let world = world(fresh);
        let (space, owner) = world.hub_with_writer("busy");
        let made: Vec<Memory> =
            (0..30).map(|n| world.put(space, owner, &format!("memory {n}"), |_| ())).collect();
        let mut round = 0;
        let listed = follow(&world, owner, &Filter::default(), sort, 4, || {
            if round < 7 {
                world.put(space, owner, &format!("new {round}"), |_| ());
                world.erase(made[round * 4].id);
                world.edit(&made[round * 4 + 1], |e| e.text.title = Some("edited".to_owned()));
            }
            round += 1;
        });
        let mut once = listed.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), listed.len(), "nothing twice");
        for (n, memory) in made.iter().enumerate().filter(|(n, _)| n % 4 != 0) {
            assert!(listed.contains(&memory.id), "memory {n} was skipped");
        }
    }
}

/// `since` includes its instant, `until` does not.
pub fn time_filters_include_the_start_only(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("times");
    let made = ["a", "b", "c"].map(|content| world.put(space, owner, content, |_| ()));
    let [a, b, c] = made.each_ref().map(|memory| memory.usage.created_at);
    let between = |since, until| {
        let filter = Filter { since, until, ..Filter::default() };
        good(world.store.count(&eyes(owner), &filter))
    };
    assert_eq!(between(Some(b), None), 2);
    assert_eq!(between(None, Some(b)), 1);
    assert_eq!(between(Some(a), Some(c)), 2);
    assert_eq!(between(Some(b), Some(b)), 0);
    assert_eq!(between(Some(Timestamp::from_micros(c.as_micros() + 1)), None), 0);
}

/// A memory that has expired at the given instant counts as archived and as nothing else, including at the exact instant.
pub fn what_has_expired_counts_as_archived(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("expiry");
    let expiry = world.now();
    world.put(space, owner, "forever", |_| ());
    world.put(space, owner, "for a while", |m| m.fields.span.expires_at = Some(expiry));
    world.put(space, owner, "put away", |m| m.status.state = State::Archived);
    world.put(space, owner, "cool for a while", |m| {
        m.status.state = State::Cooling;
        m.fields.span.expires_at = Some(expiry);
    });
    let found = |states: &[State], states_at| -> Vec<String> {
        let filter = Filter { states: states.to_vec(), states_at, ..Filter::default() };
        let found = good(world.store.list(&eyes(owner), &filter, Sort::Oldest, 99, None));
        assert_eq!(good(world.store.count(&eyes(owner), &filter)), found.len() as u64);
        assert_eq!(good(world.store.ids(&eyes(owner), &filter, Sort::Oldest)).len(), found.len());
        assert!(found.iter().all(|memory| filter.admits(memory)));
        found.into_iter().map(|memory| memory.fields.text.content).collect()
    };
    let (active, cooling, archived) = ([State::Active], [State::Cooling], [State::Archived]);
    for before in [None, Some(expiry.plus_millis(-1))] {
        assert_eq!(found(&active, before), ["forever", "for a while"]);
        assert_eq!(found(&cooling, before), ["cool for a while"]);
        assert_eq!(found(&archived, before), ["put away"]);
    }
    for after in [Some(expiry), Some(expiry.plus_millis(1))] {
        assert_eq!(found(&active, after), ["forever"]);
        assert_eq!(found(&cooling, after), [""; 0]);
        assert_eq!(found(&archived, after), ["for a while", "put away", "cool for a while"]);
        assert_eq!(found(&[State::Archived, State::Active], after).len(), 4);
        assert_eq!(found(State::ALL, after).len(), 4);
        assert_eq!(found(&[], after).len(), 4, "who asks for no state means all");
    }
}

/// Only names of projects are found that a memory has and that the viewer sees in lists.
pub fn projects_are_those_of_memories_that_lists_show(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("projects");
    let stranger = world.principal("stranger");
    for (project, is_shown) in [("gantry", true), ("Harbour", true), ("gone", false)] {
        world.put(space, owner, project, |m| {
            m.fields.project = Some(project.to_owned());
            m.status.forgotten_at = (!is_shown).then(|| crate::build::second(2_000));
        });
    }
    let names = ["Gantry", "gantry", "Harbour", "harbour", "gone", "how"];
    let found = |viewer| {
        let mut found = good(world.store.projects(&eyes(viewer), &names));
        found.sort();
        found
    };
    assert_eq!(found(owner), ["Harbour", "gantry"]);
    assert_eq!(found(stranger), [""; 0]);
}

/// `valid_at` finds the memories that were valid at that time. Validity starts at the stated start, or else at the
/// event, or else at the save. The start is included, the end is not.
pub fn only_what_held_then_is_found_as_of_then(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("validity");
    let at = |n: i64| crate::build::second(1_000 + n);
    let spans = [
        ("always", None, None),
        ("from 10", Some(10), None),
        ("until 20", None, Some(20)),
        ("from 10 until 20", Some(10), Some(20)),
        ("for no time", Some(10), Some(10)),
    ];
    for (content, from, until) in spans {
        world.put(space, owner, content, |m| {
            m.fields.span.valid_from = from.map(at);
            m.fields.span.valid_until = until.map(at);
        });
    }
    let mut late = crate::build::memory(at(15), space, owner, "late");
    late.fields.span.valid_from = Some(at(12));
    world.save(late);
    let mut described = crate::build::memory(at(30), space, owner, "told later");
    described.fields.span.occurred_at = Some(at(18));
    world.save(described);
    let held = |then| -> Vec<String> {
        let filter = Filter { valid_at: Some(at(then)), ..Filter::default() };
        let found = good(world.store.list(&eyes(owner), &filter, Sort::Oldest, 99, None));
        assert_eq!(good(world.store.count(&eyes(owner), &filter)), found.len() as u64);
        found.into_iter().map(|memory| memory.fields.text.content).collect()
    };
    assert_eq!(held(9), ["always", "until 20"]);
    assert_eq!(held(10), ["always", "from 10", "until 20", "from 10 until 20"]);
    assert_eq!(held(15), ["always", "from 10", "until 20", "from 10 until 20", "late"]);
    assert_eq!(held(20), ["always", "from 10", "late", "told later"]);
    assert_eq!(held(11), held(10));
    assert_eq!(held(-2_000), [""; 0], "nothing held by then");
}
