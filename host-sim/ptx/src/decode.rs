//! Decoder from names to indices: a kernel becomes a [`Program`]. Each opcode family decodes its
//! own instructions (`exec/`) with a `Decoder` (`operands.rs`), which uses the tables built here.

use super::ast::{Function, Module};
use super::cells::Cells;
use super::cfg;
use super::error::PtxError;
use super::exec::control::Control;
use super::exec::{self, Op};
use super::frames::Subroutine;
use super::image_layout::layout;
use super::inline::{Action, Flat, FlatInst};
use super::names;
use super::operands::Decoder;
use super::program::{Guard, Inst, Param, PredReg, Program};
use super::runtime::RuntimeCall;
use super::scope::{Level, Scopes};
use super::subroutine::{self, Entering, FRAME_ALIGN};
use std::sync::Arc;

impl Program {
    /// Parses `text` (named `file` in messages) and decodes its entry `entry`.
    ///
    /// # Errors
    /// [`PtxError`] for an error in the text, with line and column, or for an unknown entry, with
    /// the existing ones.
    pub fn parse(file: &str, text: &str, entry: &str) -> Result<Program, PtxError> {
        Program::of(&super::parser::parse(file, text)?, entry)
    }

    /// Decodes the entry of a module with the name `entry`, in the PTX or in C++ (`names.rs`).
    ///
    /// # Errors
    /// [`PtxError`] for an error in the entry, or for an unknown entry, with the existing ones.
    pub fn of(module: &Module<'_>, entry: &str) -> Result<Program, PtxError> {
        let refused = || module.refused.iter().filter(|r| r.entry);
        let all = || module.entries.iter().map(|e| e.name).chain(refused().map(|r| r.name));
        let names = names::matching(entry, all());
        let (file, entry) = (module.file.clone(), entry.to_owned());
        match names.as_slice() {
            [] => Err(PtxError::NoEntry { file, entry, known: all().map(str::to_owned).collect() }),
            [name] => match (module.entries.iter().find(|e| e.name == *name), refused().find(|r| r.name == *name)) {
                (Some(found), _) => program(module, found),
                (None, Some(refused)) => Err(refused.error.clone()),
                (None, None) => Err(PtxError::NoEntry { file, entry, known: Vec::new() }),
            },
            several => Err(PtxError::ManyEntries { file, entry, found: several.iter().map(|name| (*name).to_owned()).collect() }),
        }
    }
}

/// Meanings of the names in one kernel.
pub(super) struct Tables<'m, 'a> {
    pub(super) scopes: Scopes<'m, 'a>,
    pub(super) cells: Cells,
    /// Unnamed predicate: lanes that take part in a call through a pointer.
    pub(super) chosen: Option<PredReg>,
    /// Addresses of possible callees, as in [`Flat`].
    pub(super) candidates: Vec<Box<[u64]>>,
    pub(super) runtime: Vec<RuntimeCall>,
    pub(super) subroutines: Vec<subroutine::Subroutine<'m, 'a>>,
    pub(super) entering: Vec<Entering>,
    /// Unnamed predicate: the carry flag of `add.cc` and related instructions, if the kernel uses
    /// it.
    pub(super) carry: Option<PredReg>,
}

fn program<'a>(module: &Module<'a>, entry: &Function<'a>) -> Result<Program, PtxError> {
    let mut scopes = Scopes { file: &module.file, levels: vec![Level::default()], counts: [0; 3] };
    let image = layout(module, &mut scopes)?;
    let mut flat = Flat::new(module, entry, scopes)?;
    let (subroutines, entering) = (std::mem::take(&mut flat.subroutines), std::mem::take(&mut flat.entering));
    let Flat { scopes, insts: flat, cells, params: param_frame, shared, dynamic_shared, mut local_bytes, candidates, runtime, .. } = flat;
    let mut tables = Tables { scopes, cells, chosen: None, candidates, runtime, subroutines, entering, carry: None };
    if !tables.candidates.is_empty() {
        tables.chosen = Some(tables.scopes.hidden_predicate());
    }
    let carries = |opcode: &str| opcode.contains(".cc") || ["addc", "subc", "madc"].iter().any(|m| opcode.starts_with(m));
    if flat.iter().any(|f| carries(f.inst.opcode)) {
        tables.carry = Some(tables.scopes.hidden_predicate());
    }
    let mut insts = Vec::with_capacity(flat.len() + 1);
    for inst in &flat {
        insts.push(tables.instruction(inst)?);
    }
    // Reaching the closing brace returns (PTX ISA: a kernel ends at its closing brace).
    let end = insts.len() as u32;
    let targeted = insts.iter().any(|inst| inst.op.targets().contains(&end));
    if targeted || !insts.last().is_some_and(|i| i.guard.is_none() && i.op.ends()) {
        let at = insts.last().map_or(super::parser::START, |i| i.at);
        insts.push(Inst { op: exec::Op::exit(), guard: None, defs: vec![], uses: vec![], at, opcode: "ret".into() });
    }
    let cfg = cfg::analyze(&insts);
    let subroutines: Vec<Subroutine> = tables.subroutines.iter().map(|s| s.finished(&mut insts, &cfg.blocks)).collect();
    if !subroutines.is_empty() {
        local_bytes = local_bytes.next_multiple_of(FRAME_ALIGN);
    }
    let mut params = Vec::new();
    for param in &entry.params {
        if let Some(&super::scope::Symbol::Param(offset, bytes)) = tables.scopes.symbol(1, param.name) {
            params.push(Param { name: param.name.into(), offset, bytes, ty: param.ty });
        }
    }
    let [pred_count, word_count, double_count] = tables.scopes.counts;
    Ok(Program {
        file: module.file.clone(),
        name: entry.name.into(),
        params,
        param_bytes: param_frame.bytes,
        shared_bytes: shared.bytes,
        dynamic_shared,
        local_bytes,
        image: Arc::new(image),
        pred_count,
        word_count,
        double_count,
        insts,
        reconverge: cfg.reconverge,
        blocks: cfg.blocks,
        subroutines,
        source: Arc::new(module.source.clone()),
    })
}

impl<'a> Tables<'_, 'a> {
    fn instruction(&self, flat: &FlatInst<'_, 'a>) -> Result<Inst, PtxError> {
        let inst = flat.inst;
        let mut decoder = Decoder::new(self, flat);
        let guard = match inst.guard {
            Some(text) => Some(Guard { pred: decoder.use_pred(text.register)?, negated: text.negated }),
            None => None,
        };
        let (op, guard) = match (flat.action, guard) {
            (Action::Decode, guard) => (exec::decode(&mut decoder)?, guard),
            (Action::Return(target), guard) => (Op::Control(Control::Branch { target }), guard),
            (Action::Trap, guard) => (Op::Control(Control::Trap), guard),
            (Action::Runtime(number), guard) => (exec::system::decode(&mut decoder, number)?, guard),
            (Action::Choose(address), guard) => (exec::special::chosen(&mut decoder, address, guard)?, None),
            (Action::Chosen(target), _) => {
                let pred = decoder.use_chosen()?;
                (Op::Control(Control::Branch { target }), Some(Guard { pred, negated: true }))
            }
            (Action::Unknown(number), guard) => (exec::control::unknown(&mut decoder, number)?, guard),
            (Action::Enter(number), guard) => (subroutine::enter(&mut decoder, number)?, guard),
            // At or after the last instruction, the function returns.
            (Action::Leave(number), _) => (subroutine::leave(&mut decoder, number), None),
            (Action::End, _) => (Op::exit(), None),
            (Action::Call(_), None) => (Op::Control(Control::Call), None),
            // Lanes that do not call continue after the function.
            (Action::Call(target), Some(guard)) => {
                (Op::Control(Control::Branch { target }), Some(Guard { negated: !guard.negated, ..guard }))
            }
        };
        let (defs, uses) = decoder.registers();
        let opcode = if op.ends() { "ret" } else { inst.opcode };
        Ok(Inst { op, guard, defs, uses, at: inst.at, opcode: opcode.into() })
    }
}
