//! `mias trace export`: a kernel or a kernel list as an Accel-Sim trace.

use super::{CliError, interrupt, progress, say};
use mias_lab::cancel::Cancel;
use mias_lab::output::Output;
use mias_lab::table::grouped;
use mias_ptx::lower::observe::Job;
use mias_trace::accelsim::Warnings;
use mias_trace::accelsim::export::{self, Export};
use mias_trace::trace_file;
use mias_workloads::kernels::{KernelError, Prepared, Spec};
use std::path::Path;

pub(super) fn main(source: &str, folder: &Path, replace: bool) -> Result<(), CliError> {
    let path = Path::new(source);
    let request = Spec::parse(source);
    // A broken kernel description is not a list either.
    let is_list = path.is_file() && path.extension().is_none_or(|extension| extension != "toml");
    if request.is_err() && is_list && trace_file::is_trace_file(path).unwrap_or(false) {
        let why = "a trace file holds neither opcodes nor lanes; use the kernel list that it was converted from";
        return Err(CliError::User(format!("{source}: {why}")));
    }
    let cancel = interrupt::catch()?;
    let mut export = Export::create(folder, replace)?;
    match request {
        Ok(request) => execute(&mut export, &request, source, &cancel)?,
        Err(_) if is_list => copy(&mut export, path, &cancel)?,
        Err(error) => return Err(CliError::User(format!("{error}; no kernel list of this name either"))),
    }
    let (launches, insts) = (export.launches(), grouped(export.warp_insts()));
    export.finish()?;
    let plural = if launches == 1 { "" } else { "es" };
    let summary = format!("{}: {launches} launch{plural}, {insts} warp instructions\n", folder.display());
    Ok(Output::open(None)?.write(&summary)?)
}

fn copy(export: &mut Export, list: &Path, cancel: &Cancel) -> Result<(), CliError> {
    let mut warnings = Warnings::new();
    export::copy(export, list, &mut warnings, &mut || !cancel.requested())?;
    if !warnings.is_empty() {
        say::warning(warnings);
    }
    Ok(())
}

/// Executes a kernel, appends its trace, and checks its results: the trace of a wrong run does not
/// represent the kernel.
fn execute(export: &mut Export, request: &Spec, word: &str, cancel: &Cancel) -> Result<(), CliError> {
    let Prepared { program, instance, info } = request.prepare()?;
    let bar = progress::tracing(&[request.name(word)]);
    bar.inc_length(info.tbs());
    let mut progress = |done| {
        bar.set_position(done);
        !cancel.requested()
    };
    let job = Job { program: &program, launch: &instance.launch, device: &instance.memory };
    let executed = export::execute(export, job, &info, &mut progress);
    bar.finish_and_clear();
    executed?;
    Ok(instance.check_results(&info.name).map_err(KernelError::from)?)
}
