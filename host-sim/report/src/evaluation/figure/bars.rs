//! Bar charts: clusters of bars, one per series, from zero.

use super::drawing::{Anchor, Drawing};
use super::fill::Style;
use super::measure::{LINE, widest, width};
use super::rows::{Rows, slots};
use super::scale::{Scale, Unit};
use super::table::Table;

/// Series of bars.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) style: Style,
}

/// Bar with its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) value: f64,
    /// Number of values behind a mean, and their quartiles.
    pub(crate) of: Option<(usize, (f64, f64))>,
    /// Half-width of the 95 % interval, for one run that ended before its window.
    pub(crate) half_width: Option<f64>,
    /// Ends of the 95 % interval of a fraction, which may be asymmetric.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Bar {
    /// Creates a bar of an exact number.
    pub(crate) fn new(value: f64) -> Self {
        Bar { value, of: None, half_width: None, interval: None }
    }

    /// Returns the ends of the bar's spread: quartiles of a mean, or the interval of an estimate.
    fn ends(&self) -> Option<(f64, f64)> {
        let interval = self.half_width.map(|half| (self.value - half, self.value + half));
        self.of.filter(|(n, _)| *n > 1).map(|(_, quartiles)| quartiles).or(interval).or(self.interval)
    }
}

/// Additional mark of a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// Dotted line across the cluster: S_null.
    Null(f64),
    /// Solid line across the cluster: the oracle's value.
    Oracle(f64),
    /// Diamond over a series' bar: the thesis' value.
    Thesis(usize, f64),
    /// Diamond over a series' bar: the value of another paper.
    Paper(usize, f64),
    /// Triangle over a series' bar: the number of decisions behind it that came too late.
    Late(usize, f64, usize),
}

impl Mark {
    /// Returns the source of a diamond's value.
    fn whose(self) -> &'static str {
        if let Mark::Paper(..) = self { "paper" } else { "thesis" }
    }
}

/// Bars that stand together.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Lines under the bars; if empty, every bar has its series' name.
    pub(crate) names: Vec<String>,
    /// One bar per series.
    pub(crate) bars: Vec<Option<Bar>>,
    pub(crate) marks: Vec<Mark>,
    /// Whether the cluster is separated from the one before it, as means are.
    pub(crate) apart: bool,
}

/// Chart of clusters.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// Text alternative of the chart.
    pub(crate) label: String,
    pub(crate) y_label: String,
    pub(crate) unit: Unit,
    pub(crate) series: Vec<Series>,
    pub(crate) clusters: Vec<Cluster>,
    /// Whether a line is drawn at 1: no gain, no loss.
    pub(crate) one: bool,
    /// Whether bars show their values, if all of them are wide enough.
    pub(crate) numbers: bool,
}

/// Minimum and maximum width of a bar in user units.
const BAR: (f64, f64) = (5.0, 56.0);

/// Fraction of a slot that its bars take.
const FILLED: f64 = 0.84;

/// Position of a cluster.
#[derive(Clone, Copy)]
struct Place {
    /// Left end of the first bar, and width of each.
    first: f64,
    bar: f64,
}

impl Bars {
    /// Draws the chart at this width.
    pub(super) fn draw(&self, drawing_width: f64) -> Drawing {
        let height = (0.34 * drawing_width).clamp(130.0, 250.0);
        let marked = |mark: &Mark| match mark {
            Mark::Null(value) | Mark::Oracle(value) => *value,
            Mark::Thesis(_, value) | Mark::Paper(_, value) | Mark::Late(_, value, _) => *value,
        };
        let spread = |bar: &Bar| bar.ends().map_or([bar.value; 2], |(low, high)| [low, high]);
        let bars = self.clusters.iter().flat_map(|cluster| cluster.bars.iter().flatten());
        let values = bars.flat_map(|bar| spread(bar).into_iter().chain([bar.value]));
        let values = values.chain(self.clusters.iter().flat_map(|cluster| cluster.marks.iter().map(marked)));
        let scale = Scale::over(values.chain([0.0]).chain(self.one.then_some(1.0)), (height, 0.0), self.unit, &|_| LINE + 3.0);
        let ticks: Vec<String> = scale.labels().map(|(_, label)| label).collect();
        let left = widest(ticks.iter().map(String::as_str)) + 8.0;
        // A single cluster may have no name: then its bars have names.
        let by_bar = self.clusters.len() == 1 && self.clusters[0].names.is_empty();
        let names: Vec<(Vec<String>, bool)> = if by_bar {
            self.series.iter().map(|series| (vec![series.name.clone()], false)).collect()
        } else {
            self.clusters.iter().map(|cluster| (cluster.names.clone(), cluster.apart)).collect()
        };
        let in_slot = if by_bar { 1.0 } else { self.series.len().max(1) as f64 };
        let rows = Rows::new(slots(names.iter().map(|(names, apart)| (&names[..], *apart))), drawing_width, left, in_slot * BAR.0 / FILLED);
        let bar = (FILLED * rows.slot / in_slot).min(if by_bar { 2.0 * BAR.1 } else { BAR.1 });
        let number = self.number_in(bar);
        let row_height = height + rows.names_height() + 10.0;
        let mut drawing = Drawing::new(drawing_width, LINE + 8.0 + row_height * rows.count() as f64 - 6.0);
        drawing.text((0.0, LINE - 3.0), Anchor::Start, "label", &super::measure::elided(&self.y_label, drawing_width));
        for row in 0..rows.count() {
            let top = LINE + 8.0 + row_height * row as f64;
            let mut part = Drawing::new(0.0, 0.0);
            // A last row of few clusters ends with them.
            let right = rows.end(row);
            part.y_axis((rows.left, right), &scale);
            if self.one {
                part.line((rows.left, scale.at(1.0)), (right, scale.at(1.0)), "one", "1");
            }
            for (at, x, apart) in rows.row(row) {
                if apart && x > rows.left + rows.slot / 2.0 {
                    part.line((rows.parting(x), 0.0), (rows.parting(x), height), "grid", "");
                }
                let inside = bar * in_slot;
                let place = Place { first: x + (rows.slot - inside) / 2.0, bar };
                let (cluster, only) = if by_bar { (&self.clusters[0], Some(at)) } else { (&self.clusters[at], None) };
                self.cluster(&mut part, &scale, place, cluster, only, number);
            }
            rows.names(&mut part, row, height);
            drawing.place((0.0, top), part);
        }
        drawing
    }

    /// Draws a cluster, or only one bar of it.
    fn cluster(&self, drawing: &mut Drawing, scale: &Scale, place: Place, cluster: &Cluster, only: Option<usize>, number: Option<Number>) {
        let zero = scale.at(0.0);
        let title = cluster.names.join(" ");
        let series = || self.series.iter().zip(&cluster.bars).enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
        let shown: Vec<usize> = series().map(|(at, _)| at).collect();
        let left = |at: usize| place.first + place.bar * shown.iter().position(|&shown| shown == at).unwrap_or_default() as f64;
        let end = place.first + place.bar * shown.len() as f64;
        for (at, (series, bar)) in series() {
            let middle = left(at) + place.bar / 2.0;
            let Some(bar) = bar else {
                // A missing value must differ from zero.
                drawing.line(
                    (middle - 0.25 * place.bar, zero - 5.0),
                    (middle + 0.25 * place.bar, zero - 5.0),
                    "spread",
                    &format!("{title} {}: none", series.name),
                );
                continue;
            };
            let y = scale.at(bar.value);
            let (from, tall) = (y.min(zero), (y - zero).abs().max(0.75));
            let of = bar.of.map_or_else(String::new, |(n, (low, high))| {
                format!(", mean of {n}, quartiles {} and {}", self.unit.shown(low), self.unit.shown(high))
            });
            let known = bar.half_width.map_or_else(String::new, |half| format!(" \u{b1} {}", self.unit.shown(half)));
            let within = |(low, high)| format!(", 95 % interval {} to {}", self.unit.shown(low), self.unit.shown(high));
            let known = known + &bar.interval.map_or_else(String::new, within);
            let says = format!("{title} {}: {}{known}{of}", series.name, self.unit.shown(bar.value));
            drawing.bar((left(at) + 0.06 * place.bar, from), (0.88 * place.bar, tall), series.style, &says);
            if let Some((low, high)) = bar.ends() {
                let cap = (0.22 * place.bar).min(4.0);
                drawing.line((middle, scale.at(low)), (middle, scale.at(high)), "spread", &says);
                for end in [low, high] {
                    drawing.line((middle - cap, scale.at(end)), (middle + cap, scale.at(end)), "spread", "");
                }
            }
        }
        for mark in &cluster.marks {
            let about = |at: usize| self.series.get(at).map_or("", |series| &series.name);
            match *mark {
                Mark::Null(value) => {
                    let y = scale.at(value);
                    drawing.line((place.first - 2.0, y), (end + 2.0, y), "null", &format!("{title}, S_null: {}", self.unit.shown(value)));
                }
                Mark::Oracle(value) => {
                    let y = scale.at(value);
                    drawing.line((place.first - 2.0, y), (end + 2.0, y), "oracle", &format!("{title}, oracle: {}", self.unit.shown(value)));
                }
                Mark::Late(at, value, count) if shown.contains(&at) => {
                    let says = format!("{title}, {}: {count} too late", about(at));
                    drawing.late((left(at) + place.bar / 2.0, scale.at(value).min(zero)), &says);
                }
                Mark::Thesis(at, value) | Mark::Paper(at, value) if shown.contains(&at) => {
                    let whose = mark.whose();
                    let says = format!("{title}, {}, {whose}: {}", about(at), self.unit.shown(value));
                    drawing.thesis((left(at) + place.bar / 2.0, scale.at(value)), &says);
                }
                Mark::Late(..) | Mark::Thesis(..) | Mark::Paper(..) => {}
            }
        }
        for (at, (_, bar)) in series() {
            let (Some(bar), Some(number)) = (bar, number) else { continue };
            let (end, middle) = (scale.at(bar.value), left(at) + place.bar / 2.0);
            // At the foot of the bar, away from marks, if there is space.
            let foot = if zero - end > 30.0 { zero - 8.0 } else { end.min(zero) - 5.0 };
            drawing.text((middle, foot), Anchor::Middle, "value", &number(self, bar.value));
        }
    }

    /// Returns the format of values on bars of this width: with unit, without, or none; the same
    /// for all.
    fn number_in(&self, bar: f64) -> Option<Number> {
        let fits = |of: &Number| {
            let mut values = self.clusters.iter().flat_map(|cluster| cluster.bars.iter().flatten());
            values.all(|shown| width(&of(self, shown.value)) + 3.0 <= bar)
        };
        let ways: [Number; 2] = [|chart, value| chart.unit.shown(value), |chart, value| chart.unit.shown(value).replace(" %", "")];
        ways.into_iter().filter(|_| self.numbers).find(fits)
    }

    /// Adds the chart's numbers to the table.
    pub(super) fn table(&self, table: &mut Table, panel: &str) {
        let heading = self.unit.heading(&self.y_label);
        let cell = |value: f64| self.unit.cell(value);
        let mut also = Vec::new();
        for cluster in &self.clusters {
            let name = cluster.names.join(" ");
            for (series, bar) in self.series.iter().zip(&cluster.bars) {
                let Some(bar) = bar else { continue };
                let mut values = vec![(heading.clone(), cell(bar.value))];
                if let Some((n, (low, high))) = bar.of {
                    let quartile = |which: &str| self.unit.heading(&format!("{}, {which} quartile", self.y_label));
                    values.extend([("n".to_owned(), n.to_string()), (quartile("lower"), cell(low)), (quartile("upper"), cell(high))]);
                }
                table.add([panel, &name, &series.name], values);
            }
            also.extend(cluster.marks.iter().map(|mark| (name.clone(), *mark)));
        }
        for (name, mark) in also {
            let about = |at: usize| self.series.get(at).map_or("", |series| &series.name);
            let (series, heading, value) = match mark {
                Mark::Null(value) => ("S_null".to_owned(), heading.clone(), cell(value)),
                Mark::Oracle(value) => ("oracle".to_owned(), heading.clone(), cell(value)),
                Mark::Thesis(at, value) | Mark::Paper(at, value) => {
                    (format!("{}, {}", about(at), mark.whose()), heading.clone(), cell(value))
                }
                Mark::Late(at, _, count) => (about(at).to_owned(), "too late (groups)".to_owned(), count.to_string()),
            };
            table.add([panel, &name, &series], vec![(heading, value)]);
        }
    }
}

/// Format of a value.
type Number = fn(&Bars, f64) -> String;
