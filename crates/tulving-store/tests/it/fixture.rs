//! A small store with every kind of row in it, and the checks that every later version must pass.
//!
//! `examples/make_fixture.rs` writes it as a file of the present schema; `upgrade.rs` opens those of all schemas since the baseline.

use tulving_core::model::association::Association;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::{Actor, FrozenOrder, RecallCount, Revision, Write};
use tulving_core::model::id::{
    AuditId, JobId, ListingId, MemoryId, MemoryNumber, MemoryRef, PassId, PrincipalId, Seq, SpaceId, TeamId,
    TokenId, TurnId, Version,
};
use tulving_core::model::job::{Job, Lease};
use tulving_core::model::memory::{Attachment, Embedding, Memory, Mirror, Status};
use tulving_core::model::request::{AuditFilter, Filter, ForgottenFilter, Sort, TurnFilter};
use tulving_core::model::score::Weight;
use tulving_core::model::space::{MemberOf, Membership, Principal, Space, Token, TokenHash, Viewer};
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{
    AuditAct, Boundary, ChangeKind, JobState, LinkedBy, PrincipalKind, Relation, Role, SpaceKind, State,
    TurnRole, VersionAct,
};
use tulving_core::ports::{Directory, Feed, Jobs, Log, Memories, Store};
use tulving_core::text::chunk;
use tulving_store::SqliteStore;

use crate::made::{act, apply, fields, insert, memory, time, user};

const AGENT: PrincipalId = PrincipalId::from_bytes([0xa1; 16]);
const GROUP: SpaceId = SpaceId::from_bytes([0xb2; 16]);
const TOKEN_HASH: TokenHash = TokenHash([0xc3; 32]);
const LISTING: ListingId = ListingId::from_bytes([0xd4; 16]);

/// Fills an empty store.
pub(crate) fn fill(store: &SqliteStore) {
    fill_directory(store);
    let ids = fill_memories(store);
    fill_changes(store, &ids);
    fill_turns(store);
    fill_jobs(store);
    let listing =
        FrozenOrder { id: LISTING, principal: PrincipalId::USER, expires_at: time(1_000), ids: ids.to_vec() };
    apply(store, vec![Write::FreezeListing(listing)]);
}

fn fill_directory(store: &SqliteStore) {
    let agent =
        Principal { id: AGENT, name: "helper".to_owned(), kind: PrincipalKind::Agent, created_at: time(1) };
    let group = Space {
        id: GROUP,
        team: TeamId::LOCAL,
        name: "family".to_owned(),
        kind: SpaceKind::Group,
        created_at: time(2),
    };
    let member = |principal, role| Membership { principal, of: MemberOf::Space(GROUP), role };
    let token = Token {
        id: TokenId::mint(time(3)),
        label: "for the helper".to_owned(),
        principal: AGENT,
        spaces: vec![GROUP],
        role: Role::Writer,
        created_at: time(3),
        revoked_at: None,
    };
    let revoked =
        Token { id: TokenId::mint(time(4)), spaces: Vec::new(), created_at: time(4), ..token.clone() };
    let gone = revoked.id;
    apply(
        store,
        vec![
            Write::AddPrincipal(agent),
            Write::AddSpace(group),
            Write::SetMember(member(PrincipalId::USER, Role::Admin)),
            Write::SetMember(member(AGENT, Role::Writer)),
            Write::AddToken(token, TOKEN_HASH),
            Write::AddToken(revoked, TokenHash([0xc4; 32])),
            Write::RevokeToken(gone),
            Write::Audit(audit(AuditAct::SpaceCreated, Some(GROUP), None)),
        ],
    );
}

fn audit(act: AuditAct, space: Option<SpaceId>, memory: Option<MemoryId>) -> AuditEntry {
    AuditEntry {
        id: AuditId::mint(time(5)),
        at: time(5),
        by: PrincipalId::USER,
        agent: Some("shell".to_owned()),
        act,
        space,
        memory,
        private_to: memory.map(|_| PrincipalId::USER),
        reason: Some("because".to_owned()),
        detail: None,
    }
}

/// Inserts, in the order of their numbers: plain, keyed, from a file, attachment, conversation, group, erased,
/// mirror.
fn fill_memories(store: &SqliteStore) -> [MemoryId; 8] {
    let mut all: [Memory; 8] = std::array::from_fn(|n| memory(&format!("Memory {} of the fixture.", n + 1)));
    let [_, keyed, from_file, attached, said, grouped, _, mirrored] = &mut all;
    keyed.fields.key = Some("editor".to_owned());
    keyed.fields.text.tags = vec!["tools".to_owned(), "Ünïcode".to_owned()];
    keyed.fields.text.title = Some("The editor".to_owned());
    keyed.fields.text.summary = Some("Which editor is used".to_owned());
    keyed.fields.source_note = Some("said at lunch".to_owned());
    keyed.fields.span.valid_from = Some(time(-1_000));
    keyed.fields.span.valid_until = Some(time(100_000));
    keyed.fields.span.occurred_at = Some(time(-2_000));
    keyed.fields.span.expires_at = Some(time(200_000));
    from_file.provenance.source_path = Some("notes/build.md".to_owned());
    from_file.provenance.source_agent = Some("importer".to_owned());
    from_file.provenance.assisted_by_agent = Some("writer".to_owned());
    from_file.provenance.pass = Some(PassId::from_bytes([0xe5; 16]));
    attached.provenance.attachment = Some(Attachment {
        object_key: "objects/ab/cd".to_owned(),
        media_type: "image/png".to_owned(),
        size: 12_345,
        hash: "ab".repeat(32),
        name: None,
        trouble: None,
    });
    attached.status = Status { pinned: true, ..Status::new(State::Processing) };
    said.place.conversation = Some("telegram".to_owned());
    said.place.position = Some(12);
    said.place.speaker = Some("Ada".to_owned());
    said.status.quarantined_at = Some(time(3));
    grouped.space = GROUP;
    grouped.fields.boundary = Boundary::Hub;
    mirrored.provenance.source_path = Some("memory/2026-05-27.md".to_owned());
    mirrored.provenance.mirror = Some(Mirror { line: 3, occurrence: 0 });
    let ids = all.each_ref().map(|memory| memory.id);
    let mut writes: Vec<Write> = all.into_iter().map(insert).collect();
    if let Write::Insert(first) = &mut writes[0] {
        first.chunks[0].heading_path = vec!["Top".to_owned(), "Below".to_owned()];
        first.chunks[0].embedding = Some(embedding(Vec::new()));
    }
    apply(store, writes);
    ids
}

/// Returns the vector of the first memory, with those of its sentences.
fn embedding(sentences: Vec<Vec<f32>>) -> Embedding {
    Embedding { model: "test".to_owned(), vector: vec![0.6, 0.8], sentences }
}

fn fill_changes(store: &SqliteStore, ids: &[MemoryId; 8]) {
    let [plain, keyed, from_file, attached, .., erased, _] = *ids;
    let mut newer = fields("Memory 2 of the fixture, edited.");
    newer.key = Some("editor".to_owned());
    let mut revise = act(vec![Write::Revise(Box::new(Revision {
        id: keyed,
        attachment: None,
        from: Version::FIRST,
        act: VersionAct::Updated,
        chunks: Some(chunk::of(&newer.text)),
        fields: newer,
        stood: Status::new(State::Active),
        status: Status::new(State::Active),
        confirmed: None,
    }))]);
    revise.by = Actor { principal: PrincipalId::USER, agent: Some("shell".to_owned()) };
    store.apply(&revise).expect("edited");
    let link = |source, target, relation, linked_by| {
        let weight = Weight::new(0.75).expect("within");
        Write::Link(Association { source, target, relation, weight, linked_by, created_at: time(6) })
    };
    let active = Status::new(State::Active);
    apply(
        store,
        vec![
            Write::Embed {
                id: plain,
                from: Version::FIRST,
                embeddings: vec![(0, embedding(vec![vec![1.0, 0.0], vec![0.0, -0.5]]))],
            },
            Write::Embed {
                id: keyed,
                from: Version::FIRST.next(),
                embeddings: vec![(0, Embedding { model: "next".to_owned(), ..embedding(Vec::new()) })],
            },
            link(keyed, plain, Relation::Updates, LinkedBy::Caller),
            link(plain, attached, Relation::RelatedTo, LinkedBy::Auto),
            Write::Touch(vec![RecallCount { id: plain, count: 3, at: time(7) }]),
            Write::Move {
                id: from_file,
                from: active,
                to: Status { forgotten_at: Some(time(8)), state: State::Archived, ..active },
            },
            Write::Audit(audit(AuditAct::Forgot, Some(SpaceId::DEFAULT), Some(from_file))),
            Write::Erase { id: erased, from: None },
        ],
    );
}

fn fill_turns(store: &SqliteStore) {
    let turn = |n: i64, role| Turn {
        id: TurnId::mint(time(n)),
        space: GROUP,
        logged_by: AGENT,
        channel: (n % 2 == 0).then(|| "telegram".to_owned()),
        position: 0,
        role,
        speaker: Some("Ada".to_owned()),
        content: format!("Line {n}."),
        source: "tui".to_owned(),
        at: time(n),
    };
    let mut writes: Vec<Write> =
        TurnRole::ALL.iter().zip(0..).map(|(role, n)| Write::LogTurn(turn(n, *role))).collect();
    writes.push(Write::PruneTurns { space: GROUP, keep: 2 });
    apply(store, writes);
}

fn fill_jobs(store: &SqliteStore) {
    let job = |state, n: i64| Job {
        id: JobId::mint(time(n)),
        kind: "embed".to_owned(),
        payload: serde_json::json!({ "memory": n, "again": [true, null] }),
        state,
        due_at: time(n),
        lease: (state == JobState::Running).then(|| Lease { holder: "worker".to_owned(), until: time(50) }),
        attempts: 1,
        max_attempts: 3,
        last_error: (state == JobState::Dead).then(|| "no model".to_owned()),
        created_at: time(0),
    };
    apply(store, JobState::ALL.iter().zip(0..).map(|(state, n)| Write::Enqueue(job(*state, n))).collect());
}

/// Checks that everything [`fill`] wrote is there.
pub(crate) fn assert_filled(store: &SqliteStore) {
    assert_directory(store);
    assert_memories(store);
    assert_history(store);
    assert_vectors(store);
    assert_sentences(store);
    assert_rest(store);
}

fn assert_sentences(store: &SqliteStore) {
    let first = store.entries_after(None, 1, Some("test")).expect("read").remove(0);
    let found = first.chunks[0].embedding.as_ref().expect("it is embedded");
    assert_eq!(found.sentences.len(), 2);
    for (found, written) in found.sentences.iter().flatten().zip([1.0, 0.0, 0.0, -0.5]) {
        assert!((found - written).abs() < 0.01, "{found} was {written}");
    }
    let changes = store.changes(Seq(0), 100).expect("read");
    assert!(changes.iter().any(|change| change.kind == ChangeKind::Embedded));
    assert_eq!(store.unembedded("next").expect("counted"), 4, "a model is being prepared");
}

fn assert_vectors(store: &SqliteStore) {
    assert_eq!(store.model().expect("read").as_deref(), Some("test"));
    let entries = store.entries_after(None, 100, Some("test")).expect("read");
    let embedded: Vec<bool> = entries.iter().map(|entry| entry.chunks[0].embedding.is_some()).collect();
    assert_eq!(embedded, [true, false, false, false, false, false, false]);
    let chunk = &entries[0].chunks[0];
    assert_eq!(chunk.heading_path, ["Top", "Below"]);
    assert_eq!(chunk.embedding.as_ref().map(|made| made.vector.as_slice()), Some(&[0.6, 0.8][..]));
    // Neither forgotten nor quarantined memories.
    assert_eq!(store.unembedded("test").expect("counted"), 4);
    let waiting: Vec<MemoryId> = [1, 3, 5, 6].map(|at| entries[at].memory.id).to_vec();
    assert_eq!(store.unembedded_ids("test", 9, 9).expect("read"), waiting);
}

fn assert_directory(store: &SqliteStore) {
    let names: Vec<String> =
        store.spaces(&user()).expect("read").into_iter().map(|space| space.name).collect();
    assert_eq!(names, ["default", "family"]);
    assert_eq!(store.role(AGENT, MemberOf::Space(GROUP)).expect("read"), Some(Role::Writer));
    let token = store.token_by_hash(&TOKEN_HASH).expect("read").expect("there");
    assert_eq!((token.principal, token.spaces.as_slice(), token.revoked_at), (AGENT, &[GROUP][..], None));
    let tokens = store.tokens(Some(AGENT)).expect("read");
    assert_eq!((tokens.len(), tokens[0].revoked_at.is_some()), (2, true));
}

fn assert_memories(store: &SqliteStore) {
    let contents = |filter: &Filter| -> Vec<String> {
        let found = store.list(&user(), filter, Sort::Oldest, 100, None).expect("read");
        found.into_iter().map(|memory| memory.fields.text.content).collect()
    };
    assert_eq!(
        contents(&Filter::default()),
        [
            "Memory 1 of the fixture.",
            "Memory 2 of the fixture, edited.",
            "Memory 4 of the fixture.",
            "Memory 6 of the fixture.",
            "Memory 8 of the fixture."
        ]
    );
    let forgotten = Filter { forgotten: ForgottenFilter::Only, ..Filter::default() };
    assert_eq!(contents(&forgotten), ["Memory 3 of the fixture."]);
    assert_eq!(contents(&Filter { substring: Some("EDITED".to_owned()), ..Filter::default() }).len(), 1);
    let number = |n| {
        let which = MemoryRef::Number(MemoryNumber(n));
        store.memory(&user(), SpaceId::DEFAULT, which, ForgottenFilter::Without).expect("read")
    };
    let plain = number(1).expect("there");
    let keyed = number(2).expect("there");
    assert_eq!((plain.usage.access_count, plain.superseded_by), (3, Some(keyed.id)));
    assert_eq!(number(3), None, "it is forgotten");
    let attached = number(4).expect("there");
    assert_eq!(attached.provenance.attachment.map(|object| object.size), Some(12_345));
    assert!(attached.status.pinned);
    let quarantined = number(5).expect("there");
    assert_eq!(quarantined.place.speaker.as_deref(), Some("Ada"));
    assert_eq!(number(6), None, "it was erased");
    let confined = Viewer { principal: AGENT, within: Some(vec![GROUP]) };
    assert_eq!(store.count(&confined, &Filter::default()).expect("counted"), 1);
}

fn assert_history(store: &SqliteStore) {
    let keyed = Filter { key: Some("editor".to_owned()), ..Filter::default() };
    let keyed = store.list(&user(), &keyed, Sort::Newest, 2, None).expect("read").remove(0);
    let versions = store.versions(&user(), keyed.id).expect("read");
    assert_eq!(versions.iter().map(|version| version.version.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(versions[0].fields.text.tags, ["tools", "Ünïcode"]);
    assert_eq!((versions[1].act, versions[1].agent.as_deref()), (VersionAct::Updated, Some("shell")));
    let edges = store.associations(&user(), &[keyed.id]).expect("read");
    assert_eq!(edges.iter().map(|edge| edge.relation).collect::<Vec<_>>(), [Relation::Updates]);
    let changes = store.changes(Seq(0), 100).expect("read");
    assert!(changes.iter().any(|change| change.kind == ChangeKind::Erased));
    let audit = store.audit(&user(), &AuditFilter { last: 10, ..AuditFilter::default() }).expect("read");
    assert_eq!(audit.len(), 2);
}

fn assert_rest(store: &SqliteStore) {
    let turns = store
        .turns(&user(), GROUP, &TurnFilter { last: 10, ..TurnFilter::default() }, usize::MAX)
        .expect("read");
    assert_eq!(turns.iter().map(|turn| turn.position).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(turns[1].content, "Line 2.");
    let dead = store.jobs(&[JobState::Dead], &["embed"], 10).expect("read");
    assert_eq!(dead[0].last_error.as_deref(), Some("no model"));
    assert_eq!(store.claimable(&["embed"], time(100), 10).expect("read").len(), 2);
    let listing = store.listing(&user(), LISTING, time(999)).expect("read").expect("there");
    assert_eq!(listing.ids.len(), 8);
}
