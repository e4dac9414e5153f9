//! Firmware as the controller of extra TBs: intervals of each kernel, activity of the chip in them,
//! and allowances on the SMs (Lin et al. 2018, section 6.4; sources.md D181).

use super::utilization::{Traffic, peaks};
use crate::config::{ContextsInL1, GpuConfig};
use crate::counts::Count;
use crate::gpu::Gpu;
use crate::register_block::Peak;
use mias_registers::CONTEXT_COUNTS;

/// Peak rates of the counts of a GPU whose firmware controls extra TBs; none for other
/// GPUs.
pub(in crate::gpu) fn peaks_for_firmware(config: &GpuConfig) -> Option<[Peak; CONTEXT_COUNTS]> {
    let oversubscription = config.sm.oversubscription.filter(|oversubscription| oversubscription.is_controlled_by_firmware())?;
    Some(peaks(config, oversubscription.sustained()))
}

/// Intervals of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// First cycle in which the kernel's TBs may issue.
    ready: u64,
    /// End of the interval; never if there is none.
    pub(super) next: u64,
    /// Counts at the start of the interval; none in the first, which is skipped.
    before: Option<Traffic>,
}

impl Intervals {
    /// Creates intervals of this many cycles from cycle `ready` on.
    pub(super) fn new(interval: u32, ready: u64) -> Self {
        let next = if interval == 0 { u64::MAX } else { ready.saturating_add(interval.into()) };
        Intervals { ready, next, before: None }
    }

    /// Ends an interval. Returns its counts, except for the first.
    fn end(&mut self, interval: u32, counted: Traffic) -> Option<Traffic> {
        self.next = self.next.saturating_add(interval.into());
        self.before.replace(counted).map(|before| counted.since(&before))
    }
}

impl Gpu {
    /// Reports finished intervals to the register block before the firmware is called, as of the
    /// start of this cycle.
    pub(in crate::gpu) fn latch_oversubscription(&mut self) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let (interval, asked, now) = (self.registers.context_interval(), self.registers.context_intervals_asked(), self.now);
        let mut watched = oversubscription.kernels.iter_mut().flatten().filter_map(|kernel| kernel.intervals.as_mut());
        if asked != oversubscription.asked {
            oversubscription.asked = asked;
            watched.for_each(|intervals| *intervals = Intervals::new(interval, intervals.ready.max(now)));
            return;
        }
        if watched.all(|intervals| intervals.next > now) {
            return;
        }
        let traffic = self.traffic();
        let Some(oversubscription) = &mut self.oversubscription else { return };
        for (slot, kernel) in oversubscription.kernels.iter_mut().enumerate() {
            let Some(intervals) = kernel.as_mut().and_then(|kernel| kernel.intervals.as_mut()) else { continue };
            if intervals.next <= now
                && let Some(counted) = intervals.end(interval, traffic)
            {
                self.registers.end_context_interval(slot, counted.counts());
            }
        }
    }

    /// Applies the firmware's allowances before a cycle.
    pub(in crate::gpu) fn follow_oversubscription(&mut self) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let written = self.registers.take_context_writes();
        if written == 0 {
            return;
        }
        let always = self.config.sm.oversubscription.is_some_and(|config| config.in_l1 == ContextsInL1::Always);
        for (slot, kernel) in oversubscription.kernels.iter_mut().enumerate() {
            let Some(kernel) = kernel.as_mut().filter(|_| written >> slot & 1 != 0) else { continue };
            let limit = self.registers.context_limit(slot);
            kernel.most_extra = limit.extra;
            for sm in 0..self.sms.len() {
                self.sms[sm].set_most_extra(slot as u8, limit.extra, limit.in_l1 || always, self.now);
                self.sms.wake(sm, self.now);
            }
        }
        self.dispatcher.room_everywhere();
    }
}

#[cfg(test)]
mod tests {
    use super::super::controller::Controller;
    use super::super::utilization::{Share, Utilization};
    use super::*;
    use mias_policies::oversubscription::{Busy, Share as FirmwareShare, decide};
    use mias_registers::{context_allowed, context_bound};
    use proptest::prelude::*;

    /// Counts of an interval and their maxima, near the thresholds and elsewhere.
    fn any_share() -> impl Strategy<Value = (u32, u32)> {
        let near = prop::sample::select(vec![3u32, 50, 60, 70, 80, 90]);
        prop_oneof![
            any::<(u32, u32)>(),
            (0u32..=100, 1u32..1_000).prop_map(|(percent, of)| (percent * of, 100 * of)),
            (near, 1u32..1_000, -1i32..=1).prop_map(|(percent, of, by)| ((percent * of).saturating_add_signed(by), 100 * of)),
            (0u32..50, Just(1_000)),
        ]
    }

    proptest! {
        /// The firmware's rule equals the hardware's: for the same counts, it gives the same extra
        /// TBs, the same use of the L1 and the same class in every interval.
        #[test]
        fn the_firmware_decides_as_the_hardware(
            bound in 0u32..=32,
            needs_l1: bool,
            intervals in prop::collection::vec(prop::array::uniform6(any_share()), 1..40),
            idle in prop::collection::vec(any::<bool>(), 40),
        ) {
            let mut hardware = Controller::new(10_000, bound, needs_l1, 0);
            hardware.look(Traffic::default(), |_, _| unreachable!("the first interval is let pass"));
            let mut word = 0;
            let told = bound | if needs_l1 { context_bound::NEEDS_L1 } else { 0 };
            let mut classes = [0; 3];
            for (shares, idle) in intervals.into_iter().zip(idle) {
                // Random shares make most parts busy, so half of the intervals get low utilization.
                let shares = if idle { shares.map(|(used, of)| (used.min(of / 40), of.max(1))) } else { shares };
                let [scheduler, l1, requests, replies, l2, dram] = shares.map(|(used, of)| Share::of(used.into(), of.into()));
                let allowed = hardware.look(Traffic::default(), |_, _| Utilization { scheduler, l1, requests, replies, l2, dram });
                let busy: Busy = shares.map(|(used, of)| FirmwareShare { used, of });
                word = decide(word, told, &busy);
                classes[(word >> context_allowed::CLASS_SHIFT) as usize - 1] += 1;
                let found = (word & context_allowed::EXTRA, word & context_allowed::IN_L1 != 0);
                prop_assert_eq!(found, (allowed.extra, allowed.in_l1));
                prop_assert_eq!(classes, hardware.decisions);
            }
        }
    }

    /// The counts in the registers equal those of the hardware: six numbers, in the order of their
    /// maxima.
    #[test]
    fn a_lin18_chip_counts_whole_numbers_in_its_interval() {
        let mut gpu: GpuConfig = toml::from_str(mias_gpus::text("lin18").expect("it is built in")).expect("it is valid");
        assert_eq!(peaks_for_firmware(&gpu), None);
        let oversubscription = crate::config::OversubscriptionConfig::of(crate::config::OversubscriptionMechanism::Duet);
        gpu.sm.oversubscription = Some(crate::config::OversubscriptionConfig {
            controller: crate::config::OversubscriptionController::Firmware,
            ..oversubscription
        });
        let most =
            peaks_for_firmware(&gpu).expect("asked for").map(|peak| (10_000 * peak.most / peak.cycles, 10_000 * peak.most % peak.cycles));
        // 64 schedulers, 64 banks; 60 % of 16 flits at 1.2 times the core's clock, in both
        // directions; 16 slices at that clock; 9.6 sectors.
        assert_eq!(most, [(640_000, 0), (640_000, 0), (115_200, 0), (115_200, 0), (192_000, 0), (96_000, 0)]);
    }
}
