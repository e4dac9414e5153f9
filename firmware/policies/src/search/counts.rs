//! Counts of a kernel on the whole chip in a window, from the register block.

use super::quotient::quotient;
use mias_registers::bus::{TryBus, read};
use mias_registers::{KERNEL_COUNT_BITS, global};

/// Largest value of most counters of a kernel, at which they saturate.
const MOST: u32 = (1 << KERNEL_COUNT_BITS) - 1;

/// Largest window of a rate: 21 bits of cycles and 32 of instructions, times a thousand, fit 64
/// bits. A window is below 2^17 cycles, and the firmware latches it no later than the duration of
/// its decision.
pub(crate) const MOST_CYCLES: u32 = (1 << 21) - 1;

/// Counters of a kernel in one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Core cycles.
    pub cycles: u32,
    /// Thread or warp instructions, whichever count as instructions.
    pub instructions: u32,
    /// Warp instructions, below 2^27, as are all following counts.
    pub warp_insts: u32,
    /// L2 accesses, of a sector each.
    pub l2_accesses: u32,
    /// L2 hits.
    pub l2_hits: u32,
    /// Sectors that DRAM read or wrote.
    pub dram_sectors: u32,
    /// DRAM accesses with an open row; 0 if not requested.
    pub row_hits: u32,
    /// TBs that have ended.
    pub ended_tbs: u32,
    /// L1 accesses; 0 if not requested.
    pub l1_accesses: u32,
    /// L1 misses; 0 if not requested.
    pub l1_misses: u32,
}

/// Optional counters, in addition to those of every search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Whether warp instructions count as instructions, instead of thread instructions.
    pub warp_ipc: bool,
    /// DRAM accesses with an open row.
    pub row_hits: bool,
    /// Accesses and misses of the L1s.
    pub l1: bool,
}

impl KernelCounts {
    /// Zero counts.
    pub const NONE: Self = Self {
        cycles: 0,
        instructions: 0,
        warp_insts: 0,
        l2_accesses: 0,
        l2_hits: 0,
        dram_sectors: 0,
        row_hits: 0,
        ended_tbs: 0,
        l1_accesses: 0,
        l1_misses: 0,
    };

    /// Reads the latched counters of a slot. Hits and misses are limited to the accesses, for any
    /// content of the block.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B, slot: u8, beside: Beside) -> Result<Self, B::Error> {
        let Beside { warp_ipc, row_hits, l1 } = beside;
        let at = 4 * u32::from(slot);
        let warp_insts = read(bus, global::KERNEL_WARP_INSTS + at)?.min(MOST);
        let instructions = if warp_ipc { warp_insts } else { read(bus, global::KERNEL_THREAD_INSTS + at)? };
        let l2_accesses = read(bus, global::KERNEL_L2_ACCESSES + at)?.min(MOST);
        let l1_accesses = if l1 { read(bus, global::KERNEL_L1_ACCESSES + at)?.min(MOST) } else { 0 };
        let dram_reads = read(bus, global::KERNEL_DRAM_READS + at)?.min(MOST);
        Ok(Self {
            cycles: read(bus, global::KERNEL_CYCLES + at)?,
            instructions,
            warp_insts,
            l2_accesses,
            l2_hits: read(bus, global::KERNEL_L2_HITS + at)?.min(l2_accesses),
            dram_sectors: read(bus, global::KERNEL_DRAM_WRITES + at)?.saturating_add(dram_reads).min(MOST),
            row_hits: if row_hits { read(bus, global::KERNEL_ROW_HITS + at)?.min(MOST) } else { 0 },
            ended_tbs: read(bus, global::KERNEL_ENDED_TBS + at)?,
            l1_accesses,
            l1_misses: if l1 { read(bus, global::KERNEL_L1_MISSES + at)?.min(l1_accesses) } else { 0 },
        })
    }

    /// Returns the IPC of the kernel.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate { instructions: self.instructions, cycles: if self.cycles < MOST_CYCLES { self.cycles } else { MOST_CYCLES } }
    }
}

/// Instructions per cycle as an undivided ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    instructions: u32,
    /// Cycles, below 2^21.
    cycles: u32,
}

impl Rate {
    /// Rate of no instructions in no cycles.
    pub const NONE: Self = Self { instructions: 0, cycles: 0 };

    /// Returns whether the rate is at least `permille` thousandths, 0 to 1000, of another.
    #[must_use]
    pub fn is_at_least(&self, permille: u32, other: &Self) -> bool {
        self.times(other.cycles, 1000) >= other.times(self.cycles, permille.min(1000))
    }

    /// Returns the multiple of `one` that reaches this rate, rounded up: 1 to `most`. If `one` is 0
    /// it is `most`.
    #[must_use]
    pub fn multiple_of(&self, one: &Self, most: u16) -> u16 {
        let (step, goal) = (one.times(self.cycles, 1), self.times(one.cycles, 1));
        let (mut multiple, mut reached) = (1, step);
        while reached < goal && multiple < most {
            // 53 bits each, and at most 256 SMs.
            reached = reached.saturating_add(step);
            multiple += 1;
        }
        multiple
    }

    /// Returns the ratio to another rate, in parts of 2^14; none if the other is 0.
    pub(crate) fn over(&self, other: &Self) -> Option<u32> {
        quotient(self.times(other.cycles, 1), other.times(self.cycles, 1))
    }

    /// Returns the instructions.
    pub(crate) const fn instructions(&self) -> u32 {
        self.instructions
    }

    /// Returns the cycles, below 2^21.
    pub(crate) const fn cycles(&self) -> u32 {
        self.cycles
    }

    /// Returns instructions times cycles, 53 bits, times a number of 10 bits.
    fn times(&self, cycles: u32, number: u32) -> u64 {
        u64::from(self.instructions) * u64::from(cycles.min(MOST_CYCLES)) * u64::from(number)
    }
}
