//! Reference `breadth-first-search` for `bfs`: the level of a search with the most nodes. A
//! complete search on the host determines the level and the state before it.

pub(super) mod level;
pub(super) mod start;
mod state;
#[cfg(test)]
mod tests;

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use state::{after, before, unpack, visited, widest};

/// Generated parts: arrays of levels, reached flags and frontier flags in one buffer, and visited
/// flags.
pub(super) const PARTS: &[&str] = &["state", "visited"];

/// Returns the host side of a search from `source` in the kernel's graph; the state changes in the
/// buffer `state`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let graph = inputs.graph.as_ref().ok_or("the reference needs a table [graph]")?;
    let levels = graph.distances(inputs.value("source")? as u32);
    let level = widest(&levels);
    let (state, seen) = (before(&levels, level), visited(&levels, level));
    let host = Host::new(move |filled| {
        let (buffer, count) = (filled.buffer("state")?, levels.len());
        Ok(Expected {
            results: Box::new(move |memory| unpack(memory.words(buffer), count)),
            reference: Box::new(move || unpack(after(&levels, level).into_iter(), count)),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    });
    Ok(host.with("state", state).with("visited", seen))
}
