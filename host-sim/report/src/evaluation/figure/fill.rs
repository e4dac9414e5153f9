//! Distinction of series, also without color: hatches of areas, shapes and fillings of dots.
//!
//! A series has a color and a number. The number selects hatch and shape, which repeat after
//! [`HATCHES`] and [`SHAPES`].

use super::drawing::short;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Style of a series of a chart, and of a policy or stall class throughout a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Style {
    /// Color as `#rrggbb`.
    pub(crate) color: &'static str,
    /// Number that selects hatch and shape.
    pub(crate) number: usize,
}

/// Number of hatches.
pub(crate) const HATCHES: usize = 12;

/// Number of shapes of dots.
pub(crate) const SHAPES: usize = 10;

/// Number of fillings of dots.
pub(crate) const FILLINGS: usize = 4;

/// Side of a hatch's tile in user units: narrow bars show several.
pub(super) const TILE: f64 = 5.0;

/// Width of a hatch's lines in user units.
pub(super) const HATCH_WIDTH: f64 = 0.9;

impl Style {
    fn hatch(self) -> usize {
        self.number % HATCHES
    }

    /// Returns the name of the hatch in this color, the same throughout a document.
    fn id(self) -> String {
        format!("h{}-{}", self.hatch(), self.color.trim_start_matches('#'))
    }

    /// Returns the value of the attribute `fill`.
    pub(crate) fn paint(self) -> String {
        if self.hatch() == 0 { self.color.to_owned() } else { format!("url(#{})", self.id()) }
    }

    /// Returns the lines of the hatch's tile, each from a point to a point; empty for the plain
    /// color.
    pub(super) fn lines(self) -> &'static [[f64; 4]] {
        match self.hatch() {
            0 => &[],
            1 => &[[-1.0, 1.0, 1.0, -1.0], [0.0, 5.0, 5.0, 0.0], [4.0, 6.0, 6.0, 4.0]],
            2 => &[[-1.0, 4.0, 1.0, 6.0], [0.0, 0.0, 5.0, 5.0], [4.0, -1.0, 6.0, 1.0]],
            3 => &[[0.0, 2.5, 5.0, 2.5]],
            4 => &[[2.5, 0.0, 2.5, 5.0]],
            5 => &[[0.0, 0.0, 5.0, 5.0], [0.0, 5.0, 5.0, 0.0]],
            6 => &[[0.0, 2.5, 5.0, 2.5], [2.5, 0.0, 2.5, 5.0]],
            7 => &[[1.5, 2.1, 3.5, 2.1], [1.5, 2.9, 3.5, 2.9]],
            8 => &[[0.0, 1.25, 5.0, 1.25], [0.0, 3.75, 5.0, 3.75]],
            9 => &[[1.25, 0.0, 1.25, 5.0], [3.75, 0.0, 3.75, 5.0]],
            10 => &[[0.0, 1.25, 2.5, 1.25], [2.5, 3.75, 5.0, 3.75]],
            _ => &[[0.0, 5.0, 2.5, 0.0], [2.5, 0.0, 5.0, 5.0]],
        }
    }

    /// Returns the color of the hatch's lines.
    pub(super) fn ink(self) -> &'static str {
        if is_light(self.color) { "#222222" } else { "#ffffff" }
    }

    /// Returns the hatch's definition; `None` for the plain color.
    fn definition(self) -> Option<Markup> {
        let line = |[x1, y1, x2, y2]: &[f64; 4]| format!("M{},{} L{},{}", short(*x1), short(*y1), short(*x2), short(*y2));
        let d: Vec<String> = self.lines().iter().map(line).collect();
        let side = short(TILE);
        (!d.is_empty()).then(|| {
            html! {
                pattern id=(self.id()) patternUnits="userSpaceOnUse" width=(side) height=(side) {
                    rect width=(side) height=(side) fill=(self.color) {}
                    path d=(d.join(" ")) stroke=(self.ink()) stroke-width=(HATCH_WIDTH) fill="none" {}
                }
            }
        })
    }
}

/// Returns definitions of the hatches of these styles, each once.
pub(crate) fn definitions(styles: impl Iterator<Item = Style>) -> Markup {
    let once: BTreeSet<(usize, &'static str)> = styles.map(|style| (style.hatch(), style.color)).collect();
    let defined: Vec<Markup> = once.into_iter().filter_map(|(number, color)| Style { color, number }.definition()).collect();
    html! { @if !defined.is_empty() { defs { @for one in &defined { (one) } } } }
}

/// Returns the luma of a color in thousandths of full (ITU-R BT.601).
fn luma(color: &str) -> u32 {
    let part = |at: usize| color.get(at..at + 2).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or_default();
    (299 * part(1) + 587 * part(3) + 114 * part(5)) / 255
}

/// Returns whether dark lines have more contrast on a color than white ones.
fn is_light(color: &str) -> bool {
    luma(color) > 450
}

/// Dot with a shape and color by its subject, and a filling by its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) style: Style,
    /// Filling: solid, white, pale, white with a point.
    pub(crate) filling: usize,
}

/// Radius of a dot in user units.
pub(super) const RADIUS: f64 = 4.2;

impl Marker {
    /// Returns the corners of the shape around a point.
    pub(super) fn corners(self, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
        // Number of corners, angle of the first in degrees from the right, clockwise, and radius of
        // the corners between; 0 for none.
        let (corners, first, inner): (u32, f64, f64) = match self.style.number % SHAPES {
            0 => (16, 0.0, 0.0),
            1 => (4, 45.0, 0.0),
            2 => (3, -90.0, 0.0),
            3 => (4, 0.0, 0.0),
            4 => (3, 90.0, 0.0),
            5 => (5, -90.0, 0.42),
            6 => (4, 0.0, 0.38),
            7 => (4, 45.0, 0.38),
            8 => (3, 0.0, 0.0),
            _ => (6, 0.0, 0.0),
        };
        // Shapes with few corners are larger, so that all appear equal in size.
        let radius = RADIUS
            * if corners == 16 {
                1.0
            } else if inner > 0.0 || corners == 3 {
                1.3
            } else {
                1.18
            };
        let step = if inner > 0.0 { 180.0 } else { 360.0 } / f64::from(corners);
        let count = if inner > 0.0 { 2 * corners } else { corners };
        let corner = |n: u32| {
            let angle = (first + step * f64::from(n)).to_radians();
            let length = if inner > 0.0 && n % 2 == 1 { inner * radius } else { radius };
            (x + length * angle.cos(), y + length * angle.sin())
        };
        (0..count).map(corner).collect()
    }

    /// Returns the color of the marker's filling.
    pub(super) fn inside(self) -> &'static str {
        match self.filling % FILLINGS {
            0 => self.style.color,
            2 => "#d8d8d8",
            _ => "#ffffff",
        }
    }

    /// Returns whether the marker has a point in its center.
    pub(super) fn has_point(self) -> bool {
        self.filling % FILLINGS == 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hatches_and_shapes_differ() {
        let styles = (0..HATCHES).map(|number| Style { color: "#0072B2", number });
        let drawn: BTreeSet<String> = styles.map(|style| style.definition().map(Markup::into_string).unwrap_or_default()).collect();
        assert_eq!(drawn.len(), HATCHES);
        let corners = |number| format!("{:.2?}", Marker { style: Style { color: "#000000", number }, filling: 0 }.corners((0.0, 0.0)));
        assert_eq!((0..SHAPES).map(corners).collect::<BTreeSet<_>>().len(), SHAPES);
    }

    #[test]
    fn a_hatch_is_defined_once_and_plain_color_never() {
        let style = |number| Style { color: "#0072B2", number };
        let defined = definitions([style(0), style(1), style(1), style(13)].into_iter()).into_string();
        assert_eq!(defined.matches("<pattern").count(), 1);
        assert_eq!((style(0).paint(), style(13).paint()), ("#0072B2".to_owned(), "url(#h1-0072B2)".to_owned()));
        assert_eq!((luma("#ffffff"), luma("#000000"), luma("#00ff00")), (1000, 0, 587));
    }
}
