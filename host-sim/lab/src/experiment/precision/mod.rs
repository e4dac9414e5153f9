//! Requested precision of a run in a window, and the estimate of a run that reached it before the
//! window's end.
//!
//! The estimate for a window is the simulated part, including warm-up, plus the steady rate for the
//! rest; only that rest is uncertain (sources.md D120). `stop` decides when a run is known,
//! `batches` how well a rate is known.

mod batches;
mod stop;

pub(super) use stop::{Known, Progress, Stop};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Largest relative half-width of the 95 % interval of every kernel's instructions at which a run
/// is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision {
    /// Relative half-width in parts per million, 1 to 999,999.
    ppm: u32,
}

impl Precision {
    /// Creates a precision in parts per million; `None` unless 1 to 999,999.
    pub fn of_ppm(ppm: u32) -> Option<Self> {
        (1..1_000_000).contains(&ppm).then_some(Precision { ppm })
    }

    /// Returns the precision as a fraction, above 0 and below 1.
    pub fn share(self) -> f64 {
        f64::from(self.ppm) / 1e6
    }
}

/// Formats as users write it: `1 %`.
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.ppm / 10_000, format!("{:04}", self.ppm % 10_000));
        match part.trim_end_matches('0') {
            "" => write!(f, "{whole} %"),
            part => write!(f, "{whole}.{part} %"),
        }
    }
}

/// Parses percent with at most four decimals, as in `1 %`, `0.5%` or `2`.
impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused =
            || format!("`{text}` is not a precision; use a percentage above 0 and below 100 with at most four decimals, as in `1 %`");
        let number = text.trim().strip_suffix('%').unwrap_or(text.trim()).trim_end();
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole, 2) || !digits(part, 4) {
            return Err(refused());
        }
        let ppm = |text: &str| text.parse::<u32>().map_err(|_| refused());
        Precision::of_ppm(ppm(whole)? * 10_000 + ppm(&format!("{part:0<4}"))?).ok_or_else(refused)
    }
}

/// Estimate of a run that ended before its window, because its rates were known precisely enough.
/// All counts of the run are estimates for the whole window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    /// Number of core cycles simulated.
    pub simulated_cycles: u64,
    /// Core cycle from which rates are taken as steady.
    pub steady_from_cycle: u64,
    /// Half-widths of each workload.
    pub half_widths: Vec<HalfWidth>,
}

/// Half of the 95 % interval around an estimate: an exact run of the window lies within as often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HalfWidth {
    /// Half-width of its warp instructions.
    pub warp_insts: u64,
    /// Half-width of its thread instructions.
    pub thread_insts: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentages_are_read() {
        let ppm = |text: &str| text.parse::<Precision>().map(|precision| precision.ppm);
        for (text, parts) in [("1 %", 10_000), ("0.5%", 5_000), ("2", 20_000), (" 12.3456 % ", 123_456), ("0.0001", 1)] {
            assert_eq!(ppm(text), Ok(parts), "{text}");
        }
        for text in ["", "%", "0", "0.0 %", "100", "-1", "1.", ".5", "0.00001", "1 %%", "1e-3", "one", "0x1"] {
            assert!(ppm(text).is_err_and(|error| error.contains("as in `1 %`")), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(ppm in 1u32..1_000_000) {
            let precision = Precision::of_ppm(ppm).unwrap();
            prop_assert_eq!(precision.to_string().parse::<Precision>(), Ok(precision));
        }
    }
}
