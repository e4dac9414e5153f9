//! Drawing: the few elements of charts. They are kept as data until they are written as SVG. So a
//! figure can be combined from several drawings, and its geometry checked.
//!
//! Lengths are in user units, in which text always has the same size ([`measure::TEXT`]): the width
//! of a drawing follows from the space for text on its page or column.

use super::fill::{Marker, RADIUS, Style, definitions};
use super::look;
use super::measure;
use super::scale::Scale;
use maud::{Markup, PreEscaped, html};

/// Fonts of standalone figures. [`measure`] has the widths of the widest of them.
pub(super) const FONTS: &str = "Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif";

/// Horizontal anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Point, or size: x to the right, y downwards.
pub type Point = (f64, f64);

/// Text with its position.
#[derive(Clone, Debug)]
struct Text {
    at: Point,
    anchor: Anchor,
    /// Rotation in degrees, counterclockwise.
    rises: f64,
    /// Style class: `tick`, `label`, `name`, `value`, `title`.
    class: &'static str,
    text: String,
}

/// Element of a drawing.
#[derive(Clone, Debug)]
enum Element {
    Rect { at: Point, size: Point, style: Option<Style>, class: &'static str, title: String },
    Path { points: Vec<Point>, class: &'static str, title: String },
    Curve { points: Vec<Point>, color: &'static str, dash: &'static str, title: String },
    Dot { at: Point, marker: Marker, title: String },
    Shape { points: Vec<Point>, class: &'static str, title: String },
    Text(Text),
}

/// Drawing with its elements.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    elements: Vec<Element>,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Drawing { width, height, elements: Vec::new() }
    }

    /// Adds an area of a series.
    pub(super) fn bar(&mut self, at: Point, size: Point, style: Style, title: &str) {
        let size = (size.0.max(0.0), size.1.max(0.0));
        self.elements.push(Element::Rect { at, size, style: Some(style), class: "bar", title: title.to_owned() });
    }

    /// Adds an area of a style class.
    pub(super) fn area(&mut self, at: Point, size: Point, class: &'static str, title: &str) {
        let size = (size.0.max(0.0), size.1.max(0.0));
        self.elements.push(Element::Rect { at, size, style: None, class, title: title.to_owned() });
    }

    /// Adds a line of a style class: `axis`, `grid`, `one`, `null`, `oracle`, `mean`, `spread`.
    pub(super) fn line(&mut self, from: Point, to: Point, class: &'static str, title: &str) {
        self.elements.push(Element::Path { points: vec![from, to], class, title: title.to_owned() });
    }

    pub(super) fn curve(&mut self, points: Vec<Point>, color: &'static str, dash: &'static str, title: &str) {
        self.elements.push(Element::Curve { points, color, dash, title: title.to_owned() });
    }

    pub(super) fn dot(&mut self, at: Point, marker: Marker, title: &str) {
        self.elements.push(Element::Dot { at, marker, title: title.to_owned() });
    }

    /// Adds the mark of late decisions: a black triangle that points down to a bar's end.
    pub(super) fn late(&mut self, (x, y): Point, title: &str) {
        const SIZE: f64 = 4.5;
        let points = vec![(x - SIZE, y - 1.7 * SIZE), (x + SIZE, y - 1.7 * SIZE), (x, y)];
        self.elements.push(Element::Shape { points, class: "late", title: title.to_owned() });
    }

    /// Adds the mark of the thesis' number: a white diamond with a black edge.
    pub(super) fn thesis(&mut self, (x, y): Point, title: &str) {
        const SIZE: f64 = 4.5;
        let points = vec![(x, y - SIZE), (x + SIZE, y), (x, y + SIZE), (x - SIZE, y)];
        self.elements.push(Element::Shape { points, class: "thesis", title: title.to_owned() });
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, class: &'static str, text: &str) {
        self.rising(at, anchor, 0.0, class, text);
    }

    /// Adds a text rotated by this many degrees.
    pub(super) fn rising(&mut self, at: Point, anchor: Anchor, rises: f64, class: &'static str, text: &str) {
        if !text.is_empty() {
            self.elements.push(Element::Text(Text { at, anchor, rises, class, text: text.to_owned() }));
        }
    }

    /// Adds horizontal grid lines from `left` to `right` with their values.
    pub(super) fn y_axis(&mut self, (left, right): Point, scale: &Scale) {
        for (tick, label) in scale.labels() {
            let y = scale.at(tick);
            self.line((left, y), (right, y), if tick == 0.0 { "axis" } else { "grid" }, "");
            self.text((left - 5.0, y + 4.0), Anchor::End, "tick", &label);
        }
    }

    /// Adds vertical grid lines from `top` to `bottom` with their values.
    pub(super) fn x_axis(&mut self, (top, bottom): Point, scale: &Scale) {
        for (tick, label) in scale.labels() {
            let x = scale.at(tick);
            self.line((x, top), (x, bottom), "grid", "");
            // Below the lowest value of the other axis.
            self.text((x, bottom + measure::LINE + 4.0), Anchor::Middle, "tick", &label);
        }
    }

    /// Adds another drawing with its top left corner here.
    pub(super) fn place(&mut self, (dx, dy): Point, other: Drawing) {
        let moved = |(x, y): Point| (x + dx, y + dy);
        let all = |points: Vec<Point>| points.into_iter().map(moved).collect::<Vec<_>>();
        self.elements.extend(other.elements.into_iter().map(|element| match element {
            Element::Rect { at, size, style, class, title } => Element::Rect { at: moved(at), size, style, class, title },
            Element::Path { points, class, title } => Element::Path { points: all(points), class, title },
            Element::Curve { points, color, dash, title } => Element::Curve { points: all(points), color, dash, title },
            Element::Dot { at, marker, title } => Element::Dot { at: moved(at), marker, title },
            Element::Shape { points, class, title } => Element::Shape { points: all(points), class, title },
            Element::Text(text) => Element::Text(Text { at: moved(text.at), ..text }),
        }));
    }

    /// Returns the styles of the drawing's areas, with repetitions.
    pub(super) fn styles(&self) -> impl Iterator<Item = Style> {
        self.elements.iter().filter_map(|element| match element {
            Element::Rect { style, .. } => *style,
            _ => None,
        })
    }

    /// Returns width and height.
    pub fn size(&self) -> Point {
        (self.width, self.height)
    }

    /// Returns all texts, with the corners of their boxes in the widest of the fonts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, [Point; 4])> {
        self.elements
            .iter()
            .filter_map(|element| if let Element::Text(text) = element { Some((text.text.as_str(), text.corners())) } else { None })
    }

    /// Returns all corners of elements that are no text.
    pub fn corners(&self) -> Vec<Point> {
        let of = |element: &Element| match element {
            Element::Rect { at, size, .. } => vec![*at, (at.0 + size.0, at.1 + size.1)],
            Element::Path { points, .. } | Element::Curve { points, .. } | Element::Shape { points, .. } => points.clone(),
            Element::Dot { at, marker, .. } => marker.corners(*at),
            Element::Text(_) => Vec::new(),
        };
        self.elements.iter().flat_map(of).collect()
    }

    /// Formats the drawing for the page, which has styles and hatches; `label` is the text
    /// alternative.
    pub(super) fn inline(&self, label: &str) -> Markup {
        let seen = format!("0 0 {} {}", short(self.width), short(self.height));
        html! { svg viewBox=(seen) role="img" aria-label=(label) font-size=(measure::TEXT) { (self.markup()) } }
    }

    /// Formats a swatch, which the name next to it describes.
    pub(super) fn unlabeled(&self) -> Markup {
        let seen = format!("0 0 {} {}", short(self.width), short(self.height));
        html! { svg viewBox=(seen) aria-hidden="true" { (self.markup()) } }
    }

    /// Formats a standalone file of this width in points, with a description in words.
    pub(super) fn document(&self, width_pt: f64, title: &str, words: &str) -> String {
        let seen = format!("0 0 {} {}", short(self.width), short(self.height));
        let height_pt = width_pt * self.height / self.width;
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" width={ (short(width_pt)) "pt" } height={ (short(height_pt)) "pt" } viewBox=(seen)
                font-family=(FONTS) font-size=(measure::TEXT) {
                title { (title) }
                desc { (words) }
                style { (PreEscaped(look::sheet())) }
                (definitions(self.styles()))
                (self.markup())
            }
        };
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", markup.into_string())
    }

    fn markup(&self) -> Markup {
        html! { @for element in &self.elements { (element.markup()) } }
    }
}

impl Element {
    fn markup(&self) -> Markup {
        match self {
            Element::Rect { at, size, style, class, title } => {
                let (x, y, width, height) = (short(at.0), short(at.1), short(size.0), short(size.1));
                let fill = style.map(Style::paint);
                html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) fill=[fill] { (titled(title)) } }
            }
            Element::Path { points, class, title } => {
                html! { polyline class=(class) points=(listed(points)) fill="none" { (titled(title)) } }
            }
            Element::Curve { points, color, dash, title } => {
                let dash = (!dash.is_empty()).then_some(dash);
                html! { polyline class="curve" points=(listed(points)) fill="none" stroke=(color) stroke-dasharray=[dash] { (titled(title)) } }
            }
            Element::Dot { at, marker, title } => {
                let edge = marker.style.color;
                html! {
                    polygon class="dot" points=(listed(&marker.corners(*at))) fill=(marker.inside()) stroke=(edge) { (titled(title)) }
                    @if marker.has_point() { circle cx=(short(at.0)) cy=(short(at.1)) r=(short(0.3 * RADIUS)) fill=(edge) {} }
                }
            }
            Element::Shape { points, class, title } => html! { polygon class=(class) points=(listed(points)) { (titled(title)) } },
            Element::Text(text) => text.markup(),
        }
    }
}

impl Text {
    fn markup(&self) -> Markup {
        let anchor = match self.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (short(self.at.0), short(self.at.1));
        if self.rises == 0.0 {
            return html! { text class=(self.class) x=(x) y=(y) text-anchor=(anchor) { (self.text) } };
        }
        let rising = format!("translate({x} {y}) rotate({})", short(-self.rises));
        html! { text class=(self.class) transform=(rising) text-anchor=(anchor) { (self.text) } }
    }

    /// Returns the corners of the text's box, in the widest of the fonts.
    fn corners(&self) -> [Point; 4] {
        let width = measure::width(&self.text);
        let left = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let (sin, cos) = (-self.rises).to_radians().sin_cos();
        let turned = |(x, y): Point| (self.at.0 + x * cos - y * sin, self.at.1 + x * sin + y * cos);
        let (top, bottom) = (-measure::ASCENT, measure::DESCENT);
        [(left, top), (left + width, top), (left + width, bottom), (left, bottom)].map(turned)
    }
}

fn titled(title: &str) -> Markup {
    html! { @if !title.is_empty() { title { (title) } } }
}

fn listed(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect::<Vec<_>>().join(" ")
}

/// Formats a number with at most two decimals.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_safe() {
        assert_eq!([short(1.0), short(0.126), short(-0.001), short(10.5)], ["1", "0.13", "0", "10.5"]);
        let mut drawing = Drawing::new(1.0, 2.5);
        drawing.text((0.0, 1.0), Anchor::End, "name", "a<b");
        let drawn = "<svg viewBox=\"0 0 1 2.5\" role=\"img\" aria-label=\"&quot;c&quot; &amp; d\" font-size=\"12\">\
            <text class=\"name\" x=\"0\" y=\"1\" text-anchor=\"end\">a&lt;b</text></svg>";
        assert_eq!(drawing.inline("\"c\" & d").into_string(), drawn);
    }

    /// 200 points wide, and half as high as wide.
    #[test]
    fn a_document_has_its_size_in_points() {
        let document = Drawing::new(300.0, 150.0).document(200.0, "t", "w");
        assert!(document.contains("width=\"200pt\" height=\"100pt\" viewBox=\"0 0 300 150\""), "{document}");
    }

    #[test]
    fn a_risen_text_takes_a_risen_box() {
        let text = |rises| Text { at: (10.0, 20.0), anchor: Anchor::End, rises, class: "name", text: "mm".into() };
        let width = measure::width("mm");
        let level = text(0.0).corners();
        assert!((level[0].0 - (10.0 - width)).abs() < 1e-9 && (level[1].1 - (20.0 - measure::ASCENT)).abs() < 1e-9);
        // Upright, the text's beginning is below its end.
        let upright = text(90.0).corners();
        assert!((upright[0].1 - (20.0 + width)).abs() < 1e-9 && (upright[0].0 - (10.0 - measure::ASCENT)).abs() < 1e-9);
    }
}
