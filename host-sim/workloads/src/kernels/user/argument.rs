//! Arguments of a user's kernel, as words: what they mean, and how they fit the entry's parameters.
//!
//! | word | argument |
//! |---|---|
//! | `1048576`, `-3`, `0x10`, `2.0` | a number of the parameter's type |
//! | `f32:2.0`, `u64:7` | a number of a stated type, which must be the parameter's |
//! | `hex:00000040` | the parameter's bytes, lowest first, for structures |
//! | `buf:TYPE:COUNT:FILL` | the address of a buffer |
//!
//! FILL is `zeros`, `ones`, `iota` (0, 1, 2, ..), `random`, `random:LOW:HIGH`, or `file:PATH` (elements as in memory).

use super::element::{Element, NAMES, Range, integer};
use crate::random::Random;
use mias_ptx::ast::Type;
use mias_ptx::program::Param;
use mias_ptx::{Arg, DeviceMemory};
use std::path::{Path, PathBuf};

/// Largest buffer in bytes. Assumption: what a user's machine can spare, and more than a launch that is simulated in
/// reasonable time can touch.
const MOST_BYTES: u64 = 1 << 30;

/// An argument as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number whose type the parameter gives.
    Number(String),
    /// A number of a type, as bits.
    Typed(Element, u64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The address of a buffer.
    Buffer {
        /// Its elements.
        element: Element,
        /// How many.
        count: u64,
        /// What they are.
        fill: Fill,
    },
}

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// 0.
    Zeros,
    /// 1.
    Ones,
    /// 0, 1, 2, ..
    Iota,
    /// Any: floats in [-1, 1), integers of all values.
    Random,
    /// Within bounds.
    RandomIn(Range),
    /// The bytes of a file.
    File(PathBuf),
}

impl Argument {
    /// Reads a word.
    ///
    /// # Errors
    /// What is wrong with it and what is expected.
    pub fn parse(word: &str) -> Result<Self, String> {
        let Some((kind, rest)) = word.split_once(':') else {
            return if integer(word).is_some() || word.parse::<f64>().is_ok() {
                Ok(Argument::Number(word.into()))
            } else {
                Err("expected a number, TYPE:NUMBER, buf:TYPE:COUNT:FILL or hex:BYTES".into())
            };
        };
        match kind {
            "buf" => Self::buffer(rest),
            "hex" => bytes(rest).map(Argument::Bytes).ok_or_else(|| "expected an even number of hexadecimal digits after hex:".into()),
            _ => {
                let element = element(kind)?;
                let bits = element.number(rest).ok_or_else(|| format!("`{rest}` is no {element}"))?;
                Ok(Argument::Typed(element, bits))
            }
        }
    }

    fn buffer(rest: &str) -> Result<Self, String> {
        let mut parts = rest.splitn(3, ':');
        let (Some(kind), Some(count), Some(fill)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("expected buf:TYPE:COUNT:FILL, as in buf:f32:1048576:random".into());
        };
        let element = element(kind)?;
        let number = integer(count).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
        let count = number.ok_or_else(|| format!("`{count}` is no number of elements, at least 1"))?;
        if count.checked_mul(element.bytes().into()).is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(format!("a buffer has at most {MOST_BYTES} bytes"));
        }
        let fill = match fill {
            "zeros" => Fill::Zeros,
            "ones" => Fill::Ones,
            "iota" => Fill::Iota,
            "random" => Fill::Random,
            _ => match fill.split_once(':') {
                Some(("file", path)) if !path.is_empty() => Fill::File(path.into()),
                Some(("random", bounds)) => {
                    let range = bounds.split_once(':').and_then(|(low, high)| element.range(low, high));
                    Fill::RandomIn(range.ok_or_else(|| format!("`{bounds}`: expected LOW:HIGH of {element}, the lower first"))?)
                }
                _ => return Err(format!("`{fill}`: expected zeros, ones, iota, random, random:LOW:HIGH or file:PATH")),
            },
        };
        Ok(Argument::Buffer { element, count, fill })
    }

    /// The argument for `param`; buffers are allocated and filled, random ones by `seed`. Paths are relative to `folder`.
    ///
    /// # Errors
    /// Why it does not fit the parameter, or what is wrong with a file.
    pub fn place(&self, param: &Param, memory: &mut DeviceMemory, seed: u64, folder: &Path) -> Result<Arg, String> {
        let wanted = scalar(param);
        let mismatch = |given: String| {
            let kind = wanted.map_or_else(|| format!("{} bytes: give hex:BYTES", param.bytes), |element| format!("a {element}"));
            Err(format!("{given}, but parameter `{}` is {kind}", param.name))
        };
        let raw = |bits: u64| Arg::Bytes(bits.to_le_bytes()[..param.bytes as usize].to_vec());
        match self {
            Argument::Number(text) => {
                // PTX does not tell signed from unsigned: either will do.
                let either = |element: Element| match element {
                    Element::Unsigned(bytes) => element.number(text).or(Element::Signed(bytes).number(text)),
                    other => other.number(text),
                };
                match wanted.and_then(either) {
                    Some(bits) => Ok(raw(bits)),
                    None => mismatch(format!("`{text}` is given")),
                }
            }
            Argument::Typed(element, bits) => {
                let float = |element: &Element| matches!(element, Element::Float(_));
                match wanted {
                    Some(w) if w.bytes() == element.bytes() && float(&w) == float(element) => Ok(raw(*bits)),
                    _ => mismatch(format!("a {element} is given")),
                }
            }
            Argument::Bytes(bytes) if bytes.len() == param.bytes as usize => Ok(Arg::Bytes(bytes.clone())),
            Argument::Bytes(bytes) => mismatch(format!("{} bytes are given", bytes.len())),
            Argument::Buffer { element, count, fill } => {
                if wanted != Some(Element::Unsigned(8)) {
                    return mismatch("the address of a buffer is given, which has 64 bits".into());
                }
                let buffer = memory.allocate_bytes(&contents(*element, *count, fill, seed, folder)?);
                Ok(Arg::U64(buffer.address))
            }
        }
    }
}

/// The scalar that a parameter holds, integers as unsigned; none for an array of bytes.
fn scalar(param: &Param) -> Option<Element> {
    match param.ty {
        _ if u32::from(param.ty.bytes()) != param.bytes => None,
        Type::Float(bytes) => Some(Element::Float(bytes)),
        Type::Bits(bytes) | Type::Unsigned(bytes) | Type::Signed(bytes) => Some(Element::Unsigned(bytes)),
        Type::Pred => None,
    }
}

fn element(name: &str) -> Result<Element, String> {
    Element::parse(name).ok_or_else(|| format!("unknown type `{name}`; known: {NAMES}, and buf, hex"))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|p| p.len() == 2 && !p.starts_with('+'))?, 16).ok()).collect()
}

fn contents(element: Element, count: u64, fill: &Fill, seed: u64, folder: &Path) -> Result<Vec<u8>, String> {
    let width = usize::from(element.bytes());
    let size = count as usize * width;
    if let Fill::File(path) = fill {
        let path = folder.join(path);
        let data = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        return if data.len() == size {
            Ok(data)
        } else {
            Err(format!("{} has {} bytes, {count} elements of {element} need {size}", path.display(), data.len()))
        };
    }
    let mut random = Random::new(seed);
    let mut data = Vec::with_capacity(size);
    for index in 0..count {
        let bits = match fill {
            Fill::Zeros | Fill::File(_) => 0,
            Fill::Ones => element.whole(1),
            Fill::Iota => element.whole(index),
            Fill::Random => element.random(&mut random),
            Fill::RandomIn(range) => element.random_in(*range, &mut random),
        };
        data.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(ty: Type, bytes: u32) -> Param {
        Param { name: "x".into(), offset: 0, bytes, ty }
    }

    fn place(word: &str, ty: Type) -> Result<Arg, String> {
        Argument::parse(word)?.place(&param(ty, ty.bytes().into()), &mut DeviceMemory::new(), 1, Path::new(""))
    }

    #[test]
    fn numbers_take_the_type_of_the_parameter() {
        assert_eq!(place("-2", Type::Unsigned(4)), Ok(Arg::Bytes(vec![0xfe, 0xff, 0xff, 0xff])));
        assert_eq!(place("2", Type::Float(8)), Ok(Arg::Bytes(2.0f64.to_le_bytes().to_vec())));
        assert_eq!(place("f32:0.5", Type::Float(4)), Ok(Arg::Bytes(vec![0, 0, 0, 0x3f])));
        assert_eq!(place("i32:-1", Type::Unsigned(4)), Ok(Arg::Bytes(vec![0xff; 4])));
        assert_eq!(place("hex:01ff", Type::Bits(2)), Ok(Arg::Bytes(vec![1, 0xff])));
    }

    #[test]
    fn what_does_not_fit_is_explained() {
        for (word, ty, message) in [
            ("2.5", Type::Unsigned(4), "`2.5` is given, but parameter `x` is a u32"),
            ("4294967296", Type::Unsigned(4), "`4294967296` is given, but parameter `x` is a u32"),
            ("f32:1", Type::Unsigned(4), "a f32 is given, but parameter `x` is a u32"),
            ("f32:1", Type::Float(8), "a f32 is given, but parameter `x` is a f64"),
            ("buf:f32:4:zeros", Type::Float(4), "the address of a buffer is given, which has 64 bits, but parameter `x` is a f32"),
            ("hex:01", Type::Bits(2), "1 bytes are given, but parameter `x` is a u16"),
            ("hex:0", Type::Bits(2), "expected an even number of hexadecimal digits after hex:"),
            ("many", Type::Bits(2), "expected a number, TYPE:NUMBER, buf:TYPE:COUNT:FILL or hex:BYTES"),
            ("u8:256", Type::Bits(1), "`256` is no u8"),
            ("b32:1", Type::Bits(4), "unknown type `b32`; known: f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, and buf, hex"),
            ("buf:f32:0:zeros", Type::Bits(8), "`0` is no number of elements, at least 1"),
            ("buf:f32:4", Type::Bits(8), "expected buf:TYPE:COUNT:FILL, as in buf:f32:1048576:random"),
            ("buf:f32:4:ramdom", Type::Bits(8), "`ramdom`: expected zeros, ones, iota, random, random:LOW:HIGH or file:PATH"),
            ("buf:u8:4:random:9:3", Type::Bits(8), "`9:3`: expected LOW:HIGH of u8, the lower first"),
            ("buf:f64:1000000000:zeros", Type::Bits(8), "a buffer has at most 1073741824 bytes"),
        ] {
            assert_eq!(place(word, ty), Err(message.into()), "{word}");
        }
    }

    #[test]
    fn buffers_hold_what_was_asked_for() {
        let filled = |word: &str| {
            let Argument::Buffer { element, count, fill } = Argument::parse(word).unwrap() else { panic!("{word}") };
            contents(element, count, &fill, 7, Path::new("")).unwrap()
        };
        assert_eq!(filled("buf:u16:3:iota"), [0, 0, 1, 0, 2, 0]);
        assert_eq!(filled("buf:f32:2:ones"), [0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f]);
        assert_eq!(filled("buf:i8:64:random"), filled("buf:i8:64:random"));
        assert_ne!(filled("buf:i8:64:random")[..32], filled("buf:i8:64:random")[32..]);
        assert!(filled("buf:i8:1000:random:-2:5").iter().all(|&b| (-2..=5).contains(&(b as i8))));
    }

    #[test]
    fn a_file_must_have_the_size_of_its_buffer() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.bin"), [1, 2, 3, 4]).unwrap();
        let read = |count| contents(Element::Unsigned(2), count, &Fill::File("x.bin".into()), 0, folder.path());
        assert_eq!(read(2).unwrap(), [1, 2, 3, 4]);
        assert!(read(3).unwrap_err().ends_with("x.bin has 4 bytes, 3 elements of u16 need 6"));
    }
}
