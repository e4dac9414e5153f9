//! What is published of schemes of preemption, where a plan names it: by limit in core cycles and scheme.

use mias_lab::evaluate::blocks::Published;

const MISSED: &str = "sections 4.2 to 4.4: missed";
const OVERHEAD: &str = "sections 4.2 to 4.4: overhead";

/// Share of requests that missed their deadline.
pub(super) fn violations(published: &Published, scheme: &str, limit_cycles: u64) -> Option<f64> {
    published.find(Some(MISSED), &limit_cycles.to_string(), scheme)?.number()
}

/// Instructions lost over what flushing loses.
pub(super) fn overhead(published: &Published, scheme: &str, limit_cycles: u64) -> Option<f64> {
    published.find(Some(OVERHEAD), &limit_cycles.to_string(), scheme)?.number()
}
