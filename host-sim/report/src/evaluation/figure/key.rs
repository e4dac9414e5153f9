//! Key of a figure: the meaning of its colors, hatches, shapes and lines.

use super::drawing::{Anchor, Drawing};
use super::fill::{Marker, Style};
use super::measure::{LINE, elided, width};
use maud::{Markup, html};

/// Symbol of an entry in the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Swatch {
    /// Bars of a series.
    Bar(Style),
    /// Dots of a series.
    Dot(Marker),
    /// Line across a cluster: `null`, `oracle`.
    Line(&'static str),
    /// Diamond for the thesis' value.
    Thesis,
    /// Triangle for late decisions.
    Late,
    /// Quartiles of a mean.
    Quartiles,
}

/// Key with its entries in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Key(Vec<(Swatch, String)>);

/// Side of a swatch in user units, and the space between entries.
const SIDE: f64 = 14.0;
const BETWEEN: f64 = 16.0;

impl Key {
    pub(crate) fn with(mut self, swatch: Swatch, name: &str) -> Self {
        self.0.push((swatch, name.to_owned()));
        self
    }

    pub(crate) fn has(&self, swatch: Swatch) -> bool {
        self.0.iter().any(|(known, _)| *known == swatch)
    }

    /// Returns the styles of the key's bars.
    pub(crate) fn styles(&self) -> impl Iterator<Item = Style> {
        self.0.iter().filter_map(|(swatch, _)| if let Swatch::Bar(style) = swatch { Some(*style) } else { None })
    }

    /// Draws the key at this width, in as many lines as necessary.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let mut drawing = Drawing::new(drawing_width, 0.0);
        let (mut x, mut y) = (0.0, 0.0);
        for (swatch, name) in &self.0 {
            let name = elided(name, drawing_width - SIDE - 6.0);
            let takes = SIDE + 5.0 + width(&name);
            if x > 0.0 && x + takes > drawing_width {
                (x, y) = (0.0, y + LINE + 3.0);
            }
            swatch.draw(&mut drawing, (x, y + 2.0));
            drawing.text((x + SIDE + 5.0, y + LINE - 2.0), Anchor::Start, "name", &name);
            x += takes + BETWEEN;
        }
        drawing.height = if self.0.is_empty() { 0.0 } else { y + LINE + 8.0 };
        drawing
    }

    /// Formats as a list of the page.
    pub(crate) fn list(&self) -> Markup {
        let swatch = |swatch: Swatch| {
            let mut drawing = Drawing::new(SIDE, SIDE);
            swatch.draw(&mut drawing, (0.0, 0.0));
            drawing.unlabeled()
        };
        html! { @if !self.0.is_empty() { ul.legend { @for (beside, name) in &self.0 { li { (swatch(*beside)) (name) } } } } }
    }
}

impl Swatch {
    /// Draws the symbol with its top left corner here.
    fn draw(self, drawing: &mut Drawing, (x, y): (f64, f64)) {
        let middle = (x + SIDE / 2.0, y + SIDE / 2.0);
        match self {
            Swatch::Bar(style) => drawing.bar((x + 0.5, y + 0.5), (SIDE - 1.0, SIDE - 1.0), style, ""),
            Swatch::Dot(marker) => drawing.dot(middle, marker, ""),
            Swatch::Line(class) => drawing.line((x, middle.1), (x + SIDE, middle.1), class, ""),
            Swatch::Thesis => drawing.thesis(middle, ""),
            Swatch::Late => drawing.late((middle.0, middle.1 + 4.0), ""),
            Swatch::Quartiles => {
                drawing.line((middle.0, y + 1.5), (middle.0, y + SIDE - 1.5), "spread", "");
                for end in [y + 1.5, y + SIDE - 1.5] {
                    drawing.line((middle.0 - 3.5, end), (middle.0 + 3.5, end), "spread", "");
                }
            }
        }
    }
}
