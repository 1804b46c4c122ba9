//! Writes spaces, principals, members and tokens.

use rusqlite::params;
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{SpaceId, TokenId};
use tulving_core::model::space::{Membership, Principal, Space, Token, TokenHash};

use super::super::failure::SqliteError;
use super::super::rows::{limit, micros};
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn add_space(&mut self, space: &Space) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO spaces (id, team, name, kind, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        statement.execute(params![
            space.id.as_bytes(),
            space.team.as_bytes(),
            space.name,
            space.kind.as_str(),
            space.created_at.as_micros()
        ])?;
        Ok(())
    }

    pub(super) fn add_principal(&mut self, principal: &Principal) -> Result<(), SqliteError> {
        let mut statement = self
            .transaction
            .prepare_cached("INSERT INTO principals (id, name, kind, created_at) VALUES (?1, ?2, ?3, ?4)")?;
        statement.execute(params![
            principal.id.as_bytes(),
            principal.name,
            principal.kind.as_str(),
            principal.created_at.as_micros()
        ])?;
        Ok(())
    }

    pub(super) fn set_member(&mut self, member: &Membership) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO members (principal, realm, of, role) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (principal, realm, of) DO UPDATE SET role = excluded.role",
        )?;
        statement.execute(params![
            member.principal.as_bytes(),
            member.of.realm().as_str(),
            member.of.id_bytes(),
            member.role.as_str()
        ])?;
        Ok(())
    }

    pub(super) fn remove_member(&mut self, member: &Membership) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached("DELETE FROM members WHERE principal = ?1 AND realm = ?2 AND of = ?3")?
            .execute(params![
                member.principal.as_bytes(),
                member.of.realm().as_str(),
                member.of.id_bytes()
            ])?;
        Ok(())
    }

    /// Returns a conflict if the space has no admin left.
    pub(super) fn require_admin(&mut self, space: SpaceId) -> Result<(), SqliteError> {
        let mut statement = self
            .transaction
            .prepare_cached("SELECT 1 FROM members WHERE realm = 'space' AND of = ?1 AND role = 'admin'")?;
        if statement.exists([space.as_bytes()])? { Ok(()) } else { Err(Conflict::RightLost.into()) }
    }

    pub(super) fn add_token(&mut self, token: &Token, hash: &TokenHash) -> Result<(), SqliteError> {
        let row = self
            .transaction
            .prepare_cached(
                "INSERT INTO tokens (id, hash, label, principal, role, created_at, revoked_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .insert(params![
                token.id.as_bytes(),
                hash.0,
                token.label,
                token.principal.as_bytes(),
                token.role.as_str(),
                token.created_at.as_micros(),
                micros(token.revoked_at)
            ])?;
        let mut statement = self
            .transaction
            .prepare_cached("INSERT INTO token_spaces (token, ordinal, space) VALUES (?1, ?2, ?3)")?;
        for (ordinal, space) in token.spaces.iter().enumerate() {
            statement.execute(params![row, limit(ordinal), space.as_bytes()])?;
        }
        Ok(())
    }

    pub(super) fn revoke_token(&mut self, id: TokenId) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached("UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")?
            .execute(params![id.as_bytes(), self.now().as_micros()])?;
        Ok(())
    }
}
