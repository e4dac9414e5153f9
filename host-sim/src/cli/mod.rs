//! The command line: `compare`, `evaluate`, `diff`, `run`, `kernels`, `sweep`, `gpu show`, `gpu fit`, `trace convert`,
//! `trace export`, `trace info`, `firmware replay`, `firmware generate`, `cache info`, `cache clean`.
//!
//! Exit codes: 0 done, 2 the user's mistake (one message on standard error, nothing written), 1 ours, or targets of `firmware replay`
//! or folders that differ, 130 interrupted (what was finished is kept).

mod args;
mod cache;
mod choices;
mod compare;
mod diff;
mod error;
mod evaluate;
mod export;
mod firmware;
mod fit;
mod interrupt;
mod kernel_check;
mod kernels;
mod progress;
mod resolve;
mod run;
mod sweep;
mod trace;
mod user_kernel;

pub use error::CliError;

use crate::gpu_file;
use crate::report::output::Output;
use args::{Arguments, Command, GpuCommand};
use choices::Format;
use clap::Parser;
use mias_hw_model::config::GpuConfig;

/// Parses the process' arguments, does what they ask, and returns the exit code.
pub fn main() -> u8 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing can only fail on a closed stream; the exit code says the rest. Help and version are no errors: 0.
            let _ = error.print();
            return if error.use_stderr() { CliError::USER } else { 0 };
        }
    };
    let result = match &arguments.command {
        Command::Compare(compare) => compare::main(compare),
        Command::Evaluate(args) => evaluate::main(args),
        Command::Diff(args) => diff::main(args),
        Command::Run(run) => run::main(run),
        Command::Kernels(kernels) => kernels::main(kernels),
        Command::Sweep(sweep) => sweep::main(sweep),
        Command::Gpu(GpuCommand::Show { gpu, format }) => show_gpu(gpu, *format),
        Command::Gpu(GpuCommand::Fit(args)) => fit::main(args),
        Command::Trace(command) => trace::main(command),
        Command::Firmware(command) => firmware::main(command),
        Command::Cache(command) => cache::main(command),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            error.exit_code()
        }
    }
}

fn show_gpu(name: &str, format: Format) -> Result<(), CliError> {
    let gpu: GpuConfig = gpu_file::load(name)?;
    let text = match format {
        Format::Table => toml::to_string(&gpu).map_err(CliError::internal)?,
        Format::Json => serde_json::to_string_pretty(&gpu).map_err(CliError::internal)? + "\n",
    };
    Ok(Output::open(None)?.write(&text)?)
}
