//! Shape of IPC against TBs per SM: one of the three shapes of sources.md D82, or none of them.
//!
//! The shapes (linear then flat, saturating, peaked) have names and published curves, but no rule.
//! This rule is our own; its thresholds are assumptions. p(n) is the IPC with n TBs per SM, N the
//! maximum that fits, and m the minimum measured. e(n) = (p(n) / n) / (p(m) / m) is the relative
//! gain per TB. The first that holds:
//!
//! 1. *peaked*: p(N) is at least 5 % below the best p;
//! 2. *linear then flat*: p comes within 5 % of the best before N, and at every point before that e
//!    is at least 0.8;
//! 3. *saturating*: e(N) is below 0.8, and the last TBs each add less than half of the first TB's
//!    gain;
//! 4. *neither*: it still rises, or there are fewer than three points.

use serde::Serialize;

/// Largest relative difference of equal values (assumption). The published falls that are peaks are
/// 6 to 10 %; the 3 % of blackscholes beyond 8 TBs is no peak.
const LEVEL: f64 = 0.05;

/// Minimum gain of a TB, relative to the first, that counts as linear (assumption).
const LINEAR: f64 = 0.8;

/// Gain of a TB, relative to the first, below which the curve saturates (assumption).
const SPENT: f64 = 0.5;

/// Shape of a curve of IPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Each TB adds as much as the first, until more add nothing: a compute-bound kernel.
    LinearThenFlat,
    /// Each TB adds less than the one before: bandwidth or a pipeline saturates.
    Saturating,
    /// More TBs reduce the total: they evict each other's cache lines or close each other's rows.
    Peaked,
    /// None of the three shapes.
    Neither,
}

impl Shape {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Shape::LinearThenFlat => "linear then flat",
            Shape::Saturating => "saturating",
            Shape::Peaked => "peaked",
            Shape::Neither => "neither",
        }
    }
}

/// Shape of a curve with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Shape of the curve.
    pub shape: Shape,
    /// Reason in one sentence, with the numbers.
    pub because: String,
}

/// Classifies a curve of TBs per SM, ascending and at least 1, and IPC.
pub fn judge(curve: &[(u32, f64)]) -> Verdict {
    let verdict = |shape, because| Verdict { shape, because };
    let (&[first, .., before, last], true) = (curve, curve.len() >= 3) else {
        return verdict(Shape::Neither, format!("{} points show no shape", curve.len()));
    };
    let per_tb = |(tbs, ipc): (u32, f64)| ipc / f64::from(tbs);
    let (one, best) = (per_tb(first), curve.iter().map(|point| point.1).fold(0.0, f64::max));
    if one <= 0.0 {
        return verdict(Shape::Neither, format!("no instruction issues with {} TBs", first.0));
    }
    let worth = |point| per_tb(point) / one;
    if last.1 <= (1.0 - LEVEL) * best {
        let at = curve.iter().find(|point| point.1 == best).map_or(0, |point| point.0);
        return verdict(Shape::Peaked, format!("{} TBs give {:.0} % of the IPC of {at}", last.0, 100.0 * last.1 / best));
    }
    let is_level = |point: &&(u32, f64)| point.1 > (1.0 - LEVEL) * best;
    let knee = curve.iter().find(is_level).map_or(last.0, |point| point.0);
    let least = curve.iter().filter(|point| point.0 < knee).map(|&point| worth(point)).fold(1.0, f64::min);
    if knee < last.0 && least >= LINEAR {
        return verdict(
            Shape::LinearThenFlat,
            format!("up to {knee} TBs, each adds at least {:.0} % of the first; more TBs add none", 100.0 * least),
        );
    }
    let added = (last.1 - before.1) / f64::from(last.0 - before.0) / one;
    let (worth_last, added_percent) = (100.0 * worth(last), 100.0 * added);
    let numbers = format!("at {} TBs, each gives {worth_last:.0} % of the first; the last adds {added_percent:.0} %", last.0);
    let saturates = worth(last) < LINEAR && added < SPENT;
    verdict(if saturates { Shape::Saturating } else { Shape::Neither }, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(curve: &[(u32, f64)]) -> Shape {
        judge(curve).shape
    }

    /// Curves constructed to have a known shape.
    #[test]
    fn made_curves_have_their_shape() {
        let curve = |of: fn(f64) -> f64| (1..=8).map(|n| (n, of(f64::from(n)))).collect::<Vec<_>>();
        assert_eq!(shape(&curve(|n| n.min(4.0))), Shape::LinearThenFlat);
        assert_eq!(shape(&curve(|n| 1.0 - (-n / 3.0).exp())), Shape::Saturating);
        assert_eq!(shape(&curve(|n| n * (10.0 - n))), Shape::Peaked);
        assert_eq!(shape(&curve(|n| n)), Shape::Neither, "still rises");
        assert_eq!(shape(&curve(|n| 3.0 + n)), Shape::Saturating, "the first TB gives 4, each further one");
        assert_eq!(shape(&curve(|_| 1.0)), Shape::LinearThenFlat, "one TB is all that is needed");
        assert_eq!(shape(&curve(|_| 0.0)), Shape::Neither);
        assert_eq!(shape(&[(1, 1.0), (2, 2.0)]), Shape::Neither);
        assert_eq!(shape(&[]), Shape::Neither);
    }

    /// Scaling the IPC does not change the shape.
    #[test]
    fn ipc_has_no_unit_here() {
        for curve in [[(1, 1.0), (2, 1.9), (3, 2.0), (4, 2.0)], [(1, 1.0), (2, 1.5), (3, 1.7), (4, 1.8)]] {
            assert_eq!(judge(&curve.map(|(n, ipc)| (n, 1e3 * ipc))), judge(&curve));
        }
    }

    /// The published curves of sources.md D82 (thread IPC of 80 SMs). binomialOptions bends too
    /// early for a straight line: at 2,837 with four TBs, each adds 77 % of the first.
    #[test]
    fn published_curves_are_judged_as_listed() {
        for (name, curve, expected) in [
            ("blackscholes", &[(2, 916.0), (4, 1603.0), (6, 2132.0), (8, 2276.0), (16, 2210.0)][..], Shape::Saturating),
            ("binomialOptions", &[(1, 918.0), (4, 2837.0), (7, 4277.0), (13, 4252.0)], Shape::Saturating),
            ("lbm", &[(1, 554.0), (2, 585.0), (3, 557.0), (5, 530.0), (12, 551.0)], Shape::Peaked),
            ("lavamd", &[(1, 798.0), (6, 3109.0), (9, 2863.0)], Shape::Peaked),
        ] {
            assert_eq!(shape(curve), expected, "{name}: {:?}", judge(curve));
        }
    }
}
