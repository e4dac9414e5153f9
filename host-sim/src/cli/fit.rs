//! `mias gpu fit`: the coefficient of the Linear metric for one machine.

use super::args::FitArgs;
use super::progress::Progress;
use super::{CliError, cache, interrupt, resolve};
use crate::experiment::fit::fit;
use crate::experiment::simulated::SimulatedGpu;
use crate::gpu_file;
use crate::kernels;
use crate::report::fit_report;
use crate::report::output::Output;

pub(super) fn main(args: &FitArgs) -> Result<(), CliError> {
    let gpu = gpu_file::load(&args.gpu)?;
    let names = match args.kernels.as_slice() {
        [] => kernels::ALL.iter().map(|kernel| kernel.name().to_owned()).collect(),
        some => some.to_vec(),
    };
    let cancel = interrupt::catch()?;
    let workloads = resolve::calibration(&names, &cache::open(args.no_cache)?, &cancel)?;
    let progress = Progress::new(None, cancel.clone());
    let machine = SimulatedGpu::new(gpu.clone()).stopped_by(cancel);
    let result = fit(&machine, &workloads, args.profile_cycles, &progress);
    progress.clear();
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    Ok(Output::open(None)?.write(&fit_report::text(&result?, &gpu, &names, args.profile_cycles))?)
}
