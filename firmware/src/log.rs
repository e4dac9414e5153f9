//! Scheduler logs for [defmt](https://defmt.ferrous-systems.com): phases, decisions with all
//! scores, faults.
//!
//! The log is an [`Observer`]. The image decides where the bytes go
//! (`images/src/bin/common/log.rs`), and their text stays in its ELF file. A score is logged as its
//! two integers, because the target has no division.

use crate::driver::Observer;
use crate::policy::Policy;
use crate::scheduler::{Event, Report};
use mias_registers::PhaseCode;

/// Observer that writes defmt logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log {
    /// Cycle of the last event.
    now: u64,
}

impl Log {
    /// A log before the first event.
    pub const NEW: Self = Self { now: 0 };
}

impl Observer for Log {
    fn event(&mut self, _: &Event, now: u64) {
        self.now = now;
    }

    fn phase(&mut self, phase: PhaseCode) {
        defmt::info!("{=u64}: {}", self.now, phase);
    }

    fn fault(&mut self, faults: u32) {
        defmt::warn!("{=u64}: fault {=u32:#x}", self.now, faults);
    }

    fn bus_failed(&mut self, register: u32) {
        defmt::error!("{=u64}: the bus failed at register {=u32:#x}", self.now, register);
    }

    fn decision<P: Policy, const C: usize>(&mut self, report: &Report<'_, P, C>) {
        for tried in report.tried() {
            let [a, b, c, d] = tried.entry.vector.0;
            match tried.score {
                Some(score) => {
                    let (numerator, denominator) = (score.numerator.to_u128(), score.denominator.to_u128());
                    defmt::info!("{=u64}: {=u8}-{=u8}-{=u8}-{=u8} scores {=u128} / {=u128}", self.now, a, b, c, d, numerator, denominator);
                }
                None => defmt::info!("{=u64}: {=u8}-{=u8}-{=u8}-{=u8} has no sample", self.now, a, b, c, d),
            }
        }
        if let Some(vector) = report.winner() {
            let [a, b, c, d] = vector.0;
            defmt::info!("{=u64}: {=u8}-{=u8}-{=u8}-{=u8} is chosen", self.now, a, b, c, d);
        }
    }
}
