//! Fixed ways per kernel slot, as a machine's file or whoever schedules the GPU says. In hardware 10 bits per slot.

use super::{Shares, each_slot};

/// Ways of the kernels that are here, as `given` says; at least one each, so that where that is more than all, who has the most has one
/// less.
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

/// The same number for each; what is left over goes to the lowest slots.
pub(super) fn equal(resident: u8, ways: u16) -> Shares {
    let kernels = resident.count_ones() as u16;
    let mut shares = Shares::default();
    for (at, slot) in (0u16..).zip(each_slot(resident)) {
        shares[slot] = ways / kernels + u16::from(at < ways % kernels);
    }
    shares
}
