//! A run as it is kept on disk: what it is, by which it is found, and what it gave.

mod identity;
mod kept;
mod same;

pub use identity::Identity;
pub use kept::Kept;
pub use same::{canonical, is_first_alone};

/// Version of the files; grows with every change by which an older program reads them wrongly.
pub const FORMAT: u32 = 1;

/// Version of everything that decides what a run gives: the package's, and a fingerprint of the sources of model, firmware and
/// experiments (`build.rs`).
pub const MODEL: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("MIAS_MODEL"));
