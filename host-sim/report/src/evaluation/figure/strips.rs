//! Dots by category: a strip for each, one under the other, with mean and quartiles under its dots.

use super::drawing::{Anchor, Drawing};
use super::fill::RADIUS;
use super::measure::{LINE, elided, widest, width};
use super::plane::Dot;
use super::scale::{Scale, Unit};
use super::table::Table;

/// Category with its dots, of which only the x coordinate counts.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    pub(crate) name: String,
    pub(crate) dots: Vec<Dot>,
    /// Arithmetic mean, and the quartiles.
    pub(crate) mean: Option<(f64, (f64, f64))>,
}

/// Chart of strips.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    /// Text alternative of the chart.
    pub(crate) label: String,
    pub(crate) x_label: String,
    pub(crate) unit: Unit,
    pub(crate) strips: Vec<Strip>,
}

/// Height of a strip in user units, and of the part for dots.
const HEIGHT: (f64, f64) = (36.0, 20.0);

/// Space for a strip's name: in user units, and as a fraction of a narrow drawing.
const LONGEST: (f64, f64) = (150.0, 0.36);

impl Strips {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let names: Vec<String> = self.strips.iter().map(|strip| elided(&strip.name, LONGEST.0.min(LONGEST.1 * drawing_width))).collect();
        let said = |strip: &Strip| match strip.mean {
            Some((mean, _)) => format!("{} ({})", self.unit.shown(mean), strip.dots.len()),
            None => format!("({})", strip.dots.len()),
        };
        let means: Vec<String> = self.strips.iter().map(said).collect();
        const HEADING: &str = "mean (n)";
        let left = widest(names.iter().map(String::as_str)) + 10.0;
        let right = drawing_width - widest(means.iter().map(String::as_str).chain([HEADING])) - 14.0;
        let (top, bottom) = (LINE + 4.0, LINE + 4.0 + HEIGHT.0 * self.strips.len() as f64);
        let quartiles = self.strips.iter().filter_map(|strip| strip.mean).flat_map(|(mean, (low, high))| [mean, low, high]);
        let values = self.strips.iter().flat_map(|strip| strip.dots.iter().map(|dot| dot.at.0));
        let x = Scale::over(values.chain(quartiles).chain([0.0]), (left + RADIUS, right - RADIUS), self.unit, &|label| width(label) + 8.0);
        let mut drawing = Drawing::new(drawing_width, bottom + 2.0 * LINE + 12.0);
        drawing.x_axis((top, bottom), &x);
        drawing.text((drawing_width - 2.0, LINE - 3.0), Anchor::End, "tick", HEADING);
        drawing.text(
            ((left + right) / 2.0, bottom + 2.0 * LINE + 6.0),
            Anchor::Middle,
            "label",
            &elided(&self.x_label, drawing_width / 2.0),
        );
        for (number, strip) in self.strips.iter().enumerate() {
            let from = top + HEIGHT.0 * number as f64;
            drawing.line((left, from), (right, from), "grid", "");
            drawing.text((left - 8.0, from + 0.5 * HEIGHT.0 + 4.0), Anchor::End, "name", &names[number]);
            drawing.text((drawing_width - 2.0, from + 0.5 * HEIGHT.0 + 4.0), Anchor::End, "value", &means[number]);
            let step = (HEIGHT.1 - 2.0 * RADIUS) / strip.dots.len().max(2) as f64;
            for (place, dot) in strip.dots.iter().enumerate() {
                let y = from + RADIUS + 2.0 + step * (place as f64 + 0.5);
                drawing.dot((x.at(dot.at.0), y), dot.marker, &dot.title(&self.unit.shown(dot.at.0)));
            }
            if let Some((mean, (low, high))) = strip.mean {
                let y = from + HEIGHT.0 - 7.0;
                let says = format!(
                    "{}, mean {}, quartiles {} and {}",
                    strip.name,
                    self.unit.shown(mean),
                    self.unit.shown(low),
                    self.unit.shown(high)
                );
                drawing.line((x.at(low), y), (x.at(high), y), "spread", &says);
                drawing.line((x.at(mean), y - 5.0), (x.at(mean), y + 5.0), "mean", &says);
                for quartile in [low, high] {
                    drawing.line((x.at(quartile), y - 3.0), (x.at(quartile), y + 3.0), "spread", "");
                }
            }
        }
        drawing.line((left, bottom), (right, bottom), "axis", "");
        drawing.line((x.at(0.0), top), (x.at(0.0), bottom), "axis", "");
        drawing
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        let heading = self.unit.heading(&self.x_label);
        for strip in &self.strips {
            for dot in &strip.dots {
                table.add([panel, &dot.group, &dot.series], vec![(heading.clone(), self.unit.cell(dot.at.0))]);
            }
            if let Some((mean, (low, high))) = strip.mean {
                let quartile = |which: &str| self.unit.heading(&format!("{}, {which} quartile", self.x_label));
                let cells = vec![
                    (heading.clone(), self.unit.cell(mean)),
                    ("n".to_owned(), strip.dots.len().to_string()),
                    (quartile("lower"), self.unit.cell(low)),
                    (quartile("upper"), self.unit.cell(high)),
                ];
                table.add([panel, "mean", &strip.name], cells);
            }
        }
    }
}
