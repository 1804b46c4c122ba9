//! Converts a [`Filter`] to SQL.
//!
//! Words of closed lists are literals in the SQL, so that SQLite's planner can use them. All values from a caller are
//! bound.

use rusqlite::types::Value;
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{Filter, ForgottenFilter, Quarantined, Sort, TimeCondition};
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{MemoryType, State};
use tulving_text::fold;

use super::visible;

/// The due time of a todo or a goal; see [`Memory::due_at`](tulving_core::model::memory::Memory::due_at).
const DUE: &str = "CASE WHEN m.type IN ('todo', 'goal') THEN coalesce(m.valid_until, m.expires_at, \
                   CASE WHEN m.occurred_at > m.created_at THEN m.occurred_at END) END";
/// Number of microseconds in a day.
const DAY: i64 = 86_400_000_000;

/// Conditions on `memories m`, joined by AND, and the values bound to their placeholders.
pub(super) struct SqlConditions {
    sql: String,
    values: Vec<Value>,
}

impl SqlConditions {
    /// The conditions that the viewer may see the memory and that the filter matches it.
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
        if let Some(path) = &filter.source_path {
            let path = all.bind(Value::Text(path.clone()));
            all.plain(&format!(
                "(m.source_path = {path} OR m.row IN (SELECT memory FROM source_paths WHERE path = {path}))"
            ));
        }
        for (column, value) in filter.exact() {
            all.text(&format!("m.{column} = "), value);
        }
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
        filter.timed.iter().for_each(|timed| all.timed(*timed));
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
            ForgottenFilter::Without => "m.forgotten_at IS NULL",
            ForgottenFilter::Only => "m.forgotten_at IS NOT NULL AND +m.owner = ?1",
        });
        all.plain(&visible::memory("m"));
        all.costly(filter);
        all
    }

    /// Adds the condition on the state. Expired memories count as archived.
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

    /// Adds the condition on a time. Compares by days if the value represents a whole day, which is the case if it is
    /// the first instant or the last millisecond of the day.
    fn timed(&mut self, timed: TimeCondition) {
        let (column, period, has_start) = match timed {
            TimeCondition::Happened(period) => ("coalesce(m.occurred_at, m.created_at)", period, true),
            TimeCondition::Done(period) => ("m.done_at", period, true),
            TimeCondition::Due(period) => (DUE, period, false),
        };
        let ends = [period.days.0, period.days.1, period.from, period.until];
        let [first_day, last_day, from, until] = ends.map(|at| self.bind(Value::Integer(at.as_micros())));
        let is_day = format!("(({column}) % {DAY} + {DAY}) % {DAY} IN (0, {DAY} - 1000)");
        self.plain(&match has_start {
            true => format!(
                "CASE WHEN {is_day} THEN {column} >= {first_day} AND {column} < {last_day} \
                 ELSE {column} >= {from} AND {column} < {until} END"
            ),
            false => format!(
                "({column} IS NULL OR {column} < CASE WHEN {is_day} THEN {last_day} ELSE {until} END)"
            ),
        });
    }

    /// Adds the conditions that are slowest to check, so they come last.
    fn costly(&mut self, filter: &Filter) {
        for tag in &filter.tags {
            let tag = self.bind(Value::Text(tag.clone()));
            let tagged =
                "SELECT x.memory FROM tags t CROSS JOIN memory_tags x ON x.tag = t.id WHERE t.name =";
            self.plain(&format!("m.row IN ({tagged} {tag})"));
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

    /// Adds the condition that the memory comes after another memory in this order.
    pub(super) fn follow(&mut self, sort: Sort, (time, id): (Timestamp, MemoryId)) {
        let (time, id) = (self.bind(Value::Integer(time.as_micros())), self.bind(blob(id.as_bytes())));
        let sign = if sort == Sort::Oldest { '>' } else { '<' };
        self.plain(&format!("(m.created_at, m.id) {sign} ({time}, {id})"));
    }

    /// Adds a value to the bound values and returns its placeholder.
    pub(super) fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    /// The conditions as SQL.
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// The values of all placeholders, in order.
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

/// The order as SQL, for `memories m` and `usage u`.
pub(super) fn order(sort: Sort) -> String {
    let fixed = match sort {
        Sort::Newest => "m.created_at DESC, m.id DESC",
        Sort::Oldest => "m.created_at, m.id",
        Sort::Updated => "m.updated_at DESC, m.id DESC",
        Sort::Accessed => "coalesce(u.accessed_at, m.created_at) DESC, m.id DESC",
        Sort::Importance => "m.importance DESC, m.id DESC",
        Sort::MostAccessed => "coalesce(u.access_count, 0) DESC, m.id DESC",
        Sort::Happened => "coalesce(m.occurred_at, m.created_at) DESC, m.id DESC",
        Sort::Agenda => {
            return format!(
                "m.done_at IS NOT NULL, m.done_at DESC, ({DUE}) IS NULL, {DUE}, m.importance DESC, m.created_at DESC, \
                 m.id DESC"
            );
        }
    };
    fixed.to_owned()
}

/// The tables that an order needs.
pub(super) fn tables(sort: Sort) -> &'static str {
    match sort {
        Sort::Accessed | Sort::MostAccessed => super::rows::MEMORIES,
        Sort::Newest | Sort::Oldest | Sort::Updated | Sort::Importance | Sort::Happened | Sort::Agenda => {
            "memories m"
        }
    }
}

fn blob(id: &[u8; 16]) -> Value {
    Value::Blob(id.to_vec())
}
