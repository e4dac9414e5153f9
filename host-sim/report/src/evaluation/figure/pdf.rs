//! A drawing as a PDF file of one page, with the font in it: PDF 1.7 (ISO 32000-1), a TrueType font as a CID-keyed one (9.7), hatches as
//! tiling patterns (8.7.3).
//!
//! The font is DejaVu Sans Condensed, of which `figure/font/` has the letters that figures need. It is narrower than what the layout
//! reckons with ([`super::measure`]), so that what has room there has room here.

use super::drawing::{Anchor, Drawing, Element, Point, Text};
use super::fill::{HATCH_WIDTH, RADIUS, Style, TILE};
use super::look::{self, CURVE_WIDTH, Look};
use super::measure::TEXT;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, PaintType, SystemInfo, TextRenderingMode, TilingType, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::{BTreeMap, BTreeSet};
use ttf_parser::{Face, GlyphId};

/// The font.
const FONT: &[u8] = include_bytes!("font/DejaVuSansCondensed.ttf");

/// Its name in the file.
const FONT_NAME: Name<'static> = Name(b"DejaVuSansCondensed");

/// Fixed objects of the file; patterns follow.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const TYPE_0: Ref = Ref::new(5);
const CID: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const TO_UNICODE: Ref = Ref::new(9);
const INFO: Ref = Ref::new(10);
const FIRST_PATTERN: i32 = 11;

/// The file: the drawing so many points wide, with what it shows in words as its title.
pub(super) fn document(drawing: &Drawing, width_pt: f64, title: &str) -> Vec<u8> {
    let scale = width_pt / drawing.width;
    let height_pt = drawing.height * scale;
    let font = Font::new();
    let hatches: BTreeSet<Style> = drawing.styles().filter(|style| !style.lines().is_empty()).collect();
    let hatches: BTreeMap<Style, usize> = hatches.into_iter().enumerate().map(|(at, style)| (style, at)).collect();

    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    pdf.document_info(INFO).title(TextStr(title)).producer(TextStr("mias"));
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(0.0, 0.0, width_pt as f32, height_pt as f32)).parent(PAGES).contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(Name(b"F"), TYPE_0);
    let mut patterns = resources.patterns();
    for at in hatches.values() {
        patterns.pair(Name(pattern(*at).as_bytes()), Ref::new(FIRST_PATTERN + *at as i32));
    }
    patterns.finish();
    resources.finish();
    page.finish();

    // From user units, downwards, to points, upwards.
    let to_page = [scale as f32, 0.0, 0.0, -scale as f32, 0.0, height_pt as f32];
    let mut painter = Painter { content: Content::new(), hatches: &hatches, font: &font, used: BTreeMap::new() };
    painter.content.transform(to_page);
    drawing.elements.iter().for_each(|element| painter.element(element));
    let Painter { content, used, .. } = painter;
    pdf.stream(CONTENT, &content.finish());
    for (style, at) in &hatches {
        let tile = tile(*style);
        let mut pattern = pdf.tiling_pattern(Ref::new(FIRST_PATTERN + *at as i32), &tile);
        pattern.paint_type(PaintType::Colored).tiling_type(TilingType::ConstantSpacing);
        pattern.bbox(Rect::new(0.0, 0.0, TILE as f32, TILE as f32)).x_step(TILE as f32).y_step(TILE as f32).matrix(to_page);
        pattern.resources();
    }
    font.write(&mut pdf, &used);
    pdf.finish()
}

/// Name of a hatch's pattern.
fn pattern(at: usize) -> String {
    format!("P{at}")
}

/// A colour's parts, from 0 to 1.
fn rgb(colour: &str) -> [f32; 3] {
    [1, 3, 5].map(|at| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).map_or(0.0, |part| f32::from(part) / 255.0))
}

/// A hatch's tile.
fn tile(style: Style) -> Vec<u8> {
    let mut content = Content::new();
    let [r, g, b] = rgb(style.colour);
    content.set_fill_rgb(r, g, b).rect(0.0, 0.0, TILE as f32, TILE as f32).fill_nonzero();
    let [r, g, b] = rgb(style.ink());
    content.set_stroke_rgb(r, g, b).set_line_width(HATCH_WIDTH as f32);
    for [x1, y1, x2, y2] in style.lines() {
        content.move_to(*x1 as f32, *y1 as f32).line_to(*x2 as f32, *y2 as f32);
    }
    content.stroke();
    content.finish().into_vec()
}

/// The page under way.
struct Painter<'a> {
    content: Content,
    hatches: &'a BTreeMap<Style, usize>,
    font: &'a Font,
    /// Glyphs that were used, and what they stand for.
    used: BTreeMap<u16, char>,
}

impl Painter<'_> {
    fn element(&mut self, element: &Element) {
        self.content.save_state();
        match element {
            Element::Rect { at, size, style, class, .. } => {
                let look = look::of(class);
                match style {
                    Some(style) => self.fill(*style),
                    None => self.fill_colour(look.fill.unwrap_or("#ffffff")),
                }
                self.stroke(look);
                self.content.rect(at.0 as f32, at.1 as f32, size.0 as f32, size.1 as f32);
                self.paint(true, look.stroke.is_some());
            }
            Element::Path { points, class, .. } => {
                self.stroke(look::of(class));
                self.path(points);
                self.content.stroke();
            }
            Element::Curve { points, colour, dash, .. } => {
                let dashes: Vec<f32> = dash.split_whitespace().filter_map(|part| part.parse().ok()).collect();
                let [r, g, b] = rgb(colour);
                self.content.set_stroke_rgb(r, g, b).set_line_width(CURVE_WIDTH as f32).set_dash_pattern(dashes, 0.0);
                self.path(points);
                self.content.stroke();
            }
            Element::Dot { at, marker, .. } => {
                let edge = marker.style.colour;
                self.fill_colour(marker.inside());
                self.stroke(Look { stroke: Some(edge), ..look::of("dot") });
                self.path(&marker.corners(*at));
                self.content.close_path();
                self.paint(true, true);
                if marker.has_point() {
                    let half = 0.3 * RADIUS;
                    self.fill_colour(edge);
                    self.content.rect((at.0 - half) as f32, (at.1 - half) as f32, 2.0 * half as f32, 2.0 * half as f32).fill_nonzero();
                }
            }
            Element::Shape { points, class, .. } => {
                let look = look::of(class);
                self.fill_colour(look.fill.unwrap_or("#ffffff"));
                self.stroke(look);
                self.path(points);
                self.content.close_path();
                self.paint(true, look.stroke.is_some());
            }
            Element::Text(text) => self.text(text),
        }
        self.content.restore_state();
    }

    fn fill(&mut self, style: Style) {
        match self.hatches.get(&style) {
            Some(at) => {
                self.content.set_fill_color_space(pdf_writer::types::ColorSpaceOperand::Pattern);
                self.content.set_fill_pattern(None, Name(pattern(*at).as_bytes()));
            }
            None => self.fill_colour(style.colour),
        }
    }

    fn fill_colour(&mut self, colour: &str) {
        let [r, g, b] = rgb(colour);
        self.content.set_fill_rgb(r, g, b);
    }

    fn stroke(&mut self, look: Look) {
        let [r, g, b] = rgb(look.stroke.unwrap_or("#000000"));
        self.content.set_stroke_rgb(r, g, b).set_line_width(look.width as f32);
        if let Some((dash, gap)) = look.dash {
            self.content.set_dash_pattern([dash as f32, gap as f32], 0.0);
        }
    }

    fn path(&mut self, points: &[Point]) {
        for (number, (x, y)) in points.iter().enumerate() {
            match number {
                0 => self.content.move_to(*x as f32, *y as f32),
                _ => self.content.line_to(*x as f32, *y as f32),
            };
        }
    }

    fn paint(&mut self, fill: bool, stroke: bool) {
        match (fill, stroke) {
            (true, true) => self.content.fill_nonzero_and_stroke(),
            (true, false) => self.content.fill_nonzero(),
            _ => self.content.stroke(),
        };
    }

    fn text(&mut self, text: &Text) {
        let look = look::of(text.class);
        let glyphs: Vec<(u16, char)> = text.text.chars().map(|c| (self.font.glyph(c), c)).collect();
        let width: f64 = glyphs.iter().map(|(glyph, _)| self.font.advance(*glyph)).sum::<f64>() * TEXT;
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let (sin, cos) = (-text.rises).to_radians().sin_cos();
        let at = (text.at.0 + back * cos, text.at.1 + back * sin);
        // Letters stand upright where y grows upwards.
        let place = [cos as f32, sin as f32, sin as f32, -cos as f32, at.0 as f32, at.1 as f32];
        let coded: Vec<u8> = glyphs.iter().flat_map(|(glyph, _)| glyph.to_be_bytes()).collect();
        self.fill_colour(look.fill.unwrap_or("#000000"));
        let ways: &[TextRenderingMode] =
            if look.halo { &[TextRenderingMode::Stroke, TextRenderingMode::Fill] } else { &[TextRenderingMode::Fill] };
        for way in ways {
            self.content.set_stroke_rgb(1.0, 1.0, 1.0).set_line_width(look.width as f32).set_line_join(LineJoinStyle::RoundJoin);
            self.content.begin_text().set_font(Name(b"F"), TEXT as f32).set_text_rendering_mode(*way).set_text_matrix(place);
            self.content.show(Str(&coded)).end_text();
        }
        self.used.extend(glyphs);
    }
}

/// The font, read.
struct Font {
    face: Option<Face<'static>>,
}

impl Font {
    fn new() -> Self {
        Font { face: Face::parse(FONT, 0).ok() }
    }

    /// The glyph of a character; 0, a box, where there is none.
    fn glyph(&self, c: char) -> u16 {
        self.face.as_ref().and_then(|face| face.glyph_index(c)).map_or(0, |glyph| glyph.0)
    }

    /// How far a glyph takes the line on, in em.
    fn advance(&self, glyph: u16) -> f64 {
        let of = |face: &Face<'_>| Some(f64::from(face.glyph_hor_advance(GlyphId(glyph))?) / f64::from(face.units_per_em()));
        self.face.as_ref().and_then(of).unwrap_or_default()
    }

    fn write(&self, pdf: &mut Pdf, used: &BTreeMap<u16, char>) {
        let system = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(TYPE_0).base_font(FONT_NAME).encoding_predefined(Name(b"Identity-H")).descendant_font(CID).to_unicode(TO_UNICODE);
        let mut cid = pdf.cid_font(CID);
        cid.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(system).font_descriptor(DESCRIPTOR).default_width(0.0);
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid.widths();
        for glyph in used.keys() {
            widths.consecutive(*glyph, [1000.0 * self.advance(*glyph) as f32]);
        }
        widths.finish();
        cid.finish();
        if let Some(face) = &self.face {
            let thousandths = |units: i16| 1000.0 * f32::from(units) / f32::from(face.units_per_em());
            let bounds = face.global_bounding_box();
            let bounds =
                Rect::new(thousandths(bounds.x_min), thousandths(bounds.y_min), thousandths(bounds.x_max), thousandths(bounds.y_max));
            let mut descriptor = pdf.font_descriptor(DESCRIPTOR);
            descriptor.name(FONT_NAME).flags(FontFlags::NON_SYMBOLIC).bbox(bounds).italic_angle(0.0);
            descriptor.ascent(thousandths(face.ascender())).descent(thousandths(face.descender()));
            descriptor.cap_height(thousandths(face.capital_height().unwrap_or_default())).stem_v(80.0).font_file2(FONT_FILE);
        }
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(FONT, 9);
        pdf.stream(FONT_FILE, &packed).filter(Filter::FlateDecode).pair(Name(b"Length1"), FONT.len() as i32);
        let mut cmap = UnicodeCmap::new(Name(b"mias"), system);
        used.iter().for_each(|(glyph, c)| cmap.pair(*glyph, *c));
        pdf.stream(TO_UNICODE, &cmap.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure;
    use super::*;

    /// All that a figure is made of has a glyph, no wider than the layout reckons.
    #[test]
    fn letters_are_there_and_have_room() {
        let font = Font::new();
        for c in (' '..='~').chain("\u{2212}\u{2013}\u{2026}\u{2264}\u{d7}".chars()) {
            let glyph = font.glyph(c);
            assert!(glyph != 0 && font.advance(glyph) * TEXT <= measure::width(&c.to_string()) + 1e-9, "{c}");
        }
    }

    #[test]
    fn a_document_is_a_page_of_its_size() {
        let mut drawing = Drawing::new(300.0, 150.0);
        drawing.bar((1.0, 1.0), (20.0, 20.0), Style { colour: "#0072B2", number: 1 }, "");
        drawing.rising((50.0, 50.0), Anchor::End, 60.0, "value", "mm + fwt");
        let file = document(&drawing, 200.0, "t");
        let text = String::from_utf8_lossy(&file);
        assert!(text.starts_with("%PDF-1.7") && text.trim_end().ends_with("%%EOF"));
        for part in ["/MediaBox [0 0 200 100]", "/PatternType 1", "/FontFile2", "/Subtype /CIDFontType2"] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(file, document(&drawing, 200.0, "t"));
    }
}
