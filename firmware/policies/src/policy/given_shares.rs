//! Spatial multitasking with given numbers of SMs: what a search is held against (Zhao et al. 2018, section 7.3; sources.md D152).

use crate::search::{Rest, Search, Searches, Shares};
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// The n-th kernel scheduled has as many SMs as [`crate::search::Parameters::given`] says: at least one of each, and no more than there are.
/// Other numbers than these are not heeded, and the SMs split evenly. SMs that nobody is given lose their power, where the machine has gating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenShares;

impl Searches for GivenShares {
    fn search(&mut self, _: &Context<'_>, search: &mut Search) -> Next {
        let wanted = search.parameters.given.get(..search.shares.kernels()).unwrap_or_default();
        if !wanted.contains(&0)
            && let Some(shares) = Shares::of(search.shares.sms(), wanted)
        {
            search.shares = shares;
            if search.parameters.gates {
                search.shares.set_rest(Rest::Gated);
            }
        }
        search.settle()
    }
}
