//! CUDA kernels compiled by nvcc (`tests/data`) and some written by hand, run from their PTX, with results checked against the
//! host; and PTX that is refused.

#[path = "cuda/arithmetic.rs"]
mod arithmetic;
#[path = "cuda/asynchronous.rs"]
mod asynchronous;
#[path = "cuda/bad.rs"]
mod bad;
#[path = "cuda/harness.rs"]
mod harness;
#[path = "cuda/located.rs"]
mod located;
#[path = "cuda/mathematics.rs"]
mod mathematics;
#[path = "cuda/matrices.rs"]
mod matrices;
#[path = "cuda/memory.rs"]
mod memory;
#[path = "cuda/recursion.rs"]
mod recursion;
#[path = "cuda/refused.rs"]
mod refused;
#[path = "cuda/surfaces.rs"]
mod surfaces;
#[path = "cuda/system.rs"]
mod system;
#[path = "cuda/tensor.rs"]
mod tensor;
#[path = "cuda/textures.rs"]
mod textures;
#[path = "cuda/together.rs"]
mod together;
#[path = "cuda/warp_matrices.rs"]
mod warp_matrices;
#[path = "cuda/written.rs"]
mod written;
