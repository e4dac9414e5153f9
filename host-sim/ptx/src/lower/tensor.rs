//! Division of a matrix product into instructions of the tensor unit, one for each piece of the
//! size that the unit multiplies at once.
//!
//! The sizes are those of the machine code that nvcc 11.8 generates for sm_75 (sources.md D114).
//! Types that Turing lacks use the smallest instruction of sm_80 for them.

use crate::exec::matrix::element::Kind;
use crate::exec::matrix::fragment::Shape;
use crate::exec::matrix::multiply::Multiply;

/// Division of a product. The pieces of the sum are independent; those of the depth accumulate on
/// the pieces before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Number of pieces of the sum.
    pub tiles: usize,
    /// Number of pieces of the depth.
    pub depth: usize,
}

impl Steps {
    /// A single instruction.
    pub const ONE: Steps = Steps { tiles: 1, depth: 1 };

    /// Returns the division of a product.
    pub fn of(product: &Multiply) -> Steps {
        let (factor, sum) = (product.from[0].0, product.to.0);
        if factor.fragment.products() > 1 {
            // `mma.m8n8k4` of halves: `HMMA.884.F32` has four steps, `HMMA.884.F16` two.
            return Steps { tiles: if sum.kind == Kind::F32 { 4 } else { 2 }, depth: 1 };
        }
        let (whole, piece) = (product.shape, piece(factor.kind));
        let tiles = (whole.m * whole.n).div_ceil(piece.m * piece.n);
        Steps { tiles, depth: whole.k.div_ceil(piece.k) }
    }
}

/// Returns the shape that one instruction multiplies.
fn piece(factor: Kind) -> Shape {
    let (m, n, k) = match factor {
        // HMMA.1688, which is also the smallest for bf16.
        Kind::F16 | Kind::Bf16 | Kind::F32 => (16, 8, 8),
        // HMMA.1684.
        Kind::Tf32 => (16, 8, 4),
        // DMMA.884.
        Kind::F64 => (8, 8, 4),
        // BMMA.88128, IMMA.8832, IMMA.8816.
        Kind::Integer(1, _) => (8, 8, 128),
        Kind::Integer(4, _) => (8, 8, 32),
        Kind::Integer(..) => (8, 8, 16),
    };
    Shape { m, n, k }
}
