//! CUDA kernels compiled by nvcc (`tests/data`) and some written by hand, run from their PTX, with
//! results checked against the host; and PTX that is refused.

mod arithmetic;
mod asynchronous;
mod bad;
mod cooperation;
mod harness;
mod located;
mod mathematics;
mod matrices;
mod memory;
mod page;
mod recursion;
mod refused;
mod surfaces;
mod system;
mod tensor;
mod textures;
mod warp_matrices;
mod written;
