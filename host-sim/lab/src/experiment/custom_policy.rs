//! Custom policies: policies of a program that links this crate as a library
//! (docs/start/own-policy.md). A custom policy runs in the same firmware, behind the same register
//! block, instead of a built-in one.

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

/// Policy that a program supplies.
///
/// Its decisions must depend only on the arguments of its operations: no clock, no file, no random
/// number, no state that outlives a run. Repeated, shared and stored runs rely on it.
pub trait CustomPolicy: Policy + Clone + fmt::Debug + Send + Sync + 'static {
    /// Name in options and reports: small letters, digits and hyphens, a letter first, different
    /// from all other policies.
    const NAME: &'static str;

    /// One-line description for `--help`.
    const HELP: &'static str;

    /// Creates the policy for a GPU, at the start of a run.
    fn new(gpu: &GpuProperties, settings: &Settings) -> Self;

    /// Returns the microcontroller instructions from the interrupt that leads to a decision to the
    /// commit of its quotas, if counted. The default is `None`. A decision then takes the time of
    /// the slowest built-in metric (docs/porting/decision-latency.md), an assumption.
    fn decision_instructions(situation: &Situation) -> Option<u64> {
        let _ = situation;
        None
    }
}

/// Function that starts the firmware with a policy.
type Start = fn(&mut Recorder<'_, RegisterBlock>) -> Result<Box<dyn Decider>, StartError>;

/// A [`CustomPolicy`] as a value. Two values are equal if their names are.
#[derive(Clone, Copy)]
pub struct Custom {
    name: &'static str,
    help: &'static str,
    start: Start,
    instructions: fn(&Situation) -> Option<u64>,
    /// Fingerprint of the program; 0 if not requested.
    program: u64,
}

impl Custom {
    /// Wraps policy `P`.
    #[must_use]
    pub const fn of<P: CustomPolicy>() -> Self {
        Custom { name: P::NAME, help: P::HELP, start: start::<P>, instructions: P::decision_instructions, program: 0 }
    }

    /// Returns the name of the policy.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the one-line description.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.help
    }

    /// Sets the fingerprint of the program ([`crate::fingerprint::program`]). Stored results depend
    /// on it.
    #[must_use]
    pub const fn of_program(self, program: u64) -> Self {
        Custom { program, ..self }
    }

    /// Returns the fingerprint of the program; 0 if not requested.
    #[must_use]
    pub const fn program(&self) -> u64 {
        self.program
    }

    /// Returns the error message for a request to run this policy in an image.
    #[must_use]
    pub fn not_in_an_image(&self) -> String {
        format!(
            "policy `{}` belongs to this program, and an image has only those of firmware/src/policy; leave out --firmware, or add it \
             there as in docs/start/own-policy.md",
            self.name
        )
    }

    /// Returns the instructions of a decision, if the policy states them.
    pub(super) fn instructions(&self, situation: &Situation) -> Option<u64> {
        (self.instructions)(situation)
    }

    /// Starts the firmware with this policy on a register block.
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
