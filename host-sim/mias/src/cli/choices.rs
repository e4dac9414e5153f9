//! What some options of the command line choose from, by the names that users type.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mias_hw_model::config::{StaticLimit, Unlimited, WarpLimit};
use mias_lab::choice::Choice;

/// Parses the name of one of the experiments' choices.
pub(super) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let possible = T::ALL.iter().map(|choice| PossibleValue::new(choice.name()).help(choice.help()).aliases(choice.alias()));
    PossibleValuesParser::new(possible).try_map(|name| T::find(&name).ok_or_else(|| format!("unknown value `{name}`")))
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Form of a report that is one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// End of a run other than by window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Until {
    /// When every kernel has completed once
    Done,
}

/// What becomes of a kernel that ends within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Relaunch {
    /// It starts again in place
    On,
    /// It has ended
    Off,
}

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FirmwareKind {
    /// The firmware in this process
    Native,
    /// Its image on a Cortex-M4F (QEMU's mps2-an386)
    Qemu,
    /// Its image on a Cortex-M0 (QEMU's microbit)
    QemuM0,
    /// Its image on a 32-bit RISC-V core (QEMU's virt)
    QemuRiscv,
}

/// Warp scheduling order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum WarpScheduler {
    /// Greedy, then oldest
    Gto,
    /// Loose round robin
    Lrr,
    /// Kernels take turns, greedy then oldest within a kernel
    KernelLrr,
}

/// Whose off-chip memory instruction is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MemoryIssue {
    /// The warp scheduler decides
    Scheduler,
    /// Kernels take turns (RBMI)
    RoundRobin,
    /// Kernels have quotas, so that they make as many requests each (QBMI)
    Quota,
}

/// From when on memory instructions are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MemoryIssueFrom {
    /// Always
    Reset,
    /// Not while configurations are tried
    Decision,
}

/// Off-chip memory instructions that kernels may have in flight on an SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InFlight {
    /// Any number.
    None,
    /// So many each (SMIL).
    Static(Vec<StaticLimit>),
    /// As many as the hardware finds (DMIL).
    Dynamic,
    /// As many as it finds on one SM, for all (global DMIL).
    DynamicGlobal,
    /// As many as the firmware finds.
    Firmware,
}

/// Reads a limit of active warps: a number, or `inf`.
pub(super) fn warp_limit(word: &str) -> Result<WarpLimit, String> {
    match word {
        "inf" => Ok(WarpLimit::Any(Unlimited::Inf)),
        number => match number.parse() {
            Ok(most @ 1..=63) => Ok(WarpLimit::Most(most)),
            _ => Err("a limit is 1 to 63 warps, or inf".into()),
        },
    }
}

/// Reads `none`, `dynamic`, `dynamic-global`, `firmware`, or limits separated by commas.
pub(super) fn in_flight(word: &str) -> Result<InFlight, String> {
    let limit = |part: &str| match part {
        "inf" => Ok(StaticLimit::Any(Unlimited::Inf)),
        number => match number.parse() {
            Ok(most @ 1..=127) => Ok(StaticLimit::Most(most)),
            _ => {
                Err(format!("`{part}`: a limit is 1 to 127 instructions, or inf; or say none, dynamic, dynamic-global or firmware for all"))
            }
        },
    };
    match word {
        "none" => Ok(InFlight::None),
        "dynamic" => Ok(InFlight::Dynamic),
        "dynamic-global" => Ok(InFlight::DynamicGlobal),
        "firmware" => Ok(InFlight::Firmware),
        limits => limits.split(',').map(limit).collect::<Result<_, _>>().map(InFlight::Static),
    }
}
