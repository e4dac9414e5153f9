//! Names under a chart: side by side where they have room, else slanted.

use super::svg::{Anchor, Svg};

/// Width of a letter in user units: of the widest of the page's fonts (DejaVu Sans) in the size and weight of `.name`.
const LETTER_WIDTH: f64 = 8.0;

/// Slope of names that have no room: steep enough for the longest to stay in the drawing.
const SLANT_DEGREES: f64 = 60.0;

/// Names, each with so much room.
#[derive(Clone, Debug)]
pub(super) struct Names<'a> {
    names: Vec<&'a str>,
    room: f64,
}

impl<'a> Names<'a> {
    pub(super) fn new(names: impl Iterator<Item = &'a str>, room: f64) -> Self {
        Names { names: names.collect(), room }
    }

    fn longest(&self) -> f64 {
        self.names.iter().map(|name| LETTER_WIDTH * name.chars().count() as f64).fold(0.0, f64::max)
    }

    /// Whether they have room side by side.
    pub(super) fn fit(&self) -> bool {
        self.longest() <= self.room
    }

    /// The height that they take under the plotting area.
    pub(super) fn height(&self) -> f64 {
        if self.fit() { 26.0 } else { 26.0 + self.longest() * SLANT_DEGREES.to_radians().sin() }
    }

    /// Draws them under the line `bottom`, the first in the middle of the room that begins at `left`, the others after it.
    pub(super) fn draw(&self, svg: &mut Svg, left: f64, bottom: f64) {
        let level = self.fit();
        for (number, name) in self.names.iter().enumerate() {
            let middle = left + self.room * (number as f64 + 0.5);
            if level {
                svg.text((middle, bottom + 17.0), Anchor::Middle, "name", name);
            } else {
                svg.slanted((middle + 4.0, bottom + 14.0), SLANT_DEGREES, name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_slant_where_they_would_meet() {
        let drawn = |room: f64| {
            let names = Names::new(["smk", "warped-slicer"].into_iter(), room);
            let mut svg = Svg::new(400.0, names.height());
            names.draw(&mut svg, 0.0, 0.0);
            (names.fit(), names.height(), svg.finish("names").into_string().matches("rotate").count())
        };
        assert_eq!(drawn(104.0), (true, 26.0, 0));
        let (fit, height, slanted) = drawn(103.0);
        // 13 letters of 8 units at 60 degrees.
        assert!(!fit && slanted == 2 && (height - 26.0 - 104.0 * 0.866).abs() < 0.1, "{height}");
    }
}
