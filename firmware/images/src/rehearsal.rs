//! Register block without a GPU, which plays a fixed script: two kernels are launched on three SMs,
//! profiled, and completed.
//!
//! It serves an image on a board that has only the processor, and the same run on the host. Both
//! must behave alike. It models only as much hardware as the script needs; the GPU model has all of
//! it.

use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, global, interrupt, slot, slot_control, slot_status, sm};

/// Mask of the SMs, three.
const ALL_SMS: u32 = 0b111;

/// Number of kernels of the script.
const KERNELS: u32 = 2;
/// Mask of the slots of the script's kernels.
const ALL_SLOTS: u32 = 0b11;

/// Event, cycle, and for COMPLETED the slots, of each act: the launches, the end of their batch,
/// all SMs at their partitions, all windows over, and the kernels' ends.
const SCRIPT: [(u32, u32, u32); 6] = [
    (interrupt::LAUNCH, 0, 0),
    (interrupt::TIMER, COALESCE, 0),
    (interrupt::PARTITION, 200, 0),
    (interrupt::PROFILE_DONE, 200 + WINDOW, 0),
    (interrupt::COMPLETED, 5_000, 0b01),
    (interrupt::COMPLETED, 9_000, 0b10),
];

/// Number of acts of the script.
pub const ACTS: usize = SCRIPT.len();

/// Profiling window in cycles. Assumption: any value works.
const WINDOW: u32 = 1_000;

/// Cycles for which launches are collected. Assumption: any value works.
const COALESCE: u32 = 10;

/// Command to the rehearsing image (`src/bin/rehearsal`): the block plays its next act.
pub const ACT: u8 = b'a';
/// Command to the rehearsing image: send the logs.
pub const LOG: u8 = b'l';
/// Command to the rehearsing image: keep the interrupt line high from now on.
pub const HANG: u8 = b'h';
/// First byte from the image if it finds no crash record.
pub const FRESH: u8 = b'f';
/// First byte from the image if it finds a crash record, which follows.
pub const CRASHED: u8 = b'b';

/// Scripted register block.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    acts: usize,
    status: u32,
    cycle: u32,
    launches: u32,
    /// Occupied slots, and those with a completed kernel, one bit each.
    occupied: u32,
    completed: u32,
}

impl Rehearsal {
    /// Creates the block before its first act, without pending events.
    #[must_use]
    pub const fn new() -> Self {
        Self { acts: 0, status: 0, cycle: 0, launches: 0, occupied: 0, completed: 0 }
    }

    /// Plays the next act by raising its event. After the script it does nothing.
    pub fn play(&mut self) {
        if let Some(&(event, cycle, completed)) = SCRIPT.get(self.acts) {
            self.acts = self.acts.saturating_add(1);
            (self.status, self.cycle) = (event, cycle);
            self.completed |= completed;
            if event == interrupt::LAUNCH {
                (self.launches, self.occupied) = (KERNELS, ALL_SLOTS);
            }
        }
    }

    /// Returns a register of an SM: every SM ran for the whole window, and later SMs have more
    /// instructions.
    fn read_sm(index: u32, register: u32) -> u32 {
        if register == Counter::Cycles.register() {
            WINDOW
        } else if register == Counter::ThreadInsts.register() {
            index.saturating_add(1).saturating_mul(100_000)
        } else {
            0
        }
    }

    /// Returns a register of a slot: a kernel of many TBs of 256 threads.
    fn read_slot(&self, index: u32, register: u32) -> u32 {
        let among = |slots: u32| slots.checked_shr(index).unwrap_or(0) & 1 != 0;
        match register {
            slot::STATUS if among(self.completed) => slot_status::OCCUPIED | slot_status::DRAINED | slot_status::COMPLETED,
            slot::STATUS if among(self.occupied) => slot_status::OCCUPIED,
            slot::TB_THREADS => 256,
            slot::GRID_TBS | slot::UNFINISHED_TBS => 100_000,
            _ => 0,
        }
    }
}

impl Bus for Rehearsal {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            global::ID => ID_VALUE,
            global::VERSION => VERSION_VALUE,
            global::SM_COUNT => ALL_SMS.count_ones(),
            global::SLOT_COUNT => KERNELS,
            global::SM_THREADS => 1024,
            global::SM_REGISTERS => 65_536,
            global::SM_TBS | global::WARP_THREADS => 32,
            global::STRAP_POLICY => PolicyCode::MiasIpc as u32,
            global::STRAP_PROFILE_WINDOW => WINDOW,
            global::STRAP_COALESCE_WINDOW => COALESCE,
            global::CYCLE_LOW => self.cycle,
            global::INT_STATUS | global::INT_PENDING => self.status,
            global::COMPLETED => self.completed,
            global::LAUNCH_COUNT => self.launches,
            global::LAUNCH_SLOT => KERNELS.saturating_sub(self.launches),
            global::PARTITION | global::PROFILE_DONE => ALL_SMS,
            _ if offset >= sm::BASE => Self::read_sm((offset - sm::BASE) / sm::STRIDE, offset % sm::STRIDE),
            _ if offset >= slot::BASE => self.read_slot((offset - slot::BASE) / slot::STRIDE, offset % slot::STRIDE),
            _ => 0,
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        match offset {
            global::INT_STATUS => self.status &= !value,
            global::LAUNCH_POP => self.launches = self.launches.saturating_sub(1),
            _ if value == slot_control::RELEASE => {
                for index in 0..KERNELS {
                    if offset == slot::at(index as usize, slot::CONTROL) {
                        self.occupied &= !(1 << index);
                        self.completed &= !(1 << index);
                    }
                }
            }
            _ => {}
        }
    }
}
