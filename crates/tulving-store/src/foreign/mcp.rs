//! The reference memory server of the Model Context Protocol: entities and relations, one per line.
//!
//! An entity becomes a memory with the entity's name, type, observations and relations in their original words. Each
//! relation also becomes an association. Its kind is the Tulving relation with the same meaning, or `related` if there
//! is none.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use serde_json::Value;
use tulving_core::model::foreign::{ForeignCollection, ForeignLink, ForeignMemory};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{ContentType, LinkedBy, Relation, System};
use tulving_core::{model::limits, model::preview};

use super::json::{self, ForeignJson, ForeignJsonElement, ForeignJsonObject};
use super::words;

fn sort(value: &Value) -> Option<&str> {
    value.get("type").and_then(Value::as_str).filter(|sort| matches!(*sort, "entity" | "relation"))
}

/// Returns true if the object is a whole graph, as the tools of the server return it.
fn is_graph(object: &ForeignJsonObject) -> bool {
    let list = |field: &str| object.get(field).is_some_and(Value::is_array);
    list("entities") && list("relations")
}

pub(super) fn is(json: &ForeignJson) -> bool {
    match json {
        ForeignJson::Object(object) => is_graph(object),
        json => {
            let known = |(_, value): &ForeignJsonElement<'_>| value.is_ok_and(|value| sort(value).is_some());
            json::elements(json).iter().any(known)
        }
    }
}

#[derive(Default)]
struct McpEntity {
    sort: Option<String>,
    observations: Vec<String>,
    /// The relations of the entity: the words of each relation and the name of the other entity.
    relations: Vec<(String, String)>,
}

pub(super) fn read(json: &ForeignJson, note: &str) -> Option<ForeignCollection> {
    let mut all = ForeignCollection::new(System::Mcp);
    let (mut order, mut entities) = (Vec::new(), HashMap::<String, McpEntity>::new());
    let mut relations = Vec::new();
    for (place, sort, value) in parts(json, &mut all)? {
        let taken = match sort {
            "entity" => entity(value, &mut order, &mut entities),
            _ => relation(value).map(|relation| relations.push(relation)),
        };
        if let Err(why) = taken {
            all.skip(place, why);
        }
    }
    let mut links = BTreeSet::new();
    for (from, to, kind) in relations {
        if let Some(entity) = entities.get_mut(&from) {
            entity.relations.push((kind.clone(), to.clone()));
        }
        let (relation, turned) = meant(&kind);
        let (source, target) = if turned { (to, from) } else { (from, to) };
        if source != target {
            links.insert((source, target, relation));
        }
    }
    for name in order {
        let entity = entities.remove(&name).unwrap_or_default();
        all.memories.push(memory(&name, &entity, note));
    }
    let link = |(source, target, relation): (String, String, Relation)| ForeignLink {
        source,
        target,
        relation,
        weight: 0.5,
        linked_by: LinkedBy::Caller,
        created_at: None,
    };
    all.links = links.into_iter().map(link).collect();
    Some(all)
}

/// The name of a record in messages, and the record: an entity or a relation, or the reason why it is neither.
type McpGraphRecord<'a> = (String, Result<(&'static str, &'a Value), &'a str>);

/// Returns the entities and relations of a file. Lines of any other kind are ignored, as the server does.
fn parts<'a>(
    json: &'a ForeignJson,
    all: &mut ForeignCollection,
) -> Option<Vec<(String, &'static str, &'a ForeignJsonObject)>> {
    let mut found: Vec<McpGraphRecord<'_>> = Vec::new();
    match json {
        ForeignJson::Object(graph) => {
            for (field, sort) in [("entities", "entity"), ("relations", "relation")] {
                let list = graph.get(field)?.as_array()?;
                let numbered = json::numbered(list, sort).into_iter();
                found.extend(numbered.map(|(place, value)| (place, value.map(|value| (sort, value)))));
            }
        }
        json => found.extend(json::elements(json).into_iter().map(|(place, value)| {
            let sorted = value.and_then(|value| match sort(value) {
                Some("entity") => Ok(("entity", value)),
                Some(_) => Ok(("relation", value)),
                None => Err("it is neither an entity nor a relation"),
            });
            (place, sorted)
        })),
    }
    let mut parts = Vec::new();
    for (place, value) in found {
        match value.and_then(|(sort, value)| Ok((sort, json::object(Ok(value))?))) {
            Ok((sort, object)) => parts.push((place, sort, object)),
            Err(why) => all.skip(place, why),
        }
    }
    Some(parts)
}

/// Adds an entity. If the entity occurs twice, the observations of both are combined.
fn entity(
    object: &ForeignJsonObject,
    order: &mut Vec<String>,
    entities: &mut HashMap<String, McpEntity>,
) -> Result<(), &'static str> {
    let name = json::text(object, "name").ok_or("it has no name")?;
    let entity = entities.entry(name.to_owned()).or_insert_with(|| {
        order.push(name.to_owned());
        McpEntity::default()
    });
    entity.sort = entity.sort.take().or_else(|| json::text(object, "entityType").map(str::to_owned));
    let observations = json::texts(object, "observations").unwrap_or_default();
    entity.observations.extend(observations.into_iter().map(str::to_owned));
    Ok(())
}

fn relation(object: &ForeignJsonObject) -> Result<(String, String, String), &'static str> {
    let end = |field: &str| json::text(object, field).map(str::to_owned);
    let kind = end("relationType").ok_or("it does not say how they are related")?;
    let ends = end("from").zip(end("to")).ok_or("it does not say what is related")?;
    Ok((ends.0, ends.1, kind))
}

fn memory(name: &str, entity: &McpEntity, note: &str) -> ForeignMemory {
    let (memory_type, _) = words::typed(entity.sort.as_deref());
    let request = SaveRequest {
        content_type: Some(ContentType::Markdown),
        title: words::line(name, limits::TITLE_CHARS),
        tags: entity.sort.as_deref().map(|sort| words::labels([sort])),
        memory_type,
        source_note: Some(note.to_owned()),
        ..SaveRequest::new(written(name, entity))
    };
    ForeignMemory { label: preview::short(name), ..ForeignMemory::new(name, request) }
}

/// Formats an entity as text. Repetitions are left out.
fn written(name: &str, entity: &McpEntity) -> String {
    let mut text = format!("**{}**", preview::cut(name, limits::TITLE_CHARS));
    if let Some(sort) = &entity.sort {
        text.push_str(&format!(" ({})", preview::cut(sort, limits::TAG_CHARS)));
    }
    if !entity.observations.is_empty() {
        text.push('\n');
    }
    for observation in once(&entity.observations) {
        text.push_str("\n- ");
        text.push_str(&observation.trim().replace('\n', "\n  "));
    }
    if !entity.relations.is_empty() {
        text.push_str("\n\nRelations:\n");
    }
    for (kind, to) in once(&entity.relations) {
        text.push_str(&format!("\n- {} {}", kind.trim().replace('_', " "), to.trim()));
    }
    text
}

/// Returns each distinct item once, at the position of its first occurrence.
fn once<T: Eq + Hash>(all: &[T]) -> impl Iterator<Item = &T> {
    let mut known = HashSet::with_capacity(all.len());
    all.iter().filter(move |one| known.insert(*one))
}

/// Returns the Tulving relation with the same meaning, and true if its direction is reversed.
fn meant(kind: &str) -> (Relation, bool) {
    let word = kind.trim().to_lowercase().replace([' ', '-'], "_");
    match word.as_str() {
        "updates" | "supersedes" | "replaces" => (Relation::Updates, false),
        "updated_by" | "superseded_by" | "replaced_by" => (Relation::Updates, true),
        "contradicts" | "conflicts_with" => (Relation::Contradicts, false),
        "caused_by" => (Relation::CausedBy, false),
        "causes" | "caused" => (Relation::CausedBy, true),
        "result_of" | "results_from" => (Relation::ResultOf, false),
        "results_in" => (Relation::ResultOf, true),
        "part_of" | "is_part_of" | "belongs_to" | "member_of" | "contained_in" => (Relation::PartOf, false),
        "contains" | "has_part" | "includes" | "has_member" => (Relation::PartOf, true),
        _ => (Relation::RelatedTo, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_is_the_one_that_says_the_same() {
        assert_eq!(meant("part of"), (Relation::PartOf, false));
        assert_eq!(meant("Contains"), (Relation::PartOf, true));
        assert_eq!(meant("superseded-by"), (Relation::Updates, true));
        assert_eq!(meant("works_at"), (Relation::RelatedTo, false));
        for word in Relation::ALL {
            assert_eq!(meant(word.as_str()), (*word, false));
        }
    }

    #[test]
    fn an_entity_is_written_for_people() {
        let entity = McpEntity {
            sort: Some("person".to_owned()),
            observations: vec!["Speaks Spanish".to_owned(), "Two\nlines".to_owned()],
            relations: vec![("works_at".to_owned(), "Anthropic".to_owned())],
        };
        let expected = "**John_Smith** (person)\n\n- Speaks Spanish\n- Two\n  lines\n\nRelations:\n\n- works at Anthropic";
        assert_eq!(written("John_Smith", &entity), expected);
        assert_eq!(written("Bare", &McpEntity::default()), "**Bare**");
    }
}
