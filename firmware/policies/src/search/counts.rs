//! What a kernel did on the whole chip in a window, as the register block counts it.

use super::quotient::quotient;
use mias_registers::bus::{TryBus, read};
use mias_registers::{KERNEL_COUNT_BITS, global};

/// Largest value of most of these counters, at which they stay.
const MOST: u32 = (1 << KERNEL_COUNT_BITS) - 1;

/// Largest window that a rate is of: 21 bits of cycles and 32 of instructions, times a thousand, fit 64 bits. A window is below 2^17 cycles, and
/// the firmware latches it no later than its decision takes.
pub(crate) const MOST_CYCLES: u32 = (1 << 21) - 1;

/// The counters of a kernel, of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Core cycles.
    pub cycles: u32,
    /// Thread or warp instructions: what counts as instructions.
    pub instructions: u32,
    /// Warp instructions, below 2^27, as all that follow.
    pub warp_insts: u32,
    /// L2 accesses, of a sector each.
    pub l2_accesses: u32,
    /// Of these, hits.
    pub l2_hits: u32,
    /// Sectors that DRAM read or wrote.
    pub dram_sectors: u32,
    /// Of these, those that found their row open; 0 where it is not asked for.
    pub row_hits: u32,
    /// TBs that have ended.
    pub ended_tbs: u32,
    /// Accesses of the L1s, and misses; 0 where they are not asked for.
    pub l1_accesses: u32,
    /// Of the accesses, misses.
    pub l1_misses: u32,
}

/// What is read of a kernel beside what every search reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Warp instructions count as instructions, and not thread instructions.
    pub warp_ipc: bool,
    /// DRAM accesses that found their row open.
    pub row_hits: bool,
    /// Accesses and misses of the L1s.
    pub l1: bool,
}

impl KernelCounts {
    /// Nothing.
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

    /// Reads what was latched of a slot. Hits and misses are at most as many as accesses, whatever the block shows.
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

    /// Its IPC.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate { instructions: self.instructions, cycles: if self.cycles < MOST_CYCLES { self.cycles } else { MOST_CYCLES } }
    }
}

/// Instructions per cycle, not divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    instructions: u32,
    /// Below 2^21.
    cycles: u32,
}

impl Rate {
    /// None.
    pub const NONE: Self = Self { instructions: 0, cycles: 0 };

    /// Whether it is at least so many thousandths, 0 to 1000, of another.
    #[must_use]
    pub fn is_at_least(&self, permille: u32, other: &Self) -> bool {
        self.times(other.cycles, 1000) >= other.times(self.cycles, permille.min(1000))
    }

    /// How many times `one` it takes to be as fast, rounded up: 1 to `most`. None of what does nothing suffices: `most`.
    #[must_use]
    pub fn multiple_of(&self, one: &Self, most: u16) -> u16 {
        let (step, goal) = (one.times(self.cycles, 1), self.times(one.cycles, 1));
        let (mut multiple, mut reached) = (1, step);
        while reached < goal && multiple < most {
            // Of 53 bits, and at most 256 SMs.
            reached = reached.saturating_add(step);
            multiple += 1;
        }
        multiple
    }

    /// How many times another it is, in parts of 2^14; none of one that is nothing.
    pub(crate) fn over(&self, other: &Self) -> Option<u32> {
        quotient(self.times(other.cycles, 1), other.times(self.cycles, 1))
    }

    /// Its instructions.
    pub(crate) const fn instructions(&self) -> u32 {
        self.instructions
    }

    /// Its cycles, below 2^21.
    pub(crate) const fn cycles(&self) -> u32 {
        self.cycles
    }

    /// Instructions times cycles, 53 bits, times a number of 10.
    fn times(&self, cycles: u32, number: u32) -> u64 {
        u64::from(self.instructions) * u64::from(cycles.min(MOST_CYCLES)) * u64::from(number)
    }
}
