//! Completes memories for readers by setting the fields that are computed at every read and never stored.

use super::Engine;
use crate::model::answer::{
    CompletedMemory, EditedMemory, ForgetWherePreview, ForgottenMemories, Hit, MovedMemories, Page, Receipt,
    Timeline, Warning,
};
use crate::model::id::SpaceId;
use crate::model::memory::{Memory, Status};
use crate::model::request::Caller;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::rank::decay;
use crate::text::commands;

/// Completes the memories of one answer.
pub(super) struct Presenter {
    now: Timestamp,
    spaces: Vec<Space>,
}

impl Engine {
    /// Returns a presenter for this caller and the current time. Only spaces that the caller may see have a name. If the spaces
    /// cannot be read from the store, no memory has the name of its space.
    pub(super) fn presenter(&self, caller: &Caller) -> Presenter {
        let spaces = self.ports.store.spaces(&caller.viewer).unwrap_or_default();
        Presenter { now: self.ports.clock.now(), spaces }
    }

    /// Completes one memory.
    pub(super) fn present(&self, caller: &Caller, memory: Memory) -> Memory {
        self.presenter(caller).memory(memory)
    }
}

impl Presenter {
    /// Sets the computed fields: the marks of commands, the current importance, the name of the space, and the state. An
    /// expired memory has the state archived.
    pub(super) fn memory(&self, memory: Memory) -> Memory {
        Memory {
            commands: commands::marks(&memory.fields),
            importance_now: Some(decay::shown(&memory, self.now)),
            space_name: self.name_of(memory.space),
            status: Status { state: memory.state_at(self.now), ..memory.status },
            ..memory
        }
    }

    fn name_of(&self, space: SpaceId) -> Option<String> {
        self.spaces.iter().find(|other| other.id == space).map(|space| space.name.clone())
    }

    pub(super) fn timeline(&self, mut timeline: Timeline) -> Timeline {
        for entry in &mut timeline.entries {
            entry.space_name = self.name_of(entry.space);
        }
        timeline
    }

    pub(super) fn memories(&self, memories: Vec<Memory>) -> Vec<Memory> {
        memories.into_iter().map(|memory| self.memory(memory)).collect()
    }

    pub(super) fn page(&self, page: Page) -> Page {
        Page { memories: self.memories(page.memories), ..page }
    }

    /// Completes an edited memory, and adds a warning if its text contains commands to an agent.
    pub(super) fn edit(&self, edited: EditedMemory) -> EditedMemory {
        let EditedMemory { memory, mut warnings } = self.changed(edited);
        warnings.extend(Warning::marked(memory.commands.clone()));
        EditedMemory { memory, warnings }
    }

    pub(super) fn receipt(&self, receipt: Receipt) -> Receipt {
        Receipt { memory: self.memory(receipt.memory), ..receipt }
    }

    pub(super) fn changed(&self, edited: EditedMemory) -> EditedMemory {
        EditedMemory { memory: self.memory(edited.memory), ..edited }
    }

    pub(super) fn completed(&self, completed: CompletedMemory) -> CompletedMemory {
        CompletedMemory { memory: self.memory(completed.memory), ..completed }
    }

    pub(super) fn gone(&self, gone: ForgottenMemories) -> ForgottenMemories {
        ForgottenMemories { forgotten: self.memories(gone.forgotten), ..gone }
    }

    pub(super) fn predicted(&self, predicted: ForgetWherePreview) -> ForgetWherePreview {
        ForgetWherePreview { newest: self.memories(predicted.newest), ..predicted }
    }

    pub(super) fn relocated(&self, relocated: MovedMemories) -> MovedMemories {
        MovedMemories { moved: self.memories(relocated.moved), ..relocated }
    }

    /// Completes a hit. If its content is cut, the marks are also computed for the other sections of the hit.
    pub(super) fn hit(&self, mut hit: Hit) -> Hit {
        let others = hit.further.iter().map(|section| section.content.as_str());
        let mut kinds = commands::kinds(others.filter(|_| hit.cut));
        hit.memory = self.memory(hit.memory);
        kinds.append(&mut hit.memory.commands);
        kinds.sort_unstable();
        kinds.dedup();
        hit.memory.commands = kinds;
        hit
    }
}
