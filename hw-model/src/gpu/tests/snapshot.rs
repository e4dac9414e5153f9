//! Snapshots by command on a running GPU are of the cycle in which they are written, even if
//! SMs sleep.

use super::*;
use mias_registers::counters::Counter;
use mias_registers::{sm, sm_control};

/// Firmware with the quotas of a [`Table`], and a snapshot of every SM in each of some cycles.
struct Snapshots {
    table: Table,
    times: Vec<u64>,
    /// Cycle, SM, and latched values of the counters below.
    taken: Vec<(u64, usize, [u32; 4])>,
    /// Cycles from the interrupt until the writes take effect; none: at once.
    held_cycles: Option<u64>,
}

const READ: [Counter; 4] = [Counter::Cycles, Counter::WarpInsts, Counter::L2Accesses, Counter::L2Hits];

impl Snapshots {
    fn read(&mut self, registers: &mut RegisterBlock) {
        for id in 0..registers.gpu().sm_count as usize {
            let values = READ.map(|counter| registers.read32(sm::at(id, counter.register())));
            self.taken.push((registers.now(), id, values));
        }
    }
}

impl Microcontroller for Snapshots {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.table.on_interrupt(registers);
        let now = registers.now();
        if self.times.contains(&now) {
            if self.held_cycles.is_some() {
                registers.time_decisions();
                registers.write32(global::PHASE, mias_registers::PhaseCode::Decide as u32);
            }
            for id in 0..registers.gpu().sm_count as usize {
                registers.write32(sm::at(id, sm::CONTROL), sm_control::SNAPSHOT);
            }
            match self.held_cycles {
                Some(cycles) => registers.finish_decision(now + cycles),
                None => self.read(registers),
            }
        }
        if let Some(next) = self.times.iter().find(|time| **time > now) {
            registers.write32(global::TIMER_LOW, *next as u32);
            registers.write32(global::TIMER_HIGH, 0);
        }
    }
}

/// Run of dependent loads, so that SMs sleep most of the time.
fn run(times: &[u64], held_cycles: Option<u64>, skip: bool, threads: usize) -> (Snapshots, Gpu) {
    let config = config();
    let mut gpu = gpu(&config).with_threads(threads);
    if !skip {
        gpu = gpu.without_skipping();
    }
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let trace = kernel(40, 64, 16, 0, |tb, warp| (0..60).map(|i| (load, u64::from(97 * tb + warp) * 4096 + 128 * i)).collect());
    gpu.launch(once(trace)).expect("fits");
    let mut snapshots = Snapshots { table: Table::fixed(&[4]), times: times.to_vec(), taken: Vec::new(), held_cycles };
    assert_eq!(gpu.run(&mut snapshots, 1_000_000), RunEnd::AllComplete);
    (snapshots, gpu)
}

#[test]
fn a_snapshot_is_of_the_cycle_in_which_it_is_written() {
    // Multiples of a prime, within the counters' range.
    let times: Vec<u64> = (1..12).map(|n| 4_000 + 997 * n).collect();
    let (snapshots, mut gpu) = run(&times, None, true, 1);
    let sms = gpu.config().sm.count as usize;
    assert_eq!(snapshots.taken.len(), times.len() * sms);
    // Each snapshot clears the counters, so each holds the cycles since the previous one.
    for (at, time) in times.iter().enumerate() {
        let before = if at == 0 { 0 } else { times[at - 1] };
        for (_, _, values) in snapshots.taken.iter().filter(|(now, ..)| now == time) {
            assert_eq!(u64::from(values[0]), time - before);
        }
    }
    let sum = |counter: usize| snapshots.taken.iter().map(|(_, _, values)| u64::from(values[counter])).sum::<u64>();
    let stats = gpu.stats();
    assert!(sum(1) > 0 && sum(1) <= stats.launches[0].warp_insts);
    assert!(sum(2) > 0 && sum(3) <= sum(2));
    // The same without sleep, and on several threads.
    for (skip, threads) in [(false, 1), (true, 2), (true, 16)] {
        assert_eq!(run(&times, None, skip, threads).0.taken, snapshots.taken, "{threads} threads");
    }
}

/// A snapshot held by decision time is of the cycle in which the write reaches the block.
#[test]
fn a_held_snapshot_is_of_the_cycle_in_which_it_is_made() {
    let (mut held, mut gpu) = run(&[6_000], Some(500), true, 1);
    held.read(gpu.registers_mut());
    let (direct, _) = run(&[6_500], None, true, 1);
    let values = |of: &Snapshots| of.taken.iter().map(|(_, sm, values)| (*sm, *values)).collect::<Vec<_>>();
    assert_eq!(values(&held), values(&direct));
}
