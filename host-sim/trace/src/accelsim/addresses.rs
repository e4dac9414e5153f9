//! Addresses of a memory instruction's active lanes, in the three forms of the format.

use super::error::Problem;
use super::fields::Fields;
use mias_warp_trace::WARP_LANES;

/// Maximum number of bits of a virtual address: 57 (NVIDIA Hopper; 49 before); generic and shared
/// addresses have fewer.
const ADDRESS_BITS: u32 = 57;

/// Reads the address mode and the addresses of `active` lanes (1..=32) into `lanes`, and returns
/// their number. Without an active lane, nothing after the mode is read.
#[inline]
pub(super) fn read(fields: &mut Fields<'_>, active: u32, lanes: &mut [u64; WARP_LANES as usize]) -> Result<usize, Problem> {
    let lanes = &mut lanes[..active.min(WARP_LANES) as usize];
    let Some((first, others)) = lanes.split_first_mut() else { return Ok(0) };
    let begin = fields.position();
    let mode = fields.decimal("an address mode")?;
    *first = fields.hex("an address")?;
    let mut seen = *first;
    match mode {
        0 => {
            for lane in others.iter_mut() {
                *lane = fields.hex("an address for each active lane")?;
                seen |= *lane;
            }
        }
        1 => {
            let stride = fields.decimal("a stride")?;
            let mut address = *first;
            for lane in others.iter_mut() {
                address = address.wrapping_add_signed(stride);
                *lane = address;
                seen |= address;
            }
        }
        2 => {
            let mut address = *first;
            for lane in others.iter_mut() {
                address = address.wrapping_add_signed(fields.decimal("an address delta for each active lane but the first")?);
                *lane = address;
                seen |= address;
            }
        }
        _ => return Err(fields.fail(begin, "an address mode (0, 1 or 2)")),
    }
    if seen >> ADDRESS_BITS != 0 {
        return Err(fields.fail(begin, "addresses below 2^57"));
    }
    Ok(active as usize)
}
