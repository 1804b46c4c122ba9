//! Reads code by the syntax of its language. Finds the items in the code, and the cost of a cut before each line.
//!
//! Parsing is bounded. [`guard`] rejects input that is known to be harmful, and a parse that takes too long is stopped.
//! The parser has a stack of its own, because its recursion depth grows with the ambiguity of the code. The code in
//! this module does not recurse.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use super::grammar::{CodeItemKind, Grammar, ItemNameLocation, LEADS, STRINGS, VALUES, WRAPPERS};
use super::lines::{self, CodeLine, CodeLineRole};
use super::{CodeItem, CodeStructure, guard};

/// Time limit of a parse: a minimum, plus an amount for each byte. Valid code takes a fifth of this time. Broken code
/// can take quadratic time, which the parser's own counters do not detect.
const AT_LEAST: Duration = Duration::from_millis(200);
const FOR_EACH_BYTE: Duration = Duration::from_micros(1);

/// Number of bytes passed to the parser at once. A scanner may read to the end of the text from any position, so the
/// time is also checked when bytes are passed.
const GIVEN: usize = 1 << 16;

/// Stack size of the parser, in bytes. Unused pages cost nothing.
const STACK: usize = 128 << 20;

/// Maximum number of nested declarators in which a name is searched.
const DECLARATORS: usize = 16;

/// Maximum length of the name of a function that is called with a string and a function, in bytes.
const CALLED_BYTES: usize = 60;

/// Maximum number of characters of a name that are read.
const NAME_CHARS: usize = 200;

/// Returns the lines and items of code, or `None` if it cannot be parsed.
pub(super) fn read(content: &str, grammar: Grammar) -> Option<CodeStructure> {
    if !guard::lets_pass(content, grammar) {
        return None;
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("parse".to_owned()).stack_size(STACK);
        let parsing = builder.spawn_scoped(scope, || {
            let tree = parsed(content, grammar)?;
            Some(SyntaxTreeWalk::new(content, grammar).over(&tree))
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

/// The role of a kind of node.
#[derive(Clone, Copy)]
enum SyntaxNodeRole {
    Item(&'static CodeItemKind),
    Wrapper,
    Lead,
    Value,
    Other,
}

/// Returns the role of each kind of node, indexed by the kind's id.
fn roles(grammar: Grammar) -> Vec<SyntaxNodeRole> {
    let language = grammar.language();
    let ids = (0..language.node_kind_count()).map(|id| u16::try_from(id).unwrap_or(u16::MAX));
    let role = |id: u16| match language.node_kind_for_id(id).filter(|_| language.node_kind_is_named(id)) {
        None => SyntaxNodeRole::Other,
        Some(node) if WRAPPERS.contains(&node) => SyntaxNodeRole::Wrapper,
        Some(node) if LEADS.contains(&node) || node.contains("comment") => SyntaxNodeRole::Lead,
        Some(node) => match grammar.kinds().iter().find(|kind| kind.node == node) {
            Some(kind) => SyntaxNodeRole::Item(kind),
            None if VALUES.contains(&node) => SyntaxNodeRole::Value,
            None => SyntaxNodeRole::Other,
        },
    };
    ids.map(role).collect()
}

/// A node around an item that extends the item's range.
struct WrapperNode {
    rows: (usize, usize),
    start: usize,
    end: usize,
    depth: u32,
}

struct SyntaxTreeWalk<'a> {
    content: &'a str,
    roles: Vec<SyntaxNodeRole>,
    lines: Vec<CodeLine>,
    /// For each row, the index of its line, or of the next line that is not blank.
    line_of: Vec<usize>,
    /// For each row, the change in the number of parts that a cut would split, compared with the row above.
    torn: Vec<i32>,
    wrapper: Option<WrapperNode>,
    items: Vec<CodeItem>,
}

impl<'a> SyntaxTreeWalk<'a> {
    fn new(content: &'a str, grammar: Grammar) -> Self {
        let mut lines = lines::lines(content);
        for line in lines.iter_mut().filter(|line| line.sort == CodeLineRole::Lead) {
            line.sort = CodeLineRole::Plain;
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

    fn over(mut self, tree: &Tree) -> CodeStructure {
        let mut cursor = tree.walk();
        // Every cut splits the root node, so the root does not count.
        let mut more = cursor.goto_first_child();
        // The depth is counted in this loop, because the cursor would compute it from the root for each node.
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
        CodeStructure { lines: self.lines, items: self.items }
    }

    fn visit(&mut self, node: &Node<'_>, depth: u32) {
        let (first, last) = rows(node);
        if last > first {
            self.torn[first + 1] += 1;
            self.torn[last + 1] -= 1;
        }
        match self.role(node) {
            SyntaxNodeRole::Item(kind) => self.item(node, kind, depth),
            SyntaxNodeRole::Wrapper => match &mut self.wrapper {
                // A wrapper node directly inside another wrapper node.
                Some(around) if around.depth + 1 == depth && around.end >= node.end_byte() => {
                    around.depth += 1;
                }
                _ => {
                    let (start, end) = (node.start_byte(), node.end_byte());
                    self.wrapper = Some(WrapperNode { rows: (first, last), start, end, depth });
                }
            },
            SyntaxNodeRole::Lead if self.begins_line(first, node.start_byte()) => {
                let lines = &mut self.lines[self.line_of[first]..self.line_of[last + 1]];
                if lines.last().is_some_and(|line| line.end <= node.end_byte()) {
                    lines.iter_mut().for_each(|line| line.sort = CodeLineRole::Lead);
                }
            }
            SyntaxNodeRole::Lead | SyntaxNodeRole::Value | SyntaxNodeRole::Other => {}
        }
    }

    fn role(&self, node: &Node<'_>) -> SyntaxNodeRole {
        self.roles.get(usize::from(node.kind_id())).copied().unwrap_or(SyntaxNodeRole::Other)
    }

    /// Returns true if only white space precedes this byte in its row.
    fn begins_line(&self, row: usize, byte: usize) -> bool {
        let line = self.lines.get(self.line_of[row]).filter(|line| line.row == row);
        line.is_some_and(|line| line.end - line.text(self.content).len() == byte)
    }

    fn item(&mut self, node: &Node<'_>, kind: &CodeItemKind, depth: u32) {
        let ((mut first, mut last), mut start) = (rows(node), node.start_byte());
        let within = |around: &&WrapperNode| around.depth + 1 == depth && around.end >= node.end_byte();
        if let Some(around) = self.wrapper.as_ref().filter(within) {
            (first, start) = (around.rows.0, around.start);
            last = last.max(around.rows.1);
        }
        if !self.begins_line(first, start) {
            return;
        }
        let needs_lines = matches!(
            kind.name,
            ItemNameLocation::Assigned | ItemNameLocation::Left | ItemNameLocation::Called
        );
        if needs_lines && first == last {
            return;
        }
        if let Some(heading) = self.heading(node, kind, depth <= 2) {
            let lines = lines::with_leads(&self.lines, self.line_of[first])..self.line_of[last + 1];
            self.items.push(CodeItem { lines, heading });
        }
    }

    /// Returns the keyword and the name of an item, or `None` if it has no name or is not an item after all.
    fn heading(&self, node: &Node<'_>, kind: &CodeItemKind, outermost: bool) -> Option<String> {
        let field = |name: &str| node.child_by_field_name(name);
        let is_value = |value: Node<'_>| matches!(self.role(&value), SyntaxNodeRole::Value);
        let name = match kind.name {
            ItemNameLocation::Field => self.text(field("name")?),
            ItemNameLocation::WithBody => field("body").and(field("name")).map(|name| self.text(name))?,
            ItemNameLocation::Declarator => self.text(declared(*node)?),
            ItemNameLocation::Implemented => match field("trait") {
                Some(of) => format!("{} for {}", self.text(of), self.text(field("type")?)),
                None => self.text(field("type")?),
            },
            ItemNameLocation::Received => {
                format!("{} {}", self.text(field("receiver")?), self.text(field("name")?))
            }
            ItemNameLocation::Within => self.text(first_with(node, "name")?.child_by_field_name("name")?),
            ItemNameLocation::Assigned => {
                let declarator = first_with(node, "name")?;
                let value = declarator.child_by_field_name("value");
                let counts = outermost || value.is_some_and(is_value);
                self.text(declarator.child_by_field_name("name").filter(|_| counts)?)
            }
            ItemNameLocation::Property => {
                field("value").filter(|value| is_value(*value))?;
                self.text(field("property").or(field("name"))?)
            }
            ItemNameLocation::Called => {
                let called = field("function").filter(|called| called.byte_range().len() <= CALLED_BYTES)?;
                let given = field("arguments")?;
                let mut cursor = given.walk();
                let mut given = given.named_children(&mut cursor);
                let described = given.next().filter(|described| STRINGS.contains(&described.kind()))?;
                given.last().filter(|last| is_value(*last))?;
                format!("{}({})", self.text(called), self.text(described))
            }
            ItemNameLocation::Left => {
                self.text(field("left").filter(|_| field("right").is_some_and(is_value))?)
            }
        };
        let gap = if kind.word.ends_with(char::is_alphabetic) || kind.word.ends_with('!') { " " } else { "" };
        Some(format!("{}{gap}{name}", kind.word))
    }

    fn text(&self, node: Node<'_>) -> String {
        let text = self.content.get(node.byte_range()).unwrap_or_default();
        text.chars().take(NAME_CHARS).collect()
    }
}

/// Returns the first and the last row of a node. If the node ends with a line break, the last row is the row before the
/// break.
fn rows(node: &Node<'_>) -> (usize, usize) {
    let (start, end) = (node.start_position(), node.end_position());
    (start.row, if end.column == 0 { end.row.saturating_sub(1).max(start.row) } else { end.row })
}

/// Moves the cursor to the next node, parents before children, and updates the depth.
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

/// Returns the innermost of the nested declarators.
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

/// Returns the first child that has a field with this name.
fn first_with<'a>(node: &Node<'a>, field: &str) -> Option<Node<'a>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.child_by_field_name(field).is_some())
}
