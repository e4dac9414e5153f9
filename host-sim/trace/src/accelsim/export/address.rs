//! Encoding of the addresses of active lanes, in the shortest form that the format offers for them.
//!
//! Base and stride (mode 1) require at least two contiguous active lanes with one common stride.
//! Otherwise the shorter of deltas (mode 2) and list (mode 0) is used, and deltas if both are
//! equally long. The tracer decides alike, except that it never uses the list. Without an active
//! lane, both write base 0 and stride 0.

use std::fmt::Write;

/// Appends the mode and the addresses, one per lane of `mask` in ascending order, and a blank.
pub(super) fn push(text: &mut String, mask: u32, addresses: &[u64]) {
    let Some((&base, others)) = addresses.split_first() else {
        text.push_str("1 0x0 0 ");
        return;
    };
    // Writing to a string cannot fail.
    if let Some(stride) = stride(mask, addresses) {
        let _ = write!(text, "1 {base:#x} {stride} ");
        return;
    }
    let deltas = || addresses.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
    if others.iter().map(|&address| hex_length(address)).sum::<u32>() < deltas().map(decimal_length).sum::<u32>() {
        text.push_str("0 ");
        for address in addresses {
            let _ = write!(text, "{address:#x} ");
        }
    } else {
        let _ = write!(text, "2 {base:#x} ");
        for delta in deltas() {
            let _ = write!(text, "{delta} ");
        }
    }
}

/// Returns the common stride of at least two contiguous lanes; the format stores 32 bits and a
/// sign.
fn stride(mask: u32, addresses: &[u64]) -> Option<i32> {
    let contiguous = (mask >> mask.trailing_zeros()).trailing_ones() == mask.count_ones();
    let first = addresses.get(1)?.wrapping_sub(addresses[0]);
    let constant = contiguous && addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == first);
    constant.then(|| i32::try_from(first as i64).ok())?
}

/// Returns the length of `0x...` in characters.
fn hex_length(value: u64) -> u32 {
    2 + (64 - value.leading_zeros()).div_ceil(4).max(1)
}

/// Returns the length of a signed decimal number in characters.
fn decimal_length(value: i64) -> u32 {
    value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1 + u32::from(value < 0)
}

#[cfg(test)]
mod tests {
    use super::super::super::{addresses, fields::Fields};
    use super::*;
    use proptest::prelude::*;

    fn text(mask: u32, lanes: &[u64]) -> String {
        let mut text = String::new();
        push(&mut text, mask, lanes);
        text
    }

    #[test]
    fn each_form_where_it_belongs() {
        assert_eq!(text(0xffff_ffff, &std::array::from_fn::<u64, 32, _>(|i| 0x1000 + 4 * i as u64)), "1 0x1000 4 ");
        assert_eq!(text(0b1100, &[0x80, 0x40]), "1 0x80 -64 ");
        assert_eq!(text(0b10, &[0x80]), "2 0x80 ", "one lane has no stride");
        assert_eq!(text(0b101, &[0x80, 0x84]), "2 0x80 4 ", "a lane is missing between");
        assert_eq!(text(0b111, &[0x80, 0x84, 0x84]), "2 0x80 4 0 ");
        assert_eq!(text(0b11, &[0, 1 << 40]), "2 0x0 1099511627776 ", "no stride of 32 bits");
        assert_eq!(text(0b111, &[0, 0x8000, 0]), "0 0x0 0x8000 0x0 ", "9 characters against 11");
        assert_eq!(text(0, &[]), "1 0x0 0 ");
    }

    proptest! {
        /// The reader returns the addresses, and no other form that the mask allows would have been
        /// shorter.
        #[test]
        fn the_reader_reads_them(mask in any::<u32>(), base in 0u64..1 << 50, step in -300i64..300, noise in prop::collection::vec(0u64..1 << 16, 32), scattered in any::<bool>()) {
            let lane = |i: u32| (base + (1 << 20)).wrapping_add_signed(step * i64::from(i)) + if scattered { noise[i as usize] } else { 0 };
            let lanes: Vec<u64> = (0..mask.count_ones()).map(lane).collect();
            let text = text(mask, &lanes);
            let mut read = [0; 32];
            let count = addresses::read(&mut Fields::new(text.as_bytes()), mask.count_ones(), &mut read).unwrap();
            prop_assert_eq!(&read[..count], &lanes[..]);
            if let Some(&first) = lanes.first() {
                let listed: String = lanes.iter().map(|lane| format!("0x{lane:x} ")).collect();
                let deltas: String = lanes.windows(2).map(|pair| format!("{} ", pair[1] as i64 - pair[0] as i64)).collect();
                let shortest = listed.len().min(format!("0x{first:x} ").len() + deltas.len()) + 2;
                prop_assert!(text.len() <= shortest || text.starts_with('1'));
            }
        }
    }
}
