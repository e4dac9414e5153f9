//! Parser of literals (PTX ISA 7.8 section 4.5 "Constants").

use crate::ast::Operand;

/// Parses an integer, `0f` or `0d` literal.
pub(super) fn literal(text: &str) -> Option<Operand<'static>> {
    let radix = |digits: &str, base| u64::from_str_radix(digits, base).ok();
    let bits = |prefixes: [&str; 2], length: usize| {
        prefixes.iter().find_map(|p| text.strip_prefix(p)).filter(|d| d.len() == length).and_then(|d| radix(d, 16))
    };
    if let Some(value) = bits(["0f", "0F"], 8) {
        return Some(Operand::Float32(value as u32));
    }
    if let Some(value) = bits(["0d", "0D"], 16) {
        return Some(Operand::Float64(value));
    }
    let text = text.strip_suffix('U').unwrap_or(text);
    let value = if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        radix(hex, 16)
    } else if let Some(binary) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        radix(binary, 2)
    } else if text.len() > 1 && text.starts_with('0') {
        radix(text, 8)
    } else {
        radix(text, 10)
    };
    value.map(Operand::Integer)
}
