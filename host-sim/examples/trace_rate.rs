//! How long tracing takes and how large the traces are: `cargo run --release -p mias --example trace_rate`.

use mias::kernels;
use std::time::Instant;

fn main() -> Result<(), kernels::KernelError> {
    for &kernel in kernels::ALL {
        let compiled = kernel.compiled();
        let instance = kernel.init(kernel.default_size(), 1)?;
        let program = mias::ptx::Program::parse(compiled.ptx_file, compiled.ptx, instance.entry)?;
        let start = Instant::now();
        mias::ptx::lower::record::execute(&program, &instance.launch, &instance.memory)?;
        let executed = start.elapsed();
        kernel.check_results(&instance)?;
        let start = Instant::now();
        let trace = kernels::trace(kernel, kernel.default_size(), 1, &mut |_, _| {})?;
        let traced = start.elapsed();
        let warps = u64::from(trace.tbs()) * u64::from(trace.info().warps());
        println!(
            "{}: {} TBs, {} warp instructions ({} per warp), execution alone {executed:.2?}, traced and checked {traced:.2?}, trace {} KiB",
            kernel.name(),
            trace.tbs(),
            trace.warp_insts(),
            trace.warp_insts() / warps,
            trace.memory_bytes() / 1024
        );
    }
    Ok(())
}
