//! Linear scales from values to positions, with round ticks that have space for their values.

use mias_lab::table::grouped;

/// Format of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Plain number with this unit; `""` for ratios.
    Plain(&'static str),
    /// In hundredths.
    Percent,
}

/// Unit of ratios.
pub(crate) const RATIO: Unit = Unit::Plain("");

impl Unit {
    /// Formats a value in a drawing.
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Unit::Plain(_) => format!("{value:.2}"),
            Unit::Percent => format!("{:.1} %", 100.0 * value),
        }
    }

    /// Formats a value in a table, with all digits except the last, which may be a rounding error.
    pub(super) fn cell(self, value: f64) -> String {
        let value = if self == Unit::Percent { 100.0 * value } else { value };
        let digits = format!("{value:.12}");
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.').to_owned() } else { digits }
    }

    /// Formats a quantity with its unit, for a table's heading.
    pub(super) fn heading(self, quantity: &str) -> String {
        match self {
            Unit::Plain("") => format!("{quantity} (ratio)"),
            Unit::Plain(unit) => format!("{quantity} ({unit})"),
            Unit::Percent => format!("{quantity} (percent)"),
        }
    }

    /// Formats a value next to an axis.
    fn tick(self, tick: f64) -> String {
        let tick = if self == Unit::Percent { 100.0 * tick } else { tick };
        let text = match tick.abs() {
            // The end of an interval of few cases may be huge; its digits would be wider than any
            // margin.
            huge if huge >= 1e9 => format!("{:e}", huge.round()),
            large if large >= 1000.0 => grouped(large.round() as u64),
            small => exact(small),
        };
        let sign = if tick < 0.0 && text != "0" { "\u{2212}" } else { "" };
        format!("{sign}{text}{}", if self == Unit::Percent { " %" } else { "" })
    }
}

/// Formats a tick with all of its digits: steps have few, and the rest is rounding error.
fn exact(tick: f64) -> String {
    format!("{tick:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Linear scale with ticks.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    unit: Unit,
    /// Round values from the lowest to the highest.
    pub(super) ticks: Vec<f64>,
    /// Interval of ticks with a value: 1, unless few values fit.
    every: usize,
}

/// Intended maximum number of steps between ticks.
const MOST_STEPS: u32 = 5;

impl Scale {
    /// Creates a scale over these values, from `from` to `to`, with as many ticks as fit. `room`
    /// returns the length that a value takes next to the axis.
    pub(super) fn over(values: impl Iterator<Item = f64>, (from, to): (f64, f64), unit: Unit, room: &dyn Fn(&str) -> f64) -> Self {
        let (mut low, mut high) =
            values.filter(|v| v.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 1e-9 {
            high = low + 1.0;
        }
        let of = |steps: u32| Scale::with_steps(low, high, (from, to), unit, steps);
        let apart = |scale: &Scale| (to - from).abs() / (scale.ticks.len() - 1) as f64;
        let widest = |scale: &Scale| scale.labels().map(|(_, label)| room(&label)).fold(0.0, f64::max);
        let fits = |scale: &Scale| widest(scale) <= apart(scale);
        (1..=MOST_STEPS).rev().map(of).find(fits).unwrap_or_else(|| {
            let scale = of(1);
            let every = ((widest(&scale) / apart(&scale).max(1e-9)).ceil() as usize).clamp(1, scale.ticks.len());
            Scale { every, ..scale }
        })
    }

    fn with_steps(low: f64, high: f64, (from, to): (f64, f64), unit: Unit, steps: u32) -> Self {
        let step = round_step((high - low) / f64::from(steps));
        // The small tolerance prevents an additional tick if an end is a tick.
        let (first, last) = ((low / step + 1e-6).floor(), (high / step - 1e-6).ceil());
        let count = (last - first) as usize;
        let ticks = (0..=count).map(|n| (first + n as f64) * step).collect();
        Scale { low: first * step, high: last * step, from, to, unit, ticks, every: 1 }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Returns ticks with their labels, which are empty where they do not fit.
    pub(super) fn labels(&self) -> impl Iterator<Item = (f64, String)> {
        let label = |(at, &tick): (usize, &f64)| (tick, if at % self.every == 0 { self.unit.tick(tick) } else { String::new() });
        self.ticks.iter().enumerate().map(label)
    }
}

/// Returns the next of 1, 2, 2.5, 5 and 10 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0].into_iter().map(|m| m * power).find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        let ticks = |values: &[f64]| Scale::over(values.iter().copied(), (0.0, 1.0), RATIO, &|_| 0.0).ticks;
        assert_eq!(ticks(&[0.0, 1.7]), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(ticks(&[0.0, 1.0]), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(&[-3.0, 40.0]), [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(&[]).len(), 6);
        let labels = |values: &[f64]| -> Vec<String> {
            Scale::over(values.iter().copied(), (0.0, 1.0), RATIO, &|_| 0.0).labels().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(&[-0.12, 0.0]), ["\u{2212}0.125", "\u{2212}0.1", "\u{2212}0.075", "\u{2212}0.05", "\u{2212}0.025", "0"]);
        assert_eq!(labels(&[0.0, 1.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert!(ticks(&[5.0, 5.0]).len() > 1);
    }

    #[test]
    fn positions_follow_values() {
        let scale = Scale::over([0.0, 100.0].into_iter(), (200.0, 0.0), RATIO, &|_| 0.0);
        assert_eq!([scale.at(0.0), scale.at(50.0), scale.at(100.0)], [200.0, 100.0, 0.0]);
    }

    #[test]
    fn values_have_units() {
        assert_eq!([RATIO.shown(1.234), Unit::Percent.shown(0.1234)], ["1.23", "12.3 %"]);
        assert_eq!([RATIO.cell(0.1), RATIO.cell(2.0), RATIO.cell(100.0), Unit::Percent.cell(0.07)], ["0.1", "2", "100", "7"]);
        assert_eq!(
            [RATIO.heading("S"), Unit::Plain("cycles").heading("t"), Unit::Percent.heading("regret")],
            ["S (ratio)", "t (cycles)", "regret (percent)"]
        );
        assert_eq!([RATIO.tick(-0.5), Unit::Percent.tick(0.25), RATIO.tick(12_000.0)], ["\u{2212}0.5", "25 %", "12,000"]);
        assert_eq!([RATIO.tick(999_999_000.0), RATIO.tick(5e11), RATIO.tick(-2.5e9)], ["999,999,000", "5e11", "\u{2212}2.5e9"]);
    }

    proptest! {
        #[test]
        fn values_are_between_the_ends(values in prop::collection::vec(-50.0f64..50.0, 1..9), room in 0.0f64..60.0) {
            let scale = Scale::over(values.iter().copied(), (0.0, 100.0), RATIO, &|_| room);
            for value in values {
                prop_assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(value)));
            }
            let shown: Vec<f64> = scale.labels().filter(|(_, label)| !label.is_empty()).map(|(tick, _)| scale.at(tick)).collect();
            prop_assert!(shown.windows(2).all(|pair| pair[1] - pair[0] >= room - 1e-6), "{shown:?}");
        }
    }
}
