//! Ranked list: each item has a dot and its interval on one scale, with a line at 1.

use super::drawing::{Anchor, Drawing};
use super::fill::{Marker, RADIUS};
use super::measure::{LINE, elided, widest, width, wrapped};
use super::scale::{RATIO, Scale};
use super::table::Table;

/// Item with its value.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) name: String,
    pub(crate) marker: Marker,
    /// Ratio and its 95 % interval; `None` if undefined.
    pub(crate) value: Option<(f64, Option<(f64, f64)>)>,
}

/// Chart of ranked items, the first at the top.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Text alternative of the chart.
    pub(crate) label: String,
    pub(crate) x_label: String,
    pub(crate) placed: Vec<Placed>,
}

/// Height of a row in user units, in addition to the lines of its name.
const BETWEEN: f64 = 4.0;

/// Space for a line of a name: in user units, and as a fraction of a narrow drawing.
const LONGEST: (f64, f64) = (240.0, 0.46);

/// Half-length of an interval's end in user units.
const CAP: f64 = 3.0;

impl Ranked {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let names: Vec<Vec<String>> = self.placed.iter().map(|one| wrapped(&one.name, LONGEST.0.min(LONGEST.1 * drawing_width))).collect();
        let shown = |one: &Placed| one.value.map_or_else(|| "none".to_owned(), |(value, _)| RATIO.shown(value));
        let values: Vec<String> = self.placed.iter().map(shown).collect();
        let left = widest(names.iter().flatten().map(String::as_str)) + 10.0;
        let right = drawing_width - widest(values.iter().map(String::as_str)) - 14.0;
        let heights = names.iter().map(|lines| LINE * lines.len().max(1) as f64 + BETWEEN);
        let (top, bottom) = (4.0, 4.0 + heights.clone().sum::<f64>());
        let ends = self.placed.iter().filter_map(|one| one.value);
        let ends = ends.flat_map(|(value, interval)| [value, interval.map_or(value, |ends| ends.0), interval.map_or(value, |ends| ends.1)]);
        let x = Scale::over(ends.chain([1.0]), (left + RADIUS, right - RADIUS), RATIO, &|label| width(label) + 8.0);
        let mut drawing = Drawing::new(drawing_width, bottom + 2.0 * LINE + 12.0);
        drawing.x_axis((top, bottom), &x);
        let (x_label, at) = self.axis_label((left + right) / 2.0, drawing_width);
        drawing.text((at, bottom + 2.0 * LINE + 6.0), Anchor::Middle, "label", &x_label);
        drawing.line((x.at(1.0), top), (x.at(1.0), bottom), "one", "1");
        let mut below = top;
        for ((one, height), (lines, value)) in self.placed.iter().zip(heights).zip(names.iter().zip(&values)) {
            let middle = below + height / 2.0;
            below += height;
            for (line, text) in lines.iter().enumerate() {
                let down = LINE * (line as f64 - (lines.len() - 1) as f64 / 2.0);
                drawing.text((left - 8.0, middle + 4.0 + down), Anchor::End, "name", text);
            }
            drawing.text((drawing_width - 2.0, middle + 4.0), Anchor::End, "value", value);
            let Some((value, interval)) = one.value else { continue };
            let within = |(low, high): (f64, f64)| format!(", 95 % interval {} to {}", RATIO.shown(low), RATIO.shown(high));
            let says = format!("{}: {}{}", one.name, RATIO.shown(value), interval.map_or_else(String::new, within));
            if let Some((low, high)) = interval {
                drawing.line((x.at(low), middle), (x.at(high), middle), "spread", &says);
                for end in [low, high] {
                    drawing.line((x.at(end), middle - CAP), (x.at(end), middle + CAP), "spread", "");
                }
            }
            drawing.dot((x.at(value), middle), one.marker, &says);
        }
        drawing.line((left, bottom), (right, bottom), "axis", "");
        drawing
    }

    /// Returns the axis label and its center: at `middle`, or as near as it fits in the drawing.
    fn axis_label(&self, middle: f64, drawing_width: f64) -> (String, f64) {
        let label = elided(&self.x_label, drawing_width - 4.0);
        let half = width(&label) / 2.0 + 2.0;
        (label, middle.min(drawing_width - half).max(half))
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        for one in &self.placed {
            let Some((value, interval)) = one.value else { continue };
            let mut cells = vec![(RATIO.heading(&self.x_label), RATIO.cell(value))];
            if let Some((low, high)) = interval {
                let end = |which: &str| RATIO.heading(&format!("{}, {which} end of the 95 % interval", self.x_label));
                cells.extend([(end("lower"), RATIO.cell(low)), (end("upper"), RATIO.cell(high))]);
            }
            table.add([panel, &one.name, ""], cells);
        }
    }
}
