//! Cancellation: a flag that is set once, and checked by long operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancellation flag shared by all its clones.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests cancellation. Returns true the first time.
    pub fn request(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Returns whether cancellation was requested.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
