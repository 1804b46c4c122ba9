//! Spaces, members, principals and tokens.

use sha2::{Digest, Sha256};

use crate::model::audit::AuditEntry;
use crate::model::change::{RequiredRole, Write};
use crate::model::error::{Conflict, Error, Field, StoreError, Unique};
use crate::model::file::Folder;
use crate::model::id::{OrgId, PrincipalId, SpaceId, TokenId};
use crate::model::limits;
use crate::model::request::{AuditFilter, Caller, TokenRequest};
use crate::model::space::{
    MemberOf, Membership, Principal, Secret, Space, TOKEN_PREFIX, Token, TokenHash, Viewer,
};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{AuditAct, Origin, PrincipalKind, Role, SpaceKind};
use crate::text::normalize;
use crate::text::redact::Redactor;
use crate::verbs::access::{self, Ports};

/// Returns the user of this home as a caller in the space `default`.
pub(crate) fn user(ports: &Ports, origin: Origin, agent: Option<&str>) -> Result<Caller, Error> {
    Ok(Caller {
        viewer: Viewer { principal: PrincipalId::USER, within: None },
        ceiling: Role::Admin,
        space: SpaceId::DEFAULT,
        agent: agent_name(ports, agent)?,
        origin,
        zone: Zone::default(),
    })
}

/// Returns the caller that a token identifies. Unknown and revoked tokens get the same answer.
pub(crate) fn authenticate(
    ports: &Ports,
    token: &Secret,
    origin: Origin,
    agent: Option<&str>,
) -> Result<Caller, Error> {
    let token = ports
        .store
        .token_by_hash(&hash(token))?
        .filter(|token| token.revoked_at.is_none())
        .ok_or(Error::BadToken)?;
    Ok(Caller {
        space: token.spaces.first().copied().unwrap_or(SpaceId::DEFAULT),
        viewer: Viewer {
            principal: token.principal,
            within: (!token.spaces.is_empty()).then_some(token.spaces),
        },
        ceiling: token.role,
        agent: agent_name(ports, agent)?,
        origin,
        zone: Zone::default(),
    })
}

/// Returns an agent's name in its normal form. The store records the name with every act of the caller, so a name that
/// contains a secret is refused.
pub(crate) fn agent_name(ports: &Ports, agent: Option<&str>) -> Result<Option<String>, Error> {
    let name = agent.map(|name| normalize::line(Field::Agent, name, limits::NOTE_CHARS)).transpose()?;
    if let Some(name) = &name {
        Redactor::new(ports.secret_policies.least()).refuse(Field::Agent, name)?;
    }
    Ok(name)
}

/// Returns the same caller in another space.
pub(crate) fn enter(ports: &Ports, caller: &Caller, space: &str) -> Result<Caller, Error> {
    Ok(Caller { space: access::space_named(ports, caller, space)?.id, ..caller.clone() })
}

/// Returns the same caller in the first of these spaces, with access only to these spaces. The caller never gains
/// access to a space this way.
pub(crate) fn confine(ports: &Ports, caller: &Caller, spaces: &[&str]) -> Result<Caller, Error> {
    let named = |space: &&str| Ok(access::space_named(ports, caller, space)?.id);
    let within = spaces.iter().map(named).collect::<Result<Vec<SpaceId>, Error>>()?;
    let space = within.first().copied().unwrap_or(caller.space);
    let viewer = Viewer { within: Some(within), ..caller.viewer.clone() };
    Ok(Caller { space, viewer, ..caller.clone() })
}

/// Creates a space in the caller's team. Its creator is its first admin.
pub(crate) fn create_space(
    ports: &Ports,
    caller: &Caller,
    name: &str,
    kind: SpaceKind,
) -> Result<Space, Error> {
    let name = normalize::name(name)?;
    let team = access::space_of_call(ports, caller)?.team;
    if !administers(ports, caller, MemberOf::Team(team))? {
        return Err(Error::Denied { need: Role::Admin, place: "the team".to_owned() });
    }
    let now = ports.clock.now();
    let space = Space { id: SpaceId::mint(now), team, name, kind, created_at: now };
    let principal = caller.viewer.principal;
    let member = Membership { principal, of: MemberOf::Space(space.id), role: Role::Admin };
    let entry = audit(caller, now, AuditAct::SpaceCreated, Some(space.id), space.name.clone());
    let writes = vec![Write::AddSpace(space.clone()), Write::SetMember(member), Write::Audit(entry)];
    match ports.store.apply(&access::changes(caller, now, Vec::new(), writes)) {
        Err(StoreError::Conflict(Conflict::Taken { what: Unique::SpaceName })) => {
            return Err(Error::NameTaken { name: space.name });
        }
        done => done?,
    };
    if kind == SpaceKind::Group {
        // An error can be ignored: the first write of a file creates the folder or reports the error.
        let _ = ports.files.make_folder(&Folder::of(&space));
    }
    Ok(space)
}

/// Returns the members of a space, for anyone who may see the space.
pub(crate) fn members(
    ports: &Ports,
    caller: &Caller,
    space: &str,
) -> Result<Vec<(Principal, Membership)>, Error> {
    let space = access::space_named(ports, caller, space)?;
    Ok(ports.store.members(MemberOf::Space(space.id))?)
}

/// Makes a principal a member of a space, or gives a member another role.
pub(crate) fn set_member(
    ports: &Ports,
    caller: &Caller,
    space: &str,
    principal: &str,
    role: Role,
) -> Result<Membership, Error> {
    access::decide_again(|| decide_member(ports, caller, space, principal, role))
}

fn decide_member(
    ports: &Ports,
    caller: &Caller,
    space: &str,
    principal: &str,
    role: Role,
) -> Result<Membership, Error> {
    let (space, rights) = administered(ports, caller, space)?;
    let principal = principal_named(ports, principal)?;
    if role < Role::Admin {
        refuse_last_admin(ports, &space, &principal)?;
    }
    let now = ports.clock.now();
    let member = Membership { principal: principal.id, of: MemberOf::Space(space.id), role };
    let detail = format!("{} {role}", principal.name);
    let entry = audit(caller, now, AuditAct::MemberSet, Some(space.id), detail);
    let writes = vec![Write::SetMember(member), Write::RequireAdmin(space.id), Write::Audit(entry)];
    ports.store.apply(&access::changes(caller, now, rights, writes))?;
    Ok(member)
}

/// Removes a membership.
pub(crate) fn remove_member(
    ports: &Ports,
    caller: &Caller,
    space: &str,
    principal: &str,
) -> Result<(), Error> {
    access::decide_again(|| decide_removal(ports, caller, space, principal))
}

fn decide_removal(ports: &Ports, caller: &Caller, space: &str, principal: &str) -> Result<(), Error> {
    let (space, rights) = administered(ports, caller, space)?;
    let of = MemberOf::Space(space.id);
    // The answer does not reveal whether the principal exists in the store.
    let absent =
        || Error::NoMember { principal: crate::model::preview::short(principal), space: space.name.clone() };
    let principal = ports.store.principal_named(principal)?.ok_or_else(absent)?;
    let role = ports.store.role(principal.id, of)?.ok_or_else(absent)?;
    refuse_last_admin(ports, &space, &principal)?;
    let now = ports.clock.now();
    let entry = audit(caller, now, AuditAct::MemberRemoved, Some(space.id), principal.name);
    let member = Membership { principal: principal.id, of, role };
    let writes = vec![Write::RemoveMember(member), Write::RequireAdmin(space.id), Write::Audit(entry)];
    ports.store.apply(&access::changes(caller, now, rights, writes))?;
    Ok(())
}

/// Creates a principal.
pub(crate) fn create_principal(
    ports: &Ports,
    caller: &Caller,
    name: &str,
    kind: PrincipalKind,
) -> Result<Principal, Error> {
    access::require_org_admin(ports, caller)?;
    let now = ports.clock.now();
    let principal =
        Principal { id: PrincipalId::mint(now), name: normalize::name(name)?, kind, created_at: now };
    let entry = audit(caller, now, AuditAct::PrincipalCreated, None, principal.name.clone());
    let writes = vec![Write::AddPrincipal(principal.clone()), Write::Audit(entry)];
    ports.store.apply(&access::changes(caller, now, Vec::new(), writes))?;
    Ok(principal)
}

/// Creates a token in one transaction. The token is shown only once; the store contains only its hash. The token in use
/// must allow the role of an admin, and the new token grants no more than the token in use. Only an admin of the org may
/// create a token for another principal.
pub(crate) fn create_token(
    ports: &Ports,
    caller: &Caller,
    request: &TokenRequest,
) -> Result<(Secret, Token), Error> {
    let label = normalize::line(Field::Label, &request.label, limits::NOTE_CHARS)?;
    Redactor::new(ports.secret_policies.least()).refuse(Field::Label, &label)?;
    // A leaked token must not create tokens that stay valid after it is revoked.
    if caller.ceiling < Role::Admin {
        return Err(Error::Denied { need: Role::Admin, place: "what the token in use reaches".to_owned() });
    }
    refuse_beyond(caller, request.role, &request.spaces, "all that the new token would reach")?;
    for space in &request.spaces {
        access::space_named(ports, caller, &space.to_string())?;
    }
    let secret = mint_secret();
    access::decide_again(|| {
        let now = ports.clock.now();
        let mut introduction = introduce(ports, caller, request, now)?;
        let token = Token {
            id: TokenId::mint(now),
            label: label.clone(),
            principal: introduction.principal,
            spaces: request.spaces.clone(),
            role: request.role,
            created_at: now,
            revoked_at: None,
        };
        let entry = audit(caller, now, AuditAct::TokenCreated, None, token.id.to_string());
        introduction.writes.push(Write::AddToken(token.clone(), hash(&secret)));
        introduction.writes.push(Write::Audit(entry));
        ports.store.apply(&access::changes(caller, now, introduction.rights, introduction.writes))?;
        Ok((secret.clone(), token))
    })
}

/// Refuses a token that grants more than the token in use, so that a leaked weak token cannot be used to get a stronger
/// one.
fn refuse_beyond(caller: &Caller, role: Role, spaces: &[SpaceId], place: &str) -> Result<(), Error> {
    if reaches_beyond(caller, role, spaces) {
        return Err(Error::Denied { need: role, place: place.to_owned() });
    }
    Ok(())
}

/// Returns true if a token with this role for these spaces grants more than the token in use.
fn reaches_beyond(caller: &Caller, role: Role, spaces: &[SpaceId]) -> bool {
    let escapes = caller
        .viewer
        .within
        .as_ref()
        .is_some_and(|within| spaces.is_empty() || spaces.iter().any(|space| !within.contains(space)));
    role > caller.ceiling || escapes
}

/// The principal of a new token, and the writes that make the token usable.
struct TokenPrincipal {
    principal: PrincipalId,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
}

fn introduce(
    ports: &Ports,
    caller: &Caller,
    request: &TokenRequest,
    now: Timestamp,
) -> Result<TokenPrincipal, Error> {
    let own = ports.store.principals(&[caller.viewer.principal])?.into_iter().next();
    let own = own.filter(|own| own.name == request.principal);
    if own.is_none() {
        // The right is checked first, so that the answer does not reveal which principals exist.
        access::require_org_admin(ports, caller)?;
    }
    let known = own.map_or_else(|| ports.store.principal_named(&request.principal), |own| Ok(Some(own)))?;
    let (mut rights, mut writes) = (Vec::new(), Vec::new());
    let (principal, new) = match (known, request.introduce) {
        (Some(known), _) => (known.id, false),
        (None, None) => {
            return Err(Error::NoPrincipal { name: crate::model::preview::short(&request.principal) });
        }
        (None, Some(kind)) => {
            let name = normalize::name(&request.principal)?;
            let principal = Principal { id: PrincipalId::mint(now), name, kind, created_at: now };
            let entry = audit(caller, now, AuditAct::PrincipalCreated, None, principal.name.clone());
            let id = principal.id;
            writes.extend([Write::AddPrincipal(principal), Write::Audit(entry)]);
            (id, true)
        }
    };
    let spaces = match (&request.introduce, request.spaces.as_slice()) {
        (None, _) => &[],
        (Some(_), []) if new => std::slice::from_ref(&caller.space),
        (Some(_), spaces) => spaces,
    };
    for space in spaces {
        if ports.store.role(principal, MemberOf::Space(*space))? < Some(request.role) {
            let (space, right) = administered(ports, caller, &space.to_string())?;
            let member = Membership { principal, of: MemberOf::Space(space.id), role: request.role };
            let detail = format!("{} {}", request.principal, request.role);
            let entry = audit(caller, now, AuditAct::MemberSet, Some(space.id), detail);
            rights.extend(right);
            writes.extend([Write::SetMember(member), Write::Audit(entry)]);
        }
    }
    Ok(TokenPrincipal { principal, rights, writes })
}

/// Returns the tokens that the caller may manage: its own tokens, or all tokens if the caller is an admin of the org.
/// Tokens that grant more than the token in use are left out, because a leaked token must not reveal the existence or
/// the rights of stronger tokens.
pub(crate) fn tokens(ports: &Ports, caller: &Caller) -> Result<Vec<Token>, Error> {
    let all = access::is_org_admin(ports, caller)?;
    let mut tokens = ports.store.tokens((!all).then_some(caller.viewer.principal))?;
    tokens.retain(|token| !reaches_beyond(caller, token.role, &token.spaces));
    Ok(tokens)
}

/// Revokes a token that the caller may manage. `which` is the id of the token, or a label that only one active token
/// has.
pub(crate) fn revoke_token(ports: &Ports, caller: &Caller, which: &str) -> Result<Token, Error> {
    let tokens = tokens(ports, caller)?;
    let by_id = tokens.iter().find(|token| token.id.to_string() == which);
    let by_label = || tokens.iter().filter(|token| token.label == which && token.revoked_at.is_none());
    let token = match (by_id, by_label().count()) {
        (Some(token), _) => token.clone(),
        (None, 0) => return Err(Error::NoToken { which: crate::model::preview::short(which) }),
        (None, 1) => by_label().next().cloned().expect("one was counted"),
        (None, count) => {
            return Err(Error::AmbiguousToken { label: crate::model::preview::short(which), count });
        }
    };
    if token.revoked_at.is_some() {
        return Ok(token);
    }
    let now = ports.clock.now();
    let entry = audit(caller, now, AuditAct::TokenRevoked, None, token.id.to_string());
    let writes = vec![Write::RevokeToken(token.id), Write::Audit(entry)];
    ports.store.apply(&access::changes(caller, now, Vec::new(), writes))?;
    Ok(Token { revoked_at: Some(now), ..token })
}

/// Returns the newest audit entries, for admins.
pub(crate) fn audit_entries(
    ports: &Ports,
    caller: &Caller,
    filter: &AuditFilter,
) -> Result<Vec<AuditEntry>, Error> {
    crate::verbs::read::bounded(Field::Limit, filter.last, limits::PAGE)?;
    if caller.ceiling < Role::Admin {
        return Err(Error::Denied { need: Role::Admin, place: "the space".to_owned() });
    }
    Ok(ports.store.audit(&caller.viewer, filter)?)
}

fn principal_named(ports: &Ports, name: &str) -> Result<Principal, Error> {
    let found = ports.store.principal_named(name)?;
    found.ok_or_else(|| Error::NoPrincipal { name: crate::model::preview::short(name) })
}

/// Returns a space that the caller may manage: the caller is an admin of the space, of its team or of the org.
///
/// The store checks the right of an admin of the space again when it applies the change. It does not check the rights
/// of admins of the team or the org again.
fn administered(ports: &Ports, caller: &Caller, name: &str) -> Result<(Space, Vec<RequiredRole>), Error> {
    let space = access::space_named(ports, caller, name)?;
    if administers(ports, caller, MemberOf::Team(space.team))? {
        return Ok((space, Vec::new()));
    }
    if administers(ports, caller, MemberOf::Space(space.id))? {
        let right = RequiredRole { space: space.id, role: Role::Admin, over: None };
        return Ok((space, vec![right]));
    }
    Err(Error::Denied { need: Role::Admin, place: format!("the space `{}`", space.name) })
}

fn administers(ports: &Ports, caller: &Caller, of: MemberOf) -> Result<bool, Error> {
    if caller.ceiling < Role::Admin {
        return Ok(false);
    }
    let inside = match (of, &caller.viewer.within) {
        (_, None) => true,
        (MemberOf::Space(id), Some(within)) => within.contains(&id),
        _ => false,
    };
    let principal = caller.viewer.principal;
    let direct = ports.store.role(principal, of)? == Some(Role::Admin);
    let above = || ports.store.role(principal, MemberOf::Org(OrgId::LOCAL));
    Ok(inside && (direct || (caller.viewer.within.is_none() && above()? == Some(Role::Admin))))
}

fn refuse_last_admin(ports: &Ports, space: &Space, principal: &Principal) -> Result<(), Error> {
    let members = ports.store.members(MemberOf::Space(space.id))?;
    let mut admins = members.iter().filter(|(_, member)| member.role == Role::Admin);
    match (admins.next(), admins.next()) {
        (Some((only, _)), None) if only.id == principal.id => {
            Err(Error::LastAdmin { principal: principal.name.clone(), space: space.name.clone() })
        }
        _ => Ok(()),
    }
}

fn audit(
    caller: &Caller,
    at: Timestamp,
    act: AuditAct,
    space: Option<SpaceId>,
    detail: String,
) -> AuditEntry {
    AuditEntry { space, detail: Some(detail), ..access::audit(caller, at, act) }
}

/// Creates a secret of 256 random bits, which is long enough that nobody can guess it from a plain hash.
fn mint_secret() -> Secret {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    Secret::new(format!("{TOKEN_PREFIX}{}", data_encoding::BASE64URL_NOPAD.encode(&bytes)))
}

fn hash(secret: &Secret) -> TokenHash {
    TokenHash(Sha256::digest(secret.reveal().trim().as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_distinct_and_masked() {
        let (one, two) = (mint_secret(), mint_secret());
        assert_ne!(one, two);
        assert!(crate::model::space::is_token(one.reveal()) && one.reveal().len() == 47);
        assert_eq!(format!("{one} {one:?}"), "… Secret(…)");
    }
}
