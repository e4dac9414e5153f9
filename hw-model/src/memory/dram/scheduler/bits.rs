//! State of an order in a channel, in bits, in addition to the requests with their kernel slots.

use crate::config::{DramConfig, DramOrder, MOST_DRAM_CAP};
use crate::memory::KERNEL_SLOTS;

/// Bits of a cap, and of a count up to it.
const CAP_BITS: u32 = MOST_DRAM_CAP.ilog2() + 1;

/// Bits of the rank of a kernel.
const RANK_BITS: u32 = KERNEL_SLOTS.ilog2();

/// Bits of a virtual time (`shares.rs`).
const TIME_BITS: u32 = 32;

/// Bits of a sector's cost (`shares.rs`): up to 2^20.
const COST_BITS: u32 = 21;

/// Bits of a count up to this number.
fn count_bits(things: u32) -> u32 {
    things.checked_ilog2().map_or(0, |bits| bits + 1)
}

/// Bits of an order in each channel, beyond those of FR-FCFS: the queue, and the kernel slots of
/// its requests.
#[must_use]
pub fn scheduler_bits(by: DramOrder, dram: &DramConfig) -> u32 {
    let kernels = KERNEL_SLOTS as u32;
    let of_queue = count_bits(dram.queue);
    match by {
        DramOrder::FrFcfs | DramOrder::Fcfs => 0,
        DramOrder::KernelCap => CAP_BITS + dram.banks * CAP_BITS,
        // A mark per request, the number left, ranks; and to form a batch, counts by bank, their
        // sum and their maximum.
        DramOrder::Batch => CAP_BITS + dram.queue + of_queue + kernels * (RANK_BITS + dram.banks * CAP_BITS + of_queue + CAP_BITS),
        DramOrder::Shares => CAP_BITS + TIME_BITS + kernels * (TIME_BITS + COST_BITS + of_queue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::config;

    /// The reference GPU's channel: 16 banks and a queue of 64.
    #[test]
    fn bits_are_those_of_the_tables_by_hand() {
        let dram = config().dram;
        assert_eq!((dram.banks, dram.queue), (16, 64));
        assert_eq!(
            DramOrder::ALL.map(|by| scheduler_bits(by, &dram)),
            [0, 0, 8 + 128, 8 + 64 + 7 + 8 * (3 + 128 + 7 + 8), 8 + 32 + 8 * 60]
        );
    }
}
