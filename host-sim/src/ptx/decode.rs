//! Names to indices: an [`Entry`] becomes a [`Program`]. Each opcode family decodes its own instructions (`exec/`); here are
//! the tables they ask and the operand readers, which note on the way what an instruction reads and writes.

use super::ast::{Entry, Instruction, Module, Operand, Type};
use super::cfg;
use super::error::{Position, PtxError};
use super::exec;
use super::program::{DoubleReg, Guard, Inst, Param, PredReg, Program, Reg, Src, Src32, Src64, WordReg};
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
pub struct Tables<'a> {
    file: &'a str,
    registers: BTreeMap<&'a str, Range>,
    /// Registers per class: predicates, 32-bit, 64-bit.
    counts: [u16; 3],
    labels: BTreeMap<&'a str, u32>,
    params: BTreeMap<&'a str, (u32, u32)>,
    shared: BTreeMap<&'a str, u32>,
    shared_bytes: u32,
}

impl<'a> Tables<'a> {
    fn new(module: &'a Module<'a>, entry: &Entry<'a>) -> Result<Self> {
        let mut tables = Tables {
            file: &module.file,
            registers: BTreeMap::new(),
            counts: [0; 3],
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
        if !insts.last().is_some_and(|i| i.guard.is_none() && i.op.is_exit()) {
            let at = insts.last().map_or(super::parser::START, |i| i.at);
            insts.push(Inst { op: exec::Op::exit(), guard: None, defs: vec![], uses: vec![], at, opcode: "ret".into() });
        }
        let cfg = cfg::analyse(&insts);
        let params = entry.params.iter().map(|p| Param { name: p.name.into(), offset: self.params[p.name].0, bytes: p.bytes() }).collect();
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
        let mut decoder = Decoder { tables: self, inst, parts: inst.opcode.split('.').collect(), defs: Vec::new(), uses: Vec::new() };
        let guard = match inst.guard {
            Some(text) => Some(Guard { pred: decoder.use_pred(text.register)?, negated: text.negated }),
            None => None,
        };
        let op = exec::decode(&mut decoder)?;
        let Decoder { defs, uses, .. } = decoder;
        Ok(Inst { op, guard, defs, uses, at: inst.at, opcode: inst.opcode.into() })
    }

    fn register(&self, name: &str) -> Option<(Reg, Type)> {
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

/// Reads one instruction's opcode and operands.
pub struct Decoder<'t, 'a> {
    tables: &'t Tables<'a>,
    inst: &'t Instruction<'a>,
    /// The opcode split at its dots.
    pub parts: Vec<&'a str>,
    defs: Vec<Reg>,
    uses: Vec<Reg>,
}

impl<'t, 'a> Decoder<'t, 'a> {
    /// The error for an instruction that is not supported.
    pub fn unsupported<T>(&self) -> Result<T> {
        Err(PtxError::Unsupported { file: self.tables.file.into(), at: self.inst.at, what: "instruction", opcode: self.inst.opcode.into() })
    }

    /// The error for an operand that does not fit the opcode.
    pub fn wrong<T>(&self, message: impl Into<String>, found: impl Into<String>) -> Result<T> {
        Err(PtxError::Syntax { file: self.tables.file.into(), at: self.inst.at, message: message.into(), found: found.into() })
    }

    /// The type that ends the opcode.
    pub fn ty(&self) -> Result<Type> {
        match self.parts.last().and_then(|p| Type::parse(p)) {
            Some(ty) => Ok(ty),
            None => self.unsupported(),
        }
    }

    /// The modifiers between the mnemonic and the last part.
    pub fn modifiers(&self) -> &[&'a str] {
        let end = self.parts.len().saturating_sub(1).max(1);
        &self.parts[1..end]
    }

    /// Checks the number of operands.
    pub fn arity(&self, count: usize) -> Result<()> {
        let found = self.inst.operands.len();
        if found == count { Ok(()) } else { self.wrong(format!("expected {count} operands, not {found}"), self.inst.opcode) }
    }

    /// Operand `index` as written.
    pub fn operand(&self, index: usize) -> Result<&'t Operand<'a>> {
        match self.inst.operands.get(index) {
            Some(operand) => Ok(operand),
            None => self.wrong(format!("expected an operand {}", index + 1), self.inst.opcode),
        }
    }

    fn register(&self, name: &str) -> Result<Reg> {
        match self.tables.register(name) {
            Some((reg, _)) => Ok(reg),
            None => self.wrong("expected a declared register", name),
        }
    }

    fn named(&self, operand: &Operand<'a>) -> Result<Reg> {
        match operand {
            Operand::Name(name) => self.register(name),
            other => self.wrong("expected a register", other.to_string()),
        }
    }

    /// A destination of up to 32 bits.
    pub fn dst32(&mut self, operand: &Operand<'a>) -> Result<WordReg> {
        match self.named(operand)? {
            Reg::Word(reg) => {
                self.defs.push(Reg::Word(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 32-bit register", operand.to_string()),
        }
    }

    /// A destination of 64 bits.
    pub fn dst64(&mut self, operand: &Operand<'a>) -> Result<DoubleReg> {
        match self.named(operand)? {
            Reg::Double(reg) => {
                self.defs.push(Reg::Double(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 64-bit register", operand.to_string()),
        }
    }

    /// A predicate destination.
    pub fn dst_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg> {
        match self.named(operand)? {
            Reg::Pred(reg) => {
                self.defs.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", operand.to_string()),
        }
    }

    /// A source of up to 32 bits: register, literal, or the address of a shared variable.
    pub fn src32(&mut self, operand: &Operand<'a>) -> Result<Src32> {
        match operand {
            Operand::Integer(value) => match *value as i64 {
                -0x8000_0000..=0xffff_ffff => Ok(Src::Imm(*value as u32)),
                _ => self.wrong("expected a 32-bit number", operand.to_string()),
            },
            Operand::Float32(bits) => Ok(Src::Imm(*bits)),
            Operand::Name(name) => match self.tables.register(name) {
                Some((Reg::Word(reg), _)) => {
                    self.uses.push(Reg::Word(reg));
                    Ok(Src::Reg(reg))
                }
                Some(_) => self.wrong("expected a 32-bit register", *name),
                None => match self.tables.shared.get(name) {
                    Some(&offset) => Ok(Src::Imm(offset)),
                    None => self.wrong("expected a declared register", *name),
                },
            },
            other => self.wrong("expected a 32-bit register or number", other.to_string()),
        }
    }

    /// A source of 64 bits: register, literal, or the address of a shared variable.
    pub fn src64(&mut self, operand: &Operand<'a>) -> Result<Src64> {
        match operand {
            Operand::Integer(value) | Operand::Float64(value) => Ok(Src::Imm(*value)),
            Operand::Name(name) => match self.tables.register(name) {
                Some((Reg::Double(reg), _)) => {
                    self.uses.push(Reg::Double(reg));
                    Ok(Src::Reg(reg))
                }
                Some(_) => self.wrong("expected a 64-bit register", *name),
                None => match self.tables.shared.get(name) {
                    Some(&offset) => Ok(Src::Imm(offset.into())),
                    None => self.wrong("expected a declared register", *name),
                },
            },
            other => self.wrong("expected a 64-bit register or number", other.to_string()),
        }
    }

    /// A predicate source.
    pub fn src_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg> {
        match operand {
            Operand::Name(name) => self.use_pred(name),
            other => self.wrong("expected a predicate", other.to_string()),
        }
    }

    fn use_pred(&mut self, name: &str) -> Result<PredReg> {
        match self.register(name)? {
            Reg::Pred(reg) => {
                self.uses.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", name),
        }
    }

    /// A branch target, as an instruction index.
    pub fn label(&self, operand: &Operand<'a>) -> Result<u32> {
        match operand {
            Operand::Name(name) => match self.tables.labels.get(name) {
                Some(&index) => Ok(index),
                None => self.wrong("expected a declared label", *name),
            },
            other => self.wrong("expected a label", other.to_string()),
        }
    }

    /// An address in parameter space, as a byte offset, checked to hold `bytes`.
    pub fn param(&self, operand: &Operand<'a>, bytes: u32) -> Result<u32> {
        if let Operand::Address { base: Some(name), offset } = operand
            && let Some(&(start, size)) = self.tables.params.get(name)
        {
            return match u32::try_from(*offset) {
                Ok(offset) if offset.checked_add(bytes).is_some_and(|end| end <= size) => Ok(start + offset),
                _ => self.wrong(format!("an access of {bytes} bytes outside the parameter"), operand.to_string()),
            };
        }
        self.wrong("expected the address of a parameter", operand.to_string())
    }

    /// An address in memory: base (register, literal or shared variable) and offset.
    pub fn address(&mut self, operand: &Operand<'a>) -> Result<(Address, i64)> {
        let Operand::Address { base, offset } = operand else {
            return self.wrong("expected an address", operand.to_string());
        };
        let Some(name) = base else { return Ok((Address::Absolute, *offset)) };
        match self.tables.register(name) {
            Some((reg @ Reg::Word(word), _)) => {
                self.uses.push(reg);
                Ok((Address::Word(word), *offset))
            }
            Some((reg @ Reg::Double(double), _)) => {
                self.uses.push(reg);
                Ok((Address::Double(double), *offset))
            }
            Some(_) => self.wrong("expected a register of 32 or 64 bits", *name),
            None => match self.tables.shared.get(name) {
                Some(&start) => Ok((Address::Absolute, offset.wrapping_add(start.into()))),
                None => self.wrong("expected a declared register or variable", *name),
            },
        }
    }
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// A 32-bit register.
    Word(WordReg),
    /// A 64-bit register.
    Double(DoubleReg),
    /// Nothing: the offset is the address.
    Absolute,
}
