//! Utilization of the chip's parts (Lin et al. 2018, section 4.1; sources.md D165).
//!
//! The parts are the schedulers, the data ports of the L1s, both directions of the crossbar, the
//! data ports of the L2's slices, and DRAM. The crossbar is compared to its sustainable rate.

use crate::config::GpuConfig;
use crate::counts::{Count, counts};
use crate::gpu::Gpu;
use crate::register_block::Peak;
use crate::sm::KERNEL_SLOTS;
use mias_registers::CONTEXT_COUNTS;

counts! {
    /// Activity counts of the chip's parts, each summed over the whole chip.
    pub struct Traffic {
        /// Number of warp instructions issued.
        pub insts: u64,
        /// Number of L1 hits: each occupies a bank's data port for a cycle.
        pub l1_hits: u64,
        /// Number of flits to the L2.
        pub request_flits: u64,
        /// Number of flits to the SMs.
        pub reply_flits: u64,
        /// Number of L2 look-ups that hit.
        pub l2_hits: u64,
        /// Number of sectors that DRAM moved.
        pub dram_sectors: u64,
    }
}

/// Ratio of a count to its maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    used: u128,
    of: u128,
}

impl Share {
    /// Creates the ratio of `used` to `of`.
    #[must_use]
    pub fn of(used: u64, of: u64) -> Self {
        Share { used: used.into(), of: of.into() }
    }

    /// True if the ratio is above this percentage.
    #[must_use]
    pub fn exceeds(self, percent: u32) -> bool {
        100 * self.used > u128::from(percent) * self.of
    }

    /// True if the ratio is below this percentage.
    #[must_use]
    pub fn is_below(self, percent: u32) -> bool {
        100 * self.used < u128::from(percent) * self.of
    }

    /// Ratio in per mille, rounded down; 0 for a maximum of 0.
    #[must_use]
    pub fn permille(self) -> u32 {
        u32::try_from((1_000 * self.used).checked_div(self.of).unwrap_or(0)).unwrap_or(u32::MAX)
    }
}

/// Utilization of the chip's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utilization {
    /// Schedulers that issued.
    pub scheduler: Share,
    /// Data ports of the L1s.
    pub l1: Share,
    /// Crossbar to the L2, relative to its sustainable rate.
    pub requests: Share,
    /// Crossbar to the SMs, relative to its sustainable rate.
    pub replies: Share,
    /// Data ports of the L2.
    pub l2: Share,
    /// Data bus of DRAM.
    pub dram: Share,
}

impl Utilization {
    /// Computes the utilization of a chip with these counts in a number of core cycles.
    /// `sustained_permille` is the sustainable part of the crossbar's peak.
    pub(in crate::gpu) fn new(config: &GpuConfig, counted: &Traffic, cycles: u64, sustained_permille: u32) -> Self {
        let [scheduler, l1, requests, replies, l2, dram] = peaks(config, sustained_permille);
        let share = |used: u64, peak: Peak| Share {
            used: u128::from(used) * u128::from(peak.cycles),
            of: u128::from(cycles) * u128::from(peak.most),
        };
        Utilization {
            scheduler: share(counted.insts, scheduler),
            l1: share(counted.l1_hits, l1),
            requests: share(counted.request_flits, requests),
            replies: share(counted.reply_flits, replies),
            l2: share(counted.l2_hits, l2),
            dram: share(counted.dram_sectors, dram),
        }
    }
}

impl Traffic {
    /// Counts in the order of [`peaks`], which is that of the registers
    /// ([`mias_registers::global::CONTEXT_INSTS`] and the following ones).
    pub(super) fn counts(&self) -> [u64; CONTEXT_COUNTS] {
        let Traffic { insts, l1_hits, request_flits, reply_flits, l2_hits, dram_sectors } = *self;
        [insts, l1_hits, request_flits, reply_flits, l2_hits, dram_sectors]
    }
}

/// Peak rates of a GPU: instructions, L1 hits, flits to the L2 and back, L2 hits and DRAM
/// sectors; flits scaled to the sustainable part of the crossbar's peak, per mille.
pub(in crate::gpu) fn peaks(config: &GpuConfig, sustained_permille: u32) -> [Peak; CONTEXT_COUNTS] {
    let (sms, slices) = (u64::from(config.sm.count), u64::from(config.dram.channels) * u64::from(config.l2.slices_per_channel));
    let clocks = &config.clocks;
    let (core, net, l2) = (u64::from(clocks.core_khz), u64::from(clocks.interconnect_khz), u64::from(clocks.l2_khz));
    let crossbar = Peak { most: net * sms.min(slices) * u64::from(sustained_permille), cycles: core * 1_000 };
    let port_cycles = u64::from(config.l2.sector_bytes.div_ceil(config.l2.port_bytes));
    let (sectors, per_cycles) = config.dram_sectors();
    [
        Peak { most: sms * u64::from(config.sm.sub_cores), cycles: 1 },
        Peak { most: sms * u64::from(config.l1.banks), cycles: 1 },
        crossbar,
        crossbar,
        Peak { most: l2 * slices, cycles: port_cycles * core },
        Peak { most: sectors, cycles: per_cycles },
    ]
}

impl Gpu {
    /// Counts up to now.
    pub(super) fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for slot in 0..KERNEL_SLOTS {
            let served = self.memory.counters(slot as u8);
            traffic.add(&Traffic {
                insts: 0,
                l1_hits: 0,
                request_flits: served.request_packets,
                reply_flits: served.reply_packets,
                l2_hits: served.l2_hits(),
                dram_sectors: served.dram_reads + served.dram_writes,
            });
            for kernel in self.sms.iter().map(|sm| sm.kernel_counters(slot)) {
                traffic.insts += kernel.warp_insts;
                traffic.l1_hits += kernel.l1_hits;
            }
        }
        traffic
    }

    /// Utilization of the chip's parts since the first cycle.
    pub fn utilization(&self) -> Utilization {
        let sustained =
            self.config.sm.oversubscription.map_or(crate::config::SUSTAINED_PERMILLE, |oversubscription| oversubscription.sustained());
        Utilization::new(&self.config, &self.traffic(), self.now, sustained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu_config() -> GpuConfig {
        toml::from_str(mias_gpus::text("lin18").expect("it is built in")).expect("it is valid")
    }

    /// Peak rates equal those of Lin et al. 2018, table 1.
    ///
    /// 16 x 4 schedulers; 16 x 4 banks of L1s of a sector; 16 ports of the crossbar at 1.2 times
    /// the core's clock, of which 60 % can be sustained; 16 slices of a sector a cycle at the same
    /// clock; and 307.2 GB/s, which are 9.6 sectors a cycle.
    #[test]
    fn peaks_are_the_gpus() {
        let counted = Traffic {
            insts: 64 * 1_000,
            l1_hits: 64 * 500,
            request_flits: 16 * 1_200 * 6 / 10,
            reply_flits: 16 * 1_200 * 3 / 10,
            l2_hits: 16 * 120,
            dram_sectors: 4_800,
        };
        let busy = Utilization::new(&gpu_config(), &counted, 1_000, 600);
        let permille = [busy.scheduler, busy.l1, busy.requests, busy.replies, busy.l2, busy.dram].map(Share::permille);
        assert_eq!(permille, [1_000, 500, 1_000, 500, 100, 500]);
    }

    #[test]
    fn shares_are_compared_exactly() {
        let half = Share { used: 1, of: 2 };
        assert!(!half.exceeds(50) && !half.is_below(50) && half.exceeds(49) && half.is_below(51));
        let nothing = Share::default();
        assert!(!nothing.exceeds(0) && !nothing.is_below(3) && nothing.permille() == 0);
    }
}
