//! `mias run --ptx`: a user's kernel described by options.

use super::CliError;
use super::args::{RunArgs, UserKernelArgs};
use mias_workloads::kernels::argument::Argument;
use mias_workloads::kernels::{Kernel, Options, Place, Registers, code};
use std::path::Path;

/// Returns the PTX file, or CUDA source for nvcc, of a kernel described by options; `None` if words
/// name the kernels.
pub(super) fn wanted(args: &RunArgs) -> Result<Option<&Path>, CliError> {
    let user = &args.user;
    if let Some(ptx) = &user.ptx {
        return Ok(Some(ptx));
    }
    if let ([word], true) = (args.kernels.as_slice(), user.nvcc.is_some())
        && code::is_cuda_source(Path::new(word))
    {
        return Ok(Some(Path::new(word)));
    }
    let given = [
        ("--entry", user.entry.is_some()),
        ("--grid", !user.grid.is_empty()),
        ("--block", !user.block.is_empty()),
        ("--regs", user.regs.is_some()),
        ("--ptxas", user.ptxas.is_some()),
        ("--shared", user.shared != 0),
        ("--arg", !user.arg.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(CliError::User(format!("{option} describes a user kernel: add its PTX with --ptx FILE, or its source with --nvcc")))
        }
        None => Ok(None),
    }
}

/// Creates the kernel that the options describe, with the PTX file `ptx`.
pub(super) fn of(ptx: &Path, args: &UserKernelArgs) -> Result<Kernel, CliError> {
    let of_source = code::is_cuda_source(ptx) && args.nvcc.is_some();
    if let (false, Some(advice)) = (of_source, code::advice(ptx)) {
        return Err(CliError::User(advice));
    }
    let extent = |option: &str, list: &[u32]| {
        axes(list).ok_or_else(|| CliError::User(format!("{option}: expected one to three numbers, each at least 1, as in {option} 64,64")))
    };
    let registers = match (args.regs, &args.ptxas) {
        (Some(count), _) => Registers::Count(count),
        (None, Some(report)) => Registers::Report(report.clone()),
        (None, None) if of_source => Registers::OfSource(ptx.to_owned()),
        (None, None) => {
            let message = "PTX does not state the number of registers per thread: set --regs N, or --ptxas FILE with the output of `nvcc -cubin \
                -Xptxas -v`";
            return Err(CliError::User(message.into()));
        }
    };
    let argument = |(number, word): (usize, &String)| {
        let place = Place::of(&format!("--arg {word} (argument {number})"));
        let argument = Argument::parse(word).map_err(|message| CliError::User(place.fail(message).to_string()))?;
        Ok((place, argument))
    };
    let arguments = (1..).zip(&args.arg).map(argument).collect::<Result<_, CliError>>()?;
    let stem = ptx.file_stem().unwrap_or_default().to_string_lossy();
    let kernel = Kernel::of_options(Options {
        name: args.entry.clone().unwrap_or_else(|| stem.into_owned()),
        ptx: ptx.to_owned(),
        entry: args.entry.clone(),
        grid: extent("--grid", &args.grid)?,
        block: extent("--block", &args.block)?,
        registers,
        shared_bytes: args.shared,
        arguments,
    });
    match &args.nvcc {
        Some(architecture) => kernel.with_nvcc(architecture).map_err(|error| CliError::User(error.to_string())),
        None => Ok(kernel),
    }
}

/// Parses one to three extents, each at least 1.
fn axes(list: &[u32]) -> Option<[u32; 3]> {
    let mut axes = [1; 3];
    axes.get_mut(..list.len()).filter(|axes| !axes.is_empty())?.copy_from_slice(list);
    (!axes.contains(&0)).then_some(axes)
}
