//! The wish to stop: set once, from outside, and looked at by whatever takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that all its clones share.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks to stop. True the first time.
    pub fn request(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether somebody asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
