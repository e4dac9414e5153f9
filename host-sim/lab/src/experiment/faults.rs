//! What went wrong in the register block by the end of a run: the faults that it has raised, with what they mean to who asked for the run.

use mias_registers::fault;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// As the register map calls it (docs/register-map.md).
    pub name: &'static str,
    /// What it means for the run.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

const fn fault(bit: u32, name: &'static str, meaning: &'static str, remedy: &'static str) -> (u32, Fault) {
    (bit, Fault { name, meaning, remedy })
}

/// All faults, by bit.
const ALL: [(u32, Fault); 13] = [
    fault(fault::BAD_ACCESS, "BAD_ACCESS", "the firmware asked for a register that is not there", "build the image from these sources"),
    fault(
        fault::VALUE_RANGE,
        "VALUE_RANGE",
        "a register was written with more than it holds and has the most it can",
        "give smaller numbers",
    ),
    fault(fault::LAUNCH_OVERRUN, "LAUNCH_OVERRUN", "a launch found no slot and was lost", "launch fewer kernels at a time"),
    fault(fault::WATCHDOG, "WATCHDOG", "the firmware was silent for too long", "see docs/reliability.md"),
    fault(
        fault::UNSUPPORTED,
        "UNSUPPORTED",
        "the firmware gave a command that this machine does not have",
        "take another policy or machine",
    ),
    fault(fault::IMPOSSIBLE_INDEX, "IMPOSSIBLE_INDEX", "the firmware met what cannot be; Left-over took over", "report it"),
    fault(
        fault::KERNEL_TOO_LARGE,
        "KERNEL_TOO_LARGE",
        "a thread block fits no SM, and its launch was rejected",
        "take smaller thread blocks",
    ),
    fault(fault::NO_SAMPLES, "NO_SAMPLES", "no SM was measured; Left-over took over", "give a longer window, or more time to drain"),
    fault(
        fault::MACHINE_TOO_LARGE,
        "MACHINE_TOO_LARGE",
        "the machine has more SMs than the image, and the others stay idle",
        "take the image for 132 SMs",
    ),
    fault(fault::WRONG_MAP, "WRONG_MAP", "the firmware does not know this register block", "build the image from these sources"),
    fault(
        fault::NO_PREEMPTION,
        "NO_PREEMPTION",
        "nobody is preempted: the firmware or the machine cannot",
        "take an image that preempts, or a machine with `[sm.preemption]`",
    ),
    fault(
        fault::NO_SEARCH,
        "NO_SEARCH",
        "nothing is searched, and SMs are split evenly: the firmware cannot, or the machine does not say what it moves",
        "take an image that searches, or a machine whose interconnect, L2 and DRAM have bandwidths that fit their registers",
    ),
    fault(
        fault::NO_CONTEXTS,
        "NO_CONTEXTS",
        "there are no thread blocks beyond those that fit: the firmware or the machine leaves them to hardware",
        "take an image that controls them, and a machine whose `[sm.contexts]` has `controller = \"firmware\"`",
    ),
];

/// The faults of a register's value, the lowest bit first.
pub fn named(faults: u32) -> impl Iterator<Item = Fault> {
    ALL.into_iter().filter(move |(bit, _)| faults & bit != 0).map(|(_, fault)| fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of the register has its line, and only one.
    #[test]
    fn every_fault_has_a_meaning() {
        assert_eq!(ALL.iter().fold(0, |all, (bit, _)| all | bit), fault::ALL);
        assert_eq!(ALL.iter().map(|(bit, _)| bit.count_ones()).sum::<u32>(), fault::ALL.count_ones());
        assert!(ALL.windows(2).all(|two| two[0].0 < two[1].0));
        assert_eq!(named(0).count(), 0);
        assert_eq!(named(fault::NO_SEARCH).map(|fault| fault.name).collect::<Vec<_>>(), ["NO_SEARCH"]);
    }
}
