//! Hand-made and random kernels for the tests of this crate.

use crate::config::GpuConfig;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelInfo, KernelTrace, Step};
use proptest::prelude::*;
use std::sync::Arc;

/// Reference GPU.
pub(crate) fn config() -> GpuConfig {
    let text = mias_gpus::text("rtx2060-accelsim").expect("a built-in GPU");
    toml::from_str(text).expect("the reference GPU's file is valid")
}

/// Kernel in which every warp runs `program(tb, warp)`, then exits.
pub(crate) fn kernel(tbs: u32, threads: u32, registers: u32, shared: u32, program: impl Fn(u32, u32) -> Vec<Step>) -> Arc<KernelTrace> {
    let (grid, block) = ([tbs, 1, 1], [threads, 1, 1]);
    let info = KernelInfo { name: "test".into(), grid, block, registers_per_thread: registers, shared_bytes: shared };
    mias_warp_trace::kernel(info, program).expect("a trace").into()
}

/// Random kernel: compute, loads with reuse, stores, shared memory, atomics and barriers.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) tbs: u32,
    threads: u32,
    registers: u32,
    shared: u32,
    /// Instruction kind, register and line.
    body: Vec<(u32, u8, u64)>,
    /// Maximum number of the kernel's TBs on an SM.
    pub(crate) quota: u32,
}

impl Recipe {
    /// Trace of the kernel.
    pub(crate) fn trace(&self) -> Arc<KernelTrace> {
        kernel(self.tbs, self.threads, self.registers, self.shared, |tb, warp| {
            let step = |&(kind, reg, line): &(u32, u8, u64)| {
                let place = 128 * (line * u64::from(1 + warp) + 7 * u64::from(tb) % 97);
                let arithmetic = |class| StaticInst::new(kind, class).writes(reg).reads(&[reg, 4, 5]);
                let memory = |class| StaticInst::new(kind, class).reads(&[reg]).width(4);
                match kind {
                    0 => (arithmetic(Class::Int), 0),
                    1 => (arithmetic(Class::Sp), 0),
                    2 => (arithmetic(Class::Sfu), 0),
                    3 => (memory(Class::Load(Space::Global)).writes(reg), place),
                    4 => (memory(Class::Store(Space::Global)), place),
                    5 => (memory(Class::Load(Space::Shared)).writes(reg), line),
                    6 => (memory(Class::Atomic(Space::Global)).writes(reg), place),
                    7 => (StaticInst::new(kind, Class::MemoryBarrier), 0),
                    _ => (StaticInst::new(kind, Class::Barrier), 0),
                }
            };
            self.body.iter().map(step).collect()
        })
    }
}

pub(crate) fn random_kernel() -> impl Strategy<Value = Recipe> {
    let body = prop::collection::vec((0u32..9, 4u8..12, 0u64..64), 1..40);
    let threads = prop::sample::select(vec![32u32, 64, 100, 256]);
    (1u32..90, threads, 16u32..64, 0u32..9000, body, 1u32..5).prop_map(|(tbs, threads, registers, shared, body, quota)| Recipe {
        tbs,
        threads,
        registers,
        shared,
        body,
        quota,
    })
}
