//! Loads lines of a dump unchanged, if the store does not have their identity yet.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension, ToSql, params};
use tulving_core::model::association::Association;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::{ChangeSet, Write};
use tulving_core::model::id::{MemoryId, MemoryNumber, SpaceId, Version};
use tulving_core::model::memory::{Attachment, Chunk, Memory};
use tulving_core::model::record::{LoadOutcome, MemoryRecord, Record};
use tulving_core::model::space::{MemberOf, Membership, Org, Principal, Space, Team};
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::ChangeKind;
use tulving_core::text::chunk;

use super::super::failure::SqliteError;
use super::super::rows::{self, ColumnReader, LARGEST, signed};
use super::ChangeSetWriter;
use super::memories::whereabouts;

/// The largest version number that is accepted from a dump. It leaves room for edits of the memory.
const LARGEST_VERSION: u32 = 1 << 31;

/// The number that a memory gets, if any.
pub(super) type AssignedNumber = Result<Option<MemoryNumber>, SqliteError>;

/// The chunks of memories that will be loaded; `None` if several of these memories have the same id.
pub(in super::super) type ChunksByMemory = HashMap<MemoryId, Option<Vec<Chunk>>>;

/// Splits the memories that will be loaded and are not in the store yet. This happens before the transaction begins,
/// because splitting code takes long.
pub(in super::super) fn cut(
    connection: &Connection,
    changes: &ChangeSet,
) -> Result<ChunksByMemory, SqliteError> {
    let mut there = connection.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?;
    let mut cut = ChunksByMemory::new();
    for Memory { id, fields, .. } in memories(changes) {
        if cut.contains_key(id) {
            cut.insert(*id, None);
        } else if !there.exists([id.as_bytes()])? {
            cut.insert(*id, Some(chunk::of(&fields.text)));
        }
    }
    Ok(cut)
}

pub(in super::super) fn loads_memories(changes: &ChangeSet) -> bool {
    memories(changes).next().is_some()
}

fn memories(changes: &ChangeSet) -> impl Iterator<Item = &Memory> {
    changes.writes.iter().filter_map(|write| match write {
        Write::Load(record) => match &**record {
            Record::Memory(record) => Some(&record.memory),
            _ => None,
        },
        _ => None,
    })
}

impl ChangeSetWriter<'_> {
    pub(super) fn load(&mut self, record: &Record) -> Result<LoadOutcome, SqliteError> {
        match record {
            // Files and attachments are not in the database.
            Record::Dump { .. }
            | Record::End { .. }
            | Record::Attachment(_)
            | Record::File(_)
            | Record::Missing { .. } => Ok(LoadOutcome::Present),
            Record::Org(org) => self.load_org(org),
            Record::Team(team) => self.load_team(team),
            Record::Principal(principal) => self.load_principal(principal),
            Record::Space { space, next_number, next_turn } => {
                self.load_space(space, *next_number, *next_turn)
            }
            Record::Member(member) => self.load_member(member),
            Record::Memory(record) => self.load_memory(record),
            Record::Association(association) => self.load_association(association),
            Record::Turn(turn) => self.load_turn(turn),
            Record::Audit(entry) => self.load_audit(entry),
        }
    }

    fn load_org(&mut self, org: &Org) -> Result<LoadOutcome, SqliteError> {
        if self.has("SELECT 1 FROM orgs WHERE id = ?1", &[org.id.as_bytes()])? {
            return Ok(LoadOutcome::Present);
        }
        self.transaction
            .prepare_cached("INSERT INTO orgs (id, name) VALUES (?1, ?2)")?
            .execute(params![org.id.as_bytes(), org.name])?;
        Ok(LoadOutcome::Added)
    }

    fn load_team(&mut self, team: &Team) -> Result<LoadOutcome, SqliteError> {
        if self.has("SELECT 1 FROM teams WHERE id = ?1", &[team.id.as_bytes()])? {
            return Ok(LoadOutcome::Present);
        }
        if !self.has("SELECT 1 FROM orgs WHERE id = ?1", &[team.org.as_bytes()])? {
            return Ok(LoadOutcome::Dangling);
        }
        self.transaction
            .prepare_cached("INSERT INTO teams (id, org, name) VALUES (?1, ?2, ?3)")?
            .execute(params![team.id.as_bytes(), team.org.as_bytes(), team.name])?;
        Ok(LoadOutcome::Added)
    }

    fn load_principal(&mut self, principal: &Principal) -> Result<LoadOutcome, SqliteError> {
        // Every home starts with some principals. Such a principal keeps the earliest time from all its homes.
        let older = self
            .transaction
            .prepare_cached("UPDATE principals SET created_at = min(created_at, ?2) WHERE id = ?1")?
            .execute(params![principal.id.as_bytes(), principal.created_at.as_micros()])?;
        if older > 0 {
            return Ok(LoadOutcome::Present);
        }
        self.add_principal(principal)?;
        Ok(LoadOutcome::Added)
    }

    fn load_space(
        &mut self,
        space: &Space,
        next_number: u64,
        next_turn: u64,
    ) -> Result<LoadOutcome, SqliteError> {
        let present = self.has("SELECT 1 FROM spaces WHERE id = ?1", &[space.id.as_bytes()])?;
        if !present {
            if !self.has("SELECT 1 FROM teams WHERE id = ?1", &[space.team.as_bytes()])? {
                return Ok(LoadOutcome::Dangling);
            }
            self.add_space(space)?;
        }
        self.transaction
            .prepare_cached(
                "UPDATE spaces SET next_turn = max(next_turn, ?2), created_at = min(created_at, ?3) WHERE id = ?1",
            )?
            .execute(params![space.id.as_bytes(), signed(next_turn.min(LARGEST)), space.created_at.as_micros()])?;
        let counter = self.number_counter(space.id)?;
        *counter = next_number.min(LARGEST).max(*counter);
        Ok(if present { LoadOutcome::Present } else { LoadOutcome::Added })
    }

    fn load_member(&mut self, member: &Membership) -> Result<LoadOutcome, SqliteError> {
        let realm = member.of.realm();
        let key: [&dyn ToSql; 3] = [member.principal.as_bytes(), &realm.as_str(), member.of.id_bytes()];
        if self.has("SELECT 1 FROM members WHERE principal = ?1 AND realm = ?2 AND of = ?3", &key)? {
            return Ok(LoadOutcome::Present);
        }
        let of = match member.of {
            MemberOf::Space(_) => "SELECT 1 FROM spaces WHERE id = ?1",
            MemberOf::Team(_) => "SELECT 1 FROM teams WHERE id = ?1",
            MemberOf::Org(_) => "SELECT 1 FROM orgs WHERE id = ?1",
        };
        if !self.has(of, &[member.of.id_bytes()])? || !self.has_principal(member.principal.as_bytes())? {
            return Ok(LoadOutcome::Dangling);
        }
        self.set_member(member)?;
        Ok(LoadOutcome::Added)
    }

    fn load_memory(&mut self, record: &MemoryRecord) -> Result<LoadOutcome, SqliteError> {
        let chunks = self.cut.get(&record.memory.id).and_then(Option::as_deref);
        self.take_in(record, chunks, Self::number_for)
    }

    /// Loads a memory if nothing prevents it. The memory gets this number, and these chunks if they were computed
    /// before.
    pub(super) fn take_in(
        &mut self,
        record: &MemoryRecord,
        chunks: Option<&[Chunk]>,
        number: impl FnOnce(&mut Self, &Memory) -> AssignedNumber,
    ) -> Result<LoadOutcome, SqliteError> {
        let memory = &*believed(&record.memory);
        if self.locate(memory.id)?.is_some() {
            return Ok(LoadOutcome::Present);
        }
        if !self.has("SELECT 1 FROM spaces WHERE id = ?1", &[memory.space.as_bytes()])?
            || !self.has_principal(memory.owner.as_bytes())?
        {
            return Ok(LoadOutcome::Dangling);
        }
        if let Some(of) = self.holder(memory)? {
            return Ok(LoadOutcome::Duplicate { of });
        }
        let apart = self.apart(memory)?;
        let number = number(self, memory)?;
        let row = self.insert_row(memory, number, &record.current, apart)?;
        let chunks = chunks.map_or_else(|| chunk::of(&memory.fields.text).into(), Cow::Borrowed);
        self.insert_chunks(row, &chunks)?;
        self.settle_new(row, &memory.status, &chunks)?;
        // Only versions older than the current one are written. The next edit adds the current one to the past
        // versions.
        let (past, mut kept) = (1..memory.version.0, BTreeSet::new());
        for version in &record.versions {
            if past.contains(&version.version.0) && kept.insert(version.version.0) {
                self.insert_version(row, version)?;
            }
        }
        self.log(ChangeKind::Saved, memory.id, whereabouts(memory))?;
        Ok(match (memory.number, number) {
            (Some(from), Some(to)) if from != to => LoadOutcome::Renumbered { from, to },
            _ => LoadOutcome::Added,
        })
    }

    /// The memory that already has the key, the path or the content of this memory, if these must be unique.
    fn holder(&self, memory: &Memory) -> Result<Option<MemoryId>, SqliteError> {
        if memory.status.forgotten_at.is_some() || memory.provenance.mirror.is_some() {
            return Ok(None);
        }
        let fields = &memory.fields;
        let audience = rows::audience(fields.boundary, &memory.owner);
        let find = |condition: &str, value: &dyn ToSql| -> Result<Option<MemoryId>, SqliteError> {
            let mut statement = self.transaction.prepare_cached(&format!(
                "SELECT id FROM memories WHERE space = ?1 AND audience = ?2 AND forgotten_at IS NULL \
                 AND mirror_line IS NULL AND {condition}"
            ))?;
            let key = params![memory.space.as_bytes(), audience, value];
            Ok(statement.query_row(key, |row| ColumnReader::of(row).id(MemoryId::from_bytes)).optional()?)
        };
        if let Some(key) = &fields.key
            && let Some(found) = find("key = ?3", key)?
        {
            return Ok(Some(found));
        }
        for path in memory.provenance.paths() {
            let found = find("source_path = ?3", path)?;
            let other = "row IN (SELECT memory FROM source_paths WHERE path = ?3)";
            if let Some(found) = found.map_or_else(|| find(other, path), |found| Ok(Some(found)))? {
                return Ok(Some(found));
            }
        }
        // Several memories with a path may have the same content, as they had in the home of the dump.
        if memory.provenance.source_path.is_some() { Ok(None) } else { self.says(memory) }
    }

    /// Returns 0, or a unique number if another memory has the same content.
    fn apart(&self, memory: &Memory) -> Result<i64, SqliteError> {
        let forgotten = memory.status.forgotten_at.is_some() || memory.provenance.mirror.is_some();
        if forgotten || self.says(memory)?.is_none() {
            return Ok(0);
        }
        let mut statement = self.transaction.prepare_cached("SELECT max(row) + 1 FROM memories")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// The memory with the same content as this memory, if it counts as a duplicate.
    fn says(&self, memory: &Memory) -> Result<Option<MemoryId>, SqliteError> {
        let fields = &memory.fields;
        if fields.key.is_some() || memory.place.conversation.is_some() {
            return Ok(None);
        }
        let audience = rows::audience(fields.boundary, &memory.owner);
        let find = |condition: &str, value: &dyn ToSql| -> Result<Option<MemoryId>, SqliteError> {
            let mut statement = self.transaction.prepare_cached(&format!(
                "SELECT id FROM memories WHERE space = ?1 AND audience = ?2 AND forgotten_at IS NULL \
                 AND mirror_line IS NULL AND {condition} ORDER BY apart LIMIT 1"
            ))?;
            let key = params![memory.space.as_bytes(), audience, value];
            Ok(statement.query_row(key, |row| ColumnReader::of(row).id(MemoryId::from_bytes)).optional()?)
        };
        // The conditions are the same as those of the indexes. Otherwise every line of a dump would read the whole
        // table.
        let bare = format!("boundary = '{}' AND key IS NULL AND conversation IS NULL", fields.boundary);
        match &memory.provenance.attachment {
            Some(Attachment { name: Some(_), hash, .. }) => {
                find(&format!("attachment_hash = ?3 AND {bare} AND attachment_name IS NOT NULL"), hash)
            }
            _ => {
                let hash = &fields.text.content_hash.0;
                find(&format!("content_hash = ?3 AND {bare} AND attachment_name IS NULL"), hash)
            }
        }
    }

    /// The number of the memory in the dump if that is free, otherwise the next number of the space.
    pub(super) fn number_for(&mut self, memory: &Memory) -> AssignedNumber {
        let Some(wanted) = memory.number else {
            return Ok(None);
        };
        let taken = self.has_number(memory.space, wanted)?;
        if taken || wanted.0 == 0 || wanted.0 >= LARGEST {
            return self.next_number(memory.space).map(Some);
        }
        let counter = self.number_counter(memory.space)?;
        *counter = (*counter).max(wanted.0 + 1);
        Ok(Some(wanted))
    }

    /// Returns true if a memory of the space has this number.
    pub(super) fn has_number(&self, space: SpaceId, number: MemoryNumber) -> Result<bool, SqliteError> {
        let key: [&dyn ToSql; 2] = [space.as_bytes(), &signed(number.0)];
        self.has("SELECT 1 FROM memories WHERE space = ?1 AND number = ?2", &key)
    }

    fn load_association(&mut self, association: &Association) -> Result<LoadOutcome, SqliteError> {
        let ends = (self.locate(association.source)?, self.locate(association.target)?);
        let (Some((source, at)), Some((target, _))) = ends else {
            return Ok(LoadOutcome::Dangling);
        };
        let key: [&dyn ToSql; 3] = [&source, &target, &association.relation.as_str()];
        if self.has("SELECT 1 FROM associations WHERE source = ?1 AND target = ?2 AND relation = ?3", &key)? {
            return Ok(LoadOutcome::Present);
        }
        self.insert_association(source, target, association)?;
        self.log(ChangeKind::Linked, association.source, at)?;
        Ok(LoadOutcome::Added)
    }

    fn load_turn(&mut self, turn: &Turn) -> Result<LoadOutcome, SqliteError> {
        if self.has("SELECT 1 FROM turns WHERE id = ?1", &[turn.id.as_bytes()])? {
            return Ok(LoadOutcome::Present);
        }
        if !self.has("SELECT 1 FROM spaces WHERE id = ?1", &[turn.space.as_bytes()])? {
            return Ok(LoadOutcome::Dangling);
        }
        let key: [&dyn ToSql; 2] = [turn.space.as_bytes(), &signed(turn.position)];
        let taken = self.has("SELECT 1 FROM turns WHERE space = ?1 AND position = ?2", &key)?;
        let position =
            if taken || turn.position >= LARGEST { self.next_position(turn.space)? } else { turn.position };
        self.transaction
            .prepare_cached("UPDATE spaces SET next_turn = max(next_turn, ?2 + 1) WHERE id = ?1")?
            .execute(params![turn.space.as_bytes(), signed(position)])?;
        self.insert_turn(turn, position)?;
        Ok(LoadOutcome::Added)
    }

    fn load_audit(&mut self, entry: &AuditEntry) -> Result<LoadOutcome, SqliteError> {
        if self.has("SELECT 1 FROM audit WHERE id = ?1", &[entry.id.as_bytes()])? {
            return Ok(LoadOutcome::Present);
        }
        self.audit(entry)?;
        Ok(LoadOutcome::Added)
    }

    fn has_principal(&self, id: &[u8; 16]) -> Result<bool, SqliteError> {
        self.has("SELECT 1 FROM principals WHERE id = ?1", &[id])
    }

    fn has(&self, sql: &str, key: &[&dyn ToSql]) -> Result<bool, SqliteError> {
        Ok(self.transaction.prepare_cached(sql)?.exists(key)?)
    }
}

/// The memory, with a version number that leaves room for edits.
fn believed(memory: &Memory) -> Cow<'_, Memory> {
    let version = Version(memory.version.0.clamp(1, LARGEST_VERSION));
    if version == memory.version {
        Cow::Borrowed(memory)
    } else {
        Cow::Owned(Memory { version, ..memory.clone() })
    }
}

#[cfg(test)]
mod tests {
    use tulving_core::model::change::Actor;
    use tulving_core::model::id::PrincipalId;
    use tulving_core::model::record::CurrentVersion;
    use tulving_core::model::time::Timestamp;
    use tulving_core::model::vocabulary::VersionAct;
    use tulving_testkit::build;

    use super::*;

    #[test]
    fn what_is_to_be_loaded_is_cut_before_unless_it_is_there() {
        let memory =
            |content: &str| build::memory(build::second(0), SpaceId::DEFAULT, PrincipalId::USER, content);
        let (new, here, twice) = (memory("new"), memory("here"), memory("twice"));
        let load = |memory: &Memory| {
            let current = CurrentVersion { act: VersionAct::Created, by: PrincipalId::USER, agent: None };
            let record = MemoryRecord { memory: memory.clone(), versions: Vec::new(), current };
            Write::Load(Box::new(Record::Memory(Box::new(record))))
        };
        let changes = |writes| ChangeSet {
            by: Actor { principal: PrincipalId::USER, agent: None },
            at: Timestamp::from_micros(0),
            rights: Vec::new(),
            writes,
        };
        let connection = Connection::open_in_memory().expect("a database");
        connection.execute_batch("CREATE TABLE memories (id BLOB)").expect("made");
        connection.execute("INSERT INTO memories VALUES (?1)", [here.id.as_bytes()]).expect("written");
        let loads = changes([&new, &here, &twice, &twice].map(load).to_vec());
        assert!(loads_memories(&loads) && !loads_memories(&changes(Vec::new())));
        let Ok(cut) = cut(&connection, &loads) else { panic!("not cut") };
        let expected = [(new.id, Some(chunk::of(&new.fields.text))), (twice.id, None)];
        assert_eq!(cut, ChunksByMemory::from(expected));
    }
}
