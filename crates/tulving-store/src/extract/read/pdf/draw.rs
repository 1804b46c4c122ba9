//! Interprets the drawing instructions of a page, but collects only the text.
//!
//! The interpreter stores only the state that determines the position of a character: the transforms, the font and its
//! spacings. It also draws forms. The work is counted and limited, because a small file can cause any amount of work.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hayro_font::UNITS_PER_EM;
use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream, String as PdfString};
use hayro_syntax::page::{Page, Resources};

use super::super::sink::ExtractTextBuilder;
use super::super::title;
use super::fonts::{PdfFont, PdfFonts};
use super::layout::{GlyphPlacement, PdfPageLayout};

/// Maximum depth of nested forms.
const DEEPEST: usize = 16;
/// Maximum number of saved states. No real page needs a tenth of this.
const STATES: usize = 1_000;
/// Number of recent texts that are compared with the next text. Some programs draw a text again in the same position,
/// so that it looks bold.
const LOOK_BACK: usize = 16;
/// A text that is drawn again at a distance smaller than this share of its size counts as the same text.
const SAME_PLACE: f64 = 0.15;

/// Maximum number of instructions and characters of all pages together: a hundred times the number that a book needs.
#[derive(Debug)]
pub(super) struct DrawingBudget(u64);

impl Default for DrawingBudget {
    fn default() -> Self {
        Self(100_000_000)
    }
}

impl DrawingBudget {
    fn spend(&mut self, amount: usize) {
        self.0 = self.0.saturating_sub(amount as u64);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The state that the instruction `q` saves and `Q` restores.
#[derive(Clone)]
struct GraphicsState<'a> {
    transform: Affine,
    font: Option<PdfFont<'a>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    /// The horizontal scale of characters; 1 is normal.
    interval: f64,
    leading: f64,
    rise: f64,
}

/// A replacement text for the characters that are drawn inside a marked part.
enum PdfActualText {
    /// The current position is not inside a replacement text.
    Nothing,
    /// The replacement text was not written yet.
    Waits(String),
    /// The replacement text was written with the first of its characters.
    Drawn,
}

/// Draws one page.
pub(super) struct PdfPageInterpreter<'a, 'r> {
    fonts: &'r PdfFonts<'a>,
    state: GraphicsState<'a>,
    kept: Vec<GraphicsState<'a>>,
    /// The transform at the current text position, and at the start of the line.
    matrix: Affine,
    line: Affine,
    meant: Vec<PdfActualText>,
    lately: VecDeque<(u64, Point)>,
    layout: PdfPageLayout<'r>,
    budget: &'r mut DrawingBudget,
}

impl<'a, 'r> PdfPageInterpreter<'a, 'r> {
    pub(super) fn new(
        page: &Page<'a>,
        fonts: &'r PdfFonts<'a>,
        budget: &'r mut DrawingBudget,
        sink: &'r mut ExtractTextBuilder,
    ) -> Self {
        let state = GraphicsState {
            transform: Affine::new(page.initial_transform(true).as_coeffs()),
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            interval: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            fonts,
            state,
            kept: Vec::new(),
            matrix: Affine::IDENTITY,
            line: Affine::IDENTITY,
            meant: Vec::new(),
            lately: VecDeque::new(),
            layout: PdfPageLayout::new(sink),
            budget,
        }
    }

    /// Draws the page.
    pub(super) fn follow(mut self, page: &Page<'a>) {
        self.run(page.typed_operations(), page.resources(), 0);
        self.layout.finish();
    }

    fn run(&mut self, mut instructions: TypedIter<'_>, resources: &Resources<'a>, depth: usize) {
        while let Some(instruction) = instructions.next() {
            self.budget.spend(1);
            if self.budget.is_spent() || self.layout.is_full() {
                return;
            }
            self.step(&instruction, resources, depth);
        }
    }

    fn step(&mut self, instruction: &TypedInstruction<'_, '_>, resources: &Resources<'a>, depth: usize) {
        use TypedInstruction as I;
        let number = |number: &Number| number.as_f64();
        match instruction {
            I::SaveState(_) if self.kept.len() < STATES => self.kept.push(self.state.clone()),
            I::RestoreState(_) => {
                if let Some(state) = self.kept.pop() {
                    self.state = state;
                }
            }
            I::Transform(t) => {
                self.state.transform *= Affine::new([&t.0, &t.1, &t.2, &t.3, &t.4, &t.5].map(number));
            }
            I::XObject(x) if depth < DEEPEST => {
                if let Some(form) = resources.get_x_object(x.0) {
                    self.form(&form, resources, depth);
                }
            }
            I::BeginText(_) => self.place(Affine::IDENTITY),
            I::SetTextMatrix(t) => {
                self.place(Affine::new([&t.0, &t.1, &t.2, &t.3, &t.4, &t.5].map(number)));
            }
            I::NextLine(t) => self.next_line(number(&t.0), number(&t.1)),
            I::NextLineAndSetLeading(t) => {
                self.state.leading = -number(&t.1);
                self.next_line(number(&t.0), number(&t.1));
            }
            I::NextLineUsingLeading(_) => self.next_line(0.0, -self.state.leading),
            I::CharacterSpacing(t) => self.state.character_space = number(&t.0),
            I::WordSpacing(t) => self.state.word_space = number(&t.0),
            I::HorizontalScaling(t) => self.state.interval = number(&t.0) / 100.0,
            I::TextLeading(t) => self.state.leading = number(&t.0),
            I::TextRise(t) => self.state.rise = number(&t.0),
            I::TextFont(t) => {
                self.state.size = number(&t.1);
                self.state.font = resources.get_font(t.0).and_then(|font| self.fonts.get(&font));
            }
            I::ShowText(t) => self.show(&[ShowTextItem::Text(t.0.as_bytes())]),
            I::NextLineAndShowText(t) => {
                self.next_line(0.0, -self.state.leading);
                self.show(&[ShowTextItem::Text(t.0.as_bytes())]);
            }
            I::ShowTextWithParameters(t) => {
                self.state.word_space = number(&t.0);
                self.state.character_space = number(&t.1);
                self.next_line(0.0, -self.state.leading);
                self.show(&[ShowTextItem::Text(t.2.as_bytes())]);
            }
            I::ShowTexts(t) => self.show_all(t.0),
            I::BeginMarkedContent(_) => self.begin(PdfActualText::Nothing),
            I::BeginMarkedContentWithProperties(t) => {
                let meant = actual_text(t.1, resources).map_or(PdfActualText::Nothing, PdfActualText::Waits);
                self.begin(meant);
            }
            I::EndMarkedContent(_) => drop(self.meant.pop()),
            _ => {}
        }
    }

    fn begin(&mut self, meant: PdfActualText) {
        if self.meant.len() < STATES {
            self.meant.push(meant);
        }
    }

    fn place(&mut self, matrix: Affine) {
        (self.matrix, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.place(self.line * Affine::translate((x, y)));
    }

    /// Draws a form on this page.
    fn form(&mut self, form: &Stream<'a>, resources: &Resources<'a>, depth: usize) {
        let dict = form.dict();
        if dict.get::<Name<'_>>(b"Subtype").is_none_or(|kind| kind.as_ref() != b"Form") {
            return;
        }
        let Ok(content) = form.decoded_data() else {
            return;
        };
        self.budget.spend(content.len() / 16);
        let own = dict.get::<Dict<'a>>(b"Resources").map(Resources::new);
        let before = (self.state.clone(), self.matrix, self.line, self.kept.len());
        if let Some(matrix) = dict.get::<[f64; 6]>(b"Matrix") {
            self.state.transform *= Affine::new(matrix);
        }
        self.run(TypedIter::new(&content), own.as_ref().unwrap_or(resources), depth + 1);
        (self.state, self.matrix, self.line) = (before.0, before.1, before.2);
        self.kept.truncate(before.3);
    }

    fn show_all(&mut self, items: &Array<'_>) {
        let items: Vec<Object<'_>> = items.iter::<Object<'_>>().collect();
        let shown = items.iter().filter_map(|item| match item {
            Object::String(text) => Some(ShowTextItem::Text(text.as_bytes())),
            Object::Number(number) => Some(ShowTextItem::Move(number.as_f64())),
            _ => None,
        });
        let shown: Vec<ShowTextItem<'_>> = shown.collect();
        self.show(&shown);
    }

    /// Draws the items of one text instruction.
    fn show(&mut self, items: &[ShowTextItem<'_>]) {
        let Some(face) = self.state.font.clone() else {
            return;
        };
        let pen = CharacterDrawMode { silent: self.is_again(items), spaced: is_spaced(items) };
        for item in items {
            match item {
                ShowTextItem::Move(by) => {
                    let by = -by / f64::from(UNITS_PER_EM) * self.state.size;
                    self.advance(&face, by);
                }
                ShowTextItem::Text(bytes) => self.characters(&face, bytes, pen),
            }
        }
    }

    /// Returns true if the same text was recently drawn in the same position.
    fn is_again(&mut self, items: &[ShowTextItem<'_>]) -> bool {
        let mut hasher = DefaultHasher::new();
        for item in items {
            if let ShowTextItem::Text(bytes) = item {
                bytes.hash(&mut hasher);
            }
        }
        let text = hasher.finish();
        let (at, size) = self.origin();
        let near = |other: &(u64, Point)| other.0 == text && other.1.distance(at) < SAME_PLACE * size;
        let is_again = self.lately.iter().any(near);
        if self.lately.len() == LOOK_BACK {
            self.lately.pop_front();
        }
        self.lately.push_back((text, at));
        is_again
    }

    /// Returns the position and the size of the next character.
    fn origin(&self) -> (Point, f64) {
        let all = self.state.transform * self.matrix;
        let at = all * Point::new(0.0, self.state.rise);
        (at, vector(all, Vec2::new(0.0, self.state.size)).length())
    }

    fn advance(&mut self, face: &PdfFont<'a>, by: f64) {
        let by = match face.font.is_horizontal() {
            true => Vec2::new(by * self.state.interval, 0.0),
            false => Vec2::new(0.0, by),
        };
        self.matrix *= Affine::translate(by);
    }

    fn characters(&mut self, face: &PdfFont<'a>, bytes: &[u8], pen: CharacterDrawMode) {
        let mut at = 0;
        while at < bytes.len() && !self.budget.is_spent() && !self.layout.is_full() {
            self.budget.spend(1);
            let (code, length) = face.font.read_code(bytes, at);
            at += length.max(1);
            let width = face.font.code_advance(code);
            let width = if face.font.is_horizontal() { width.x } else { width.y };
            let width = width / f64::from(UNITS_PER_EM) * self.state.size;
            if !pen.silent {
                self.character(face, (code, length), width, pen);
            }
            let word_space = if code == 32 && length == 1 { self.state.word_space } else { 0.0 };
            self.advance(face, width + self.state.character_space + word_space);
        }
    }

    fn character(
        &mut self,
        face: &PdfFont<'a>,
        (code, length): (u32, usize),
        width: f64,
        pen: CharacterDrawMode,
    ) {
        let text = match self.meant.iter_mut().rev().find(|meant| !matches!(meant, PdfActualText::Nothing)) {
            Some(meant @ PdfActualText::Waits(_)) => match std::mem::replace(meant, PdfActualText::Drawn) {
                PdfActualText::Waits(text) => Some(text),
                _ => None,
            },
            Some(_) => None,
            None => face.meaning(code, length),
        };
        let (at, size) = self.origin();
        let all = self.state.transform * self.matrix;
        let taken = if pen.spaced { width + self.state.character_space } else { width };
        let along = match face.font.is_horizontal() {
            true => Vec2::new(taken * self.state.interval, 0.0),
            false => Vec2::new(0.0, taken),
        };
        let straight = match face.font.is_horizontal() {
            true => Vec2::new(1.0, 0.0),
            false => Vec2::new(0.0, -1.0),
        };
        let mark = GlyphPlacement { at, along: vector(all, along), direction: vector(all, straight), size };
        self.layout.place(text.as_deref(), mark);
    }
}

/// An item of a drawing instruction.
enum ShowTextItem<'t> {
    Text(&'t [u8]),
    /// Moves the position against the text direction, in thousandths of the size.
    Move(f64),
}

/// The way in which characters are drawn.
#[derive(Clone, Copy)]
struct CharacterDrawMode {
    /// True if the characters are not written and only move the position.
    silent: bool,
    /// True if the space between characters counts as a part of them.
    spaced: bool,
}

/// Returns true if the space between characters only makes a word look wide. Some programs draw each word separately,
/// and use the space after the last character of a word as the blank between two words.
fn is_spaced(items: &[ShowTextItem<'_>]) -> bool {
    let length = |item: &ShowTextItem<'_>| if let ShowTextItem::Text(bytes) = item { bytes.len() } else { 0 };
    items.iter().map(length).sum::<usize>() > 2
}

/// Transforms a vector without applying the translation.
fn vector(transform: Affine, vector: Vec2) -> Vec2 {
    transform * vector.to_point() - transform * Point::ZERO
}

/// Returns the replacement text of a marked part, if it has one.
fn actual_text(properties: &Object<'_>, resources: &Resources<'_>) -> Option<String> {
    let text =
        |dict: &Dict<'_>| dict.get::<PdfString<'_>>(b"ActualText").map(|text| title::decode(text.as_bytes()));
    match properties {
        Object::Dict(dict) => text(dict),
        Object::Name(name) => text(&resources.properties.get::<Dict<'_>>(name)?),
        _ => None,
    }
}
