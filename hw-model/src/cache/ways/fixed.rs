//! Fixed ways per kernel slot, from the GPU file or the firmware. In hardware 10 bits per slot.

use super::{Shares, each_slot};

/// Ways of the resident kernels from `given`, at least one each. If they exceed the total, the
/// kernel with the most ways loses one at a time.
pub(super) fn shares(given: Shares, resident: u8, ways: u16) -> Shares {
    let mut shares = Shares::default();
    let mut sum = 0u32;
    for slot in each_slot(resident) {
        shares[slot] = given[slot].clamp(1, ways);
        sum += u32::from(shares[slot]);
    }
    while sum > u32::from(ways) {
        let Some(most) = (0..shares.len()).rev().max_by_key(|&slot| shares[slot]).filter(|&slot| shares[slot] > 1) else { break };
        shares[most] -= 1;
        sum -= 1;
    }
    shares
}

/// Equal shares; the remainder goes to the lowest slots.
pub(super) fn equal(resident: u8, ways: u16) -> Shares {
    let kernels = resident.count_ones() as u16;
    let mut shares = Shares::default();
    for (at, slot) in (0u16..).zip(each_slot(resident)) {
        shares[slot] = ways / kernels + u16::from(at < ways % kernels);
    }
    shares
}
