//! Faults that the register block raised by the end of a run, with their meaning for the user.

use mias_registers::fault;

/// Fault of the register block, with meaning and remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name in the register map (docs/reference/registers.md).
    pub name: &'static str,
    /// Consequence for the run.
    pub meaning: &'static str,
    /// Remedy for the user.
    pub remedy: &'static str,
}

const fn fault(bit: u32, name: &'static str, meaning: &'static str, remedy: &'static str) -> (u32, Fault) {
    (bit, Fault { name, meaning, remedy })
}

/// All faults, by bit.
const ALL: [(u32, Fault); 13] = [
    fault(fault::BAD_ACCESS, "BAD_ACCESS", "the firmware accessed a register that does not exist", "build the image from these sources"),
    fault(fault::VALUE_RANGE, "VALUE_RANGE", "a write exceeded its register, which saturated", "use smaller numbers"),
    fault(fault::LAUNCH_OVERRUN, "LAUNCH_OVERRUN", "a launch found no slot and was lost", "launch fewer kernels at a time"),
    fault(fault::WATCHDOG, "WATCHDOG", "the firmware did not respond in time", "see docs/porting/guarantees.md"),
    fault(fault::UNSUPPORTED, "UNSUPPORTED", "the firmware sent a command that this GPU does not support", "use another policy or GPU"),
    fault(fault::IMPOSSIBLE_INDEX, "IMPOSSIBLE_INDEX", "the firmware reached an impossible state; Left-over took over", "report it"),
    fault(
        fault::KERNEL_TOO_LARGE,
        "KERNEL_TOO_LARGE",
        "a thread block fits no SM, and its launch was rejected",
        "use smaller thread blocks",
    ),
    fault(fault::NO_SAMPLES, "NO_SAMPLES", "no SM was measured; Left-over took over", "use a longer window, or more time to drain"),
    fault(
        fault::GPU_TOO_LARGE,
        "GPU_TOO_LARGE",
        "the GPU has more SMs than the image supports, and the others stay idle",
        "use the image for 132 SMs",
    ),
    fault(fault::WRONG_MAP, "WRONG_MAP", "the firmware does not know this register block", "build the image from these sources"),
    fault(
        fault::NO_PREEMPTION,
        "NO_PREEMPTION",
        "no TB is preempted: the firmware or the GPU does not support it",
        "use an image that preempts, or a GPU with `[sm.preemption]`",
    ),
    fault(
        fault::NO_SEARCH,
        "NO_SEARCH",
        "SMs are split evenly without a search: the firmware does not support it, or the GPU does not report its traffic",
        "use an image that searches, or a GPU with interconnect, L2 and DRAM bandwidths that fit their registers",
    ),
    fault(
        fault::NO_OVERSUBSCRIPTION,
        "NO_OVERSUBSCRIPTION",
        "no thread blocks beyond the hardware limit: the firmware or the GPU leaves them to hardware",
        "use an image that controls them, and a GPU with `controller = \"firmware\"` in `[sm.oversubscription]`",
    ),
];

/// Returns the faults of a register's value, the lowest bit first.
pub fn named(faults: u32) -> impl Iterator<Item = Fault> {
    ALL.into_iter().filter(move |(bit, _)| faults & bit != 0).map(|(_, fault)| fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of the register has exactly one entry.
    #[test]
    fn every_fault_has_a_meaning() {
        assert_eq!(ALL.iter().fold(0, |all, (bit, _)| all | bit), fault::ALL);
        assert_eq!(ALL.iter().map(|(bit, _)| bit.count_ones()).sum::<u32>(), fault::ALL.count_ones());
        assert!(ALL.windows(2).all(|two| two[0].0 < two[1].0));
        assert_eq!(named(0).count(), 0);
        assert_eq!(named(fault::NO_SEARCH).map(|fault| fault.name).collect::<Vec<_>>(), ["NO_SEARCH"]);
    }
}
