//! Spaces, who belongs to them, and tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::id::SpaceId;
use tulving_core::request::TokenRequest;
use tulving_core::space::{Space, Token};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{PrincipalKind, Role, SpaceKind};

use super::operation::{Made, Method, One, Operation, Two};
use crate::tool::{Desk, Refusal};
use crate::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Get, "/v1/spaces", "listSpaces", "The spaces that you may see", spaces)
            .also_at("/v1/hubs"),
        Operation::new(Method::Post, "/v1/spaces", "createSpace", "Make a space", create)
            .also_at("/v1/hubs")
            .creating()
            .saying("For an admin of the team, who becomes its first admin."),
        Operation::new(Method::Get, "/v1/spaces/{space_id}", "getSpace", "A space", space)
            .also_at("/v1/hubs/{space_id}"),
        Operation::new(Method::Get, "/v1/spaces/{space_id}/members", "listMembers", "Who belongs to a space", members)
            .also_at("/v1/hubs/{space_id}/members"),
        Operation::new(Method::Put, "/v1/spaces/{space_id}/members/{name}", "setMember", "Give a role in a space", set)
            .also_at("/v1/hubs/{space_id}/members/{name}")
            .saying("Somebody known, by name. For admins of the space."),
        Operation::new(Method::Delete, "/v1/spaces/{space_id}/members/{name}", "removeMember", "Take a role away", remove)
            .also_at("/v1/hubs/{space_id}/members/{name}")
            .saying("A space keeps at least one admin."),
        Operation::new(Method::Get, "/v1/tokens", "listTokens", "The tokens that you may manage", tokens),
        Operation::new(Method::Post, "/v1/tokens", "createToken", "Make a token", mint)
            .creating()
            .secret()
            .saying("The token itself is shown this once. `Idempotency-Key` is refused here: it would have to be kept."),
        Operation::new(Method::Delete, "/v1/tokens/{token_id}", "revokeToken", "Revoke a token", revoke)
            .saying("By id or label. Who uses it is refused from now on."),
    ]
}

/// A space.
#[derive(Serialize, JsonSchema)]
struct Place {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// What it is for.
    #[schemars(schema_with = "words::word::<SpaceKind>")]
    kind: SpaceKind,
    /// Whether it is the one that is meant where none is named.
    current: bool,
    /// When it was made.
    #[schemars(schema_with = "words::time")]
    created_at: Timestamp,
}

fn place(desk: &Desk<'_>, space: Space) -> Place {
    Place {
        id: space.id.to_string(),
        current: space.id == desk.caller.space,
        name: space.name,
        kind: space.kind,
        created_at: space.created_at,
    }
}

#[derive(Serialize, JsonSchema)]
struct Places {
    /// The spaces, by name.
    spaces: Vec<Place>,
}

/// Nothing.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Nothing {}

fn spaces(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Places>, Refusal> {
    let spaces = desk.engine.spaces(&desk.caller)?.into_iter().map(|space| place(desk, space)).collect();
    Ok(Places { spaces }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewSpace {
    /// Its name, unique in the team.
    #[schemars(schema_with = "words::name")]
    name: String,
    /// What it is for (default: hub); a group is sealed.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<SpaceKind>")]
    kind: Option<SpaceKind>,
}

fn create(desk: &Desk<'_>, One(new): One<NewSpace>) -> Result<Made<Place>, Refusal> {
    let made = desk.engine.create_space(&desk.caller, &new.name, new.kind.unwrap_or(SpaceKind::Hub))?;
    Ok(Made::from(place(desk, made)).new_if(true))
}

/// Which space.
#[derive(Deserialize, JsonSchema)]
struct OfSpace {
    /// The space, by id or name.
    space_id: String,
}

fn space(desk: &Desk<'_>, One(of): One<OfSpace>) -> Result<Made<Place>, Refusal> {
    let there = desk.engine.enter(&desk.caller, &of.space_id)?;
    Ok(place(desk, desk.engine.space(&there)?).into())
}

#[derive(Serialize, JsonSchema)]
struct Members {
    /// The members, by name.
    members: Vec<Member>,
}

#[derive(Serialize, JsonSchema)]
struct Member {
    /// Who.
    id: String,
    /// By name.
    name: String,
    /// Person or agent.
    #[schemars(schema_with = "words::word::<PrincipalKind>")]
    kind: PrincipalKind,
    /// What they may do.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
}

fn members(desk: &Desk<'_>, One(of): One<OfSpace>) -> Result<Made<Members>, Refusal> {
    let found = desk.engine.members(&desk.caller, &of.space_id)?;
    let member = |(who, membership): (tulving_core::space::Principal, tulving_core::space::Membership)| {
        Member { id: who.id.to_string(), name: who.name, kind: who.kind, role: membership.role }
    };
    Ok(Members { members: found.into_iter().map(member).collect() }.into())
}

/// Who.
#[derive(Deserialize, JsonSchema)]
struct Somebody {
    /// The space, by id or name.
    space_id: String,
    /// Who, by name.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct NewRole {
    /// What they may do.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
}

#[derive(Serialize, JsonSchema)]
struct Given {
    /// Who.
    name: String,
    /// What they may do.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
}

fn set(desk: &Desk<'_>, Two(who, new): Two<Somebody, NewRole>) -> Result<Made<Given>, Refusal> {
    let made = desk.engine.set_member(&desk.caller, &who.space_id, &who.name, new.role)?;
    Ok(Given { name: who.name, role: made.role }.into())
}

#[derive(Serialize, JsonSchema)]
struct Removed {
    /// That they do not belong to it any more.
    deleted: bool,
}

fn remove(desk: &Desk<'_>, One(who): One<Somebody>) -> Result<Made<Removed>, Refusal> {
    desk.engine.remove_member(&desk.caller, &who.space_id, &who.name)?;
    Ok(Removed { deleted: true }.into())
}

/// What is known of a token.
#[derive(Serialize, JsonSchema)]
struct Known {
    /// Its id.
    id: String,
    /// What it is for.
    label: String,
    /// For whom it speaks.
    principal_id: String,
    /// The spaces it is confined to; empty means all that its principal may see.
    space_ids: Vec<String>,
    /// The most it may do.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
    /// When it was made.
    #[schemars(schema_with = "words::time")]
    created_at: Timestamp,
    /// When it was revoked.
    #[schemars(schema_with = "words::maybe_time")]
    revoked_at: Option<Timestamp>,
}

impl From<Token> for Known {
    fn from(token: Token) -> Self {
        Self {
            id: token.id.to_string(),
            label: token.label,
            principal_id: token.principal.to_string(),
            space_ids: token.spaces.iter().map(SpaceId::to_string).collect(),
            role: token.role,
            created_at: token.created_at,
            revoked_at: token.revoked_at,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Tokens {
    /// The tokens, newest first.
    tokens: Vec<Known>,
}

fn tokens(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Tokens>, Refusal> {
    Ok(Tokens { tokens: desk.engine.tokens(&desk.caller)?.into_iter().map(Known::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// For whom it speaks, by name; made known where nobody has that name.
    #[schemars(schema_with = "words::name")]
    name: String,
    /// Whether they are a person or an agent (default: agent).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<PrincipalKind>")]
    kind: Option<PrincipalKind>,
    /// What it is for (default: the name).
    label: Option<String>,
    /// Confined to these spaces, by id or name, whose members they become; without it, all that they may see.
    #[schemars(length(min = 1))]
    spaces: Option<Vec<String>>,
    /// The most it may do (default: writer).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Role>")]
    role: Option<Role>,
}

#[derive(Serialize, JsonSchema)]
struct Minted {
    /// The token itself, shown this once.
    token: String,
    #[serde(flatten)]
    known: Known,
}

fn mint(desk: &Desk<'_>, One(new): One<NewToken>) -> Result<Made<Minted>, Refusal> {
    if new.spaces.as_ref().is_some_and(Vec::is_empty) {
        // A list that came out empty by mistake must not open everything.
        return Err(Refusal::invalid("missing_space", "spaces", "`spaces` is empty")
            .hinting("name at least one, or leave it out for a token that is not confined"));
    }
    let spaces = new.spaces.iter().flatten().map(|space| Ok(desk.engine.enter(&desk.caller, space)?.space));
    let request = TokenRequest {
        label: new.label.unwrap_or_else(|| new.name.clone()),
        principal: new.name,
        introduce: Some(new.kind.unwrap_or(PrincipalKind::Agent)),
        spaces: spaces.collect::<Result<_, Refusal>>()?,
        role: new.role.unwrap_or(Role::Writer),
    };
    let (secret, token) = desk.engine.create_token(&desk.caller, &request)?;
    Ok(Made::from(Minted { token: secret.reveal().to_owned(), known: token.into() }).new_if(true))
}

/// Which token.
#[derive(Deserialize, JsonSchema)]
struct ThisToken {
    /// The token, by id or label.
    token_id: String,
}

fn revoke(desk: &Desk<'_>, One(this): One<ThisToken>) -> Result<Made<Known>, Refusal> {
    Ok(Known::from(desk.engine.revoke_token(&desk.caller, &this.token_id)?).into())
}
