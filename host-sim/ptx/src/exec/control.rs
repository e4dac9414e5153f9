//! Control flow: `bra`, `brx.idx`, `bar`, `barrier`, `ret`, `exit`, `trap`, fences and hints. PTX ISA 7.8 sections 9.7.12 and 9.7.13.
//! What they do to a warp is in `src/warp.rs`, what barriers do to a TB in `src/barrier.rs`.

use super::Op;
use super::scalar::Source;
use crate::error::PtxError;
use crate::frames::Enter;
use crate::operands::Decoder;
use crate::program::{PredReg, Src32, Src64, WordReg};

/// What the threads at a barrier learn from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// How many hold the predicate.
    Count(WordReg),
    /// Whether all do.
    All(PredReg),
    /// Whether any does.
    Any(PredReg),
}

/// A decoded barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Number, 0 to 15.
    pub id: Src32,
    /// Threads that must arrive, a multiple of 32; all live threads of the TB if absent.
    pub threads: Option<Src32>,
    /// The warp does not wait (`bar.arrive`).
    pub arrive: bool,
    /// The result, the predicate, and whether it is inverted.
    pub reduction: Option<(Reduction, PredReg, bool)>,
}

/// A decoded control instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// To the instruction with this index, where the guard holds.
    Branch {
        /// Instruction index.
        target: u32,
    },
    /// To the instruction that the register chooses from a list.
    Table {
        /// Index into `targets`.
        index: Src32,
        /// Instruction indices.
        targets: Box<[u32]>,
    },
    /// The call of a function, which stands right behind.
    Call,
    /// The call of a function that calls itself.
    Enter(Box<Enter>),
    /// The end of such a function, from which lanes go on behind the call.
    Leave,
    /// Warps of the TB wait for each other.
    Barrier(Barrier),
    /// Earlier accesses are done before later ones: always so here.
    Fence,
    /// A prefetch, a pause, or a barrier of a warp in lockstep: nothing to do.
    Nothing,
    /// The kernel is given up: `trap`, a failed assertion, `brkpt` (nobody is there to go on from it).
    Trap,
    /// The end of a call through a pointer: one that is to none of these functions ends the kernel.
    Unknown {
        /// The pointer.
        pointer: Src64,
        /// Addresses of functions.
        known: Box<[u64]>,
    },
    /// The thread ends.
    Exit,
}

/// The end of a call through a pointer.
pub(crate) fn unknown(d: &mut Decoder<'_, '_>, number: usize) -> Result<Op, PtxError> {
    let known = d.tables.candidates.get(number).cloned().unwrap_or_default();
    Ok(Op::Control(Control::Unknown { pointer: d.pointer()?, known }))
}

/// Decodes.
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

/// `bar.sync a{, b}`, `bar.arrive a, b`, `bar.red.op d, a{, b}, {!}c`, and the same named `barrier`.
fn barrier(d: &mut Decoder<'_, '_>) -> Result<Barrier, PtxError> {
    let parts: Vec<&str> = d.parts[1..].iter().copied().filter(|part| !matches!(*part, "cta" | "aligned")).collect();
    let count = d.operands();
    let (first, optional) = match parts[..] {
        ["sync"] if (1..=2).contains(&count) => (0, count == 2),
        ["arrive"] if count == 2 => (0, true),
        ["red", "popc", "u32"] | ["red", "and" | "or", "pred"] if (3..=4).contains(&count) => (1, count == 4),
        ["sync" | "arrive"] | ["red", "popc", "u32"] | ["red", "and" | "or", "pred"] => {
            return d.wrong("another number of operands than a barrier has", d.opcode());
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
