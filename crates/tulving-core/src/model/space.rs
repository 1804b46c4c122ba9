//! Spaces, the teams and orgs that they belong to, and their members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::id::{OrgId, PrincipalId, SpaceId, TeamId, TokenId};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, PrincipalKind, Realm, Role, SpaceKind};

/// An organisation, which has teams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Org {
    /// Its id.
    pub id: OrgId,
    /// Its name.
    pub name: String,
}

/// A set of spaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Its id.
    pub id: TeamId,
    /// The org it belongs to.
    pub org: OrgId,
    /// Its name, unique in its org.
    pub name: String,
}

/// A container of memories, separated from other spaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Its id.
    pub id: SpaceId,
    /// The team it belongs to.
    pub team: TeamId,
    /// Its name, unique in its team.
    pub name: String,
    /// Its kind.
    pub kind: SpaceKind,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl Space {
    /// Returns true if the text is the name or the id of the space.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.id.to_string() == name
    }

    /// Returns the default boundary of a memory: private in `default`, hub elsewhere.
    pub fn default_boundary(&self) -> Boundary {
        if self.id == SpaceId::DEFAULT { Boundary::Private } else { Boundary::Hub }
    }
}

/// A person or an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Its id.
    pub id: PrincipalId,
    /// Its name, unique in the store.
    pub name: String,
    /// Person or agent.
    pub kind: PrincipalKind,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// The place that a membership belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "realm", content = "of", rename_all = "lowercase")]
pub enum MemberOf {
    /// A space.
    Space(SpaceId),
    /// A team.
    Team(TeamId),
    /// An org.
    Org(OrgId),
}

impl MemberOf {
    /// Returns the kind of place.
    pub const fn realm(self) -> Realm {
        match self {
            Self::Space(_) => Realm::Space,
            Self::Team(_) => Realm::Team,
            Self::Org(_) => Realm::Org,
        }
    }

    /// Returns the bytes of the id of the space, team or org.
    pub const fn id_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Space(id) => id.as_bytes(),
            Self::Team(id) => id.as_bytes(),
            Self::Org(id) => id.as_bytes(),
        }
    }
}

/// The membership of a principal in a space, a team or an org.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The principal.
    pub principal: PrincipalId,
    /// The place.
    #[serde(flatten)]
    pub of: MemberOf,
    /// The role.
    pub role: Role,
}

/// The record of a token. The token itself is shown once and never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Its purpose, in its creator's words.
    pub label: String,
    /// The principal that the token authenticates.
    #[serde(rename = "principal_id")]
    pub principal: PrincipalId,
    /// The spaces that the token is restricted to; empty means all spaces that the principal may see.
    #[serde(rename = "space_ids")]
    pub spaces: Vec<SpaceId>,
    /// The maximum role of the token, even if the principal has a higher role.
    pub role: Role,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of revocation.
    pub revoked_at: Option<Timestamp>,
}

/// SHA-256 of a token. The store has only this hash, never the token itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// The prefix of every token, so that a leaked one is recognised.
pub(crate) const TOKEN_PREFIX: &str = "tlv_";
/// Number of characters that follow: 256 bits in base 64.
const TOKEN_CHARACTERS: usize = 43;

/// Returns true if a text has the form of a token. Does not check whether the token is valid.
pub fn is_token(text: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let rest = text.strip_prefix(TOKEN_PREFIX);
    rest.is_some_and(|rest| rest.len() == TOKEN_CHARACTERS && rest.bytes().all(letters))
}

/// A secret text. It cannot be printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// The principal for whom a read is made. Every read of the store takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The principal.
    pub principal: PrincipalId,
    /// The spaces that the token in use is restricted to; `None` means no restriction.
    pub within: Option<Vec<SpaceId>>,
}
