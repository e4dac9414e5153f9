//! A fake register block for searches: SM states, quotas, kernel counters over the whole chip, and
//! time. The test defines the kernels' rates on a number of SMs.

use std::collections::BTreeMap;

use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::Bus;
use mias_registers::{
    ID_VALUE, PhaseCode, PolicyCode, VERSION_VALUE, feature, global, interrupt, slot, slot_control, slot_status, sm, sm_bit, sm_state,
};

pub(crate) const WARM_UP: u32 = 400;
pub(crate) const WINDOW: u32 = 600;
const COALESCE: u32 = 100;

/// A kernel on the chip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kernel {
    /// Thread instructions per cycle on an SM, and the number of SMs at which the rate saturates.
    pub(crate) rate: u32,
    pub(crate) saturates_at: u32,
    /// L2 accesses per thousand warp instructions, without hits.
    pub(crate) apki: u32,
    /// Active warps of a scheduler whose data fit the L1s, so that three of four accesses hit. The
    /// same DRAM bandwidth then serves four times as many accesses.
    pub(crate) fits: u32,
}

/// Content of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    kernel: Kernel,
    since: u64,
    thread_insts: u64,
}

/// Source of arbitrary counters, if the block does not count.
pub(crate) type Liar = Box<dyn FnMut() -> u32>;

pub(crate) struct Block {
    registers: BTreeMap<u32, u32>,
    pub(crate) sms: u32,
    running: BTreeMap<usize, Running>,
    launches: Vec<u32>,
    now: u64,
    pub(crate) liar: Option<Liar>,
    pub(crate) writes: Vec<(u32, u32)>,
}

impl Block {
    fn get(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, offset: u32, value: u32) {
        self.registers.insert(offset, value);
    }

    /// Returns the state of an SM.
    pub(crate) fn state(&self, sm: u32) -> u32 {
        self.get(sm::at(sm as usize, sm::STATE_REQUEST))
    }

    pub(crate) fn quota(&self, sm: u32, slot: usize) -> u32 {
        self.get(sm::at(sm as usize, sm::QUOTA + 4 * slot as u32))
    }

    /// Returns the SMs on which a kernel issues.
    pub(crate) fn active(&self, slot: usize) -> u32 {
        (0..self.sms).filter(|sm| self.state(*sm) == sm_state::ACTIVE && self.quota(*sm, slot) != 0).count() as u32
    }

    /// Returns the SMs that may hold TBs of a kernel.
    pub(crate) fn placed(&self, slot: usize) -> u32 {
        (0..self.sms).filter(|sm| self.quota(*sm, slot) != 0).count() as u32
    }

    /// Returns the limit of a slot's active warps, which is the same on all SMs.
    pub(crate) fn limit(&self, slot: usize) -> u32 {
        self.get(global::ACTIVE_WARPS_ALL + 4 * slot as u32)
    }

    /// Returns the last written value of a register.
    pub(crate) fn register(&self, offset: u32) -> u32 {
        self.get(offset)
    }

    fn latch(&mut self, slot: usize) {
        let limit = self.limit(slot);
        let Some(running) = self.running.get_mut(&slot) else { return };
        let (cycles, threads) = (self.now - running.since, running.thread_insts);
        (running.since, running.thread_insts) = (self.now, 0);
        let warps = threads / 32;
        let accesses = warps * u64::from(running.kernel.apki) / 1000;
        let of_l1 = accesses * if limit != 0 && limit <= running.kernel.fits { 4 } else { 1 };
        let mut values = [cycles, warps, threads, accesses, 0, accesses, 0, 0, 1, of_l1, accesses].map(|value| value as u32);
        if let Some(liar) = &mut self.liar {
            values = values.map(|_| liar());
        }
        for (array, value) in (global::KERNEL_CYCLES..).step_by(32).zip(values) {
            self.set(array + 4 * slot as u32, value);
        }
    }

    fn advance(&mut self, to: u64) {
        let active: Vec<(usize, u32)> = self.running.keys().map(|slot| (*slot, self.active(*slot))).collect();
        for (slot, sms) in active {
            let running = self.running.get_mut(&slot).unwrap();
            let kernel = running.kernel;
            running.thread_insts += u64::from(kernel.rate * sms.min(kernel.saturates_at)) * (to - self.now);
        }
        self.now = to;
        self.set(global::CYCLE_LOW, to as u32);
        self.set(global::CYCLE_HIGH, (to >> 32) as u32);
    }
}

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            global::LAUNCH_COUNT => self.launches.len() as u32,
            global::LAUNCH_SLOT => self.launches.first().copied().unwrap_or(0),
            _ => self.get(offset),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.writes.push((offset, value));
        match offset {
            global::LAUNCH_POP => drop(self.launches.remove(0)),
            global::INT_STATUS => self.set(offset, self.get(offset) & !value),
            global::FAULT_SET => self.set(global::FAULT, self.get(global::FAULT) | value),
            global::KERNEL_SNAPSHOT => (0..8).filter(|slot| value >> slot & 1 != 0).for_each(|slot| self.latch(slot)),
            _ if (global::QUOTA_ALL..global::QUOTA_ALL + 32).contains(&offset) => {
                (0..self.sms as usize).for_each(|sm| self.set(sm::at(sm, sm::QUOTA + offset - global::QUOTA_ALL), value));
            }
            _ if (global::QUOTA_SOME..global::QUOTA_SOME + 32).contains(&offset) => {
                for sm in 0..self.sms as usize {
                    let (word, bit) = sm_bit(sm);
                    if self.get(global::QUOTA_SMS + 4 * word as u32) & bit != 0 {
                        self.set(sm::at(sm, sm::QUOTA + offset - global::QUOTA_SOME), value);
                    }
                }
            }
            _ if (slot::BASE..slot::BASE + 8 * slot::STRIDE).contains(&offset) && (offset - slot::BASE) % slot::STRIDE == slot::CONTROL => {
                assert!(matches!(value, slot_control::RELEASE | slot_control::REJECT));
                let slot = ((offset - slot::BASE) / slot::STRIDE) as usize;
                self.running.remove(&slot);
                self.set(slot::at(slot, slot::STATUS), 0);
            }
            _ => self.set(offset, value),
        }
    }
}

/// A fake register block for searches, and the firmware on it.
pub(crate) struct Chip {
    pub(crate) block: Block,
    pub(crate) firmware: Firmware<AnyPolicy, 64>,
}

impl Chip {
    pub(crate) fn new(policy: PolicyCode, sms: u32, set: &[(u32, u32)]) -> Self {
        let mut block = Block {
            registers: BTreeMap::new(),
            sms,
            running: BTreeMap::new(),
            launches: Vec::new(),
            now: 0,
            liar: None,
            writes: Vec::new(),
        };
        let straps = [
            (global::ID, ID_VALUE),
            (global::VERSION, VERSION_VALUE),
            (global::FEATURES, feature::SM_STATES | feature::POWER_GATING | feature::KERNEL_COUNTERS | feature::ACTIVE_WARPS),
            (global::SM_COUNT, sms),
            (global::SLOT_COUNT, 8),
            (global::SM_THREADS, 1024),
            (global::SM_REGISTERS, 65_536),
            (global::SM_SHARED_BYTES, 65_536),
            (global::SM_TBS, 32),
            (global::WARP_THREADS, 32),
            (global::SM_SCHEDULERS, 2),
            (global::REPLY_SECTORS, 12 << 16),
            (global::L2_SECTORS, 12 << 16),
            (global::DRAM_SECTORS, 8 << 16),
            (global::STRAP_POLICY, policy as u32),
            (global::STRAP_PROFILE_WINDOW, 1000),
            (global::STRAP_COALESCE_WINDOW, COALESCE),
            (global::STRAP_SEARCH_WARM_UP, WARM_UP),
            (global::STRAP_SEARCH_WINDOW, WINDOW),
            (global::STRAP_SEARCH_LOSS, 50),
            (global::STRAP_SEARCH_REACH, 1000),
        ];
        straps.iter().chain(set).for_each(|(offset, value)| block.set(*offset, *value));
        let firmware = Firmware::from_straps(&mut block).expect("the map and the policy are known");
        Self { block, firmware }
    }

    /// Launches a kernel of many TBs of 256 threads, of which four fill an SM, into a slot.
    pub(crate) fn launch(&mut self, slot: usize, kernel: Kernel) {
        for (register, value) in [
            (slot::STATUS, slot_status::OCCUPIED),
            (slot::GRID_TBS, 1_000_000),
            (slot::UNISSUED_TBS, 1_000_000),
            (slot::UNFINISHED_TBS, 1_000_000),
            (slot::TB_THREADS, 256),
            (slot::THREAD_REGISTERS, 16),
        ] {
            self.block.set(slot::at(slot, register), value);
        }
        self.block.set(global::ACTIVE_WARPS_ALL + 4 * slot as u32, 0);
        self.block.running.insert(slot, Running { kernel, since: self.block.now, thread_insts: 0 });
        self.block.launches.push(slot as u32);
        self.interrupt(interrupt::LAUNCH);
    }

    /// Drains or completes a kernel.
    pub(crate) fn end(&mut self, slot: usize, completed: bool) {
        let (status, event) = if completed {
            (slot_status::OCCUPIED | slot_status::DRAINED | slot_status::COMPLETED, interrupt::COMPLETED)
        } else {
            (slot_status::OCCUPIED | slot_status::DRAINED, interrupt::DRAINED)
        };
        self.block.set(slot::at(slot, slot::STATUS), status);
        self.interrupt(event);
    }

    fn interrupt(&mut self, status: u32) {
        self.block.set(global::INT_STATUS, status);
        self.firmware.on_interrupt(&mut self.block);
    }

    pub(crate) fn phase(&self) -> PhaseCode {
        self.firmware.scheduler().phase().code()
    }

    /// Advances time to the firmware's next deadline; returns false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some(deadline) = self.firmware.scheduler().phase().deadline() else { return false };
        self.block.advance(deadline.max(self.block.now));
        self.interrupt(interrupt::TIMER);
        true
    }

    /// Steps until the firmware waits for no deadline, and returns the number of steps.
    pub(crate) fn rest(&mut self) -> u32 {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 1000, "no end");
        }
        steps
    }
}
