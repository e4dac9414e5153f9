//! Tests of the decision: counters in, a configuration out.

use super::*;
use mias_firmware::policy::{Plan, Verdict};
use mias_firmware::resources::{SmLimits, TbShape};
use proptest::prelude::*;

/// An SM of the thesis' GPU.
const SM: Resources = Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 };

const LIMITS: SmLimits = SmLimits { capacity: SM, warp_threads: 32, register_granule: 8, shared_granule_bytes: 256 };

const WINDOW: u32 = 45_000;

fn kernel(threads: u32, shared_bytes: u32) -> Kernel {
    Kernel::new(0, &TbShape { threads, thread_registers: 16, shared_bytes }, 1_000_000, &LIMITS)
}

/// Returns the policy's decision for kernels with these stall cycles, each on `sms` SMs.
fn decide(kernels: &[Kernel], stalls: &[u32], sms: u16) -> Verdict {
    let gpu = GpuProperties { sm_count: sms * kernels.len() as u16, limits: LIMITS, ..GpuProperties::NONE };
    let context = Context { gpu: &gpu, settings: &Settings::default(), kernels };
    let mut table = ConfigTable::<64>::default();
    assert_eq!(BusyShare.generate_configs(&context, &mut table), Plan::Profile);
    assert_eq!(table.entries().len(), kernels.len());
    for (index, stall) in stalls.iter().enumerate() {
        let sums = table.sums_mut(index).unwrap();
        (sums.sms, sums.cycles, sums.memory_stall_cycles) = (sms, u32::from(sms) * WINDOW, u32::from(sms) * stall);
    }
    BusyShare.on_done_profiling(&context, &mut table)
}

fn tbs(verdict: Verdict) -> TbVector {
    let Verdict::Broadcast(vector) = verdict else { panic!("no configuration: {verdict:?}") };
    vector
}

/// Eight TBs fill an SM. One kernel never stalls, the other two thirds of the time: 3 to 1.
#[test]
fn a_kernel_that_waits_gets_less() {
    let both = [kernel(128, 0), kernel(128, 0)];
    assert_eq!(tbs(decide(&both, &[0, 30_000], 15)), TbVector([6, 2, 0, 0]));
    assert_eq!(tbs(decide(&both, &[30_000, 0], 15)), TbVector([2, 6, 0, 0]));
    assert_eq!(tbs(decide(&both, &[10_000, 10_000], 15)), TbVector([4, 4, 0, 0]));
}

#[test]
fn nothing_is_profiled_where_there_is_nothing_to_share() {
    let large = kernel(1024, 0);
    for (kernels, sms) in [(&[large][..], 30), (&[large, large], 30), (&[kernel(128, 0), kernel(128, 0)], 1)] {
        let gpu = GpuProperties { sm_count: sms, limits: LIMITS, ..GpuProperties::NONE };
        let context = Context { gpu: &gpu, settings: &Settings::default(), kernels };
        assert_eq!(BusyShare.generate_configs(&context, &mut ConfigTable::<64>::default()), Plan::Place);
    }
}

#[test]
fn a_kernel_that_was_not_measured_in_time_keeps_its_sms() {
    let both = [kernel(128, 0), kernel(128, 0)];
    let gpu = GpuProperties { sm_count: 30, limits: LIMITS, ..GpuProperties::NONE };
    let context = Context { gpu: &gpu, settings: &Settings::default(), kernels: &both };
    let mut table = ConfigTable::<64>::default();
    BusyShare.generate_configs(&context, &mut table);
    assert_eq!(BusyShare.on_done_profiling(&context, &mut table), Verdict::NoSamples);
    (table.sums_mut(0).unwrap().sms, table.sums_mut(0).unwrap().cycles) = (15, 15 * WINDOW);
    assert_eq!(BusyShare.on_done_profiling(&context, &mut table), Verdict::Settled);
    let placed: Vec<TbVector> = (0..2).map(|sm| table.entries()[table.assigned(sm).unwrap()].vector).collect();
    assert_eq!(placed, [TbVector([8, 0, 0, 0]), TbVector([0, 8, 0, 0])]);
}

proptest! {
    /// For any measurement: the TBs fit, every kernel has one, and no more fit. No kernel has less
    /// for its weight than another had before its last TB, unless it could not use that TB.
    #[test]
    fn no_kernel_is_served_before_a_poorer_one(
        shapes in prop::collection::vec((1..=256_u32, 0..12_000_u32), 2..=MAX_KERNELS),
        stalls in prop::collection::vec(0..=WINDOW, MAX_KERNELS),
    ) {
        let kernels: Vec<Kernel> = shapes.iter().map(|&(threads, shared)| kernel(threads, shared)).collect();
        let vector = tbs(decide(&kernels, &stalls[..kernels.len()], 7));
        let taken = kernels.iter().enumerate().try_fold(SM, |rest, (k, kernel)| rest.minus(&kernel.demand, vector.get(k).into()));
        let rest = taken.expect("the TBs fit");
        let part = |k: usize, tbs: u8| f64::from(tbs) / f64::from(kernels[k].max_tbs) / f64::from((WINDOW - stalls[k]).max(1));
        for (poor, kernel) in kernels.iter().enumerate() {
            prop_assert!(vector.get(poor) > 0);
            let wants = vector.get(poor) < kernel.max_tbs;
            prop_assert!(!wants || !rest.fits(&kernel.demand), "one more of kernel {} fits beside {:?}", poor, vector);
            for (rich, other) in kernels.iter().enumerate().filter(|&(rich, _)| rich != poor && vector.get(rich) > 1) {
                let poorer = part(poor, vector.get(poor)) * (1.0 + 1e-9) < part(rich, vector.get(rich) - 1);
                let add = |a: u32, b: u32| a + b;
                let room = Resources {
                    threads: add(rest.threads, other.demand.threads),
                    registers: add(rest.registers, other.demand.registers),
                    shared_bytes: add(rest.shared_bytes, other.demand.shared_bytes),
                    tbs: add(rest.tbs, other.demand.tbs),
                };
                prop_assert!(!poorer || !wants || !room.fits(&kernel.demand), "{} before {} in {:?}", rich, poor, vector);
            }
        }
    }
}
