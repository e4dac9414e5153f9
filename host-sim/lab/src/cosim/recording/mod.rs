//! Recordings of the firmware at its register block. `mias run --record` and `mias firmware
//! generate` write them; `mias firmware replay` feeds them to the firmware in this process and to
//! its images. `docs/reference/recording-format.md` defines every byte.
//!
//! A recording holds the register accesses with the values read, instead of the events behind them.
//! This comparison is stronger and its code simpler. Any difference of a target, including a read,
//! is found at its first access and reported with register and value. The target gets its answers
//! from a list, without a hardware model on which two versions would have to agree. Equal accesses
//! mean equal commands, decisions and final registers, since these are the writes.
//!
//! There are two costs. After its first difference a target gets no sensible answers, so that
//! nothing more can be said of it. A firmware that reads an additional register differs, even if it
//! decides alike. Then the recording must be made again.

mod error;
mod file;
pub mod generate;
mod register;
mod steps;
#[cfg(test)]
mod tests;

pub use error::{Place, Problem};
pub use file::{MOST_BYTES, VERSION, decode, encode};
pub use register::register_name;

use mias_hw_model::register_block::GpuDescription;
use mias_registers::bus::Bus;
use mias_registers::{PhaseCode, global};
use mias_workloads::input;
use mias_workloads::input::file::InputFileError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// One register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read of a register.
    Read {
        /// Byte offset in the map.
        offset: u32,
        /// Value returned.
        value: u32,
    },
    /// Write of a register.
    Write {
        /// Byte offset in the map.
        offset: u32,
        /// Value written.
        value: u32,
    },
}

impl Access {
    /// Returns whether the access begins a decision: the firmware shows that it reads the counters
    /// and chooses.
    pub fn begins_decision(self) -> bool {
        self == Access::Write { offset: global::PHASE, value: PhaseCode::Decide as u32 }
    }
}

/// Limits that a firmware was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of SMs.
    pub sms: u32,
    /// Number of kernels scheduled at a time.
    pub kernels: u32,
    /// Capacity for configurations.
    pub configs: u32,
}

/// Limit that is too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    what: &'static str,
    limit: u32,
    /// Required value.
    pub asked: u32,
}

impl Short {
    /// Describes the limit in words.
    pub fn had(&self) -> String {
        format!("{} {}", self.limit, self.what)
    }
}

impl Limits {
    /// Returns the first of these limits that is below the requested one.
    pub fn short_of(self, asked: Limits) -> Option<Short> {
        let pairs = [
            ("SMs", self.sms, asked.sms),
            ("kernels at a time", self.kernels, asked.kernels),
            ("configurations", self.configs, asked.configs),
        ];
        let short = pairs.into_iter().find(|(_, limit, asked)| asked > limit);
        short.map(|(what, limit, asked)| Short { what, limit, asked })
    }
}

/// Recorded runs of one firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Limits of the recorded firmware.
    pub maker: Limits,
    /// Runs, at least one.
    pub runs: Vec<Run>,
}

impl Recording {
    /// Returns the limits that a firmware needs to act the same. They are the SMs of the largest
    /// GPU, the concurrent kernels, and capacity for the configurations of two rounds on it
    /// (sources.md D21), as far as the recorded firmware had it.
    pub fn asks_for(&self) -> Limits {
        let sms = self.runs.iter().map(|run| run.gpu.sm_count).max().unwrap_or(0);
        Limits { sms, kernels: self.maker.kernels, configs: self.maker.configs.min(2 * sms) }
    }
}

/// One run of the firmware, from reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// GPU and straps, as in the register block.
    pub gpu: GpuDescription,
    /// Cycle of each step, and the number of accesses up to its end.
    steps: Vec<(u64, usize)>,
    accesses: Vec<Access>,
}

/// Accesses of one activation of the firmware: its start, or an interrupt.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Core cycle of the step.
    pub cycle: u64,
    /// Accesses of the step, in order.
    pub accesses: &'a [Access],
}

impl Run {
    /// Creates a run without steps.
    pub fn new(gpu: GpuDescription) -> Self {
        Run { gpu, steps: Vec::new(), accesses: Vec::new() }
    }

    /// Ends a step that consists of the accesses since the last one.
    pub fn end_step(&mut self, cycle: u64) {
        self.steps.push((cycle, self.accesses.len()));
    }

    /// Returns the accesses, to which those of the current step are appended.
    pub fn accesses_mut(&mut self) -> &mut Vec<Access> {
        &mut self.accesses
    }

    /// Returns the steps: the first is the firmware's start, the others are interrupts.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let begins = std::iter::once(0).chain(self.steps.iter().map(|&(_, end)| end));
        self.steps.iter().zip(begins).map(|(&(cycle, end), begin)| Step { cycle, accesses: &self.accesses[begin..end] })
    }

    /// Returns all accesses, in order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Returns the number of interrupts handled.
    pub fn interrupts(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }
}

/// Reads a recording from a file.
///
/// # Errors
/// [`InputFileError`] that names the file and the error.
pub fn read(path: &Path) -> Result<Recording, InputFileError> {
    let name = path.display().to_string();
    let bytes = input::file::bytes(&name, MOST_BYTES)?;
    decode(&bytes).map_err(|problem| InputFileError::whole(&name, problem))
}

/// Returns whether the file begins like a recording, whatever its name.
///
/// # Errors
/// Those of opening and reading it.
pub fn is_recording(path: &Path) -> std::io::Result<bool> {
    let mut first = Vec::new();
    File::open(path)?.take(file::TELLING_BYTES).read_to_end(&mut first)?;
    Ok(file::is_one(&first))
}

/// Bus that records the accesses made over it, if it has a list.
#[derive(Debug)]
pub struct Recorder<'a, B> {
    /// Underlying bus.
    pub bus: &'a mut B,
    /// List of accesses.
    pub list: Option<&'a mut Vec<Access>>,
}

impl<B: Bus> Bus for Recorder<'_, B> {
    fn read32(&mut self, offset: u32) -> u32 {
        let value = self.bus.read32(offset);
        if let Some(list) = &mut self.list {
            list.push(Access::Read { offset, value });
        }
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if let Some(list) = &mut self.list {
            list.push(Access::Write { offset, value });
        }
        self.bus.write32(offset, value);
    }
}
