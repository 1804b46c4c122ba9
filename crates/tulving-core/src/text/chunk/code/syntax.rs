//! Code by the syntax of its language: the items in it, and what a cut before each line tears apart.
//!
//! Parsing is bounded: [`guard`] keeps out what is known to harm, a parse that takes too long is given up, and it runs on
//! a stack of its own, since the parser's recursion grows with the ambiguity of the code. Nothing here recurses.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use super::grammar::{Grammar, Kind, LEADS, Name, STRINGS, VALUES, WRAPPERS};
use super::lines::{self, Line, Sort};
use super::{Code, Item, guard};

/// How long a parse may take: so long, and so much for each byte. Code that is not broken takes a fifth of it; broken code
/// can take quadratic time, and how long is not told by what the parser counts.
const AT_LEAST: Duration = Duration::from_millis(200);
const FOR_EACH_BYTE: Duration = Duration::from_micros(1);

/// How many bytes the parser is given at once. Its scanners may read on to the end from anywhere, so the time is looked
/// at here too.
const GIVEN: usize = 1 << 16;

/// The stack that the parser runs on, in bytes. Pages of it that are not used cost nothing.
const STACK: usize = 128 << 20;

/// Most declarators within one another that are looked through for a name.
const DECLARATORS: usize = 16;

/// Longest name, in bytes, of what is called with a text and a function.
const CALLED_BYTES: usize = 60;

/// Most characters of a name that are looked at.
const NAME_CHARS: usize = 200;

/// The lines and items of code; `None` where it is not parsed.
pub(super) fn read(content: &str, grammar: Grammar) -> Option<Code> {
    if !guard::lets_pass(content, grammar) {
        return None;
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("parse".to_owned()).stack_size(STACK);
        let parsing = builder.spawn_scoped(scope, || {
            let tree = parsed(content, grammar)?;
            Some(Walk::new(content, grammar).over(&tree))
        });
        parsing.ok()?.join().ok()?
    })
}

fn parsed(content: &str, grammar: Grammar) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language()).ok()?;
    let most = AT_LEAST + FOR_EACH_BYTE * u32::try_from(content.len()).unwrap_or(u32::MAX);
    let begun = Instant::now();
    let given_up = Cell::new(false);
    let too_late = || {
        given_up.set(given_up.get() || begun.elapsed() > most);
        given_up.get()
    };
    let mut progress = |_: &ParseState| match too_late() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let bytes = content.as_bytes();
    let mut give = |at: usize, _| match too_late() {
        true => &[],
        false => &bytes[at.min(bytes.len())..at.saturating_add(GIVEN).min(bytes.len())],
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut give, None, Some(options));
    tree.filter(|_| !given_up.get())
}

/// What a sort of node is here.
#[derive(Clone, Copy)]
enum Role {
    Item(&'static Kind),
    Wrapper,
    Lead,
    Value,
    Other,
}

/// The role of each sort of node, by its id.
fn roles(grammar: Grammar) -> Vec<Role> {
    let language = grammar.language();
    let ids = (0..language.node_kind_count()).map(|id| u16::try_from(id).unwrap_or(u16::MAX));
    let role = |id: u16| match language.node_kind_for_id(id).filter(|_| language.node_kind_is_named(id)) {
        None => Role::Other,
        Some(node) if WRAPPERS.contains(&node) => Role::Wrapper,
        Some(node) if LEADS.contains(&node) || node.contains("comment") => Role::Lead,
        Some(node) => match grammar.kinds().iter().find(|kind| kind.node == node) {
            Some(kind) => Role::Item(kind),
            None if VALUES.contains(&node) => Role::Value,
            None => Role::Other,
        },
    };
    ids.map(role).collect()
}

/// A node around an item that begins and ends it.
struct Wrapper {
    rows: (usize, usize),
    start: usize,
    end: usize,
    depth: u32,
}

struct Walk<'a> {
    content: &'a str,
    roles: Vec<Role>,
    lines: Vec<Line>,
    /// The line of each row, or the next that is not blank.
    line_of: Vec<usize>,
    /// How many more parts a cut before a row tears apart than one before the row above.
    torn: Vec<i32>,
    wrapper: Option<Wrapper>,
    items: Vec<Item>,
}

impl<'a> Walk<'a> {
    fn new(content: &'a str, grammar: Grammar) -> Self {
        let mut lines = lines::lines(content);
        for line in lines.iter_mut().filter(|line| line.sort == Sort::Lead) {
            line.sort = Sort::Plain;
        }
        let rows = content.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let mut line_of = vec![lines.len(); rows + 1];
        let mut next = lines.len();
        for row in (0..rows).rev() {
            next -= usize::from(next > 0 && lines[next - 1].row == row);
            line_of[row] = next;
        }
        let torn = vec![0; rows + 1];
        Self { content, roles: roles(grammar), lines, line_of, torn, wrapper: None, items: Vec::new() }
    }

    fn over(mut self, tree: &Tree) -> Code {
        let mut cursor = tree.walk();
        // The root is torn by every cut, so it does not count.
        let mut more = cursor.goto_first_child();
        // Counted here: the cursor would count anew for each node.
        let mut depth = 1;
        while more {
            self.visit(&cursor.node(), depth);
            more = next(&mut cursor, &mut depth);
        }
        let mut torn = 0;
        for (row, more) in self.torn.iter().enumerate() {
            torn += more;
            if let Some(line) = self.lines.get_mut(self.line_of[row]).filter(|line| line.row == row) {
                line.depth = u32::try_from(torn).unwrap_or(0);
            }
        }
        Code { lines: self.lines, items: self.items }
    }

    fn visit(&mut self, node: &Node<'_>, depth: u32) {
        let (first, last) = rows(node);
        if last > first {
            self.torn[first + 1] += 1;
            self.torn[last + 1] -= 1;
        }
        match self.role(node) {
            Role::Item(kind) => self.item(node, kind, depth),
            Role::Wrapper => match &mut self.wrapper {
                // One directly within another.
                Some(around) if around.depth + 1 == depth && around.end >= node.end_byte() => {
                    around.depth += 1;
                }
                _ => {
                    let (start, end) = (node.start_byte(), node.end_byte());
                    self.wrapper = Some(Wrapper { rows: (first, last), start, end, depth });
                }
            },
            Role::Lead if self.begins_line(first, node.start_byte()) => {
                let lines = &mut self.lines[self.line_of[first]..self.line_of[last + 1]];
                if lines.last().is_some_and(|line| line.end <= node.end_byte()) {
                    lines.iter_mut().for_each(|line| line.sort = Sort::Lead);
                }
            }
            Role::Lead | Role::Value | Role::Other => {}
        }
    }

    fn role(&self, node: &Node<'_>) -> Role {
        self.roles.get(usize::from(node.kind_id())).copied().unwrap_or(Role::Other)
    }

    /// Whether nothing stands before this byte in its row.
    fn begins_line(&self, row: usize, byte: usize) -> bool {
        let line = self.lines.get(self.line_of[row]).filter(|line| line.row == row);
        line.is_some_and(|line| line.end - line.text(self.content).len() == byte)
    }

    fn item(&mut self, node: &Node<'_>, kind: &Kind, depth: u32) {
        let ((mut first, mut last), mut start) = (rows(node), node.start_byte());
        let within = |around: &&Wrapper| around.depth + 1 == depth && around.end >= node.end_byte();
        if let Some(around) = self.wrapper.as_ref().filter(within) {
            (first, start) = (around.rows.0, around.start);
            last = last.max(around.rows.1);
        }
        if !self.begins_line(first, start) {
            return;
        }
        let needs_lines = matches!(kind.name, Name::Assigned | Name::Left | Name::Called);
        if needs_lines && first == last {
            return;
        }
        if let Some(heading) = self.heading(node, kind, depth <= 2) {
            let lines = lines::with_leads(&self.lines, self.line_of[first])..self.line_of[last + 1];
            self.items.push(Item { lines, heading });
        }
    }

    /// The word and the name of an item; `None` where it has none, or is none after all.
    fn heading(&self, node: &Node<'_>, kind: &Kind, outermost: bool) -> Option<String> {
        let field = |name: &str| node.child_by_field_name(name);
        let is_value = |value: Node<'_>| matches!(self.role(&value), Role::Value);
        let name = match kind.name {
            Name::Field => self.text(field("name")?),
            Name::WithBody => field("body").and(field("name")).map(|name| self.text(name))?,
            Name::Declarator => self.text(declared(*node)?),
            Name::Implemented => match field("trait") {
                Some(of) => format!("{} for {}", self.text(of), self.text(field("type")?)),
                None => self.text(field("type")?),
            },
            Name::Received => format!("{} {}", self.text(field("receiver")?), self.text(field("name")?)),
            Name::Within => self.text(first_with(node, "name")?.child_by_field_name("name")?),
            Name::Assigned => {
                let declarator = first_with(node, "name")?;
                let value = declarator.child_by_field_name("value");
                let counts = outermost || value.is_some_and(is_value);
                self.text(declarator.child_by_field_name("name").filter(|_| counts)?)
            }
            Name::Property => {
                field("value").filter(|value| is_value(*value))?;
                self.text(field("property").or(field("name"))?)
            }
            Name::Called => {
                let called = field("function").filter(|called| called.byte_range().len() <= CALLED_BYTES)?;
                let given = field("arguments")?;
                let mut cursor = given.walk();
                let mut given = given.named_children(&mut cursor);
                let told = given.next().filter(|told| STRINGS.contains(&told.kind()))?;
                given.last().filter(|last| is_value(*last))?;
                format!("{}({})", self.text(called), self.text(told))
            }
            Name::Left => self.text(field("left").filter(|_| field("right").is_some_and(is_value))?),
        };
        let gap = if kind.word.ends_with(char::is_alphabetic) || kind.word.ends_with('!') { " " } else { "" };
        Some(format!("{}{gap}{name}", kind.word))
    }

    fn text(&self, node: Node<'_>) -> String {
        let text = self.content.get(node.byte_range()).unwrap_or_default();
        text.chars().take(NAME_CHARS).collect()
    }
}

/// The first and the last row of a node. Where it ends with a line break, that is the row before.
fn rows(node: &Node<'_>) -> (usize, usize) {
    let (start, end) = (node.start_position(), node.end_position());
    (start.row, if end.column == 0 { end.row.saturating_sub(1).max(start.row) } else { end.row })
}

/// Goes on to the next node, each before those within it, and counts how deep it stands.
fn next(cursor: &mut TreeCursor<'_>, depth: &mut u32) -> bool {
    if cursor.goto_first_child() {
        *depth += 1;
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
        *depth -= 1;
    }
    true
}

/// What is declared: the innermost of the declarators within one another.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut declared = node.child_by_field_name("declarator")?;
    for _ in 0..DECLARATORS {
        match declared.child_by_field_name("declarator") {
            Some(within) => declared = within,
            None => break,
        }
    }
    Some(declared)
}

/// The first child that has such a field.
fn first_with<'a>(node: &Node<'a>, field: &str) -> Option<Node<'a>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.child_by_field_name(field).is_some())
}
