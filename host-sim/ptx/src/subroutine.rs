//! Recursive functions: each is placed once after the kernel, with separate registers and a frame
//! (PTX ISA 7.8 section 9.7.12 "call").
//!
//! A call copies its arguments to the function's parameters, and the results back. Registers that
//! the caller still needs are saved meanwhile, as the compiler saves them in the frame (`kept.rs`).
//! `frames.rs` executes calls and returns.

use super::ast::{Function, Instruction, Operand, Variable};
use super::cells::{Cells, OwnFrame, Place};
use super::error::PtxError;
use super::exec::Op;
use super::exec::control::Control;
use super::frames::{self, Enter, Handed, Spot};
use super::inline::{Action, Flat};
use super::kept;
use super::operands::Decoder;
use super::program::{DoubleReg, Inst};
use super::scope::{Frame, Symbol};
use std::ops::Range;

/// Alignment of frames in bytes, and maximum alignment of local variables: that of the widest
/// access (PTX ISA 7.8 section 6.4.1).
pub(super) const FRAME_ALIGN: u32 = 16;

/// A recursive function placed after the kernel.
pub(super) struct Subroutine<'m, 'a> {
    pub(super) function: &'m Function<'a>,
    /// Cells of its parameters and results.
    params: Vec<usize>,
    returns: Vec<usize>,
    /// Unnamed register with the address of its frame.
    base: DoubleReg,
    /// Layout of its local variables in the frame.
    pub(super) frame: Frame,
    /// Range of its instructions; the last one returns.
    pub(super) range: Range<u32>,
}

/// A call of a recursive function.
pub(super) struct Entering {
    /// Number of the subroutine.
    callee: usize,
    /// Pairs of cells for the arguments: of the call, of the callee.
    arguments: Vec<(usize, usize)>,
    /// Pairs of cells for the results: of the callee, of the call.
    results: Vec<(usize, usize)>,
}

impl Subroutine<'_, '_> {
    /// Creates the executable form of the function; also sets the saved registers of its calls.
    /// `blocks` are the first instructions of all blocks.
    pub(super) fn finished(&self, insts: &mut [Inst], blocks: &[u32]) -> frames::Subroutine {
        let kept = kept::keep(insts, blocks, self.range.clone());
        let frame_bytes = kept::frame_bytes(self.frame.bytes, kept);
        frames::Subroutine { name: self.function.name.into(), frame_bytes }
    }
}

impl<'m, 'a> Flat<'m, 'a> {
    /// Appends a call of a recursive function.
    pub(super) fn enter(
        &mut self,
        inst: &'m Instruction<'a>,
        scope: usize,
        function: &'m Function<'a>,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<(), PtxError> {
        let known = self.subroutines.iter().position(|subroutine| subroutine.function.name == function.name);
        let callee = known.unwrap_or_else(|| self.new_subroutine(function));
        let cells = |bound: Vec<(&'a str, Symbol)>| bound.into_iter().filter_map(|(_, symbol)| symbol.cell());
        let given = cells(self.bind(inst, scope, "arguments", arguments, &function.params)?);
        let expected = cells(self.bind(inst, scope, "results", results, &function.returns)?);
        let Subroutine { params, returns, .. } = &self.subroutines[callee];
        let arguments: Vec<(usize, usize)> = given.zip(params.iter().copied()).collect();
        let results: Vec<(usize, usize)> = returns.iter().copied().zip(expected).collect();
        arguments.iter().chain(&results).for_each(|&(from, to)| self.cells.alike(from, to));
        self.push(inst, scope, Action::Enter(self.entering.len()))?;
        self.entering.push(Entering { callee, arguments, results });
        Ok(())
    }

    fn new_subroutine(&mut self, function: &'m Function<'a>) -> usize {
        let number = self.subroutines.len();
        let base = self.scopes.hidden_double();
        let mut cells = |variables: &[Variable<'a>]| variables.iter().map(|v| self.cells.add(v, Some(number))).collect();
        let (params, returns) = (cells(&function.params), cells(&function.returns));
        self.subroutines.push(Subroutine { function, params, returns, base, frame: Frame::LOCAL, range: 0..0 });
        number
    }

    /// Returns the register with the frame address of the function being expanded, if it has a
    /// separate frame.
    pub(super) fn frame_base(&self) -> Option<DoubleReg> {
        self.inside.and_then(|number| self.subroutines.get(number)).map(|subroutine| subroutine.base)
    }

    /// Allocates a local variable.
    pub(super) fn place_local(&mut self, variable: &Variable<'a>) -> Result<Symbol, PtxError> {
        let offset = self.local.place(&self.scopes, variable)?;
        match self.frame_base() {
            None => Ok(Symbol::Local(offset)),
            Some(_) if variable.align > FRAME_ALIGN => {
                let message = format!("a local variable aligned to more than {FRAME_ALIGN} bytes in a function that calls itself");
                Err(self.scopes.syntax(variable.at, message, variable.name))
            }
            Some(base) => Ok(Symbol::Frame(base, offset)),
        }
    }

    /// Appends the recursive functions that the kernel calls, directly or indirectly.
    pub(super) fn append_subroutines(&mut self, entry: &'m Function<'a>) -> Result<(), PtxError> {
        if self.subroutines.is_empty() {
            return Ok(());
        }
        if let Some(last) = entry.body.iter().flatten().last()
            && runs_off(entry)
        {
            self.push(last, 0, Action::End)?;
        }
        let kernel_local = self.local_bytes;
        let mut number = 0;
        while let Some(subroutine) = self.subroutines.get(number) {
            let function = subroutine.function;
            let cells = subroutine.params.iter().chain(&subroutine.returns);
            let names = function.params.iter().chain(&function.returns).map(|variable| variable.name);
            let bound = names.zip(cells.map(|&cell| Symbol::Cell(cell))).collect();
            let start = self.insts.len();
            (self.inside, self.local, self.local_bytes) = (Some(number), Frame::LOCAL, 0);
            self.expand(function, bound)?;
            self.leave(function, number, start)?;
            self.subroutines[number].range = start as u32..self.insts.len() as u32;
            self.subroutines[number].frame.bytes = self.local_bytes;
            number += 1;
        }
        (self.inside, self.local_bytes) = (None, kernel_local);
        Ok(())
    }

    /// Makes one instruction the end of the function that begins at `start`: its last one if that
    /// is a return, or an additional one. All returns branch to it.
    fn leave(&mut self, function: &'m Function<'a>, number: usize, start: usize) -> Result<(), PtxError> {
        let end = self.insts.len();
        let Some(inst) = function.body.iter().flatten().last() else {
            return Err(self.scopes.syntax(function.at, "a function without instructions that calls itself", function.name));
        };
        let to_end = Action::Return(end as u32);
        if runs_off(function) || self.insts[end - 1].action != to_end {
            return self.push(inst, 0, Action::Leave(number));
        }
        for flat in self.insts[start..].iter_mut().filter(|flat| flat.action == to_end) {
            flat.action = Action::Return(end as u32 - 1);
        }
        self.insts[end - 1].action = Action::Leave(number);
        Ok(())
    }

    /// Assigns storage to the data passed in calls: registers, the kernel's local memory, or
    /// frames.
    pub(super) fn settle(&mut self) -> Result<(), PtxError> {
        let mut own: Vec<OwnFrame> = self.subroutines.iter().map(|s| OwnFrame { base: s.base, frame: s.frame }).collect();
        self.cells.settle(&mut self.scopes, &mut self.local, &mut own)?;
        self.subroutines.iter_mut().zip(own).for_each(|(subroutine, own)| subroutine.frame = own.frame);
        Ok(())
    }
}

/// Returns whether control may pass the last instruction of a function.
fn runs_off(function: &Function<'_>) -> bool {
    let body = function.body.as_deref().unwrap_or_default();
    let returns = |inst: &Instruction<'_>| inst.guard.is_none() && matches!(inst.opcode, "ret" | "ret.uni" | "exit");
    let label_behind = function.scopes.iter().flat_map(|scope| &scope.labels).any(|&(_, at)| at == body.len());
    label_behind || !body.last().is_some_and(returns)
}

/// Decodes call `number`. The saved registers are not known yet.
pub(super) fn enter(d: &mut Decoder<'_, '_>, number: usize) -> Result<Op, PtxError> {
    let tables = d.tables;
    let Some(entering) = tables.entering.get(number) else { return d.unsupported() };
    let Some(callee) = tables.subroutines.get(entering.callee) else { return d.unsupported() };
    let all = |pairs: &[(usize, usize)]| pairs.iter().flat_map(|&pair| handed(&tables.cells, pair)).collect::<Box<[Handed]>>();
    let (arguments, results) = (all(&entering.arguments), all(&entering.results));
    arguments.iter().for_each(|handed| d.touch_handed(*handed, false));
    results.iter().for_each(|handed| d.touch_handed(*handed, true));
    let (target, base) = (callee.range.start, callee.base);
    Ok(Op::Control(Control::Enter(Box::new(Enter { callee: entering.callee, target, base, arguments, results, kept: Box::default() }))))
}

/// Decodes the end of subroutine `number`, which uses its results.
pub(super) fn leave(d: &mut Decoder<'_, '_>, number: usize) -> Op {
    let tables = d.tables;
    for &cell in tables.subroutines.get(number).into_iter().flat_map(|subroutine| &subroutine.returns) {
        if let Place::Registers(registers) = tables.cells.place(cell) {
            registers.values().for_each(|&(reg, _)| d.touch(reg, false));
        }
    }
    Op::Control(Control::Leave)
}

/// Returns the copies from one cell to another of the same layout.
fn handed(cells: &Cells, (from, to): (usize, usize)) -> Vec<Handed> {
    let spot = |place: &Place| match *place {
        Place::Local(offset) => Some(Spot { in_frame: false, offset }),
        Place::Frame(_, offset) => Some(Spot { in_frame: true, offset }),
        Place::Registers(_) => None,
    };
    match (cells.place(from), cells.place(to)) {
        (Place::Registers(from), Place::Registers(to)) => {
            from.values().zip(to.values()).map(|(&(from, _), &(to, _))| Handed::Register { from, to }).collect()
        }
        (one, other) => match (spot(one), spot(other)) {
            (Some(one), Some(other)) => vec![Handed::Memory { from: one, to: other, bytes: cells.bytes(from) }],
            _ => Vec::new(),
        },
    }
}
