//! Operations on spaces, their members and tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::SpaceId;
use tulving_core::model::request::TokenRequest;
use tulving_core::model::space::{Membership, Principal, Space, Token};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PrincipalKind, Role, SpaceKind};

use tulving_dialects::input::NoArguments;
use tulving_dialects::operation::{CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/spaces", "listSpaces", "List the spaces that you may see", spaces)
            .also_at("/v1/hubs"),
        Operation::new(OperationMethod::Post, "/v1/spaces", "createSpace", "Create a space", create)
            .also_at("/v1/hubs")
            .creating()
            .saying("For admins of the team. The caller becomes its first admin."),
        Operation::new(OperationMethod::Get, "/v1/spaces/{space_id}", "getSpace", "Get a space", space)
            .also_at("/v1/hubs/{space_id}"),
        Operation::new(OperationMethod::Get, "/v1/spaces/{space_id}/members", "listMembers", "List the members of a space", members)
            .also_at("/v1/hubs/{space_id}/members"),
        Operation::new(OperationMethod::Put, "/v1/spaces/{space_id}/members/{name}", "setMember", "Give a role in a space", set)
            .also_at("/v1/hubs/{space_id}/members/{name}")
            .saying("The name must be known already. For admins of the space."),
        Operation::new(OperationMethod::Delete, "/v1/spaces/{space_id}/members/{name}", "removeMember", "Remove a member of a space", remove)
            .also_at("/v1/hubs/{space_id}/members/{name}")
            .saying("A space keeps at least one admin."),
        Operation::new(OperationMethod::Get, "/v1/tokens", "listTokens", "List the tokens that you may manage", tokens),
        Operation::new(OperationMethod::Post, "/v1/tokens", "createToken", "Create a token", mint)
            .creating()
            .secret()
            .saying("The answer shows the token; it is not stored and cannot be shown again. `Idempotency-Key` is refused here."),
        Operation::new(OperationMethod::Delete, "/v1/tokens/{token_id}", "revokeToken", "Revoke a token", revoke)
            .saying("Name it by id or label. Requests with this token are refused from now on."),
    ]
}

/// A space.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Space")]
pub struct SpaceReply {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// Its kind.
    kind: SpaceKind,
    /// True if requests that name no space use it.
    current: bool,
    /// Time of creation.
    created_at: Timestamp,
}

impl SpaceReply {
    /// Describes a space for a call in the space `current`.
    pub fn of(space: Space, current: SpaceId) -> Self {
        Self {
            id: space.id.to_string(),
            current: space.id == current,
            name: space.name,
            kind: space.kind,
            created_at: space.created_at,
        }
    }
}

fn place(context: &ToolContext<'_>, space: Space) -> SpaceReply {
    SpaceReply::of(space, context.caller.space)
}

/// The spaces that a caller may see.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SpaceList")]
pub struct SpaceListReply {
    /// The spaces, by name.
    pub spaces: Vec<SpaceReply>,
}

fn spaces(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<SpaceListReply>, ToolError> {
    let spaces =
        context.engine.spaces(&context.caller)?.into_iter().map(|space| place(context, space)).collect();
    Ok(SpaceListReply { spaces }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateSpaceArguments {
    /// Its name, unique in the team.
    #[schemars(schema_with = "words::name")]
    name: String,
    /// Its kind (default: hub). A group is isolated from other spaces.
    #[serde(default)]
    kind: Option<SpaceKind>,
}

fn create(
    context: &ToolContext<'_>,
    SingleInput(new): SingleInput<CreateSpaceArguments>,
) -> Result<OperationOutput<SpaceReply>, ToolError> {
    let made = context.engine.create_space(&context.caller, &new.name, new.kind.unwrap_or(SpaceKind::Hub))?;
    Ok(OperationOutput::from(place(context, made)).new_if(true))
}

/// Names a space.
#[derive(Deserialize, JsonSchema)]
struct SpaceIdArguments {
    /// The space, by id or name.
    space_id: String,
}

fn space(
    context: &ToolContext<'_>,
    SingleInput(of): SingleInput<SpaceIdArguments>,
) -> Result<OperationOutput<SpaceReply>, ToolError> {
    let there = context.engine.enter(&context.caller, &of.space_id)?;
    Ok(place(context, context.engine.space(&there)?).into())
}

/// The members of a space.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemberList")]
pub struct MemberListReply {
    /// The members, by name.
    pub members: Vec<MemberReply>,
}

/// A member of a space.
#[derive(Serialize, JsonSchema)]
pub struct MemberReply {
    /// The id of the member.
    id: String,
    /// The name of the member.
    name: String,
    /// Person or agent.
    kind: PrincipalKind,
    /// The role in the space.
    role: Role,
}

impl From<(Principal, Membership)> for MemberReply {
    fn from((who, membership): (Principal, Membership)) -> Self {
        Self { id: who.id.to_string(), name: who.name, kind: who.kind, role: membership.role }
    }
}

fn members(
    context: &ToolContext<'_>,
    SingleInput(of): SingleInput<SpaceIdArguments>,
) -> Result<OperationOutput<MemberListReply>, ToolError> {
    let found = context.engine.members(&context.caller, &of.space_id)?;
    Ok(MemberListReply { members: found.into_iter().map(MemberReply::from).collect() }.into())
}

/// Names a member of a space.
#[derive(Deserialize, JsonSchema)]
struct SpaceMemberArguments {
    /// The space, by id or name.
    space_id: String,
    /// The name of the member.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct SetMemberArguments {
    /// The new role in the space.
    role: Role,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemberRole")]
struct SetMemberReply {
    /// The name of the member.
    name: String,
    /// The new role in the space.
    role: Role,
}

fn set(
    context: &ToolContext<'_>,
    CombinedInput(who, new): CombinedInput<SpaceMemberArguments, SetMemberArguments>,
) -> Result<OperationOutput<SetMemberReply>, ToolError> {
    let made = context.engine.set_member(&context.caller, &who.space_id, &who.name, new.role)?;
    Ok(SetMemberReply { name: who.name, role: made.role }.into())
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedMember")]
struct RemoveMemberReply {
    /// Always true.
    deleted: bool,
}

fn remove(
    context: &ToolContext<'_>,
    SingleInput(who): SingleInput<SpaceMemberArguments>,
) -> Result<OperationOutput<RemoveMemberReply>, ToolError> {
    context.engine.remove_member(&context.caller, &who.space_id, &who.name)?;
    Ok(RemoveMemberReply { deleted: true }.into())
}

/// The tokens that a caller may manage.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TokenList")]
pub struct TokenListReply {
    /// The tokens, newest first.
    pub tokens: Vec<Token>,
}

fn tokens(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<TokenListReply>, ToolError> {
    Ok(TokenListReply { tokens: context.engine.tokens(&context.caller)? }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateTokenArguments {
    /// The name of the principal that it acts for. An unknown name creates a principal.
    #[schemars(schema_with = "words::name")]
    name: String,
    /// The kind of a new principal: person or agent (default: agent).
    #[serde(default)]
    kind: Option<PrincipalKind>,
    /// A label for the token (default: the name).
    label: Option<String>,
    /// Limit the token to these spaces, by id or name; the principal becomes a member of them. Without it, the token reaches
    /// every space that the principal may see.
    #[schemars(length(min = 1))]
    spaces: Option<Vec<String>>,
    /// The highest role that it can use (default: writer).
    #[serde(default)]
    role: Option<Role>,
}

/// A new token, with its secret.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedToken")]
pub struct CreateTokenReply {
    /// The token itself. It cannot be shown again.
    pub token: String,
    #[serde(flatten)]
    /// Everything else about the token.
    pub known: Token,
}

fn mint(
    context: &ToolContext<'_>,
    SingleInput(new): SingleInput<CreateTokenArguments>,
) -> Result<OperationOutput<CreateTokenReply>, ToolError> {
    if new.spaces.as_ref().is_some_and(Vec::is_empty) {
        // A list that is empty by mistake must not grant access to everything.
        return Err(ToolError::invalid("missing_space", "spaces", "`spaces` is empty")
            .hinting("name at least one space, or leave out `spaces` to create a token without this limit"));
    }
    let spaces =
        new.spaces.iter().flatten().map(|space| Ok(context.engine.enter(&context.caller, space)?.space));
    let request = TokenRequest {
        label: new.label.unwrap_or_else(|| new.name.clone()),
        principal: new.name,
        introduce: Some(new.kind.unwrap_or(PrincipalKind::Agent)),
        spaces: spaces.collect::<Result<_, ToolError>>()?,
        role: new.role.unwrap_or(Role::Writer),
    };
    let (secret, token) = context.engine.create_token(&context.caller, &request)?;
    Ok(OperationOutput::from(CreateTokenReply { token: secret.reveal().to_owned(), known: token })
        .new_if(true))
}

/// Names a token.
#[derive(Deserialize, JsonSchema)]
struct RevokeTokenArguments {
    /// The token, by id or label.
    token_id: String,
}

fn revoke(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<RevokeTokenArguments>,
) -> Result<OperationOutput<Token>, ToolError> {
    Ok(context.engine.revoke_token(&context.caller, &this.token_id)?.into())
}
