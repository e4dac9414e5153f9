//! Times as users type them: core cycles, or microseconds or milliseconds of the core clock, as in
//! `5000`, `5us` or `1.5ms`.

use mias_hw_model::config::GpuConfig;
use std::fmt;
use std::str::FromStr;

/// Longest latency limit of a launch in cycles, by the width of its register.
const MOST_LIMIT: u64 = u32::MAX as u64;

/// A time, exactly as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Core cycles.
    Cycles(u64),
    /// Nanoseconds.
    Nanoseconds(u64),
}

impl Time {
    /// Converts to core cycles of a GPU, rounded down, at least 1 unless the time is 0.
    pub fn cycles(self, gpu: &GpuConfig) -> u64 {
        match self {
            Time::Cycles(cycles) => cycles,
            Time::Nanoseconds(ns) => {
                let cycles = u128::from(ns) * u128::from(gpu.clocks.core_khz) / 1_000_000;
                u64::try_from(cycles).unwrap_or(u64::MAX).max(u64::from(ns != 0))
            }
        }
    }

    /// Converts to a latency limit in core cycles.
    ///
    /// # Errors
    /// The problem and the allowed range.
    pub fn limit_cycles(self, gpu: &GpuConfig) -> Result<u32, String> {
        match self.cycles(gpu) {
            0 => Err(format!("{self} is less than one cycle: use at least 1 cycle, as in 5us")),
            cycles if cycles > MOST_LIMIT => {
                Err(format!("{self} is {cycles} cycles, above the maximum of a launch: use at most {MOST_LIMIT}"))
            }
            cycles => Ok(cycles as u32),
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a time: use core cycles, or microseconds or milliseconds as in 5us or 1.5ms");
        let text = text.replace('_', "");
        let (number, nanoseconds) = match (text.strip_suffix("us"), text.strip_suffix("ms")) {
            (Some(number), _) => (number, 1_000),
            (_, Some(number)) => (number, 1_000_000),
            _ => return text.parse().map(Time::Cycles).map_err(|_| wrong()),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || number.ends_with('.') || !(part.is_empty() || digits(part)) || part.len() > 3 {
            return Err(wrong());
        }
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let thousandths: u64 = format!("{part:0<3}").parse().map_err(|_| wrong())?;
        let ns = whole.checked_mul(nanoseconds).and_then(|ns| ns.checked_add(thousandths * nanoseconds / 1_000));
        ns.map(Time::Nanoseconds).ok_or_else(wrong)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Time::Cycles(cycles) => write!(f, "{cycles}"),
            Time::Nanoseconds(ns) if ns % 1_000 == 0 => write!(f, "{}us", ns / 1_000),
            Time::Nanoseconds(ns) => {
                let us = format!("{}.{:03}", ns / 1_000, ns % 1_000);
                write!(f, "{}us", us.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,365 MHz: 5 us are 6,825 cycles.
    #[test]
    fn times_are_cycles_of_the_core_clock() {
        let mut gpu = crate::gpus::load("rtx2060").unwrap();
        gpu.clocks.core_khz = 1_365_000;
        let cycles = |text: &str| text.parse::<Time>().map(|time| time.cycles(&gpu));
        assert_eq!(cycles("5us"), Ok(6_825));
        assert_eq!(cycles("0.5us"), Ok(682));
        assert_eq!(cycles("1.5ms"), Ok(2_047_500));
        assert_eq!(cycles("100_000"), Ok(100_000));
        assert_eq!(cycles("0.001us"), Ok(1), "1.365 cycles, rounded down");
        for wrong in ["", "us", "5s", "-1", "1.us", "1.2345us", "5 us", "1.5", "99999999999999999999", "99999999999999999ms"] {
            let said = cycles(wrong).expect_err(wrong);
            assert!(said.contains(&format!("`{wrong}` is not a time: use core cycles")), "{said}");
        }
    }

    #[test]
    fn times_are_shown_as_typed() {
        for text in ["5us", "1500us", "2.5us", "0.125us", "700"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
        assert_eq!("1.5ms".parse::<Time>().unwrap().to_string(), "1500us");
    }

    #[test]
    fn a_limit_is_a_time_that_a_launch_can_say() {
        let gpu = crate::gpus::load("rtx2060").unwrap();
        let limit = |text: &str| text.parse::<Time>().unwrap().limit_cycles(&gpu);
        assert_eq!(limit("4294967295"), Ok(u32::MAX));
        assert!(limit("4294967296").unwrap_err().contains("use at most 4294967295"));
        assert!(limit("0us").unwrap_err().contains("is less than one cycle"));
    }
}
