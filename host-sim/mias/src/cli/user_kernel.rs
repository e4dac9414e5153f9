//! `mias run --ptx`: a user's kernel from options.

use super::CliError;
use super::args::UserKernelArgs;
use mias_workloads::kernels::user::argument::Argument;
use mias_workloads::kernels::user::{Registers, UserKernel, axes};
use std::path::{Path, PathBuf};

/// The kernel that the options describe, of the PTX file `ptx`.
pub(super) fn of(ptx: &Path, args: &UserKernelArgs) -> Result<UserKernel, CliError> {
    let extent = |option: &str, list: &[u32]| {
        axes(list).ok_or_else(|| CliError::User(format!("{option}: expected one to three numbers, each at least 1, as in {option} 64,64")))
    };
    let registers = match (args.regs, &args.ptxas) {
        (Some(count), _) => Registers::Count(count),
        (None, Some(report)) => Registers::Report(report.clone()),
        (None, None) => {
            let message = "PTX does not say how many registers a thread needs: give --regs N, or --ptxas FILE with what `nvcc -cubin \
                -Xptxas -v` prints";
            return Err(CliError::User(message.into()));
        }
    };
    let argument = |(number, word): (usize, &String)| {
        let place = format!("--arg {word} (argument {number})");
        let argument = Argument::parse(word).map_err(|message| CliError::User(format!("{place}: {message}")))?;
        Ok((place, argument))
    };
    let arguments = (1..).zip(&args.arg).map(argument).collect::<Result<_, CliError>>()?;
    let stem = ptx.file_stem().unwrap_or_default().to_string_lossy();
    Ok(UserKernel {
        name: args.entry.clone().unwrap_or_else(|| stem.into_owned()),
        ptx: ptx.to_owned(),
        entry: args.entry.clone(),
        grid: extent("--grid", &args.grid)?,
        block: extent("--block", &args.block)?,
        registers,
        shared_bytes: args.shared,
        arguments,
        folder: PathBuf::new(),
        origin: format!("--ptx {}", ptx.display()),
    })
}
