//! Reading operands: what the opcode families ask for when they decode. Every reader checks the operand's form and width, and
//! notes which registers the instruction reads and writes.

use super::ast::{Instruction, Operand, Type};
use super::decode::Tables;
use super::error::PtxError;
use super::exec::scalar::{Source, Target};
use super::program::{Address, DoubleReg, PredReg, Reg, Src, Src32, Src64, WordReg};

type Result<T> = std::result::Result<T, PtxError>;

/// Reads one instruction's opcode and operands.
pub(super) struct Decoder<'t, 'a> {
    tables: &'t Tables<'a>,
    inst: &'t Instruction<'a>,
    /// The opcode split at its dots.
    pub(super) parts: Vec<&'a str>,
    defs: Vec<Reg>,
    uses: Vec<Reg>,
}

impl<'t, 'a> Decoder<'t, 'a> {
    pub(super) fn new(tables: &'t Tables<'a>, inst: &'t Instruction<'a>) -> Self {
        Decoder { tables, inst, parts: inst.opcode.split('.').collect(), defs: Vec::new(), uses: Vec::new() }
    }

    /// What the operands read so far write and read, in that order.
    pub(super) fn registers(self) -> (Vec<Reg>, Vec<Reg>) {
        (self.defs, self.uses)
    }

    /// The error for an instruction that is not supported.
    pub(super) fn unsupported<T>(&self) -> Result<T> {
        Err(PtxError::Unsupported { file: self.tables.file.into(), at: self.inst.at, what: "instruction", opcode: self.inst.opcode.into() })
    }

    /// The error for an operand that does not fit the opcode.
    pub(super) fn wrong<T>(&self, message: impl Into<String>, found: impl Into<String>) -> Result<T> {
        Err(PtxError::Syntax { file: self.tables.file.into(), at: self.inst.at, message: message.into(), found: found.into() })
    }

    /// The type that ends the opcode.
    pub(super) fn ty(&self) -> Result<Type> {
        match self.parts.last().and_then(|p| Type::parse(p)) {
            Some(ty) => Ok(ty),
            None => self.unsupported(),
        }
    }

    /// The modifiers between the mnemonic and the last part.
    pub(super) fn modifiers(&self) -> &[&'a str] {
        let end = self.parts.len().saturating_sub(1).max(1);
        &self.parts[1..end]
    }

    /// Checks the number of operands.
    pub(super) fn arity(&self, count: usize) -> Result<()> {
        let found = self.inst.operands.len();
        if found == count { Ok(()) } else { self.wrong(format!("expected {count} operands, not {found}"), self.inst.opcode) }
    }

    /// Operand `index` as written.
    pub(super) fn operand(&self, index: usize) -> Result<&'t Operand<'a>> {
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
    pub(super) fn dst32(&mut self, operand: &Operand<'a>) -> Result<WordReg> {
        match self.named(operand)? {
            Reg::Word(reg) => {
                self.defs.push(Reg::Word(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 32-bit register", operand.to_string()),
        }
    }

    /// A destination of 64 bits.
    pub(super) fn dst64(&mut self, operand: &Operand<'a>) -> Result<DoubleReg> {
        match self.named(operand)? {
            Reg::Double(reg) => {
                self.defs.push(Reg::Double(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 64-bit register", operand.to_string()),
        }
    }

    /// A predicate destination.
    pub(super) fn dst_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg> {
        match self.named(operand)? {
            Reg::Pred(reg) => {
                self.defs.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", operand.to_string()),
        }
    }

    /// A predicate destination by name.
    pub(super) fn def_pred(&mut self, name: &str) -> Result<PredReg> {
        match self.register(name)? {
            Reg::Pred(reg) => {
                self.defs.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", name),
        }
    }

    /// A source of up to 32 bits: register, literal, or the address of a shared variable.
    pub(super) fn src32(&mut self, operand: &Operand<'a>) -> Result<Src32> {
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
    pub(super) fn src64(&mut self, operand: &Operand<'a>) -> Result<Src64> {
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
    pub(super) fn src_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg> {
        match operand {
            Operand::Name(name) => self.use_pred(name),
            other => self.wrong("expected a predicate", other.to_string()),
        }
    }

    /// A predicate by name.
    pub(super) fn use_pred(&mut self, name: &str) -> Result<PredReg> {
        match self.register(name)? {
            Reg::Pred(reg) => {
                self.uses.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", name),
        }
    }

    /// Operand `index` as a destination of `bytes` (8, or fewer), or 0 for a predicate.
    pub(super) fn target(&mut self, index: usize, bytes: u8) -> Result<Target> {
        let operand = self.operand(index)?;
        match bytes {
            0 => self.dst_pred(operand).map(Target::Pred),
            8 => self.dst64(operand).map(Target::Double),
            _ => self.dst32(operand).map(Target::Word),
        }
    }

    /// Operand `index` as a source of `bytes` (8, or fewer), or 0 for a predicate.
    pub(super) fn source(&mut self, index: usize, bytes: u8) -> Result<Source> {
        let operand = self.operand(index)?;
        match (bytes, operand) {
            (0, Operand::Not(name)) => Ok(Source::Pred(self.use_pred(name)?, true)),
            (0, _) => Ok(Source::Pred(self.src_pred(operand)?, false)),
            (8, _) => self.src64(operand).map(Source::Double),
            _ => self.src32(operand).map(Source::Word),
        }
    }

    /// The carry flag, to be read.
    pub(super) fn use_carry(&mut self) -> Result<PredReg> {
        let carry = self.carry()?;
        self.uses.push(Reg::Pred(carry));
        Ok(carry)
    }

    /// The carry flag, to be written.
    pub(super) fn def_carry(&mut self) -> Result<PredReg> {
        let carry = self.carry()?;
        self.defs.push(Reg::Pred(carry));
        Ok(carry)
    }

    fn carry(&self) -> Result<PredReg> {
        match self.tables.carry {
            Some(carry) => Ok(carry),
            None => self.unsupported(),
        }
    }

    /// A branch target, as an instruction index.
    pub(super) fn label(&self, operand: &Operand<'a>) -> Result<u32> {
        match operand {
            Operand::Name(name) => match self.tables.labels.get(name) {
                Some(&index) => Ok(index),
                None => self.wrong("expected a declared label", *name),
            },
            other => self.wrong("expected a label", other.to_string()),
        }
    }

    /// An address in parameter space, as a byte offset, checked to hold `bytes`.
    pub(super) fn param(&self, operand: &Operand<'a>, bytes: u32) -> Result<u32> {
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
    pub(super) fn address(&mut self, operand: &Operand<'a>) -> Result<(Address, i64)> {
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
