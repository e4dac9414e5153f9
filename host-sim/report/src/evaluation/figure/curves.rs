//! Curves over time, each labeled at its end and marked along its way.

use super::drawing::{Anchor, Drawing};
use super::fill::Marker;
use super::measure::{LINE, elided, widest, width};
use super::scale::{RATIO, Scale, Unit};
use super::table::Table;

/// Curve of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) dash: &'static str,
    pub(crate) marker: Marker,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Chart of curves.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    /// Text alternative of the chart.
    pub(crate) label: String,
    /// Quantity and unit of each axis.
    pub(crate) x: (String, &'static str),
    pub(crate) y: (String, &'static str),
    /// Gray band with its label.
    pub(crate) band: Option<((f64, f64), String)>,
    pub(crate) curves: Vec<Curve>,
}

/// Number of points between two markers of a curve.
const MARKED: usize = 8;

/// Space for a curve's name, in user units.
const LONGEST: f64 = 110.0;

impl Curves {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let names: Vec<String> = self.curves.iter().map(|curve| elided(&curve.name, LONGEST)).collect();
        let height = (0.34 * drawing_width).clamp(160.0, 300.0).max(LINE * (names.len() as f64 + 1.0));
        let (top, bottom) = (LINE + 8.0, LINE + 8.0 + height);
        let all = || self.curves.iter().flat_map(|curve| curve.points.iter().copied());
        let y = Scale::over(all().map(|point| point.1).chain([0.0]), (bottom, top), RATIO, &|_| LINE + 3.0);
        let ticks: Vec<String> = y.labels().map(|(_, label)| label).collect();
        let left = widest(ticks.iter().map(String::as_str)) + 8.0;
        let right = drawing_width - widest(names.iter().map(String::as_str)) - 18.0;
        let x = Scale::over(all().map(|point| point.0).chain([0.0]), (left, right), RATIO, &|label| width(label) + 8.0);
        let mut drawing = Drawing::new(drawing_width, bottom + 2.0 * LINE + 12.0);
        if let Some(((from, to), what)) = &self.band {
            let inside = |at: f64| x.at(at).clamp(left, right);
            drawing.area((inside(*from), top), (inside(*to) - inside(*from), height), "band", what);
        }
        drawing.x_axis((top, bottom), &x);
        drawing.y_axis((left, right), &y);
        let named = |(quantity, unit): &(String, &str)| if unit.is_empty() { quantity.clone() } else { format!("{quantity} ({unit})") };
        drawing.text((0.0, LINE - 3.0), Anchor::Start, "label", &elided(&named(&self.y), drawing_width));
        let x_label = elided(&named(&self.x), right - left);
        drawing.text(((left + right) / 2.0, bottom + 2.0 * LINE + 6.0), Anchor::Middle, "label", &x_label);
        let mut ends: Vec<(f64, &Curve, &str)> = Vec::new();
        for (number, (curve, name)) in self.curves.iter().zip(&names).enumerate() {
            let points: Vec<(f64, f64)> = curve.points.iter().map(|&(a, b)| (x.at(a), y.at(b))).collect();
            // Offset, so that markers of different curves do not overlap.
            let marked: Vec<(f64, f64)> = points.iter().skip(number % MARKED).step_by(MARKED).copied().collect();
            if let Some(end) = points.last() {
                ends.push((end.1, curve, name));
            }
            drawing.curve(points, curve.marker.style.color, curve.dash, &curve.name);
            marked.into_iter().for_each(|at| drawing.dot(at, curve.marker, &curve.name));
        }
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let places = apart(&ends.iter().map(|end| end.0).collect::<Vec<_>>(), LINE, bottom);
        for ((end, curve, name), place) in ends.into_iter().zip(places) {
            drawing.curve(vec![(right + 1.0, end), (right + 12.0, place)], curve.marker.style.color, curve.dash, &curve.name);
            drawing.text((right + 15.0, place + 4.0), Anchor::Start, "name", name);
        }
        drawing
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        let (x, y) = (Unit::Plain(self.x.1).heading(&self.x.0), Unit::Plain(self.y.1).heading(&self.y.0));
        for curve in &self.curves {
            for (at, value) in &curve.points {
                table.add([panel, "", &curve.name], vec![(x.clone(), RATIO.cell(*at)), (y.clone(), RATIO.cell(*value))]);
            }
        }
    }
}

/// Returns positions near the given ascending ones, at least `gap` apart and none beyond `last`.
fn apart(wanted: &[f64], gap: f64, last: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = f64::NEG_INFINITY;
    for &place in wanted {
        least = place.max(least);
        places.push(least);
        least += gap;
    }
    let mut most = last;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_apart_and_in_order(mut wanted in prop::collection::vec(0.0f64..100.0, 0..10)) {
            wanted.sort_by(f64::total_cmp);
            let places = apart(&wanted, 10.0, 100.0);
            prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{places:?}");
            prop_assert!(places.iter().all(|place| *place <= 100.0));
        }

        /// Positions with sufficient distance stay unchanged.
        #[test]
        fn what_is_apart_stays(count in 0usize..9) {
            let wanted: Vec<f64> = (0..count).map(|n| 11.0 * n as f64).collect();
            prop_assert_eq!(apart(&wanted, 10.0, 100.0), wanted);
        }
    }
}
