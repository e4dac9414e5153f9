//! The peer's order for launches on different streams, on the co-run traces (`reference/README.md`, `corun/`): strictly first
//! come, so no TB of the second kernel is issued before the last of the first.

mod common;

use common::rig::{Rig, Setting};
use mias::accelsim::Warnings;
use mias::experiment::workload;
use mias::gpu_file;
use mias_firmware::regs::PolicyCode;
use mias_hw_model::gpu::{Launch, RunEnd};
use std::path::Path;

/// Issuing at most one TB per SM and cycle, both kernels have filled the SMs after so many cycles beyond the launch latency.
const FILLING_CYCLES: u64 = 40;

#[test]
fn all_tbs_of_the_first_kernel_are_issued_before_any_of_the_second() {
    for trace in ["comp60_mem", "mm90_fwt"] {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference/corun").join(trace).join("kernelslist.g");
        let workloads = workload::read_list(&list, &mut Warnings::new()).expect("our own trace");
        let config = gpu_file::load("rtx2060-accelsim").expect("built in");
        let mut rig = Rig::new(&config, &Setting::new(PolicyCode::LeftOver, false));
        for workload in &workloads {
            let (trace, stream) = (workload.trace.clone(), workload.stream);
            rig.gpu.launch(Launch { trace, arrival_cycle: 0, stream, priority: 0, relaunch: false, sector_offset: 0 }).expect("fits");
        }
        let latency = u64::from(config.launch.latency_cycles);
        assert_eq!(rig.step(latency), RunEnd::CycleLimit);
        let grid = u64::from(workloads[0].trace.tbs());
        let (mut first_filled, mut second_began) = (None, None);
        for _ in 0..FILLING_CYCLES {
            assert_eq!(rig.step(1), RunEnd::CycleLimit);
            let stats = rig.gpu.stats();
            let (first, second) = (stats.launches[0].tbs_issued, stats.launches[1].tbs_issued);
            assert!(second == 0 || first == grid, "{trace}: {second} TBs of the second after {first} of {grid} of the first");
            if first == grid {
                first_filled.get_or_insert(stats.cycles);
            }
            if second > 0 {
                second_began.get_or_insert(stats.cycles);
            }
        }
        assert!(first_filled.is_some() && first_filled <= second_began, "{trace}: {first_filled:?}, {second_began:?}");
    }
}
