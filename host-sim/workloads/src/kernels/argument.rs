//! Kernel arguments as words, and their match with the parameters of the entry.
//!
//! | word | argument |
//! |---|---|
//! | `1048576`, `-3`, `0x10`, `2.0`, `size / 4` | a number of the parameter's type |
//! | `f32:2.0`, `u64:7`, `i32:size` | a number of a stated type, which must be the parameter's |
//! | `hex:00000040` | the parameter's bytes, lowest first, for structures |
//! | `&x`, `&x[size]` | the address of the buffer called `x`, of its element `size` |
//! | `&x + 64 bytes`, `&x[4] + size bytes` | an address some bytes behind it |
//! | `tex:img`, `surf:img` | the handle of the texture called `img` |
//! | `buf:TYPE:COUNT:FILL` | the address of a buffer of its own; `fill.rs` says what FILL may be |

use super::buffer::{Known, Sources};
use super::element::{Element, NAMES, integer};
use super::expression::{Expression, Scope};
use super::fill::Fill;
use super::texture::unknown_texture;
use crate::input::suggest;
use crate::random::Random;
use mias_ptx::ast::Type;
use mias_ptx::program::Param;
use mias_ptx::{Arg, DeviceMemory};

/// A kernel argument as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Number with the type of the parameter.
    Number(String),
    /// Expression with the type of the parameter.
    Expression(Expression),
    /// Number with a stated type, as bits.
    Typed(Element, u64),
    /// Expression with a stated type.
    TypedExpression(Element, Expression),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// Address of an element of a named buffer, or of bytes after it.
    Address {
        /// Name of the buffer.
        name: String,
        /// Element index; `None` is the first element.
        index: Option<Expression>,
        /// Byte offset from the element; `None` is 0.
        bytes: Option<Expression>,
    },
    /// Handle of a texture or surface.
    Texture(String),
    /// Address of a separate buffer.
    Buffer(Element, Expression, Fill),
}

/// Objects that arguments may refer to.
pub(super) struct Launching<'a> {
    pub(super) sources: Sources<'a>,
    /// Named buffers, with element type, number of elements and address.
    pub(super) buffers: &'a [Known<'a>],
    /// Names and handles of the textures.
    pub(super) textures: &'a [(&'a str, u64)],
    pub(super) memory: &'a mut DeviceMemory,
}

impl Argument {
    /// Parses an argument.
    ///
    /// # Errors
    /// The cause and the expected form.
    pub fn parse(word: &str) -> Result<Self, String> {
        if let Some(rest) = word.strip_prefix('&') {
            return Self::address(rest);
        }
        let Some((kind, rest)) = word.split_once(':') else {
            if integer(word).is_some() || word.parse::<f64>().is_ok() {
                return Ok(Argument::Number(word.into()));
            }
            let expected = "expected a number, TYPE:NUMBER, buf:TYPE:COUNT:FILL or hex:BYTES";
            return Expression::parse(word).map(Argument::Expression).map_err(|message| format!("{expected}; {message}"));
        };
        match kind {
            "buf" => Self::buffer(rest),
            "tex" | "surf" => Ok(Argument::Texture(rest.trim().into())),
            "hex" => bytes(rest).map(Argument::Bytes).ok_or_else(|| "expected an even number of hexadecimal digits after hex:".into()),
            _ => {
                let element = element(kind)?;
                let expression = || Expression::parse(rest).ok().filter(|expression| expression.names().next().is_some());
                match (element.number(rest), expression()) {
                    (Some(bits), _) => Ok(Argument::Typed(element, bits)),
                    (None, Some(expression)) => Ok(Argument::TypedExpression(element, expression)),
                    (None, None) => Err(format!("`{rest}` is not a valid {element}")),
                }
            }
        }
    }

    fn address(rest: &str) -> Result<Self, String> {
        let end = rest.find(['[', '+']).unwrap_or(rest.len());
        let (name, mut behind) = rest.split_at(end);
        let mut index = None;
        if let Some(inner) = behind.strip_prefix('[') {
            let (inside, after) = inner.split_once(']').ok_or_else(|| format!("`&{rest}`: expected `]` at the end"))?;
            index = Some(Expression::parse(inside)?);
            behind = after;
        }
        let bytes = match behind.trim() {
            "" => None,
            offset => {
                let expected = || format!("`&{rest}`: expected an offset as in `&x + 64 bytes`, or an element as in `&x[16]`");
                let number = offset.strip_prefix('+').and_then(|offset| offset.strip_suffix("bytes")).ok_or_else(expected)?;
                Some(Expression::parse(number.trim())?)
            }
        };
        Ok(Argument::Address { name: name.trim().into(), index, bytes })
    }

    fn buffer(rest: &str) -> Result<Self, String> {
        let mut parts = rest.splitn(3, ':');
        let (Some(kind), Some(count), Some(fill)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("expected buf:TYPE:COUNT:FILL, as in buf:f32:1048576:random".into());
        };
        let element = element(kind)?;
        let expression = Expression::parse(count).map_err(|_| format!("`{count}` is not a number of elements, at least 1"))?;
        Ok(Argument::Buffer(element, expression, Fill::parse(element, fill)?))
    }

    /// Returns the expressions in the argument.
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Argument::Number(_) | Argument::Typed(..) | Argument::Bytes(_) | Argument::Texture(_) => Vec::new(),
            Argument::Expression(expression) | Argument::TypedExpression(_, expression) => vec![expression],
            Argument::Address { index, bytes, .. } => [index, bytes].into_iter().flatten().collect(),
            Argument::Buffer(_, count, fill) => [count].into_iter().chain(fill.expressions()).collect(),
        }
    }

    /// Builds the argument for `param`. A separate buffer is allocated and filled; random values
    /// use `seed`.
    ///
    /// # Errors
    /// The mismatch with the parameter, or the error of a buffer.
    pub(super) fn place(&self, param: &Param, launching: &mut Launching<'_>, seed: u64) -> Result<Arg, String> {
        self.fit(Slot { what: "parameter", name: &param.name, bytes: param.bytes, ty: param.ty }, launching, seed)
    }

    /// Builds the argument for any holder of a value.
    pub(super) fn fit(&self, slot: Slot<'_>, launching: &mut Launching<'_>, seed: u64) -> Result<Arg, String> {
        let wanted = slot.scalar();
        let mismatch = |given: String| {
            let kind = wanted.map_or_else(|| format!("{} bytes: use hex:BYTES", slot.bytes), |element| format!("a {element}"));
            Err(format!("{given}, but {} `{}` is {kind}", slot.what, slot.name))
        };
        let scope = launching.sources.scope;
        let number = |text: &str, shown: &str| {
            // PTX does not distinguish signed from unsigned, so both are accepted.
            let either = |element: Element| match element {
                Element::Unsigned(bytes) => element.number(text).or(Element::Signed(bytes).number(text)),
                other => other.number(text),
            };
            match wanted.and_then(either) {
                Some(bits) => Ok(Arg::Bytes(bits.to_le_bytes()[..slot.bytes as usize].to_vec())),
                None => mismatch(format!("`{shown}` is given")),
            }
        };
        let typed = |element: Element, bits: u64| {
            let float = |element: &Element| matches!(element, Element::Float(_));
            match wanted {
                Some(w) if w.bytes() == element.bytes() && float(&w) == float(&element) => Ok(stated(element, bits)),
                _ => mismatch(format!("a {element} is given")),
            }
        };
        match self {
            Argument::Number(text) => number(text, text),
            Argument::Expression(expression) => {
                let value = expression.value(scope)?.to_string();
                number(&value, &format!("{} = {value}", expression.text()))
            }
            Argument::Typed(element, bits) => typed(*element, *bits),
            Argument::TypedExpression(element, expression) => typed(*element, of_type(*element, expression, scope)?),
            Argument::Bytes(bytes) if bytes.len() == slot.bytes as usize => Ok(Arg::Bytes(bytes.clone())),
            Argument::Bytes(bytes) => mismatch(format!("{} bytes are given", bytes.len())),
            Argument::Address { .. } | Argument::Buffer(..) if wanted != Some(Element::Unsigned(8)) => {
                mismatch("the address of a buffer is given, which has 64 bits".into())
            }
            Argument::Address { name, index, bytes } => address_of(name, [index.as_ref(), bytes.as_ref()], launching).map(Arg::U64),
            Argument::Texture(_) if wanted != Some(Element::Unsigned(8)) => {
                mismatch("the handle of a texture is given, which has 64 bits".into())
            }
            Argument::Texture(name) => {
                let known: Vec<&str> = launching.textures.iter().map(|texture| texture.0).collect();
                let handle = launching.textures.iter().find(|texture| texture.0 == name).map(|texture| texture.1);
                handle.map(Arg::U64).ok_or_else(|| unknown_texture(name, &known))
            }
            Argument::Buffer(element, count, fill) => {
                let count = elements(count, scope)?;
                let (fills, mut random) = (std::slice::from_ref(fill), Random::new(seed));
                let (buffer, _) = launching.sources.allocate(launching.memory, *element, Some(count), fills, &mut random)?;
                Ok(Arg::U64(buffer.address))
            }
        }
    }
}

/// Parameter or variable that receives a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    /// Kind of holder: parameter or variable.
    pub(super) what: &'static str,
    pub(super) name: &'a str,
    pub(super) bytes: u32,
    /// Declared type; for an array or a structure, the type of its elements.
    pub(super) ty: Type,
}

impl Slot<'_> {
    /// Returns the scalar type of the holder, with integers as unsigned; `None` for an array of
    /// bytes.
    fn scalar(&self) -> Option<Element> {
        match self.ty {
            _ if u32::from(self.ty.bytes()) != self.bytes => None,
            Type::Float(bytes) => Some(Element::Float(bytes)),
            Type::Bits(bytes) | Type::Unsigned(bytes) | Type::Signed(bytes) => Some(Element::Unsigned(bytes)),
            Type::Pred => None,
        }
    }
}

/// Returns the number of elements of a separate buffer.
pub(super) fn elements(count: &Expression, scope: &Scope) -> Result<u64, String> {
    let value = count.value(scope)?;
    let count = u64::try_from(value).ok().filter(|&count| count > 0);
    count.ok_or_else(|| format!("`{value}` is not a number of elements, at least 1"))
}

/// Returns the number with a stated type, in the form of a launch argument.
fn stated(element: Element, bits: u64) -> Arg {
    match element {
        Element::Float(4) => Arg::F32(f32::from_bits(bits as u32)),
        Element::Float(8) => Arg::F64(f64::from_bits(bits)),
        Element::Signed(4) => Arg::I32(bits as u32 as i32),
        Element::Unsigned(4) => Arg::U32(bits as u32),
        Element::Signed(8) | Element::Unsigned(8) => Arg::U64(bits),
        other => Arg::Bytes(bits.to_le_bytes()[..usize::from(other.bytes())].to_vec()),
    }
}

/// Returns the bits of an expression's value, which must fit the type.
fn of_type(element: Element, expression: &Expression, scope: &Scope) -> Result<u64, String> {
    let value = i128::from(expression.value(scope)?);
    let fits = element.has(value).then(|| element.whole(value));
    fits.ok_or_else(|| format!("`{}` is {value}, which is not a valid {element}{}", expression.text(), expression.with(scope)))
}

/// Returns the address of an element of a buffer plus an offset, at most the end of the buffer.
fn address_of(name: &str, [index, bytes]: [Option<&Expression>; 2], launching: &Launching<'_>) -> Result<u64, String> {
    let known: Vec<&str> = launching.buffers.iter().map(|buffer| buffer.0).collect();
    let Some(&(_, element, count, address)) = launching.buffers.iter().find(|buffer| buffer.0 == name) else {
        return Err(unknown_buffer(name, &known));
    };
    let (scope, width) = (launching.sources.scope, u64::from(element.bytes()));
    let mut offset = 0;
    if let Some(index) = index {
        let place = index.value(scope)?;
        let found = u64::try_from(place).ok().filter(|&place| place <= count);
        offset = width
            * found
                .ok_or_else(|| format!("`&{name}[{}]` is element {place}, but `{name}` has {count}{}", index.text(), index.with(scope)))?;
    }
    if let Some(bytes) = bytes {
        let (more, size) = (bytes.value(scope)?, count * width);
        let found = u64::try_from(more).ok().and_then(|more| offset.checked_add(more)).filter(|&offset| offset <= size);
        offset = found.ok_or_else(|| {
            let (place, with) = (i128::from(offset) + i128::from(more), bytes.with(scope));
            format!("`+ {} bytes` addresses byte {place}, but `{name}` has {size}{with}", bytes.text())
        })?;
    }
    Ok(address + offset)
}

/// Formats the message for an unknown buffer.
pub(super) fn unknown_buffer(name: &str, known: &[&str]) -> String {
    match known {
        [] => format!("unknown buffer `{name}`: the table [buffers] is missing"),
        known => suggest::unknown("buffer", name, known),
    }
}

fn element(name: &str) -> Result<Element, String> {
    Element::parse(name).ok_or_else(|| format!("unknown type `{name}`; known: {NAMES}, and buf, hex"))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|p| p.len() == 2 && !p.starts_with('+'))?, 16).ok()).collect()
}

#[cfg(test)]
#[path = "argument_tests.rs"]
mod tests;
