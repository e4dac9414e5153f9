//! Boxes, arrows and labels, written as SVG. Coordinates are pixels of a picture that is shown at
//! its own size.
//!
//! Colors are custom properties with values for light and dark backgrounds; the background is
//! transparent. Lines are horizontal or vertical, so that [`super::overlap`] can check them.

/// Size of the name of a box, and of other text, in pixels.
const NAME_SIZE: i32 = 14;
const TEXT_SIZE: i32 = 13;
/// Distance between the baselines of two lines of text.
const LINE_HEIGHT: i32 = 17;

/// Mean width of a character in percent of the text size: DejaVu Sans, the widest of the fonts.
const CHARACTER: i32 = 60;
/// Mean width of a bold character in percent of the text size.
const BOLD_CHARACTER: i32 = 66;

const STYLE: &str = "\
:root{--text:#1f2328;--soft:#4b535d;--line:#6e7781;--halo:#ffffff;
--blue:#ddf4ff;--blue-edge:#0969da;--green:#dafbe1;--green-edge:#1a7f37;
--gold:#fff3cf;--gold-edge:#9a6700;--gray:#eef1f4;--gray-edge:#6e7781}
@media (prefers-color-scheme: dark){
:root{--text:#f0f6fc;--soft:#c3ccd6;--line:#8d96a0;--halo:#0d1117;
--blue:#10304f;--blue-edge:#4493f8;--green:#12361f;--green-edge:#3fb950;
--gold:#3d2e0a;--gold-edge:#d29922;--gray:#2a313a;--gray-edge:#8d96a0}}
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans','DejaVu Sans',sans-serif;font-size:13px;fill:var(--text)}
.name{font-size:14px;font-weight:600}
.soft{fill:var(--soft)}
.label{fill:var(--soft);paint-order:stroke;stroke:var(--halo);stroke-width:3;stroke-linejoin:round}
.line{fill:none;stroke:var(--line);stroke-width:1.5;stroke-linejoin:round}
.head{fill:var(--line)}
.frame{fill:none;stroke:var(--line);stroke-width:1;stroke-dasharray:5 4}
.blue{fill:var(--blue);stroke:var(--blue-edge)}
.green{fill:var(--green);stroke:var(--green-edge)}
.gold{fill:var(--gold);stroke:var(--gold-edge)}
.gray{fill:var(--gray);stroke:var(--gray-edge)}
";

const ARROW_HEAD: &str = "<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
    markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 0.5L8 4L0 7.5z\"/></marker>";

/// Horizontal and vertical coordinate.
pub(super) type Point = (i32, i32);

/// Rectangle of a box, a frame or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Area {
    pub(super) const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Self { x, y, width, height }
    }

    /// Returns the point of the upper edge, `percent` of the way to the right.
    pub(super) const fn top(self, percent: i32) -> Point {
        (self.x + self.width * percent / 100, self.y)
    }

    /// Returns the point of the lower edge, `percent` of the way to the right.
    pub(super) const fn bottom(self, percent: i32) -> Point {
        (self.x + self.width * percent / 100, self.y + self.height)
    }

    /// Returns the point of the left edge, `percent` of the way down.
    pub(super) const fn left(self, percent: i32) -> Point {
        (self.x, self.y + self.height * percent / 100)
    }

    /// Returns the point of the right edge, `percent` of the way down.
    pub(super) const fn right(self, percent: i32) -> Point {
        (self.x + self.width, self.y + self.height * percent / 100)
    }
}

/// Color of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Blue,
    Green,
    Gold,
    Gray,
}

impl Color {
    const fn class(self) -> &'static str {
        match self {
            Self::Blue => "blue",
            Self::Green => "green",
            Self::Gold => "gold",
            Self::Gray => "gray",
        }
    }
}

/// Part of a text that its point fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture as it is drawn, with the places of all texts and lines.
pub(super) struct Canvas {
    pub(super) size: Point,
    title: &'static str,
    description: &'static str,
    drawn: String,
    /// Each text with its place.
    pub(super) texts: Vec<(String, Area)>,
    /// Boxes, which no arrow may cross.
    pub(super) boxes: Vec<Area>,
    /// Frames around boxes, which arrows may cross.
    pub(super) frames: Vec<Area>,
    /// Parts of arrows.
    pub(super) lines: Vec<(Point, Point)>,
}

impl Canvas {
    /// Creates an empty picture of a width and a height. A screen reader reads title and
    /// description.
    pub(super) fn new(size: Point, title: &'static str, description: &'static str) -> Self {
        let (texts, boxes, frames, lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { size, title, description, drawn: String::new(), texts, boxes, frames, lines }
    }

    /// Draws a dashed frame with a name in its upper left corner.
    pub(super) fn frame(&mut self, area: Area, name: &str) {
        self.rectangle(area, "frame");
        self.frames.push(area);
        self.text((area.x + 12, area.y + 19), Anchor::Start, name, "name");
    }

    /// Draws a box with a name and lines of text, centered.
    pub(super) fn labeled_box(&mut self, area: Area, color: Color, name: &str, lines: &[&str]) {
        self.rectangle(area, color.class());
        self.boxes.push(area);
        let rows = 1 + lines.len() as i32;
        let (x, _) = area.top(50);
        let mut y = area.y + (area.height - rows * LINE_HEIGHT) / 2 + 13;
        self.text((x, y), Anchor::Middle, name, "name");
        for line in lines {
            y += LINE_HEIGHT;
            self.text((x, y), Anchor::Middle, line, "soft");
        }
    }

    /// Draws a box without text.
    pub(super) fn swatch(&mut self, area: Area, color: Color) {
        self.rectangle(area, color.class());
        self.boxes.push(area);
    }

    /// Draws an arrow through the points.
    pub(super) fn arrow(&mut self, points: &[Point]) {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        self.drawn += &format!("<polyline class=\"line\" points=\"{}\" marker-end=\"url(#head)\"/>\n", path.join(" "));
        self.lines.extend(points.windows(2).map(|ends| (ends[0], ends[1])));
    }

    /// Writes lines of text outside of boxes. The point is on the baseline of the first.
    pub(super) fn label(&mut self, (x, y): Point, anchor: Anchor, lines: &[&str]) {
        for (line, row) in lines.iter().zip(0..) {
            self.text((x, y + row * LINE_HEIGHT), anchor, line, "label");
        }
    }

    fn rectangle(&mut self, area: Area, class: &str) {
        let Area { x, y, width, height } = area;
        self.drawn += &format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>\n");
    }

    fn text(&mut self, (x, y): Point, anchor: Anchor, text: &str, class: &str) {
        let (size, character) = if class == "name" { (NAME_SIZE, BOLD_CHARACTER) } else { (TEXT_SIZE, CHARACTER) };
        let width = text.chars().count() as i32 * size * character / 100 + 1;
        let (name, left) = match anchor {
            Anchor::Start => ("start", x),
            Anchor::Middle => ("middle", x - width / 2),
            Anchor::End => ("end", x - width),
        };
        let written = escape(text);
        self.drawn += &format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{name}\">{written}</text>\n");
        self.texts.push((text.to_owned(), Area::new(left, y - size * 3 / 4, width, size)));
    }

    /// Formats the picture as an SVG file.
    pub(super) fn svg(&self) -> String {
        let (width, height) = self.size;
        let (title, description, drawn) = (escape(self.title), escape(self.description), &self.drawn);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n\
             <!-- Written by `cargo xtask pictures`; do not edit it. -->\n\
             <style>\n{STYLE}</style>\n<defs>{ARROW_HEAD}</defs>\n{drawn}</svg>\n"
        )
    }
}

/// Replaces XML's marks in a text by entities.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_box_are_centered_in_it() {
        let mut canvas = Canvas::new((200, 100), "a", "b");
        let place = Area::new(10, 10, 100, 60);
        canvas.labeled_box(place, Color::Blue, "name", &["line"]);
        let middles: Vec<i32> = canvas.texts.iter().map(|(_, area)| area.x + area.width / 2).collect();
        assert_eq!(middles, [place.top(50).0; 2]);
        let (above, below) = (canvas.texts[0].1.y - place.y, place.bottom(0).1 - canvas.texts[1].1.y - canvas.texts[1].1.height);
        assert!((above - below).abs() <= 4, "{above} above, {below} below");
    }

    #[test]
    fn marks_of_xml_are_entities() {
        let mut canvas = Canvas::new((9, 9), "a & b", "c < d");
        canvas.label((0, 9), Anchor::Start, &["e > f"]);
        let svg = canvas.svg();
        for part in [">a &amp; b<", ">c &lt; d<", ">e &gt; f<"] {
            assert!(svg.contains(part), "{part}");
        }
    }
}
