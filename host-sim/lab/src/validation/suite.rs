//! Set of comparisons: the project's own traces, and others given by path. Every trace and every
//! row of a reference is either compared or reported.

use super::bounds::error_percent;
use crate::csv_table;
use crate::experiment::gpu_runner::{End, GpuRunner, Options, Run};
use crate::experiment::policy::{Control, Policy};
use crate::experiment::recorded::LIST;
use crate::experiment::simulated::SimulatedGpu;
use crate::experiment::workload::{self, Workload};
use crate::gpus;
use crate::validation::reference::{self, COLUMNS, ReferenceLaunch};
use mias_hw_model::config::WarpSchedulerKind;
use mias_hw_model::gpu::LaunchStats;
use mias_trace::accelsim::Warnings;
use mias_workloads::trace_store::Cache;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// GPU of the reference numbers in `tests/data/reference`.
pub const GPU: &str = "rtx2060-accelsim";
/// Number of instructions in a micro-benchmark's two variants.
const MICRO_INSTRUCTIONS: [u64; 2] = [100, 300];

/// Comparison of one launch, in the columns of [`COLUMNS`].
#[derive(Clone, Debug)]
pub struct Launch {
    /// Folder of the trace.
    pub trace: String,
    /// Launch within the trace, from 1.
    pub number: usize,
    /// Kernel name.
    pub kernel: String,
    /// Our numbers.
    pub ours: [u64; COLUMNS.len()],
    /// Numbers of the reference; `None` where it has none.
    pub reference: [Option<u64>; COLUMNS.len()],
}

impl Launch {
    /// Returns our cycles and the reference's, which every reference has.
    pub fn cycles(&self) -> (u64, u64) {
        (self.ours[0], self.reference[0].unwrap_or_default())
    }
}

/// Comparison of a micro-benchmark: total cycles of the variants with 100 and 300 instructions.
#[derive(Clone, Debug)]
pub struct Micro {
    /// Name of the micro-benchmark.
    pub name: String,
    /// Our cycles.
    pub ours: [u64; 2],
    /// Cycles of the reference.
    pub reference: [u64; 2],
}

impl Micro {
    /// Returns our cycles per instruction.
    pub fn ours_per_instruction(&self) -> f64 {
        per_instruction(self.ours)
    }

    /// Returns the reference's cycles per instruction.
    pub fn reference_per_instruction(&self) -> f64 {
        per_instruction(self.reference)
    }
}

fn per_instruction([short, long]: [u64; 2]) -> f64 {
    long.saturating_sub(short) as f64 / (MICRO_INSTRUCTIONS[1] - MICRO_INSTRUCTIONS[0]) as f64
}

/// Comparison of two kernels that share SMs: the cycle at which the first has ended, and at which
/// both have.
#[derive(Clone, Debug)]
pub struct Corun {
    /// Folder of the trace.
    pub name: String,
    /// Our cycles.
    pub ours: [u64; 2],
    /// Cycles of the reference.
    pub reference: [u64; 2],
}

/// Comparisons on the project's own traces.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Micro-benchmarks, in the order of `micro.csv`; scheduler LRR.
    pub micro: Vec<Micro>,
    /// Launches of `accelsim.csv`; scheduler GTO.
    pub launches: Vec<Launch>,
    /// Cases of `corun/corun.csv`; scheduler GTO.
    pub corun: Vec<Corun>,
}

impl Suite {
    /// Replays everything that the files in `folder` (`tests/data/reference`) name.
    ///
    /// # Errors
    /// A sentence with the file: a trace or reference that is missing or unreadable, or a run that
    /// did not end.
    pub fn run(folder: &Path) -> Result<Suite, String> {
        let micro_rows = rows(&folder.join("micro.csv"), ["micro", "instructions", "cycles"])?;
        let (short, long): (Vec<_>, Vec<_>) = micro_rows.iter().partition(|row| row.1 == MICRO_INSTRUCTIONS[0]);
        let micro = short.par_iter().map(|(name, _, cycles)| {
            let partner = long.iter().find(|row| row.0 == *name && row.1 == MICRO_INSTRUCTIONS[1]);
            let partner = partner.ok_or_else(|| format!("micro.csv: `{name}` has no row with {} instructions", MICRO_INSTRUCTIONS[1]))?;
            let mut ours = [0; 2];
            for (ours, count) in ours.iter_mut().zip(MICRO_INSTRUCTIONS) {
                let launches = replay(&folder.join(format!("micro/{name}_{count}/kernelslist.g")), WarpSchedulerKind::Lrr, GPU)?;
                *ours = last_end(&launches);
            }
            Ok(Micro { name: name.clone(), ours, reference: [*cycles, partner.2] })
        });
        let reference = read_reference(&folder.join("accelsim.csv"))?;
        let launches: Vec<Vec<Launch>> =
            traces(&reference).par_iter().map(|trace| compare(folder, trace, &reference, GPU)).collect::<Result<_, String>>()?;
        Ok(Suite { micro: micro.collect::<Result<_, String>>()?, launches: launches.concat(), corun: coruns(folder, GPU)? })
    }
}

/// Replays the cases of `corun/corun.csv` in `folder` on the GPU `runner`, by name or file;
/// scheduler GTO.
///
/// # Errors
/// As [`Suite::run`].
pub fn coruns(folder: &Path, runner: &str) -> Result<Vec<Corun>, String> {
    let folder = folder.join("corun");
    let rows = rows(&folder.join("corun.csv"), ["case", "first_kernel_end", "total_cycles"])?;
    let corun = rows.par_iter().map(|(name, first, total)| {
        let launches = replay(&folder.join(name).join(LIST), WarpSchedulerKind::Gto, runner)?;
        let first_end = launches.iter().filter_map(|(_, launch)| launch.end_cycle).min().unwrap_or_default();
        Ok(Corun { name: name.clone(), ours: [first_end, last_end(&launches)], reference: [*first, *total] })
    });
    corun.collect()
}

/// Comparisons on traces given by path.
#[derive(Clone, Debug)]
pub struct ByPath {
    /// Compared launches.
    pub launches: Vec<Launch>,
    /// Traces without a reference, and references without a trace.
    pub left_out: Vec<String>,
}

impl ByPath {
    /// Replays every `folder/*/kernelslist.g` with rows in `reference`, by default `accelsim.csv`
    /// next to `folder`, on the GPU `runner`, by name or file.
    ///
    /// # Errors
    /// As [`Suite::run`]; also if nothing could be compared.
    pub fn run(folder: &Path, reference: Option<&Path>, runner: &str) -> Result<ByPath, String> {
        let beside = || folder.join("..").join("accelsim.csv");
        let reference = read_reference(&reference.map_or_else(beside, PathBuf::from))?;
        let entries = std::fs::read_dir(folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| format!("cannot list {}: {error}", folder.display()))?.path();
            if path.join(LIST).is_file() {
                found.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        found.sort();
        let wanted = traces(&reference);
        let mut left_out: Vec<String> =
            found.iter().filter(|trace| !wanted.contains(trace)).map(|trace| format!("{trace}: no reference numbers")).collect();
        left_out.extend(wanted.iter().filter(|trace| !found.contains(trace)).map(|trace| format!("{trace}: no trace")));
        found.retain(|trace| wanted.contains(trace));
        if found.is_empty() {
            return Err(format!("{}: no trace that the reference has numbers for ({})", folder.display(), left_out.join("; ")));
        }
        let launches: Vec<Vec<Launch>> =
            found.par_iter().map(|trace| compare(folder, trace, &reference, runner)).collect::<Result<_, String>>()?;
        Ok(ByPath { launches: launches.concat(), left_out })
    }
}

/// Returns the mean of the absolute errors of cycles, in percent; 0 without launches.
pub fn mean_error_percent(launches: &[Launch]) -> f64 {
    let errors = launches.iter().map(Launch::cycles).map(|(ours, reference)| error_percent(ours as f64, reference as f64).abs());
    errors.sum::<f64>() / launches.len().max(1) as f64
}

/// Returns the traces with rows in a reference, in its order.
fn traces(reference: &[ReferenceLaunch]) -> Vec<String> {
    let mut names: Vec<String> = reference.iter().map(|row| row.trace.clone()).collect();
    names.dedup();
    names
}

fn compare(folder: &Path, trace: &str, reference: &[ReferenceLaunch], runner: &str) -> Result<Vec<Launch>, String> {
    let launches = replay(&folder.join(trace).join(LIST), WarpSchedulerKind::Gto, runner)?;
    let rows: Vec<&ReferenceLaunch> = reference.iter().filter(|row| row.trace == trace).collect();
    if rows.len() != launches.len() {
        return Err(format!("trace {trace} has {} launches, the reference has numbers for {}", launches.len(), rows.len()));
    }
    let launch = |row: &ReferenceLaunch| {
        let (kernel, counts) = row.launch.checked_sub(1).and_then(|at| launches.get(at)).filter(|(kernel, _)| *kernel == row.kernel)?;
        let ours = COLUMNS.map(|(_, value)| value(counts));
        Some(Launch { trace: trace.to_owned(), number: row.launch, kernel: kernel.clone(), ours, reference: row.values })
    };
    let mismatch = |row: &ReferenceLaunch| format!("trace {trace} has no launch {} of kernel {}", row.launch, row.kernel);
    rows.into_iter().map(|row| launch(row).ok_or_else(|| mismatch(row))).collect()
}

/// Runs a kernel list to its end under Left-over, the order of the reference. Unsupported records
/// are an error here, since the reference supports them.
fn replay(list: &Path, scheduler: WarpSchedulerKind, runner: &str) -> Result<Vec<(String, LaunchStats)>, String> {
    let mut warnings = Warnings::new();
    let workloads = workload::read_list(list, &Cache::off(), &mut warnings).map_err(|error| error.to_string())?;
    if !warnings.is_empty() {
        return Err(format!("{}: {warnings}", list.display()));
    }
    let mut gpu = gpus::load(runner).map_err(|error| error.to_string())?;
    gpu.sm.warp_scheduler = scheduler;
    let options = Options::new(End::Done);
    let run = Run { control: Control::Policy(Policy::LeftOver), workloads: workloads.iter().collect::<Vec<&Workload>>(), options };
    let outcome = SimulatedGpu::new(gpu).run(&run, &|_| {}).map_err(|error| format!("{}: {error}", list.display()))?;
    Ok(workloads.into_iter().map(|workload| workload.name).zip(outcome.launches).collect())
}

fn last_end(launches: &[(String, LaunchStats)]) -> u64 {
    launches.iter().filter_map(|(_, launch)| launch.end_cycle).max().unwrap_or_default()
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn read_reference(path: &Path) -> Result<Vec<ReferenceLaunch>, String> {
    reference::parse(&read(path)?).map_err(|error| format!("{}:{error}", path.display()))
}

/// Reads a table of rows with a name and two numbers in these columns.
fn rows(path: &Path, columns: [&str; 3]) -> Result<Vec<(String, u64, u64)>, String> {
    let row = |cells: &[&str]| Ok((cells[0].to_owned(), csv_table::number(cells[1])?, csv_table::number(cells[2])?));
    csv_table::read(&read(path)?, &columns, row).map_err(|error| format!("{}:{error}", path.display()))
}
