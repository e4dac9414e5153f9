//! Syntax tree of a PTX module, before names are resolved. Text is borrowed from the source.

use super::error::{Position, PtxError};
use super::source::SourceMap;
use super::texture::Sampler;

/// A scalar type (PTX ISA section 5.2 "Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Predicate of one bit.
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
    /// Parses `b32`, `f64`, `pred` and other scalar types.
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

    /// Returns the name as in PTX, without the dot.
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

    /// Returns the width in bytes; 1 for a predicate.
    pub fn bytes(self) -> u8 {
        match self {
            Type::Pred => 1,
            Type::Bits(n) | Type::Unsigned(n) | Type::Signed(n) | Type::Float(n) => n,
        }
    }

    /// Returns true for signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::Signed(_))
    }

    /// Returns true for integers and untyped bits.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_))
    }
}

/// A PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// File name for messages.
    pub file: String,
    /// Variables declared outside of functions, in file order.
    pub variables: Vec<Variable<'a>>,
    /// Kernels in file order.
    pub entries: Vec<Function<'a>>,
    /// Device functions in file order, including declarations without a body.
    pub functions: Vec<Function<'a>>,
    /// Kernels and device functions that could not be parsed, in file order. Their errors matter
    /// only to users of these functions.
    pub refused: Vec<Refused<'a>>,
    /// Source lines of the instructions.
    pub source: SourceMap,
}

/// A kernel or a device function that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused<'a> {
    /// Name of the function.
    pub name: &'a str,
    /// True for a kernel.
    pub entry: bool,
    /// Cause of the refusal.
    pub error: PtxError,
}

/// A `.entry` or `.func` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Name of the function.
    pub name: &'a str,
    /// Position of the name.
    pub at: Position,
    /// Parameters in order.
    pub params: Vec<Variable<'a>>,
    /// Results in order; none for a kernel.
    pub returns: Vec<Variable<'a>>,
    /// Blocks of declarations. The first is the function's own, and the parent of every other block
    /// precedes it.
    pub scopes: Vec<Scope<'a>>,
    /// Instructions in order; `None` for a declaration.
    pub body: Option<Vec<Instruction<'a>>>,
}

/// Declarations between two braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Enclosing block, as an index of [`Function::scopes`].
    pub parent: Option<usize>,
    /// `.reg` declarations.
    pub registers: Vec<RegisterDecl<'a>>,
    /// `.shared`, `.local` and `.param` variables in order.
    pub variables: Vec<Variable<'a>>,
    /// Name of each label, with the index of the instruction that follows.
    pub labels: Vec<(&'a str, usize)>,
    /// `.branchtargets` lists: a name and its labels.
    pub tables: Vec<(&'a str, Vec<&'a str>)>,
}

/// State space of a variable (PTX ISA section 5.1 "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// Parameters of kernels, functions and calls.
    Param,
    /// Shared memory of the TB.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Device memory.
    Global,
    /// Device memory that is read-only for kernels.
    Const,
}

/// A variable of memory or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Name of the variable.
    pub name: &'a str,
    /// State space of the variable.
    pub space: StateSpace,
    /// Element type.
    pub ty: Type,
    /// Number of elements; 1 for a scalar, `None` if the launch or another file determines it.
    pub count: Option<u32>,
    /// Alignment in bytes.
    pub align: u32,
    /// True for an `.extern` variable, which is defined elsewhere.
    pub external: bool,
    /// Initial values, one per element; the others are zero.
    pub initial: Vec<Initial<'a>>,
    /// Opaque type of a `.texref`, `.samplerref` or `.surfref`.
    pub opaque: Option<Opaque>,
    /// Position of the declaration.
    pub at: Position,
}

impl Variable<'_> {
    /// Returns the size in bytes; 0 if unknown here. Saturates.
    pub fn bytes(&self) -> u32 {
        self.count.unwrap_or(0).saturating_mul(self.ty.bytes().into())
    }
}

/// Opaque types (PTX ISA section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// A texture reference, `.texref`.
    Texture,
    /// A sampler reference, `.samplerref`, with its initial value.
    Sampler(Option<Sampler>),
    /// A surface reference, `.surfref`.
    Surface,
}

/// Initial value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial<'a> {
    /// Bits, of which the element takes the lower ones.
    Bits(u64),
    /// Address of a variable, or some of its bits.
    Address {
        /// Name of the variable.
        name: &'a str,
        /// Byte offset.
        offset: i64,
        /// Selected bits, which are shifted down to the lowest.
        mask: u64,
        /// Position of the value.
        at: Position,
    },
}

/// A register declaration: `.reg .b32 %r<10>` or `.reg .b32 %x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterDecl<'a> {
    /// Name, or the prefix of numbered names.
    pub name: &'a str,
    /// Count of numbered names `prefix0 ..`; `None` for a single register.
    pub count: Option<u32>,
    /// Type of each register.
    pub ty: Type,
    /// Position of the declaration.
    pub at: Position,
}

/// An instruction as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Guard `@%p` or `@!%p`.
    pub guard: Option<GuardText<'a>>,
    /// Complete opcode, as in `ld.global.f32`.
    pub opcode: &'a str,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// Position of the opcode.
    pub at: Position,
    /// Enclosing block, as an index of [`Function::scopes`].
    pub scope: usize,
}

/// A guard predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardText<'a> {
    /// Predicate register.
    pub register: &'a str,
    /// True if lanes with a false predicate execute.
    pub negated: bool,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand<'a> {
    /// A register, special register, label, parameter or variable.
    Name(&'a str),
    /// Negated predicate `!name`.
    Not(&'a str),
    /// Two results `p|q`.
    Pair(&'a str, &'a str),
    /// An integer as 64-bit two's complement.
    Integer(u64),
    /// A 32-bit float: `0f` and eight hexadecimal digits.
    Float32(u32),
    /// A 64-bit float: `0d` and sixteen hexadecimal digits.
    Float64(u64),
    /// A vector `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// A list `(a, b)`: results or arguments of a call.
    List(Vec<Operand<'a>>),
    /// An address `[base + offset]`; without a base it is absolute.
    Address {
        /// Base register, parameter or variable.
        base: Option<&'a str>,
        /// Offset in bytes.
        offset: i64,
    },
    /// A place in a texture or surface: `[texture, sampler, {x, y}]`.
    Texel {
        /// Register, parameter or reference of the texture.
        base: &'a str,
        /// Register, parameter or reference of the sampler.
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
