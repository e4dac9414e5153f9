//! Cooperative grids: all TBs run concurrently, so that they can synchronize (`grid.sync()`; CUDA C
//! programming guide, section "Grid Synchronization").
//!
//! The threads of such a grid find the workspace in device memory through `%envreg1` and
//! `%envreg2`, and count arrivals there.

use super::error::ExecError;
use super::launch::{Launch, TbRunner};
use super::memory::DeviceMemory;
use super::program::Program;
use super::warp::Observer;

/// Instructions after which a warp yields to others. It determines how long the threads of a TB
/// poll for the others (assumption: some hundred cycles' worth; on a GPU it depends on time).
const SLICE: u64 = 256;

/// Maximum number of warps of a cooperative grid, which a GPU must hold concurrently: 256 SMs of 64
/// warps, more than any modeled GPU.
const MOST_WARPS: u64 = 256 * 64;

/// Runs all TBs of a launch, each with a separate observer.
///
/// # Errors
/// As [`TbRunner::new`] and [`TbRunner::run`]; of TBs that fail in the same round, the first.
pub fn run<O: Observer>(
    program: &Program,
    launch: &Launch,
    device: &DeviceMemory,
    observer: impl Fn(u32) -> O,
) -> Result<Vec<O>, ExecError> {
    let warps = launch.tbs().saturating_mul(launch.threads().div_ceil(32));
    if warps > MOST_WARPS {
        return Err(ExecError::Geometry {
            kernel: program.name.clone(),
            grid: launch.grid,
            block: launch.block,
            message: "a cooperative grid, which must be resident as a whole, has at most 16384 warps here",
        });
    }
    let mut tbs = Vec::new();
    for tb in 0..launch.tbs() as u32 {
        let mut runner = TbRunner::new(program, launch, device)?;
        runner.slice = SLICE;
        runner.begin(tb);
        tbs.push((runner, observer(tb), true));
    }
    while tbs.iter().any(|(.., goes_on)| *goes_on) {
        for (runner, observer, goes_on) in tbs.iter_mut().filter(|(.., goes_on)| *goes_on) {
            *goes_on = runner.turn(observer)?;
        }
    }
    Ok(tbs.into_iter().map(|(_, observer, _)| observer).collect())
}
