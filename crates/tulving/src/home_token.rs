//! The token in the file `api-token` of the home, by which programs of the same user act as the user.
//!
//! There is only one valid token: a new token revokes the earlier tokens. So a user who deleted the file or rotated the
//! token can rely on the earlier token being invalid. If the process is killed midway, the next command completes the
//! change.

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

/// Creates the token if the home has none. Returns the number of revoked tokens.
pub(crate) fn provide(engine: &Engine, home: &Home, user: &Caller) -> Result<usize, Failure> {
    if home.token_file().exists() {
        return Ok(0);
    }
    // The user did not request this change, so it is not recorded as a manual change that `undo` could reverse.
    let home_itself = Caller { agent: Some(HOME_AGENT.to_owned()), ..user.clone() };
    alone(home, || if home.token_file().exists() { Ok(0) } else { make(engine, home, &home_itself) })
}

/// Always creates a new token. Returns the number of revoked tokens.
pub(crate) fn rotate(engine: &Engine, home: &Home, caller: &Caller) -> Result<usize, Failure> {
    // The rights are checked before the file is removed.
    engine.require_org_admin(caller)?;
    alone(home, || {
        tulving_store::remove_token_file(home)?;
        make(engine, home, caller)
    })
}

/// Creates a new token if the replaced store no longer contains the token in the home.
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

/// Runs `act` under a lock, so that only one of several processes creates the first token of a home. On a file system
/// without locks, two processes may create a token, but only the token in the file is used.
fn alone<T>(home: &Home, act: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let folder = File::open(home.path()).and_then(|folder| folder.lock().map(|()| folder));
    let done = act();
    drop(folder);
    done
}

/// Revokes the old tokens first. If the process is killed before the file exists, the next command creates the token.
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
