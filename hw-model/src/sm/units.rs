//! Initiation intervals: which execution units of an SM may not take an instruction yet.
//!
//! One bit per unit and sub-core, as in the operand stage; a ring of cycles says which bits fall when, so that a busy unit
//! costs nothing until then.

/// The units of an SM.
#[derive(Clone, Debug)]
pub(super) struct Units {
    busy: u64,
    /// By cycle, the units that are free from it on.
    releases: Vec<u64>,
    mask: u64,
    /// Releases before this cycle have been seen.
    seen: u64,
    /// The last cycle with a release.
    last: u64,
}

impl Units {
    /// Units whose longest initiation interval is `longest` cycles.
    pub(super) fn new(longest: u32) -> Self {
        let cycles = (longest as usize + 1).next_power_of_two();
        Units { busy: 0, releases: vec![0; cycles], mask: cycles as u64 - 1, seen: 0, last: 0 }
    }

    /// Units that may not take an instruction.
    pub(super) fn busy(&self) -> u64 {
        self.busy
    }

    /// Frees the units whose interval is over in cycle `now`. Cycles may have been left out.
    pub(super) fn release(&mut self, now: u64) {
        for cycle in self.seen..=now.min(self.last) {
            let slot = &mut self.releases[(cycle & self.mask) as usize];
            self.busy &= !*slot;
            *slot = 0;
        }
        self.seen = now + 1;
    }

    /// Unit `bit` takes an instruction in cycle `now` and the next one `interval` cycles later.
    pub(super) fn take(&mut self, bit: u32, now: u64, interval: u32) {
        let free = now + u64::from(interval);
        self.busy |= 1 << bit;
        self.releases[(free & self.mask) as usize] |= 1 << bit;
        self.last = self.last.max(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_free_after_its_interval_even_if_nobody_looked() {
        for look_at in [vec![10, 11, 12, 13], vec![10, 13], vec![10, 12], vec![10, 200]] {
            let mut units = Units::new(5);
            for &now in &look_at {
                units.release(now);
                let free = now >= 12;
                if now == 10 {
                    units.take(3, now, 2);
                    units.take(4, now, 5);
                } else {
                    assert_eq!(units.busy() >> 3 & 1 == 0, free, "cycle {now}");
                    assert_eq!(units.busy() >> 4 & 1 == 0, now >= 15, "cycle {now}");
                }
            }
        }
    }
}
