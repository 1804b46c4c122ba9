//! The token in the file `api-token` of the home, by which programs of the same user act as the user.
//!
//! There is one: a new token revokes those before it, so that a user who deleted the file or rotated the token can rely on
//! the former one being invalid. If the process is killed midway, the next command continues.

use std::fs::File;

use tulving_core::Engine;
use tulving_core::model::audit::HOME_AGENT;
use tulving_core::model::id::PrincipalId;
use tulving_core::model::request::{Caller, TokenRequest};
use tulving_core::model::space::Token;
use tulving_core::model::vocabulary::{Origin, Role};
use tulving_store::Home;

use crate::failure::Failure;

/// The name of the local user, and the label of the token that is made for it.
const USER: &str = "user";
const LABEL: &str = "home";

/// Makes the token where the home has none, and says how many were revoked for it.
pub(crate) fn provide(engine: &Engine, home: &Home, user: &Caller) -> Result<usize, Failure> {
    if home.token_file().exists() {
        return Ok(0);
    }
    // Nobody asked for it, so it is not a manual change, which `undo` could reverse.
    let home_itself = Caller { agent: Some(HOME_AGENT.to_owned()), ..user.clone() };
    alone(home, || if home.token_file().exists() { Ok(0) } else { make(engine, home, &home_itself) })
}

/// Makes another token in any case, and says how many were revoked for it.
pub(crate) fn rotate(engine: &Engine, home: &Home, caller: &Caller) -> Result<usize, Failure> {
    // A caller without the right is refused while the file is still there.
    engine.require_org_admin(caller)?;
    alone(home, || {
        tulving_store::remove_token_file(home)?;
        make(engine, home, caller)
    })
}

/// Makes another token where the store, just replaced, no longer knows the one in the home.
pub(crate) fn renew(engine: &Engine, home: &Home) -> Result<(), Failure> {
    let user = engine.user(Origin::Cli, Some("home"))?;
    let known = match tulving_store::read_token_file(home)? {
        None => false,
        Some(token) => engine.authenticate(&token, Origin::Cli, None).is_ok(),
    };
    if !known {
        make(engine, home, &user)?;
    }
    Ok(())
}

/// Of several processes that use a home first at the same time, one makes the token. Where the file system knows no
/// locks, two may; nobody uses the token that is not in the file.
fn alone<T>(home: &Home, act: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let folder = File::open(home.path()).and_then(|folder| folder.lock().map(|()| folder));
    let done = act();
    drop(folder);
    done
}

/// Revokes first: as long as there is no file, the next command does the rest.
fn make(engine: &Engine, home: &Home, caller: &Caller) -> Result<usize, Failure> {
    let user = engine.user(Origin::Cli, None)?.viewer.principal;
    let former: Vec<Token> =
        engine.tokens(caller)?.into_iter().filter(|token| is_of_home(token, user)).collect();
    for token in &former {
        engine.revoke_token(caller, &token.id.to_string())?;
    }
    let request = TokenRequest {
        label: LABEL.to_owned(),
        introduce: None,
        principal: USER.to_owned(),
        spaces: Vec::new(),
        role: Role::Admin,
    };
    let (secret, _) = engine.create_token(caller, &request)?;
    tulving_store::write_token_file(home, &secret)?;
    Ok(former.len())
}

fn is_of_home(token: &Token, user: PrincipalId) -> bool {
    token.revoked_at.is_none()
        && token.label == LABEL
        && token.principal == user
        && token.role == Role::Admin
        && token.spaces.is_empty()
}
