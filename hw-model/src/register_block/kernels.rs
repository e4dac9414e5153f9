//! Chip-wide counters of kernels, latched on the firmware's command.
//!
//! Registers: [`mias_registers::global::KERNEL_SNAPSHOT`]; Zhao et al. 2018, section 4.1.2;
//! sources.md D143.

use mias_registers::{KERNEL_COUNT_BITS, KERNEL_SLOTS, global};

use super::RegisterBlock;
use super::access::element;

/// Number of counts of a kernel.
const COUNTS: usize = 10;

/// Cumulative counts of a slot since the start of the simulation, over all kernels that held it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawKernel {
    /// Number of warp instructions issued.
    pub warp_insts: u64,
    /// Number of thread instructions issued.
    pub thread_insts: u64,
    /// Number of L2 accesses.
    pub l2_accesses: u64,
    /// Number of L2 hits.
    pub l2_hits: u64,
    /// Number of DRAM reads.
    pub dram_reads: u64,
    /// Number of DRAM writes.
    pub dram_writes: u64,
    /// Number of DRAM accesses that hit an open row.
    pub row_hits: u64,
    /// Number of TBs that ended.
    pub ended_tbs: u64,
    /// Number of L1 accesses.
    pub l1_accesses: u64,
    /// Number of L1 misses.
    pub l1_misses: u64,
}

impl RawKernel {
    /// Counts in the order of the registers.
    fn counts(&self) -> [u64; COUNTS] {
        let RawKernel {
            warp_insts,
            thread_insts,
            l2_accesses,
            l2_hits,
            dram_reads,
            dram_writes,
            row_hits,
            ended_tbs,
            l1_accesses,
            l1_misses,
        } = *self;
        [warp_insts, thread_insts, l2_accesses, l2_hits, dram_reads, dram_writes, row_hits, ended_tbs, l1_accesses, l1_misses]
    }
}

/// Registers of the counts, which follow that of the cycles, with their widths in bits.
const REGISTERS: [(u32, u32); COUNTS] = [
    (global::KERNEL_WARP_INSTS, KERNEL_COUNT_BITS),
    (global::KERNEL_THREAD_INSTS, u32::BITS),
    (global::KERNEL_L2_ACCESSES, KERNEL_COUNT_BITS),
    (global::KERNEL_L2_HITS, KERNEL_COUNT_BITS),
    (global::KERNEL_DRAM_READS, KERNEL_COUNT_BITS),
    (global::KERNEL_DRAM_WRITES, KERNEL_COUNT_BITS),
    (global::KERNEL_ROW_HITS, KERNEL_COUNT_BITS),
    (global::KERNEL_ENDED_TBS, KERNEL_COUNT_BITS),
    (global::KERNEL_L1_ACCESSES, KERNEL_COUNT_BITS),
    (global::KERNEL_L1_MISSES, KERNEL_COUNT_BITS),
];

/// Counters of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bank {
    /// Counts last reported by the model.
    raw: RawKernel,
    /// Counts at the last latch, and its cycle.
    before: RawKernel,
    since: u64,
    cycles: u32,
    latched: [u32; COUNTS],
    saturated: u32,
}

impl Bank {
    fn latch(&mut self, now: u64) {
        let clamp = |value: u64, bits: u32| {
            let most = u64::from(u32::MAX >> (u32::BITS - bits));
            (value.min(most) as u32, u32::from(value > most))
        };
        (self.cycles, self.saturated) = clamp(now.saturating_sub(self.since), u32::BITS);
        let counts = self.raw.counts().into_iter().zip(self.before.counts());
        for (place, ((raw, before), (_, bits))) in counts.zip(REGISTERS).enumerate() {
            let (value, over) = clamp(raw.saturating_sub(before), bits);
            self.latched[place] = value;
            self.saturated |= over << (place + 1);
        }
        (self.before, self.since) = (self.raw, now);
    }
}

/// Counters of all slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelBlock {
    banks: [Bank; KERNEL_SLOTS],
}

impl RegisterBlock {
    /// Stores a slot's cumulative counts. Call it before the firmware runs.
    pub fn load_kernel(&mut self, slot: usize, raw: RawKernel) {
        if let Some(bank) = self.kernels.banks.get_mut(slot) {
            bank.raw = raw;
        }
    }

    /// Restarts a slot's counters in cycle `now`, for a new kernel.
    pub fn kernel_counted_anew(&mut self, slot: usize, now: u64) {
        if let Some(bank) = self.kernels.banks.get_mut(slot) {
            *bank = Bank { raw: bank.raw, before: bank.raw, since: now, ..Bank::default() };
        }
    }

    /// Latches and clears the counters of the slots in the mask.
    pub(super) fn latch_kernels(&mut self, slots: u32) {
        for (slot, bank) in self.kernels.banks.iter_mut().enumerate().take(self.slots.len()) {
            if slots >> slot & 1 != 0 {
                bank.latch(self.now);
            }
        }
    }

    pub(super) fn read_kernels(&self, offset: u32) -> Option<u32> {
        let slots = self.slots.len();
        let banks = &self.kernels.banks;
        if let Some(slot) = element(offset, global::KERNEL_SATURATED, slots) {
            return banks.get(slot).map(|bank| bank.saturated);
        }
        if let Some(slot) = element(offset, global::KERNEL_CYCLES, slots) {
            return banks.get(slot).map(|bank| bank.cycles);
        }
        REGISTERS.iter().enumerate().find_map(|(place, (base, _))| {
            let slot = element(offset, *base, slots)?;
            banks.get(slot).and_then(|bank| bank.latched.get(place)).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::gpu;
    use super::*;
    use mias_registers::bus::Bus;
    use proptest::prelude::*;

    fn raw(counts: [u64; COUNTS]) -> RawKernel {
        let [warp_insts, thread_insts, l2_accesses, l2_hits, dram_reads, dram_writes, row_hits, ended_tbs, l1_accesses, l1_misses] = counts;
        RawKernel { warp_insts, thread_insts, l2_accesses, l2_hits, dram_reads, dram_writes, row_hits, ended_tbs, l1_accesses, l1_misses }
    }

    fn latched(file: &mut RegisterBlock, slot: u32) -> (u32, [u32; COUNTS], u32) {
        let counts = REGISTERS.map(|(base, _)| file.read32(base + 4 * slot));
        (file.read32(global::KERNEL_CYCLES + 4 * slot), counts, file.read32(global::KERNEL_SATURATED + 4 * slot))
    }

    proptest! {
        /// Consecutive windows add up to the total, and a window of one slot affects no other slot.
        #[test]
        fn windows_add_up(steps in prop::collection::vec((1_u64..1000, prop::array::uniform10(0_u64..1 << 20)), 1..20)) {
            let mut file = RegisterBlock::new(gpu());
            let (mut now, mut counts, mut sums) = (0, [0; COUNTS], [0_u64; COUNTS]);
            let mut cycles = 0;
            for (wait, more) in steps {
                now += wait;
                for (count, more) in counts.iter_mut().zip(more) {
                    *count += more;
                }
                file.set_now(now);
                file.load_kernel(2, raw(counts));
                file.write32(global::KERNEL_SNAPSHOT, 1 << 2);
                let (window, found, saturated) = latched(&mut file, 2);
                prop_assert_eq!((u64::from(window), saturated), (wait, 0));
                cycles += u64::from(window);
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum += u64::from(found);
                }
                prop_assert_eq!(latched(&mut file, 1), (0, [0; COUNTS], 0));
            }
            prop_assert_eq!((cycles, sums), (now, counts));
        }
    }

    #[test]
    fn counts_saturate_at_their_widths_and_say_so() {
        let mut file = RegisterBlock::new(gpu());
        file.load_kernel(0, raw([1 << 27, 1 << 27, (1 << 27) - 1, 0, 0, 0, 0, u64::MAX, 5, 1 << 40]));
        file.write32(global::KERNEL_SNAPSHOT, u32::MAX);
        let most = (1 << 27) - 1;
        assert_eq!(latched(&mut file, 0), (0, [most, 1 << 27, most, 0, 0, 0, 0, most, 5, most], 1 << 1 | 1 << 8 | 1 << 10));
        assert_eq!(file.faults(), 0);
    }

    #[test]
    fn a_new_kernel_counts_from_its_launch() {
        let mut file = RegisterBlock::new(gpu());
        file.load_kernel(0, raw([7; COUNTS]));
        file.kernel_counted_anew(0, 100);
        assert_eq!(latched(&mut file, 0), (0, [0; COUNTS], 0));
        file.set_now(130);
        file.load_kernel(0, raw([9; COUNTS]));
        file.write32(global::KERNEL_SNAPSHOT, 1);
        assert_eq!(latched(&mut file, 0), (30, [2; COUNTS], 0));
    }
}
