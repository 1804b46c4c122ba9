//! Builds test data with little code: a [`StoreFixture`] around a store, and memories with sensible defaults.
//!
//! A fixture writes through [`Store::apply`] as the user, without checking rights, so that it can set up any state.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tulving_core::model::association::Association;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::{Actor, Applied, ChangeSet, NewMemory, RequiredRole, Revision, Write};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{
    AuditId, JobId, MemoryId, MemoryRef, OrgId, PrincipalId, SpaceId, TeamId, TurnId, Version,
};
use tulving_core::model::job::Job;
use tulving_core::model::memory::{
    Classification, ConversationPlace, DerivedFields, Memory, MemoryText, Provenance, Status, Usage,
    VersionFields,
};
use tulving_core::model::record::{DumpPosition, Record};
use tulving_core::model::request::ForgottenFilter;
use tulving_core::model::score::{Importance, Weight};
use tulving_core::model::space::{MemberOf, Membership, Org, Principal, Space, Team, Viewer};
use tulving_core::model::time::Timestamp;
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{
    AuditAct, Author, Boundary, ContentType, JobState, LinkedBy, MemoryType, Origin, PrincipalKind, Relation,
    Role, SpaceKind, State, Trust, TurnRole, VersionAct,
};
use tulving_core::ports::Store;
use tulving_core::text::{chunk, normalize};
use tulving_text::classify;

/// 2026-01-01T00:00:00Z, the start of every test.
const START_MICROS: i64 = 1_767_225_600_000_000;

/// Returns the instant `n` seconds after the start of every test.
pub fn second(n: i64) -> Timestamp {
    Timestamp::from_micros(START_MICROS + n * 1_000_000)
}

/// Returns a memory with only this `content`: a fact, shared with its space, just saved.
pub fn memory(at: Timestamp, space: SpaceId, owner: PrincipalId, content: &str) -> Memory {
    Memory {
        id: MemoryId::mint(at),
        number: None,
        space,
        owner,
        version: Version::FIRST,
        fields: fields(content),
        status: Status::new(State::Active),
        provenance: Provenance {
            author: Author::User,
            origin: Origin::Api,
            source_agent: None,
            assisted_by_agent: None,
            trust: Trust::Own,
            pass: None,
            source_path: None,
            source_paths: Vec::new(),
            also_without_path: false,
            mirror: None,
            attachment: None,
        },
        place: ConversationPlace::default(),
        usage: Usage { created_at: at, updated_at: at, accessed_at: at, access_count: 0 },
        superseded_by: None,
        backend: None,
        commands: Vec::new(),
        importance_now: None,
        space_name: None,
    }
}

/// Returns the fields of a version with this `content`: a fact, shared with its space.
pub fn fields(content: &str) -> VersionFields {
    let memory_type = MemoryType::Fact;
    let class = Classification {
        memory_type,
        kind: classify::kind_of(memory_type),
        stability: classify::stability_of(memory_type),
        importance: Importance::of(memory_type),
    };
    VersionFields { auto: DerivedFields::ALL, ..VersionFields::new(text(content), class, Boundary::Hub) }
}

/// Returns a plain text with this `content`.
pub fn text(content: &str) -> MemoryText {
    MemoryText {
        content: content.to_owned(),
        content_type: ContentType::Text,
        language: None,
        content_hash: normalize::hash(content),
        title: None,
        summary: None,
        tags: Vec::new(),
    }
}

/// Returns the write that inserts a memory.
pub fn insert(memory: &Memory) -> Write {
    Write::Insert(Box::new(NewMemory { chunks: chunk::of(&memory.fields.text), memory: memory.clone() }))
}

/// Returns the write that replaces the fields of a memory.
pub fn revise(memory: &Memory, fields: VersionFields) -> Write {
    let changed = fields.text.content_hash != memory.fields.text.content_hash;
    Write::Revise(Box::new(Revision {
        id: memory.id,
        from: memory.version,
        act: VersionAct::Updated,
        stood: memory.status,
        status: memory.status,
        chunks: changed.then(|| chunk::of(&fields.text)),
        fields,
        attachment: None,
        confirmed: None,
    }))
}

/// Returns the write that changes the status of a memory.
pub fn shift(memory: &Memory, change: impl FnOnce(&mut Status)) -> Write {
    let mut to = memory.status;
    change(&mut to);
    Write::Move { id: memory.id, from: memory.status, to }
}

/// Returns the write that moves a memory to another space.
pub fn relocate(memory: &Memory, to: SpaceId) -> Write {
    Write::Relocate { id: memory.id, from: (memory.space, memory.version), to }
}

/// Returns an association that a caller makes, with weight one half.
pub fn link(at: Timestamp, source: MemoryId, target: MemoryId, relation: Relation) -> Association {
    Association {
        source,
        target,
        relation,
        weight: Weight::DEFAULT,
        linked_by: LinkedBy::Caller,
        created_at: at,
    }
}

/// Returns a viewer without confinement to spaces.
pub fn eyes(principal: PrincipalId) -> Viewer {
    Viewer { principal, within: None }
}

/// Returns a viewer that is confined to these spaces.
pub fn confined(principal: PrincipalId, within: &[SpaceId]) -> Viewer {
    Viewer { principal, within: Some(within.to_vec()) }
}

/// Returns all records of a store, read in pages of `limit`, without the header line of a dump.
pub fn dump(store: &dyn Store, limit: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let mut position = Some(DumpPosition::default());
    while let Some(at) = position {
        let (page, next) = store.dump(at.clone(), limit).expect("a dump can be read");
        assert!(page.len() <= limit, "a page of {limit} holds {}", page.len());
        assert_ne!(next, Some(at), "the next page begins elsewhere");
        records.extend(page);
        position = next;
    }
    records.retain(|record| !record.is_frame());
    records
}

/// A store with helpers that fill it quickly. The time advances by a second with each created item.
pub struct StoreFixture {
    /// The store.
    pub store: Arc<dyn Store>,
    seconds: AtomicI64,
}

impl StoreFixture {
    /// Creates a fixture around a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, seconds: AtomicI64::new(0) }
    }

    /// Advances the time by a second and returns it.
    pub fn now(&self) -> Timestamp {
        second(self.seconds.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Applies writes as a principal, and checks that the principal has these rights.
    pub fn apply_as(
        &self,
        principal: PrincipalId,
        rights: Vec<RequiredRole>,
        writes: Vec<Write>,
    ) -> Result<Applied, StoreError> {
        self.store.apply(&ChangeSet {
            by: Actor { principal, agent: Some("kit".to_owned()) },
            at: self.now(),
            rights,
            writes,
        })
    }

    /// Applies writes as the user, without checking rights.
    pub fn try_apply(&self, writes: Vec<Write>) -> Result<Applied, StoreError> {
        self.apply_as(PrincipalId::USER, Vec::new(), writes)
    }

    /// Like [`try_apply`](Self::try_apply), but must succeed.
    #[track_caller]
    pub fn apply(&self, writes: Vec<Write>) -> Applied {
        match self.try_apply(writes) {
            Ok(applied) => applied,
            Err(error) => panic!("the writes were refused: {error}"),
        }
    }

    /// Creates a principal.
    pub fn principal(&self, name: &str) -> PrincipalId {
        let created_at = self.now();
        let id = PrincipalId::mint(created_at);
        self.apply(vec![Write::AddPrincipal(Principal {
            id,
            name: name.to_owned(),
            kind: PrincipalKind::Person,
            created_at,
        })]);
        id
    }

    /// Creates an org. No verb creates orgs: they are only loaded from a dump.
    pub fn org(&self, name: &str) -> OrgId {
        let id = OrgId::mint(self.now());
        let org = Org { id, name: name.to_owned() };
        self.apply(vec![Write::Load(Box::new(Record::Org(org)))]);
        id
    }

    /// Creates a team of an org. Like orgs, teams are only loaded from a dump.
    pub fn team(&self, org: OrgId, name: &str) -> TeamId {
        let id = TeamId::mint(self.now());
        let team = Team { id, org, name: name.to_owned() };
        self.apply(vec![Write::Load(Box::new(Record::Team(team)))]);
        id
    }

    /// Creates a space of a team.
    pub fn space_of(&self, team: TeamId, name: &str, kind: SpaceKind) -> SpaceId {
        let created_at = self.now();
        let id = SpaceId::mint(created_at);
        self.apply(vec![Write::AddSpace(Space { id, team, name: name.to_owned(), kind, created_at })]);
        id
    }

    /// Creates a hub of the local team.
    pub fn hub(&self, name: &str) -> SpaceId {
        self.space_of(TeamId::LOCAL, name, SpaceKind::Hub)
    }

    /// Creates a hub, and a principal with the right to write to it.
    pub fn hub_with_writer(&self, name: &str) -> (SpaceId, PrincipalId) {
        let space = self.hub(name);
        let writer = self.principal(&format!("writer-of-{name}"));
        self.join(writer, MemberOf::Space(space), Role::Writer);
        (space, writer)
    }

    /// Makes a principal a member.
    pub fn join(&self, principal: PrincipalId, of: MemberOf, role: Role) {
        self.apply(vec![Write::SetMember(Membership { principal, of, role })]);
    }

    /// Removes a membership.
    pub fn leave(&self, principal: PrincipalId, of: MemberOf) {
        self.apply(vec![Write::RemoveMember(Membership { principal, of, role: Role::Reader })]);
    }

    /// Returns a memory that is not stored yet.
    pub fn draft(&self, space: SpaceId, owner: PrincipalId, content: &str) -> Memory {
        memory(self.now(), space, owner, content)
    }

    /// Stores a memory and returns it with its number.
    #[track_caller]
    pub fn save(&self, mut memory: Memory) -> Memory {
        let applied = match self.apply_as(memory.owner, Vec::new(), vec![insert(&memory)]) {
            Ok(applied) => applied,
            Err(error) => panic!("{:?} was not stored: {error}", memory.fields.text.content),
        };
        memory.number = applied.numbers[0];
        memory
    }

    /// Stores a new memory that `change` has modified.
    #[track_caller]
    pub fn put(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        content: &str,
        change: impl FnOnce(&mut Memory),
    ) -> Memory {
        let mut memory = self.draft(space, owner, content);
        change(&mut memory);
        self.save(memory)
    }

    /// Replaces the fields of a memory, and returns the memory as its owner sees it afterwards.
    #[track_caller]
    pub fn edit(&self, memory: &Memory, change: impl FnOnce(&mut VersionFields)) -> Memory {
        let mut fields = memory.fields.clone();
        change(&mut fields);
        fields.text.content_hash = normalize::hash(&fields.text.content);
        self.apply_as(memory.owner, Vec::new(), vec![revise(memory, fields)])
            .expect("the edition is current and free");
        self.seen(&eyes(memory.owner), memory.id).expect("its owner sees it")
    }

    /// Changes the status of a memory, and returns the memory.
    #[track_caller]
    pub fn shift(&self, memory: &Memory, change: impl FnOnce(&mut Status)) -> Memory {
        let mut moved = memory.clone();
        change(&mut moved.status);
        self.apply(vec![shift(memory, |status| *status = moved.status)]);
        moved
    }

    /// Forgets a memory softly.
    #[track_caller]
    pub fn forget(&self, memory: &Memory) -> Memory {
        let now = self.now();
        self.shift(memory, |status| status.forgotten_at = Some(now))
    }

    /// Erases a memory permanently.
    pub fn erase(&self, id: MemoryId) {
        self.apply(vec![Write::Erase { id, from: None }]);
    }

    /// Links two memories as a caller.
    #[track_caller]
    pub fn link(&self, source: &Memory, target: &Memory, relation: Relation) -> Association {
        let edge = link(self.now(), source.id, target.id, relation);
        self.apply(vec![Write::Link(edge)]);
        edge
    }

    /// Returns a memory as a viewer sees it.
    pub fn seen(&self, viewer: &Viewer, id: MemoryId) -> Option<Memory> {
        self.store
            .memory(viewer, SpaceId::DEFAULT, MemoryRef::Id(id), ForgottenFilter::Without)
            .expect("the store answers")
    }

    /// Returns a turn that is not logged yet.
    pub fn turn(&self, space: SpaceId, by: PrincipalId, content: &str) -> Turn {
        let at = self.now();
        Turn {
            id: TurnId::mint(at),
            space,
            logged_by: by,
            channel: None,
            position: 0,
            role: TurnRole::User,
            speaker: None,
            content: content.to_owned(),
            source: "kit".to_owned(),
            at,
        }
    }

    /// Returns a waiting job that is due at once.
    pub fn job(&self, kind: &str) -> Job {
        let now = self.now();
        Job {
            id: JobId::mint(now),
            kind: kind.to_owned(),
            payload: serde_json::json!({ "memory": kind, "n": 1 }),
            state: JobState::Waiting,
            due_at: now,
            lease: None,
            attempts: 0,
            max_attempts: 3,
            last_error: None,
            created_at: now,
        }
    }

    /// Returns an audit entry for an act in a space.
    pub fn audit(&self, act: AuditAct, space: Option<SpaceId>, memory: Option<MemoryId>) -> AuditEntry {
        let at = self.now();
        AuditEntry {
            id: AuditId::mint(at),
            at,
            by: PrincipalId::USER,
            agent: Some("kit".to_owned()),
            act,
            space,
            memory,
            private_to: None,
            reason: Some("because".to_owned()),
            detail: Some(act.to_string()),
        }
    }

    /// Returns all records of the store.
    pub fn dump(&self) -> Vec<Record> {
        dump(&*self.store, 500)
    }
}
