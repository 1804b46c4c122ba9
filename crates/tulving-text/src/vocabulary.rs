//! The closed lists of words in the model. Each word is spelled only once, in this module, for code, SQL, JSON and
//! messages.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::preview;

/// The error for a word that is not in its list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not {} {label}; it is one of {}", preview::article(label), valid.join(", "))]
pub struct UnknownWord {
    /// The name of the list in messages.
    pub label: &'static str,
    /// The word that was given.
    pub got: String,
    /// The valid words.
    pub valid: &'static [&'static str],
}

macro_rules! vocabulary {
    ($(
        $(#[$doc:meta])*
        $name:ident, $label:literal { $($(#[$word_doc:meta])* $variant:ident = $word:literal),+ $(,)? }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$word_doc])* $variant),+ }

        impl $name {
            /// All words, in the order in which people see them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The name of the list in messages.
            pub const LABEL: &'static str = $label;
            /// The words as text, in the order of `ALL`.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word as it is written everywhere.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord {
                        label: Self::LABEL,
                        got: preview::short(word),
                        valid: Self::WORDS,
                    }),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'_, str>::deserialize(input)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                schema_name(stringify!($name)).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    )+};
}

/// Returns the name of a list in schemas. It differs from the type's name if that name alone would be too vague.
const fn schema_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        b"Kind" => "MemoryKind",
        b"State" => "MemoryState",
        b"Derivable" => "DerivedField",
        b"Sort" => "MemoryOrder",
        b"Strength" => "EvidenceStrength",
        b"SaveOutcome" => "SaveStatus",
        _ => name,
    }
}

vocabulary! {
    /// The type of a memory, by its content.
    MemoryType, "type" {
        /// Factual information.
        Fact = "fact",
        /// Likes, dislikes, settings, style.
        Preference = "preference",
        /// Something that was decided.
        Decision = "decision",
        /// Core facts about who somebody is; never decays.
        Identity = "identity",
        /// Something that happened.
        Event = "event",
        /// A pattern or insight that was observed.
        Observation = "observation",
        /// Something to achieve.
        Goal = "goal",
        /// Something to do.
        Todo = "todo",
        /// Code bases, repositories, ventures.
        Project = "project",
        /// Somebody other than the user.
        Person = "person",
        /// Schedules and habits.
        Routine = "routine",
    }

    /// The kind of a memory, by its purpose.
    Kind, "kind" {
        /// Durable factual information.
        Semantic = "semantic",
        /// Events, conversations, decisions at a time.
        Episodic = "episodic",
        /// Instructions for doing something.
        Procedural = "procedural",
        /// Reasons for a choice.
        Rationale = "rationale",
    }

    /// The stability of a memory: how soon it becomes outdated.
    Stability, "stability" {
        /// Rarely changes.
        Stable = "stable",
        /// Changes now and then.
        Evolving = "evolving",
        /// Short-lived.
        Volatile = "volatile",
    }

    /// The boundary of a memory: who may see it.
    Boundary, "boundary" {
        /// Its owner.
        Private = "private",
        /// The members of its space.
        Hub = "hub",
        /// The members of its team.
        Team = "team",
        /// Anyone of its org.
        Org = "org",
    }

    /// A sort order.
    #[derive(Default)]
    Sort, "order" {
        /// Newest creation first.
        #[default]
        Newest = "newest",
        /// Oldest creation first.
        Oldest = "oldest",
        /// Newest edit first.
        Updated = "updated",
        /// Newest access first.
        Accessed = "accessed",
        /// Highest importance first.
        Importance = "importance",
        /// Most often accessed first.
        MostAccessed = "most_accessed",
        /// Last to happen first; a memory without such a time counts by the time of its save.
        Happened = "happened",
        /// Open ones first: soonest due, then those without a due date by importance and age, newest first. Then completed
        /// ones, last done first.
        Agenda = "agenda",
    }

    /// A method of finding memories.
    Lane, "lane" {
        /// Search by word.
        Keyword = "keyword",
        /// Search by meaning.
        Vector = "vector",
        /// Search by association.
        Graph = "graph",
    }

    /// The method by which the results of the lanes are fused.
    #[derive(Default)]
    Fusion, "fusion" {
        /// The engine's own way, chosen by measurement.
        #[default]
        Measured = "measured",
        /// Reciprocal rank fusion, with no further weights.
        Ranks = "rrf",
    }

    /// The strength of the evidence that a found memory is about the question.
    Strength, "strength" {
        /// Nothing is about the question.
        None = "none",
        /// Something may be about the question.
        Weak = "weak",
        /// Something is about the question.
        Strong = "strong",
    }

    /// The outcome of a save.
    SaveOutcome, "outcome" {
        /// A new memory.
        Created = "created",
        /// The memory with that key or path has a new version.
        Updated = "updated",
        /// The memory with that key or path already said the same.
        Unchanged = "unchanged",
        /// A memory with the same content existed.
        Duplicate = "duplicate",
    }

    /// The lifecycle state of a memory.
    State, "state" {
        /// Waiting for extraction or embedding of an attachment.
        Processing = "processing",
        /// Ready for retrieval.
        Active = "active",
        /// Aged and little used; ranked lower.
        Cooling = "cooling",
        /// Hidden from recall; readable and restorable.
        Archived = "archived",
    }

    /// The form of content.
    ContentType, "content type" {
        /// Plain text.
        Text = "text",
        /// Markdown.
        Markdown = "markdown",
        /// Source code.
        Code = "code",
        /// Chat messages.
        Chat = "chat",
        /// A conversation or its summary.
        Transcript = "transcript",
        /// An attachment.
        File = "file",
        /// JSON, YAML, TOML.
        Structured = "structured",
        /// A URL, never fetched.
        Link = "link",
    }

    /// The author of a memory: saved on request or automatically.
    Author, "author" {
        /// Saved on request.
        User = "user",
        /// Saved proactively.
        Auto = "auto",
    }

    /// The channel through which a memory was saved. The surface sets it if the caller does not.
    Origin, "source" {
        /// The command line.
        Cli = "cli",
        /// An import of files or of another system's data.
        Import = "import",
        /// A hook of a host.
        Hook = "hook",
        /// The web view.
        Web = "web",
        /// The HTTP interface.
        Api = "api",
        /// A client library.
        Sdk = "sdk",
        /// The Model Context Protocol.
        Mcp = "mcp",
        /// A background pass.
        Extraction = "extraction",
    }

    /// The trust in the source of a memory.
    Trust, "trust" {
        /// The user's own words or work.
        Own = "own",
        /// A member of a shared space.
        Shared = "shared",
        /// Anything else: web pages, mail, other tools.
        Untrusted = "untrusted",
    }

    /// The relation of one memory to another, read from the source to the target.
    Relation, "relation" {
        /// Related in general.
        RelatedTo = "related_to",
        /// Updates or supersedes the target.
        Updates = "updates",
        /// Contradicts the target.
        Contradicts = "contradicts",
        /// Was caused by the target.
        CausedBy = "caused_by",
        /// Is a result of the target.
        ResultOf = "result_of",
        /// Is a part of the target.
        PartOf = "part_of",
    }

    /// The maker of an association.
    LinkedBy, "maker of an association" {
        /// A caller, on purpose.
        Caller = "caller",
        /// The engine, by similarity; it relates and never supersedes.
        Auto = "auto",
    }

    /// The role of a member. Later words include the earlier ones.
    Role, "role" {
        /// May read.
        Reader = "reader",
        /// May also write.
        Writer = "writer",
        /// May also manage members, tokens and rules.
        Admin = "admin",
    }

    /// The kind of a principal: a person or a program.
    PrincipalKind, "kind of principal" {
        /// A person.
        Person = "person",
        /// An agent.
        Agent = "agent",
    }

    /// The kind of a space.
    SpaceKind, "kind of space" {
        /// A space that is shared on purpose.
        Hub = "hub",
        /// A sealed space: nothing in it may be seen from outside.
        Group = "group",
    }

    /// The scope of a membership: a space, a team or an org.
    Realm, "realm" {
        /// One space.
        Space = "space",
        /// One team.
        Team = "team",
        /// One org.
        Org = "org",
    }

    /// The role of the speaker of a turn.
    TurnRole, "turn role" {
        /// The user.
        User = "user",
        /// The assistant.
        Assistant = "assistant",
        /// The host.
        System = "system",
    }

    /// A field that is derived from the content if the caller does not give it.
    Derivable, "field" {
        /// The title.
        Title = "title",
        /// The summary.
        Summary = "summary",
        /// The labels.
        Tags = "tags",
        /// The kind.
        Kind = "kind",
        /// The stability.
        Stability = "stability",
    }

    /// Another memory system whose data can be imported.
    System, "system" {
        /// Max: its database `max.db`.
        Max = "max",
        /// Spacebot: its SQLite database.
        Spacebot = "spacebot",
        /// An agent with groups: its database `memories.db`.
        Groups = "groups",
        /// Maven: its workspace.
        Maven = "maven",
        /// Memax: its memories as JSON.
        Memax = "memax",
        /// The reference memory server of the Model Context Protocol: its JSON Lines.
        Mcp = "mcp",
        /// A chat as JSON.
        Chat = "chat",
    }

    /// The state of a job.
    JobState, "job state" {
        /// Waiting for its time.
        Waiting = "waiting",
        /// Running, until its lease ends.
        Running = "running",
        /// Done.
        Done = "done",
        /// Failed too often, with the reason.
        Dead = "dead",
    }

    /// The kind of change to a memory, in the change log.
    ChangeKind, "change" {
        /// The memory is new.
        Saved = "saved",
        /// Its content or metadata changed.
        Revised = "revised",
        /// Its state, pin, quarantine or forgetting changed.
        Moved = "moved",
        /// The memory is gone: for good, or for some of those who saw it. If others still see it, the next entry is
        /// about its current form: [`Saved`](Self::Saved) in another space, or [`Revised`](Self::Revised) with a
        /// narrower boundary.
        Erased = "erased",
        /// Its vectors were made.
        Embedded = "embedded",
        /// An association was created or strengthened.
        Linked = "linked",
        /// An association was removed.
        Unlinked = "unlinked",
    }

    /// The action that wrote a version of a memory.
    VersionAct, "act of a version" {
        /// The memory was saved.
        Created = "created",
        /// The memory was edited, or saved again under its key or path.
        Updated = "updated",
        /// An earlier version was restored.
        Reverted = "reverted",
    }

    /// The action that an audit entry records.
    AuditAct, "audited act" {
        /// A memory was softly forgotten.
        Forgot = "forgot",
        /// A forgotten memory was restored.
        Restored = "restored",
        /// A memory was deleted for good.
        Erased = "erased",
        /// A memory was hidden from recall.
        Archived = "archived",
        /// An archived memory became active again.
        Unarchived = "unarchived",
        /// A memory was moved to another space; recorded in the old one.
        MovedOut = "moved_out",
        /// A memory was moved from another space; recorded in the new one.
        MovedIn = "moved_in",
        /// A memory was pinned.
        Pinned = "pinned",
        /// A memory was unpinned.
        Unpinned = "unpinned",
        /// A todo or a goal was done.
        Done = "done",
        /// A completed todo or goal was reopened.
        Reopened = "reopened",
        /// A quarantined memory was accepted.
        Accepted = "accepted",
        /// A quarantined memory was rejected and softly forgotten.
        Rejected = "rejected",
        /// A memory gained a source, or lost the path of a file.
        SourcesChanged = "sources_changed",
        /// An association was created.
        Associated = "associated",
        /// An association was removed.
        Dissociated = "dissociated",
        /// A space was created.
        SpaceCreated = "space_created",
        /// A membership was added or changed.
        MemberSet = "member_set",
        /// A membership was removed.
        MemberRemoved = "member_removed",
        /// A principal was created.
        PrincipalCreated = "principal_created",
        /// A token was created.
        TokenCreated = "token_created",
        /// A token was revoked.
        TokenRevoked = "token_revoked",
        /// An entry was added to a journal.
        Noted = "noted",
        /// A file of a space was created or replaced.
        FileWritten = "file_written",
        /// A file of a space was removed.
        FileRemoved = "file_removed",
        /// An import changed a memory, or took in what another system had kept.
        Imported = "imported",
        /// A pass rewrote `MEMORY.md`.
        Consolidated = "consolidated",
        /// A pass, a note or an acceptance was undone.
        Undone = "undone",
        /// A dump was loaded.
        Loaded = "loaded",
        /// A backup replaced the store.
        BackupRestored = "backup_restored",
    }

    /// The kind of a pass.
    PassKind, "kind of pass" {
        /// Searched a user's turn for facts worth keeping.
        Proactive = "proactive",
        /// Searched a turn for notes worth journaling.
        Shadow = "shadow",
        /// Searched journals for lasting facts.
        Consolidate = "consolidate",
        /// Searched memories for duplicates, contradictions and repetitions.
        Records = "records",
    }

    /// The outcome of a pass.
    PassOutcome, "outcome of a pass" {
        /// Running, or interrupted.
        Begun = "begun",
        /// Changed something.
        Done = "done",
        /// Found nothing to change.
        Nothing = "nothing",
        /// Failed.
        Failed = "failed",
        /// Was undone.
        Undone = "undone",
    }

    /// The decision about memories that state nearly the same.
    Verdict, "decision" {
        /// The newest supersedes the others.
        Updates = "updates",
        /// At most one can be true, and it is not known which.
        Contradicts = "contradicts",
        /// The newest is a fact, which supersedes the others.
        Fact = "fact",
        /// Different subjects: nothing relates the memories.
        Distinct = "distinct",
    }

    /// The kind of secret in a text.
    SecretKind, "kind of secret" {
        /// The id of an AWS access key.
        AwsKeyId = "aws_key_id",
        /// The secret part of an AWS access key.
        AwsSecretKey = "aws_secret_key",
        /// A token of GitHub.
        GithubToken = "github_token",
        /// A token of GitLab.
        GitlabToken = "gitlab_token",
        /// A token or a webhook of Slack.
        SlackToken = "slack_token",
        /// A secret key of Stripe.
        StripeKey = "stripe_key",
        /// A key of OpenAI.
        OpenaiKey = "openai_key",
        /// A key of Anthropic.
        AnthropicKey = "anthropic_key",
        /// A key or a token of Google.
        GoogleKey = "google_key",
        /// A token of npm.
        NpmToken = "npm_token",
        /// A token of PyPI.
        PypiToken = "pypi_token",
        /// A token of Hugging Face.
        HuggingFaceToken = "hugging_face_token",
        /// A token of another service, known by its form.
        ServiceToken = "service_token",
        /// A signed JSON web token.
        JsonWebToken = "json_web_token",
        /// A private key in PEM form.
        PrivateKey = "private_key",
        /// The password in an address, such as that of a database.
        AddressPassword = "address_password",
        /// The number of a payment card.
        CardNumber = "card_number",
        /// A text labelled as a password.
        Password = "password",
        /// A text labelled as a key, a token or a secret.
        Credential = "credential",
    }

    /// The policy for secrets in content saved to a space.
    SecretPolicy, "policy for secrets" {
        /// Refuses content with a secret.
        Strict = "strict",
        /// Replaces each secret by its kind.
        Redact = "redact",
        /// Stores secrets unchanged.
        Off = "off",
    }

    /// The way in which a text tries to command an agent that reads it.
    CommandKind, "kind of command" {
        /// Orders the reader to ignore its earlier instructions.
        Override = "override",
        /// Orders the reader to act as somebody without rules.
        Role = "role",
        /// Orders the reader to hide something from the user.
        Secrecy = "secrecy",
        /// Orders the reader to reveal confidential data.
        Exfiltration = "exfiltration",
        /// Contains tags by which a host marks who speaks.
        FakeTag = "fake_tag",
        /// Contains invisible characters.
        HiddenText = "hidden_text",
        /// Addresses assistants instead of the person who reads it.
        Address = "address",
    }

    /// The reason why a text has no content.
    JunkKind, "kind of junk" {
        /// No letters and no digits.
        Marks = "marks",
        /// A greeting or a word of thanks.
        Pleasantry = "pleasantry",
        /// One character or one word repeated.
        Repetition = "repetition",
        /// Random keystrokes.
        Noise = "noise",
        /// A long piece of data in letters.
        Blob = "blob",
    }

    /// The kind of problem found in memories.
    FindingKind, "kind of finding" {
        /// A memory contains a secret.
        Secret = "secret",
        /// A memory tries to command an agent.
        Instructions = "instructions",
        /// Two memories contradict each other.
        Contradiction = "contradiction",
        /// Two memories say nearly the same.
        NearDuplicate = "near_duplicate",
        /// Two memories say nearly the same, except for a number or a word that reverses the meaning.
        Differs = "differs",
        /// Two memories state the same thing with another value.
        CompetingValues = "competing_values",
        /// Several observations say nearly the same.
        Repeated = "repeated",
        /// A memory is superseded and pinned.
        SupersededPinned = "superseded_pinned",
        /// Several memories update the same one, and none of these updates another.
        Fork = "fork",
        /// A memory is too long to be one.
        Oversized = "oversized",
        /// A memory has no word in it.
        Empty = "empty",
        /// A memory says nothing.
        Junk = "junk",
        /// Nobody has recalled a memory for long.
        NeverRecalled = "never_recalled",
    }

    /// The proposed action for a finding.
    ProposedAct, "proposed act" {
        /// Marks one memory as updating another.
        Supersede = "supersede",
        /// Marks one memory as contradicting another.
        Contradict = "contradict",
        /// Makes an observation a fact that updates those that said the same before.
        Promote = "promote",
        /// Softly forgets a memory.
        Forget = "forget",
        /// Archives a memory.
        Archive = "archive",
        /// Saves a copy of a memory without its secrets, and erases the old one.
        ReplaceRedacted = "replace_redacted",
    }
}

impl MemoryType {
    /// Returns true if a memory of this type is open until it is done: a todo or a goal.
    pub const fn can_be_done(self) -> bool {
        matches!(self, Self::Todo | Self::Goal)
    }
}

impl State {
    /// Returns all states except archived: the default for searches.
    pub fn unarchived() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|state| *state != Self::Archived).collect()
    }
}

impl Sort {
    /// Returns true if the sort key never changes, so that a page can begin where the previous page ended.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Newest | Self::Oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_to_itself() {
        for word in MemoryType::ALL {
            assert_eq!(word.as_str().parse(), Ok(*word));
        }
        for word in Relation::ALL {
            assert_eq!(word.as_str().parse(), Ok(*word));
        }
        assert_eq!(Relation::ALL.len(), 6);
    }

    #[test]
    fn an_unknown_word_names_the_known_ones() {
        let error = "colour".parse::<MemoryType>().expect_err("not a type");
        let text = error.to_string();
        assert!(text.contains("colour") && text.contains("fact, preference"), "{text}");
    }

    #[test]
    fn roles_ascend() {
        assert!(Role::Reader < Role::Writer && Role::Writer < Role::Admin);
    }
}
