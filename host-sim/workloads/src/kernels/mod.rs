//! Kernels: code, launch, input data, and a check of the results.
//!
//! A [`Kernel`] is described by a TOML file ([`mod@file`]), both for built-in kernels
//! (`mias-kernels`) and for user kernels. A [`Spec`] is a kernel with an input, as the word
//! `mm:256` requests it.
//!
//! [`Spec::prepare`] corresponds to `<kernel>_init` and `_launch` of the thesis' harness (Nasef
//! 2023, section 4.1.3), and [`Instance::check_results`] to `_check_results`. Dropping the
//! [`Prepared`] corresponds to `_uninit`.
//!
//! To add a kernel, add its folder to `kernels/` and its name to the list there. To check its
//! results, add a function to `reference/`.

pub mod argument;
mod bounds;
mod buffer;
pub mod code;
pub mod element;
mod error;
pub mod expression;
pub mod file;
mod fill;
mod given;
mod input;
mod instance;
mod kernel;
mod limit;
mod nvcc;
pub mod place;
mod prepare;
mod prepared;
pub mod ptxas;
mod reference;
mod setting;
mod spec;
mod texture;
mod variable;

pub use error::KernelError;
pub use input::Input;
pub use instance::{Agrees, Expected, Instance, Mismatch, Quality, Region, Results};
pub use kernel::{Kernel, KernelType, Options, Registers};
/// Built-in kernels: the seven of the thesis, the fourteen of Zhao et al. 2018, and others.
pub use mias_kernels::{LIN, OTHER_NAMES, THESIS, ZHAO};
pub use place::{DescriptionError, Place};
pub use prepared::{Prepared, Progress, unwatched};
pub use setting::Setting;
pub use spec::{Spec, SpecError};

use crate::input::suggest;
use mias_warp_trace::KernelTrace;
use std::sync::Arc;

/// Returns the names of the built-in kernels, in list order.
pub fn names() -> impl Iterator<Item = &'static str> {
    mias_kernels::ALL.iter().map(|kernel| kernel.name)
}

/// Finds a built-in kernel by name.
///
/// # Errors
/// [`SpecError`] for an unknown name.
pub fn find(name: &str) -> Result<Arc<Kernel>, SpecError> {
    let unknown = || SpecError(suggest::unknown("kernel", name, &names().collect::<Vec<_>>()));
    let files = mias_kernels::find(name).ok_or_else(unknown)?;
    file::built_in(files).map(Arc::new).map_err(|error| SpecError(error.to_string()))
}

/// Executes all TBs of a kernel of `size`, checks the results against the host's, and returns the
/// warp trace.
///
/// # Errors
/// [`KernelError`].
pub fn trace(kernel: Arc<Kernel>, size: u64, seed: u64) -> Result<KernelTrace, KernelError> {
    Spec::sized(kernel, size, seed).prepare()?.record()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod lin_tests;

#[cfg(test)]
mod memory_intensive_tests;

#[cfg(test)]
mod results_tests;

#[cfg(test)]
mod shieh_tests;

#[cfg(test)]
mod zhao_tests;
