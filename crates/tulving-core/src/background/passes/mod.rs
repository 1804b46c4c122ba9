//! Background passes that read conversations and journals and propose what to save.
//!
//! A pass takes text and returns requests. It has no access to the store or to a model: the engine asks the model and saves
//! the results in the same way as any other save.

pub(crate) mod consolidate;
mod grounded;
pub(crate) mod model;
pub(crate) mod proactive;
pub(crate) mod records;
pub(crate) mod shadow;

pub use self::consolidate::{ConsolidationSettings, ConsolidationSummary, DroppedLine, RejectedLine};
pub use self::proactive::TurnReadingCounts;

/// Builds a turn for tests.
#[cfg(test)]
fn turn(role: crate::model::vocabulary::TurnRole, content: &str) -> crate::model::turn::Turn {
    let at: crate::model::time::Timestamp = "2026-05-27T10:00:00Z".parse().expect("a time");
    crate::model::turn::Turn {
        id: crate::model::id::TurnId::mint(at),
        space: crate::model::id::SpaceId::DEFAULT,
        logged_by: crate::model::id::PrincipalId::USER,
        channel: None,
        position: 7,
        role,
        speaker: None,
        content: content.to_owned(),
        source: "tui".to_owned(),
        at,
    }
}
