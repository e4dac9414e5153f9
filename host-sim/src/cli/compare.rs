//! `mias compare`.

use super::args::{CompareArgs, Format};
use super::progress::Progress;
use super::{CliError, resolve};
use crate::experiment::compare::compare;
use crate::experiment::machine::End;
use crate::experiment::policy::Policy;
use crate::experiment::simulated::SimulatedGpu;
use crate::gpu_file;
use crate::report::output::Output;
use crate::report::{comparison_json, comparison_table};

pub(super) fn main(args: &CompareArgs) -> Result<(), CliError> {
    let common = &args.common;
    let gpu = gpu_file::load(&common.gpu)?;
    let output = Output::open(common.out.as_deref())?;
    let options = resolve::options(common);
    let workloads = resolve::workloads(&args.kernels, &common.arrive)?;
    let policies: Vec<Policy> = match args.policies.as_slice() {
        [] => Policy::ALL.to_vec(),
        some => Policy::ALL.into_iter().filter(|policy| some.contains(policy)).collect(),
    };
    let progress = Progress::new(match options.end {
        End::Cycles(cycles) => Some(cycles),
        End::Done => None,
    });
    let machine = SimulatedGpu::new(gpu.clone());
    let result = compare(&machine, &workloads, &policies, options, &progress);
    progress.clear();
    let comparison = result?;
    let text = match common.format {
        Format::Table => comparison_table::render(&comparison, &gpu, &workloads, options, common.explain),
        Format::Json => comparison_json::render(&comparison, &gpu, &workloads, options).map_err(CliError::internal)?,
    };
    Ok(output.write(&text)?)
}
