//! Spaces, the teams and orgs they belong to, and who may do what in them.

use serde::{Deserialize, Serialize};

use crate::id::{OrgId, PrincipalId, SpaceId, TeamId, TokenId};
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, PrincipalKind, Realm, Role, SpaceKind};

/// The whole that teams belong to.
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

/// Where memories live, and the wall between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Its id.
    pub id: SpaceId,
    /// The team it belongs to.
    pub team: TeamId,
    /// Its name, unique in its team.
    pub name: String,
    /// What it is for.
    pub kind: SpaceKind,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Space {
    /// Whether it is meant by this: its name, or its id.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.id.to_string() == name
    }

    /// The boundary of a memory whose maker named none: private in `default`, hub elsewhere.
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
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a membership is of.
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
    /// Which sort of thing it is.
    pub const fn realm(self) -> Realm {
        match self {
            Self::Space(_) => Realm::Space,
            Self::Team(_) => Realm::Team,
            Self::Org(_) => Realm::Org,
        }
    }

    /// The bytes of the id of the space, team or org.
    pub const fn id_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Space(id) => id.as_bytes(),
            Self::Team(id) => id.as_bytes(),
            Self::Org(id) => id.as_bytes(),
        }
    }
}

/// That a principal belongs to a space, a team or an org.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Who.
    pub principal: PrincipalId,
    /// Of what.
    #[serde(flatten)]
    pub of: MemberOf,
    /// As what.
    pub role: Role,
}

/// What is known of a token. The token itself is shown once and never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// What it is for, in its maker's words.
    pub label: String,
    /// For whom it speaks.
    pub principal: PrincipalId,
    /// The spaces it is confined to; empty means all that its principal may see.
    pub spaces: Vec<SpaceId>,
    /// The most it may do, whatever its principal may.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// SHA-256 of a token: what the store keeps of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// What every token begins with, so that a leaked one is recognised.
pub(crate) const TOKEN_PREFIX: &str = "tlv_";
/// The number of characters that follow: 256 bits in base 64.
const TOKEN_CHARACTERS: usize = 43;

/// Tells whether a text has the shape of a token. Whom it speaks for, if anybody, is another question.
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

    /// The text itself, for the one place that needs it.
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

/// Through whose eyes a read is made. Every read of the store takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Who looks.
    pub principal: PrincipalId,
    /// The spaces that the token in use is confined to; `None` is no confinement.
    pub within: Option<Vec<SpaceId>>,
}
