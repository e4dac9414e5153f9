//! Storage for preemption: bits for one SM, by widths and counts of the register map and of the
//! firmware's types. Shieh 2016, table 3.1, has those of its GPU: `plans/published/shieh.csv`.

use mias_policies::preempt::candidates::Places;
use mias_policies::preempt::cost::Ended;
use mias_policies::preempt::select::Choice;
use mias_registers::preempt::{MAX_PLACES, MAX_POSITIONS};
use mias_registers::{KERNEL_SLOTS, preempt_command, preempt_reserve, preempt_tb};
use schemars::JsonSchema;
use serde::Serialize;

/// Bits of a counter of instructions or cycles: a register of the map.
const COUNT: usize = u32::BITS as usize;

/// Bits of a slot, and of a technique: [`preempt_tb`] has both next to each other.
const SLOT: usize = KERNEL_SLOTS.ilog2() as usize;
const TECHNIQUE: usize = 2;

/// Bits of the reason for a refused command, of [`preempt_command`].
const REASON: usize = 3;

/// Number of registers about a kernel's completed TBs, as the firmware reads them.
const ENDED: usize = size_of::<Ended>() / size_of::<u32>();

/// Stored item, in bits for one SM; `None` where nothing is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Stored {
    what: &'static str,
    hardware: Option<usize>,
    /// Bits during selection, for one SM after the other: stored once for all of them.
    firmware: Option<usize>,
    /// Number of TBs, positions and kernels behind the item.
    places: usize,
    positions: usize,
    kernels: usize,
}

const fn row(what: &'static str, hardware: Option<usize>, firmware: Option<usize>) -> Stored {
    Stored { what, hardware, firmware, places: MAX_PLACES, positions: MAX_POSITIONS, kernels: KERNEL_SLOTS }
}

/// Returns the bits of `many` items of this size in bytes.
const fn bits(bytes: usize, many: usize) -> usize {
    8 * bytes * many
}

/// Returns all stored items.
pub(super) fn rows() -> [Stored; 10] {
    let flags = |masks: u32| masks.count_ones() as usize;
    let command = TECHNIQUE + flags(preempt_command::BUSY | preempt_command::DONE | preempt_command::REFUSED) + REASON;
    [
        row("TBs on an SM and their kernels", Some((SLOT + flags(preempt_tb::LIVE)) * MAX_PLACES), None),
        row("kernel that room is reserved for", Some(flags(preempt_reserve::SLOT | preempt_reserve::WHOLE_SM)), None),
        // Multiples of a TB's resources, with a bit for each reserved one.
        row("positions: registers and shared memory", Some(MAX_POSITIONS), None),
        row("candidate victim sets", None, Some(bits(size_of::<Places>(), MAX_POSITIONS))),
        row("instructions of running TBs", Some(COUNT * MAX_PLACES), Some(COUNT * MAX_PLACES)),
        row("cycles of running TBs", Some(COUNT * MAX_PLACES), Some(COUNT * MAX_PLACES)),
        row("flush bits", Some(flags(preempt_tb::FLUSH) * MAX_PLACES), Some(bits(size_of::<bool>(), MAX_PLACES))),
        row("position of each TB", Some(2 * COUNT * MAX_PLACES), None),
        row("commands and their outcomes", Some(command * MAX_PLACES), Some(bits(size_of::<Choice>(), MAX_PLACES))),
        row("completed TBs, by kernel", Some(COUNT * ENDED * KERNEL_SLOTS), Some(COUNT * ENDED)),
    ]
}

/// Returns the bits of an SM in hardware of this model.
pub(super) fn hardware_bits() -> u64 {
    rows().iter().filter_map(|row| row.hardware).sum::<usize>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3.1 of Shieh 2016 in bits for an SM: 120 bytes for 15 SMs; then 15 + 5 bits, 128 +
    /// 128, 128, 64 + 64 and 2 bytes; some 0.5 kB in all (section 3.4.5). Each belongs to a row.
    #[test]
    fn the_papers_rows_are_ours() {
        let mut published = crate::evaluate::blocks::Published::default();
        published.read(mias_plans::published("shieh").unwrap()).unwrap();
        let bits = rows().iter().filter_map(|row| published.find(Some("table 3.1"), row.what, "bits")?.number()).collect::<Vec<f64>>();
        assert_eq!(bits, [8.0 * 120.0 / 15.0, 20.0, 8.0 * 256.0, 8.0 * 128.0, 8.0 * 64.0, 8.0 * 64.0, 8.0 * 2.0]);
        assert!((500.0..540.0).contains(&(bits.iter().sum::<f64>() / 8.0)));
    }
}
