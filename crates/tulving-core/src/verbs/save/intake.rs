//! Validates a request once: limits, normal form, closed lists of words. Nothing is checked again after this.

use tulving_text::classify;

use super::derive::{self, DraftContext};
use super::form;
use crate::model::answer::Warning;
use crate::model::error::{Field, Invalid};
use crate::model::file::FileStamp;
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::job;
use crate::model::limits::{self, Limits};
use crate::model::memory::{
    Attachment, Classification, ConversationPlace, DerivedFields, Memory, MemoryText, MemoryTimes,
    Provenance, VersionFields,
};
use crate::model::request::{AssociationRequest, SaveRequest, UpdateRequest};
use crate::model::score::{Importance, Weight};
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{
    Author, Boundary, ContentType, Derivable, Kind, MemoryType, Origin, Relation, SpaceKind, Stability,
    State, Trust,
};
use crate::text::normalize;
use crate::text::redact::{RedactionCounts, Redactor};

/// A validated request.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The id to use if the memory is new; `None` to create an id.
    pub(crate) id: Option<MemoryId>,
    /// The given fields, with at least a content.
    pub(crate) patch: Patch,
    /// The provenance of the memory. By default, its agent is the agent of the caller.
    pub(crate) provenance: Provenance,
    /// The given channel; the caller's by default.
    pub(crate) origin: Option<Origin>,
    /// The conversation from which the memory comes.
    pub(crate) place: ConversationPlace,
    /// True if the memory is pinned.
    pub(crate) pinned: bool,
    /// The links to make.
    pub(crate) links: Vec<ValidatedLink>,
    /// The record of the file from which the memory was read, for an import.
    pub(crate) imported: Option<Imported>,
    /// True if the metadata comes from the document itself.
    pub(crate) described: bool,
    /// True if the memory is quarantined for review.
    pub(crate) quarantined: bool,
    /// The numbers of redactions in the request.
    pub(crate) withheld: RedactionCounts,
    /// A note about the form of the content, for the receipt.
    pub(crate) note: Option<String>,
}

/// The record of a file at the time it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Imported {
    /// The stamp of the file.
    pub(crate) stamp: FileStamp,
    /// The hash of the file's bytes.
    pub(crate) digest: [u8; 32],
    /// True if the stamp is enough to detect later changes of the file.
    pub(crate) settled: bool,
}

impl Draft {
    /// Applies the redactor. A path stays unchanged because it identifies the file, so a path with a secret is refused.
    pub(crate) fn withhold(mut self, mut redactor: Redactor, bounds: Limits) -> Result<Self, Invalid> {
        self.patch.withhold(&mut redactor, bounds)?;
        let Provenance { source_path, source_agent, assisted_by_agent, attachment, .. } =
            &mut self.provenance;
        let name = attachment.as_mut().map(|attachment| &mut attachment.name);
        if let Some(path) = source_path {
            redactor.refuse(Field::SourcePath, path)?;
        }
        for (field, text) in [
            (Field::SourceAgent, Some(source_agent)),
            (Field::Agent, Some(assisted_by_agent)),
            (Field::File, name),
            (Field::Conversation, Some(&mut self.place.conversation)),
            (Field::Speaker, Some(&mut self.place.speaker)),
        ] {
            if let Some(text) = text {
                withhold_line(&mut redactor, field, text, limits::NOTE_CHARS)?;
            }
        }
        self.withheld = redactor.withheld();
        Ok(self)
    }

    /// Returns the warnings about the request itself: its redactions and its form.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let form = self.note.iter().map(|note| Warning::Form { note: note.clone() });
        self.withheld.warnings().into_iter().chain(form).collect()
    }

    /// Returns the content in its normal form.
    pub(crate) fn content(&self) -> &str {
        self.patch.content.as_deref().unwrap_or_default()
    }

    /// Returns the fields of a new memory made from the draft.
    pub(crate) fn fresh(&self, boundary: Boundary) -> VersionFields {
        self.patch.fresh(boundary, self.about())
    }

    /// Applies the draft to existing fields.
    pub(crate) fn onto(&self, old: &VersionFields) -> VersionFields {
        self.patch.onto(old, self.about())
    }

    fn about(&self) -> DraftContext<'_> {
        let waits = self.work() == Some(job::EXTRACT);
        DraftContext { waits, ..DraftContext::of(&self.provenance, &self.place) }
    }

    /// Returns the kind of job that must run before the memory becomes active.
    pub(crate) fn work(&self) -> Option<&'static str> {
        match self.patch.content_type {
            _ if self.provenance.attachment.is_some() => Some(job::EXTRACT),
            Some(ContentType::Link) => Some(job::LINK),
            _ => None,
        }
    }

    /// Returns the initial state of the memory.
    pub(crate) fn first_state(&self) -> State {
        if self.work().is_some() { State::Processing } else { State::Active }
    }

    /// Returns true if a memory already has the same file or content as the draft. If the metadata comes from the
    /// document itself, the other fields must be equal too.
    pub(crate) fn repeats(&self, memory: &Memory) -> bool {
        match (&self.provenance.attachment, &memory.provenance.attachment) {
            (Some(one), Some(other)) => one.hash == other.hash,
            (None, None) => {
                memory.fields.text.content_hash == normalize::hash(self.content())
                    && (!self.described || self.onto(&memory.fields) == memory.fields)
            }
            _ => false,
        }
    }
}

/// A validated link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidatedLink {
    /// The memory to link to, as the caller named it.
    pub(crate) target: MemoryRef,
    /// The relation.
    pub(crate) relation: Relation,
    /// The strength.
    pub(crate) weight: Weight,
}

/// The fields that a caller set, in their normal form. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Patch {
    pub(crate) content: Option<String>,
    pub(crate) content_type: Option<ContentType>,
    pub(crate) language: Option<Option<String>>,
    pub(crate) key: Option<Option<String>>,
    pub(crate) title: Option<Option<String>>,
    pub(crate) summary: Option<Option<String>>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) memory_type: Option<MemoryType>,
    pub(crate) kind: Option<Kind>,
    pub(crate) stability: Option<Stability>,
    pub(crate) importance: Option<Importance>,
    pub(crate) boundary: Option<Boundary>,
    pub(crate) project: Option<Option<String>>,
    pub(crate) source_note: Option<Option<String>>,
    pub(crate) occurred_at: Option<Option<Timestamp>>,
    pub(crate) valid_from: Option<Option<Timestamp>>,
    pub(crate) valid_until: Option<Option<Timestamp>>,
    pub(crate) expires_at: Option<Option<Timestamp>>,
}

/// Validates a save.
pub(crate) fn read(request: SaveRequest, space: &Space, bounds: Limits) -> Result<Draft, Invalid> {
    let (request, note) = form::detect(request);
    let links = request.associations.as_slice();
    if links.len() > limits::ASSOCIATIONS {
        let (got, limit) = (links.len(), limits::ASSOCIATIONS);
        return Err(Invalid::TooMany { field: Field::Associations, got, limit });
    }
    let links = links.iter().map(link).collect::<Result<_, _>>()?;
    let patch = Patch {
        content: Some(content(&request.content, bounds)?),
        content_type: request.content_type,
        language: given(Field::Language, request.language.as_deref(), limits::TAG_CHARS)?.map(Some),
        key: request
            .key
            .map(|key| normalize::line(Field::Key, &key, limits::KEY_CHARS))
            .transpose()?
            .map(Some),
        title: given(Field::Title, request.title.as_deref(), limits::TITLE_CHARS)?.map(Some),
        summary: given(Field::Summary, request.summary.as_deref(), limits::SUMMARY_CHARS)?.map(Some),
        tags: request.tags.map(|given| tags(&given)).transpose()?,
        memory_type: request.memory_type,
        kind: request.kind,
        stability: request.stability,
        importance: request.importance.map(Importance::new).transpose()?,
        boundary: request.boundary,
        project: given(Field::Project, request.project.as_deref(), limits::NOTE_CHARS)?.map(Some),
        source_note: given(Field::SourceNote, request.source_note.as_deref(), limits::NOTE_CHARS)?.map(Some),
        occurred_at: request.occurred_at.map(Some),
        valid_from: request.valid_from.map(Some),
        valid_until: request.valid_until.map(Some),
        expires_at: request.expires_at.map(Some),
    };
    request.attachment.as_ref().map_or(Ok(()), Attachment::check)?;
    patch.check_boundary(space)?;
    patch.check_span(&MemoryTimes::default())?;
    let provenance = Provenance {
        author: request.author.unwrap_or(Author::User),
        origin: request.origin.unwrap_or(Origin::Api),
        source_agent: given(Field::SourceAgent, request.source_agent.as_deref(), limits::NOTE_CHARS)?,
        assisted_by_agent: given(Field::Agent, request.assisted_by_agent.as_deref(), limits::NOTE_CHARS)?,
        trust: request.trust.unwrap_or(Trust::Own),
        pass: request.pass,
        source_path: request
            .source_path
            .filter(|path| !path.trim().is_empty())
            .map(|path| normalize::path(Field::SourcePath, &path, limits::PATH_CHARS))
            .transpose()?,
        source_paths: Vec::new(),
        also_without_path: false,
        mirror: None,
        attachment: request.attachment,
    };
    let place = ConversationPlace {
        conversation: given(Field::Conversation, request.conversation.as_deref(), limits::NOTE_CHARS)?,
        position: request.position,
        speaker: given(Field::Speaker, request.speaker.as_deref(), limits::NOTE_CHARS)?,
    };
    if let (Some(position), None) = (place.position, &place.conversation) {
        return Err(Invalid::PositionAlone { position });
    }
    Ok(Draft {
        id: None,
        patch,
        provenance,
        origin: request.origin,
        place,
        pinned: request.pinned,
        links,
        imported: None,
        described: false,
        quarantined: false,
        withheld: RedactionCounts::default(),
        note,
    })
}

/// Validates an edit.
pub(crate) fn read_update(request: &UpdateRequest, bounds: Limits) -> Result<Patch, Invalid> {
    let patch = Patch {
        content: request.content.as_deref().map(|text| content(text, bounds)).transpose()?,
        content_type: request.content_type,
        language: clearable(Field::Language, request.language.as_ref(), limits::TAG_CHARS)?,
        key: clearable(Field::Key, request.key.as_ref(), limits::KEY_CHARS)?,
        title: clearable(Field::Title, request.title.as_ref(), limits::TITLE_CHARS)?,
        summary: clearable(Field::Summary, request.summary.as_ref(), limits::SUMMARY_CHARS)?,
        tags: request.tags.as_deref().map(tags).transpose()?,
        memory_type: request.memory_type,
        kind: request.kind,
        stability: request.stability,
        importance: request.importance.map(Importance::new).transpose()?,
        boundary: request.boundary,
        project: clearable(Field::Project, request.project.as_ref(), limits::NOTE_CHARS)?,
        source_note: clearable(Field::SourceNote, request.source_note.as_ref(), limits::NOTE_CHARS)?,
        occurred_at: request.occurred_at,
        valid_from: request.valid_from,
        valid_until: request.valid_until,
        expires_at: request.expires_at,
    };
    if patch == Patch::default() { Err(Invalid::NothingToUpdate) } else { Ok(patch) }
}

/// Validates a link.
pub(crate) fn link(request: &AssociationRequest) -> Result<ValidatedLink, Invalid> {
    Ok(ValidatedLink {
        target: request.target,
        relation: request.relation.unwrap_or(Relation::RelatedTo),
        weight: request.weight.map_or(Ok(Weight::DEFAULT), Weight::new)?,
    })
}

/// Refuses a boundary that would open a sealed space.
pub(crate) fn refuse_opening(space: &Space, boundary: Boundary) -> Result<(), Invalid> {
    if space.kind == SpaceKind::Group && boundary > Boundary::Hub {
        return Err(Invalid::BoundaryTooWide { boundary });
    }
    Ok(())
}

/// Validates a reason, note or other short text that may be missing.
pub(crate) fn given(field: Field, text: Option<&str>, limit: usize) -> Result<Option<String>, Invalid> {
    text.filter(|text| !text.trim().is_empty()).map(|text| normalize::line(field, text, limit)).transpose()
}

/// Validates a text of several lines that may be missing.
pub(crate) fn given_text(field: Field, text: Option<&str>, limit: usize) -> Result<Option<String>, Invalid> {
    let Some(text) = text.map(normalize::content).transpose()?.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let got = text.chars().count();
    if got > limit { Err(Invalid::TooLong { field, got, limit, unit: "characters" }) } else { Ok(Some(text)) }
}

fn clearable(
    field: Field,
    text: Option<&Option<String>>,
    limit: usize,
) -> Result<Option<Option<String>>, Invalid> {
    text.map(|text| given(field, text.as_deref(), limit)).transpose()
}

fn content(text: &str, bounds: Limits) -> Result<String, Invalid> {
    bounded(normalize::content(text)?, bounds)
}

fn bounded(content: String, bounds: Limits) -> Result<String, Invalid> {
    let (got, limit) = (content.len(), bounds.content_bytes);
    match got {
        0 => Err(Invalid::Empty { field: Field::Content }),
        _ if got > limit => Err(Invalid::TooLong { field: Field::Content, got, limit, unit: "bytes" }),
        _ => Ok(content),
    }
}

/// Returns tags in their normal form: trimmed, each once, in the order given.
fn tags(given: &[String]) -> Result<Vec<String>, Invalid> {
    if given.len() > limits::TAGS {
        return Err(Invalid::TooMany { field: Field::Tags, got: given.len(), limit: limits::TAGS });
    }
    let mut tags = Vec::with_capacity(given.len());
    for tag in given {
        let tag = normalize::line(Field::Tag, tag, limits::TAG_CHARS)?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

/// Applies the redactor to a line that may be missing.
pub(crate) fn withhold_line(
    redactor: &mut Redactor,
    field: Field,
    text: &mut Option<String>,
    limit: usize,
) -> Result<(), Invalid> {
    if let Some(said) = text.take() {
        *text = redactor.line(field, said, limit)?;
    }
    Ok(())
}

impl Patch {
    /// Applies the redactor to all fields.
    pub(crate) fn withhold(&mut self, redactor: &mut Redactor, bounds: Limits) -> Result<(), Invalid> {
        if let Some(said) = self.content.take() {
            // The placeholder may be longer than its secret.
            self.content = Some(bounded(redactor.content(Field::Content, said)?, bounds)?);
        }
        if let Some(Some(key)) = &mut self.key {
            // Two different keys could become equal by redaction, so a key with a secret is refused.
            redactor.refuse(Field::Key, key)?;
            // A name that is entirely private is useless after redaction.
            let said = std::mem::take(key);
            *key = redactor
                .line(Field::Key, said, limits::KEY_CHARS)?
                .ok_or(Invalid::OnlyPrivate { field: Field::Key })?;
        }
        for (field, text, limit) in [
            (Field::Language, &mut self.language, limits::TAG_CHARS),
            (Field::Title, &mut self.title, limits::TITLE_CHARS),
            (Field::Summary, &mut self.summary, limits::SUMMARY_CHARS),
            (Field::Project, &mut self.project, limits::NOTE_CHARS),
            (Field::SourceNote, &mut self.source_note, limits::NOTE_CHARS),
        ] {
            if let Some(text) = text {
                withhold_line(redactor, field, text, limit)?;
            }
        }
        if let Some(given) = self.tags.take() {
            let mut tags = Vec::with_capacity(given.len());
            for tag in given {
                let tag = redactor.line(Field::Tag, tag, limits::TAG_CHARS)?;
                tags.extend(tag.filter(|tag| !tags.contains(tag)));
            }
            self.tags = Some(tags);
        }
        Ok(())
    }

    /// Creates the fields of a version from the given fields, and derives the other fields.
    pub(crate) fn fresh(&self, boundary: Boundary, about: DraftContext<'_>) -> VersionFields {
        let memory_type = self.memory_type.unwrap_or(MemoryType::Fact);
        let text = MemoryText {
            content: String::new(),
            content_type: ContentType::Text,
            language: None,
            content_hash: normalize::hash(""),
            title: None,
            summary: None,
            tags: Vec::new(),
        };
        let class = Classification {
            memory_type,
            kind: classify::kind_of(memory_type),
            stability: classify::stability_of(memory_type),
            importance: Importance::of(memory_type),
        };
        let blank = VersionFields { auto: DerivedFields::ALL, ..VersionFields::new(text, class, boundary) };
        self.onto(&blank, about)
    }

    /// Replaces the given fields in a version, and derives again the fields that no caller gave. If the type changes,
    /// importance, kind and stability change to the defaults of the new type if they were the defaults of the old type.
    pub(crate) fn onto(&self, old: &VersionFields, about: DraftContext<'_>) -> VersionFields {
        let mut new = old.clone();
        if let Some(content) = &self.content {
            new.text.content_hash = normalize::hash(content);
            new.text.content.clone_from(content);
        }
        if let Some(content_type) = self.content_type {
            new.text.content_type = content_type;
            new.text.language = new.text.language.filter(|_| content_type == old.text.content_type);
        }
        set(&mut new.text.language, self.language.as_ref());
        set(&mut new.key, self.key.as_ref());
        set(&mut new.text.title, self.title.as_ref());
        set(&mut new.text.summary, self.summary.as_ref());
        set(&mut new.text.tags, self.tags.as_ref());
        new.auto = old
            .auto
            .given(Derivable::Title, self.title.is_some())
            .given(Derivable::Summary, self.summary.is_some())
            .given(Derivable::Tags, self.tags.is_some())
            .given(Derivable::Kind, self.kind.is_some())
            .given(Derivable::Stability, self.stability.is_some());
        new.class = self.class_onto(old.class);
        set(&mut new.boundary, self.boundary.as_ref());
        set(&mut new.project, self.project.as_ref());
        set(&mut new.source_note, self.source_note.as_ref());
        new.span = self.span_onto(&old.span);
        let says_else = new.text.content_hash != old.text.content_hash || new.text.form() != old.text.form();
        if says_else || new.class.memory_type != old.class.memory_type {
            derive::derive(&mut new, about);
        }
        new
    }

    fn class_onto(&self, old: Classification) -> Classification {
        let mut new = old;
        if let Some(memory_type) = self.memory_type {
            new.memory_type = memory_type;
            if old.kind == classify::kind_of(old.memory_type) {
                new.kind = classify::kind_of(memory_type);
            }
            if old.stability == classify::stability_of(old.memory_type) {
                new.stability = classify::stability_of(memory_type);
            }
            if old.importance == Importance::of(old.memory_type) {
                new.importance = Importance::of(memory_type);
            }
        }
        set(&mut new.kind, self.kind.as_ref());
        set(&mut new.stability, self.stability.as_ref());
        set(&mut new.importance, self.importance.as_ref());
        new
    }

    fn span_onto(&self, old: &MemoryTimes) -> MemoryTimes {
        let mut new = *old;
        set(&mut new.occurred_at, self.occurred_at.as_ref());
        set(&mut new.valid_from, self.valid_from.as_ref());
        set(&mut new.valid_until, self.valid_until.as_ref());
        set(&mut new.expires_at, self.expires_at.as_ref());
        new
    }

    /// Refuses a boundary that would open a sealed space.
    pub(crate) fn check_boundary(&self, space: &Space) -> Result<(), Invalid> {
        self.boundary.map_or(Ok(()), |boundary| refuse_opening(space, boundary))
    }

    /// Refuses a validity that ends before it begins.
    pub(crate) fn check_span(&self, old: &MemoryTimes) -> Result<(), Invalid> {
        self.span_onto(old).check()
    }
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{SpaceId, TeamId};

    fn space(kind: SpaceKind) -> Space {
        Space {
            id: SpaceId::DEFAULT,
            team: TeamId::LOCAL,
            name: "default".to_owned(),
            kind,
            created_at: Timestamp::from_micros(0),
        }
    }

    fn read_one(request: SaveRequest) -> Result<Draft, Invalid> {
        read(request, &space(SpaceKind::Hub), Limits::default())
    }

    #[test]
    fn what_is_not_said_comes_from_the_type() {
        let request =
            SaveRequest { memory_type: Some(MemoryType::Todo), ..SaveRequest::new("water the plants") };
        let fields = read_one(request).expect("good").patch.fresh(Boundary::Private, DraftContext::default());
        assert_eq!(fields.class.kind, Kind::Episodic);
        assert_eq!(fields.class.stability, Stability::Volatile);
        assert_eq!(fields.class.importance.get(), 0.3);
    }

    #[test]
    fn a_new_type_takes_its_defaults_along_but_not_what_was_set() {
        let request = SaveRequest { importance: Some(0.9), ..SaveRequest::new("x") };
        let fact = read_one(request).expect("good").patch.fresh(Boundary::Private, DraftContext::default());
        let event = Patch { memory_type: Some(MemoryType::Event), ..Patch::default() }
            .onto(&fact, DraftContext::default());
        assert_eq!(event.class.kind, Kind::Episodic);
        assert_eq!(event.class.importance.get(), 0.9);
    }

    #[test]
    fn bounds_are_errors_with_the_value() {
        let limits = Limits { content_bytes: 4, ..Limits::default() };
        let error = read(SaveRequest::new("12345"), &space(SpaceKind::Hub), limits).expect_err("too long");
        assert_eq!(error.to_string(), "the content is 5 bytes and the limit is 4");
        assert_eq!(
            read_one(SaveRequest::new(" \n ")).expect_err("empty").to_string(),
            "the content is empty"
        );
        let many = SaveRequest { tags: Some(vec!["t".to_owned(); 10_000]), ..SaveRequest::new("x") };
        let error = read_one(many).expect_err("too many");
        assert_eq!(error.to_string(), "there are 10000 tags and the limit is 100");
        let heavy = SaveRequest { importance: Some(1.5), ..SaveRequest::new("x") };
        assert_eq!(
            read_one(heavy).expect_err("too much").to_string(),
            "the importance is 1.5 and must be between 0 and 1"
        );
    }

    #[test]
    fn a_group_stays_sealed() {
        let request = SaveRequest { boundary: Some(Boundary::Org), ..SaveRequest::new("x") };
        let error = read(request, &space(SpaceKind::Group), Limits::default()).expect_err("too wide");
        assert_eq!(error, Invalid::BoundaryTooWide { boundary: Boundary::Org });
    }

    #[test]
    fn validity_cannot_end_before_it_begins() {
        let request = SaveRequest {
            valid_from: Some(Timestamp::from_micros(10)),
            valid_until: Some(Timestamp::from_micros(9)),
            ..SaveRequest::new("x")
        };
        assert!(matches!(read_one(request), Err(Invalid::EndsBeforeStart { .. })));
    }

    #[test]
    fn links_default_to_related_at_a_half() {
        let request =
            AssociationRequest { target: "#3".parse().expect("a number"), relation: None, weight: None };
        let link = link(&request).expect("good");
        assert_eq!((link.relation, link.weight.get()), (Relation::RelatedTo, 0.5));
    }
}
