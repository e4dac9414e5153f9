//! Run as stored on disk: its identity, by which it is found, and its results.

mod identity;
mod kept;
mod same;

pub use identity::Identity;
pub use kept::Kept;
pub use same::{canonical, is_first_alone};

/// Version of the files; increases with every change that an older program would misread.
pub const FORMAT: u32 = 1;

/// Version of everything that determines results: the package's version, and a fingerprint of the
/// sources of model, firmware and experiments (`build.rs`).
pub const MODEL: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("MIAS_MODEL"));
