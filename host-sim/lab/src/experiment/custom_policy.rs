//! A policy of one's own: one that the firmware does not hold, brought by a program that has this crate as its library
//! (docs/own-policy.md). It runs in the same firmware, behind the same register block, in the place of the firmware's own.

use super::decider::Decider;
use crate::cosim::recording::Recorder;
use crate::decision_cost::Situation;
use mias_firmware::driver::{DEFAULT_CONFIGS, StartError};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::policy::Policy;
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use std::cmp::Ordering;
use std::fmt;

/// A policy that a program brings.
///
/// It must decide by what its operations are given and nothing else: no clock, no file, no random number, no state that outlives a run.
/// Runs are repeated, shared and kept on the strength of that.
pub trait CustomPolicy: Policy + Clone + fmt::Debug + Send + Sync + 'static {
    /// What users type and reports show: small letters, digits and hyphens, a letter first, and no name that is taken.
    const NAME: &'static str;

    /// What it is, in a line, for `--help`.
    const HELP: &'static str;

    /// The policy for a machine, at the start of a run.
    fn new(gpu: &GpuProperties, settings: &Settings) -> Self;

    /// Instructions of the machine's microcontroller from the interrupt that leads to a decision to the commit of its quotas, if somebody
    /// has counted them. By default nobody has: a decision then takes what the slowest of the firmware's metrics takes
    /// (docs/decision-latency.md), an assumption.
    fn decision_instructions(situation: &Situation) -> Option<u64> {
        let _ = situation;
        None
    }
}

/// Starts the firmware with a policy.
type Start = fn(&mut Recorder<'_, RegisterBlock>) -> Result<Box<dyn Decider>, StartError>;

/// An [`CustomPolicy`] as a value. Two are the same if their names are.
#[derive(Clone, Copy)]
pub struct Custom {
    name: &'static str,
    help: &'static str,
    start: Start,
    instructions: fn(&Situation) -> Option<u64>,
    /// Of the program that holds it; 0: not asked for.
    program: u64,
}

impl Custom {
    /// Policy `P`.
    #[must_use]
    pub const fn of<P: CustomPolicy>() -> Self {
        Custom { name: P::NAME, help: P::HELP, start: start::<P>, instructions: P::decision_instructions, program: 0 }
    }

    /// What users type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a line.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.help
    }

    /// The same, of the program with this fingerprint ([`crate::fingerprint::program`]), on which results depend that are kept.
    #[must_use]
    pub const fn of_program(self, program: u64) -> Self {
        Custom { program, ..self }
    }

    /// The fingerprint of the program that holds it; 0 if nobody asked.
    #[must_use]
    pub const fn program(&self) -> u64 {
        self.program
    }

    /// What is said to somebody who wants an image to decide by it.
    #[must_use]
    pub fn not_in_an_image(&self) -> String {
        format!(
            "the policy `{}` is this program's own, and an image holds only those of firmware/src/policy; leave out --firmware, or add it \
             there as docs/own-policy.md says",
            self.name
        )
    }

    /// Instructions of a decision, if the policy states them.
    pub(super) fn instructions(&self, situation: &Situation) -> Option<u64> {
        (self.instructions)(situation)
    }

    /// The firmware with this policy, started on a register block.
    pub(super) fn start(&self, bus: &mut Recorder<'_, RegisterBlock>) -> Result<Box<dyn Decider>, StartError> {
        (self.start)(bus)
    }
}

fn start<P: CustomPolicy>(bus: &mut Recorder<'_, RegisterBlock>) -> Result<Box<dyn Decider>, StartError> {
    let Ok(settings) = Settings::read(bus);
    let firmware: Firmware<P, DEFAULT_CONFIGS> = Firmware::start(bus, settings, |gpu| P::new(gpu, &settings))?;
    Ok(Box::new(firmware))
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").field(&self.name).finish()
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Custom {}

impl PartialOrd for Custom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Custom {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}
