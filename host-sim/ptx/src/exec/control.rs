//! Control flow: `bra`, `brx.idx`, `bar`, `barrier`, `ret`, `exit`, `trap`, fences and hints (PTX
//! ISA 7.8 sections 9.7.12 and 9.7.13). Their effect on a warp is in `src/warp.rs`, the effect of
//! barriers on a TB in `src/barrier.rs`.

use super::Op;
use super::scalar::Source;
use crate::error::PtxError;
use crate::frames::Enter;
use crate::operands::Decoder;
use crate::program::{PredReg, Src32, Src64, WordReg};

/// Reduction over the threads at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Number of threads with a true predicate.
    Count(WordReg),
    /// True if all predicates are true.
    All(PredReg),
    /// True if any predicate is true.
    Any(PredReg),
}

/// A decoded barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Number, 0 to 15.
    pub id: Src32,
    /// Number of threads that must arrive, a multiple of 32; all live threads of the TB if absent.
    pub threads: Option<Src32>,
    /// True for `bar.arrive`, which does not wait.
    pub arrive: bool,
    /// Result, predicate, and whether the predicate is inverted.
    pub reduction: Option<(Reduction, PredReg, bool)>,
}

/// A decoded control instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Branch to an instruction where the guard holds.
    Branch {
        /// Index of the target instruction.
        target: u32,
    },
    /// Branch to the instruction that a register selects from a list.
    Table {
        /// Register with the index into `targets`.
        index: Src32,
        /// Indices of the target instructions.
        targets: Box<[u32]>,
    },
    /// Call of a function whose code follows.
    Call,
    /// Call of a recursive function.
    Enter(Box<Enter>),
    /// End of a recursive function; lanes continue after the call.
    Leave,
    /// Barrier for the warps of the TB.
    Barrier(Barrier),
    /// Fence: earlier accesses complete before later ones, which always holds here.
    Fence,
    /// Instruction without effect: a prefetch, a pause, or a barrier of a warp in lockstep.
    Nothing,
    /// Stop of the kernel: `trap`, a failed assertion, or `brkpt` (no debugger can continue it).
    Trap,
    /// End of a call through a pointer. A pointer to none of the known functions stops the kernel.
    Unknown {
        /// Register with the pointer.
        pointer: Src64,
        /// Addresses of the known functions.
        known: Box<[u64]>,
    },
    /// End of the thread.
    Exit,
}

/// Decodes the end of a call through a pointer.
pub(crate) fn unknown(d: &mut Decoder<'_, '_>, number: usize) -> Result<Op, PtxError> {
    let known = d.tables.candidates.get(number).cloned().unwrap_or_default();
    Ok(Op::Control(Control::Unknown { pointer: d.pointer()?, known }))
}

/// Decodes a control instruction.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Control, PtxError> {
    match d.parts[..] {
        ["bra"] | ["bra", "uni"] => {
            d.arity(1)?;
            Ok(Control::Branch { target: d.label(d.operand(0)?)? })
        }
        ["brx", "idx"] | ["brx", "idx", "uni"] => {
            d.arity(2)?;
            let targets = d.table(d.operand(1)?)?.into();
            Ok(Control::Table { index: d.src32(d.operand(0)?)?, targets })
        }
        ["bar" | "barrier", ..] if d.parts.get(1) != Some(&"warp") => barrier(d).map(Control::Barrier),
        ["membar", "cta" | "gl" | "sys"] | ["fence", "acq_rel" | "sc", "cta" | "gpu" | "sys"] => {
            d.arity(0)?;
            Ok(Control::Fence)
        }
        ["bar", "warp", "sync"] => {
            d.arity(1)?;
            d.src32(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["prefetch", ..] | ["prefetchu", "L1"] => {
            let rest = d.parts.get(1..).unwrap_or_default();
            if !rest.iter().all(|part| matches!(*part, "global" | "local" | "L1" | "L2") || part.contains("::")) {
                return d.unsupported();
            }
            d.arity(1)?;
            d.address(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["discard", "L2"] | ["discard", "global", "L2"] => {
            d.arity(2)?;
            d.address(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["nanosleep", "u32"] => {
            d.arity(1)?;
            d.src32(d.operand(0)?)?;
            Ok(Control::Nothing)
        }
        ["trap"] | ["brkpt"] => {
            d.arity(0)?;
            Ok(Control::Trap)
        }
        ["ret"] | ["ret", "uni"] | ["exit"] => {
            d.arity(0)?;
            Ok(Control::Exit)
        }
        _ => d.unsupported(),
    }
}

/// Decodes `bar.sync a{, b}`, `bar.arrive a, b`, `bar.red.op d, a{, b}, {!}c`, and the same forms
/// of `barrier`.
fn barrier(d: &mut Decoder<'_, '_>) -> Result<Barrier, PtxError> {
    let parts: Vec<&str> = d.parts[1..].iter().copied().filter(|part| !matches!(*part, "cta" | "aligned")).collect();
    let count = d.operands();
    let (first, optional) = match parts[..] {
        ["sync"] if (1..=2).contains(&count) => (0, count == 2),
        ["arrive"] if count == 2 => (0, true),
        ["red", "popc", "u32"] | ["red", "and" | "or", "pred"] if (3..=4).contains(&count) => (1, count == 4),
        ["sync" | "arrive"] | ["red", "popc", "u32"] | ["red", "and" | "or", "pred"] => {
            return d.wrong("wrong number of operands of a barrier", d.opcode());
        }
        _ => return d.unsupported(),
    };
    let id = d.src32(d.operand(first)?)?;
    if let crate::program::Src::Imm(16..) = id {
        return d.wrong("expected a barrier number 0 to 15", d.operand(first)?.to_string());
    }
    let threads = if optional { Some(d.src32(d.operand(first + 1)?)?) } else { None };
    if let Some(crate::program::Src::Imm(n)) = threads
        && (n == 0 || !n.is_multiple_of(32))
    {
        return d.wrong("expected a number of threads that is a multiple of 32", d.operand(first + 1)?.to_string());
    }
    let mut reduction = None;
    if first == 1 {
        let Source::Pred(pred, negated) = d.source(count - 1, 0)? else { return d.unsupported() };
        let to = d.operand(0)?;
        let result = match parts[1] {
            "popc" => Reduction::Count(d.dst32(to)?),
            "and" => Reduction::All(d.dst_pred(to)?),
            _ => Reduction::Any(d.dst_pred(to)?),
        };
        reduction = Some((result, pred, negated));
    }
    Ok(Barrier { id, threads, arrive: parts[0] == "arrive", reduction })
}
