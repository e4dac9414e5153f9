//! SMK-P: dominant resource fairness (sources.md D52 and D104).

use crate::cases::cases;
use mias_firmware::configs::{ConfigTable, TbVector};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_policies::policy::Smk;
use proptest::prelude::*;

fn limits(capacity: Resources) -> SmLimits {
    SmLimits { capacity, warp_threads: 1, register_granule: 1, shared_granule_bytes: 1 }
}

/// Returns SMK's placement on all SMs; none if it is not one configuration.
fn placed(limits: SmLimits, sms: u16, kernels: &[Kernel]) -> Option<TbVector> {
    let gpu = GpuProperties { sm_count: sms, limits, ..GpuProperties::NONE };
    let mut table = ConfigTable::<64>::default();
    let plan = Smk.generate_configs(&Context { gpu: &gpu, settings: &Settings::default(), kernels }, &mut table);
    assert_eq!(plan, Plan::Place, "nothing is measured");
    match table.entries() {
        [one] => Some(one.vector),
        _ => None,
    }
}

/// Example of the paper on dominant resource fairness (Ghodsi et al., NSDI 2011, section 4.1): 9
/// CPUs and 18 GB, with tasks of 1 CPU and 4 GB and of 3 CPUs and 1 GB. The result is three of the
/// first and two of the second, both at two thirds.
#[test]
fn the_example_of_the_paper() {
    let limits = limits(Resources { threads: 9, registers: 0, shared_bytes: 18, tbs: 32 });
    let tb = |threads, shared_bytes| Kernel::new(0, &TbShape { threads, thread_registers: 0, shared_bytes }, 1_000_000, &limits);
    assert_eq!(placed(limits, 30, &[tb(1, 4), tb(3, 1)]), Some(TbVector([3, 2, 0, 0])));
    assert_eq!(placed(limits, 30, &[tb(3, 1), tb(1, 4)]), Some(TbVector([2, 3, 0, 0])));
}

/// A kernel gets no more TBs than its grid gives every SM, and leaves the space to the others.
#[test]
fn small_grids_are_not_given_more_than_they_have() {
    let limits = limits(Resources { threads: 8, registers: 0, shared_bytes: 0, tbs: 32 });
    let tb = |grid| Kernel::new(0, &TbShape { threads: 1, thread_registers: 0, shared_bytes: 0 }, grid, &limits);
    // 11 TBs on 10 SMs: at most two per SM.
    assert_eq!(placed(limits, 10, &[tb(11), tb(1_000)]), Some(TbVector([2, 6, 0, 0])));
}

fn kernels() -> impl Strategy<Value = Vec<TbShape>> {
    let shape = (1..400_u32, 0..64_u32, 0..20_000_u32);
    prop::collection::vec(
        shape.prop_map(|(threads, thread_registers, shared_bytes)| TbShape { threads, thread_registers, shared_bytes }),
        1..5,
    )
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn shares_are_filled_from_below(shapes in kernels()) {
        let limits = limits(super::world::SM);
        let kernels: Vec<Kernel> = shapes.iter().map(|shape| Kernel::new(0, shape, 1_000_000, &limits)).collect();
        let together = kernels.iter().try_fold(limits.capacity, |rest, kernel| rest.minus(&kernel.demand, 1));
        let Some(vector) = placed(limits, 30, &kernels) else {
            // No single configuration: one kernel would have starved, so the kernels got SMs of
            // their own.
            prop_assert!(kernels.len() > 1);
            return Ok(());
        };
        prop_assert!(together.is_some() && vector.present() == kernels.len());
        let rest = kernels.iter().zip(vector.0).try_fold(limits.capacity, |rest, (kernel, tbs)| rest.minus(&kernel.demand, tbs.into()));
        let Some(rest) = rest else { return Err(TestCaseError::fail("over-committed")) };
        // Every share in exact parts of a common denominator.
        let share = |kernel: &Kernel, tbs: u8| {
            let (demand, capacity) = (kernel.demand, limits.capacity);
            let parts = [
                (demand.threads, capacity.threads),
                (demand.registers, capacity.registers),
                (demand.shared_bytes, capacity.shared_bytes),
                (demand.tbs, capacity.tbs),
            ];
            let common = parts.iter().map(|part| u128::from(part.1)).product::<u128>();
            parts.iter().map(|part| u128::from(tbs) * u128::from(part.0) * common / u128::from(part.1)).max().unwrap_or(0)
        };
        for (one, tbs) in kernels.iter().zip(vector.0) {
            prop_assert!(!rest.fits(&one.demand), "{:?} leaves room", vector);
            for (other, more) in kernels.iter().zip(vector.0) {
                if one.demand == other.demand {
                    prop_assert!(tbs.abs_diff(more) <= 1, "equal kernels: {:?}", vector);
                }
                // When `other` got its last TB, its share without it was the smallest of those that
                // could still grow. A kernel now below that could not grow.
                let before = share(other, more - 1);
                if share(one, tbs) < before {
                    let freed = kernels.iter().zip(vector.0).try_fold(limits.capacity, |rest, (kernel, tbs)| {
                        let without = if core::ptr::eq(kernel, other) { tbs - 1 } else { tbs };
                        rest.minus(&kernel.demand, without.into())
                    });
                    prop_assert!(freed.is_some_and(|freed| !freed.fits(&one.demand)), "{:?}: a poorer kernel had room", vector);
                }
            }
        }
    }
}
