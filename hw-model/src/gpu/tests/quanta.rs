//! Quanta equal single cycles in every count: concurrent kernels whose TBs end continually,
//! launches during the run, changing quotas, and stops at any cycle.

use super::*;

/// Kernels with many TBs, so that they end and are issued while others run.
fn any_pair() -> impl Strategy<Value = [Arc<KernelTrace>; 2]> {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let store = StaticInst::new(8, Class::Store(Space::Global)).reads(&[4, 5]).width(4);
    let compute = StaticInst::new(16, Class::Int).writes(5).reads(&[5]);
    let steps = prop::collection::vec((prop::sample::select(vec![load, store, compute]), 0u64..64), 1..40);
    let one = (steps, 1u32..6, 20u32..120).prop_map(|(steps, warps, tbs)| {
        kernel(tbs, 32 * warps, 16, 0, move |tb, warp| {
            // Some TBs are longer than others, as are some warps of a TB.
            let times = 1 + (tb % 3 + warp) as usize;
            let place = u64::from(8 * tb + warp) * 4_096;
            steps.iter().cycle().take(times * steps.len()).map(|&(inst, line)| (inst, place + line * 128)).collect()
        })
    });
    [one.clone(), one]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_quantum_is_its_cycles(
        pair in any_pair(),
        quotas in (1u32..6, 1u32..6),
        relaunch: bool,
        second_at in prop::sample::select(vec![0u64, 700, 3_000]),
        stop in 100u64..3_000,
        ideal: bool,
    ) {
        let mut config = small();
        config.launch.latency_cycles = 50;
        let run = |skip: bool| {
            let gpu = gpu(&config);
            let mut gpu = if skip { gpu } else { gpu.without_skipping() };
            for (stream, trace) in (0..).zip(&pair) {
                let (relaunch, arrival_cycle) = (relaunch && stream == 1, u64::from(stream) * second_at);
                gpu.launch(Launch { stream, relaunch, arrival_cycle, ..once(trace.clone()) }).expect("fits");
            }
            let (first, second) = quotas;
            let phases = vec![(0, vec![first, second]), (1_500, vec![second, first])];
            let mut table = Table { phases, slots: Vec::new(), ideal };
            let mut seen = Vec::new();
            for until in [stop, 2 * stop, 8_000] {
                seen.push((gpu.run(&mut table, until), gpu.stats()));
            }
            (seen, gpu.quantum_cycles)
        };
        let (seen, quantum_cycles) = run(true);
        prop_assert_eq!(run(false), (seen, 0));
        prop_assert!(quantum_cycles > 0);
    }
}

/// With much work for long, most cycles run in quanta.
#[test]
fn quanta_are_the_rule() {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let long = kernel(12, 256, 16, 0, |tb, warp| (0..200).map(|i| (load, u64::from(200 * (8 * tb + warp) + i) * 128)).collect());
    let mut gpu = gpu(&small());
    gpu.launch(once(long)).expect("fits");
    assert_eq!(gpu.run(&mut Table::fixed(&[4]), 1_000_000), RunEnd::AllComplete);
    let cycles = gpu.stats().cycles;
    assert!(gpu.quantum_cycles > cycles / 2, "{} of {cycles} cycles", gpu.quantum_cycles);
}
