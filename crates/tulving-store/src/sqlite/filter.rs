//! A [`Filter`] as SQL.
//!
//! Words of closed lists are written into the text, so that SQLite plans with them; everything a caller wrote is bound.

use rusqlite::types::Value;
use tulving_core::id::MemoryId;
use tulving_core::request::{Filter, Forgotten, Quarantined, Sort};
use tulving_core::space::Viewer;
use tulving_core::text::fold;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{MemoryType, State};

use super::visible;

/// Conditions on `memories m`, joined by AND, and the values they bind.
pub(super) struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    /// That the viewer may see the memory and the filter wants it.
    pub(super) fn of(viewer: &Viewer, filter: &Filter) -> Self {
        let within = visible::within(viewer).map_or(Value::Null, Value::Text);
        let mut all = Self { sql: String::new(), values: vec![blob(viewer.principal.as_bytes()), within] };
        if let Some(space) = filter.space {
            all.bound("m.space = ", blob(space.as_bytes()));
        }
        all.words("m.type", filter.types.iter().map(|word| word.as_str()));
        all.words("m.kind", filter.kinds.iter().map(|word| word.as_str()));
        all.words("m.stability", filter.stabilities.iter().map(|word| word.as_str()));
        all.states(filter);
        all.words("m.content_type", filter.content_types.iter().map(|word| word.as_str()));
        all.words("m.author", filter.author.iter().map(|word| word.as_str()));
        all.text("m.key = ", filter.key.as_deref());
        all.text("m.source_path = ", filter.source_path.as_deref());
        all.text("m.conversation = ", filter.conversation.as_deref());
        all.text("m.source_agent = ", filter.source_agent.as_deref());
        if let Some(pinned) = filter.pinned {
            all.plain(if pinned { "m.pinned = 1" } else { "m.pinned = 0" });
        }
        match filter.done {
            Some(true) => all.plain("m.done_at IS NOT NULL"),
            Some(false) => {
                let open = MemoryType::ALL.iter().filter(|word| word.can_be_done());
                all.words("m.type", open.map(|word| word.as_str()));
                all.plain("m.done_at IS NULL");
            }
            None => {}
        }
        if let Some(since) = filter.since {
            all.bound("m.created_at >= ", Value::Integer(since.as_micros()));
        }
        if let Some(until) = filter.until {
            all.bound("m.created_at < ", Value::Integer(until.as_micros()));
        }
        if let Some(then) = filter.valid_at {
            let then = all.bind(Value::Integer(then.as_micros()));
            all.plain(&format!(
                "coalesce(m.valid_from, m.occurred_at, m.created_at) <= {then} \
                 AND (m.valid_until IS NULL OR m.valid_until > {then})"
            ));
        }
        if filter.records_only {
            all.plain("m.mirror_line IS NULL");
        }
        match filter.quarantined {
            Quarantined::Without => all.plain("m.quarantined_at IS NULL"),
            Quarantined::Only => all.plain("m.quarantined_at IS NOT NULL"),
            Quarantined::Either => {}
        }
        all.plain(match filter.forgotten {
            Forgotten::Without => "m.forgotten_at IS NULL",
            Forgotten::Only => "m.forgotten_at IS NOT NULL AND +m.owner = ?1",
        });
        all.plain(&visible::memory("m"));
        all.costly(filter);
        all
    }

    /// What has expired counts as archived.
    fn states(&mut self, filter: &Filter) {
        let set = |all: &mut Self| all.words("m.state", filter.states.iter().map(|word| word.as_str()));
        match filter.states_at.filter(|_| filter.states.len() < State::ALL.len()) {
            _ if filter.states.is_empty() => {}
            None => set(self),
            Some(at) if filter.states.contains(&State::Archived) => {
                let at = self.bind(Value::Integer(at.as_micros()));
                let words: Vec<&str> = filter.states.iter().map(|word| word.as_str()).collect();
                self.plain(&format!("(m.state IN ('{}') OR m.expires_at <= {at})", words.join("', '")));
            }
            Some(at) => {
                set(self);
                let at = self.bind(Value::Integer(at.as_micros()));
                self.plain(&format!("(m.expires_at IS NULL OR m.expires_at > {at})"));
            }
        }
    }

    /// What takes longest to check comes last.
    fn costly(&mut self, filter: &Filter) {
        for tag in &filter.tags {
            let tag = self.bind(Value::Text(tag.clone()));
            self.plain(&format!("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = {tag})"));
        }
        if let Some(text) = &filter.substring {
            let needle = self.bind(Value::Text(fold::folded(text)));
            let elsewhere = match filter.content_only {
                true => String::new(),
                false => format!(" OR holds(m.title, {needle}) OR holds(m.key, {needle})"),
            };
            self.plain(&format!("(holds(m.content, {needle}){elsewhere})"));
        }
    }

    /// That the memory follows another one in a fixed order.
    pub(super) fn follow(&mut self, sort: Sort, (time, id): (Timestamp, MemoryId)) {
        let (time, id) = (self.bind(Value::Integer(time.as_micros())), self.bind(blob(id.as_bytes())));
        let sign = if sort == Sort::Oldest { '>' } else { '<' };
        self.plain(&format!("(m.created_at, m.id) {sign} ({time}, {id})"));
    }

    /// Binds a value and gives its place holder.
    pub(super) fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    /// The conditions as SQL.
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// The values of all place holders, in order.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    fn plain(&mut self, condition: &str) {
        if !self.sql.is_empty() {
            self.sql.push_str(" AND ");
        }
        self.sql.push_str(condition);
    }

    fn bound(&mut self, comparison: &str, value: Value) {
        let holder = self.bind(value);
        self.plain(&format!("{comparison}{holder}"));
    }

    fn text(&mut self, comparison: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.bound(comparison, Value::Text(text.to_owned()));
        }
    }

    fn words<'a>(&mut self, column: &str, words: impl Iterator<Item = &'a str>) {
        let words: Vec<&str> = words.collect();
        if !words.is_empty() {
            self.plain(&format!("{column} IN ('{}')", words.join("', '")));
        }
    }
}

/// The order as SQL, on `memories m` and `usage u`.
pub(super) fn order(sort: Sort) -> &'static str {
    match sort {
        Sort::Newest => "m.created_at DESC, m.id DESC",
        Sort::Oldest => "m.created_at, m.id",
        Sort::Updated => "m.updated_at DESC, m.id DESC",
        Sort::Accessed => "coalesce(u.accessed_at, m.created_at) DESC, m.id DESC",
        Sort::Importance => "m.importance DESC, m.id DESC",
        Sort::MostAccessed => "coalesce(u.access_count, 0) DESC, m.id DESC",
    }
}

/// The tables that an order needs.
pub(super) fn tables(sort: Sort) -> &'static str {
    match sort {
        Sort::Accessed | Sort::MostAccessed => super::rows::MEMORIES,
        Sort::Newest | Sort::Oldest | Sort::Updated | Sort::Importance => "memories m",
    }
}

fn blob(id: &[u8; 16]) -> Value {
    Value::Blob(id.to_vec())
}
