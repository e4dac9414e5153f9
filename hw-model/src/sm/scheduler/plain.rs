//! Orders by definition, over a list of warps. Start reading here. [`super::Picker`] does the same
//! with sets of warps as bits of a word; `picks_what_the_list_says` compares both.

use crate::config::WarpSchedulerKind;

/// Warp that can or cannot issue.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainWarp {
    /// Number in the sub-core.
    pub(super) local: u32,
    pub(super) kernel: u8,
    /// Arrival; smaller is older.
    pub(super) age: u32,
    pub(super) issuable: bool,
}

/// Scheduler with the warps that issued last.
pub(super) struct PlainPicker {
    pub(super) kind: WarpSchedulerKind,
    /// Local number and kernel slot of the warps that have issued, oldest first.
    pub(super) issued: Vec<(u32, u8)>,
}

impl PlainPicker {
    /// Warp that issues, if one can.
    pub(super) fn pick(&mut self, warps: &[PlainWarp]) -> Option<u32> {
        let issuable: Vec<PlainWarp> = warps.iter().filter(|warp| warp.issuable).copied().collect();
        let (last, last_kernel) = self.issued.last().copied().unwrap_or((0, 0));
        let picked = match self.kind {
            WarpSchedulerKind::Gto => greedy_then_oldest(&issuable, last),
            // The next number in round-robin order.
            WarpSchedulerKind::Lrr => issuable.iter().copied().min_by_key(|warp| (warp.local + 32 - last - 1) % 32),
            WarpSchedulerKind::KernelLrr => {
                // The next kernel slot with an issuable warp in round-robin order; among its warps
                // GTO.
                let kernel = issuable.iter().map(|warp| warp.kernel).min_by_key(|kernel| (kernel + 8 - last_kernel + 7) % 8)?;
                let its: Vec<PlainWarp> = issuable.iter().filter(|warp| warp.kernel == kernel).copied().collect();
                let last = self.issued.iter().rev().find(|&&(_, of)| of == kernel).map_or(0, |&(local, _)| local);
                greedy_then_oldest(&its, last)
            }
        }?;
        self.issued.push((picked.local, picked.kernel));
        Some(picked.local)
    }
}

/// Warp that issued last if it is in the list, else the oldest.
fn greedy_then_oldest(issuable: &[PlainWarp], last: u32) -> Option<PlainWarp> {
    let greedy = issuable.iter().find(|warp| warp.local == last);
    greedy.or_else(|| issuable.iter().min_by_key(|warp| warp.age)).copied()
}
