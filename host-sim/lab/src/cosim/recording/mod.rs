//! Recordings of the firmware at its register block: what `mias run --record` and `mias firmware generate` write, and `mias firmware
//! replay` feeds to the firmware in this process and to its images. `docs/recording-format.md` defines every byte.
//!
//! A recording holds the register accesses themselves, with the values read, and not the events behind them. Of the two that is the
//! stronger comparison and the simpler code: whatever a target does differently, a read included, is found at its first access and
//! named with register and value; and what answers the target is a list, with no model of the hardware between that two versions
//! would have to agree on. Equal accesses mean equal commands, decisions and registers at the end, since these are what was written.
//! The price: behind its first difference a target gets no sensible answers, so that nothing more is said of it; and a firmware that
//! reads a register more than the recorded one differs, though it may decide alike. Then the recording is to be made again.

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
    /// A read.
    Read {
        /// Byte offset in the map.
        offset: u32,
        /// What was given.
        value: u32,
    },
    /// A write.
    Write {
        /// Byte offset in the map.
        offset: u32,
        /// What was written.
        value: u32,
    },
}

impl Access {
    /// Whether it begins a decision: the firmware shows that it reads the counters and chooses.
    pub fn begins_decision(self) -> bool {
        self == Access::Write { offset: global::PHASE, value: PhaseCode::Decide as u32 }
    }
}

/// What a firmware is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// SMs.
    pub sms: u32,
    /// Kernels that it schedules at a time.
    pub kernels: u32,
    /// Configurations that it has room for.
    pub configs: u32,
}

/// A limit that is too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    what: &'static str,
    limit: u32,
    /// What is needed.
    pub asked: u32,
}

impl Short {
    /// The limit in words.
    pub fn had(&self) -> String {
        format!("{} {}", self.limit, self.what)
    }
}

impl Limits {
    /// The first of these limits that is below what is asked for.
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

/// Runs of one firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// What the recorded firmware was built for.
    pub maker: Limits,
    /// The runs, at least one.
    pub runs: Vec<Run>,
}

impl Recording {
    /// What a firmware must be built for to do the same: as many SMs as the largest machine has, as many kernels at a time, and room
    /// for the configurations that two rounds on that machine can try (sources.md D21), if the recorded firmware had it.
    pub fn asks_for(&self) -> Limits {
        let sms = self.runs.iter().map(|run| run.gpu.sm_count).max().unwrap_or(0);
        Limits { sms, kernels: self.maker.kernels, configs: self.maker.configs.min(2 * sms) }
    }
}

/// One run of the firmware, from reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The machine and what it was asked for, as in the register block.
    pub gpu: GpuDescription,
    /// Cycle of each step, and the number of accesses up to its end.
    steps: Vec<(u64, usize)>,
    accesses: Vec<Access>,
}

/// What the firmware did in one go: its start, or an interrupt.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Core cycle.
    pub cycle: u64,
    /// Its accesses, in order.
    pub accesses: &'a [Access],
}

impl Run {
    /// A run that has not begun.
    pub fn new(gpu: GpuDescription) -> Self {
        Run { gpu, steps: Vec::new(), accesses: Vec::new() }
    }

    /// Ends a step: the accesses since the last one are its.
    pub fn end_step(&mut self, cycle: u64) {
        self.steps.push((cycle, self.accesses.len()));
    }

    /// The accesses, for those of the step at hand to be added.
    pub fn accesses_mut(&mut self) -> &mut Vec<Access> {
        &mut self.accesses
    }

    /// The steps: the first is the firmware's start, the others are interrupts.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let begins = std::iter::once(0).chain(self.steps.iter().map(|&(_, end)| end));
        self.steps.iter().zip(begins).map(|(&(cycle, end), begin)| Step { cycle, accesses: &self.accesses[begin..end] })
    }

    /// All accesses, in order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Interrupts handled.
    pub fn interrupts(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }
}

/// Reads a recording.
///
/// # Errors
/// [`InputFileError`] that names the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Recording, InputFileError> {
    let name = path.display().to_string();
    let bytes = input::file::bytes(&name, MOST_BYTES)?;
    decode(&bytes).map_err(|problem| InputFileError::whole(&name, problem))
}

/// True if the file begins like a recording, whatever its name.
///
/// # Errors
/// Those of opening and reading it.
pub fn is_recording(path: &Path) -> std::io::Result<bool> {
    let mut first = Vec::new();
    File::open(path)?.take(file::TELLING_BYTES).read_to_end(&mut first)?;
    Ok(file::is_one(&first))
}

/// A bus that keeps a list of the accesses made over it, if there is one.
#[derive(Debug)]
pub struct Recorder<'a, B> {
    /// The bus.
    pub bus: &'a mut B,
    /// The list.
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
