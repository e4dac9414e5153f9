//! Measures tracing time and trace size: `cargo run --release -p mias-workloads --example
//! trace_rate mm nbdy:8192`.

use mias_ptx::lower::record;
use mias_workloads::kernels;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in std::env::args().skip(1) {
        let spec = kernels::Spec::parse(&name)?;
        let prepared = spec.prepare()?;
        let start = Instant::now();
        record::execute(&prepared.program, &prepared.instance.launch, &prepared.instance.memory)?;
        let executed = start.elapsed();
        let prepared = spec.prepare()?;
        let start = Instant::now();
        let trace = prepared.record()?;
        let traced = start.elapsed();
        let warps = u64::from(trace.tbs()) * u64::from(trace.info().warps());
        println!(
            "{}: {} TBs, {} warp instructions ({} per warp), execution alone {executed:.2?}, traced and checked {traced:.2?}, trace {} KiB",
            name,
            trace.tbs(),
            trace.warp_insts(),
            trace.warp_insts() / warps,
            trace.memory_bytes() / 1024
        );
    }
    Ok(())
}
