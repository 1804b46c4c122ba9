//! The closed lists of words in the model. Each word is spelled once, here, for code, SQL, JSON and messages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Invalid;

macro_rules! vocabulary {
    ($(
        $(#[$doc:meta])*
        $name:ident, $label:literal { $($(#[$word_doc:meta])* $variant:ident = $word:literal),+ $(,)? }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$word_doc])* $variant),+ }

        impl $name {
            /// Every word, in the order in which it is listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// What the list is called in messages.
            pub const LABEL: &'static str = $label;
            /// The words themselves, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as it is written everywhere.
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
            type Err = Invalid;

            fn from_str(word: &str) -> Result<Self, Invalid> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Invalid::UnknownWord {
                        label: Self::LABEL,
                        got: crate::preview::short(word),
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
    )+};
}

vocabulary! {
    /// What a memory says.
    MemoryType, "type" {
        /// Factual information.
        Fact = "fact",
        /// Likes, dislikes, settings, style.
        Preference = "preference",
        /// Something that was decided.
        Decision = "decision",
        /// Who somebody is, at the core; never decays.
        Identity = "identity",
        /// Something that happened.
        Event = "event",
        /// A pattern or insight that was observed.
        Observation = "observation",
        /// Something to reach.
        Goal = "goal",
        /// Something to do.
        Todo = "todo",
        /// Code bases, repositories, undertakings.
        Project = "project",
        /// Somebody other than the user.
        Person = "person",
        /// Schedules and habits.
        Routine = "routine",
    }

    /// What the content is for.
    Kind, "kind" {
        /// Durable factual information.
        Semantic = "semantic",
        /// Events, conversations, decisions at a time.
        Episodic = "episodic",
        /// How to do something.
        Procedural = "procedural",
        /// Why something was chosen.
        Rationale = "rationale",
    }

    /// How soon a memory goes stale.
    Stability, "stability" {
        /// Rarely changes.
        Stable = "stable",
        /// Changes now and then.
        Evolving = "evolving",
        /// Short-lived.
        Volatile = "volatile",
    }

    /// Who may see a memory.
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

    /// Where a memory stands in its life.
    State, "state" {
        /// Waits for extraction or embedding of an attachment.
        Processing = "processing",
        /// Ready for retrieval.
        Active = "active",
        /// Aged and little used: weighed down.
        Cooling = "cooling",
        /// Hidden from recall; readable and restorable.
        Archived = "archived",
    }

    /// What form the content has.
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

    /// Whether somebody asked for the memory to be saved.
    Author, "author" {
        /// It was asked for.
        User = "user",
        /// It was saved proactively.
        Auto = "auto",
    }

    /// What carried the memory in; set by the surface.
    Origin, "origin" {
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

    /// How far the source of a memory is trusted.
    Trust, "trust" {
        /// The user's own words or work.
        Own = "own",
        /// A member of a shared space.
        Shared = "shared",
        /// Anything else: web pages, mail, other tools.
        Untrusted = "untrusted",
    }

    /// How one memory relates to another, read from the source to the target.
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

    /// Who made an association.
    LinkedBy, "maker of an association" {
        /// A caller, on purpose.
        Caller = "caller",
        /// The engine, by similarity; it relates and never supersedes.
        Auto = "auto",
    }

    /// What a member may do. Later words include the earlier ones.
    Role, "role" {
        /// May read.
        Reader = "reader",
        /// May also write.
        Writer = "writer",
        /// May also manage members, tokens and rules.
        Admin = "admin",
    }

    /// Whether a principal is a person or a program.
    PrincipalKind, "kind of principal" {
        /// A person.
        Person = "person",
        /// An agent.
        Agent = "agent",
    }

    /// What a space is for.
    SpaceKind, "kind of space" {
        /// A space that is shared on purpose.
        Hub = "hub",
        /// A sealed space: nothing in it may be seen from outside.
        Group = "group",
    }

    /// What a membership is of.
    Realm, "realm" {
        /// One space.
        Space = "space",
        /// One team.
        Team = "team",
        /// One org.
        Org = "org",
    }

    /// Who said a turn of a conversation.
    TurnRole, "turn role" {
        /// The user.
        User = "user",
        /// The assistant.
        Assistant = "assistant",
        /// The host.
        System = "system",
    }

    /// A field that is made from the content where nobody gives it.
    Derivable, "field" {
        /// A name for it.
        Title = "title",
        /// It, in short.
        Summary = "summary",
        /// Labels.
        Tags = "tags",
        /// What it is for.
        Kind = "kind",
        /// How soon it goes stale.
        Stability = "stability",
    }

    /// Another memory, whose data can be taken in.
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

    /// Where a job stands.
    JobState, "job state" {
        /// Waits for its time.
        Waiting = "waiting",
        /// Is being done, until its lease runs out.
        Running = "running",
        /// Was done.
        Done = "done",
        /// Failed too often, with the reason.
        Dead = "dead",
    }

    /// What happened to a memory, in the change log.
    ChangeKind, "change" {
        /// It is new.
        Saved = "saved",
        /// Its content or metadata changed.
        Revised = "revised",
        /// Its state, pin, quarantine or forgetting changed.
        Moved = "moved",
        /// It is gone: for good, or for some of those who saw it. Where others still do, the next entry is of the same
        /// memory as it is now: [`Saved`](Self::Saved) in another space, or [`Revised`](Self::Revised) with a narrower
        /// boundary.
        Erased = "erased",
        /// Its vectors were made.
        Embedded = "embedded",
        /// An association was made or strengthened.
        Linked = "linked",
        /// An association was removed.
        Unlinked = "unlinked",
    }

    /// Why a version of a memory was written.
    VersionAct, "act of a version" {
        /// The memory was saved.
        Created = "created",
        /// It was edited, or saved again under its key or path.
        Updated = "updated",
        /// An earlier version was brought back.
        Reverted = "reverted",
    }

    /// What an audit entry records.
    AuditAct, "audited act" {
        /// A memory was forgotten softly.
        Forgot = "forgot",
        /// A forgotten memory came back.
        Restored = "restored",
        /// A memory was removed for good.
        Erased = "erased",
        /// A memory was hidden from recall.
        Archived = "archived",
        /// An archived memory came back.
        Unarchived = "unarchived",
        /// A memory went to another space; said in the one that it left.
        MovedOut = "moved_out",
        /// A memory came from another space; said in the one that it is in now.
        MovedIn = "moved_in",
        /// A memory was pinned.
        Pinned = "pinned",
        /// A memory was unpinned.
        Unpinned = "unpinned",
        /// A todo or a goal was done.
        Done = "done",
        /// A todo or a goal that was done is open again.
        Reopened = "reopened",
        /// A memory that was put aside for review was found good.
        Accepted = "accepted",
        /// One was found not worth keeping, and forgotten softly.
        Rejected = "rejected",
        /// An association was made.
        Associated = "associated",
        /// An association was removed.
        Dissociated = "dissociated",
        /// A space was made.
        SpaceCreated = "space_created",
        /// A membership was given or changed.
        MemberSet = "member_set",
        /// A membership was taken away.
        MemberRemoved = "member_removed",
        /// A principal was made.
        PrincipalCreated = "principal_created",
        /// A token was made.
        TokenCreated = "token_created",
        /// A token was revoked.
        TokenRevoked = "token_revoked",
        /// A pass rewrote a file of what is always known.
        Consolidated = "consolidated",
        /// What a pass did was taken back.
        Undone = "undone",
        /// A dump was loaded.
        Loaded = "loaded",
        /// A backup replaced the store.
        BackupRestored = "backup_restored",
    }

    /// What sort of work was done in the background.
    PassKind, "kind of pass" {
        /// What a user said was looked at for what is worth keeping.
        Proactive = "proactive",
        /// A turn was looked at for what is worth noting in the journal.
        Shadow = "shadow",
        /// Journals were looked at for what shall always be known.
        Consolidate = "consolidate",
        /// Memories were looked at for what says the same, contradicts or repeats.
        Records = "records",
    }

    /// What became of it.
    PassOutcome, "outcome of a pass" {
        /// It is under way, or was interrupted.
        Begun = "begun",
        /// It changed something.
        Done = "done",
        /// There was nothing to change.
        Nothing = "nothing",
        /// It could not be done.
        Failed = "failed",
        /// What it did was taken back.
        Undone = "undone",
    }

    /// What was decided about memories that say nearly the same.
    Verdict, "decision" {
        /// The newest takes the place of the others.
        Updates = "updates",
        /// They cannot all hold, and it is not known which does.
        Contradicts = "contradicts",
        /// The newest is a fact, which takes the place of the others.
        Fact = "fact",
        /// They are about different things: nothing relates them.
        Distinct = "distinct",
    }

    /// What sort of secret stands in a text.
    SecretKind, "kind of secret" {
        /// The id of an access key of AWS.
        AwsKeyId = "aws_key_id",
        /// The secret part of one.
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
        /// What is said to be a password.
        Password = "password",
        /// What is said to be a key, a token or a secret.
        Credential = "credential",
    }

    /// What is done with secrets in what is saved in a space.
    SecretPolicy, "policy for secrets" {
        /// What holds one is refused.
        Strict = "strict",
        /// Each is replaced by its kind.
        Redact = "redact",
        /// They are stored as they are.
        Off = "off",
    }

    /// How a text tries to command an agent that reads it.
    CommandKind, "kind of command" {
        /// It tells the reader to drop what it was told before.
        Override = "override",
        /// It tells the reader to be somebody without rules.
        Role = "role",
        /// It tells the reader to keep something from the user.
        Secrecy = "secrecy",
        /// It tells the reader to give away what is not for others.
        Exfiltration = "exfiltration",
        /// It has marks by which a host tells who speaks.
        FakeTag = "fake_tag",
        /// It has characters that nobody sees.
        HiddenText = "hidden_text",
        /// It speaks to assistants, past the person who reads it.
        Address = "address",
    }

    /// Why a text says nothing.
    JunkKind, "kind of junk" {
        /// It has no letters and no digits.
        Marks = "marks",
        /// It is a greeting or a word of thanks.
        Pleasantry = "pleasantry",
        /// It is one character or one word, again and again.
        Repetition = "repetition",
        /// Somebody tried the keyboard.
        Noise = "noise",
        /// It is a long piece of data in letters.
        Blob = "blob",
    }

    /// What was found wrong with memories.
    FindingKind, "kind of finding" {
        /// A memory holds a secret.
        Secret = "secret",
        /// A memory tries to command an agent.
        Instructions = "instructions",
        /// Two memories contradict each other.
        Contradiction = "contradiction",
        /// Two memories say nearly the same.
        NearDuplicate = "near_duplicate",
        /// Two memories say nearly the same, but for a number or a word that turns the meaning.
        Differs = "differs",
        /// Several observations say nearly the same.
        Repeated = "repeated",
        /// A memory is superseded and pinned.
        SupersededPinned = "superseded_pinned",
        /// Several memories update the same one, and none of them another.
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

    /// What is proposed to be done about a finding.
    ProposedAct, "proposed act" {
        /// One memory is said to update another.
        Supersede = "supersede",
        /// One memory is said to contradict another.
        Contradict = "contradict",
        /// An observation becomes a fact, which updates those that said the same before.
        Promote = "promote",
        /// A memory is forgotten softly.
        Forget = "forget",
        /// A memory is archived.
        Archive = "archive",
        /// A memory is saved anew without its secrets, and the old one erased.
        ReplaceRedacted = "replace_redacted",
    }
}

impl MemoryType {
    /// Whether a memory of this type is open until it is done: a todo or a goal.
    pub const fn can_be_done(self) -> bool {
        matches!(self, Self::Todo | Self::Goal)
    }
}

impl State {
    /// All but archived: where memories are looked for unless somebody says otherwise.
    pub fn unarchived() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|state| *state != Self::Archived).collect()
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
