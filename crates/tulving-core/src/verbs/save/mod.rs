//! The save path: intake, chunk, embed, then dedupe, assemble and apply as one decision.
//!
//! A receipt is given only after the commit. If another writer committed a conflicting change first, the last three
//! steps run again.

pub(crate) mod assemble;
mod confirm;
pub(crate) mod dedupe;
pub(crate) mod derive;
pub(crate) mod embed;
pub(crate) mod form;
pub(crate) mod intake;
pub(crate) mod sources;

use tulving_text::chunk::ContentForm;

use crate::model::answer::Receipt;
use crate::model::change::RequiredRole;
use crate::model::error::{Error, Field, Invalid};
use crate::model::id::MemoryId;
use crate::model::limits;
use crate::model::pass::Pass;
use crate::model::request::{Caller, SaveRequest};
use crate::model::space::Space;
use crate::model::vocabulary::ContentType;
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;

/// Saves one memory.
pub(crate) fn save(ports: &Ports, caller: &Caller, request: SaveRequest) -> Result<Receipt, Error> {
    only(save_many(ports, caller, vec![request]))
}

/// Returns the receipt of the only memory of a batch.
pub(crate) fn only(saved: Result<Vec<Receipt>, Error>) -> Result<Receipt, Error> {
    match saved {
        Ok(mut receipts) => Ok(receipts.pop().expect("one request has one receipt")),
        Err(Error::Invalid(Invalid::InBatch { source, .. })) => Err(Error::Invalid(*source)),
        Err(error) => Err(error),
    }
}

/// Saves a new memory under a predetermined id, so that data stored elsewhere can refer to it. If another memory has
/// the slot, the error is [`Error::Held`], and nothing is written.
pub(crate) fn save_as(
    ports: &Ports,
    caller: &Caller,
    id: MemoryId,
    request: SaveRequest,
) -> Result<Receipt, Error> {
    only(save_with_options(ports, caller, vec![SaveOptions { id: Some(id), ..SaveOptions::of(request) }]))
}

/// Saves several memories in one transaction: all of them or none.
pub(crate) fn save_many(
    ports: &Ports,
    caller: &Caller,
    requests: Vec<SaveRequest>,
) -> Result<Vec<Receipt>, Error> {
    save_with_options(ports, caller, requests.into_iter().map(SaveOptions::of).collect())
}

/// A request, with options that only the engine itself may set.
#[derive(Clone, Debug)]
pub(crate) struct SaveOptions {
    /// The request.
    pub(crate) request: SaveRequest,
    /// The id to use if the memory is new.
    pub(crate) id: Option<MemoryId>,
    /// The record of the file from which the memory was read, for an import.
    pub(crate) imported: Option<intake::Imported>,
    /// True if the metadata comes from the document itself, so that a change in it counts as a change of the document.
    pub(crate) described: bool,
    /// True if a background job computes the vectors, even if there are few.
    pub(crate) later: bool,
    /// True if the memory is quarantined for review when it is new.
    pub(crate) quarantined: bool,
    /// A note about the form of the document, for the receipt.
    pub(crate) note: Option<String>,
}

impl SaveOptions {
    /// Creates options with default values for a request.
    pub(crate) fn of(request: SaveRequest) -> Self {
        Self {
            request,
            id: None,
            imported: None,
            described: false,
            later: false,
            quarantined: false,
            note: None,
        }
    }
}

/// Saves several memories in one transaction, with options.
pub(crate) fn save_with_options(
    ports: &Ports,
    caller: &Caller,
    orders: Vec<SaveOptions>,
) -> Result<Vec<Receipt>, Error> {
    save_by(ports, caller, orders, None)
}

/// Saves for a pass, which is recorded in the same transaction if anything new was saved.
pub(crate) fn save_by(
    ports: &Ports,
    caller: &Caller,
    orders: Vec<SaveOptions>,
    pass: Option<&Pass>,
) -> Result<Vec<Receipt>, Error> {
    let later = orders.iter().any(|order| order.later);
    let (place, drafts) = read_all(ports, caller, orders)?;
    let sources: Vec<Source<'_>> = drafts.iter().map(source).collect();
    let (chunks, trouble) = if later { (embed::cut(&sources), None) } else { embed::embed(ports, &sources) };
    let mut first = Some(place);
    access::decide_again(|| {
        let (space, right) = first.take().map_or_else(|| access::workplace(ports, caller), Ok)?;
        let now = ports.clock.now();
        let mut act = assemble::SaveBatch::new(ports, caller, &space, right, now).of(pass.cloned());
        for (index, (draft, chunks)) in drafts.iter().zip(&chunks).enumerate() {
            act.add(draft, chunks).map_err(|error| in_batch(index, error))?;
        }
        act.apply(trouble.as_ref())
    })
}

/// Returns the space with the right to write there, and the validated requests. If one is invalid, the error names it.
pub(crate) fn read_all(
    ports: &Ports,
    caller: &Caller,
    orders: Vec<SaveOptions>,
) -> Result<((Space, RequiredRole), Vec<intake::Draft>), Error> {
    if orders.len() > limits::BATCH {
        let (got, limit) = (orders.len(), limits::BATCH);
        return Err(Invalid::TooMany { field: Field::Memories, got, limit }.into());
    }
    let place = access::workplace(ports, caller)?;
    let mut drafts = Vec::with_capacity(orders.len());
    for (index, order) in orders.into_iter().enumerate() {
        let draft = draft(ports, &place.0, order)
            .map_err(|source| Invalid::InBatch { index, source: Box::new(source) })?;
        drafts.push(draft);
    }
    Ok((place, drafts))
}

/// Validates one request, and adds the options of the engine.
fn draft(ports: &Ports, space: &Space, order: SaveOptions) -> Result<intake::Draft, Invalid> {
    let SaveOptions { request, id, imported, described, later: _, quarantined, note } = order;
    let request = request.expand(ports.clock.now())?;
    let draft = intake::read(request, space, ports.limits)?.withhold(ports.redactor(space), ports.limits)?;
    Ok(intake::Draft { id, imported, described, quarantined, note: note.or(draft.note), ..draft })
}

/// Adds the index of the wrong request in a batch to an error.
fn in_batch(index: usize, error: Error) -> Error {
    match error {
        Error::Invalid(source) => Invalid::InBatch { index, source: Box::new(source) }.into(),
        error => error,
    }
}

/// Returns the part of a draft that is embedded.
fn source(draft: &intake::Draft) -> Source<'_> {
    let intake::Patch { content_type, language, .. } = &draft.patch;
    let language = language.as_ref().and_then(Option::as_deref);
    let form = ContentForm { content_type: content_type.unwrap_or(ContentType::Text), language };
    let title = draft.patch.title.as_ref().and_then(Option::as_deref);
    Source { content: draft.content(), form, title }
}
