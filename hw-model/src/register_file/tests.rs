//! The register block against its own map, against arithmetic, and against a naive reference under random accesses.

use mias_firmware::bus::Bus;
use mias_firmware::counters::Counter;
use mias_firmware::regs::{
    MAP_END, MAX_SLOTS, MAX_WINDOW, PolicyCode, Register, fault, feature, global, interrupt, mode, preempt, slot, slot_control, sm,
    sm_control,
};
use proptest::prelude::*;

use super::{KernelDescriptor, MachineDescription, RawCounters, RegisterFile, Straps};

pub(super) const SMS: usize = 5;

pub(super) fn machine() -> MachineDescription {
    MachineDescription {
        sm_count: SMS as u32,
        slot_count: MAX_SLOTS as u32,
        sm_threads: 1024,
        sm_registers: 65_536,
        sm_shared_bytes: 65_536,
        sm_tbs: 32,
        warp_threads: 32,
        register_granule: 4,
        shared_granule_bytes: 1,
        linear_coefficient_q16: 1234,
        sm_schedulers: 4,
        reply_sectors_q16: 24 << 16,
        dram_sectors_q16: 8 << 16,
        features: feature::IDEAL_TRANSITION,
        straps: Straps::new(PolicyCode::MiasIpc),
    }
}

fn kernel(grid_tbs: u32) -> KernelDescriptor {
    KernelDescriptor { grid_tbs, tb_threads: 256, thread_registers: 20, ..KernelDescriptor::default() }
}

/// Counters of an SM that issues 3 thread instructions per cycle.
fn at(cycle: u64) -> RawCounters {
    RawCounters { cycles: cycle, thread_instructions: 3 * cycle, ..RawCounters::default() }
}

/// Every mapped word of the block, with the register it belongs to.
fn mapped() -> Vec<(u32, &'static Register)> {
    let expand = |base: u32, table: &'static [Register]| {
        table.iter().flat_map(move |register| (0..register.count).map(move |n| (base + register.offset + 4 * n, register)))
    };
    let mut words: Vec<_> = expand(global::BASE, global::REGISTERS).collect();
    (0..MAX_SLOTS).for_each(|index| words.extend(expand(slot::at(index, 0), slot::REGISTERS)));
    (0..SMS).for_each(|index| words.extend(expand(sm::at(index, 0), sm::REGISTERS)));
    words
}

#[test]
fn map_has_no_overlap_and_fits_its_regions() {
    let mut words = mapped();
    words.sort_by_key(|(offset, _)| *offset);
    assert!(words.windows(2).all(|pair| pair[0].0 + 4 <= pair[1].0), "two registers share an offset");
    assert!(global::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= slot::BASE));
    assert!(slot::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= slot::STRIDE));
    assert!(sm::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= sm::STRIDE));
    assert!(slot::BASE + MAX_SLOTS as u32 * slot::STRIDE <= sm::BASE);
}

#[test]
fn every_register_honours_its_access_rule() {
    for (offset, register) in mapped() {
        let mut file = RegisterFile::new(machine());
        file.read32(offset);
        let refused = file.faults() & fault::BAD_ACCESS != 0;
        assert_eq!(refused, !register.access.readable(), "read of {} at {offset:#x}", register.name);

        let mut file = RegisterFile::new(machine());
        file.write32(offset, 1);
        let refused = file.faults() & fault::BAD_ACCESS != 0;
        assert_eq!(refused, !register.access.writable(), "write of {} at {offset:#x}", register.name);
    }
}

#[test]
fn unmapped_offsets_read_zero_and_raise_a_fault() {
    let words: Vec<u32> = mapped().into_iter().map(|(offset, _)| offset).collect();
    for offset in (0..MAP_END + 64).step_by(4).filter(|offset| words.binary_search(offset).is_err() && !words.contains(offset)) {
        let mut file = RegisterFile::new(machine());
        assert_eq!(file.read32(offset), 0, "{offset:#x}");
        assert_eq!(file.faults(), fault::BAD_ACCESS, "{offset:#x}");
    }
    let mut file = RegisterFile::new(machine());
    assert_eq!(file.read32(global::ID + 1), 0);
    assert_eq!(file.faults(), fault::BAD_ACCESS);
}

#[test]
fn cycle_counter_does_not_tear() {
    let mut file = RegisterFile::new(machine());
    file.set_now(0x1_FFFF_FFFF);
    let low = file.read32(global::CYCLE_LOW);
    file.set_now(0x2_0000_0000);
    let high = file.read32(global::CYCLE_HIGH);
    assert_eq!((high, low), (1, 0xFFFF_FFFF));
}

#[test]
fn quotas_take_effect_together_at_commit() {
    let mut file = RegisterFile::new(machine());
    file.write32(global::QUOTA_ALL, 2);
    file.write32(sm::at(3, sm::QUOTA + 4), 1);
    assert_eq!((file.quota(3, 0), file.quota(3, 1)), (0, 0));
    let before = file.generation();
    file.write32(global::COMMIT, 0);
    assert_ne!(file.generation(), before);
    assert_eq!((file.quota(3, 0), file.quota(3, 1), file.quota(0, 0), file.quota(0, 1)), (2, 1, 2, 0));
    file.write32(sm::at(0, sm::QUOTA), 33);
    assert_eq!(file.read32(sm::at(0, sm::QUOTA)), 32);
    assert_eq!(file.faults(), fault::VALUE_RANGE);
}

/// A machine with a kernel of `grid` TBs in slot 0, a quota of 2 everywhere and all SMs armed for `window` cycles.
fn armed(grid: u32, window: u32) -> RegisterFile {
    let mut file = RegisterFile::new(machine());
    assert_eq!(file.post_launch(kernel(grid)), Some(0));
    file.write32(global::PROFILE_WINDOW, window);
    file.write32(global::QUOTA_ALL, 2);
    file.write32(global::COMMIT, 0);
    file.write32(global::ARM, 0x1F);
    file
}

#[test]
fn window_is_exact_and_starts_at_the_partition() {
    let mut file = armed(100, 1000);
    file.tick(10, |_| panic!("no SM has reached its partition"));
    file.set_resident(2, 0, 1);
    file.tick(20, |_| panic!("one TB of two"));
    file.set_resident(2, 0, 2);
    assert!(file.needs_tick(37));
    file.tick(37, |sm| {
        assert_eq!(sm, 2);
        at(37)
    });
    assert_eq!(file.read32(global::PARTITION), 1 << 2);
    assert_eq!(file.next_deadline(), Some(1037));
    // What happens to the partition afterwards does not move the window.
    file.set_resident(2, 0, 1);
    file.tick(500, |_| panic!("nothing starts or ends"));
    assert!(!file.needs_tick(1036) && file.needs_tick(1037));
    file.tick(1037, at_sm(1037));
    assert_eq!(file.read32(global::PROFILE_DONE), 1 << 2);
    assert_eq!(file.read32(global::ARM), 0x1B);
    assert_eq!(file.read32(sm::at(2, Counter::Cycles.register())), 1000);
    assert_eq!(file.read32(sm::at(2, Counter::ThreadInstructions.register())), 3000);
    assert_eq!(file.read32(sm::at(2, sm::SATURATED)), 0);
    assert_eq!(file.next_deadline(), None);
}

fn at_sm(cycle: u64) -> impl FnMut(usize) -> RawCounters {
    move |_| at(cycle)
}

#[test]
fn a_kernel_with_nothing_left_to_issue_does_not_hold_up_the_partition() {
    let mut file = armed(3, 10);
    file.set_resident(0, 0, 2);
    file.set_resident(1, 0, 1);
    file.tick(5, at_sm(5));
    assert_eq!(file.read32(global::PARTITION), 0b00001);
    file.set_unissued(0, 0);
    file.tick(6, at_sm(6));
    assert_eq!(file.read32(global::PARTITION), 0b11111);
    // More than the quota is never the partition.
    let mut file = armed(3, 10);
    file.set_unissued(0, 0);
    (0..SMS).for_each(|sm| file.set_resident(sm, 0, 3));
    file.tick(5, |_| panic!("no SM is at its quota"));
}

#[test]
fn disarming_stops_a_window_without_an_event() {
    let mut file = armed(9, 10);
    file.set_resident(0, 0, 2);
    file.tick(5, at_sm(5));
    file.write32(global::DISARM, 1);
    assert_eq!(file.next_deadline(), None);
    file.tick(50, at_sm(50));
    assert_eq!(file.read32(global::PROFILE_DONE), 0);
}

#[test]
fn counters_saturate_visibly() {
    let mut file = armed(9, MAX_WINDOW);
    file.set_resident(0, 0, 2);
    file.tick(0, |_| RawCounters::default());
    let raw = RawCounters { cycles: u64::from(MAX_WINDOW), misses: 1 << 40, l2_hits: 7, ..RawCounters::default() };
    file.tick(u64::from(MAX_WINDOW), |_| raw);
    assert_eq!(file.read32(sm::at(0, Counter::Misses.register())), Counter::Misses.max());
    assert_eq!(file.read32(sm::at(0, Counter::Cycles.register())), MAX_WINDOW);
    assert_eq!(file.read32(sm::at(0, Counter::L2Hits.register())), 7);
    assert_eq!(file.read32(sm::at(0, sm::SATURATED)), Counter::Misses.bit());
}

/// What a window holds of each slot, latched with the counters: since the window began, and no wider than they are.
#[test]
fn instructions_are_told_apart_by_slot() {
    let mut file = armed(9, 10);
    file.set_resident(0, 0, 2);
    let raw = |factor: u64| RawCounters {
        slot_warps: [factor, 0, 3 * factor, 0, 0, 0, 0, 1 << 40],
        slot_threads: [32 * factor, 0, 96 * factor, 0, 0, 0, 0, 1 << 40],
        ..RawCounters::default()
    };
    file.tick(0, |_| RawCounters::default());
    file.tick(10, |_| raw(7));
    let read = |file: &mut RegisterFile, register| (0..8).map(|slot| file.read32(sm::at(0, register + 4 * slot))).collect::<Vec<_>>();
    assert_eq!(read(&mut file, sm::SLOT_WARP_INSTRUCTIONS), [7, 0, 21, 0, 0, 0, 0, Counter::WarpInstructions.max()]);
    assert_eq!(read(&mut file, sm::SLOT_THREAD_INSTRUCTIONS), [224, 0, 672, 0, 0, 0, 0, Counter::ThreadInstructions.max()]);
    assert_eq!(file.read32(global::FAULT), 0);
}

#[test]
fn snapshot_latches_and_clears_at_one_instant() {
    let mut file = RegisterFile::new(machine());
    file.load_counters(1, at(100));
    file.write32(sm::at(1, sm::CONTROL), sm_control::SNAPSHOT);
    file.load_counters(1, at(130));
    assert_eq!(file.read32(sm::at(1, Counter::Cycles.register())), 100);
    file.write32(sm::at(1, sm::CONTROL), sm_control::SNAPSHOT);
    assert_eq!(file.read32(sm::at(1, Counter::ThreadInstructions.register())), 90);
}

#[test]
fn timer_fires_once_even_when_late() {
    let mut file = RegisterFile::new(machine());
    file.write32(global::INT_ENABLE, interrupt::TIMER);
    file.set_now(1 << 33);
    file.write32(global::TIMER_LOW, 5);
    file.write32(global::TIMER_HIGH, 2);
    assert_eq!(file.next_deadline(), Some((2 << 32) + 5));
    file.tick((2 << 32) + 4, at_sm(0));
    assert!(!file.interrupt_pending());
    file.tick((2 << 32) + 9, at_sm(0));
    assert!(file.interrupt_pending());
    file.write32(global::INT_STATUS, interrupt::TIMER);
    assert!(!file.interrupt_pending() && file.next_deadline().is_none());
}

#[test]
fn watchdog_expires_unless_fed() {
    let mut file = RegisterFile::new(machine());
    file.write32(global::WATCHDOG_PERIOD, 100);
    file.tick(99, at_sm(0));
    file.write32(global::WATCHDOG_FEED, 0);
    file.tick(198, at_sm(0));
    assert!(!file.watchdog_expired());
    file.tick(199, at_sm(0));
    assert!(file.watchdog_expired() && file.faults() == fault::WATCHDOG);
}

#[test]
fn notes_of_the_firmware_are_kept_apart() {
    let mut file = RegisterFile::new(machine());
    let notes = [global::PHASE, global::RESCHEDULINGS, global::DECISION_BEGIN, global::DECISION_CYCLES];
    assert_eq!(notes.map(|offset| file.read32(offset)), [0; 4]);
    for (offset, value) in notes.into_iter().zip(3..) {
        file.write32(offset, value);
    }
    assert_eq!(notes.map(|offset| file.read32(offset)), [3, 4, 5, 6]);
    assert_eq!((file.reschedulings(), file.faults()), (4, 0));
}

#[test]
fn launches_queue_in_order_and_slots_are_released() {
    let mut file = RegisterFile::new(machine());
    let slots: Vec<_> = (0..=MAX_SLOTS).map(|grid| file.post_launch(kernel(grid as u32 + 1))).collect();
    assert_eq!(slots[..MAX_SLOTS], (0..MAX_SLOTS).map(Some).collect::<Vec<_>>());
    assert_eq!((slots[MAX_SLOTS], file.faults()), (None, fault::LAUNCH_OVERRUN));
    for expected in 0..MAX_SLOTS as u32 {
        assert_eq!(file.read32(global::LAUNCH_SLOT), expected);
        file.write32(global::LAUNCH_POP, 0);
    }
    assert_eq!(file.read32(global::LAUNCH_COUNT), 0);
    file.post_completed(3);
    assert_eq!(file.read32(global::COMPLETED), 1 << 3);
    assert!(!file.has_free_slot(), "a completed kernel keeps its slot until the firmware lets go");
    file.write32(slot::at(3, slot::CONTROL), slot_control::RELEASE);
    assert_eq!(file.post_launch(kernel(1)), Some(3));
    file.write32(slot::at(5, slot::CONTROL), slot_control::REJECT);
    assert_eq!((file.take_rejected(), file.take_rejected()), (1 << 5, 0));
}

#[test]
fn modes_and_commands_that_the_hardware_lacks_are_refused() {
    let mut file = RegisterFile::new(MachineDescription { features: 0, ..machine() });
    file.write32(global::MODE, mode::IDEAL);
    assert!(!file.ideal_transition() && file.faults() == fault::VALUE_RANGE);
    file.write32(global::PREEMPT, 1);
    assert!(file.preempt_command().is_none() && file.faults() & fault::UNSUPPORTED != 0);

    let mut file = RegisterFile::new(MachineDescription { features: feature::PREEMPT, ..machine() });
    file.write32(global::PREEMPT, 4 | 2 << preempt::SLOT_SHIFT | 3 << preempt::COUNT_SHIFT);
    assert_eq!(file.preempt_command().map(|command| (command.sm, command.slot, command.tbs)), Some((4, 2, 3)));
    file.post_preempt_done();
    assert_eq!(file.read32(global::INT_STATUS) & interrupt::PREEMPT_DONE, interrupt::PREEMPT_DONE);
    assert_eq!(file.read32(global::PREEMPT), 0);
}

/// One step of a random access sequence.
#[derive(Clone, Debug)]
enum Step {
    Stage { sm: usize, slot: usize, tbs: u8 },
    StageAll { slot: usize, tbs: u8 },
    Commit,
    Resident { sm: usize, slot: usize, tbs: u32 },
    Arm(usize),
    Disarm(usize),
    Clear,
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    // Small ranges, so that quotas and resident TBs meet often.
    let place = (0..SMS, 0..2_usize, 0..2_u8);
    prop_oneof![
        place.clone().prop_map(|(sm, slot, tbs)| Step::Stage { sm, slot, tbs }),
        (0..2_usize, 0..2_u8).prop_map(|(slot, tbs)| Step::StageAll { slot, tbs }),
        Just(Step::Commit),
        place.prop_map(|(sm, slot, tbs)| Step::Resident { sm, slot, tbs: tbs.into() }),
        (0..SMS).prop_map(Step::Arm),
        (0..SMS).prop_map(Step::Disarm),
        Just(Step::Clear),
        (1..40_u64).prop_map(Step::Advance),
    ]
}

/// The same device, written as plainly as possible and stepped cycle by cycle; it knows nothing of deadlines or dirty flags.
#[derive(Default)]
struct Naive {
    staged: [[u32; 2]; SMS],
    active: [[u32; 2]; SMS],
    resident: [[u32; 2]; SMS],
    armed: [bool; SMS],
    started: [Option<u64>; SMS],
    latched: [u64; SMS],
    partition: u32,
    done: u32,
    now: u64,
}

impl Naive {
    fn cycle(&mut self, window: u64) {
        for sm in 0..SMS {
            if self.started[sm].is_some_and(|start| self.now - start == window) {
                self.latched[sm] = window;
                self.started[sm] = None;
                self.armed[sm] = false;
                self.done |= 1 << sm;
            }
            if self.armed[sm] && self.started[sm].is_none() && self.active[sm] == self.resident[sm] {
                self.started[sm] = Some(self.now);
                self.partition |= 1 << sm;
            }
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_the_naive_reference(steps in proptest::collection::vec(step(), 1..200), window in 1..60_u64) {
        let mut file = RegisterFile::new(machine());
        let mut naive = Naive::default();
        file.post_launch(kernel(1000));
        file.post_launch(kernel(1000));
        file.write32(global::PROFILE_WINDOW, window as u32);
        for step in steps {
            match step {
                Step::Stage { sm, slot, tbs } => {
                    file.write32(sm::at(sm, sm::QUOTA + 4 * slot as u32), tbs.into());
                    naive.staged[sm][slot] = tbs.into();
                }
                Step::StageAll { slot, tbs } => {
                    file.write32(global::QUOTA_ALL + 4 * slot as u32, tbs.into());
                    naive.staged.iter_mut().for_each(|quotas| quotas[slot] = tbs.into());
                }
                Step::Commit => {
                    file.write32(global::COMMIT, 1);
                    naive.active = naive.staged;
                }
                Step::Resident { sm, slot, tbs } => {
                    file.set_resident(sm, slot, tbs);
                    naive.resident[sm][slot] = tbs;
                }
                Step::Arm(sm) => {
                    file.write32(global::ARM, 1 << sm);
                    naive.armed[sm] = true;
                }
                Step::Disarm(sm) => {
                    file.write32(sm::at(sm, sm::CONTROL), sm_control::DISARM);
                    naive.armed[sm] = false;
                    naive.started[sm] = None;
                }
                Step::Clear => {
                    file.write32(global::PARTITION, u32::MAX);
                    file.write32(global::PROFILE_DONE, u32::MAX);
                    (naive.partition, naive.done) = (0, 0);
                }
                Step::Advance(cycles) => {
                    for _ in 0..cycles {
                        let now = naive.now;
                        naive.cycle(window);
                        if file.needs_tick(now) {
                            file.tick(now, at_sm(now));
                        }
                        naive.now += 1;
                    }
                }
            }
            prop_assert_eq!(file.read32(global::PARTITION), naive.partition);
            prop_assert_eq!(file.read32(global::PROFILE_DONE), naive.done);
            for sm in 0..SMS {
                prop_assert_eq!(u64::from(file.read32(sm::at(sm, Counter::Cycles.register()))), naive.latched[sm]);
                prop_assert_eq!(file.profiling(sm), naive.started[sm].is_some());
                prop_assert_eq!(file.read32(global::ARM) >> sm & 1 != 0, naive.armed[sm]);
                for slot in 0..2 {
                    prop_assert_eq!(file.quota(sm, slot), naive.active[sm][slot]);
                    prop_assert_eq!(file.read32(sm::at(sm, sm::QUOTA + 4 * slot as u32)), naive.staged[sm][slot]);
                }
            }
        }
    }

    /// Any access by the firmware is answered, and what it reads back as quota never exceeds the SM's TB slots.
    #[test]
    fn survives_any_access(accesses in proptest::collection::vec((any::<bool>(), 0..MAP_END + 4096, any::<u32>()), 1..300)) {
        let mut file = RegisterFile::new(machine());
        file.post_launch(kernel(7));
        for (now, (write, offset, value)) in accesses.into_iter().enumerate() {
            if write {
                file.write32(offset, value);
            } else {
                file.read32(offset);
            }
            file.tick(now as u64, at_sm(now as u64));
            prop_assert!((0..SMS).all(|sm| (0..MAX_SLOTS).all(|slot| file.quota(sm, slot) <= 32)));
        }
    }
}
