//! Command line of mias: `compare`, `evaluate`, `report`, `diff`, `run`, `kernels`, `sweep`, `gpu
//! list`, `gpu show`, `gpu fit`, `trace convert`, `trace export`, `trace info`, `firmware replay`,
//! `firmware generate`, `cache info`, `cache clean`, `options`, `policies`, `schema`,
//! `completions`, `man`.
//!
//! [`run_with`] runs the whole command line, also for programs with custom policies
//! (docs/start/own-policy.md).
//!
//! Exit codes:
//!
//! * 0: success.
//! * 1: a defect of the program, a difference found by `diff` or among the targets of `firmware
//!   replay`, or missing runs in `evaluate --merge`.
//! * 2: a mistake of the user; one message on standard error, no file written.
//! * 130: interrupted; finished work is kept.

mod about;
mod args;
mod arrivals;
mod cache;
mod choices;
mod compare;
mod custom_policy;
mod diff;
mod dump;
mod error;
mod evaluate;
mod export;
mod faults;
mod firmware;
mod fit;
mod gpu;
mod interrupt;
mod kernel_check;
mod kernels;
mod options;
mod pages;
mod policies;
mod progress;
mod replay;
mod report;
mod resolve;
mod run;
mod say;
mod schema;
mod settings;
mod sweep;
mod threads;
mod trace;
mod tracing;
mod user_kernel;

pub use error::CliError;
#[doc(hidden)]
pub use pages::write_pages;

use args::{Arguments, Command};
use mias_lab::experiment::custom_policy::Custom;
use mias_lab::experiment::policies::Policies;
use std::process::ExitCode;
use std::time::Instant;

/// Parses the arguments of the process and executes the command. It knows the built-in policies and
/// those in `own`.
pub fn run_with(own: &[Custom]) -> ExitCode {
    let policies = match Policies::with(own) {
        Ok(policies) => policies,
        Err(message) => {
            say::error(&CliError::User(message));
            return ExitCode::from(CliError::USER);
        }
    };
    // A panic is a defect of the program or of a policy; the default hook has printed it.
    ExitCode::from(std::panic::catch_unwind(|| main(&policies)).unwrap_or(1))
}

fn main(policies: &Policies) -> u8 {
    let started = Instant::now();
    let arguments = match Arguments::parse_with(policies) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing fails only on a closed stream; the exit code reports the rest. Help and
            // version exit with 0.
            let _ = error.print();
            return if error.use_stderr() { CliError::USER } else { 0 };
        }
    };
    say::at(arguments.level());
    let result = match &arguments.command {
        Command::Compare(compare) => compare::main(compare, policies),
        Command::Evaluate(args) => evaluate::main(args, policies),
        Command::Report(args) => report::main(args, policies),
        Command::Diff(args) => diff::main(args),
        Command::Run(run) => run::main(run, started),
        Command::Kernels(kernels) => kernels::main(kernels),
        Command::Sweep(sweep) => sweep::main(sweep),
        Command::Gpu(command) => gpu::main(command),
        Command::Trace(command) => trace::main(command),
        Command::Firmware(command) => firmware::main(command),
        Command::Cache(command) => cache::main(command),
        Command::Policies(args) => policies::main(args, policies),
        Command::Options(args) => options::main(args),
        Command::Schema(args) => schema::main(args, policies),
        Command::Completions(args) => about::completions(args, Arguments::command_with(policies)),
        Command::Man(args) => about::man(args, Arguments::command_with(policies)),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            say::error(&error);
            error.exit_code()
        }
    }
}
