//! Names to indices: an [`Entry`] becomes a [`Program`]. Each opcode family decodes its own instructions (`exec/`) with the
//! help of a `Decoder` (`operands.rs`), which asks the tables made here.

use super::ast::{Entry, Instruction, Module, Type};
use super::cfg;
use super::error::{Position, PtxError};
use super::exec;
use super::operands::Decoder;
use super::program::{DoubleReg, Guard, Inst, Param, PredReg, Program, Reg, WordReg};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, PtxError>;

impl Program {
    /// Parses `text` (named `file` in messages) and decodes its entry `entry`.
    ///
    /// # Errors
    /// [`PtxError`]: what is wrong with the text, with line and column, or which entries there are.
    pub fn parse(file: &str, text: &str, entry: &str) -> Result<Program> {
        let module = super::parser::parse(file, text)?;
        let Some(found) = module.entries.iter().find(|e| e.name == entry) else {
            let known = module.entries.iter().map(|e| e.name.to_owned()).collect();
            return Err(PtxError::NoEntry { file: file.into(), entry: entry.into(), known });
        };
        Tables::new(&module, found)?.program(found)
    }
}

/// A run of numbered registers, or a single one.
#[derive(Clone, Copy)]
struct Range {
    first: u16,
    count: Option<u32>,
    ty: Type,
}

/// What the names of one entry mean.
pub(super) struct Tables<'a> {
    pub(super) file: &'a str,
    registers: BTreeMap<&'a str, Range>,
    /// Registers per class: predicates, 32-bit, 64-bit.
    counts: [u16; 3],
    /// The carry flag of `add.cc` and its kin, where the entry uses it: a predicate of no name.
    pub(super) carry: Option<PredReg>,
    pub(super) labels: BTreeMap<&'a str, u32>,
    pub(super) params: BTreeMap<&'a str, (u32, u32)>,
    pub(super) shared: BTreeMap<&'a str, u32>,
    shared_bytes: u32,
}

impl<'a> Tables<'a> {
    fn new(module: &'a Module<'a>, entry: &Entry<'a>) -> Result<Self> {
        let mut tables = Tables {
            file: &module.file,
            registers: BTreeMap::new(),
            counts: [0; 3],
            carry: None,
            labels: BTreeMap::new(),
            params: BTreeMap::new(),
            shared: BTreeMap::new(),
            shared_bytes: 0,
        };
        let start = super::parser::START;
        for decl in &entry.registers {
            let count = &mut tables.counts[class(decl.ty)];
            let first = *count;
            let more = u16::try_from(decl.count.unwrap_or(1)).ok();
            let Some(next) = more.and_then(|n| first.checked_add(n)) else {
                return Err(tables.syntax(start, "more than 65535 registers of one width", decl.name));
            };
            *count = next;
            tables.registers.insert(decl.name, Range { first, count: decl.count, ty: decl.ty });
        }
        let carries = |opcode: &str| opcode.contains(".cc") || ["addc", "subc", "madc"].iter().any(|m| opcode.starts_with(m));
        if entry.body.iter().any(|inst| carries(inst.opcode)) {
            tables.carry = Some(PredReg(tables.counts[0]));
            tables.counts[0] = tables.counts[0].saturating_add(1);
        }
        let mut offset = 0;
        for param in &entry.params {
            offset = tables.place(offset, param)?;
            tables.params.insert(param.name, (offset, param.bytes()));
            offset += param.bytes();
        }
        for variable in &entry.shared {
            let at = tables.place(tables.shared_bytes, variable)?;
            tables.shared.insert(variable.name, at);
            tables.shared_bytes = at + variable.bytes();
        }
        for &(label, index) in &entry.labels {
            if tables.labels.insert(label, index as u32).is_some() {
                return Err(tables.syntax(start, "a label declared twice", label));
            }
        }
        Ok(tables)
    }

    /// Aligns `offset` for `variable`; the total of a memory space must stay within 64 KiB (assumption: the largest of
    /// parameter space, 4 KiB, and static shared memory, 48 KiB, rounded up).
    fn place(&self, offset: u32, variable: &super::ast::Variable<'_>) -> Result<u32> {
        const MOST: u32 = 64 << 10;
        let aligned = offset.next_multiple_of(variable.align);
        if variable.bytes() > MOST || aligned + variable.bytes() > MOST {
            return Err(self.syntax(variable.at, "a variable that does not fit 64 KiB with those before it", variable.name));
        }
        Ok(aligned)
    }

    fn syntax(&self, at: Position, message: impl Into<String>, found: &str) -> PtxError {
        PtxError::Syntax { file: self.file.into(), at, message: message.into(), found: found.into() }
    }

    fn program(self, entry: &Entry<'a>) -> Result<Program> {
        let mut insts = Vec::with_capacity(entry.body.len() + 1);
        for inst in &entry.body {
            insts.push(self.instruction(inst)?);
        }
        // Running off the end returns (PTX ISA: a kernel ends at its closing brace).
        let labelled = entry.labels.iter().any(|&(_, index)| index == insts.len());
        if labelled || !insts.last().is_some_and(|i| i.guard.is_none() && i.op.is_exit()) {
            let at = insts.last().map_or(super::parser::START, |i| i.at);
            insts.push(Inst { op: exec::Op::exit(), guard: None, defs: vec![], uses: vec![], at, opcode: "ret".into() });
        }
        let cfg = cfg::analyse(&insts);
        let params =
            entry.params.iter().map(|p| Param { name: p.name.into(), offset: self.params[p.name].0, bytes: p.bytes(), ty: p.ty }).collect();
        let [pred_count, word_count, double_count] = self.counts;
        Ok(Program {
            file: self.file.into(),
            name: entry.name.into(),
            params,
            shared_bytes: self.shared_bytes,
            pred_count,
            word_count,
            double_count,
            insts,
            reconverge: cfg.reconverge,
            blocks: cfg.blocks,
        })
    }

    fn instruction(&self, inst: &Instruction<'a>) -> Result<Inst> {
        let mut decoder = Decoder::new(self, inst);
        let guard = match inst.guard {
            Some(text) => Some(Guard { pred: decoder.use_pred(text.register)?, negated: text.negated }),
            None => None,
        };
        let op = exec::decode(&mut decoder)?;
        let (defs, uses) = decoder.registers();
        Ok(Inst { op, guard, defs, uses, at: inst.at, opcode: inst.opcode.into() })
    }

    /// The register of a name, and its declared type.
    pub(super) fn register(&self, name: &str) -> Option<(Reg, Type)> {
        let (range, index) = match self.registers.get(name) {
            Some(range) if range.count.is_none() => (range, 0),
            _ => {
                let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                // A prefix may itself end in a digit: try the shortest number last.
                (1..=digits).rev().find_map(|n| {
                    let (prefix, number) = name.split_at(name.len() - n);
                    let range = self.registers.get(prefix)?;
                    let index: u32 = number.parse().ok()?;
                    (index < range.count?).then_some((range, index))
                })?
            }
        };
        let number = range.first + index as u16;
        let reg = match class(range.ty) {
            0 => Reg::Pred(PredReg(number)),
            1 => Reg::Word(WordReg(number)),
            _ => Reg::Double(DoubleReg(number)),
        };
        Some((reg, range.ty))
    }
}

/// Register class of a type: 0 predicates, 1 up to 32 bits, 2 64 bits.
fn class(ty: Type) -> usize {
    match ty {
        Type::Pred => 0,
        _ if ty.bytes() <= 4 => 1,
        _ => 2,
    }
}
