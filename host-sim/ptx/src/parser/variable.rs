//! Parser of variables and their initial values (PTX ISA 7.8 sections 5.4 "Variables" and 5.4.4
//! "Initializers").

use super::{Parser, PtxError, number};
use crate::ast::{Initial, Operand, StateSpace, Type, Variable};
use crate::lexer::TokenKind;

impl<'a> Parser<'_, 'a> {
    /// Parses variables such as `.align 4 .b8 a[16], b[2];` after the state space.
    pub(super) fn variables(&mut self, space: StateSpace, external: bool, out: &mut Vec<Variable<'a>>) -> Result<(), PtxError> {
        let first = self.variable(space)?;
        let (ty, align, first_opaque) = (first.ty, first.align, first.opaque);
        out.push(Variable { external, ..first });
        while self.accept(",") {
            let next = match first_opaque {
                Some(kind) => self.reference(space, kind)?,
                None => self.declarator(space, ty, align)?,
            };
            out.push(Variable { external, ..next });
        }
        self.expect(";")
    }

    /// Parses a variable such as `.align 16 .b8 name[1024] = {..}` after the state space.
    pub(super) fn variable(&mut self, space: StateSpace) -> Result<Variable<'a>, PtxError> {
        let mut align = self.alignment()?;
        // The attribute for memory shared with the host has no effect here.
        if self.accept(".attribute") {
            self.expect("(")?;
            while !self.accept(")") {
                if self.at_end() {
                    return Err(self.syntax(self.peek(), "expected `)`"));
                }
                self.take();
            }
        }
        align = self.alignment()?.or(align);
        if let Some(kind) = self.opaque() {
            return self.reference(space, kind);
        }
        let ty = self.ty()?;
        // `.ptr .global .align 4` after the type is a hint, as is `.ptr .texref`.
        let hints = [".ptr", ".global", ".const", ".shared", ".local"];
        while hints.iter().any(|hint| self.accept(hint)) || self.opaque().is_some() {}
        self.alignment()?;
        self.declarator(space, ty, align.unwrap_or(u32::from(ty.bytes())))
    }

    fn alignment(&mut self) -> Result<Option<u32>, PtxError> {
        if !self.accept(".align") {
            return Ok(None);
        }
        let at = self.peek();
        let align = self.count("an alignment")?;
        if !align.is_power_of_two() || align > 4096 {
            return Err(self.syntax(at, "expected a power of two up to 4096 as alignment"));
        }
        Ok(Some(align))
    }

    fn declarator(&mut self, space: StateSpace, ty: Type, align: u32) -> Result<Variable<'a>, PtxError> {
        let name = self.word("a name")?;
        let mut dimensions = Vec::new();
        while self.accept("[") {
            if self.accept("]") {
                dimensions.push(None);
                continue;
            }
            dimensions.push(Some(self.count("a size")?));
            self.expect("]")?;
        }
        let known = dimensions.iter().map(|n| n.unwrap_or(1)).try_fold(1u32, |product, n| product.checked_mul(n));
        let Some(mut count) = known.filter(|n| n.checked_mul(u32::from(ty.bytes())).is_some()) else {
            return Err(self.syntax(name, "expected a size that fits 32 bits"));
        };
        if dimensions.iter().skip(1).any(Option::is_none) {
            return Err(self.syntax(name, "only the first size can be left out"));
        }
        let open = dimensions.first() == Some(&None);
        let mut initial = Vec::new();
        if self.accept("=") {
            let inner: Vec<u32> = (0..dimensions.len()).map(|i| dimensions[i + 1..].iter().flatten().product()).collect();
            self.initial(&inner, if open { u32::MAX } else { count }, &mut initial)?;
            if open {
                count = u32::try_from(initial.len()).unwrap_or(u32::MAX).next_multiple_of(count.max(1));
            }
        }
        let count = if open && initial.is_empty() { None } else { Some(count) };
        Ok(Variable { name: name.text, space, ty, count, align, external: false, initial, opaque: None, at: name.at })
    }

    /// Parses values in braces, one level per dimension; `inner` has the elements per value of each
    /// level. Inner braces with fewer values than elements are padded with zeros.
    fn initial(&mut self, inner: &[u32], most: u32, out: &mut Vec<Initial<'a>>) -> Result<(), PtxError> {
        let at = self.peek();
        if !self.accept("{") {
            out.push(self.initial_value()?);
        } else {
            let Some((&each, deeper)) = inner.split_first() else {
                return Err(self.syntax(at, "expected one value"));
            };
            let start = out.len();
            while !self.accept("}") {
                let value = out.len();
                self.initial(deeper, each, out)?;
                if each > 1 && self.was_braced() {
                    out.resize(value + each as usize, Initial::Bits(0));
                }
                if out.len() - start > most as usize {
                    return Err(self.syntax(at, "more values than elements"));
                }
                if !self.accept(",") {
                    self.expect("}")?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns whether the parser is directly after a closing brace.
    fn was_braced(&self) -> bool {
        self.next > 0 && self.tokens[self.next - 1].text == "}"
    }

    /// Parses a number, `name`, `name+8`, `generic(name)+8`, or `0xff00(name)`.
    fn initial_value(&mut self) -> Result<Initial<'a>, PtxError> {
        let negative = self.accept("-");
        let token = self.take();
        if token.kind == TokenKind::Number {
            let bits = match number::literal(token.text) {
                Some(Operand::Integer(value)) => {
                    if self.accept("(") {
                        let address = self.address_value(value)?;
                        self.expect(")")?;
                        return Ok(address);
                    }
                    if negative { value.wrapping_neg() } else { value }
                }
                Some(Operand::Float32(bits)) if !negative => bits.into(),
                Some(Operand::Float64(bits)) if !negative => bits,
                _ => return Err(self.syntax(token, "expected a value")),
            };
            return Ok(Initial::Bits(bits));
        }
        if negative || token.kind != TokenKind::Word {
            return Err(self.syntax(token, "expected a value"));
        }
        self.next -= 1;
        self.address_value(u64::MAX)
    }

    fn address_value(&mut self, mask: u64) -> Result<Initial<'a>, PtxError> {
        // Variables in device memory have equal generic addresses.
        let generic = self.accept("generic") && self.accept("(");
        let name = self.word("a variable")?;
        let mut offset = 0;
        for late in [false, true] {
            if late && generic {
                self.expect(")")?;
            }
            if self.accept("+") || self.is("-") {
                offset = self.offset()?;
            }
        }
        Ok(Initial::Address { name: name.text, offset, mask, at: name.at })
    }

    pub(super) fn ty(&mut self) -> Result<Type, PtxError> {
        let token = self.word("a type")?;
        token.text.strip_prefix('.').and_then(Type::parse).ok_or_else(|| self.syntax(token, "expected a type"))
    }
}
