//! A fake register block with the registers of preemption: writes are kept, commands show as
//! leaving TBs, and launches wait in order.

use std::collections::BTreeMap;

use mias_policies::Firmware;
use mias_policies::extras::WatchesPreemption;
use mias_policies::policy::AnyPolicy;
use mias_policies::preempt::Scheme;
use mias_registers::bus::Bus;
use mias_registers::{
    ID_VALUE, PolicyCode, VERSION_VALUE, feature, global, interrupt, preempt, preempt_command, preempt_tb, slot, slot_control, slot_status,
    sm,
};

/// Resources of an SM.
pub(crate) const REGISTERS: u32 = 4000;
pub(crate) const SHARED: u32 = 4000;
pub(crate) const THREADS: u32 = 1000;
pub(crate) const TBS: usize = 8;

/// Cycles to move a context of 1,000 registers: 4,000 bytes at two bytes per cycle. That is the
/// share of an SM on a one-SM machine with a sixteenth of a sector per cycle.
pub(crate) const CONTEXT: u32 = 2000;

/// A TB in the block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tb {
    pub(crate) slot: u8,
    pub(crate) insts: u32,
    pub(crate) cycles: u32,
    pub(crate) registers: u32,
    pub(crate) shared: u32,
    pub(crate) flushable: bool,
    pub(crate) leaving: u32,
    pub(crate) left: Option<u32>,
}

/// A fake register block, and the firmware on it.
pub(crate) struct FakeRegisterBlock {
    block: Block,
    pub(crate) firmware: Firmware<AnyPolicy, 64>,
    pub(crate) writes: Vec<(u32, u32)>,
    sms: u32,
}

#[derive(Default)]
struct Block {
    registers: BTreeMap<u32, u32>,
    launches: Vec<u32>,
    writes: Vec<(u32, u32)>,
}

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            global::LAUNCH_COUNT => self.launches.len() as u32,
            global::LAUNCH_SLOT => self.launches.first().copied().unwrap_or(0),
            _ => self.registers.get(&offset).copied().unwrap_or(0),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.writes.push((offset, value));
        let sms = global::PREEMPT_WANTED..global::PREEMPT_WANTED + 32;
        match offset {
            global::LAUNCH_POP => drop(self.launches.remove(0)),
            global::INT_STATUS => *self.registers.entry(offset).or_default() &= !value,
            _ if sms.contains(&offset) => *self.registers.entry(offset).or_default() &= !value,
            _ if offset >= preempt::BASE => {
                let of_sm = (offset - preempt::BASE) % preempt::STRIDE;
                if (preempt::COMMAND..preempt::COMMAND + 4 * 32).contains(&of_sm) {
                    let how = value >> preempt_command::TECHNIQUE_SHIFT & 3;
                    *self.registers.entry(offset - preempt::COMMAND + preempt::TB).or_default() |= how << preempt_tb::LEAVING_SHIFT;
                }
                self.registers.insert(offset, value);
            }
            _ => {
                let slots = slot::BASE..slot::BASE + 8 * slot::STRIDE;
                if slots.contains(&offset) && (offset - slot::BASE) % slot::STRIDE == slot::CONTROL {
                    assert!(matches!(value, slot_control::RELEASE | slot_control::REJECT));
                    self.registers.insert(offset - slot::CONTROL + slot::STATUS, 0);
                } else {
                    self.registers.insert(offset, value);
                }
            }
        }
    }
}

impl FakeRegisterBlock {
    /// Creates `sms` SMs of 4,000 registers, 4,000 bytes of shared memory, 1,000 threads and 8 TBs,
    /// with a firmware of this scheme.
    pub(crate) fn new(scheme: Scheme, sms: u32) -> Self {
        Self::strapped(scheme as u32, true, sms)
    }

    /// Creates the block with this strap, on hardware with or without preemption.
    pub(crate) fn strapped(scheme: u32, able: bool, sms: u32) -> Self {
        let mut block = Block::default();
        block.registers.extend([
            (global::ID, ID_VALUE),
            (global::VERSION, VERSION_VALUE),
            (global::FEATURES, if able { feature::PREEMPT } else { 0 }),
            (global::SM_COUNT, sms),
            (global::SLOT_COUNT, 8),
            (global::SM_THREADS, THREADS),
            (global::SM_REGISTERS, REGISTERS),
            (global::SM_SHARED_BYTES, SHARED),
            (global::SM_TBS, TBS as u32),
            (global::WARP_THREADS, 1),
            (global::DRAM_SECTORS, sms << 12),
            (global::STRAP_POLICY, PolicyCode::LeftOver as u32),
            (global::STRAP_PROFILE_WINDOW, 1000),
            (global::STRAP_COALESCE_WINDOW, 100),
            (global::STRAP_PREEMPT, scheme),
        ]);
        let firmware = Firmware::from_straps(&mut block).expect("the map and the policy are known");
        let writes = std::mem::take(&mut block.writes);
        Self { block, firmware, writes, sms }
    }

    /// Restarts the firmware.
    pub(crate) fn restart(&mut self) {
        self.firmware.restart(&mut self.block, self.sms as u16).expect("as before");
    }

    pub(crate) fn set(&mut self, offset: u32, value: u32) {
        self.block.registers.insert(offset, value);
        if (global::SM_THREADS..=global::SM_TBS).contains(&offset) {
            self.restart();
        }
    }

    pub(crate) fn get(&self, offset: u32) -> u32 {
        if offset == global::LAUNCH_COUNT {
            self.block.launches.len() as u32
        } else {
            self.block.registers.get(&offset).copied().unwrap_or(0)
        }
    }

    /// Adds a kernel to a slot without notifying the firmware. Its TBs have these threads,
    /// registers and bytes of shared memory.
    pub(crate) fn kernel(&mut self, slot: usize, priority: u32, threads: u32, registers: u32, shared: u32, unissued: u32) {
        assert!(registers.is_multiple_of(threads), "registers are given by the thread");
        for (register, value) in [
            (slot::STATUS, slot_status::OCCUPIED),
            (slot::GRID_TBS, unissued.max(1)),
            (slot::UNISSUED_TBS, unissued),
            (slot::UNFINISHED_TBS, unissued.max(1)),
            (slot::TB_THREADS, threads),
            (slot::THREAD_REGISTERS, registers / threads),
            (slot::TB_SHARED_BYTES, shared),
            (slot::PRIORITY, priority),
        ] {
            self.set(slot::at(slot, register), value);
        }
    }

    /// Returns the positions of the kernel in a slot.
    pub(crate) fn positions(&self, slot: usize) -> u32 {
        let field = |register| self.get(slot::at(slot, register));
        let limit = |all: u32, each: u32| all.checked_div(each).unwrap_or(u32::MAX);
        limit(THREADS, field(slot::TB_THREADS))
            .min(limit(REGISTERS, field(slot::TB_THREADS) * field(slot::THREAD_REGISTERS)))
            .min(limit(SHARED, field(slot::TB_SHARED_BYTES)))
            .min(TBS as u32)
    }

    /// Adds a TB to a place.
    pub(crate) fn tb(&mut self, sm: usize, place: usize, tb: Tb) {
        let state = preempt_tb::LIVE
            | if tb.flushable { preempt_tb::FLUSH } else { 0 }
            | u32::from(tb.slot) << preempt_tb::SLOT_SHIFT
            | tb.leaving << preempt_tb::LEAVING_SHIFT;
        for (register, value) in [
            (preempt::TB, state),
            (preempt::TB_INSTS, tb.insts),
            (preempt::TB_CYCLES, tb.cycles),
            (preempt::TB_REGISTERS, tb.registers),
            (preempt::TB_SHARED, tb.shared),
            (preempt::TB_LEFT, tb.left.unwrap_or(preempt::UNKNOWN)),
        ] {
            self.set(preempt::at(sm, register + 4 * place as u32), value);
        }
    }

    /// Adds ended TBs of a kernel on an SM: instructions and cycles of each.
    pub(crate) fn ended(&mut self, sm: usize, slot: usize, tbs: &[(u32, u32)]) {
        let cpi = || tbs.iter().map(|(insts, cycles)| 16 * cycles / insts);
        for (register, value) in [
            (preempt::ENDED_TBS, tbs.len() as u32),
            (preempt::ENDED_INSTS, tbs.iter().map(|tb| tb.0).sum()),
            (preempt::ENDED_CYCLES, tbs.iter().map(|tb| tb.1).sum()),
            (preempt::ENDED_CPI, cpi().sum()),
            (preempt::ENDED_CPI_SQUARES, cpi().map(|cpi| cpi * cpi).sum()),
        ] {
            self.set(preempt::at(sm, register + 4 * slot as u32), value);
        }
    }

    /// Sets the resident TBs of a kernel on an SM, and its quota.
    pub(crate) fn quota(&mut self, sm: usize, slot: usize, resident: u32, quota: u32) {
        self.set(sm::at(sm, sm::RESIDENT + 4 * slot as u32), resident);
        self.set(sm::at(sm, sm::ACTIVE_QUOTA + 4 * slot as u32), quota);
    }

    /// Lets an SM request space for `count` more TBs of the kernel in a slot.
    pub(crate) fn wants(&mut self, sm: usize, slot: u32, count: u32) {
        self.set(preempt::at(sm, preempt::WANTED), (slot + 1) | count << 8);
        let word = global::PREEMPT_WANTED + 4 * (sm as u32 / 32);
        self.set(word, self.get(word) | 1 << (sm % 32));
    }

    /// Launches the kernel in a slot.
    pub(crate) fn launch(&mut self, slot: u32) {
        self.block.launches.push(slot);
    }

    /// Completes the kernel in a slot.
    pub(crate) fn complete(&mut self, slot: usize) {
        self.set(slot::at(slot, slot::STATUS), slot_status::OCCUPIED | slot_status::DRAINED | slot_status::COMPLETED);
    }

    /// Raises events and calls the firmware.
    pub(crate) fn interrupt(&mut self, events: u32) {
        self.interrupt_watched(events, &mut ());
    }

    fn interrupt_watched(&mut self, events: u32, observer: &mut impl WatchesPreemption) {
        self.set(global::INT_STATUS, events);
        let Ok(()) = self.firmware.on_interrupt_watched(&mut self.block, observer);
        self.writes.append(&mut self.block.writes);
    }

    /// Lets the firmware serve the SMs that request space.
    pub(crate) fn serve(&mut self) {
        self.interrupt(interrupt::PREEMPT);
    }

    pub(crate) fn serve_watched(&mut self, observer: &mut impl WatchesPreemption) {
        self.interrupt_watched(interrupt::PREEMPT, observer);
    }

    /// Returns the commands on an SM since writes were cleared: place, technique and estimate.
    pub(crate) fn commands(&self, sm: usize) -> Vec<(usize, u32, u32)> {
        let first = preempt::at(sm, preempt::COMMAND);
        let mut commands: Vec<_> = (self.writes.iter())
            .filter(|(offset, _)| (first..first + 4 * 32).contains(offset))
            .map(|(offset, value)| {
                ((offset - first) as usize / 4, value >> preempt_command::TECHNIQUE_SHIFT & 3, value >> preempt_command::ESTIMATE_SHIFT)
            })
            .collect();
        commands.sort_unstable();
        commands
    }

    /// Returns the kernel with reservations on an SM, and its positions.
    pub(crate) fn reserved(&self, sm: usize) -> (u32, u64) {
        let field = |register| self.get(preempt::at(sm, register));
        (field(preempt::RESERVED_SLOT), u64::from(field(preempt::RESERVED_HIGH)) << 32 | u64::from(field(preempt::RESERVED_LOW)))
    }

    /// Returns the raised faults.
    pub(crate) fn faults(&self) -> u32 {
        self.writes.iter().filter(|(offset, _)| *offset == global::FAULT_SET).fold(0, |faults, (_, value)| faults | value)
    }
}

/// Creates a block with four TBs of 1,000 registers, of a kernel whose TBs take 1,000 instructions
/// of one cycle. TB `n` has executed `done[n]`.
pub(crate) fn four(scheme: Scheme, done: [u32; 4]) -> FakeRegisterBlock {
    let mut register_block = FakeRegisterBlock::new(scheme, 1);
    register_block.kernel(0, 0, 50, 1000, 0, 100);
    register_block.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
    for (place, insts) in done.into_iter().enumerate() {
        register_block.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, flushable: true, ..Tb::default() });
    }
    register_block
}

/// Adds a kernel of priority 1 whose TBs take 2,000 registers, so that two of the four TBs block
/// each position.
pub(crate) fn urgent_beside(mut register_block: FakeRegisterBlock, unissued: u32, limit: u32) -> FakeRegisterBlock {
    register_block.kernel(1, 1, 50, 2000, 0, unissued);
    register_block.set(slot::at(1, slot::LATENCY_LIMIT), limit);
    register_block
}
