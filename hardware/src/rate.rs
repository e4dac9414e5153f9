//! Rates from the counts of slots.
//!
//! Let a slot complete its first TB in the window at cycle a, its last at b, and n in all. Its rate
//! is (n - 1) / (b - a) TBs per cycle, so the window's edges have no effect. Rates of slots are
//! added.

use crate::control::Record;

/// Rate of a kernel in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Number of slots that started.
    pub slots: usize,
    /// TBs counted by all slots.
    pub tbs: u64,
    /// TBs counted by the slot with the fewest.
    pub fewest: u32,
    /// Slots that counted fewer than 2 TBs, and therefore have no rate.
    pub short: usize,
    /// TBs that the GPU completes per million SM cycles.
    pub tbs_per_million: f64,
    /// Mean cycles of a TB, in its slot, from its first instruction to its last.
    pub tb_cycles: f64,
    /// SM clock in kHz, from cycles and nanoseconds between start and end of all slots.
    pub clock_khz: f64,
    /// Most cycles that a slot's count spans.
    pub span_cycles: u64,
}

impl Rate {
    /// Computes the rate of a kernel's slots.
    pub fn of(slots: &[Record]) -> Self {
        let sum = |f: fn(&Record) -> u64| slots.iter().map(f).sum::<u64>();
        let tbs = sum(|slot| slot.count.into());
        let span = |slot: &Record| slot.last.saturating_sub(slot.first);
        let rated = || slots.iter().filter(|slot| slot.count >= 2 && slot.last > slot.first);
        let rate = rated().map(|slot| f64::from(slot.count - 1) / span(slot) as f64).fold(0.0, |sum, rate| sum + rate);
        let ended = || slots.iter().filter(|slot| slot.ended);
        let between = |unit: usize| ended().map(|slot| slot.end[unit].saturating_sub(slot.start[unit])).sum::<u64>();
        let (cycles, nanoseconds) = (between(0), between(1));
        let over = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        Rate {
            slots: slots.len(),
            tbs,
            fewest: slots.iter().map(|slot| slot.count).min().unwrap_or(0),
            short: slots.len() - rated().count(),
            tbs_per_million: 1e6 * rate,
            tb_cycles: over(sum(|slot| slot.cycles), tbs),
            clock_khz: 1e6 * over(cycles, nanoseconds),
            span_cycles: slots.iter().map(span).max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a slot that completes a TB every `period` cycles from `first` on.
    fn regular(first: u64, period: u64, count: u32) -> Record {
        let last = first + period * u64::from(count.saturating_sub(1));
        let (start, end) = ([1000, 5_000], [1000 + 2_000_000, 5_000 + 1_000_000]);
        Record { sm: 0, count, ended: true, first, last, cycles: period * u64::from(count), start, end }
    }

    #[test]
    fn regular_slots_add_up_wherever_they_begin() {
        let slots: Vec<Record> = (0..10).map(|k| regular(2000 + 37 * k, 500, 100 - k as u32)).collect();
        let rate = Rate::of(&slots);
        assert!((rate.tbs_per_million - 10.0 * 1e6 / 500.0).abs() < 1e-6);
        assert_eq!((rate.slots, rate.tbs, rate.fewest, rate.short), (10, 1000 - 45, 91, 0));
        assert_eq!((rate.tb_cycles, rate.clock_khz, rate.span_cycles), (500.0, 2_000_000.0, 49_500));
    }

    #[test]
    fn slots_of_fewer_than_two_are_said_to_be_short() {
        let rate = Rate::of(&[regular(0, 500, 3), regular(0, 500, 1), Record::default()]);
        assert_eq!((rate.short, rate.fewest, rate.slots), (2, 0, 3));
        assert!((rate.tbs_per_million - 2000.0).abs() < 1e-9);
        assert_eq!(Rate::of(&[]), Rate::default());
    }
}
