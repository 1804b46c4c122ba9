//! Tulving's own REST operations: one for each method of each path under `/v1`. This module also lists all operations,
//! including the operations of other systems' interfaces from `tulving-dialects`. An operation takes arguments from any part
//! of a request, runs one verb of the engine and returns the answer that the core defines. An operation does not depend on
//! the transport.

mod access;
mod aging;
mod components;
mod done;
mod editing;
mod example;
mod files;
mod jobs;
mod journals;
mod links;
mod memories;
mod passes;
mod quality;
mod recall;
mod review;
mod saving;
mod timeline;
mod turns;

use std::sync::LazyLock;

use tulving_core::model::answer::{Warning, WarningMessage};
use tulving_dialects::Dialect;

pub use access::{
    CreateTokenReply, MemberListReply, MemberReply, SpaceListReply, SpaceReply, TokenListReply,
};
pub use aging::TendReply;
pub use components::{Components, OperationSchemas, shared, shared_name};
pub use example::{example, kind};
pub use files::RemoveFileReply;
pub use jobs::JobListReply;
pub use journals::{LongTermHistoryReply, LongTermTextReply};
pub use passes::{
    ConsolidateReply, PassDetailsReply, PassListReply, PassReply, UndoLastReply, UndoPassReply,
};
pub use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationReply};

/// Returns every operation, in the order in which they are listed.
pub fn operations() -> &'static [Operation] {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
        let groups = [
            ("Memories", saving::operations()),
            ("Memories", memories::operations()),
            ("Memories", editing::operations()),
            ("Memories", done::operations()),
            ("Memories", aging::operations()),
            ("Memories", review::operations()),
            ("Recall", recall::operations()),
            ("Recall", timeline::operations()),
            ("Associations", links::operations()),
            ("Quality", quality::operations()),
            ("Spaces and tokens", access::operations()),
            ("Journals", journals::operations()),
            ("Files and conversations", files::operations()),
            ("Turns and jobs", turns::operations()),
            ("Turns and jobs", jobs::operations()),
            ("Turns and jobs", passes::operations()),
        ];
        let described =
            |(group, all): (&'static str, Vec<Operation>)| all.into_iter().map(move |one| one.within(group));
        let others = Dialect::ALL.into_iter().flat_map(Dialect::operations);
        groups.into_iter().flat_map(described).chain(others.map(|one| one.within("Other systems"))).collect()
    });
    &ALL
}

/// Returns warnings with their messages.
fn messages(warnings: Vec<Warning>) -> Vec<WarningMessage> {
    warnings.into_iter().map(WarningMessage::from).collect()
}
