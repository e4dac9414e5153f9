//! Operand readers for the opcode families. Every reader checks the operand's form and width, and
//! records which registers the instruction reads and writes. `places.rs` reads labels and
//! addresses.

use super::ast::{Instruction, Operand, Type};
use super::decode::Tables;
use super::error::PtxError;
use super::exec::scalar::{Source, Target};
use super::inline::FlatInst;
use super::program::{DoubleReg, PredReg, Reg, Src, Src32, Src64, WordReg};

/// Reader of one instruction's opcode and operands.
pub(super) struct Decoder<'t, 'a> {
    pub(super) tables: &'t Tables<'t, 'a>,
    inst: &'t Instruction<'a>,
    pub(super) scope: usize,
    /// Parts of the opcode, split at its dots.
    pub(super) parts: Vec<&'a str>,
    pub(super) defs: Vec<Reg>,
    pub(super) uses: Vec<Reg>,
}

impl<'t, 'a> Decoder<'t, 'a> {
    pub(super) fn new(tables: &'t Tables<'t, 'a>, flat: &FlatInst<'t, 'a>) -> Self {
        let (inst, scope) = (flat.inst, flat.scope);
        let mut parts: Vec<&str> = inst.opcode.split('.').collect();
        // The assembler also accepts `lg2.approx.f32.ftz`, which CUDA's headers contain.
        if let [.., before, last] = parts.as_mut_slice()
            && *last == "ftz"
        {
            std::mem::swap(before, last);
        }
        Decoder { tables, inst, scope, parts, defs: Vec::new(), uses: Vec::new() }
    }

    /// Returns the registers written and read by the operands so far, in that order.
    pub(super) fn registers(self) -> (Vec<Reg>, Vec<Reg>) {
        (self.defs, self.uses)
    }

    /// Returns an error for an unsupported instruction.
    pub(super) fn unsupported<T>(&self) -> Result<T, PtxError> {
        Err(PtxError::Unsupported {
            file: self.tables.scopes.file.into(),
            at: self.inst.at,
            what: "instruction",
            opcode: self.inst.opcode.into(),
        })
    }

    /// Returns an error for an operand that does not fit the opcode.
    pub(super) fn wrong<T>(&self, message: impl Into<String>, found: impl Into<String>) -> Result<T, PtxError> {
        Err(PtxError::Syntax { file: self.tables.scopes.file.into(), at: self.inst.at, message: message.into(), found: found.into() })
    }

    /// Returns the type at the end of the opcode.
    pub(super) fn ty(&self) -> Result<Type, PtxError> {
        match self.parts.last().and_then(|p| Type::parse(p)) {
            Some(ty) => Ok(ty),
            None => self.unsupported(),
        }
    }

    /// Returns the modifiers between the mnemonic and the last part.
    pub(super) fn modifiers(&self) -> &[&'a str] {
        let end = self.parts.len().saturating_sub(1).max(1);
        &self.parts[1..end]
    }

    /// Checks the number of operands.
    pub(super) fn arity(&self, count: usize) -> Result<(), PtxError> {
        let found = self.inst.operands.len();
        if found == count { Ok(()) } else { self.wrong(format!("expected {count} operands, not {found}"), self.inst.opcode) }
    }

    /// Returns the number of operands.
    pub(super) fn operands(&self) -> usize {
        self.inst.operands.len()
    }

    /// Returns the complete opcode.
    pub(super) fn opcode(&self) -> &'a str {
        self.inst.opcode
    }

    /// Returns operand `index` as written.
    pub(super) fn operand(&self, index: usize) -> Result<&'t Operand<'a>, PtxError> {
        match self.inst.operands.get(index) {
            Some(operand) => Ok(operand),
            None => self.wrong(format!("expected an operand {}", index + 1), self.inst.opcode),
        }
    }

    fn register(&self, name: &str) -> Result<Reg, PtxError> {
        match self.tables.scopes.register(self.scope, name) {
            Some(reg) => Ok(reg),
            None => self.wrong("expected a declared register", name),
        }
    }

    fn named(&self, operand: &Operand<'a>) -> Result<Reg, PtxError> {
        match operand {
            Operand::Name(name) => self.register(name),
            other => self.wrong("expected a register", other.to_string()),
        }
    }

    /// Returns true for a 64-bit register.
    pub(super) fn is_double(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Name(name) if matches!(self.tables.scopes.register(self.scope, name), Some(Reg::Double(_))))
    }

    /// Returns true for a predicate.
    pub(super) fn is_pred(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Name(name) if matches!(self.tables.scopes.register(self.scope, name), Some(Reg::Pred(_))))
    }

    /// Reads a destination of up to 32 bits.
    pub(super) fn dst32(&mut self, operand: &Operand<'a>) -> Result<WordReg, PtxError> {
        match self.named(operand)? {
            Reg::Word(reg) => {
                self.defs.push(Reg::Word(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 32-bit register", operand.to_string()),
        }
    }

    /// Reads a destination of 64 bits.
    pub(super) fn dst64(&mut self, operand: &Operand<'a>) -> Result<DoubleReg, PtxError> {
        match self.named(operand)? {
            Reg::Double(reg) => {
                self.defs.push(Reg::Double(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a 64-bit register", operand.to_string()),
        }
    }

    /// Reads a predicate destination.
    pub(super) fn dst_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg, PtxError> {
        match self.named(operand)? {
            Reg::Pred(reg) => {
                self.defs.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", operand.to_string()),
        }
    }

    /// Reads a predicate destination by name.
    pub(super) fn def_pred(&mut self, name: &str) -> Result<PredReg, PtxError> {
        match self.register(name)? {
            Reg::Pred(reg) => {
                self.defs.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", name),
        }
    }

    /// Reads a source of up to 32 bits: register, literal, or the address of a variable.
    pub(super) fn src32(&mut self, operand: &Operand<'a>) -> Result<Src32, PtxError> {
        match operand {
            Operand::Integer(value) => match *value as i64 {
                -0x8000_0000..=0xffff_ffff => Ok(Src::Imm(*value as u32)),
                _ => self.wrong("expected a 32-bit number", operand.to_string()),
            },
            Operand::Float32(bits) => Ok(Src::Imm(*bits)),
            Operand::Name(name) => match self.tables.scopes.register(self.scope, name) {
                Some(Reg::Word(reg)) => {
                    self.uses.push(Reg::Word(reg));
                    Ok(Src::Reg(reg))
                }
                Some(_) => self.wrong("expected a 32-bit register", *name),
                None => self.src32(&Operand::Address { base: Some(name), offset: 0 }),
            },
            Operand::Address { base: Some(name), offset } => match u32::try_from(self.address_of(name, *offset)?) {
                Ok(address) => Ok(Src::Imm(address)),
                Err(_) => self.wrong("expected 64 bits for the address of a variable in device memory", *name),
            },
            other => self.wrong("expected a 32-bit register or number", other.to_string()),
        }
    }

    /// Reads a source of 64 bits: register, literal, or the address of a variable.
    pub(super) fn src64(&mut self, operand: &Operand<'a>) -> Result<Src64, PtxError> {
        match operand {
            Operand::Integer(value) | Operand::Float64(value) => Ok(Src::Imm(*value)),
            Operand::Name(name) => match self.tables.scopes.register(self.scope, name) {
                Some(Reg::Double(reg)) => {
                    self.uses.push(Reg::Double(reg));
                    Ok(Src::Reg(reg))
                }
                Some(_) => self.wrong("expected a 64-bit register", *name),
                None => self.address_of(name, 0).map(Src::Imm),
            },
            Operand::Address { base: Some(name), offset } => self.address_of(name, *offset).map(Src::Imm),
            other => self.wrong("expected a 64-bit register or number", other.to_string()),
        }
    }

    /// Reads a predicate source.
    pub(super) fn src_pred(&mut self, operand: &Operand<'a>) -> Result<PredReg, PtxError> {
        match operand {
            Operand::Name(name) => self.use_pred(name),
            other => self.wrong("expected a predicate", other.to_string()),
        }
    }

    /// Reads a predicate source by name.
    pub(super) fn use_pred(&mut self, name: &str) -> Result<PredReg, PtxError> {
        match self.register(name)? {
            Reg::Pred(reg) => {
                self.uses.push(Reg::Pred(reg));
                Ok(reg)
            }
            _ => self.wrong("expected a predicate", name),
        }
    }

    /// Reads operand `index` as a destination of `bytes` (at most 8), or 0 for a predicate.
    pub(super) fn target(&mut self, index: usize, bytes: u8) -> Result<Target, PtxError> {
        let operand = self.operand(index)?;
        match bytes {
            0 => self.dst_pred(operand).map(Target::Pred),
            8 => self.dst64(operand).map(Target::Double),
            _ => self.dst32(operand).map(Target::Word),
        }
    }

    /// Reads operand `index` as a source of `bytes` (at most 8), or 0 for a predicate.
    pub(super) fn source(&mut self, index: usize, bytes: u8) -> Result<Source, PtxError> {
        let operand = self.operand(index)?;
        match (bytes, operand) {
            (0, Operand::Not(name)) => Ok(Source::Pred(self.use_pred(name)?, true)),
            (0, _) => Ok(Source::Pred(self.src_pred(operand)?, false)),
            (8, _) => self.src64(operand).map(Source::Double),
            _ => self.src32(operand).map(Source::Word),
        }
    }

    /// Reads the carry flag as a source.
    pub(super) fn use_carry(&mut self) -> Result<PredReg, PtxError> {
        let carry = self.carry()?;
        self.uses.push(Reg::Pred(carry));
        Ok(carry)
    }

    /// Reads the carry flag as a destination.
    pub(super) fn def_carry(&mut self) -> Result<PredReg, PtxError> {
        let carry = self.carry()?;
        self.defs.push(Reg::Pred(carry));
        Ok(carry)
    }

    /// Reads the predicate of the lanes in a call through a pointer, as a source.
    pub(super) fn use_chosen(&mut self) -> Result<PredReg, PtxError> {
        match self.tables.chosen {
            Some(chosen) => {
                self.uses.push(Reg::Pred(chosen));
                Ok(chosen)
            }
            None => self.unsupported(),
        }
    }

    /// Reads the predicate of the lanes in a call through a pointer, as a destination.
    pub(super) fn def_chosen(&mut self) -> Result<PredReg, PtxError> {
        match self.tables.chosen {
            Some(chosen) => {
                self.defs.push(Reg::Pred(chosen));
                Ok(chosen)
            }
            None => self.unsupported(),
        }
    }

    /// Reads the pointer of a call through one.
    pub(super) fn pointer(&mut self) -> Result<Src64, PtxError> {
        match super::pointer::pointer(self.inst) {
            Some(operand) => self.src64(operand),
            None => self.unsupported(),
        }
    }

    fn carry(&self) -> Result<PredReg, PtxError> {
        match self.tables.carry {
            Some(carry) => Ok(carry),
            None => self.unsupported(),
        }
    }
}
