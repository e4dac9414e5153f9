//! Number of cycles in which each SM held a TB, which separates active from idle SMs in the energy
//! report.

/// Per SM: cycle in which it last changed from empty to occupied, and cycles of earlier occupied
/// periods.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    since: Vec<Option<u64>>,
    before: Vec<u64>,
}

impl Occupancy {
    pub(super) fn new(sms: usize) -> Self {
        Occupancy { since: vec![None; sms], before: vec![0; sms] }
    }

    /// Sets whether `sm` holds TBs from cycle `from` on.
    pub(super) fn set(&mut self, sm: usize, from: u64, holds: bool) {
        match self.since[sm] {
            None if holds => self.since[sm] = Some(from),
            Some(since) if !holds => {
                self.before[sm] += from.saturating_sub(since);
                self.since[sm] = None;
            }
            _ => {}
        }
    }

    /// Number of cycles before `now` in which `sm` held a TB.
    pub(super) fn cycles(&self, sm: usize, now: u64) -> u64 {
        self.before[sm] + self.since[sm].map_or(0, |since| now.saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_add_up() {
        let mut occupancy = Occupancy::new(1);
        for (from, holds) in [(10, true), (15, true), (20, false), (20, false), (30, true)] {
            occupancy.set(0, from, holds);
        }
        assert_eq!([5, 12, 30, 34].map(|now| occupancy.cycles(0, now)), [10, 10, 10, 14]);
        occupancy.set(0, 31, false);
        assert_eq!(occupancy.cycles(0, 99), 11);
    }
}
