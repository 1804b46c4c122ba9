//! Loads the fonts of a file, and finds the text for their characters.
//!
//! Most fonts contain the text of their characters, or use standard names for them. East Asian fonts may only number
//! their characters, as in one of four standard collections.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn};
use hayro_syntax::object::{Array, Dict, Name, ObjectIdentifier, String as PdfString};

/// A font that is ready to be used for drawing.
#[derive(Clone)]
pub(super) struct PdfFont<'a> {
    /// The widths and codes of the characters.
    pub(super) font: Font<'a>,
    collection: Option<Rc<CharacterCollection>>,
}

impl PdfFont<'_> {
    /// Returns the text of the character with this code of `length` bytes.
    pub(super) fn meaning(&self, code: u32, length: usize) -> Option<String> {
        let found = match self.font.glyph(self.font.map_code(code), code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let found = found.or_else(|| self.collection.as_ref()?.meaning(code, length))?;
        Some(match found {
            BfString::Char(char) => char.to_string(),
            BfString::String(text) => text,
        })
    }
}

/// A standard collection of numbered characters.
struct CharacterCollection {
    /// Maps character codes to numbers.
    numbers: CMap,
    /// Maps numbers to the text of the characters.
    meanings: CMap,
}

impl CharacterCollection {
    /// Returns the collection of a font that does not contain the text of its characters.
    fn of(font: &Dict<'_>) -> Option<Self> {
        if font.contains_key(b"ToUnicode") {
            return None;
        }
        let inner = font.get::<Array<'_>>(b"DescendantFonts")?.iter::<Dict<'_>>().next()?;
        let info = inner.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let (registry, ordering) =
            (info.get::<PdfString<'_>>(b"Registry")?, info.get::<PdfString<'_>>(b"Ordering")?);
        let family = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes());
        let meanings = known(family.ucs2_cmap()?)?;
        let encoding = font.get::<Name<'_>>(b"Encoding")?;
        let numbers = match CMapName::from_bytes(encoding.as_ref()) {
            CMapName::IdentityH | CMapName::IdentityV => CMap::identity_h(),
            name => known(name)?,
        };
        Some(Self { numbers, meanings })
    }

    fn meaning(&self, code: u32, length: usize) -> Option<BfString> {
        let number = self.numbers.lookup_cid_code(code, u8::try_from(length).ok()?)?;
        self.meanings.lookup_bf_string(number)
    }
}

/// Loads a standard table by its name.
fn known(name: CMapName<'_>) -> Option<CMap> {
    CMap::parse(hayro_cmap::load_embedded(name)?, hayro_cmap::load_embedded)
}

/// The fonts of a file. Each font is loaded once.
pub(super) struct PdfFonts<'a> {
    cache: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
    collections: RefCell<HashMap<ObjectIdentifier, Option<Rc<CharacterCollection>>>>,
}

impl<'a> PdfFonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            // A font that is not embedded is needed only for the widths and names of its characters.
            font_resolver: Arc::new(|query| match query {
                FontQuery::Standard(font) => Some(font.get_font_data()),
                FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
            }),
            cmap_resolver: Arc::new(hayro_cmap::load_embedded),
            collections: RefCell::default(),
        }
    }

    /// Returns the font that a dictionary describes.
    pub(super) fn get(&self, dict: &Dict<'a>) -> Option<PdfFont<'a>> {
        let font = self.cache.font(dict, &self.font_resolver, &self.cmap_resolver)?;
        let collection = dict.obj_id().and_then(|id| {
            let mut collections = self.collections.borrow_mut();
            collections.entry(id).or_insert_with(|| CharacterCollection::of(dict).map(Rc::new)).clone()
        });
        Some(PdfFont { font, collection })
    }
}
