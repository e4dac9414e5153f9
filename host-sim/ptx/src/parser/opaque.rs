//! Parser of textures, samplers and surfaces: declarations, and operands that name a place in one
//! (PTX ISA 7.8 section 5.3 "Texture Sampler and Surface Types", and "Texture Instructions").

use super::{Parser, PtxError};
use crate::ast::{Opaque, Operand, StateSpace, Type, Variable};
use crate::lexer::{Token, TokenKind};
use crate::texture::{AddressMode, Filter, Sampler};

/// Size of a reference in bytes. Assumption: the size of a handle, which replaces the reference as
/// a kernel's parameter.
const BYTES: u8 = 8;

impl<'a> Parser<'_, 'a> {
    /// Parses `.texref`, `.samplerref` or `.surfref`, if present.
    pub(super) fn opaque(&mut self) -> Option<Opaque> {
        let kinds = [(".texref", Opaque::Texture), (".samplerref", Opaque::Sampler(None)), (".surfref", Opaque::Surface)];
        kinds.into_iter().find(|(text, _)| self.accept(text)).map(|(_, kind)| kind)
    }

    /// Parses a name of one of these types, and its initial value.
    pub(super) fn reference(&mut self, space: StateSpace, kind: Opaque) -> Result<Variable<'a>, PtxError> {
        let name = self.word("a name")?;
        let mut opaque = match kind {
            Opaque::Sampler(_) => Opaque::Sampler(None),
            other => other,
        };
        if self.is("[") {
            return Err(self.unsupported(name, "array of textures or surfaces (declare one reference each)"));
        }
        if self.accept("=") {
            let at = self.peek();
            let sampler = self.sampler()?;
            match &mut opaque {
                Opaque::Sampler(initial) => *initial = Some(sampler),
                _ => return Err(self.unsupported(at, "first value of a texture or surface (describe it where the kernel is launched)")),
            }
        }
        let (ty, align) = (Type::Bits(BYTES), BYTES.into());
        let (external, initial) = (false, Vec::new());
        Ok(Variable { name: name.text, space, ty, count: Some(1), align, external, initial, opaque: Some(opaque), at: name.at })
    }

    /// Parses a sampler such as `{ addr_mode_0 = clamp_to_edge, filter_mode = linear }`.
    fn sampler(&mut self) -> Result<Sampler, PtxError> {
        // Independent samplers use normalized coordinates by default.
        let mut sampler = Sampler { normalized: true, ..Sampler::default() };
        self.expect("{")?;
        while !self.accept("}") {
            let field = self.word("a property of a sampler")?;
            self.expect("=")?;
            let value = self.take();
            match field.text {
                "addr_mode_0" => sampler.address[0] = self.address_mode(value)?,
                "addr_mode_1" => sampler.address[1] = self.address_mode(value)?,
                "addr_mode_2" => sampler.address[2] = self.address_mode(value)?,
                "filter_mode" if value.text == "nearest" => sampler.filter = Filter::Point,
                "filter_mode" if value.text == "linear" => sampler.filter = Filter::Linear,
                "force_unnormalized_coords" if matches!(value.text, "0" | "1") => sampler.normalized = value.text == "0",
                _ => return Err(self.syntax(field, "expected a property of a sampler, with one of its values")),
            }
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(sampler)
    }

    fn address_mode(&self, value: Token<'a>) -> Result<AddressMode, PtxError> {
        match value.text {
            "wrap" => Ok(AddressMode::Wrap),
            "mirror" => Ok(AddressMode::Mirror),
            // The two differ in the reach of the linear filter, for which CUDA has one form.
            "clamp_ogl" | "clamp_to_edge" => Ok(AddressMode::Clamp),
            "clamp_to_border" => Ok(AddressMode::Border),
            _ => Err(self.syntax(value, "expected wrap, mirror, clamp_to_edge or clamp_to_border")),
        }
    }

    /// Parses an optional sampler and the coordinates after `[name,`.
    pub(super) fn texel(&mut self, base: &'a str) -> Result<Operand<'a>, PtxError> {
        let mut sampler = None;
        let mut coordinates = None;
        if !self.is("{") {
            let token = self.peek();
            let first = self.scalar()?;
            if self.accept(",") {
                if token.kind != TokenKind::Word {
                    return Err(self.syntax(token, "expected a sampler"));
                }
                sampler = Some(token.text);
            } else {
                coordinates = Some(vec![first]);
            }
        }
        let coordinates = match coordinates {
            Some(one) => one,
            None if self.accept("{") => self.items("}")?,
            None => vec![self.scalar()?],
        };
        self.expect("]")?;
        Ok(Operand::Texel { base, sampler, coordinates })
    }
}
