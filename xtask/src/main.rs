//! `cargo xtask`: all scripts of the workspace, in Rust. `cargo xtask --help` lists the tasks.

// The file instead of the crate: with a dependency on `mias-lab`, every task would wait for the
// simulator to compile.
#[path = "../../host-sim/lab/src/cosim/boards.rs"]
#[expect(unreachable_pub, reason = "public in mias-lab")]
mod boards;
mod book;
mod budget;
mod characterise;
mod ci;
// The file, not the crate, for the same reason.
#[path = "../../host-sim/mias/src/cli/pages/citations.rs"]
mod citations;
mod cosim;
mod docs;
mod header;
mod image;
mod kernels;
mod latency;
mod log;
mod miri;
mod own_board;
mod own_policy;
mod page_check;
mod pictures;
mod rehearse;
mod schema;
mod setup;
mod sim_rate;
mod slurm;
mod snapshots;
mod soak;
mod source_docs;
mod subjects;
mod svd;
mod targets;
mod test;
mod threads;
mod util;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, checks and maintains the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs the requirements of the tests: the firmware's targets, llvm-tools and QEMU.
    Setup,
    /// All tests of the workspace, then the firmware images, their checks, and the decision
    /// latency.
    Test,
    /// Everything a change must pass: format, lints, documentation, tests, image, package.
    Ci,
    /// Builds the firmware images, and checks their content, size and stack.
    Image,
    /// Counts a decision's instructions on the processors (QEMU), and writes
    /// docs/porting/decision-latency.md.
    Latency,
    /// Recompiles kernels/ with nvcc: PTX and the ptxas resource reports.
    Kernels,
    /// Builds the book, docs/, into target/book with mdBook.
    Book,
    /// Writes the generated reference pages of docs/, docs/generated/mias.svd and
    /// docs/generated/mias.h.
    Docs,
    /// Writes the JSON Schemas of TOML files, docs/generated/, from the types and tables that read
    /// them.
    Schema,
    /// Runs the seven kernels alone with every number of TBs per SM, and writes the tables of
    /// docs/results/kernels.md; some minutes.
    Characterise,
    /// Runs the firmware's properties with a million cases each, and many random schedules and
    /// mutated files.
    Soak(soak::Args),
    /// Runs the image's main loop on QEMU's boards: sleep, logs, watchdog, crash record.
    Rehearse,
    /// Prints the logs in a memory dump of an image built with the feature `defmt`.
    Log(log::Args),
    /// Runs the firmware's tests in Miri; needs a nightly compiler.
    Miri(miri::Args),
    /// Checks a results folder's report and figures in Chromium: widths of windows, overlapping
    /// texts, print.
    PageCheck(page_check::Args),
    /// Writes the book's diagrams into docs/pictures.
    Pictures(pictures::Args),
    /// Measures the timing model: warp instructions per second, and instructions per warp
    /// instruction (with valgrind).
    SimRate,
    /// Runs an evaluation on a Slurm cluster of two nodes on this machine, loses one of them, and
    /// compares with a local run.
    Slurm(slurm::Args),
    /// Runs the tests of the model and its dependents with several threads inside every run, or in
    /// ThreadSanitizer.
    Threads(threads::Args),
    /// Compares the model with the reference numbers, prints the tables, and writes
    /// docs/results/validation.md.
    Validate(validate::Args),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().task {
        Task::Setup => setup::run(),
        Task::Test => test::run(),
        Task::Ci => ci::run(),
        Task::Image => image::run(),
        Task::Latency => latency::run(),
        Task::Kernels => kernels::run(),
        Task::Book => book::run(),
        Task::Docs => docs::run(),
        Task::Schema => schema::run(),
        Task::Characterise => characterise::run(),
        Task::Soak(args) => soak::run(&args),
        Task::Rehearse => rehearse::run(),
        Task::Log(args) => log::run(&args),
        Task::Miri(args) => miri::run(&args),
        Task::PageCheck(args) => page_check::run(&args),
        Task::Pictures(args) => pictures::run(&args),
        Task::SimRate => sim_rate::run(),
        Task::Slurm(args) => slurm::run(&args),
        Task::Threads(args) => threads::run(&args),
        Task::Validate(args) => validate::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
