//! A register block of plain memory with the few effects that the firmware relies on, and synthetic
//! counts of its SMs. The driver runs on it as on the target, with the policy that its straps
//! select.

use mias_firmware::kernel::Kernel;
use mias_firmware::resources::{Resources, TbShape};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{ID_VALUE, MAP_END, MAX_SMS, PhaseCode, PolicyCode, VERSION_VALUE, global, interrupt, slot, sm, sm_bit};

pub(crate) const WINDOW: u32 = 1_000;
const COALESCE: u32 = 100;

/// An SM of the thesis' GPU (Nasef 2023, table 4.1).
pub(crate) const SM: Resources = Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 };

pub(crate) const fn shape(threads: u32) -> TbShape {
    TbShape { threads, thread_registers: 16, shared_bytes: 0 }
}

/// Counts of an SM in a window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Thread instructions of each kernel, in launch order; warp instructions are a 32nd.
    pub(crate) instructions: [u32; 4],
    pub(crate) stalls: u32,
    pub(crate) load_requests: u32,
    pub(crate) l2_accesses: u32,
    pub(crate) l2_hits: u32,
    pub(crate) outstanding_misses: u32,
}

struct Block(Vec<u32>);

impl Block {
    fn word(&mut self, offset: u32) -> &mut u32 {
        &mut self.0[offset as usize / 4]
    }
}

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        *self.word(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        match offset {
            global::INT_STATUS | global::COMPLETED | global::DRAINED => *self.word(offset) &= !value,
            _ if (global::ARM..global::DISARM).contains(&offset) => *self.word(offset) |= value,
            _ if (global::DISARM..global::PARTITION).contains(&offset) => *self.word(offset - global::DISARM + global::ARM) &= !value,
            _ if (global::PARTITION..global::PROFILE_DONE + 32).contains(&offset) => *self.word(offset) &= !value,
            global::FAULT_SET => *self.word(global::FAULT) |= value,
            global::LAUNCH_POP => *self.word(global::LAUNCH_COUNT) -= 1,
            _ if (global::QUOTA_ALL..global::QUOTA_ALL + 32).contains(&offset) => {
                (0..MAX_SMS).for_each(|sm| *self.word(sm::at(sm, sm::QUOTA + offset - global::QUOTA_ALL)) = value);
            }
            _ if (global::QUOTA_SOME..global::QUOTA_SOME + 32).contains(&offset) => {
                for sm in 0..MAX_SMS {
                    let (word, bit) = sm_bit(sm);
                    if *self.word(global::QUOTA_SMS + 4 * word as u32) & bit != 0 {
                        *self.word(sm::at(sm, sm::QUOTA + offset - global::QUOTA_SOME)) = value;
                    }
                }
            }
            _ => *self.word(offset) = value,
        }
    }
}

pub(crate) struct World {
    block: Block,
    pub(crate) firmware: Firmware<AnyPolicy, 64>,
    sms: usize,
    /// Slot of each kernel.
    slots: Vec<u32>,
}

impl World {
    /// Launches kernels of many TBs together under a policy; `set` may change registers before the
    /// start.
    pub(crate) fn new(policy: PolicyCode, sms: usize, kernels: &[TbShape], set: &[(u32, u32)]) -> Self {
        let mut block = Block(vec![0; MAP_END as usize / 4]);
        for (offset, value) in [
            (global::ID, ID_VALUE),
            (global::VERSION, VERSION_VALUE),
            (global::SM_COUNT, sms as u32),
            (global::SLOT_COUNT, 8),
            (global::SM_THREADS, SM.threads),
            (global::SM_REGISTERS, SM.registers),
            (global::SM_SHARED_BYTES, SM.shared_bytes),
            (global::SM_TBS, SM.tbs),
            (global::WARP_THREADS, 32),
            (global::REGISTER_GRANULE, 4),
            (global::SHARED_GRANULE_BYTES, 1),
            (global::SM_SCHEDULERS, 4),
            (global::REPLY_SECTORS, 10 << 16),
            (global::DRAM_SECTORS, 8 << 16),
            (global::STRAP_POLICY, policy as u32),
            (global::STRAP_PROFILE_WINDOW, WINDOW),
            (global::STRAP_COALESCE_WINDOW, COALESCE),
            (global::STRAP_LOSS_THRESHOLD, 1_200),
        ]
        .iter()
        .chain(set)
        {
            *block.word(*offset) = *value;
        }
        let firmware = Firmware::from_straps(&mut block).expect("map and policy are known");
        // Slots in descending order, so that components and slots differ.
        let slots = (0..kernels.len() as u32).map(|kernel| 5 - kernel).collect();
        let mut world = Self { block, firmware, sms, slots };
        for (number, shape) in kernels.iter().enumerate() {
            let slot = world.slots[number];
            for (register, value) in [
                (slot::GRID_TBS, 1_000_000),
                (slot::UNFINISHED_TBS, 1_000_000),
                (slot::TB_THREADS, shape.threads),
                (slot::THREAD_REGISTERS, shape.thread_registers),
                (slot::TB_SHARED_BYTES, shape.shared_bytes),
            ] {
                *world.block.word(slot::at(slot as usize, register)) = value;
            }
            (*world.block.word(global::LAUNCH_COUNT), *world.block.word(global::LAUNCH_SLOT)) = (1, slot);
            world.interrupt(interrupt::LAUNCH);
        }
        *world.block.word(global::CYCLE_LOW) = COALESCE;
        world.interrupt(interrupt::TIMER);
        world
    }

    fn interrupt(&mut self, status: u32) {
        *self.block.word(global::INT_STATUS) = status;
        self.firmware.on_interrupt(&mut self.block);
    }

    pub(crate) fn phase(&self) -> PhaseCode {
        self.firmware.scheduler().phase().code()
    }

    pub(crate) fn faults(&mut self) -> u32 {
        *self.block.word(global::FAULT)
    }

    pub(crate) fn kernels(&self) -> &[Kernel] {
        self.firmware.scheduler().kernels()
    }

    /// Returns the quotas of each kernel on an SM.
    pub(crate) fn quotas(&mut self, sm: usize) -> Vec<u32> {
        let slots = self.slots.clone();
        slots.iter().map(|slot| *self.block.word(sm::at(sm, sm::QUOTA + 4 * slot))).collect()
    }

    /// Returns the quotas that all SMs share.
    pub(crate) fn shared(&mut self) -> Vec<u32> {
        let first = self.quotas(0);
        (1..self.sms).for_each(|sm| assert_eq!(self.quotas(sm), first, "SM {sm}"));
        first
    }

    /// Returns whether each SM has one kernel, assigned in turn.
    pub(crate) fn is_spatial(&mut self) -> bool {
        let kernels = self.slots.len();
        (0..self.sms).all(|sm| self.quotas(sm).iter().enumerate().all(|(kernel, tbs)| (*tbs != 0) == (kernel == sm % kernels)))
    }

    /// Runs one round's windows; `count` returns the counts of an SM with these quotas.
    pub(crate) fn profile(&mut self, count: impl Fn(usize, &[u32]) -> Counts) {
        assert_eq!(self.phase(), PhaseCode::Transition);
        self.raise_partition();
        for sm in 0..self.sms {
            let counts = count(sm, &self.quotas(sm));
            let sum: u32 = counts.instructions.iter().sum();
            for (counter, value) in [
                (Counter::Cycles, WINDOW),
                (Counter::IssueCycles, WINDOW / 2),
                (Counter::MemoryStallCycles, counts.stalls),
                (Counter::LoadRequests, counts.load_requests),
                (Counter::WarpInsts, sum / 32),
                (Counter::ThreadInsts, sum),
                (Counter::L2Accesses, counts.l2_accesses),
                (Counter::L2Hits, counts.l2_hits),
                (Counter::OutstandingMisses, counts.outstanding_misses),
            ] {
                *self.block.word(sm::at(sm, counter.register())) = value;
            }
            for (slot, instructions) in self.slots.clone().into_iter().zip(counts.instructions) {
                *self.block.word(sm::at(sm, sm::SLOT_THREAD_INSTS + 4 * slot)) = instructions;
                *self.block.word(sm::at(sm, sm::SLOT_WARP_INSTS + 4 * slot)) = instructions / 32;
            }
        }
        self.end_windows(|_| true);
    }

    /// Runs one round's windows with arbitrary values in all counters, and only some of the SMs
    /// done in time.
    pub(crate) fn profile_anything(&mut self, done: impl Fn(usize) -> bool, mut value: impl FnMut(usize) -> u32) {
        self.raise_partition();
        for sm in 0..self.sms {
            for register in (sm::COUNTERS..sm::QUOTA).step_by(4) {
                *self.block.word(sm::at(sm, register)) = value(sm);
            }
        }
        self.end_windows(done);
        if let Some(at) = self.firmware.scheduler().phase().deadline() {
            (*self.block.word(global::CYCLE_LOW), *self.block.word(global::CYCLE_HIGH)) = (at as u32, (at >> 32) as u32);
            self.interrupt(interrupt::TIMER);
        }
    }

    fn raise_partition(&mut self) {
        (0..self.sms).for_each(|sm| *self.block.word(global::PARTITION + sm as u32 / 32 * 4) |= 1 << (sm % 32));
        self.interrupt(interrupt::PARTITION);
    }

    fn end_windows(&mut self, done: impl Fn(usize) -> bool) {
        for sm in (0..self.sms).filter(|sm| done(*sm)) {
            let (word, bit) = (sm as u32 / 32 * 4, 1 << (sm % 32));
            *self.block.word(global::ARM + word) &= !bit;
            *self.block.word(global::PROFILE_DONE + word) |= bit;
        }
        self.interrupt(interrupt::PROFILE_DONE);
    }
}
