//! Decision streams: the firmware's actions on a small GPU from the first launch to the last
//! completion. They list every phase, with counters and score of every tried configuration.
//!
//! The properties in `scheduling.rs` and in the firmware's suites define correctness. The snapshots
//! show whether, and where, the behavior changes.

use crate::common::rig::{Setting, launch, small_gpu};
use mias_firmware::configs::TbVector;
use mias_hw_model::gpu::{Gpu, Microcontroller, RunEnd};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_registers::PolicyCode;
use mias_workloads::kernels;
use std::sync::Arc;

/// The thesis' metrics, Warped-Slicer, which profiles kernels alone, and a policy that tries two
/// placements.
const POLICIES: [PolicyCode; 6] = [
    PolicyCode::MiasIpc,
    PolicyCode::MiasIpmIpc,
    PolicyCode::MiasFactor,
    PolicyCode::MiasLinear,
    PolicyCode::WarpedSlicer,
    PolicyCode::Maestro,
];

/// Profiling window in core cycles: long enough for the first loads of a TB to return.
const WINDOW: u32 = 1_500;

/// Arrival of the third kernel, after the placement of the first two.
const LATER: u64 = 10_000;

/// Upper bound on the cycles of a run.
const TOO_LONG: u64 = 1_000_000;

/// The firmware, with a record of its actions.
struct Notes {
    firmware: Firmware,
    lines: Vec<String>,
    /// Number of reschedulings at the last recorded decision.
    noted: u32,
}

impl Notes {
    /// Records the tried configurations and the result.
    fn decision(&mut self) {
        let report = self.firmware.report();
        if report.winner().is_none() && !report.settled() || report.reschedulings() == self.noted {
            return;
        }
        self.noted = report.reschedulings();
        let kernels = report.slots().len();
        let shown = |vector: TbVector| (0..kernels).map(|kernel| vector.get(kernel).to_string()).collect::<Vec<_>>().join("-");
        for tried in report.tried() {
            let (config, sums) = (shown(tried.entry.vector), tried.entry.sums);
            let score = tried.score.map(|score| score.numerator.to_u128() as f64 / score.denominator.to_u128() as f64);
            let score = score.map_or_else(|| "-".to_owned(), |score| format!("{score:.6}"));
            self.lines.push(format!(
                "  tried {config} on {} SMs: C {}, M {}, I {}, misses {}, A {}, score {score}",
                sums.sms, sums.cycles, sums.memory_stall_cycles, sums.instructions, sums.load_requests, sums.outstanding_misses
            ));
        }
        let apart = || format!("no configuration for all SMs, origin {:?}", report.origin());
        self.lines.push(format!("  chose {}", report.winner().map_or_else(apart, shown)));
    }

    /// Returns the quotas of every SM, kernels in the order of their slots; empty before there are
    /// kernels.
    fn quotas(&self, registers: &RegisterBlock) -> String {
        let slots = self.firmware.report().slots();
        let quota = |sm: usize, slot: &u8| registers.quota(sm, usize::from(*slot)).to_string();
        let of_sm = |sm: usize| slots.iter().map(|slot| quota(sm, slot)).collect::<Vec<_>>().join("-");
        let sms = (0..registers.gpu().sm_count as usize).filter(|_| !slots.is_empty());
        sms.map(|sm| format!(" {}", of_sm(sm))).collect()
    }
}

impl Microcontroller for Notes {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let before = registers.phase().expect("a phase");
        self.firmware.on_interrupt(registers);
        let after = registers.phase().expect("a phase");
        self.decision();
        if after != before {
            let quotas = self.quotas(registers);
            self.lines.push(format!("cycle {}: {}{quotas}", registers.now(), after.name()));
        }
    }
}

/// Records all actions of the firmware while mm and fwt share the GPU, and then fwt and the
/// rest of mm.
fn stream(policy: PolicyCode) -> String {
    let trace = |name: &str, size| Arc::new(kernels::trace(kernels::find(name).expect(name), size, 1).expect(name));
    let (mm, fwt) = (trace("mm", 128), trace("fwt", 1 << 15));
    let setting = Setting { window: WINDOW, ..Setting::new(policy, false) };
    let mut gpu = Gpu::new(&small_gpu(3), setting.straps()).with_validation();
    let firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
    let mut notes = Notes { firmware, lines: Vec::new(), noted: 0 };
    for launch in [launch(&mm, 0, 0), launch(&fwt, 1, 0), launch(&fwt, 2, LATER)] {
        gpu.launch(launch).expect("every kernel here fits an SM");
    }
    assert_eq!(gpu.run(&mut notes, TOO_LONG), RunEnd::AllComplete, "{policy:?}");
    notes.lines.join("\n")
}

#[test]
fn decisions_are_as_before() {
    for policy in POLICIES {
        insta::assert_snapshot!(format!("{policy:?}"), stream(policy));
    }
}
