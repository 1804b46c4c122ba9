//! dump and load.

use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::audit::AuditEntry;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryNumber, MemoryRef, OrgId, PrincipalId, SpaceId, TeamId, Version};
use tulving_core::model::limits::KEY_CHARS;
use tulving_core::model::record::{DUMP_FORMAT, DumpPosition, LoadOutcome, MemoryRecord, Record};
use tulving_core::model::request::{AuditFilter, Caller, ForgetMode, SaveRequest, TurnFilter};
use tulving_core::model::space::{MemberOf, Membership, Space, Team};
use tulving_core::model::vocabulary::{AuditAct, Boundary, Relation, Role, SpaceKind};
use tulving_core::ports::{Directory, Log};
use tulving_core::text::normalize;
use tulving_core::{LoadOptions, LoadReport};

use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;

use crate::bed::{Bed, keyed, link, refused, said, turn, within, words};

/// Creates a home with every kind of record in it.
fn filled() -> Bed {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    bed.space("group", SpaceKind::Group);
    let friend = bed.member("friend", hub, Role::Writer);
    let first = bed.save(&user, "first");
    bed.update(&user, first.memory.id, &said("first, edited"));
    let second = bed.save(
        &user,
        SaveRequest { associations: vec![link(first.memory.id, Relation::Updates)], ..keyed("k", "second") },
    );
    bed.save(&friend, "a friend's");
    let gone = bed.save(&user, "forgotten");
    bed.forget(&user, gone.memory.id, ForgetMode::Soft);
    bed.engine.pin(&user, second.memory.id.into()).expect("pinned");
    bed.engine.log_turn(&user, &turn("hello")).expect("a turn");
    bed
}

fn load(bed: &Bed, records: Vec<Record>) -> LoadReport {
    bed.load(records)
}

/// Loads with the default options.
fn attempt(bed: &Bed, records: Vec<Record>) -> Result<LoadReport, Error> {
    bed.try_load(records, LoadOptions::default())
}

/// Returns all records except the entries that a load itself leaves.
fn content(bed: &Bed) -> Vec<Record> {
    let by_load = |entry: &AuditEntry| {
        entry.act == AuditAct::Loaded
            || entry.detail.as_ref().is_some_and(|described| described.ends_with("by a load"))
    };
    let mut records = bed.dump();
    records.retain(|record| !matches!(record, Record::Audit(entry) if by_load(entry)));
    records
}

fn header(format: u32, written_by: String) -> Record {
    Record::Dump { format, written_by, holds: Vec::new(), left_out: Vec::new() }
}

fn json(records: &[Record]) -> Vec<String> {
    records.iter().map(|record| serde_json::to_string(record).expect("a record can be written")).collect()
}

#[test]
fn a_dump_goes_through_json_into_another_home_without_loss() {
    let from = filled();
    let written = json(&from.dump());
    let read: Vec<Record> = written.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let clock = ManualClock::ticking(Duration::from_millis(1));
    clock.advance(Duration::from_secs(86_400));
    let to = Bed::with(clock, Arc::new(NoEmbedder));
    let loading = load(&to, read);
    assert_eq!((loading.duplicates, loading.dangling), (0, 0));
    assert_eq!(json(&content(&to)), written);
    let user = to.user();
    assert_eq!(to.contents(&user), from.contents(&user));
    let first = MemoryRef::Number(MemoryNumber(1));
    assert_eq!(to.engine.history(&user, first).unwrap(), from.engine.history(&user, first).unwrap());
    to.engine.restore(&user, MemoryRef::Number(MemoryNumber(3))).unwrap();
    let turns = TurnFilter { last: 9, ..TurnFilter::default() };
    assert_eq!(to.engine.turns(&user, &turns).unwrap().turns.len(), 1);
}

#[test]
fn a_load_that_was_cut_off_can_be_run_again() {
    let from = filled();
    let records = framed(&from, 1_000);
    let to = Bed::new();
    let before = to.dump();
    attempt(&to, records[..records.len() / 2].to_vec()).expect_err("a half");
    assert_eq!(to.dump(), before);
    load(&to, records.clone());
    let once = content(&to);
    assert_eq!(json(&once), json(&from.dump()));
    let again = load(&to, records);
    assert_eq!((again.added, again.duplicates, again.dangling), (0, 0, 0));
    assert_eq!((again.roles.len(), again.roles_left_out.len()), (0, 0));
    assert_eq!(content(&to), once);
}

#[test]
fn a_load_merges_with_what_is_there() {
    let from = filled();
    let to = Bed::new();
    let user = to.user();
    let first = to.save(&user, "mine");
    let duplicate = to.save(&user, keyed("k", "my second"));
    let loading = load(&to, from.dump());
    assert_eq!(loading.duplicates, 1, "the key is taken by another memory here");
    let renumbered: Vec<_> = loading
        .renumbered
        .iter()
        .map(|loaded| match loaded {
            LoadOutcome::Renumbered { from, to } => (from.0, to.0),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(renumbered.len(), 1, "#1 is taken, #3 is free: {renumbered:?}");
    assert_eq!(renumbered[0].0, 1);
    assert!(renumbered[0].1 > 3, "a number that the dump has given is not given again");
    assert_eq!(to.get(&user, first.memory.id).number, Some(MemoryNumber(1)));
    assert_eq!(to.get(&user, duplicate.memory.id).fields.text.content, "my second");
    let edited = to.contents(&user).into_iter().any(|content| content == "first, edited");
    assert!(edited);
    let superseded = to.engine.related(&user, duplicate.memory.id.into(), 1).unwrap();
    assert_eq!(superseded.len(), 1, "the link of the memory left out goes to the one that stands");
    let again = load(&to, from.dump());
    assert_eq!((again.added, again.renumbered.len()), (0, 0), "again is nothing");
}

#[test]
fn people_and_spaces_of_one_name_are_the_same() {
    let from = filled();
    let to = Bed::new();
    let hub = to.hub("hub");
    let friend = to.member("friend", hub, Role::Writer);
    load(&to, from.dump());
    assert_eq!(to.contents(&friend), ["a friend's"]);
    let members = to.engine.members(&to.user(), "hub").unwrap();
    assert_eq!(members.len(), 2);
    assert_eq!(to.engine.spaces(&to.user()).unwrap().len(), 3);
}

#[test]
fn an_edge_or_an_owner_that_is_not_here_is_left_out_and_counted() {
    let from = filled();
    let records: Vec<Record> = from
        .dump()
        .into_iter()
        .filter(|record| {
            !matches!(record, Record::Principal(_))
                && !matches!(record, Record::Memory(memory) if memory.memory.number == Some(MemoryNumber(1)))
        })
        .collect();
    let to = Bed::new();
    let loading = load(&to, records);
    assert!(loading.dangling >= 2, "the friend's memory and an edge: {loading:?}");
    assert_eq!(to.contents(&to.user()), ["second"]);
}

#[test]
fn a_line_that_is_not_what_its_hash_says_is_refused_with_its_number() {
    let from = filled();
    let mut records = from.dump();
    let (at, record) = records
        .iter_mut()
        .enumerate()
        .find_map(|(at, record)| match record {
            Record::Memory(memory) => Some((at, memory)),
            _ => None,
        })
        .expect("a memory");
    record.memory.fields.text.content.push('!');
    let to = Bed::new();
    let before = content(&to);
    let error = attempt(&to, vec![records[at].clone()]).expect_err("a broken line");
    assert!(error.to_string().starts_with("line 1 of the dump cannot be read"), "{error}");
    assert_eq!(content(&to), before);
}

#[test]
fn a_dump_of_a_later_format_is_refused() {
    let bed = Bed::new();
    let head = header(DUMP_FORMAT + 1, "later".to_owned());
    refused!(attempt(&bed, vec![head]), Error::Invalid(Invalid::DumpFormat { .. }));
}

/// Returns the lines that an engine writes, in pages of `limit`, with the first one and the last.
fn framed(bed: &Bed, limit: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let mut position = Some(DumpPosition::default());
    while let Some(at) = position {
        let (page, next) = bed.engine.dump(&bed.user(), at, limit).expect("a page");
        records.extend(page);
        position = next;
    }
    records
}

fn outcome(records: Vec<Record>) -> Result<(), Error> {
    attempt(&Bed::new(), records).map(drop)
}

#[test]
fn a_dump_ends_with_the_number_of_its_records() {
    let bed = filled();
    for limit in [1, 3, 1_000] {
        let records = framed(&bed, limit);
        let between = u64::try_from(records.len() - 2).unwrap();
        assert!(matches!(records[0], Record::Dump { format: DUMP_FORMAT, .. }));
        assert_eq!(records.last(), Some(&Record::End { records: between }), "in pages of {limit}");
        assert_eq!(records.iter().filter(|record| record.is_frame()).count(), 2);
        outcome(records).expect("a whole dump");
    }
}

#[test]
fn a_dump_of_which_lines_are_missing_is_not_taken_for_a_whole_one() {
    let records = framed(&filled(), 1_000);
    let between = u64::try_from(records.len() - 2).unwrap();
    for kept in 1..records.len() {
        let got = u64::try_from(kept - 1).unwrap();
        match outcome(records[..kept].to_vec()).expect_err("a dump that was cut off") {
            Error::Invalid(Invalid::DumpCut { got: said }) => assert_eq!(said, got),
            other => panic!("{other}"),
        }
    }
    let mut gap = records.clone();
    gap.remove(records.len() - 2);
    match outcome(gap).expect_err("a dump with a gap") {
        Error::Invalid(Invalid::DumpCount { got, stated }) => {
            assert_eq!((got, stated), (between - 1, between));
        }
        other => panic!("{other}"),
    }
    let (half, whole) = (&records[..records.len() / 2], &records[..]);
    assert!(outcome([half, whole].concat()).is_err(), "another dump begins before the first one has ended");
    outcome([whole, whole].concat()).expect("two whole dumps, one behind the other");
}

#[test]
fn a_dump_of_the_first_format_needs_no_last_line() {
    let mut records = framed(&filled(), 1_000);
    records.pop();
    records[0] = header(1, "tulving 0.1.0".to_owned());
    outcome(records).expect("as it was written then");
}

#[test]
fn moving_the_whole_store_takes_an_admin_of_the_org() {
    let bed = filled();
    let hub = bed.hub("another");
    let member = bed.member("member", hub, Role::Admin);
    let weak = Caller { ceiling: Role::Writer, ..bed.user() };
    for caller in [&member, &weak] {
        refused!(bed.engine.dump(caller, DumpPosition::default(), 10), Error::Denied { .. });
        refused!(bed.engine.begin_load(caller, LoadOptions::default()), Error::Denied { .. });
        let mut loading = bed.engine.begin_load(&bed.user(), LoadOptions::default()).expect("begun");
        refused!(bed.engine.load(caller, &mut loading, Vec::new()), Error::Denied { .. });
        refused!(bed.engine.finish_load(caller, loading), Error::Denied { .. });
    }
}

#[test]
fn a_finished_load_is_audited() {
    let to = Bed::new();
    // Later than everything in the dump.
    to.clock.advance(Duration::from_secs(3_600));
    load(&to, filled().dump());
    let filter = AuditFilter { last: 1, ..AuditFilter::default() };
    let entries = to.engine.audit(&to.user(), &filter).unwrap();
    assert_eq!(entries[0].act, AuditAct::Loaded);
}

#[test]
fn a_dumped_private_memory_stays_private() {
    let from = Bed::new();
    let hub = from.hub("hub");
    let friend = from.member("friend", hub, Role::Writer);
    from.save(&friend, SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("private") });
    let to = Bed::new();
    load(&to, from.dump());
    let user = within(&to.user(), hub);
    assert_eq!(to.contents(&user), [""; 0]);
    assert_eq!(to.contents(&friend), ["private"]);
}

/// A manipulation of a line of a dump.
type MemoryTampering = fn(&mut MemoryRecord);

/// Loads the dump of a filled home with one memory manipulated, and returns the message.
fn tampered(change: impl Fn(&mut MemoryRecord)) -> String {
    let mut records = filled().dump();
    let edited = records.iter_mut().find_map(|record| match record {
        Record::Memory(memory) if !memory.versions.is_empty() => Some(memory),
        _ => None,
    });
    change(edited.expect("an edited memory"));
    let to = Bed::new();
    let done = attempt(&to, records);
    assert!(to.contents(&to.user()).is_empty(), "nothing of the piece is in");
    words(done)
}

/// Replaces the content, with the right hash.
fn retell(record: &mut MemoryRecord, content: &str) {
    record.memory.fields.text.content = content.to_owned();
    record.memory.fields.text.content_hash = normalize::hash(content);
}

#[test]
fn a_dump_in_another_normal_form_is_loaded_in_ours() {
    let mut records = filled().dump();
    for record in &mut records {
        if let Record::Memory(record) = record
            && !record.versions.is_empty()
        {
            retell(record, "\u{feff} first, cafe\u{301}\r\n");
            record.memory.fields.text.title = Some("cafe\u{301}".to_owned());
            record.memory.fields.text.tags = vec!["cle\u{301}".to_owned(), "cl\u{e9}".to_owned()];
            record.memory.place.speaker = Some(" Ada ".to_owned());
            record.memory.fields.source_note = Some(" ".to_owned());
            // As long as a key could become when its length was measured before composition.
            record.memory.fields.key = Some("\u{1d160}".repeat(KEY_CHARS));
        }
    }
    let to = Bed::new();
    load(&to, records);
    let loaded = to.engine.get(&to.user(), MemoryRef::Number(MemoryNumber(1))).expect("it is loaded");
    assert_eq!(loaded.fields.text.content, "first, cafe\u{301}");
    assert_eq!(loaded.fields.text.content_hash, normalize::hash("first, cafe\u{301}"));
    assert_eq!(loaded.fields.text.title.as_deref(), Some("caf\u{e9}"));
    assert_eq!(loaded.fields.text.tags, ["cl\u{e9}"]);
    assert_eq!(loaded.place.speaker.as_deref(), Some("Ada"));
    assert_eq!(loaded.fields.source_note, None);
    assert_eq!(loaded.fields.key.map(|key| key.chars().count()), Some(3 * KEY_CHARS));
}

#[test]
fn a_load_refuses_what_a_save_refuses() {
    let wrong: [(&str, MemoryTampering); 11] = [
        ("control character", |record| record.memory.fields.text.title = Some("a\u{1b}[31m".to_owned())),
        ("control character", |record| record.memory.fields.key = Some("k\0".to_owned())),
        ("10000 tags", |record| record.memory.fields.text.tags = vec!["t".to_owned(); 10_000]),
        ("is before valid_from", |record| {
            record.memory.fields.span.valid_from = Some(build::second(2));
            record.memory.fields.span.valid_until = Some(build::second(1));
        }),
        ("version 4294967295 is not plausible", |record| record.memory.version = Version(u32::MAX)),
        ("out of order", |record| record.memory.version = Version(1)),
        ("out of order", |record| record.versions[0].version = Version(0)),
        ("does not match its hash", |record| record.versions[0].fields.text.content = "forged".to_owned()),
        ("access_count", |record| record.memory.usage.access_count = u64::MAX),
        ("number", |record| record.memory.number = Some(MemoryNumber(u64::MAX))),
        ("the content is empty", |record| retell(record, " ")),
    ];
    for (expected, change) in wrong {
        let said = tampered(change);
        assert!(said.contains(expected) && said.starts_with("line "), "{expected}: {said}");
    }
}

#[test]
fn what_is_wrong_with_an_entry_of_the_audit_is_named_as_what_it_is() {
    for field in ["reason", "detail"] {
        let mut records = filled().dump();
        let entry = records.iter_mut().find_map(|record| match record {
            Record::Audit(entry) => Some(entry),
            _ => None,
        });
        let entry = entry.expect("an entry of the audit");
        let said = if field == "reason" { &mut entry.reason } else { &mut entry.detail };
        *said = Some("a\u{1b}[31m".to_owned());
        let to = Bed::new();
        let said = words(attempt(&to, records));
        assert!(said.contains(&format!("the {field} contains the control character")), "{said}");
    }
}

#[test]
fn a_load_opens_no_group_and_takes_no_name_that_is_none() {
    let from = filled();
    let group = within(&from.user(), from.space("sealed", SpaceKind::Group));
    from.save(&group, "sealed in");
    let mut open = from.dump();
    for record in &mut open {
        if let Record::Memory(memory) = record
            && memory.memory.space == group.space
        {
            memory.memory.fields.boundary = Boundary::Org;
        }
    }
    let to = Bed::new();
    let done = attempt(&to, open);
    assert!(words(done).contains("wider than a group allows"));
    let mut named = from.dump();
    for record in &mut named {
        if let Record::Space { space, .. } = record
            && space.name == "sealed"
        {
            space.name = "../../etc".to_owned();
        }
    }
    let done = attempt(&to, named);
    assert!(words(done).contains("`../../etc` cannot be a name"));
}

#[test]
fn teams_of_one_name_are_the_same() {
    let (there, here) = (TeamId::mint(build::second(1)), TeamId::mint(build::second(2)));
    let team = |id| Record::Team(Team { id, org: OrgId::LOCAL, name: "crew".to_owned() });
    let to = Bed::new();
    load(&to, vec![team(here)]);
    let space = Space {
        id: SpaceId::mint(build::second(3)),
        team: there,
        name: "deck".to_owned(),
        kind: SpaceKind::Hub,
        created_at: build::second(3),
    };
    let loading =
        load(&to, vec![team(there), Record::Space { space: space.clone(), next_number: 1, next_turn: 1 }]);
    assert_eq!((loading.present, loading.added), (1, 1));
    let spaces = to.engine.spaces(&to.user()).unwrap();
    let deck = spaces.iter().find(|known| known.id == space.id).expect("the space came along");
    assert_eq!(deck.team, here);
}

#[test]
fn what_a_load_leaves_out_is_named_with_its_line() {
    let from = filled();
    let to = Bed::new();
    let user = to.user();
    to.save(&user, keyed("k", "my second"));
    let loading = load(&to, from.dump());
    let left = &loading.left_out;
    assert_eq!(left.len() as u64, loading.duplicates + loading.dangling);
    assert!(left.iter().all(|left| left.line > 1 && left.memory.is_some()), "{left:?}");
}

/// Returns a dump of one membership, as somebody would write it by hand.
fn of_one_role(principal: PrincipalId, of: MemberOf, role: Role) -> Vec<Record> {
    vec![
        header(2, "by hand".to_owned()),
        Record::Member(Membership { principal, of, role }),
        Record::End { records: 1 },
    ]
}

#[test]
fn a_dump_does_not_make_somebody_who_is_here_an_admin_of_the_org() {
    let bed = Bed::new();
    let eve = bed.person("eve").viewer.principal;
    let org = MemberOf::Org(OrgId::LOCAL);
    let dump = || of_one_role(eve, org, Role::Admin);
    let report = load(&bed, dump());
    assert_eq!(bed.store.role(eve, org).unwrap(), None);
    assert_eq!((report.added, report.roles.len()), (0, 0));
    let left = &report.roles_left_out[0];
    let described = (left.line, left.principal.as_str(), left.realm, left.of.as_str(), left.role);
    assert_eq!(described, (2, "eve", "org", "local", Role::Admin));

    let asked = bed.try_load(dump(), LoadOptions { with_roles: true }).expect("asked for");
    assert_eq!(bed.store.role(eve, org).unwrap(), Some(Role::Admin));
    assert_eq!((asked.roles.len(), asked.roles_left_out.len()), (1, 0));
    let audit = bed.engine.audit(&bed.user(), &AuditFilter { last: 9, ..AuditFilter::default() }).unwrap();
    let described = |entry: &&AuditEntry| entry.act == AuditAct::MemberSet;
    let details: Vec<_> = audit.iter().filter(described).map(|entry| entry.detail.clone().unwrap()).collect();
    assert_eq!(details, ["eve admin of the org local, by a load"]);
    let loads: Vec<_> = audit.iter().filter(|entry| entry.act == AuditAct::Loaded).collect();
    assert_eq!(loads[0].detail.as_deref(), Some("1 lines added, 0 present, 1 roles taken over, 0 left out"));
    assert_eq!(loads.len(), 2, "both loads are audited");
}

#[test]
fn a_load_gives_nobody_a_right_over_what_is_here() {
    let from = Bed::new();
    let (hub, old) = (from.hub("hub"), from.hub("old"));
    let friend = from.member("friend", hub, Role::Admin).viewer.principal;
    let eve = from.person("eve").viewer.principal;
    for (principal, of, role) in [
        (eve, MemberOf::Space(hub), Role::Reader),
        (friend, MemberOf::Space(old), Role::Reader),
        (friend, MemberOf::Space(SpaceId::DEFAULT), Role::Writer),
        (friend, MemberOf::Team(TeamId::LOCAL), Role::Admin),
        (friend, MemberOf::Org(OrgId::LOCAL), Role::Reader),
    ] {
        from.world().join(principal, of, role);
    }
    let to = Bed::new();
    let known = to.person("eve").viewer.principal;
    let here = to.hub("old");
    let report = load(&to, from.dump());
    // The hub is new here: the person who loads, and the friend, who is new too, keep their roles.
    let role = |principal, of| to.store.role(principal, of).unwrap();
    assert_eq!(role(PrincipalId::USER, MemberOf::Space(hub)), Some(Role::Admin));
    assert_eq!(role(friend, MemberOf::Space(hub)), Some(Role::Admin));
    assert_eq!(report.roles.len(), 2);
    assert_eq!(role(known, MemberOf::Space(hub)), None, "eve was here before");
    assert_eq!(role(friend, MemberOf::Space(here)), None, "the space was here before, by its name");
    for of in [MemberOf::Space(SpaceId::DEFAULT), MemberOf::Team(TeamId::LOCAL), MemberOf::Org(OrgId::LOCAL)]
    {
        assert_eq!(role(friend, of), None, "{of:?} was here before");
    }
    assert_eq!(report.roles_left_out.len(), 5);
    let asked = to.try_load(from.dump(), LoadOptions { with_roles: true }).expect("asked for");
    assert_eq!((asked.roles.len(), asked.roles_left_out.len()), (5, 0));
    assert_eq!(role(known, MemberOf::Space(hub)), Some(Role::Reader));
    assert_eq!(role(friend, MemberOf::Space(here)), Some(Role::Reader));
}

#[test]
fn a_principal_under_another_name_is_told_by_its_name_here() {
    let bed = Bed::new();
    let eve = bed.person("eve").viewer.principal;
    let friend = bed.person("friend").viewer.principal;
    let mut records = of_one_role(eve, MemberOf::Team(TeamId::LOCAL), Role::Admin);
    let disguised = bed.dump().into_iter().find_map(|record| match record {
        Record::Principal(principal) if principal.id == eve => Some(principal),
        _ => None,
    });
    let mut disguised = disguised.expect("eve");
    disguised.name = "harmless".to_owned();
    records.insert(1, Record::Principal(disguised));
    records[3] = Record::End { records: 2 };
    assert_eq!(load(&bed, records).roles_left_out[0].principal, "eve");
    let named = Record::Principal(tulving_core::model::space::Principal {
        id: PrincipalId::mint(build::second(9)),
        name: "friend".to_owned(),
        kind: tulving_core::model::vocabulary::PrincipalKind::Person,
        created_at: build::second(9),
    });
    let id = match &named {
        Record::Principal(principal) => principal.id,
        _ => unreachable!("it is one"),
    };
    let mut records = of_one_role(id, MemberOf::Team(TeamId::LOCAL), Role::Admin);
    records.insert(1, named);
    records[3] = Record::End { records: 2 };
    assert_eq!(load(&bed, records).roles_left_out[0].principal, "friend");
    assert_eq!(bed.store.role(friend, MemberOf::Team(TeamId::LOCAL)).unwrap(), None);
}

#[test]
fn a_refused_load_leaves_nothing() {
    let from = filled();
    let sealed = within(&from.user(), from.space("sealed", SpaceKind::Group));
    from.save(&sealed, "sealed in");
    let good = framed(&from, 1_000);
    let end = good.len() - 1;
    let mut open = good.clone();
    for record in &mut open {
        if let Record::Memory(memory) = record
            && memory.memory.space == sealed.space
        {
            // Found only after everything before it has been written.
            memory.memory.fields.boundary = Boundary::Org;
        }
    }
    let mut miscounted = good.clone();
    miscounted[end] = Record::End { records: 1 };
    let mut broken = good.clone();
    broken[end - 1] = match broken[end - 1].clone() {
        Record::Audit(entry) => Record::Audit(AuditEntry { detail: Some("\u{1b}".to_owned()), ..entry }),
        other => panic!("a dump ends with the audit: {other:?}"),
    };
    for records in [open, miscounted, broken, good[..end].to_vec()] {
        let to = Bed::new();
        to.save(&to.user(), "mine");
        let (before, head) = (json(&to.dump()), to.store.head().unwrap());
        to.try_load(records, LoadOptions { with_roles: true }).expect_err("refused");
        assert_eq!(json(&to.dump()), before);
        assert_eq!(to.store.head().unwrap(), head, "nor is anything in the change log");
    }
    load(&Bed::new(), good);
}

#[test]
fn two_dumps_with_the_same_names_can_be_loaded_as_one() {
    let (one, other) = (filled(), filled());
    let to = Bed::new();
    let both = [framed(&one, 100), framed(&other, 100)].concat();
    let report = load(&to, both);
    assert_eq!(to.engine.spaces(&to.user()).unwrap().len(), 3, "hub and group are there once");
    assert_eq!(to.engine.members(&to.user(), "hub").unwrap().len(), 2);
    assert_eq!(report.dangling, 0);
}
