//! Bar charts: clusters of bars, one per series, from zero; and bars of stacked shares.

use super::names::Names;
use super::svg::{Anchor, Frame, Scale, Svg, Unit};
use maud::Markup;

/// Width of every chart in user units; the page shows it at its own width.
pub(super) const WIDTH: f64 = 960.0;

/// Width that a character of a number on a bar takes, in user units: a digit of the widest of the page's fonts in the size of `.value`, and a little space.
const DIGIT_WIDTH: f64 = 7.2;

/// A series of bars.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) colour: &'static str,
}

/// What else a cluster shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// A dotted line across the cluster: S_null.
    Null(f64),
    /// A solid line across the cluster: the oracle's value.
    Oracle(f64),
    /// A diamond over a series' bar: the thesis' value.
    Thesis(usize, f64),
    /// A triangle over a series' bar: decisions behind it that came too late, and how many.
    Late(usize, f64, usize),
}

/// Bars that stand together.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// Lines under the bars.
    pub(super) names: Vec<String>,
    /// A line in small print under them.
    pub(super) note: String,
    /// A value per series.
    pub(super) values: Vec<Option<f64>>,
    pub(super) marks: Vec<Mark>,
    /// Stands apart from what is before it, as means do.
    pub(super) apart: bool,
}

/// A chart of clusters.
#[derive(Clone, Debug)]
pub(super) struct Grouped<'a> {
    /// What it shows, for those who cannot see it.
    pub(super) label: &'a str,
    pub(super) y_label: &'a str,
    pub(super) unit: Unit,
    pub(super) series: Vec<Series>,
    pub(super) clusters: Vec<Cluster>,
    /// A line at 1: nothing gained, nothing lost.
    pub(super) one: bool,
    /// Values on the bars, where all of them are wide enough.
    pub(super) numbers: bool,
}

impl Grouped<'_> {
    pub(super) fn draw(&self) -> Markup {
        let frame = Frame { left: 60.0, top: 14.0, width: WIDTH - 70.0, height: 250.0 };
        let lines =
            self.clusters.iter().map(|cluster| cluster.names.len() + usize::from(!cluster.note.is_empty())).max().unwrap_or(1).max(1);
        let gaps = self.clusters.iter().filter(|cluster| cluster.apart).count() as f64;
        let slot = frame.width / (self.clusters.len() as f64 + 0.4 * gaps).max(1.0);
        let below = self.bar_names(self.bar_width(slot)).map_or(0.0, |names| names.height());
        let mut svg = Svg::new(WIDTH, frame.bottom() + below.max(12.0 + 14.0 * lines as f64));
        let marked = |mark: &Mark| match mark {
            Mark::Null(value) | Mark::Oracle(value) | Mark::Thesis(_, value) | Mark::Late(_, value, _) => *value,
        };
        let values = self.clusters.iter().flat_map(|c| c.values.iter().flatten().copied().chain(c.marks.iter().map(marked)));
        let scale = Scale::over(values.chain([0.0]), frame.bottom(), frame.top, self.unit);
        svg.y_axis(frame, &scale, self.y_label);
        if self.one {
            svg.line((frame.left, scale.at(1.0)), (frame.right(), scale.at(1.0)), "one", "1");
        }
        let mut x = frame.left;
        for cluster in &self.clusters {
            x += if cluster.apart { 0.4 * slot } else { 0.0 };
            if cluster.apart {
                svg.line((x - 0.2 * slot, frame.top), (x - 0.2 * slot, frame.bottom()), "grid", "");
            }
            self.cluster(&mut svg, frame, &scale, (x, slot), cluster);
            x += slot;
        }
        svg.finish(self.label)
    }

    fn cluster(&self, svg: &mut Svg, frame: Frame, scale: &Scale, (x, slot): (f64, f64), cluster: &Cluster) {
        let bar = self.bar_width(slot);
        let inside = bar * self.series.len() as f64;
        let first = x + (slot - inside) / 2.0;
        let place = |series: usize| first + bar * series as f64;
        let zero = scale.at(0.0);
        let title = cluster.names.join(" ");
        for (number, (value, series)) in cluster.values.iter().zip(&self.series).enumerate() {
            let Some(value) = *value else {
                svg.text((place(number) + bar / 2.0, zero - 4.0), Anchor::Middle, "value", "\u{2013}");
                continue;
            };
            let y = scale.at(value);
            let shown = self.shown(value);
            let (from, height) = (y.min(zero), (y - zero).abs().max(0.75));
            svg.rect(place(number) + 0.06 * bar, from, 0.88 * bar, height, series.colour, &format!("{title} {}: {shown}", series.name));
        }
        for mark in &cluster.marks {
            match *mark {
                Mark::Null(value) => {
                    let y = scale.at(value);
                    svg.line((first - 2.0, y), (first + inside + 2.0, y), "null", &format!("{title}, S_null: {}", self.shown(value)));
                }
                Mark::Oracle(value) => {
                    let y = scale.at(value);
                    svg.line((first - 2.0, y), (first + inside + 2.0, y), "oracle", &format!("{title}, oracle: {}", self.shown(value)));
                }
                Mark::Late(series, value, count) => {
                    let about = self.series.get(series).map_or("", |series| &series.name);
                    svg.triangle((place(series) + bar / 2.0, scale.at(value).min(zero)), &format!("{title}, {about}: {count} too late"));
                }
                Mark::Thesis(series, value) => {
                    let about = self.series.get(series).map_or("", |series| &series.name);
                    svg.diamond((place(series) + bar / 2.0, scale.at(value)), &format!("{title}, {about}, thesis: {}", self.shown(value)));
                }
            }
        }
        let number_of = self.number_in(bar);
        for (number, (value, series)) in cluster.values.iter().zip(&self.series).enumerate() {
            let (Some(value), Some(number_of)) = (*value, number_of) else { continue };
            let (end, middle) = (scale.at(value), place(number) + bar / 2.0);
            // At the foot of the bar, where no mark is, if there is room.
            match (zero - end > 30.0, value < 0.0) {
                (true, _) => svg.text((middle, zero - 8.0), Anchor::Middle, letters(series.colour), &number_of(self, value)),
                (_, true) => svg.text((middle, end + 13.0), Anchor::Middle, "value", &number_of(self, value)),
                _ => svg.text((middle, end - 6.0), Anchor::Middle, "value", &number_of(self, value)),
            }
        }
        let line = |number: usize| frame.bottom() + 17.0 + 14.0 * number as f64;
        for (number, name) in cluster.names.iter().enumerate() {
            svg.text((x + slot / 2.0, line(number)), Anchor::Middle, "name", name);
        }
        svg.text((x + slot / 2.0, line(cluster.names.len())), Anchor::Middle, "tick", &cluster.note);
        if let Some(names) = self.bar_names(bar) {
            names.draw(svg, first, frame.bottom());
        }
    }

    /// Width of a bar if clusters stand so far apart.
    fn bar_width(&self, slot: f64) -> f64 {
        // A cluster alone has room for the names of its bars; no bar is wider than that.
        let widest = if self.clusters.len() == 1 { 118.0 } else { 56.0 };
        (0.84 * slot / self.series.len().max(1) as f64).min(widest)
    }

    /// The names of bars so wide, where they and not their cluster have names.
    fn bar_names(&self, bar: f64) -> Option<Names<'_>> {
        let alone = self.clusters.len() == 1 && self.clusters[0].names.is_empty();
        alone.then(|| Names::new(self.series.iter().map(|series| series.name.as_str()), bar))
    }

    /// How values are written on bars so wide: with their unit, without, or not at all; all alike.
    fn number_in(&self, bar: f64) -> Option<fn(&Self, f64) -> String> {
        let bare = |chart: &Self, value: f64| chart.shown(value).replace(" %", "");
        let fits = |of: &fn(&Self, f64) -> String| {
            let mut values = self.clusters.iter().flat_map(|cluster| cluster.values.iter().flatten());
            values.all(|&value| DIGIT_WIDTH * of(self, value).chars().count() as f64 <= bar)
        };
        [Self::shown as fn(&Self, f64) -> String, bare].into_iter().filter(|_| self.numbers).find(fits)
    }

    fn shown(&self, value: f64) -> String {
        if self.unit == Unit::Percent { format!("{:.1} %", 100.0 * value) } else { format!("{value:.2}") }
    }
}

/// A bar of stacked shares, from the bottom up.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    /// Lines under the bar.
    pub(super) names: Vec<String>,
    /// A share per series.
    pub(super) shares: Vec<f64>,
}

/// A panel of stacked bars of shares of a whole.
#[derive(Clone, Debug)]
pub(super) struct Stacked<'a> {
    /// What it shows, for those who cannot see it.
    pub(super) label: &'a str,
    pub(super) y_label: &'a str,
    pub(super) series: Vec<Series>,
    pub(super) stacks: Vec<Stack>,
    /// Width in user units: a panel may stand beside others.
    pub(super) width: f64,
}

impl Stacked<'_> {
    pub(super) fn draw(&self) -> Markup {
        let frame = Frame { left: 60.0, top: 14.0, width: self.width - 70.0, height: 230.0 };
        let lines = self.stacks.iter().map(|stack| stack.names.len()).max().unwrap_or(1);
        let mut svg = Svg::new(self.width, frame.bottom() + 12.0 + 14.0 * lines as f64);
        let scale = Scale::over([0.0, 1.0].into_iter(), frame.bottom(), frame.top, Unit::Percent);
        svg.y_axis(frame, &scale, self.y_label);
        let slot = frame.width / self.stacks.len().max(1) as f64;
        let bar = (0.62 * slot).min(84.0);
        for (number, stack) in self.stacks.iter().enumerate() {
            let middle = frame.left + slot * (number as f64 + 0.5);
            let mut below = 0.0;
            for (share, series) in stack.shares.iter().zip(&self.series) {
                let (low, high) = (scale.at(below), scale.at(below + share));
                let title = format!("{}, {}: {:.1} %", stack.names.join(" "), series.name, 100.0 * share);
                svg.rect(middle - bar / 2.0, high, bar, low - high, series.colour, &title);
                // A share is named where there is room for it.
                if low - high >= 13.0 && bar >= 34.0 {
                    svg.text((middle, (low + high) / 2.0 + 4.0), Anchor::Middle, letters(series.colour), &format!("{:.0}", 100.0 * share));
                }
                below += share;
            }
            svg.text((middle, scale.at(below) - 5.0), Anchor::Middle, "value", &format!("{:.0} %", 100.0 * below));
            for (line, name) in stack.names.iter().enumerate() {
                let class = if line == 0 { "name" } else { "tick" };
                svg.text((middle, frame.bottom() + 17.0 + 14.0 * line as f64), Anchor::Middle, class, name);
            }
        }
        svg.finish(self.label)
    }
}

/// Style of letters on a colour: dark ones where it is light, by its luminance (ITU-R BT.601).
fn letters(colour: &str) -> &'static str {
    let part = |at: usize| colour.get(at..at + 2).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or_default();
    if 299 * part(1) + 587 * part(3) + 114 * part(5) > 1000 * 140 { "inside" } else { "inside light" }
}
