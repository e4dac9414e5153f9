//! Code around the driver over mocks: strobe, time stamps, delay, watchdog and crash record.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use embedded_hal::digital::{ErrorType, OutputPin};
use embedded_hal_mock::eh1::delay::{CheckedDelay, Transaction as Delayed};
use embedded_hal_mock::eh1::digital::{Mock as Pin, State, Transaction as Pinned};
use mias_firmware::Firmware;
use mias_firmware::crash_record::{CrashRecord, EVENTS, MAGIC};
use mias_firmware::driver::{Observer, Strobe};
use mias_firmware::policy::ShippedPolicy;
use mias_firmware::scheduler::Event;
use mias_firmware::service::{await_block, serve};
use mias_firmware::sm_set::SmWord;
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, PhaseCode, PolicyCode, VERSION_VALUE, fault, global, interrupt, option, slot, slot_control, sm};

const SMS: u32 = 3;

/// Two kernels of 256-thread TBs on three SMs: three configurations. Registers keep written values,
/// except for interrupts.
#[derive(Default)]
struct Block {
    registers: BTreeMap<u32, u32>,
    writes: Vec<(u32, u32)>,
    /// Interrupts still to come.
    script: Vec<(u32, u32)>,
    /// Cycles between a commit of quotas and the next read of the clock.
    commit_cycles: u32,
    /// Log of effects, to check their order.
    order: Order,
}

/// Effects at the block and at the pin, without repetitions.
type Order = Rc<RefCell<Vec<&'static str>>>;

fn note(order: &Order, what: &'static str) {
    let mut order = order.borrow_mut();
    if order.last() != Some(&what) {
        order.push(what);
    }
}

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        if offset == global::INT_PENDING {
            return u32::from(!self.script.is_empty());
        }
        if offset == global::INT_STATUS && !self.script.is_empty() {
            let (status, cycle) = self.script.remove(0);
            self.registers.insert(global::CYCLE_LOW, cycle);
            let all = (1 << self.registers[&global::SM_COUNT]) - 1;
            for (event, register) in [(interrupt::PARTITION, global::PARTITION), (interrupt::PROFILE_DONE, global::PROFILE_DONE)] {
                self.registers.insert(register, if status & event == 0 { 0 } else { all });
            }
            if status & interrupt::PROFILE_DONE != 0 {
                self.registers.insert(global::ARM, 0);
            }
            return status;
        }
        if offset >= sm::BASE {
            note(&self.order, "counters");
        }
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.writes.push((offset, value));
        match offset {
            global::QUOTA_ALL.. => note(&self.order, "quotas"),
            global::PHASE => note(&self.order, PhaseCode::from_code(value).expect("a phase").name()),
            _ => {}
        }
        match offset {
            global::COMMIT => {
                let clock = self.registers.entry(global::CYCLE_LOW).or_default();
                *clock = clock.wrapping_add(self.commit_cycles);
            }
            global::LAUNCH_POP => {
                *self.registers.entry(global::LAUNCH_COUNT).or_default() -= 1;
                self.registers.insert(global::LAUNCH_SLOT, 1);
            }
            _ => drop(self.registers.insert(offset, value)),
        }
    }
}

/// A pin that records its edges.
struct Edges(Order);

impl ErrorType for Edges {
    type Error = Infallible;
}

impl OutputPin for Edges {
    fn set_low(&mut self) -> Result<(), Infallible> {
        note(&self.0, "low");
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        note(&self.0, "high");
        Ok(())
    }
}

fn block() -> Block {
    let mut block = Block::default();
    block.registers.extend([
        (global::ID, ID_VALUE),
        (global::VERSION, VERSION_VALUE),
        (global::SM_COUNT, SMS),
        (global::SLOT_COUNT, 2),
        (global::SM_THREADS, 1024),
        (global::SM_REGISTERS, 65_536),
        (global::SM_TBS, 32),
        (global::WARP_THREADS, 32),
        (global::STRAP_POLICY, PolicyCode::MiasIpc as u32),
        (global::STRAP_PROFILE_WINDOW, 1000),
        (global::STRAP_COALESCE_WINDOW, 1),
        (global::LAUNCH_COUNT, 2),
    ]);
    for index in 0..2 {
        block
            .registers
            .extend([(slot::GRID_TBS, 1000), (slot::TB_THREADS, 256), (slot::UNFINISHED_TBS, 1000)].map(|(r, v)| (slot::at(index, r), v)));
    }
    for index in 0..SMS {
        block.registers.extend([(sm::COUNTERS, 1000), (sm::COUNTERS + 20, 100 * (index + 1))].map(|(r, v)| (sm::at(index as usize, r), v)));
    }
    // Launches, the end of their batch, all SMs at their partitions, all windows over.
    block.script = vec![(interrupt::LAUNCH, 0), (interrupt::TIMER, 1), (interrupt::PARTITION, 2), (interrupt::PROFILE_DONE, 1002)];
    block
}

#[test]
fn the_strobe_is_high_while_a_decision_is_made_and_the_watchdog_guards_the_work() {
    let mut block = block();
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).expect("the block is known");
    block.writes.clear();
    let mut pin = Pin::new(&[Pinned::set(State::High), Pinned::set(State::Low)]);
    let mut crash_record = CrashRecord::EMPTY;
    serve(&mut firmware, &mut block, &mut (Strobe(pin.clone()), &mut crash_record), 5000);
    pin.done();
    assert_eq!(firmware.scheduler().phase().code(), PhaseCode::Steady);
    // The third SM had the most instructions, so the third configuration wins.
    assert_eq!(firmware.report().winner().map(|vector| vector.0), Some([3, 1, 0, 0]));
    assert_eq!(block.writes.first(), Some(&(global::WATCHDOG_PERIOD, 5000)), "on, and fed, before anything else");
    assert_eq!(block.writes.last(), Some(&(global::WATCHDOG_PERIOD, 0)), "off for the sleep");
    assert_eq!(block.writes.iter().filter(|(offset, _)| *offset == global::WATCHDOG_PERIOD).count(), 2);
    // Two launches, timer, partition, profile done, counters read, broadcast done: code, slot or
    // word, cycle.
    let expected = [0x1, 0x101, 0x1_0006, 0x2_0004, 1002 << 16 | 5, 1002 << 16 | 7, 1002 << 16 | 8, 0];
    assert_eq!((crash_record.count, crash_record.events), (7, expected));
}

/// Runs the script, and returns the effects in order and the final registers.
fn rehearse(mut block: Block) -> (Vec<&'static str>, Block) {
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).expect("the block is known");
    let order = Rc::clone(&block.order);
    order.borrow_mut().clear();
    serve(&mut firmware, &mut block, &mut Strobe(Edges(Rc::clone(&order))), 5000);
    assert!(block.script.is_empty());
    (order.take(), block)
}

#[test]
fn the_strobe_rises_before_the_first_counter_is_read_and_falls_before_the_first_quota_is_written() {
    let (order, _) = rehearse(block());
    let profiled = ["partition", "quotas", "transition", "profile"];
    let decided = ["high", "counters", "decide", "low", "quotas", "broadcast", "steady"];
    assert_eq!(order, [&profiled[..], &decided].concat());
}

#[test]
fn the_strobe_falls_also_when_nothing_was_measured() {
    // No SM is ready when the time-out of two windows expires, so no counter is read.
    let mut block = block();
    block.script[3] = (interrupt::TIMER, 2 + 2 * 1000);
    let (order, block) = rehearse(block);
    assert_eq!(order[4..], ["high", "decide", "low", "quotas", "broadcast", "steady"]);
    assert_eq!(block.registers[&global::FAULT_SET], fault::NO_SAMPLES);
}

#[test]
fn the_strobe_marks_each_round() {
    // Three configurations on two SMs: two rounds.
    let mut block = block();
    block.registers.insert(global::SM_COUNT, 2);
    block.script.extend([(interrupt::PARTITION, 1003), (interrupt::PROFILE_DONE, 2003)]);
    let (order, _) = rehearse(block);
    let second_round = ["high", "counters", "decide", "low", "quotas", "transition", "profile"];
    let decided = ["high", "counters", "decide", "low", "quotas", "broadcast", "steady"];
    assert_eq!(order[4..], [second_round, decided].concat());
}

#[test]
fn no_strobe_and_no_time_stamp_without_a_decision() {
    let mut block = block();
    block.registers.insert(global::STRAP_POLICY, PolicyCode::LeftOver as u32);
    block.script.truncate(2);
    let (order, block) = rehearse(block);
    assert_eq!(order, ["partition", "quotas", "broadcast", "steady"]);
    assert!(!block.writes.iter().any(|(offset, _)| [global::DECISION_BEGIN, global::DECISION_CYCLES].contains(offset)));
}

#[test]
fn the_time_stamps_span_the_end_of_the_windows_and_the_quotas_in_effect() {
    // The low word of the clock overflows during the decision.
    let mut block = block();
    let late = u32::MAX - 20;
    block.commit_cycles = 77;
    block.script[3].1 = late;
    let (_, block) = rehearse(block);
    assert_eq!((block.registers[&global::DECISION_BEGIN], block.registers[&global::DECISION_CYCLES]), (late, 77));
    let stamped = block.writes.iter().position(|(offset, _)| *offset == global::DECISION_CYCLES);
    let commit = block.writes.iter().rposition(|(offset, _)| *offset == global::COMMIT);
    assert!(stamped > commit, "{stamped:?} {commit:?}");
}

#[test]
fn a_crash_record_keeps_the_last_events() {
    let mut crash_record = CrashRecord::EMPTY;
    for word in 0..11 {
        crash_record.event(&Event::PartitionReached(SmWord { word, bits: 1 }), word.into());
    }
    assert_eq!(crash_record.count, 11);
    let place = |n: u32| n << 16 | n << 8 | 4;
    assert_eq!(crash_record.events, [8, 9, 10, 3, 4, 5, 6, 7].map(place));
    assert_eq!(EVENTS, 8);
    crash_record.close(3, 0x1234);
    assert_eq!((crash_record.magic, crash_record.cause, crash_record.address), (MAGIC, 3, 0x1234));
    // Words in this order without padding, because the host reads it as memory.
    assert_eq!(size_of::<CrashRecord>(), 4 * (4 + EVENTS));
}

/// The block with a watchdog that counts accesses. After the script, its line stays high without an
/// event, or launches follow that no SM can run.
struct Watched {
    block: Block,
    now: u64,
    fed: u64,
    period: u32,
    /// Whether the watchdog has expired. The line goes low then, so that the test ends.
    expired: bool,
    /// Status that the block shows for ever, if the line is stuck.
    stuck: Option<u32>,
    launches: u32,
}

impl Watched {
    fn new(block: Block, stuck: Option<u32>, launches: u32) -> Self {
        Watched { block, now: 0, fed: 0, period: 0, expired: false, stuck, launches }
    }

    fn tick(&mut self) {
        self.now += 1;
        assert!(self.now < 10_000_000, "the watchdog never expires");
        self.expired |= self.period != 0 && self.now - self.fed > u64::from(self.period);
    }
}

impl Bus for Watched {
    fn read32(&mut self, offset: u32) -> u32 {
        self.tick();
        match offset {
            global::INT_PENDING if self.block.script.is_empty() => u32::from(self.launches > 0 || self.stuck.is_some() && !self.expired),
            global::INT_STATUS if self.block.script.is_empty() && self.launches > 0 => {
                self.launches -= 1;
                let launch = [(global::LAUNCH_COUNT, 1), (global::LAUNCH_SLOT, 0), (slot::at(0, slot::GRID_TBS), 0)];
                self.block.registers.extend(launch);
                interrupt::LAUNCH
            }
            global::INT_STATUS if self.block.script.is_empty() => {
                self.block.registers.extend([(global::PARTITION, 0), (global::PROFILE_DONE, 0)]);
                self.stuck.unwrap_or(0)
            }
            _ => self.block.read32(offset),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.tick();
        match offset {
            global::WATCHDOG_PERIOD => (self.period, self.fed) = (value, self.now),
            global::WATCHDOG_FEED => self.fed = self.now,
            _ => {}
        }
        self.block.write32(offset, value);
    }
}

/// Accesses after which the test's watchdog expires: more than those of any event.
const PERIOD: u32 = 1000;

#[test]
fn a_line_that_stays_high_without_an_event_expires_the_watchdog_in_every_phase() {
    let mut phases = Vec::new();
    for (events, status) in (0..=4).flat_map(|events| [(events, 0), (events, interrupt::TIMER)]) {
        let mut block = block();
        block.script.truncate(events);
        if events == 0 {
            block.registers.insert(global::LAUNCH_COUNT, 0);
        }
        let mut watched = Watched::new(block, Some(status), 0);
        let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut watched).expect("the block is known");
        serve(&mut firmware, &mut watched, &mut (), PERIOD);
        assert!(watched.expired, "after {events} events, status {status:#x}");
        phases.push(firmware.scheduler().phase().code());
    }
    phases.dedup();
    assert_eq!(phases, [PhaseCode::Idle, PhaseCode::Partition, PhaseCode::Transition, PhaseCode::Profile, PhaseCode::Steady]);
}

#[test]
fn a_line_that_is_kept_busy_by_events_does_not_expire_the_watchdog() {
    const LAUNCHES: u32 = 10_000;
    let mut block = block();
    block.script.clear();
    block.registers.insert(global::LAUNCH_COUNT, 0);
    let mut watched = Watched::new(block, None, LAUNCHES);
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut watched).expect("the block is known");
    serve(&mut firmware, &mut watched, &mut (), PERIOD);
    let rejected = watched.block.writes.iter().filter(|write| **write == (slot::at(0, slot::CONTROL), slot_control::REJECT)).count();
    assert_eq!((rejected, watched.expired), (LAUNCHES as usize, false));
    assert!(watched.now > 10 * u64::from(PERIOD), "the work takes {} accesses", watched.now);
}

#[test]
fn a_status_bit_of_a_newer_block_loses_no_event() {
    let newer = 1 << 31;
    assert_eq!(interrupt::ALL & newer, 0);
    let mut block = block();
    block.script.iter_mut().for_each(|(status, _)| *status |= newer);
    let (order, block) = rehearse(block);
    assert_eq!(order.last(), Some(&"steady"));
    assert!(!block.registers.contains_key(&global::FAULT_SET));
    assert!(block.writes.iter().all(|(offset, value)| *offset != global::INT_STATUS || value & newer == 0), "its owner clears it");
}

/// A configuration is marked if a counter of any of its SMs saturated: here SMs 0 and 3 of six,
/// which both run the first of three configurations.
#[test]
fn saturation_of_any_sm_marks_its_configuration() {
    let mut block = block();
    block.registers.extend([(global::SM_COUNT, 6), (global::STRAP_OPTIONS, option::READ_ALL_COUNTERS)]);
    block.registers.extend([0, 3].map(|index| (sm::at(index, sm::SATURATED), 1)));
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).expect("the block is known");
    serve(&mut firmware, &mut block, &mut (), PERIOD);
    let marked: Vec<bool> = firmware.report().tried().map(|tried| tried.entry.sums.saturated).collect();
    assert_eq!(marked, [true, false, false]);
}

/// Records the cycles of events.
struct Cycles(Vec<u64>);

impl Observer for Cycles {
    fn event(&mut self, _: &Event, now: u64) {
        self.0.push(now);
    }
}

#[test]
fn the_cycle_counter_has_64_bits() {
    let mut block = block();
    block.registers.insert(global::CYCLE_HIGH, 5);
    block.script = vec![(interrupt::LAUNCH, u32::MAX - 2)];
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).expect("the block is known");
    let mut cycles = Cycles(Vec::new());
    serve(&mut firmware, &mut block, &mut cycles, PERIOD);
    assert_eq!(cycles.0, [0x5_FFFF_FFFD; 2]);
    // The end of the batch is beyond 2^32.
    let timer = [global::TIMER_LOW, global::TIMER_HIGH].map(|register| block.registers[&register]);
    assert_eq!(timer, [u32::MAX - 1, 5]);
}

/// A block that returns its ID from a list.
struct Waking(Vec<u32>);

impl Bus for Waking {
    fn read32(&mut self, offset: u32) -> u32 {
        assert_eq!(offset, global::ID);
        self.0.remove(0)
    }

    fn write32(&mut self, offset: u32, _: u32) {
        panic!("write of {offset:#x}");
    }
}

#[test]
fn a_block_is_waited_for_with_pauses_and_not_for_ever() {
    let pauses = |count| CheckedDelay::new(&vec![Delayed::delay_ns(500); count]);
    for (answers, expected, waited) in [(vec![ID_VALUE], true, 0), (vec![0, u32::MAX, ID_VALUE], true, 2), (vec![0; 4], false, 3)] {
        let mut delay = pauses(waited);
        assert_eq!(await_block(&mut Waking(answers), &mut delay, 500, 4), Ok(expected));
        delay.done();
    }
}
