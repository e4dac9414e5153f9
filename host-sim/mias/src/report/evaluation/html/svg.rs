//! Drawing: the few SVG elements that the charts are made of, and linear scales with round ticks.

use maud::{Markup, html};

/// Space around a chart's plotting area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// Where a text's position is in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing under way. Lengths are in user units; the page scales the whole to its width.
#[derive(Debug)]
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: Vec<Markup>,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: Vec::new() }
    }

    /// The element; `label` says what it shows to whoever cannot see it.
    pub(super) fn finish(self, label: &str) -> Markup {
        let seen = format!("0 0 {} {}", short(self.width), short(self.height));
        html! { svg viewBox=(seen) role="img" aria-label=(label) { @for element in &self.body { (element) } } }
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str, title: &str) {
        let (x, y, width, height) = (short(x), short(y), short(width.max(0.0)), short(height.max(0.0)));
        self.body.push(html! { rect x=(x) y=(y) width=(width) height=(height) fill=(fill) { (titled(title)) } });
    }

    /// A line of a style class of the page: `axis`, `grid`, `one`, `null`, `oracle`, `mean`.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, title: &str) {
        let (x1, y1, x2, y2) = (short(from.0), short(from.1), short(to.0), short(to.1));
        self.body.push(html! { line x1=(x1) y1=(y1) x2=(x2) y2=(y2) class=(class) { (titled(title)) } });
    }

    pub(super) fn polyline(&mut self, points: &[(f64, f64)], colour: &str, dash: &str, title: &str) {
        let dash = (!dash.is_empty()).then_some(dash);
        self.body.push(html! {
            polyline points=(listed(points)) fill="none" stroke=(colour) stroke-width="2" stroke-dasharray=[dash] { (titled(title)) }
        });
    }

    /// A closed shape.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], fill: &str, class: &str, title: &str) {
        self.body.push(html! { polygon points=(listed(points)) fill=(fill) class=(class) { (titled(title)) } });
    }

    pub(super) fn circle(&mut self, at: (f64, f64), radius: f64, fill: &str, title: &str) {
        let (x, y, r) = (short(at.0), short(at.1), short(radius));
        self.body.push(html! { circle.dot cx=(x) cy=(y) r=(r) fill=(fill) { (titled(title)) } });
    }

    /// What came too late: a black triangle that points down to a bar's end.
    pub(super) fn triangle(&mut self, (x, y): (f64, f64), title: &str) {
        const SIZE: f64 = 5.0;
        self.polygon(&[(x - SIZE, y - 1.7 * SIZE), (x + SIZE, y - 1.7 * SIZE), (x, y)], "#111", "late", title);
    }

    /// The thesis' number: a white diamond with a black edge.
    pub(super) fn diamond(&mut self, (x, y): (f64, f64), title: &str) {
        const SIZE: f64 = 4.5;
        self.polygon(&[(x, y - SIZE), (x + SIZE, y), (x, y + SIZE), (x - SIZE, y)], "#fff", "thesis", title);
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.body.push(html! { text x=(short(x)) y=(short(y)) text-anchor=(anchor) class=(class) { (text) } });
    }

    /// A text that reads upwards.
    pub(super) fn upward(&mut self, (x, y): (f64, f64), text: &str) {
        let upward = format!("translate({} {}) rotate(-90)", short(x), short(y));
        self.body.push(html! { text.label transform=(upward) text-anchor="middle" { (text) } });
    }

    /// A name that ends at this point and rises towards it.
    pub(super) fn slanted(&mut self, (x, y): (f64, f64), degrees: f64, text: &str) {
        let rising = format!("translate({} {}) rotate(-{degrees})", short(x), short(y));
        self.body.push(html! { text.name transform=(rising) text-anchor="end" { (text) } });
    }

    /// Horizontal grid lines with their values, and what they count.
    pub(super) fn y_axis(&mut self, frame: Frame, scale: &Scale, label: &str) {
        for &tick in &scale.ticks {
            let y = scale.at(tick);
            self.line((frame.left, y), (frame.right(), y), if tick == 0.0 { "axis" } else { "grid" }, "");
            self.text((frame.left - 6.0, y + 4.0), Anchor::End, "tick", &scale.label(tick));
        }
        self.upward((frame.left - 44.0, frame.top + frame.height / 2.0), label);
    }

    /// Vertical grid lines with their values, and what they count.
    pub(super) fn x_axis(&mut self, frame: Frame, scale: &Scale, label: &str) {
        for &tick in &scale.ticks {
            let x = scale.at(tick);
            self.line((x, frame.top), (x, frame.bottom()), "grid", "");
            self.text((x, frame.bottom() + 16.0), Anchor::Middle, "tick", &scale.label(tick));
        }
        self.text((frame.left + frame.width / 2.0, frame.bottom() + 34.0), Anchor::Middle, "label", label);
    }
}

/// How values are written on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    Percent,
}

/// From values to positions.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    unit: Unit,
    /// Round values from the lowest to the highest.
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// Over these values and what lies between; `from` and `to` are the positions of the ends.
    pub(super) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64, unit: Unit) -> Self {
        let (mut low, mut high) =
            values.filter(|v| v.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 1e-9 {
            high = low + 1.0;
        }
        let step = round_step((high - low) / 5.0);
        // The small excess keeps an end that is a tick from adding another.
        let (first, last) = ((low / step + 1e-6).floor(), (high / step - 1e-6).ceil());
        let count = (last - first) as usize;
        let ticks = (0..=count).map(|n| (first + n as f64) * step).collect();
        Scale { low: first * step, high: last * step, from, to, unit, ticks }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn label(&self, tick: f64) -> String {
        let tick = if self.unit == Unit::Percent { 100.0 * tick } else { tick };
        let text = if tick.abs() >= 1000.0 { mias_lab::table::grouped(tick.abs().round() as u64) } else { short(tick.abs()) };
        let sign = if tick < 0.0 { "\u{2212}" } else { "" };
        format!("{sign}{text}{}", if self.unit == Unit::Percent { " %" } else { "" })
    }
}

/// The next of 1, 2, 2.5, 5 and 10 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0].into_iter().map(|m| m * power).find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn titled(title: &str) -> Markup {
    html! { @if !title.is_empty() { title { (title) } } }
}

fn listed(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect::<Vec<_>>().join(" ")
}

/// A number with at most two decimals.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        let ticks = |values: &[f64]| Scale::over(values.iter().copied(), 0.0, 1.0, Unit::Plain).ticks;
        assert_eq!(ticks(&[0.0, 1.7]), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(ticks(&[0.0, 1.0]), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(&[-3.0, 40.0]), [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(&[]).len(), 6);
        assert!(ticks(&[5.0, 5.0]).len() > 1);
    }

    #[test]
    fn positions_follow_values() {
        let scale = Scale::over([0.0, 100.0].into_iter(), 200.0, 0.0, Unit::Plain);
        assert_eq!([scale.at(0.0), scale.at(50.0), scale.at(100.0)], [200.0, 100.0, 0.0]);
    }

    #[test]
    fn numbers_and_texts_are_safe() {
        assert_eq!([short(1.0), short(0.126), short(-0.001), short(10.5)], ["1", "0.13", "0", "10.5"]);
        let mut svg = Svg::new(1.0, 2.5);
        svg.text((0.0, 1.0), Anchor::End, "name", "a<b");
        let drawn = "<svg viewBox=\"0 0 1 2.5\" role=\"img\" aria-label=\"&quot;c&quot; &amp; d\">\
            <text x=\"0\" y=\"1\" text-anchor=\"end\" class=\"name\">a&lt;b</text></svg>";
        assert_eq!(svg.finish("\"c\" & d").into_string(), drawn);
    }
}
