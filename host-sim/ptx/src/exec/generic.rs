//! Conversions between generic addresses and those of one memory: `cvta`, `isspacep` (PTX ISA 7.8
//! section 9.7.8).
//!
//! Addresses in device memory, including constant variables, equal their generic addresses.

use super::Op;
use super::convert::Convert;
use super::memory::Space;
use crate::error::PtxError;
use crate::image::{CONST_BASE, CONST_BYTES};
use crate::memory::window::{self, Named};
use crate::operands::Decoder;
use crate::program::{DoubleReg, PredReg, Src64};
use crate::registers::{Lanes, mask_of};

/// A decoded address conversion or query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generic {
    /// Conversion into or out of a window, by adding a number.
    Shift(DoubleReg, Src64, i64),
    /// Query whether an address is in a memory.
    Is(PredReg, Src64, Space),
}

/// Decodes an address conversion or query.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op, PtxError> {
    d.arity(2)?;
    let (o0, o1) = (d.operand(0)?, d.operand(1)?);
    if let ["isspacep", space] = d.parts[..] {
        let Some(space) = Space::parse(space) else { return d.unsupported() };
        return Ok(Op::Generic(Generic::Is(d.dst_pred(o0)?, d.src64(o1)?, space)));
    }
    let (space, sign) = match d.parts[..] {
        ["cvta", "to", space, "u64"] => (space, -1),
        ["cvta", space, "u64"] => (space, 1),
        _ => return d.unsupported(),
    };
    let base = match Space::parse(space) {
        Some(Space::Global | Space::Const) => return Ok(Op::Convert(Convert::Address(d.dst64(o0)?, d.src64(o1)?))),
        Some(Space::Shared) => window::SHARED,
        Some(Space::Local) => window::LOCAL,
        Some(Space::Param) => window::PARAM,
        _ => return d.unsupported(),
    };
    Ok(Op::Generic(Generic::Shift(d.dst64(o0)?, d.src64(o1)?, sign * base as i64)))
}

/// Executes the operation in the active lanes.
pub(super) fn execute(op: &Generic, l: &mut Lanes<'_>) {
    match *op {
        Generic::Shift(dst, src, by) => l.double1(dst, src, |address| address.wrapping_add_signed(by)),
        Generic::Is(dst, src, space) => {
            let addresses = l.regs.double(src);
            let bits = mask_of(|lane| is(addresses[lane], space));
            l.regs.set_pred(dst, l.mask, bits);
        }
    }
}

fn is(address: u64, space: Space) -> bool {
    match (window::named(address), space) {
        (Named::Shared(_), Space::Shared) | (Named::Local(_), Space::Local) | (Named::Param(_), Space::Param) => true,
        (Named::Device(address), Space::Const) => (CONST_BASE..CONST_BASE + CONST_BYTES).contains(&address),
        (Named::Device(_), Space::Global) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{double, run};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A conversion and its inverse restore the address; the generic address is in its own
        /// memory and in no other.
        #[test]
        fn windows(offset in 0u64..1 << 20) {
            for (space, base) in [("shared", window::SHARED), ("local", window::LOCAL), ("param", window::PARAM)] {
                let generic = double(&format!("cvta.{space}.u64 %rd7, %rd0;"), &[offset]);
                prop_assert_eq!(generic, base + offset);
                prop_assert_eq!(double(&format!("cvta.to.{space}.u64 %rd7, %rd0;"), &[generic]), offset);
                for other in ["shared", "local", "param", "global", "const"] {
                    let found = run(&format!("isspacep.{other} %p1, %rd0;"), &[], &[generic]).p(1);
                    prop_assert_eq!(found, if other == space { u32::MAX } else { 0 }, "{} {}", space, other);
                }
            }
            let held = |space: &str, address: u64| run(&format!("isspacep.{space} %p1, %rd0;"), &[], &[address]).p(1) == u32::MAX;
            prop_assert!(held("global", 0x7000_0000_0000 + offset) && !held("const", 0x7000_0000_0000 + offset));
            prop_assert_eq!(held("const", CONST_BASE + offset), offset < CONST_BYTES);
        }
    }
}
