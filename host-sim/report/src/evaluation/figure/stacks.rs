//! Stacked bars of fractions of a whole.

use super::bars::Series;
use super::drawing::{Anchor, Drawing};
use super::measure::{LINE, widest, width};
use super::rows::{Rows, slots};
use super::scale::{Scale, Unit};
use super::table::Table;

/// Stacked bar, from the bottom up.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Lines under the bar.
    pub(crate) names: Vec<String>,
    /// One fraction per series.
    pub(crate) shares: Vec<f64>,
}

/// Chart of stacked bars.
#[derive(Clone, Debug)]
pub(crate) struct Stacks {
    /// Text alternative of the chart.
    pub(crate) label: String,
    pub(crate) y_label: String,
    pub(crate) series: Vec<Series>,
    pub(crate) stacks: Vec<Stack>,
}

impl Stacks {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let height = (0.4 * drawing_width).clamp(150.0, 230.0);
        let scale = Scale::over([0.0, 1.0].into_iter(), (height, 0.0), Unit::Percent, &|_| LINE + 3.0);
        let ticks: Vec<String> = scale.labels().map(|(_, label)| label).collect();
        let left = widest(ticks.iter().map(String::as_str)) + 8.0;
        let names = self.stacks.iter().map(|stack| (&stack.names[..], false));
        let rows = Rows::new(slots(names), drawing_width, left, 0.0);
        let bar = (0.62 * rows.slot).min(84.0);
        let top = LINE + 18.0;
        let row_height = height + rows.names_height() + 18.0;
        let mut drawing = Drawing::new(drawing_width, top + row_height * rows.count() as f64 - 14.0);
        drawing.text((0.0, LINE - 3.0), Anchor::Start, "label", &super::measure::elided(&self.y_label, drawing_width));
        for row in 0..rows.count() {
            let mut part = Drawing::new(0.0, 0.0);
            part.y_axis((rows.left, rows.end(row)), &scale);
            for (at, x, _) in rows.row(row) {
                self.stack(&mut part, &scale, (x + rows.slot / 2.0, bar, rows.slot), &self.stacks[at]);
            }
            rows.names(&mut part, row, height);
            drawing.place((0.0, top + row_height * row as f64), part);
        }
        drawing
    }

    fn stack(&self, drawing: &mut Drawing, scale: &Scale, (middle, bar, slot): (f64, f64, f64), stack: &Stack) {
        let mut below = 0.0;
        let mut numbers = Vec::new();
        for (share, series) in stack.shares.iter().zip(&self.series) {
            let (low, high) = (scale.at(below), scale.at(below + share));
            let title = format!("{}, {}: {:.1} %", stack.names.join(" "), series.name, 100.0 * share);
            drawing.bar((middle - bar / 2.0, high), (bar, low - high), series.style, &title);
            // A fraction has a label if it fits.
            let number = format!("{:.0}", 100.0 * share);
            if low - high >= LINE && bar >= width(&number) + 4.0 {
                numbers.push(((low + high) / 2.0 + 4.0, number));
            }
            below += share;
        }
        for (y, number) in numbers {
            drawing.text((middle, y), Anchor::Middle, "value", &number);
        }
        let sum = format!("{:.0} %", 100.0 * below);
        if width(&sum) + 3.0 <= slot {
            drawing.text((middle, scale.at(below) - 5.0), Anchor::Middle, "value", &sum);
        }
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        let heading = Unit::Percent.heading(&self.y_label);
        for stack in &self.stacks {
            for (series, share) in self.series.iter().zip(&stack.shares) {
                table.add([panel, &stack.names.join(" "), &series.name], vec![(heading.clone(), Unit::Percent.cell(*share))]);
            }
        }
    }
}
