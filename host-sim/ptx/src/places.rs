//! Readers of operands that name places: labels, variables, addresses (PTX ISA 7.8 section 6.4).

use super::ast::Operand;
use super::cells::Place;
use super::error::PtxError;
use super::frames::Handed;
use super::operands::Decoder;
use super::program::{Address, DoubleReg, Reg};
use super::scope::Symbol;

/// Place of a parameter.
pub(super) enum ParamPlace<'t> {
    /// Byte offset in the kernel's parameter memory.
    Kernel(u32),
    /// Cell of a call, and a byte offset in it.
    Cell(&'t Place, u32),
    /// Place in the kernel's parameter memory, with its address in a register.
    Register,
}

impl<'t, 'a> Decoder<'t, 'a> {
    /// Returns the address of a variable in its own space.
    pub(super) fn address_of(&self, name: &'a str, offset: i64) -> Result<u64, PtxError> {
        let start = match self.tables.scopes.symbol(self.scope, name) {
            Some(&Symbol::Shared(start) | &Symbol::Local(start) | &Symbol::Param(start, _)) => start.into(),
            Some(&Symbol::Device(address, _) | &Symbol::Opaque(address, _)) => address,
            Some(Symbol::Frame(..)) => {
                return self.wrong("the address of a local variable of a function that calls itself, other than in `mov`", name);
            }
            Some(Symbol::Cell(_)) => return self.wrong("the address of a function's parameter is not supported", name),
            Some(&Symbol::Function(address)) => address,
            Some(Symbol::Undefined) => return self.wrong("a variable that is declared but not defined in this file", name),
            _ => return self.wrong("expected a declared register", name),
        };
        Ok(start.wrapping_add_signed(offset))
    }

    /// Returns the place of a local variable of a recursive function: the register with the frame's
    /// address, and an offset in bytes.
    pub(super) fn in_frame(&mut self, operand: &Operand<'a>) -> Option<(DoubleReg, u64)> {
        let (Operand::Name(name) | Operand::Address { base: Some(name), .. }) = operand else { return None };
        let offset = if let Operand::Address { offset, .. } = operand { *offset } else { 0 };
        match self.tables.scopes.symbol(self.scope, name) {
            Some(&Symbol::Frame(base, start)) if self.tables.scopes.register(self.scope, name).is_none() => {
                self.uses.push(Reg::Double(base));
                Some((base, u64::from(start).wrapping_add_signed(offset)))
            }
            _ => None,
        }
    }

    /// Reads a branch target, as an instruction index.
    pub(super) fn label(&self, operand: &Operand<'a>) -> Result<u32, PtxError> {
        match operand {
            Operand::Name(name) => match self.tables.scopes.symbol(self.scope, name) {
                Some(&Symbol::Label(index)) => Ok(index),
                _ => self.wrong("expected a declared label", *name),
            },
            other => self.wrong("expected a label", other.to_string()),
        }
    }

    /// Reads a list of branch targets.
    pub(super) fn table(&self, operand: &Operand<'a>) -> Result<&'t [u32], PtxError> {
        if let Operand::Name(name) = operand
            && let Some(Symbol::Table(targets)) = self.tables.scopes.symbol(self.scope, name)
        {
            return Ok(targets);
        }
        self.wrong("expected the name of a `.branchtargets` list", operand.to_string())
    }

    /// Reads an address in parameter space without a base register, and checks that it holds
    /// `bytes`.
    pub(super) fn param(&self, operand: &Operand<'a>, bytes: u32) -> Result<ParamPlace<'t>, PtxError> {
        let Operand::Address { base: Some(name), offset } = operand else {
            return self.wrong("expected the address of a parameter", operand.to_string());
        };
        if self.tables.scopes.register(self.scope, name).is_some() {
            return Ok(ParamPlace::Register);
        }
        let inside = |size: u32| u32::try_from(*offset).ok().filter(|at| at.checked_add(bytes).is_some_and(|end| end <= size));
        let outside = || self.wrong(format!("an access of {bytes} bytes outside the parameter"), operand.to_string());
        match self.tables.scopes.symbol(self.scope, name) {
            Some(&Symbol::Param(start, size)) => match inside(size) {
                Some(offset) => Ok(ParamPlace::Kernel(start + offset)),
                None => outside(),
            },
            Some(&Symbol::Cell(cell)) => match inside(self.tables.cells.bytes(cell)) {
                Some(offset) => Ok(ParamPlace::Cell(self.tables.cells.place(cell), offset)),
                None => outside(),
            },
            _ => self.wrong("expected the address of a parameter", operand.to_string()),
        }
    }

    /// Records a register of a cell as written or read.
    pub(super) fn touch(&mut self, reg: Reg, written: bool) {
        if written { self.defs.push(reg) } else { self.uses.push(reg) }
    }

    /// Records the registers that a call copies, as written or as read.
    pub(super) fn touch_handed(&mut self, handed: Handed, written: bool) {
        if let Handed::Register { from, to } = handed {
            self.touch(if written { to } else { from }, written);
        }
    }

    /// Reads a memory address: base (register, literal or variable) and offset; and the variable,
    /// if it is one.
    pub(super) fn address(&mut self, operand: &Operand<'a>) -> Result<(Address, i64, Option<&'t Symbol>), PtxError> {
        let Operand::Address { base, offset } = operand else {
            return self.wrong("expected an address", operand.to_string());
        };
        let Some(name) = base else { return Ok((Address::Absolute, *offset, None)) };
        match self.tables.scopes.register(self.scope, name) {
            Some(reg @ Reg::Word(word)) => {
                self.uses.push(reg);
                Ok((Address::Word(word), *offset, None))
            }
            Some(reg @ Reg::Double(double)) => {
                self.uses.push(reg);
                Ok((Address::Double(double), *offset, None))
            }
            Some(Reg::Pred(_)) => self.wrong("expected a register of 32 or 64 bits", *name),
            None => match self.tables.scopes.symbol(self.scope, name) {
                None => self.wrong("expected a declared register or variable", *name),
                symbol @ Some(&Symbol::Frame(base, start)) => {
                    self.uses.push(Reg::Double(base));
                    Ok((Address::Double(base), offset.wrapping_add(start.into()), symbol))
                }
                symbol => Ok((Address::Absolute, self.address_of(name, *offset)? as i64, symbol)),
            },
        }
    }
}
