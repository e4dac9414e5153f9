//! Choices of command-line options, by the names that users type.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mias_lab::choice::Choice;
use mias_lab::cosim::Core;
use mias_workloads::input::suggest;
use std::path::PathBuf;

/// Parses the name of one of the choices of an experiment.
pub(super) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let possible = T::ALL.iter().map(|choice| PossibleValue::new(choice.name()).help(choice.help()).aliases(choice.alias()));
    PossibleValuesParser::new(possible).try_map(|name| T::find(&name).ok_or_else(|| format!("unknown value `{name}`")))
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Aligned text
    Table,
    /// JSON
    Json,
}

/// Form of a report that is one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// Aligned text
    Table,
    /// JSON
    Json,
    /// Comma-separated values
    Csv,
}

/// End of a run other than by window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Until {
    /// Every kernel has completed once
    Done,
}

/// Firmware that runs the policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Firmware {
    /// Firmware in this process.
    Native,
    /// Firmware image on a core in QEMU: the given image, or the one that is built.
    Qemu(Core, Option<PathBuf>),
}

/// Parses `native`, or the name of a core in QEMU with an optional image path after a colon.
pub(super) fn firmware(word: &str) -> Result<Firmware, String> {
    let (name, image) = word.split_once(':').map_or((word, None), |(name, file)| (name, Some(PathBuf::from(file))));
    let core = match (name, &image) {
        ("native", None) => return Ok(Firmware::Native),
        ("native", Some(_)) => return Err("an image runs in QEMU: qemu:FILE, qemu-m0:FILE or qemu-riscv:FILE".into()),
        ("qemu", _) => Core::CortexM4,
        ("qemu-m0", _) => Core::CortexM0,
        ("qemu-riscv", _) => Core::RiscV,
        _ => return Err(suggest::unknown("firmware", name, &["native", "qemu", "qemu-m0", "qemu-riscv"])),
    };
    Ok(Firmware::Qemu(core, image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_is_here_or_in_qemu() {
        assert_eq!(firmware("native"), Ok(Firmware::Native));
        assert_eq!(firmware("qemu"), Ok(Firmware::Qemu(Core::CortexM4, None)));
        assert_eq!(firmware("qemu-m0:a/b.elf"), Ok(Firmware::Qemu(Core::CortexM0, Some("a/b.elf".into()))));
        assert!(firmware("native:x").unwrap_err().contains("qemu:FILE"));
        assert!(firmware("qemu-risc").unwrap_err().contains("did you mean `qemu-riscv`?"));
    }
}
