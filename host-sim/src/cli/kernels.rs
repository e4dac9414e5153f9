//! `mias kernels`: what can be run, and how much of it fits an SM.

use super::CliError;
use super::args::{Format, KernelsArgs};
use crate::report::output::Output;
use crate::report::table::{self, grouped};
use crate::{gpu_file, kernels};
use mias_hw_model::sm::Resources;
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    description: &'static str,
    size: u64,
    size_unit: &'static str,
    tbs: u64,
    threads: u32,
    registers_per_thread: u32,
    shared_bytes: u32,
    max_tbs: u32,
}

pub(super) fn main(args: &KernelsArgs) -> Result<(), CliError> {
    let gpu = gpu_file::load(&args.gpu)?;
    let mut rows = Vec::new();
    for &kernel in kernels::ALL {
        let info = kernels::prepare(&kernels::Spec::of(kernel)).map_err(CliError::internal)?.info;
        rows.push(Row {
            name: kernel.name(),
            description: kernel.description(),
            size: kernel.default_size(),
            size_unit: kernel.size_unit(),
            tbs: info.tbs(),
            threads: info.threads(),
            registers_per_thread: info.registers_per_thread,
            shared_bytes: info.shared_bytes,
            max_tbs: Resources::of_sm(&gpu.sm).count(&Resources::of_tb(&info, &gpu.sm)),
        });
    }
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&rows).map_err(CliError::internal)? + "\n",
        Format::Table => {
            let mut table = table::new(&["kernel", "TBs", "threads/TB", "regs/thread", "shared B/TB", "max TBs/SM"]);
            for row in &rows {
                let (threads, registers, shared) = (row.threads.into(), row.registers_per_thread.into(), row.shared_bytes.into());
                let numbers = [row.tbs, threads, registers, shared, row.max_tbs.into()].map(grouped);
                table.add_row(std::iter::once(row.name.to_owned()).chain(numbers));
            }
            let about = rows.iter().map(|row| format!("{}: {}; {} {}\n", row.name, row.description, row.size, row.size_unit));
            format!("{}\n{}", table::text(&table), about.collect::<String>())
        }
    };
    Ok(Output::open(None)?.write(&text)?)
}
