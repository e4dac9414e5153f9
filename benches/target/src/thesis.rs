//! Plain port of the thesis' decision with `f64` and `Vec` (Nasef 2023, eq. 3.1 to 3.9): the metric
//! of every SM, then the mean per configuration, then the highest. A leaner variant averages the
//! counters first and scores once per configuration.

use alloc::vec::Vec;

use mias_registers::bus::{Bus, MappedBus};
use mias_registers::counters::Counter;
use mias_registers::sm;
use semihosting::println;

use crate::block::Counts;
use crate::measure::Span;
use crate::{block, heap};

/// Coefficient of Linear: as in the register block, `1 << 12` in Q16.16.
const COEFFICIENT: f64 = 0.0625;

/// Counters of an SM.
#[derive(Clone, Copy, Default)]
struct Sample {
    cycles: f64,
    instructions: f64,
    load_requests: f64,
    memory_stall_cycles: f64,
    outstanding: f64,
}

/// Sums over all SMs for equations 3.6 and 3.8.
#[derive(Clone, Copy)]
struct All {
    sms: f64,
    outstanding: f64,
}

type Metric = fn(&Sample, &All) -> f64;

/// Computes IPC of an SM (equation 3.1).
fn ipc(sample: &Sample, _: &All) -> f64 {
    sample.instructions / sample.cycles
}

/// Computes IPM*IPC of an SM (equation 3.2).
fn ipm_ipc(sample: &Sample, _: &All) -> f64 {
    sample.instructions / sample.load_requests * (sample.instructions / sample.cycles)
}

/// Computes Factor of an SM (equations 3.3 to 3.6).
fn factor(sample: &Sample, all: &All) -> f64 {
    let factor = sample.outstanding * all.sms / all.outstanding;
    let adjusted = sample.cycles - sample.memory_stall_cycles + factor * sample.memory_stall_cycles;
    sample.instructions / adjusted
}

/// Computes Linear of an SM (equations 3.7 to 3.9).
fn linear(sample: &Sample, all: &All) -> f64 {
    let change = COEFFICIENT * (sample.outstanding - all.outstanding / all.sms);
    sample.instructions / (sample.cycles + change)
}

/// Reads the counters of one SM that a metric needs.
fn read(bus: &mut MappedBus, index: usize, needed: &[Counter]) -> Sample {
    let mut sample = Sample::default();
    for &counter in needed {
        let value = f64::from(bus.read32(sm::at(index, counter.register())));
        match counter {
            Counter::Cycles => sample.cycles = value,
            Counter::ThreadInsts => sample.instructions = value,
            Counter::LoadRequests => sample.load_requests = value,
            Counter::MemoryStallCycles => sample.memory_stall_cycles = value,
            Counter::OutstandingMisses => sample.outstanding = value,
            _ => {}
        }
    }
    sample
}

fn highest(scores: &[f64]) -> usize {
    let mut best = 0;
    for (index, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = index;
        }
    }
    best
}

/// Computes the metric of every SM, then the mean per configuration.
#[inline(never)]
fn plain(bus: &mut MappedBus, sms: usize, configs: usize, needed: &[Counter], metric: Metric) -> usize {
    let samples: Vec<Sample> = (0..sms).map(|index| read(bus, index, needed)).collect();
    let all = All { sms: sms as f64, outstanding: samples.iter().map(|sample| sample.outstanding).sum() };
    let mut scores: Vec<Vec<f64>> = (0..configs).map(|_| Vec::new()).collect();
    for (index, sample) in samples.iter().enumerate() {
        scores[index % configs].push(metric(sample, &all));
    }
    let means: Vec<f64> = scores.iter().map(|of| of.iter().sum::<f64>() / of.len() as f64).collect();
    highest(&means)
}

/// Computes the mean of the counters per configuration, then the metric.
#[inline(never)]
fn lean(bus: &mut MappedBus, sms: usize, configs: usize, needed: &[Counter], metric: Metric) -> usize {
    let mut sums: Vec<(Sample, f64)> = (0..configs).map(|_| (Sample::default(), 0.0)).collect();
    for index in 0..sms {
        let sample = read(bus, index, needed);
        let (sum, count) = &mut sums[index % configs];
        for (to, value) in [
            (&mut sum.cycles, sample.cycles),
            (&mut sum.instructions, sample.instructions),
            (&mut sum.load_requests, sample.load_requests),
            (&mut sum.memory_stall_cycles, sample.memory_stall_cycles),
            (&mut sum.outstanding, sample.outstanding),
        ] {
            *to += value;
        }
        *count += 1.0;
    }
    let all = All { sms: sms as f64, outstanding: sums.iter().map(|(sum, _)| sum.outstanding).sum() };
    let mean = |(sum, count): &(Sample, f64)| Sample {
        cycles: sum.cycles / count,
        instructions: sum.instructions / count,
        load_requests: sum.load_requests / count,
        memory_stall_cycles: sum.memory_stall_cycles / count,
        outstanding: sum.outstanding / count,
    };
    let scores: Vec<f64> = sums.iter().map(|of| metric(&mean(of), &all)).collect();
    highest(&scores)
}

/// Prints, per metric, for 3 and 7 configurations, the instructions of the plain port and of the
/// leaner one.
pub(crate) fn measure(sms: u16) {
    use Counter::{Cycles, LoadRequests, MemoryStallCycles, OutstandingMisses, ThreadInsts};
    // SAFETY: no scenario is running.
    let mut bus = unsafe { block::bus() };
    block::count(&mut bus, sms, Counts::Rising, 0, |_| 0);
    let metrics: [(&str, &[Counter], Metric); 4] = [
        ("ipc", &[Cycles, ThreadInsts], ipc),
        ("ipm-ipc", &[Cycles, ThreadInsts, LoadRequests], ipm_ipc),
        ("factor", &[Cycles, ThreadInsts, MemoryStallCycles, OutstandingMisses], factor),
        ("linear", &[Cycles, ThreadInsts, OutstandingMisses], linear),
    ];
    for (name, needed, metric) in metrics {
        for configs in [3, 7] {
            let mut spans = [Span::default(); 2];
            for (span, port) in spans.iter_mut().zip([plain, lean]) {
                // SAFETY: the heap is empty.
                unsafe { heap::reset() };
                let sms = core::hint::black_box(usize::from(sms));
                let best;
                (*span, best) = Span::of(|| port(&mut bus, sms, configs, needed, metric));
                assert!(best < configs);
            }
            println!("thesis {sms} {name} {configs} {} {}", spans[0].instructions(), spans[1].instructions());
        }
    }
}
