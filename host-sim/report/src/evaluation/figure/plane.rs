//! Scatter plots: dots in a plane of two quantities.

use super::drawing::{Anchor, Drawing};
use super::fill::Marker;
use super::measure::{LINE, elided, widest, width};
use super::scale::{RATIO, Scale};
use super::table::Table;

/// Dot of a scatter plot.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    pub(crate) at: (f64, f64),
    pub(crate) marker: Marker,
    /// Group, and quantity as in the table.
    pub(crate) group: String,
    pub(crate) series: String,
}

impl Dot {
    pub(super) fn title(&self, value: &str) -> String {
        format!("{}, {}: {value}", self.group, self.series)
    }
}

/// Scatter plot without its dots: axes and lines.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    /// Text alternative of the chart.
    pub(crate) label: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Whether a line is drawn where both coordinates are equal.
    pub(crate) diagonal: bool,
    /// Whether lines are drawn at 1 on both axes.
    pub(crate) ones: bool,
    pub(crate) dots: Vec<Dot>,
}

/// Minimum space to the right of the plane, in user units.
const LEAST_MARGIN: f64 = 24.0;

impl Plane {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let height = (0.62 * drawing_width).clamp(150.0, 330.0);
        let (top, bottom) = (LINE + 8.0, LINE + 8.0 + height);
        let also = if self.ones { vec![1.0] } else { Vec::new() };
        let both = |of: fn(&Dot) -> f64, other: fn(&Dot) -> f64| {
            let same = self.dots.iter().filter(|_| self.diagonal).map(other);
            self.dots.iter().map(of).chain(same).chain(also.iter().copied()).collect::<Vec<f64>>()
        };
        let y = Scale::over(both(|d| d.at.1, |d| d.at.0).into_iter(), (bottom, top), RATIO, &|_| LINE + 3.0);
        let ticks: Vec<String> = y.labels().map(|(_, label)| label).collect();
        let left = widest(ticks.iter().map(String::as_str)) + 8.0;
        let across = |right: f64| Scale::over(both(|d| d.at.0, |d| d.at.1).into_iter(), (left, right), RATIO, &|label| width(label) + 8.0);
        // The last value is centered under the right end, and may extend beyond it by half.
        let beyond = across(drawing_width - LEAST_MARGIN).labels().map(|(_, label)| width(&label) / 2.0).fold(LEAST_MARGIN, f64::max);
        let right = drawing_width - beyond;
        let x = across(right);
        let mut drawing = Drawing::new(drawing_width, bottom + 2.0 * LINE + 12.0);
        drawing.x_axis((top, bottom), &x);
        drawing.y_axis((left, right), &y);
        drawing.text((0.0, LINE - 3.0), Anchor::Start, "label", &elided(&self.y_label, drawing_width));
        drawing.text(((left + right) / 2.0, bottom + 2.0 * LINE + 6.0), Anchor::Middle, "label", &elided(&self.x_label, right - left));
        if self.diagonal {
            let end = |of: fn(f64, f64) -> f64, x: Option<&f64>, y: Option<&f64>| {
                of(x.copied().unwrap_or_default(), y.copied().unwrap_or_default())
            };
            let (low, high) = (end(f64::max, x.ticks.first(), y.ticks.first()), end(f64::min, x.ticks.last(), y.ticks.last()));
            drawing.line((x.at(low), y.at(low)), (x.at(high), y.at(high)), "one", "equal");
        }
        if self.ones {
            drawing.line((x.at(1.0), top), (x.at(1.0), bottom), "one", "1");
            drawing.line((left, y.at(1.0)), (right, y.at(1.0)), "one", "1");
        }
        for dot in &self.dots {
            drawing.dot((x.at(dot.at.0), y.at(dot.at.1)), dot.marker, &dot.title(&format!("{:.3}, {:.3}", dot.at.0, dot.at.1)));
        }
        drawing
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        for dot in &self.dots {
            let of = |label: &str, value: f64| (RATIO.heading(label), RATIO.cell(value));
            table.add([panel, &dot.group, &dot.series], vec![of(&self.x_label, dot.at.0), of(&self.y_label, dot.at.1)]);
        }
    }
}
