//! Converts rows to types and back. The order of the columns is defined once for each table, next to the function that
//! reads it.

use std::error::Error;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::{FromSql, Null, ToSqlOutput, Type, ValueRef};
use serde::de::DeserializeOwned;
use tulving_core::model::association::Association;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::error::Invalid;
use tulving_core::model::file::FileStamp;
use tulving_core::model::id::{
    AuditId, JobId, MemoryId, MemoryNumber, OrgId, PassId, PrincipalId, SpaceId, TeamId, TokenId, TurnId,
    Version,
};
use tulving_core::model::job::{Job, Lease};
use tulving_core::model::memory::{
    Attachment, Classification, ContentHash, ConversationPlace, DerivedFields, Memory, MemoryText,
    MemoryTimes, Mirror, Provenance, Status, Usage, VersionFields, VersionRecord,
};
use tulving_core::model::record::CurrentVersion;
use tulving_core::model::score::{Importance, Weight};
use tulving_core::model::space::{MemberOf, Membership, Org, Principal, Space, Team, Token};
use tulving_core::model::time::Timestamp;
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{Boundary, Realm, UnknownWord};

use super::failure::SqliteError;

/// Reads the columns of a row, one after the other.
pub(super) struct ColumnReader<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> ColumnReader<'a> {
    pub(super) fn of(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    pub(super) fn take<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    /// A blob without copying it, or NULL.
    pub(super) fn blob_or_none(&mut self) -> rusqlite::Result<Option<&'a [u8]>> {
        self.next += 1;
        Ok(self.row.get_ref(self.next - 1)?.as_blob_or_null()?)
    }

    pub(super) fn id<T>(&mut self, make: fn([u8; 16]) -> T) -> rusqlite::Result<T> {
        self.take().map(make)
    }

    pub(super) fn id_or_none<T>(&mut self, make: fn([u8; 16]) -> T) -> rusqlite::Result<Option<T>> {
        Ok(self.take::<Option<[u8; 16]>>()?.map(make))
    }

    pub(super) fn time(&mut self) -> rusqlite::Result<Timestamp> {
        self.take().map(Timestamp::from_micros)
    }

    pub(super) fn time_or_none(&mut self) -> rusqlite::Result<Option<Timestamp>> {
        Ok(self.take::<Option<i64>>()?.map(Timestamp::from_micros))
    }

    /// A count, which SQLite stores as a signed number.
    pub(super) fn count(&mut self) -> rusqlite::Result<u64> {
        let value: i64 = self.take()?;
        u64::try_from(value).map_err(|error| self.broken(error))
    }

    pub(super) fn small(&mut self) -> rusqlite::Result<u32> {
        let value: i64 = self.take()?;
        u32::try_from(value).map_err(|error| self.broken(error))
    }

    /// A byte position in a text.
    pub(super) fn size(&mut self) -> rusqlite::Result<usize> {
        let value: i64 = self.take()?;
        usize::try_from(value).map_err(|error| self.broken(error))
    }

    /// A list of texts, which is usually empty.
    pub(super) fn texts(&mut self) -> rusqlite::Result<Vec<String>> {
        if self.row.get_ref(self.next)? == ValueRef::Text(b"[]") {
            self.next += 1;
            return Ok(Vec::new());
        }
        self.json()
    }

    /// A word of a vocabulary.
    pub(super) fn word<T: FromStr<Err = UnknownWord>>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        let word = self.row.get_ref(self.next - 1)?.as_str()?;
        word.parse().map_err(|error| self.broken(error))
    }

    /// A word of a vocabulary, or NULL.
    pub(super) fn word_or_none<T: FromStr<Err = UnknownWord>>(&mut self) -> rusqlite::Result<Option<T>> {
        if self.row.get_ref(self.next)? == ValueRef::Null {
            self.next += 1;
            return Ok(None);
        }
        self.word().map(Some)
    }

    pub(super) fn unit<T: TryFrom<f64, Error = Invalid>>(&mut self) -> rusqlite::Result<T> {
        let value: f64 = self.take()?;
        T::try_from(value).map_err(|error| self.broken(error))
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        let text = self.row.get_ref(self.next - 1)?.as_str()?;
        serde_json::from_str(text).map_err(|error| self.broken(error))
    }

    /// Returns the error for the last value that was read: Tulving never writes such a value.
    pub(super) fn broken(&self, error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
        rusqlite::Error::FromSqlConversionFailure(self.next - 1, Type::Null, Box::new(error))
    }
}

/// The columns of [`VersionFields`], from the table `m`.
pub(super) const FIELDS: &str = "m.key, m.boundary, m.content, m.content_type, m.content_hash, m.title, m.summary, \
     m.tags, m.type, m.kind, m.stability, m.importance, m.occurred_at, m.valid_from, m.valid_until, m.expires_at, \
     m.source_note, m.project, m.language, m.auto";

/// Reads [`FIELDS`].
fn fields(columns: &mut ColumnReader<'_>) -> rusqlite::Result<VersionFields> {
    let mut fields = VersionFields {
        key: columns.take()?,
        boundary: columns.word()?,
        text: MemoryText {
            content: columns.take()?,
            content_type: columns.word()?,
            language: None,
            content_hash: ContentHash(columns.take()?),
            title: columns.take()?,
            summary: columns.take()?,
            tags: columns.texts()?,
        },
        class: classification(columns)?,
        span: MemoryTimes {
            occurred_at: columns.time_or_none()?,
            valid_from: columns.time_or_none()?,
            valid_until: columns.time_or_none()?,
            expires_at: columns.time_or_none()?,
        },
        source_note: columns.take()?,
        project: columns.take()?,
        auto: DerivedFields::default(),
    };
    fields.text.language = columns.take()?;
    fields.auto = DerivedFields::from_bits(columns.take()?);
    Ok(fields)
}

/// The values of [`FIELDS`], in the same order.
pub(super) fn field_values(fields: &VersionFields) -> Result<[ToSqlOutput<'_>; 20], SqliteError> {
    fn line(line: Option<&String>) -> ToSqlOutput<'_> {
        line.map_or(ToSqlOutput::from(Null), |line| ToSqlOutput::from(line.as_str()))
    }
    let time = |time: Option<Timestamp>| micros(time).map_or(ToSqlOutput::from(Null), ToSqlOutput::from);
    let VersionFields { key, boundary, text, class, span, project, source_note, auto } = fields;
    Ok([
        line(key.as_ref()),
        ToSqlOutput::from(boundary.as_str()),
        ToSqlOutput::from(text.content.as_str()),
        ToSqlOutput::from(text.content_type.as_str()),
        ToSqlOutput::from(text.content_hash.0.to_vec()),
        line(text.title.as_ref()),
        line(text.summary.as_ref()),
        ToSqlOutput::from(list(&text.tags)?),
        ToSqlOutput::from(class.memory_type.as_str()),
        ToSqlOutput::from(class.kind.as_str()),
        ToSqlOutput::from(class.stability.as_str()),
        ToSqlOutput::from(class.importance.get()),
        time(span.occurred_at),
        time(span.valid_from),
        time(span.valid_until),
        time(span.expires_at),
        line(source_note.as_ref()),
        line(project.as_ref()),
        line(text.language.as_ref()),
        ToSqlOutput::from(i64::from(auto.bits())),
    ])
}

/// A list of texts as JSON.
pub(super) fn list(texts: &[String]) -> Result<String, SqliteError> {
    if texts.is_empty() { Ok("[]".to_owned()) } else { Ok(serde_json::to_string(texts)?) }
}

/// Reads `type, kind, stability, importance` of a memory.
pub(super) fn classification(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Classification> {
    Ok(Classification {
        memory_type: columns.word()?,
        kind: columns.word()?,
        stability: columns.word()?,
        importance: columns.unit::<Importance>()?,
    })
}

/// The columns about the author of the current version, from the table `m`.
pub(super) const CURRENT: &str = "m.version_act, m.updated_by, m.updated_agent";

/// Reads [`CURRENT`].
pub(super) fn current(columns: &mut ColumnReader<'_>) -> rusqlite::Result<CurrentVersion> {
    Ok(CurrentVersion {
        act: columns.word()?,
        by: columns.id(PrincipalId::from_bytes)?,
        agent: columns.take()?,
    })
}

/// The columns of a [`Memory`] without its versioned fields and its replacement. The arguments are the last two
/// columns.
macro_rules! around {
    ($accessed_at:literal, $access_count:literal) => {
        concat!(
            "m.id, m.number, m.space, m.owner, m.version, m.state, m.forgotten_at, m.quarantined_at, m.pinned, m.ruled_at, m.done_at, \
             m.author, m.origin, m.source_agent, m.assisted_by_agent, m.trust, m.pass, m.source_path, \
             CASE WHEN m.source_path IS NULL OR m.mirror_line IS NOT NULL THEN '[]' ELSE \
             (SELECT json_group_array(p.path ORDER BY p.row) FROM source_paths p WHERE p.memory = m.row) END, \
             m.also_without_path, m.mirror_line, \
             m.mirror_occurrence, m.attachment_key, m.attachment_media_type, m.attachment_size, m.attachment_hash, \
             m.attachment_name, m.attachment_trouble, m.conversation, m.position, m.speaker, m.created_at, m.updated_at, ",
            $accessed_at,
            ", ",
            $access_count
        )
    };
}

/// The columns of a [`Memory`] without its versioned fields and its replacement, from `memories m` and `usage u`.
pub(super) const AROUND: &str =
    around!("coalesce(u.accessed_at, m.created_at)", "coalesce(u.access_count, 0)");

/// The same columns from `memories m` alone, with the values of a memory that was never used.
pub(super) const AROUND_UNUSED: &str = around!("m.created_at", "0");

/// The tables of [`AROUND`] and [`FIELDS`].
pub(super) const MEMORIES: &str = "memories m LEFT JOIN usage u ON u.memory = m.row";

/// Reads [`AROUND`], [`FIELDS`] and the id of the memory's replacement, in this order.
pub(super) fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    memory_from(&mut ColumnReader::of(row))
}

/// Reads the same columns as [`memory`], from the next column on.
pub(super) fn memory_from(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Memory> {
    let id = columns.id(MemoryId::from_bytes)?;
    let number = columns.take::<Option<i64>>()?;
    let (space, owner) = (columns.id(SpaceId::from_bytes)?, columns.id(PrincipalId::from_bytes)?);
    let version = Version(columns.small()?);
    let status = status(columns)?;
    let provenance = provenance(columns)?;
    let place = ConversationPlace {
        conversation: columns.take()?,
        position: columns.take()?,
        speaker: columns.take()?,
    };
    let usage = usage(columns)?;
    let fields = fields(columns)?;
    let superseded_by = columns.id_or_none(MemoryId::from_bytes)?;
    let number = number.and_then(|number| u64::try_from(number).ok()).map(MemoryNumber);
    Ok(Memory {
        id,
        number,
        space,
        owner,
        version,
        fields,
        status,
        provenance,
        place,
        usage,
        superseded_by,
        backend: None,
        commands: Vec::new(),
        importance_now: None,
        space_name: None,
    })
}

/// Reads `state, forgotten_at, quarantined_at, pinned, ruled_at, done_at` of a memory.
pub(super) fn status(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Status> {
    Ok(Status {
        state: columns.word()?,
        forgotten_at: columns.time_or_none()?,
        quarantined_at: columns.time_or_none()?,
        pinned: columns.take()?,
        ruled_at: columns.time_or_none()?,
        done_at: columns.time_or_none()?,
    })
}

/// Reads `created_at, updated_at, accessed_at, access_count` of a memory.
pub(super) fn usage(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Usage> {
    Ok(Usage {
        created_at: columns.time()?,
        updated_at: columns.time()?,
        accessed_at: columns.time()?,
        access_count: columns.count()?,
    })
}

fn provenance(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Provenance> {
    let mut provenance = Provenance {
        author: columns.word()?,
        origin: columns.word()?,
        source_agent: columns.take()?,
        assisted_by_agent: columns.take()?,
        trust: columns.word()?,
        pass: columns.id_or_none(PassId::from_bytes)?,
        source_path: columns.take()?,
        source_paths: columns.texts()?,
        also_without_path: columns.take()?,
        mirror: mirror(columns)?,
        attachment: attachment(columns)?,
    };
    // The column contains only the paths after the first.
    if !provenance.source_paths.is_empty() {
        provenance.source_paths.splice(0..0, provenance.source_path.clone());
    }
    Ok(provenance)
}

fn mirror(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Option<Mirror>> {
    let (line, occurrence): (Option<u32>, Option<u32>) = (columns.take()?, columns.take()?);
    Ok(line.map(|line| Mirror { line, occurrence: occurrence.unwrap_or(0) }))
}

fn attachment(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Option<Attachment>> {
    let (object_key, media_type): (Option<String>, Option<String>) = (columns.take()?, columns.take()?);
    let (size, hash): (Option<i64>, Option<String>) = (columns.take()?, columns.take()?);
    let (name, trouble): (Option<String>, Option<String>) = (columns.take()?, columns.take()?);
    Ok(object_key.map(|object_key| Attachment {
        object_key,
        media_type: media_type.unwrap_or_default(),
        size: size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0),
        hash: hash.unwrap_or_default(),
        name,
        trouble,
    }))
}

/// Reads `m.version, m.updated_at`, [`CURRENT`] and [`FIELDS`], in this order, and returns the current version in the
/// form of a past one.
pub(super) fn current_version(columns: &mut ColumnReader<'_>) -> rusqlite::Result<VersionRecord> {
    let (version, at) = (Version(columns.small()?), columns.time()?);
    let CurrentVersion { act, by, agent } = current(columns)?;
    Ok(VersionRecord { version, act, at, by, agent, fields: fields(columns)? })
}

/// The columns of a past version, from the table `v`.
pub(super) const VERSION: &str = "v.version, v.act, v.at, v.by, v.agent, v.edition";

/// Reads [`VERSION`].
pub(super) fn version(row: &Row<'_>) -> rusqlite::Result<VersionRecord> {
    version_from(&mut ColumnReader::of(row))
}

/// Reads the same columns as [`version`], from the next column on.
pub(super) fn version_from(columns: &mut ColumnReader<'_>) -> rusqlite::Result<VersionRecord> {
    Ok(VersionRecord {
        version: Version(columns.small()?),
        act: columns.word()?,
        at: columns.time()?,
        by: columns.id(PrincipalId::from_bytes)?,
        agent: columns.take()?,
        fields: columns.json()?,
    })
}

/// The columns of an association `a` from the memory `s` to the memory `t`.
pub(super) const ASSOCIATION: &str = "s.id, t.id, a.relation, a.weight, a.linked_by, a.created_at";

/// Reads [`ASSOCIATION`].
pub(super) fn association(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Association> {
    Ok(Association {
        source: columns.id(MemoryId::from_bytes)?,
        target: columns.id(MemoryId::from_bytes)?,
        relation: columns.word()?,
        weight: columns.unit::<Weight>()?,
        linked_by: columns.word()?,
        created_at: columns.time()?,
    })
}

/// The columns of a turn.
pub(super) const TURN: &str = "id, space, logged_by, channel, position, role, speaker, content, source, at";

/// Reads [`TURN`].
pub(super) fn turn(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Turn> {
    Ok(Turn {
        id: columns.id(TurnId::from_bytes)?,
        space: columns.id(SpaceId::from_bytes)?,
        logged_by: columns.id(PrincipalId::from_bytes)?,
        channel: columns.take()?,
        position: columns.count()?,
        role: columns.word()?,
        speaker: columns.take()?,
        content: columns.take()?,
        source: columns.take()?,
        at: columns.time()?,
    })
}

/// The columns of an audit entry, from the table `a`.
pub(super) const AUDIT: &str = "a.id, a.at, a.by, a.agent, a.act, a.space, a.memory, a.private_to, a.reason, \
     a.detail";

/// Reads [`AUDIT`].
pub(super) fn audit(columns: &mut ColumnReader<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        id: columns.id(AuditId::from_bytes)?,
        at: columns.time()?,
        by: columns.id(PrincipalId::from_bytes)?,
        agent: columns.take()?,
        act: columns.word()?,
        space: columns.id_or_none(SpaceId::from_bytes)?,
        memory: columns.id_or_none(MemoryId::from_bytes)?,
        private_to: columns.id_or_none(PrincipalId::from_bytes)?,
        reason: columns.take()?,
        detail: columns.take()?,
    })
}

/// The columns of a job.
pub(super) const JOB: &str = "id, kind, payload, state, due_at, lease_holder, lease_until, attempts, max_attempts, \
     last_error, created_at";

/// Reads [`JOB`].
pub(super) fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    let mut columns = ColumnReader::of(row);
    let (id, kind) = (columns.id(JobId::from_bytes)?, columns.take()?);
    let (payload, state, due_at) = (columns.json()?, columns.word()?, columns.time()?);
    let (holder, until): (Option<String>, _) = (columns.take()?, columns.time_or_none()?);
    Ok(Job {
        id,
        kind,
        payload,
        state,
        due_at,
        lease: holder.zip(until).map(|(holder, until)| Lease { holder, until }),
        attempts: columns.small()?,
        max_attempts: columns.small()?,
        last_error: columns.take()?,
        created_at: columns.time()?,
    })
}

/// Reads `id, name` of an org.
pub(super) fn org(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Org> {
    Ok(Org { id: columns.id(OrgId::from_bytes)?, name: columns.take()? })
}

/// Reads `id, org, name` of a team.
pub(super) fn team(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Team> {
    Ok(Team {
        id: columns.id(TeamId::from_bytes)?,
        org: columns.id(OrgId::from_bytes)?,
        name: columns.take()?,
    })
}

/// Reads `id, name, kind, created_at` of a principal.
pub(super) fn principal(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Principal> {
    Ok(Principal {
        id: columns.id(PrincipalId::from_bytes)?,
        name: columns.take()?,
        kind: columns.word()?,
        created_at: columns.time()?,
    })
}

/// Reads `id, team, name, kind, created_at` of a space.
pub(super) fn space(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Space> {
    Ok(Space {
        id: columns.id(SpaceId::from_bytes)?,
        team: columns.id(TeamId::from_bytes)?,
        name: columns.take()?,
        kind: columns.word()?,
        created_at: columns.time()?,
    })
}

/// Reads `principal, realm, of, role` of a membership.
pub(super) fn member(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Membership> {
    let principal = columns.id(PrincipalId::from_bytes)?;
    let (realm, of) = (columns.word()?, columns.take()?);
    let of = match realm {
        Realm::Space => MemberOf::Space(SpaceId::from_bytes(of)),
        Realm::Team => MemberOf::Team(TeamId::from_bytes(of)),
        Realm::Org => MemberOf::Org(OrgId::from_bytes(of)),
    };
    Ok(Membership { principal, of, role: columns.word()? })
}

/// The columns of a token, from the table `k`. Its spaces are hexadecimal ids in one text.
pub(super) const TOKEN: &str = "k.id, k.label, k.principal, k.role, k.created_at, k.revoked_at, \
     (SELECT group_concat(hex(space), '' ORDER BY ordinal) FROM token_spaces WHERE token = k.row)";

/// Reads [`TOKEN`].
pub(super) fn token(columns: &mut ColumnReader<'_>) -> rusqlite::Result<Token> {
    let (id, label) = (columns.id(TokenId::from_bytes)?, columns.take()?);
    let (principal, role) = (columns.id(PrincipalId::from_bytes)?, columns.word()?);
    let (created_at, revoked_at) = (columns.time()?, columns.time_or_none()?);
    let spaces = columns.take::<Option<String>>()?.unwrap_or_default();
    let spaces = data_encoding::HEXUPPER.decode(spaces.as_bytes()).map_err(|error| columns.broken(error))?;
    let spaces = ids(&spaces).map(SpaceId::from_bytes).collect();
    Ok(Token { id, label, principal, spaces, role, created_at, revoked_at })
}

/// Reads `size, modified, inode` of a file.
pub(super) fn stamp(columns: &mut ColumnReader<'_>) -> rusqlite::Result<FileStamp> {
    Ok(FileStamp {
        size: columns.count()?,
        modified: columns.take()?,
        inode: columns.take::<i64>()?.cast_unsigned(),
    })
}

/// The ids in a blob, one after the other.
pub(super) fn ids(blob: &[u8]) -> impl Iterator<Item = [u8; 16]> {
    blob.chunks_exact(16).map(|id| id.try_into().expect("a chunk is 16 bytes"))
}

/// The value of the column `audience` for a memory with this boundary and owner.
pub(super) fn audience(boundary: Boundary, owner: &PrincipalId) -> &[u8] {
    match boundary {
        Boundary::Private => owner.as_bytes(),
        _ => &[],
    }
}

/// Converts a count to the signed number that SQLite stores.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Maximum value of counts and counters. Programs that read numbers as floating point can still represent it exactly.
pub(super) const LARGEST: u64 = 1 << 53;

/// Converts a count to the signed number that SQLite stores, at most [`LARGEST`].
pub(super) fn bounded(count: u64) -> i64 {
    signed(count.min(LARGEST))
}

/// Converts a limit to the signed number that SQLite expects.
pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a time to the microseconds that SQLite stores.
pub(super) fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_micros)
}
