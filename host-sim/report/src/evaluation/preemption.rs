//! What preemption stores, of Shieh 2016, table 3.1, beside what is stored here, as data: bits, from widths and numbers of the paper's own machine and of
//! the register map and the firmware's types.

use mias_firmware::preempt::candidates::Places;
use mias_firmware::preempt::cost::Ended;
use mias_firmware::preempt::select::Choice;
use mias_registers::preempt::{MAX_PLACES, MAX_POSITIONS};
use mias_registers::{KERNEL_SLOTS, preempt_command, preempt_reserve, preempt_tb};

/// TBs of an SM, sets of an SM, positions, and SMs of his table.
pub(super) const TBS: usize = 16;
pub(super) const SETS: usize = 16;
pub(super) const POSITIONS: usize = 64;
pub(super) const SMS: usize = 15;

/// Bits by which he names a TB, or a place where it lies: a register, a byte of shared memory.
pub(super) const TB_NUMBER: usize = 4;
const POSITION: usize = 16;

/// Bits of his process and kernel.
const PROCESS: usize = 15;
const KERNEL: usize = 5;

/// Bits of a count of instructions or cycles: his four bytes, and a register of the map.
const COUNT: usize = u32::BITS as usize;

/// Bits that name a slot, and a technique: [`preempt_tb`] has both beside each other.
const SLOT: usize = KERNEL_SLOTS.ilog2() as usize;
const TECHNIQUE: usize = 2;

/// Bits of the reason for which a command was refused, of [`preempt_command`].
const REASON: usize = 3;

/// Registers of what is known of a kernel's TBs that have ended, as the firmware reads them.
const ENDED: usize = size_of::<Ended>() / size_of::<u32>();

/// What is stored, in bits for one SM; none where nothing is.
pub(super) struct Row {
    pub(super) what: &'static str,
    /// On his machine.
    pub(super) paper: Option<usize>,
    pub(super) hardware: Option<usize>,
    /// While it selects, one SM after the other: once for all of them.
    pub(super) firmware: Option<usize>,
}

const fn row(what: &'static str, paper: Option<usize>, hardware: Option<usize>, firmware: Option<usize>) -> Row {
    Row { what, paper, hardware, firmware }
}

/// Bits of so many of a kind, by its size in bytes.
const fn bits(bytes: usize, many: usize) -> usize {
    8 * bytes * many
}

/// All of it.
pub(super) fn rows() -> [Row; 10] {
    let flags = |masks: u32| masks.count_ones() as usize;
    let command = TECHNIQUE + flags(preempt_command::BUSY | preempt_command::DONE | preempt_command::REFUSED) + REASON;
    [
        // His is of all SMs: a number for each TB that an SM holds.
        row("TBs on an SM, and whose", Some(TB_NUMBER * TBS), Some((SLOT + flags(preempt_tb::LIVE)) * MAX_PLACES), None),
        row("for whom room is made", Some(PROCESS + KERNEL), Some(flags(preempt_reserve::SLOT | preempt_reserve::WHOLE_SM)), None),
        // Here they are multiples of what a TB takes, and a bit says which are reserved.
        row("positions: registers and shared memory", Some(2 * POSITION * POSITIONS), Some(MAX_POSITIONS), None),
        row("candidate victim sets", Some(TB_NUMBER * TBS * SETS), None, Some(bits(size_of::<Places>(), MAX_POSITIONS))),
        row("instructions of running TBs", Some(COUNT * TBS), Some(COUNT * MAX_PLACES), Some(COUNT * MAX_PLACES)),
        row("cycles of running TBs", Some(COUNT * TBS), Some(COUNT * MAX_PLACES), Some(COUNT * MAX_PLACES)),
        row("flush bits", Some(TBS), Some(flags(preempt_tb::FLUSH) * MAX_PLACES), Some(bits(size_of::<bool>(), MAX_PLACES))),
        row("where each TB lies", None, Some(2 * COUNT * MAX_PLACES), None),
        row("commands and what came of them", None, Some(command * MAX_PLACES), Some(bits(size_of::<Choice>(), MAX_PLACES))),
        row("TBs that have ended, by kernel", None, Some(COUNT * ENDED * KERNEL_SLOTS), Some(COUNT * ENDED)),
    ]
}

/// Bits of an SM in hardware, here.
pub(super) fn hardware_bits() -> u64 {
    rows().iter().filter_map(|row| row.hardware).sum::<usize>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3.1: 120 bytes for 15 SMs; then 15 + 5 bits, 128 + 128, 128, 64 + 64 and 2 bytes.
    #[test]
    fn the_papers_column_is_its_table() {
        assert_eq!(TB_NUMBER * TBS * SMS, 8 * 120);
        let paper: Vec<usize> = rows().iter().filter_map(|row| row.paper).collect();
        assert_eq!(paper, [8 * 120 / 15, 20, 8 * 256, 8 * 128, 8 * 64, 8 * 64, 8 * 2]);
        // Section 3.4.5: some 0.5 kB per SM.
        let bytes = paper.iter().sum::<usize>() / 8;
        assert!((500..540).contains(&bytes), "{bytes}");
    }
}
