//! Placement aids for TBs: on separate SMs, or if the first kernel to be launched needs less shared
//! memory than later ones.
//!
//! The driver sets an SM's shared memory by its first kernel, even if that prefers a larger
//! setting. No kernel with a larger need then joins it (observed on an H100, driver 580.159: `bfs`,
//! then `dxtc`). A holder that takes as much as all TBs of the later kernels is therefore launched
//! before the first. It leaves when the first is in place, and the SM, which is never empty, keeps
//! its setting. If that does not suffice, TBs of the first kernel take as much shared memory as the
//! largest need.

use crate::fit::{self, Need};
use crate::holder::Hold;
use crate::share::Share;

/// TBs, and threads of each, that leave no thread of an SM to others (compute capability 9.0).
const WHOLE_SM: [u32; 2] = [2, 1024];

/// Kind of placement aid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aid {
    /// No aid
    #[default]
    None,
    /// Holders, until the first kernel is in place
    Holder,
    /// More shared memory for TBs of the first kernel
    Padded,
}

impl Aid {
    /// Returns the name in the table; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            Aid::None => "",
            Aid::Holder => "holder",
            Aid::Padded => "padded",
        }
    }
}

/// A placement attempt: an aid, and the number of settings by which shared memory is larger than
/// necessary.
pub type Attempt = (Aid, usize);

/// Returns the attempts until all TBs are in place, for kernels of these needs in this launch
/// order.
pub fn attempts(needs: &[Need], order: &[usize], share: Option<&Share>) -> Vec<Attempt> {
    if share.is_some() {
        return vec![(Aid::Holder, 0), (Aid::Holder, 1), (Aid::None, 0)];
    }
    let most = needs.iter().map(|need| need.shared).max().unwrap_or(0);
    let first_needs_less = order.first().is_some_and(|&first| needs[first].shared < most);
    if first_needs_less {
        vec![(Aid::Holder, 0), (Aid::Padded, 0), (Aid::None, 1)]
    } else {
        vec![(Aid::None, 0), (Aid::None, 1), (Aid::None, 2)]
    }
}

/// Returns the additional bytes of shared memory for each TB of the first kernel.
pub fn padding(aid: Aid, needs: &[Need], order: &[usize]) -> u32 {
    let most = needs.iter().map(|need| need.shared).max().unwrap_or(0);
    match (aid, order.first()) {
        (Aid::Padded, Some(&first)) => most - needs[first].shared,
        _ => 0,
    }
}

/// Returns the holders to launch before the first kernel, with a setting of shared memory in
/// percent; none if unnecessary.
pub fn hold(aid: Aid, needs: &[Need], counts: &[u32], order: &[usize], share: Option<&Share>, carve_out: u32, sms: u32) -> Option<Hold> {
    if aid != Aid::Holder {
        return None;
    }
    let &first = order.first()?;
    if let Some(share) = share {
        let behind = share.behind(first, sms);
        let [tbs, threads] = WHOLE_SM;
        return (!behind.is_empty()).then_some(Hold { sms: behind, tbs, threads, shared: 0, carve_out });
    }
    let others: u32 = order.iter().skip(1).map(|&kernel| fit::shared(&needs[kernel..=kernel], &counts[kernel..=kernel])).sum();
    let shared = others.saturating_sub(fit::SHARED_RESERVED);
    (others > 0).then_some(Hold { sms: 0..sms, tbs: 1, threads: 1, shared, carve_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BFS: Need = Need { threads: 256, registers: 24, shared: 64 };
    const DXTC: Need = Need { threads: 64, registers: 95, shared: 1472 };

    #[test]
    fn who_needs_most_first_needs_no_help() {
        let helped = |order: &[usize]| attempts(&[BFS, DXTC], order, None).iter().any(|(aid, _)| *aid != Aid::None);
        assert_eq!((helped(&[1, 0]), helped(&[0, 1])), (false, true));
        assert!(attempts(&[BFS, BFS], &[1, 0], None).iter().all(|(aid, _)| *aid == Aid::None));
    }

    /// The holder and the first kernel's TBs fit in the requested setting, as do all TBs after the
    /// holder has left.
    #[test]
    fn a_holder_takes_what_the_later_kernels_will_take() {
        for counts in fit::configurations(&[BFS, DXTC], fit::Which::Maximal) {
            let [kib, percent] = fit::carve_out(&[BFS, DXTC], &counts, 0);
            let hold = hold(Aid::Holder, &[BFS, DXTC], &counts, &[0, 1], None, percent, 132).unwrap();
            assert_eq!((hold.sms.clone(), hold.carve_out), (0..132, percent));
            let held = fit::shared(&[Need { threads: 1, registers: 16, shared: hold.shared }], &[1]);
            assert_eq!(held, counts[1] * (1536 + 1024), "what the later kernel's TBs take");
            assert!(held + counts[0] * (128 + 1024) <= kib << 10);
        }
    }

    #[test]
    fn whole_sms_are_held_behind_the_first_kernels() {
        let share = Share::of(&[5, 7], 132);
        let held = hold(Aid::Holder, &[BFS, DXTC], &[8, 10], &[0, 1], Some(&share), 14, 132);
        assert_eq!(held, Some(Hold { sms: 55..132, tbs: 2, threads: 1024, shared: 0, carve_out: 14 }));
        let all = Share::of(&[12], 132);
        assert_eq!(hold(Aid::Holder, &[BFS], &[8], &[0], Some(&all), 7, 132), None);
        assert_eq!(hold(Aid::None, &[BFS, DXTC], &[8, 10], &[0, 1], Some(&share), 14, 132), None);
    }

    #[test]
    fn padded_tbs_take_as_much_as_those_that_need_most() {
        assert_eq!(padding(Aid::Padded, &[BFS, DXTC], &[0, 1]), 1408);
        assert_eq!(padding(Aid::Padded, &[BFS, DXTC], &[1, 0]), 0);
        assert_eq!(padding(Aid::Holder, &[BFS, DXTC], &[0, 1]), 0);
    }
}
