//! Report of the faults that the register block raised by the end of a run.

use super::say;
use mias_lab::experiment::faults::named;
use mias_lab::experiment::policy::Policy;

/// Prints one line per fault.
pub(super) fn tell(policy: Policy, faults: u32) {
    for fault in named(faults) {
        say::warning(format_args!("{}: fault {}: {}; {}", policy.name(), fault.name, fault.meaning, fault.remedy));
    }
}
