//! Control flow: `bra`, `bar.sync`, `ret`, `exit`. PTX ISA 7.8 sections 9.7.12 and 9.7.13. What they do to a warp is in
//! `ptx/warp.rs`.

use crate::ptx::ast::Operand;
use crate::ptx::error::PtxError;
use crate::ptx::operands::Decoder;

/// A decoded control instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// To the instruction with this index, where the guard holds.
    Branch {
        /// Instruction index.
        target: u32,
    },
    /// All live warps of the TB wait for each other at barrier `id`.
    Barrier {
        /// 0..=15.
        id: u8,
    },
    /// Earlier accesses are done before later ones: always so here.
    Fence,
    /// A prefetch, or a barrier of a warp in lockstep: nothing to do.
    Nothing,
    /// The thread ends.
    Exit,
}

/// Decodes.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Control, PtxError> {
    match d.parts[..] {
        ["bra"] | ["bra", "uni"] => {
            d.arity(1)?;
            Ok(Control::Branch { target: d.label(d.operand(0)?)? })
        }
        ["bar", "sync"] | ["barrier", "sync"] | ["barrier", "sync", "aligned"] | ["bar", "cta", "sync"] => {
            d.arity(1)?;
            match d.operand(0)? {
                Operand::Integer(id @ 0..=15) => Ok(Control::Barrier { id: *id as u8 }),
                other => d.wrong("expected a barrier number 0 to 15", other.to_string()),
            }
        }
        ["membar", "cta" | "gl" | "sys"] | ["fence", "acq_rel" | "sc", "cta" | "gpu" | "sys"] => {
            d.arity(0)?;
            Ok(Control::Fence)
        }
        ["bar", "warp", "sync"] => {
            d.arity(1)?;
            d.src32(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["prefetch", "global" | "local", "L1" | "L2"] | ["prefetchu", "L1"] => {
            d.arity(1)?;
            d.address(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["ret"] | ["ret", "uni"] | ["exit"] => {
            d.arity(0)?;
            Ok(Control::Exit)
        }
        _ => d.unsupported(),
    }
}
