//! Says which faults the register block had raised by the end of a run.

use super::say;
use mias_lab::experiment::faults::named;
use mias_lab::experiment::policy::Policy;

/// A line for each.
pub(super) fn tell(policy: Policy, faults: u32) {
    for fault in named(faults) {
        say::warning(format_args!("{}: fault {}: {}; {}", policy.name(), fault.name, fault.meaning, fault.remedy));
    }
}
