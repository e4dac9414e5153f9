//! Spatial multitasking with given numbers of SMs: the reference for searches (Zhao et al. 2018,
//! section 7.3; sources.md D152).

use crate::search::{Rest, Search, Searches, Shares};
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;

/// Gives the n-th scheduled kernel the SMs of [`crate::search::Parameters::given`].
///
/// The numbers must be at least one per kernel, and at most the SMs of the GPU in total.
/// Otherwise the SMs are split evenly. Unassigned SMs are power-gated, if the GPU supports it.
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
