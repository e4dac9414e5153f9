//! Removal of PTX instructions that a GPU does not execute. The rules follow the assembler for
//! sm_75 (observed in its output for `kernels/`). They apply to unguarded instructions whose result
//! is defined once in the kernel:
//!
//! * **Copies**: `cvta`, `mov` between registers, and unsigned `cvt` between 32 and 64 bits are
//!   dropped. Readers use the source, which must also be defined once.
//! * **Constants**: `mov` of a literal or of a shared variable's address, and reads of `%ntid` and
//!   `%nctaid` (constant bank) are dropped. Readers use them as an operand.
//! * **Joins**: a `mul.wide`, `mul.lo`, or `shl` by a literal is joined with the only instruction
//!   that uses it, an `add` in the same basic block. The result is one instruction (`IMAD`,
//!   `IMAD.WIDE`, `LEA`), also across a free widening.
//!
//! Not modeled: 64-bit additions are one instruction here and two on a GPU (`IADD3`, `IADD3.X`).

use crate::exec::Op;
use crate::exec::convert::{Convert, Source, Target};
use crate::exec::integer::{Binary, Integer};
use crate::exec::logic::{Logic, Shift};
use crate::exec::place::Special;
use crate::exec::special::Move;
use crate::program::{Program, Src};

/// Registers that an instruction accesses after folding, as dense numbers ([`Program::dense`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// Registers written.
    pub defs: Vec<usize>,
    /// Registers read.
    pub uses: Vec<usize>,
    /// True if only some lanes execute the instruction, so its old results stay alive.
    pub guarded: bool,
}

/// Returns the remaining accesses of each instruction; `None` if it is dropped.
pub fn fold(program: &Program) -> Vec<Option<Folded>> {
    let mut folded: Vec<Option<Folded>> = program
        .insts
        .iter()
        .map(|inst| {
            let dense = |regs: &[_]| regs.iter().map(|&reg| program.dense(reg)).collect();
            Some(Folded { defs: dense(&inst.defs), uses: dense(&inst.uses), guarded: inst.guard.is_some() })
        })
        .collect();
    let mut definitions = vec![0u32; program.dense_count()];
    for reg in folded.iter().flatten().flat_map(|f| &f.defs) {
        definitions[*reg] += 1;
    }
    drop_copies_and_constants(program, &definitions, &mut folded);
    join(program, &definitions, &mut folded);
    folded
}

fn drop_copies_and_constants(program: &Program, definitions: &[u32], folded: &mut [Option<Folded>]) {
    // Replacement of each register: another register, or none for a constant.
    let mut stands: Vec<Option<Option<usize>>> = vec![None; program.dense_count()];
    for (inst, slot) in program.insts.iter().zip(folded.iter_mut()) {
        let Some(f) = slot else { continue };
        let [dst] = f.defs[..] else { continue };
        if f.guarded || definitions[dst] != 1 {
            continue;
        }
        let source = if is_constant(&inst.op) {
            None
        } else if let (true, [source]) = (is_copy(&inst.op), &f.uses[..]) {
            if definitions[*source] != 1 {
                continue;
            }
            Some(*source)
        } else {
            continue;
        };
        stands[dst] = Some(source);
        *slot = None;
    }
    for f in folded.iter_mut().flatten() {
        for reg in std::mem::take(&mut f.uses) {
            let mut reg = Some(reg);
            // A single definition cannot copy itself through others in reachable code; the bound is
            // for dead code.
            for _ in 0..stands.len() {
                match reg.map(|r| stands[r]) {
                    Some(Some(next)) => reg = next,
                    _ => break,
                }
            }
            f.uses.extend(reg);
        }
    }
}

fn is_copy(op: &Op) -> bool {
    match op {
        Op::Convert(Convert::Address(_, Src::Reg(_))) => true,
        Op::Convert(Convert::Integer(to, to_format, from, from_format)) => {
            let free = |bits: u32| bits == 32 || bits == 64;
            let widening = matches!((to, from), (Target::Double(_), Source::Word(_)));
            free(to_format.bits) && free(from_format.bits) && !(widening && from_format.signed)
        }
        Op::Special(Move::Word(_, Src::Reg(_)) | Move::Double(_, Src::Reg(_)) | Move::Pred(..)) => true,
        _ => false,
    }
}

fn is_constant(op: &Op) -> bool {
    matches!(
        op,
        Op::Special(Move::Word(_, Src::Imm(_)) | Move::Double(_, Src::Imm(_)) | Move::Special(_, Special::Ntid(_) | Special::Nctaid(_)))
    )
}

fn join(program: &Program, definitions: &[u32], folded: &mut [Option<Folded>]) {
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); program.dense_count()];
    for (pc, f) in folded.iter().enumerate() {
        for &reg in f.iter().flat_map(|f| &f.uses) {
            readers[reg].push(pc);
        }
    }
    for pc in 0..folded.len() {
        let Some(f) = &folded[pc] else { continue };
        let [dst] = f.defs[..] else { continue };
        let &[reader] = &readers[dst][..] else { continue };
        if f.guarded || definitions[dst] != 1 || !is_scaling(&program.insts[pc].op) || !is_add(&program.insts[reader].op) {
            continue;
        }
        let same_block = reader > pc
            && program.blocks.partition_point(|&b| b as usize <= pc) == program.blocks.partition_point(|&b| b as usize <= reader);
        let sources = f.uses.clone();
        let unchanged = || !folded[pc + 1..reader].iter().flatten().flat_map(|f| &f.defs).any(|reg| sources.contains(reg));
        if !same_block || !unchanged() {
            continue;
        }
        if let Some(add) = &mut folded[reader]
            && !add.guarded
            && add.uses.len() <= 2
        {
            add.uses.retain(|&reg| reg != dst);
            add.uses.extend(sources);
            folded[pc] = None;
        }
    }
}

fn is_scaling(op: &Op) -> bool {
    matches!(
        op,
        Op::Integer(Integer::MulWide(..) | Integer::Word(Binary::MulLo, ..))
            | Op::Logic(Logic::ShiftWord(Shift::Left, _, [_, Src::Imm(_)]) | Logic::ShiftDouble(Shift::Left, _, _, Src::Imm(_)))
    )
}

fn is_add(op: &Op) -> bool {
    matches!(op, Op::Integer(Integer::Word(Binary::Add, ..) | Integer::Double(Binary::Add, ..)))
}
