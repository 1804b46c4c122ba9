//! Lists, ids and counts agree with a plain filter and a plain sort, and pages follow each other.

use tulving_core::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::memory::{Memory, Mirror};
use tulving_core::ports::Extent;
use tulving_core::request::{Filter, Forgotten, Quarantined, Sort};
use tulving_core::score::Importance;
use tulving_core::space::MemberOf;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Author, Boundary, ContentType, Kind, MemoryType, Role, Stability, State};

use super::{Fresh, good, world};
use crate::build::{World, eyes};
use crate::seed::{SaidOnPanic, Seed};

const SORTS: [Sort; 6] =
    [Sort::Newest, Sort::Oldest, Sort::Updated, Sort::Accessed, Sort::Importance, Sort::MostAccessed];

fn pick<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// Some of a vocabulary, often none.
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

/// A memory with random fields, of which few differ so that filters meet them.
fn random_memory(
    world: &World,
    random: &mut fastrand::Rng,
    space: SpaceId,
    owner: PrincipalId,
    n: usize,
) -> Memory {
    let word = pick(random, &["Alpha", "beta", "GAMMA", "über"]);
    let mut memory = world.put(space, owner, &format!("{word} {n}"), |m| {
        m.edition.class.memory_type =
            pick(random, &[MemoryType::Fact, MemoryType::Identity, MemoryType::Goal, MemoryType::Todo]);
        m.edition.class.kind = pick(random, Kind::ALL);
        m.edition.class.stability = pick(random, Stability::ALL);
        m.edition.class.importance = Importance::new(f64::from(random.u8(..4)) / 4.0).expect("within bounds");
        m.edition.boundary = pick(random, &[Boundary::Private, Boundary::Hub]);
        m.edition.text.content_type = pick(random, &ContentType::ALL[..3]);
        m.edition.text.tags =
            ["a", "b", "c"].into_iter().filter(|_| random.bool()).map(str::to_owned).collect();
        m.edition.text.title = maybe(random, |_| "Titel ÜBER alles".to_owned());
        m.edition.key = maybe(random, |_| format!("key-{n}"));
        m.edition.span.expires_at = maybe(random, instant);
        m.edition.span.valid_from = maybe(random, instant);
        m.edition.span.valid_until = maybe(random, instant);
        m.place.conversation = maybe(random, |_| "channel".to_owned());
        m.provenance.author = pick(random, Author::ALL);
        m.provenance.source_agent = random.bool().then(|| "agent".to_owned());
        m.standing.state = pick(random, State::ALL);
        m.standing.pinned = random.u8(..4) == 0;
        m.standing.done_at = maybe(random, instant);
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
            let touch = tulving_core::change::Touch { id: memory.id, count: random.u64(1..4), at: now };
            world.apply(vec![tulving_core::change::Write::Touch(vec![touch])]);
            if memory.standing.state == State::Cooling {
                memory.standing.state = State::Active;
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
        conversation: maybe(random, |_| "channel".to_owned()),
        author: maybe(random, |random| pick(random, Author::ALL)),
        source_agent: maybe(random, |_| "agent".to_owned()),
        pinned: maybe(random, fastrand::Rng::bool),
        done: maybe(random, fastrand::Rng::bool),
        since: maybe(random, instant),
        until: maybe(random, instant),
        substring: maybe(random, |random| {
            pick(random, &["ALPHA", "Über", "a", "KEY-1", "tel ü", "nothing"]).to_owned()
        }),
        content_only: random.bool(),
        forgotten: if random.u8(..8) == 0 { Forgotten::Only } else { Forgotten::Without },
        quarantined: pick(random, &[Quarantined::Without, Quarantined::Only, Quarantined::Either]),
        records_only: random.u8(..8) == 0,
        states_at: maybe(random, instant),
        valid_at: maybe(random, instant),
    }
}

/// The filter as its documentation reads, for a viewer who is a plain member of both spaces.
fn matches(filter: &Filter, memory: &Memory, viewer: PrincipalId) -> bool {
    let (edition, text, class) = (&memory.edition, &memory.edition.text, &memory.edition.class);
    let within = |at: Timestamp| {
        filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at < until)
    };
    let holds = |field: Option<&str>| {
        let fold = |text: &str| text.to_lowercase();
        let needle = filter.substring.as_deref().map(fold).unwrap_or_default();
        field.is_some_and(|field| fold(field).contains(&needle))
    };
    let one_of = |name: bool, empty: bool| empty || name;
    let visible = memory.owner == viewer || edition.boundary != Boundary::Private;
    let forgotten = match filter.forgotten {
        Forgotten::Without => memory.standing.forgotten_at.is_none(),
        Forgotten::Only => memory.standing.forgotten_at.is_some() && memory.owner == viewer,
    };
    let expired = matches!((edition.span.expires_at, filter.states_at), (Some(end), Some(at)) if end <= at);
    let state = if expired { State::Archived } else { memory.standing.state };
    let given = |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
    visible
        && forgotten
        && match filter.quarantined {
            Quarantined::Without => memory.standing.quarantined_at.is_none(),
            Quarantined::Only => memory.standing.quarantined_at.is_some(),
            Quarantined::Either => true,
        }
        && filter.space.is_none_or(|space| space == memory.space)
        && one_of(filter.types.contains(&class.memory_type), filter.types.is_empty())
        && one_of(filter.kinds.contains(&class.kind), filter.kinds.is_empty())
        && one_of(filter.stabilities.contains(&class.stability), filter.stabilities.is_empty())
        && one_of(filter.states.contains(&state), filter.states.is_empty())
        && one_of(filter.content_types.contains(&text.content_type), filter.content_types.is_empty())
        && filter.tags.iter().all(|tag| text.tags.contains(tag))
        && given(&filter.key, &edition.key)
        && given(&filter.source_path, &memory.provenance.source_path)
        && given(&filter.conversation, &memory.place.conversation)
        && given(&filter.source_agent, &memory.provenance.source_agent)
        && filter.author.is_none_or(|author| author == memory.provenance.author)
        && filter.pinned.is_none_or(|pinned| pinned == memory.standing.pinned)
        && filter.done.is_none_or(|done| match done {
            true => memory.standing.done_at.is_some(),
            false => {
                memory.standing.done_at.is_none()
                    && matches!(class.memory_type, MemoryType::Todo | MemoryType::Goal)
            }
        })
        && within(memory.usage.created_at)
        && (holds(Some(&text.content))
            || (!filter.content_only && (holds(text.title.as_deref()) || holds(edition.key.as_deref()))))
        && !(filter.records_only && memory.provenance.mirror.is_some())
        && filter.valid_at.is_none_or(|then| memory.held_at(then))
}

fn sorted(mut memories: Vec<&Memory>, sort: Sort) -> Vec<MemoryId> {
    memories.sort_by(|a, b| {
        let by = match sort {
            Sort::Newest | Sort::Oldest => a.usage.created_at.cmp(&b.usage.created_at),
            Sort::Updated => a.usage.updated_at.cmp(&b.usage.updated_at),
            Sort::Accessed => a.usage.accessed_at.cmp(&b.usage.accessed_at),
            Sort::Importance => {
                let [a, b] = [a, b].map(|m| m.edition.class.importance.get());
                a.total_cmp(&b)
            }
            Sort::MostAccessed => a.usage.access_count.cmp(&b.usage.access_count),
        };
        let ascending = by.then(a.id.cmp(&b.id));
        if sort == Sort::Oldest { ascending } else { ascending.reverse() }
    });
    memories.into_iter().map(|memory| memory.id).collect()
}

fn ids(memories: &[Memory]) -> Vec<MemoryId> {
    memories.iter().map(|memory| memory.id).collect()
}

/// Random memories, random filters, every order: list, ids and count say what a plain filter says.
pub fn every_filter_agrees_with_a_plain_one(fresh: Fresh<'_>) {
    let seed = Seed::from_environment();
    let _said = SaidOnPanic::new(seed);
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
        let told = format!("round {round}: {filter:?} by {sort:?}");
        let found = good(world.store.ids(&eyes, &filter, sort));
        let differs =
            memories.iter().find(|memory| found.contains(&memory.id) != expected.contains(&memory.id));
        assert_eq!(differs, None, "{told}");
        assert_eq!(found, expected, "{told}");
        assert_eq!(good(world.store.count(&eyes, &filter)), expected.len() as u64, "{told}");
        let limit = random.usize(1..60);
        let listed = good(world.store.list(&eyes, &filter, sort, limit, None));
        assert_eq!(ids(&listed), expected[..limit.min(expected.len())], "{told}, limit {limit}");
        for memory in &listed {
            let written = memories.iter().find(|written| written.id == memory.id);
            assert_eq!(Some(memory), written, "{told}: it is given whole");
        }
    }
}

/// What stands in a substring means itself, in content, title and key, in any case and script.
pub fn substrings_are_literal_and_ignore_case(fresh: Fresh<'_>) {
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
    world.put(space, owner, "by title", |m| m.edition.text.title = Some("The Title_1".to_owned()));
    world.put(space, owner, "by key", |m| m.edition.key = Some("Key%1".to_owned()));
    world.put(space, owner, "not by these", |m| {
        m.edition.text.summary = Some("zebra".to_owned());
        m.edition.text.tags = vec!["zebra".to_owned()];
        m.edition.source_note = Some("zebra".to_owned());
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
        let found: Vec<&str> = found.iter().map(|memory| memory.edition.text.content.as_str()).collect();
        assert_eq!(found, *expected, "{needle}");
    }
}

/// All but `Oldest` fall; memories that are equal go by id, in the direction of the sort.
pub fn orders_fall_and_ties_go_by_id(fresh: Fresh<'_>) {
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
    world: &World,
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

/// A read ends with the memory by which the contents have so many bytes; one is always read.
pub fn a_read_ends_where_the_contents_have_so_many_bytes(fresh: Fresh<'_>) {
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
        let extent = Extent { limit: 9, bytes };
        let listed = good(world.store.list_within(&viewer, &filter, Sort::Oldest, extent, None));
        assert_eq!(ids(&listed), all[..many], "{bytes}");
        let read = good(world.store.memories_within(&viewer, &all, bytes));
        assert_eq!(ids(&read), all[..many], "{bytes}");
    }
    let extent = Extent { limit: 3, bytes: 49 };
    assert_eq!(good(world.store.list_within(&viewer, &filter, Sort::Oldest, extent, None)).len(), 3);
}

/// Pages of any size, each after the end of the last, give the whole list once, across equal times too.
pub fn pages_follow_each_other(fresh: Fresh<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pages");
    for n in 0..30 {
        let at = crate::build::second(n / 4);
        let mut memory = crate::build::memory(at, space, owner, &format!("memory {n}"));
        memory.standing.pinned = n % 3 == 0;
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

/// What was there from beginning to end is given once, whatever is saved, edited and erased in between.
pub fn pages_stand_still_while_others_write(fresh: Fresh<'_>) {
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
pub fn time_filters_include_the_start_only(fresh: Fresh<'_>) {
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

/// What has expired by the instant at which states are judged is archived, at the very instant too, and in no other state.
pub fn what_has_expired_counts_as_archived(fresh: Fresh<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("expiry");
    let expiry = world.now();
    world.put(space, owner, "forever", |_| ());
    world.put(space, owner, "for a while", |m| m.edition.span.expires_at = Some(expiry));
    world.put(space, owner, "put away", |m| m.standing.state = State::Archived);
    world.put(space, owner, "cool for a while", |m| {
        m.standing.state = State::Cooling;
        m.edition.span.expires_at = Some(expiry);
    });
    let found = |states: &[State], states_at| -> Vec<String> {
        let filter = Filter { states: states.to_vec(), states_at, ..Filter::default() };
        let found = good(world.store.list(&eyes(owner), &filter, Sort::Oldest, 99, None));
        assert_eq!(good(world.store.count(&eyes(owner), &filter)), found.len() as u64);
        assert_eq!(good(world.store.ids(&eyes(owner), &filter, Sort::Oldest)).len(), found.len());
        assert!(found.iter().all(|memory| filter.admits(memory)));
        found.into_iter().map(|memory| memory.edition.text.content).collect()
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

/// `valid_at` finds what held then: from when it was said to, else from when it happened, else from when it was saved. The
/// start is in, the end is not.
pub fn only_what_held_then_is_found_as_of_then(fresh: Fresh<'_>) {
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
            m.edition.span.valid_from = from.map(at);
            m.edition.span.valid_until = until.map(at);
        });
    }
    let mut late = crate::build::memory(at(15), space, owner, "late");
    late.edition.span.valid_from = Some(at(12));
    world.save(late);
    let mut told = crate::build::memory(at(30), space, owner, "told later");
    told.edition.span.occurred_at = Some(at(18));
    world.save(told);
    let held = |then| -> Vec<String> {
        let filter = Filter { valid_at: Some(at(then)), ..Filter::default() };
        let found = good(world.store.list(&eyes(owner), &filter, Sort::Oldest, 99, None));
        assert_eq!(good(world.store.count(&eyes(owner), &filter)), found.len() as u64);
        found.into_iter().map(|memory| memory.edition.text.content).collect()
    };
    assert_eq!(held(9), ["always", "until 20"]);
    assert_eq!(held(10), ["always", "from 10", "until 20", "from 10 until 20"]);
    assert_eq!(held(15), ["always", "from 10", "until 20", "from 10 until 20", "late"]);
    assert_eq!(held(20), ["always", "from 10", "late", "told later"]);
    assert_eq!(held(11), held(10));
    assert_eq!(held(-2_000), [""; 0], "nothing held by then");
}
