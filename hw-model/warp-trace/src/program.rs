//! Kernels from programs in Rust, for tests and experiments without a front end.

use crate::isa::{Class, StaticInst};
use crate::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder, TraceError, WARP_LANES};

/// An instruction, and the byte address of lane 0 if it accesses memory. Each further lane is one
/// access width higher.
pub type Step = (StaticInst, u64);

/// Builds a kernel whose warps run `program(tb, warp)` with all lanes and then exit.
///
/// # Errors
/// [`TraceError`] if the grid or the block is empty, or the trace is too large.
pub fn kernel(info: KernelInfo, program: impl Fn(u32, u32) -> Vec<Step>) -> Result<KernelTrace, TraceError> {
    let (tbs, warps) = (info.tbs() as u32, info.warps());
    let mut builder = TraceBuilder::new(info)?;
    for tb in 0..tbs {
        let mut recorder = TbRecorder::new();
        for warp in 0..warps {
            recorder.warp();
            for (inst, address) in program(tb, warp).into_iter().chain([(StaticInst::new(0, Class::Exit), 0)]) {
                let index = builder.define(inst)?;
                let step = u64::from(inst.width_bytes);
                let lanes: Vec<u64> = (0..u64::from(WARP_LANES)).map(|lane| address + lane * step).collect();
                recorder.inst(index, &inst, WARP_LANES, if inst.class.space().is_some() { &lanes } else { &[] });
            }
        }
        builder.add_tb(&recorder)?;
    }
    builder.finish()
}
