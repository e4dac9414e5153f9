//! Policies beside those of the firmware, one file each, and [`AnyPolicy`] for all of them.

mod any;
#[cfg(feature = "search")]
mod cd_search;
mod coordinated;
#[cfg(feature = "search")]
mod effective_bandwidth;
#[cfg(feature = "search")]
mod fair_share;
#[cfg(feature = "search")]
mod given_shares;
mod maestro;
#[cfg(feature = "search")]
mod maestro_search;
mod mias_duel;
mod mias_guard;
mod mias_stp;
#[cfg(feature = "search")]
mod mias_trial;
#[cfg(feature = "search")]
mod searching;
mod smk;
mod table;
mod warped_slicer;
mod water_fill;

pub use any::AnyPolicy;
#[cfg(feature = "search")]
pub use cd_search::{CdSearch, Mode};
pub use coordinated::Coordinated;
#[cfg(feature = "search")]
pub use effective_bandwidth::{EbMetric, EffectiveBandwidth, LEVELS, MOST_TUNED, Tuning};
#[cfg(feature = "search")]
pub use fair_share::{Alone, FairShare, MOST_SHIFTS, Slowdowns, Step as FairShareStep};
#[cfg(feature = "search")]
pub use given_shares::GivenShares;
pub use maestro::Maestro;
#[cfg(feature = "search")]
pub use maestro_search::{HillClimb, MOST_CLIMBS, MaestroSearch, Step as MaestroStep};
pub use mias_duel::MiasDuel;
pub use mias_guard::MiasGuard;
pub use mias_stp::MiasStp;
#[cfg(feature = "search")]
pub use mias_trial::MiasTrial;
#[cfg(feature = "search")]
pub use searching::{SearchPolicy, Searching, most_windows};
pub use smk::Smk;
pub use table::{Charged, NAMED, Named};
pub use warped_slicer::{Objective, WarpedSlicer};
