//! Register block as plain memory: reads return the stored values, and writes have no other effect.

use core::ptr::addr_of_mut;

use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_registers::bus::{Bus, MappedBus};
use mias_registers::counters::Counter;
use mias_registers::{ID_VALUE, PolicyCode, SM_WORDS, VERSION_VALUE, global, interrupt, preempt, slot, slot_status, sm};

/// Profiling window of the thesis in cycles (Nasef 2023, section 3.2.1).
pub(crate) const WINDOW: u32 = 45_000;

/// An SM of the thesis' machine (Nasef 2023, table 4.1; granules as in configs/gpus/rtx2060.toml).
pub(crate) const SM: SmLimits = SmLimits {
    capacity: Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 },
    warp_threads: 32,
    register_granule: 4,
    shared_granule_bytes: 1,
};

/// Accessed part of the map: the preemption registers of the measured SMs in the build with
/// preemption.
const END: u32 = if cfg!(feature = "preempt") { preempt::BASE + 32 * preempt::STRIDE } else { preempt::BASE };

static mut WORDS: [u32; END as usize / 4] = [0; END as usize / 4];

/// Returns a bus over the register block in plain memory.
///
/// # Safety
/// No two of them are used at a time.
pub(crate) unsafe fn bus() -> MappedBus {
    // SAFETY: WORDS is as long as the accessed part of the map, aligned, and accessed through this
    // bus only.
    unsafe { MappedBus::new(addr_of_mut!(WORDS) as usize) }
}

/// Describes the machine and sets the straps.
pub(crate) fn describe(bus: &mut MappedBus, sms: u16, limits: &SmLimits, policy: PolicyCode, options: u32) {
    for (offset, value) in [
        (global::ID, ID_VALUE),
        (global::VERSION, VERSION_VALUE),
        (global::SM_COUNT, sms.into()),
        (global::SLOT_COUNT, 8),
        (global::SM_THREADS, limits.capacity.threads),
        (global::SM_REGISTERS, limits.capacity.registers),
        (global::SM_SHARED_BYTES, limits.capacity.shared_bytes),
        (global::SM_TBS, limits.capacity.tbs),
        (global::WARP_THREADS, limits.warp_threads),
        (global::REGISTER_GRANULE, limits.register_granule),
        (global::SHARED_GRANULE_BYTES, limits.shared_granule_bytes),
        // A sixteenth of a stall cycle per outstanding miss. Assumption: any value takes the same
        // path.
        (global::LINEAR_COEFFICIENT, 1 << 12),
        // The schedulers of the thesis' machine, and about its bandwidths
        // (configs/gpus/rtx2060.toml).
        (global::SM_SCHEDULERS, 4),
        (global::REPLY_SECTORS, 24 << 16),
        (global::DRAM_SECTORS, 7 << 16),
        (global::STRAP_POLICY, policy as u32),
        (global::STRAP_PROFILE_WINDOW, WINDOW),
        (global::STRAP_COALESCE_WINDOW, 5_000),
        (global::STRAP_OPTIONS, options),
        // A fixed configuration of one TB each.
        (global::STRAP_FIXED, 1),
        (global::STRAP_FIXED + 4, 1),
        (global::STRAP_FIXED + 8, 1),
        (global::STRAP_FIXED + 12, 1),
    ] {
        bus.write32(offset, value);
    }
    for slot in 0..8 {
        bus.write32(slot::at(slot, slot::STATUS), 0);
    }
    set_time(bus, 0);
    quiet(bus);
}

/// Puts a kernel of `tbs` TBs into a slot and its launch at the head of the FIFO.
pub(crate) fn launch(bus: &mut MappedBus, number: u32, shape: &TbShape, tbs: u32) {
    let at = |register| slot::at(number as usize, register);
    for (offset, value) in [
        (at(slot::STATUS), slot_status::OCCUPIED),
        (at(slot::GRID_TBS), tbs),
        (at(slot::TB_THREADS), shape.threads),
        (at(slot::THREAD_REGISTERS), shape.thread_registers),
        (at(slot::TB_SHARED_BYTES), shape.shared_bytes),
        (at(slot::UNFINISHED_TBS), tbs),
        (global::LAUNCH_COUNT, 1),
        (global::LAUNCH_SLOT, number),
        (global::INT_STATUS, interrupt::LAUNCH),
    ] {
        bus.write32(offset, value);
    }
}

/// Sets the cycle counter.
pub(crate) fn set_time(bus: &mut MappedBus, cycle: u32) {
    bus.write32(global::CYCLE_LOW, cycle);
    bus.write32(global::CYCLE_HIGH, 0);
}

/// Lets some SMs reach their partition at once.
pub(crate) fn reach_partition(bus: &mut MappedBus, sms: impl Iterator<Item = u16>) {
    set(bus, sms, global::PARTITION, true);
    raise_global(bus, interrupt::PARTITION);
}

/// Ends the windows of some SMs at once and disarms them.
pub(crate) fn end_windows(bus: &mut MappedBus, sms: impl Iterator<Item = u16> + Clone) {
    set(bus, sms.clone(), global::ARM, false);
    set(bus, sms, global::PROFILE_DONE, true);
    raise_global(bus, interrupt::PROFILE_DONE);
}

/// Sets or clears the bits of some SMs in a bit map.
fn set(bus: &mut MappedBus, sms: impl Iterator<Item = u16>, register: u32, to: bool) {
    for index in sms {
        let (offset, bit) = (register + 4 * u32::from(index / 32), 1 << (index % 32));
        let word = bus.read32(offset);
        bus.write32(offset, if to { word | bit } else { word & !bit });
    }
}

/// Raises events that do not belong to SMs.
pub(crate) fn raise_global(bus: &mut MappedBus, events: u32) {
    let status = bus.read32(global::INT_STATUS);
    bus.write32(global::INT_STATUS, status | events);
}

/// Reports that the kernels of the first `slots` slots are drained.
pub(crate) fn drain(bus: &mut MappedBus, slots: usize) {
    bus.write32(global::DRAINED, (1 << slots) - 1);
    raise_global(bus, interrupt::DRAINED);
}

/// Clears all events, because memory does not clear by itself.
pub(crate) fn quiet(bus: &mut MappedBus) {
    bus.write32(global::INT_STATUS, 0);
    bus.write32(global::LAUNCH_COUNT, 0);
    bus.write32(global::DRAINED, 0);
    for word in 0..SM_WORDS as u32 {
        bus.write32(global::PARTITION + 4 * word, 0);
        bus.write32(global::PROFILE_DONE + 4 * word, 0);
    }
}

/// Pattern of the SMs' counters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Scores rise with the SM, so that every configuration beats the one before it: the longest
    /// path through the choice.
    Rising,
    /// Scores fall with the SM in a first round, so that the first configuration is the best. In
    /// the second round they rise, and all others are checked again.
    Turning,
    /// Scores rise to the middle and fall from there, so that a second round is generated from both
    /// sides of the best.
    Peaked,
    /// Instructions rise with the TBs on the SM without stalls, so that every point of a kernel
    /// alone beats those with fewer TBs.
    ByTbs,
}

/// Latches counters near the end of their range, so that all numbers are as wide as possible, and
/// different on every SM.
///
/// `round` counts from 0. `tbs` returns the TBs of an SM, 64 at most.
pub(crate) fn count(bus: &mut MappedBus, sms: u16, counts: Counts, round: u8, tbs: impl Fn(u16) -> u32) {
    for index in 0..sms {
        let place = match counts {
            Counts::Peaked => (2 * index).min(2 * (sms - index) - 1),
            Counts::Turning if round == 0 => sms - 1 - index,
            Counts::Rising | Counts::Turning | Counts::ByTbs => index,
        };
        let share = u32::from(place) * 32 / u32::from(sms);
        let values = [
            (Counter::Cycles, Counter::Cycles.max()),
            (Counter::IssueCycles, 30_000 + 1_000 * share),
            (Counter::MemoryStallCycles, 99_000 - 1_000 * share),
            (Counter::LoadRequests, Counter::LoadRequests.max() - 1_000 * share),
            (Counter::WarpInsts, Counter::WarpInsts.max() - 31_000 + 1_000 * share),
            (Counter::ThreadInsts, Counter::ThreadInsts.max() - 6_200_000 + 200_000 * share),
            (Counter::OutstandingMisses, Counter::OutstandingMisses.max() - 400_000 * share),
            (Counter::L2Accesses, Counter::L2Accesses.max()),
            (Counter::L2Hits, 10_000 * share),
        ];
        // Each kernel has a quarter of the instructions.
        let quarter = (10_000_000 + 200_000 * share) / 4;
        put_slots(bus, index, quarter);
        for (counter, value) in values {
            bus.write32(sm::at(index.into(), counter.register()), value);
        }
        if counts == Counts::ByTbs {
            let missing = 64_u32.saturating_sub(tbs(index));
            bus.write32(sm::at(index.into(), Counter::MemoryStallCycles.register()), 0);
            for (counter, less) in [(Counter::ThreadInsts, 100_000), (Counter::WarpInsts, 500)] {
                bus.write32(sm::at(index.into(), counter.register()), counter.max() - less * missing);
            }
        }
    }
}

/// Sets the counters of SMs on which no kernel made progress.
pub(crate) fn lose(bus: &mut MappedBus, sms: impl Iterator<Item = u16>) {
    sms.for_each(|index| put_slots(bus, index, 1));
}

/// Sets the instructions of each of four kernels on an SM, the same number by thread and by warp.
fn put_slots(bus: &mut MappedBus, index: u16, instructions: u32) {
    for slot in 0..4 {
        for first in [sm::SLOT_THREAD_INSTS, sm::SLOT_WARP_INSTS] {
            bus.write32(sm::at(index.into(), first + 4 * slot), instructions);
        }
    }
}
