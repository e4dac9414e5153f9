//! `mias schema`: JSON Schemas of the TOML input files, for editors. The plan schema includes
//! custom policies.

use super::CliError;
use super::choices::choice;
use mias_lab::choices;
use mias_lab::evaluate::plan;
use mias_lab::experiment::policies::Policies;
use mias_lab::gpus;
use mias_lab::output::Output;
use mias_workloads::input::schema;
use mias_workloads::kernels;
use std::path::PathBuf;

choices! {
    /// A kind of file.
    pub(super) enum Kind {
        /// GPU file, for `--gpu`.
        Gpu = "gpu",
        /// Plan file, for `mias evaluate`.
        Plan = "plan",
        /// Kernel file, for every command that runs kernels.
        Kernel = "kernel",
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// Kind of TOML file
    #[arg(value_parser = choice::<Kind>())]
    kind: Kind,
    /// Write the schema to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &SchemaArgs, policies: &Policies) -> Result<(), CliError> {
    let output = Output::open(args.out.as_deref())?;
    let schema = match args.kind {
        Kind::Gpu => gpus::schema::schema(),
        Kind::Plan => plan::schema(policies),
        Kind::Kernel => kernels::file::schema(),
    };
    Ok(output.write(&schema::text(&schema))?)
}
