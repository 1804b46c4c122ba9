//! Work in the background that reads what was said and says what is to be saved.
//!
//! A pass gets text and gives requests. It holds no store and no model: the engine asks and saves, by the path of every save.

pub(crate) mod consolidate;
mod grounded;
pub(crate) mod model;
pub(crate) mod proactive;
pub(crate) mod records;
pub(crate) mod shadow;

pub use self::consolidate::{Consolidated, Consolidation, Declined, Gone};
pub use self::proactive::Gleaned;

/// A turn of a user, for tests.
#[cfg(test)]
fn turn(role: crate::vocabulary::TurnRole, content: &str) -> crate::turn::Turn {
    let at: crate::time::Timestamp = "2026-05-27T10:00:00Z".parse().expect("a time");
    crate::turn::Turn {
        id: crate::id::TurnId::mint(at),
        space: crate::id::SpaceId::DEFAULT,
        logged_by: crate::id::PrincipalId::USER,
        channel: None,
        position: 7,
        role,
        speaker: None,
        content: content.to_owned(),
        source: "tui".to_owned(),
        at,
    }
}
