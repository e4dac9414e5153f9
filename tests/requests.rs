//! Preemption requests from end to end (Shieh 2016, chapter 4): the same times for all schemes,
//! independent copies, and an oracle that never does worse than the scheme with less knowledge.

use crate::common::workloads::executed;
use mias_hw_model::config::{PreemptionConfig, SwitchModel};
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::requests::{Requested, Requests, Scheme};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::gpus;

/// Returns two SMs of a GTX 480 with the paper's own switches, on which a kernel is launched at
/// once.
fn runner() -> SimulatedGpu {
    let mut gpu = gpus::load("shieh16-lines").unwrap();
    gpu.sm.count = 2;
    gpu.launch.latency_cycles = 1;
    gpu.sm.preemption = Some(PreemptionConfig { switch: SwitchModel::Stall, ..PreemptionConfig::default() });
    SimulatedGpu::new(gpu)
}

/// Returns the results of the requests of an urgent kernel of 12 TBs next to another kernel.
fn requested(beside: (&str, u64), schemes: &[Scheme]) -> Vec<Requested> {
    let all = executed(&[beside, ("preempt", 12 * 224)]);
    let requests = Requests::new(4, schemes, &[500, 3_000]);
    let options = Options { latency: Latency::Off, requests: Some(requests), ..Options::new(End::Cycles(30_000)) };
    let run = Run { control: Control::Policy(Policy::LeftOver), workloads: all.iter().collect(), options };
    runner().run(&run, &|_| {}).unwrap().requested
}

const BESIDE: [(&str, u64); 2] = [("mm", 128), ("fwt", 1 << 16)];

#[test]
fn requests_come_at_the_same_time_and_copies_are_apart() {
    for beside in BESIDE {
        let schemes = [Scheme::Switch, Scheme::Chimera, Scheme::Shieh];
        let together = requested(beside, &schemes);
        assert_eq!(together.len(), schemes.len() * 2, "a row for each scheme and limit");
        let instants = |row: &Requested| row.samples.iter().map(|sample| sample.cycle).collect::<Vec<_>>();
        assert!(together.iter().all(|row| instants(row) == instants(&together[0]) && row.samples.len() == 4));
        assert!(together.iter().all(|row| row.alone_cycles == together[0].alone_cycles && row.alone_cycles > 0));
        for scheme in schemes {
            let alone = requested(beside, &[scheme]);
            let same: Vec<&Requested> = together.iter().filter(|row| row.scheme == alone[0].scheme).collect();
            assert_eq!(alone.iter().collect::<Vec<_>>(), same, "{}: what the others did is nothing to it", alone[0].scheme);
        }
        let victims: u32 = together.iter().flat_map(|row| &row.samples).flat_map(|sample| sample.victims).sum();
        assert!(victims > 0, "nobody left, and the test shows nothing");
    }
}

/// Under the paper's model of a switch the oracle never violates a deadline that the proposed
/// scheme meets.
#[test]
fn an_oracle_never_violates_more() {
    for beside in BESIDE {
        let both = requested(beside, &[Scheme::Shieh, Scheme::Oracle]);
        let [proposed, oracle] = ["shieh", "oracle"].map(|name| both.iter().filter(|row| row.scheme == name).collect::<Vec<_>>());
        for (proposed, oracle) in proposed.into_iter().zip(oracle) {
            let missed =
                |row: &Requested| row.samples.iter().map(|sample| sample.violates(row.limit_cycles, row.alone_cycles)).collect::<Vec<_>>();
            for (known, found) in missed(oracle).into_iter().zip(missed(proposed)) {
                assert!(!known || found, "{beside:?}, limit {}", oracle.limit_cycles);
            }
        }
        // With and without the proposed scheme.
        let alone = requested(beside, &[Scheme::Oracle]);
        assert_eq!(alone, both.into_iter().filter(|row| row.scheme == "oracle").collect::<Vec<_>>());
    }
}
