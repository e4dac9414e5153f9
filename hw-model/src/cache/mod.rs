//! Components of the SM's L1 and the L2 slices: a sectored tag array and a table of outstanding
//! misses.
//!
//! Both are independent of queues, ports and time. The order of the calls is the order of the
//! accesses. Every look-up uses a chained index of fixed size that is never iterated, so no hash
//! order can be observed.

mod address_index;
mod awaited;
mod geometry;
mod line;
pub mod mshr;
pub mod set_index;
pub mod tags;
mod ways;

pub use geometry::TagGeometry;
pub use mshr::{Mshr, MshrRoom};
pub use set_index::SetIndexer;
pub use tags::{Evicted, Probe, TagArray};
pub use ways::{KernelWays, Shares, WaysStats};
