//! A register block without a GPU behind it, which plays a fixed script: two kernels are launched on three SMs, profiled, and
//! completed. For an image on a board that has nothing but the processor, and for the same run on the host: what both do must
//! be the same.
//!
//! It knows as much of the hardware as the script needs. The GPU model has all of it.

use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, global, interrupt, slot, slot_control, slot_status, sm};

/// SMs, as a mask: three.
const ALL_SMS: u32 = 0b111;

/// Kernels of the script.
const KERNELS: u32 = 2;
/// Their slots, as a mask.
const ALL_SLOTS: u32 = 0b11;

/// What is raised, at which cycle, and for COMPLETED by which slots: the launches, the end of their batch, all SMs in place, all
/// windows over, the kernels' ends.
const SCRIPT: [(u32, u32, u32); 6] = [
    (interrupt::LAUNCH, 0, 0),
    (interrupt::TIMER, COALESCE, 0),
    (interrupt::PARTITION, 200, 0),
    (interrupt::PROFILE_DONE, 200 + WINDOW, 0),
    (interrupt::COMPLETED, 5_000, 0b01),
    (interrupt::COMPLETED, 9_000, 0b10),
];

/// Acts of the script.
pub const ACTS: usize = SCRIPT.len();

/// Profiling window, cycles: assumption, any does.
const WINDOW: u32 = 1_000;

/// Cycles for which launches are collected: likewise.
const COALESCE: u32 = 10;

/// Command to the rehearsing image (`src/bin/rehearsal`): the block plays its next act.
pub const ACT: u8 = b'a';
/// Command: send the logs.
pub const LOG: u8 = b'l';
/// Command: the interrupt line never goes low again.
pub const HANG: u8 = b'h';
/// What the image says first when it finds no epitaph.
pub const FRESH: u8 = b'f';
/// What it says first when it finds one, which follows.
pub const BURIED: u8 = b'b';

/// The block.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    acts: usize,
    status: u32,
    cycle: u32,
    launches: u32,
    /// Slots with a kernel, and those of them whose kernel has ended: a bit each.
    occupied: u32,
    completed: u32,
}

impl Rehearsal {
    /// Before the first act; nothing is pending.
    #[must_use]
    pub const fn new() -> Self {
        Self { acts: 0, status: 0, cycle: 0, launches: 0, occupied: 0, completed: 0 }
    }

    /// Plays the next act: raises its event. Nothing once the script is over.
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

    /// Registers of an SM: every SM ran for the whole window, and the later ones had more instructions.
    fn read_sm(index: u32, register: u32) -> u32 {
        if register == Counter::Cycles.register() {
            WINDOW
        } else if register == Counter::ThreadInsts.register() {
            index.saturating_add(1).saturating_mul(100_000)
        } else {
            0
        }
    }

    /// Registers of a slot: a kernel of many TBs of 256 threads.
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
