//! A PTX module as written, before names are resolved. Text is borrowed from the source.

use super::error::{Position, PtxError};
use super::source::SourceMap;
use super::texture::Sampler;

/// A scalar type: PTX ISA section 5.2 "Types".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// One bit.
    Pred,
    /// Untyped bits of a width in bytes (1, 2, 4, 8).
    Bits(u8),
    /// Unsigned integer of a width in bytes.
    Unsigned(u8),
    /// Signed integer of a width in bytes.
    Signed(u8),
    /// IEEE float of a width in bytes (2, 4, 8).
    Float(u8),
}

impl Type {
    /// Reads `b32`, `f64`, `pred` and the like.
    pub fn parse(text: &str) -> Option<Type> {
        if text == "pred" {
            return Some(Type::Pred);
        }
        let (kind, bits) = text.split_at_checked(1)?;
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        match kind {
            "b" => Some(Type::Bits(bytes)),
            "u" => Some(Type::Unsigned(bytes)),
            "s" => Some(Type::Signed(bytes)),
            "f" if bytes > 1 => Some(Type::Float(bytes)),
            _ => None,
        }
    }

    /// As in PTX, without the dot.
    pub fn name(self) -> String {
        let (kind, bytes) = match self {
            Type::Pred => return "pred".into(),
            Type::Bits(n) => ('b', n),
            Type::Unsigned(n) => ('u', n),
            Type::Signed(n) => ('s', n),
            Type::Float(n) => ('f', n),
        };
        format!("{kind}{}", 8 * u32::from(bytes))
    }

    /// Width in bytes; 1 for a predicate.
    pub fn bytes(self) -> u8 {
        match self {
            Type::Pred => 1,
            Type::Bits(n) | Type::Unsigned(n) | Type::Signed(n) | Type::Float(n) => n,
        }
    }

    /// True for signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::Signed(_))
    }

    /// True for integers and untyped bits.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_))
    }
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// File name for messages.
    pub file: String,
    /// Variables declared outside of functions, in file order.
    pub variables: Vec<Variable<'a>>,
    /// Kernels in file order.
    pub entries: Vec<Function<'a>>,
    /// Device functions in file order, declarations without a body among them.
    pub functions: Vec<Function<'a>>,
    /// Kernels and device functions that could not be read, in file order: of no matter to whoever does not use them.
    pub refused: Vec<Refused<'a>>,
    /// Source lines of the instructions.
    pub source: SourceMap,
}

/// A kernel or a device function that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused<'a> {
    /// Its name.
    pub name: &'a str,
    /// True for a kernel.
    pub entry: bool,
    /// Why.
    pub error: PtxError,
}

/// One `.entry` or `.func`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where the name is.
    pub at: Position,
    /// Parameters in order.
    pub params: Vec<Variable<'a>>,
    /// Results in order; none for a kernel.
    pub returns: Vec<Variable<'a>>,
    /// Blocks of declarations; the first is the function's own, and every other one's parent stands before it.
    pub scopes: Vec<Scope<'a>>,
    /// Instructions in order; none for a declaration.
    pub body: Option<Vec<Instruction<'a>>>,
}

/// What is declared between two braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    /// The block around this one, as an index of [`Function::scopes`].
    pub parent: Option<usize>,
    /// `.reg` declarations.
    pub registers: Vec<RegisterDecl<'a>>,
    /// `.shared`, `.local` and `.param` variables in order.
    pub variables: Vec<Variable<'a>>,
    /// Label name and the index of the instruction that follows it.
    pub labels: Vec<(&'a str, usize)>,
    /// `.branchtargets`: a name and the labels that it lists.
    pub tables: Vec<(&'a str, Vec<&'a str>)>,
}

/// Where a variable is: PTX ISA section 5.1 "State Spaces".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// Parameters of kernels, functions and calls.
    Param,
    /// The TB's own.
    Shared,
    /// The thread's own.
    Local,
    /// Device memory.
    Global,
    /// Device memory that kernels only read.
    Const,
}

/// A variable of memory or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it is.
    pub space: StateSpace,
    /// Element type.
    pub ty: Type,
    /// Elements; 1 for a scalar, none where the launch (or another file) says how many.
    pub count: Option<u32>,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared here and defined elsewhere: `.extern`.
    pub external: bool,
    /// First values, one per element; all others are zero.
    pub initial: Vec<Initial<'a>>,
    /// What it refers to, if it is a `.texref`, `.samplerref` or `.surfref`.
    pub opaque: Option<Opaque>,
    /// Where it is declared.
    pub at: Position,
}

impl Variable<'_> {
    /// Size in bytes; 0 where it is not known here. Saturates.
    pub fn bytes(&self) -> u32 {
        self.count.unwrap_or(0).saturating_mul(self.ty.bytes().into())
    }
}

/// The types that PTX does not say the contents of: PTX ISA section 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// `.texref`.
    Texture,
    /// `.samplerref`, with what it is at first.
    Sampler(Option<Sampler>),
    /// `.surfref`.
    Surface,
}

/// The first value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial<'a> {
    /// Bits, of which the element takes the lower ones.
    Bits(u64),
    /// The address of a variable, or some of its bits.
    Address {
        /// The variable.
        name: &'a str,
        /// Bytes added.
        offset: i64,
        /// The bits taken, shifted down to the lowest.
        mask: u64,
        /// Where it stands.
        at: Position,
    },
}

/// `.reg .b32 %r<10>` or `.reg .b32 %x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterDecl<'a> {
    /// Name, or the prefix of numbered names.
    pub name: &'a str,
    /// Numbered names `prefix0 ..` up to this count; none for a single register.
    pub count: Option<u32>,
    /// Type of each.
    pub ty: Type,
    /// Where it is declared.
    pub at: Position,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// `@%p` or `@!%p`.
    pub guard: Option<GuardText<'a>>,
    /// The whole opcode, `ld.global.f32`.
    pub opcode: &'a str,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// Where the opcode is.
    pub at: Position,
    /// The block it is in, as an index of [`Function::scopes`].
    pub scope: usize,
}

/// A guard predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardText<'a> {
    /// Predicate register.
    pub register: &'a str,
    /// Execute where the predicate is false.
    pub negated: bool,
}

/// One operand as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand<'a> {
    /// A register, special register, label, parameter or variable.
    Name(&'a str),
    /// `!name`.
    Not(&'a str),
    /// `p|q`: two results.
    Pair(&'a str, &'a str),
    /// An integer, as 64-bit two's complement.
    Integer(u64),
    /// `0f` and eight hexadecimal digits.
    Float32(u32),
    /// `0d` and sixteen hexadecimal digits.
    Float64(u64),
    /// `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// `(a, b)`: results or arguments of a call.
    List(Vec<Operand<'a>>),
    /// `[base + offset]`; no base for an absolute address.
    Address {
        /// Register, parameter or variable.
        base: Option<&'a str>,
        /// Bytes.
        offset: i64,
    },
    /// `[texture, sampler, {x, y}]`: a place in a texture or surface.
    Texel {
        /// Register, parameter or reference.
        base: &'a str,
        /// The same, of a sampler.
        sampler: Option<&'a str>,
        /// Layer and coordinates, as written.
        coordinates: Vec<Operand<'a>>,
    },
}

impl std::fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Operand::Name(name) => f.write_str(name),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Integer(value) => write!(f, "{}", *value as i64),
            Operand::Float32(bits) => write!(f, "0f{bits:08X}"),
            Operand::Float64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Vector(items) => write!(f, "{{{}}}", joined(items)),
            Operand::List(items) => write!(f, "({})", joined(items)),
            Operand::Texel { base, sampler: None, coordinates } => write!(f, "[{base}, {{{}}}]", joined(coordinates)),
            Operand::Texel { base, sampler: Some(sampler), coordinates } => write!(f, "[{base}, {sampler}, {{{}}}]", joined(coordinates)),
            Operand::Address { base, offset } => write!(f, "[{}{offset:+}]", base.unwrap_or_default()),
        }
    }
}

fn joined(items: &[Operand<'_>]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
