//! Synthetic kernels: every warp of every TB runs the same few instructions, then exits.

use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder};
use proptest::prelude::*;
use std::sync::Arc;

/// One instruction of a synthetic kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Integer arithmetic on a register.
    Int(u8),
    /// Single precision on a register.
    Float(u8),
    /// A global load of 128 bytes: its line, shifted by TB and warp.
    Load(u8, u64),
    /// A global store of 128 bytes.
    Store(u8, u64),
    /// A shared-memory load.
    Shared(u8),
    /// An atomic at the L2.
    Atomic(u8, u64),
    /// A barrier over the TB.
    Barrier,
}

impl Step {
    /// Returns the instruction at `pc`, and the address of lane 0.
    fn lower(self, pc: u32, tb: u32, warp: u32) -> (StaticInst, u64) {
        // A prime stride, so that TBs overlap in some lines and not in others.
        let place = |line: u64| 128 * (line * u64::from(1 + warp) + 7 * u64::from(tb));
        let arithmetic = |class, reg| (StaticInst::new(pc, class).writes(reg).reads(&[reg, 4]), 0);
        let memory = |class, reg| StaticInst::new(pc, class).reads(&[reg]).width(4);
        match self {
            Step::Int(reg) => arithmetic(Class::Int, reg),
            Step::Float(reg) => arithmetic(Class::Sp, reg),
            Step::Load(reg, line) => (memory(Class::Load(Space::Global), reg).writes(reg), place(line)),
            Step::Store(reg, line) => (memory(Class::Store(Space::Global), reg), place(line)),
            Step::Shared(reg) => (memory(Class::Load(Space::Shared), reg).writes(reg), 0),
            Step::Atomic(reg, line) => (memory(Class::Atomic(Space::Global), reg).writes(reg), place(line)),
            Step::Barrier => (StaticInst::new(pc, Class::Barrier), 0),
        }
    }
}

/// Description of a synthetic kernel.
#[derive(Clone, Debug)]
pub(crate) struct HandMade {
    /// TBs of the grid.
    pub(crate) tbs: u32,
    /// Threads per TB.
    pub(crate) threads: u32,
    /// Registers per thread.
    pub(crate) registers: u32,
    /// Shared memory per TB in bytes.
    pub(crate) shared: u32,
    /// Instructions of every warp.
    pub(crate) body: Vec<Step>,
}

impl HandMade {
    /// Creates a kernel with a chain of dependent arithmetic: a TB takes about 7 cycles per
    /// instruction.
    pub(crate) fn compute(tbs: u32, threads: u32, instructions: usize) -> Self {
        HandMade { tbs, threads, registers: 16, shared: 0, body: vec![Step::Float(5); instructions] }
    }

    /// Creates a kernel that loads from `loads` lines, each used once, and stores.
    pub(crate) fn memory(tbs: u32, threads: u32, loads: u64) -> Self {
        let uses = (0..loads).flat_map(|line| [Step::Load(5, line), Step::Int(5)]);
        HandMade { tbs, threads, registers: 16, shared: 0, body: uses.chain([Step::Store(5, 0)]).collect() }
    }

    /// Returns the kernel with `bytes` bytes of shared memory per TB.
    #[must_use]
    pub(crate) fn sharing(self, bytes: u32) -> Self {
        HandMade { shared: bytes, ..self }
    }

    /// Returns the kernel's trace.
    pub(crate) fn trace(&self) -> Arc<KernelTrace> {
        let info = KernelInfo {
            name: "hand-made".into(),
            grid: [self.tbs, 1, 1],
            block: [self.threads, 1, 1],
            registers_per_thread: self.registers,
            shared_bytes: self.shared,
        };
        let mut builder = TraceBuilder::new(info).expect("not empty");
        for tb in 0..self.tbs {
            let mut recorder = TbRecorder::new();
            for warp in 0..self.threads.div_ceil(32) {
                recorder.warp();
                let active = u64::from((self.threads - 32 * warp).min(32));
                let steps = self.body.iter().zip(0u32..).map(|(step, at)| step.lower(16 * at, tb, warp));
                for (inst, address) in steps.chain([(StaticInst::new(u32::MAX, Class::Exit), 0)]) {
                    let index = builder.define(inst).expect("few instructions");
                    let lanes: Vec<u64> = (0..active).map(|lane| address + 4 * lane).collect();
                    recorder.inst(index, &inst, active as u32, if inst.class.space().is_some() { &lanes } else { &[] });
                }
            }
            builder.add_tb(&recorder).expect("all warps recorded");
        }
        builder.finish().expect("all TBs added").into()
    }
}

/// Generates kernels of any shape that fits the reference GPU's SM: 1 to 8 TBs fit, or more.
pub(crate) fn any_kernel() -> impl Strategy<Value = HandMade> {
    let step = prop_oneof![
        4 => (5u8..12).prop_map(Step::Int),
        4 => (5u8..12).prop_map(Step::Float),
        3 => (5u8..12, 0u64..64).prop_map(|(reg, line)| Step::Load(reg, line)),
        1 => (5u8..12, 0u64..64).prop_map(|(reg, line)| Step::Store(reg, line)),
        1 => (5u8..12).prop_map(Step::Shared),
        1 => (5u8..12, 0u64..8).prop_map(|(reg, line)| Step::Atomic(reg, line)),
        1 => Just(Step::Barrier),
    ];
    let threads = prop::sample::select(vec![32u32, 64, 100, 256, 1024]);
    let shared = prop_oneof![Just(0u32), 0u32..9_000, Just(40_000u32)];
    (1u32..70, threads, 16u32..65, shared, prop::collection::vec(step, 1..40))
        .prop_map(|(tbs, threads, registers, shared, body)| HandMade { tbs, threads, registers, shared, body })
}
