//! Surface: a quantity over two others, as a grid of shades of gray that are distinguishable in
//! print, with numbers where they fit. The best cell has an edge.

use super::drawing::{Anchor, Drawing};
use super::fill::Style;
use super::measure::{LINE, elided, widest, width};
use super::scale::RATIO;
use super::table::Table;

/// Grid of values.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    /// Text alternative of the chart.
    pub(crate) label: String,
    /// Quantity of the cells; larger is better.
    pub(crate) quantity: String,
    /// Labels of columns and rows.
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) columns: Vec<String>,
    /// Rows from the bottom up.
    pub(crate) rows: Vec<String>,
    /// Values by row, then column.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

/// Shades from the smallest value to the largest: equal steps of lightness, the largest darkest.
const SHADES: [&str; 9] = ["#ffffff", "#ececec", "#d9d9d9", "#c6c6c6", "#b3b3b3", "#a0a0a0", "#8d8d8d", "#7a7a7a", "#676767"];

/// Minimum and maximum height of a cell in user units.
const CELL: (f64, f64) = (15.0, 26.0);

impl Surface {
    fn shade(&self, value: f64) -> &'static str {
        let known = self.values.iter().flatten().flatten().copied();
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let share = if high > low { (value - low) / (high - low) } else { 0.0 };
        SHADES[((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1)]
    }

    /// Returns row and column of the largest value, the first of equals; `None` without values.
    pub(crate) fn best(&self) -> Option<(usize, usize, f64)> {
        let cells = self
            .values
            .iter()
            .enumerate()
            .flat_map(|(row, values)| values.iter().enumerate().filter_map(move |(column, value)| Some((row, column, (*value)?))));
        cells.reduce(|best, cell| if cell.2 > best.2 { cell } else { best })
    }

    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let (columns, rows) = (self.columns.len().max(1) as f64, self.rows.len().max(1) as f64);
        let left = widest(self.rows.iter().map(String::as_str)) + 10.0;
        let across = ((drawing_width - left - 2.0) / columns).min(64.0);
        let tall = (0.7 * across).clamp(CELL.0, CELL.1);
        let bottom = 2.0 * LINE + 8.0 + tall * rows;
        let mut drawing = Drawing::new(drawing_width, bottom + 2.0 * LINE + 12.0);
        drawing.text((0.0, LINE - 3.0), Anchor::Start, "label", &elided(&self.quantity, drawing_width));
        drawing.text((0.0, 2.0 * LINE - 1.0), Anchor::Start, "label", &elided(&format!("up: {}", self.y_label), drawing_width));
        let corner = |row: usize, column: usize| (left + across * column as f64, bottom - tall * (row + 1) as f64);
        let shown = |value: f64| format!("{value:.2}");
        let values = || self.values.iter().flatten().flatten();
        let numbers = values().all(|value| width(&shown(*value)) + 4.0 <= across);
        for (row, name) in self.rows.iter().enumerate() {
            let middle = corner(row, 0).1 + tall / 2.0 + 4.0;
            drawing.text((left - 6.0, middle), Anchor::End, "tick", name);
            for (column, value) in self.values.get(row).into_iter().flatten().enumerate() {
                let Some(value) = *value else { continue };
                let (x, y) = corner(row, column);
                let at = self.columns.get(column).map_or("", String::as_str);
                let says = format!("{} {at}, {} {name}: {value:.3}", self.x_label, self.y_label);
                drawing.bar((x, y), (across, tall), Style { color: self.shade(value), number: 0 }, &says);
                if numbers {
                    drawing.text((x + across / 2.0, middle), Anchor::Middle, "value", &shown(value));
                }
            }
        }
        // As many names as fit.
        let every = (1..=self.columns.len().max(1))
            .find(|every| self.columns.iter().step_by(*every).all(|name| width(name) + 4.0 <= across * *every as f64));
        for (column, name) in self.columns.iter().enumerate().step_by(every.unwrap_or(1).max(1)) {
            let x = corner(0, column).0 + across / 2.0;
            drawing.text((x, bottom + LINE + 2.0), Anchor::Middle, "tick", name);
        }
        drawing.text((left, bottom + 2.0 * LINE + 6.0), Anchor::Start, "label", &elided(&self.x_label, drawing_width - left));
        if let Some((row, column, value)) = self.best() {
            let ((x, y), says) = (corner(row, column), format!("best: {value:.3}"));
            for (from, to) in [
                ((x, y), (x + across, y)),
                ((x, y + tall), (x + across, y + tall)),
                ((x, y), (x, y + tall)),
                ((x + across, y), (x + across, y + tall)),
            ] {
                drawing.line(from, to, "mean", &says);
            }
        }
        drawing
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        for (name, values) in self.rows.iter().zip(&self.values) {
            for (column, value) in self.columns.iter().zip(values) {
                let Some(value) = value else { continue };
                let group = format!("{} {column}, {} {name}", self.x_label, self.y_label);
                table.add([panel, &group, ""], vec![(RATIO.heading(&self.quantity), RATIO.cell(*value))]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cell_is_the_first_of_the_greatest() {
        let names = |count: usize| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>();
        let surface = |values: Vec<Vec<Option<f64>>>| Surface {
            label: String::new(),
            quantity: "q".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            columns: names(2),
            rows: names(values.len()),
            values,
        };
        let one = surface(vec![vec![Some(1.0), Some(3.0)], vec![None, Some(3.0)]]);
        assert_eq!(one.best(), Some((0, 1, 3.0)));
        assert_eq!([1.0, 2.0, 3.0].map(|value| one.shade(value)), [SHADES[0], SHADES[4], SHADES[8]], "steps are equal");
        assert_eq!(surface(vec![vec![None, None]]).best(), None);
        let flat = surface(vec![vec![Some(2.0), Some(2.0)]]);
        assert_eq!((flat.best(), flat.shade(2.0)), (Some((0, 0, 2.0)), SHADES[0]));
    }
}
