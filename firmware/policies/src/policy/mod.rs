//! Policies in addition to those of the firmware, one file each, and [`AnyPolicy`], the run-time
//! choice among all of them without `dyn`.

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

use mias_firmware::configs::{ConfigTable, TbVector};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::metric::{Factor, Ipc, IpmIpc, Linear, Score};
#[cfg(feature = "search")]
use mias_firmware::policy::Search;
use mias_firmware::policy::{Context, FixedConfig, KernelSet, LeftOver, Mias, Plan, Policy, Spatial, Strapped, Verdict, read_fixed};
use mias_registers::bus::{TryBus, read};
use mias_registers::{PolicyCode, global};

use crate::extra::Extra;
use crate::metric::Progress;
use crate::metric::roofline::Objective as Aim;

/// Any policy: those of [`mias_firmware::policy::ShippedPolicy`] and of this crate in one
/// enumeration, because a second tag would slow down decisions.
///
/// The tag is a word of its own, so that [`AnyPolicy::IDLE`] is all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[cfg_attr(feature = "search", expect(clippy::large_enum_variant, reason = "nothing is allocated: there is no box"))]
pub enum AnyPolicy {
    /// Left-over policy.
    LeftOver(LeftOver),
    /// Spatial policy.
    Spatial(Spatial),
    /// MIAS by IPC.
    MiasIpc(Mias<Ipc>),
    /// MIAS by IPM*IPC.
    MiasIpmIpc(Mias<IpmIpc>),
    /// MIAS by Factor.
    MiasFactor(Mias<Factor>),
    /// MIAS by Linear.
    MiasLinear(Mias<Linear>),
    /// Configuration given by the straps.
    FixedConfig(FixedConfig),
    /// SMK-P policy.
    Smk(Smk),
    /// Warped-Slicer, in both variants.
    WarpedSlicer(WarpedSlicer),
    /// MIAS by STP, or by the prediction for the whole GPU.
    MiasStp(MiasStp),
    /// MIAS with guard.
    MiasGuard(MiasGuard),
    /// The better of Spatial and SMK-P, by measurement.
    Maestro(Maestro),
    /// Coordinated TB combination.
    Coordinated(Coordinated),
    /// The better choice of MIAS-Roofline and SMK-P, by trials.
    MiasDuel(MiasDuel),
    /// A policy that searches.
    #[cfg(feature = "search")]
    Searching(Searching),
}

/// Evaluates the same expression for every policy.
macro_rules! each {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            Self::LeftOver($policy) => $call,
            Self::Spatial($policy) => $call,
            Self::MiasIpc($policy) => $call,
            Self::MiasIpmIpc($policy) => $call,
            Self::MiasFactor($policy) => $call,
            Self::MiasLinear($policy) => $call,
            Self::FixedConfig($policy) => $call,
            Self::Smk($policy) => $call,
            Self::WarpedSlicer($policy) => $call,
            Self::MiasStp($policy) => $call,
            Self::MiasGuard($policy) => $call,
            Self::Maestro($policy) => $call,
            Self::Coordinated($policy) => $call,
            Self::MiasDuel($policy) => $call,
            #[cfg(feature = "search")]
            Self::Searching($policy) => $call,
        }
    };
}

impl AnyPolicy {
    /// Creates the policy of a code. `fixed` is for [`PolicyCode::FixedConfig`] only.
    #[must_use]
    pub fn new(code: PolicyCode, gpu: &GpuProperties, settings: &Settings, fixed: TbVector) -> Self {
        let mut policy = Self::IDLE;
        policy.become_policy(code, gpu, settings, fixed);
        policy
    }

    /// Becomes the policy of a code. A searching policy becomes Spatial in an image without
    /// searches.
    fn become_policy(&mut self, code: PolicyCode, gpu: &GpuProperties, settings: &Settings, fixed: TbVector) {
        #[cfg(feature = "search")]
        if code.searches() {
            *self = Self::Searching(Searching::new(SearchPolicy::GivenShares(GivenShares)));
            if let Self::Searching(searching) = self {
                decide_by(&mut searching.by, code);
            }
            return;
        }
        let code = if code.searches() { PolicyCode::Spatial } else { code };
        *self = match code {
            PolicyCode::Smk => Self::Smk(Smk),
            PolicyCode::WarpedSlicer => Self::WarpedSlicer(WarpedSlicer { objective: Objective::Least }),
            PolicyCode::WarpedSlicerSum => Self::WarpedSlicer(WarpedSlicer { objective: Objective::Sum }),
            PolicyCode::MiasStp => Self::MiasStp(MiasStp { metric: Progress { whole: None } }),
            PolicyCode::MiasGuard => Self::MiasGuard(MiasGuard),
            PolicyCode::Maestro => Self::Maestro(Maestro),
            PolicyCode::Coordinated => Self::Coordinated(Coordinated),
            PolicyCode::MiasRoofline => Self::MiasStp(MiasStp { metric: Progress { whole: Some(Aim::Both) } }),
            PolicyCode::MiasRooflineStp => Self::MiasStp(MiasStp { metric: Progress { whole: Some(Aim::Stp) } }),
            PolicyCode::MiasDuel => Self::MiasDuel(MiasDuel),
            PolicyCode::Spatial => Self::Spatial(Spatial),
            PolicyCode::MiasIpc => Self::MiasIpc(Mias { metric: Ipc }),
            PolicyCode::MiasIpmIpc => Self::MiasIpmIpc(Mias { metric: IpmIpc }),
            PolicyCode::MiasFactor => Self::MiasFactor(Mias { metric: Factor }),
            PolicyCode::MiasLinear => {
                Self::MiasLinear(Mias { metric: Linear { coefficient: gpu.linear_coefficient, literal: settings.literal_linear } })
            }
            PolicyCode::FixedConfig => Self::FixedConfig(FixedConfig { vector: fixed }),
            // Left-over, and codes of searches, which are handled elsewhere.
            _ => Self::LeftOver(LeftOver),
        };
    }

    /// Returns the additional measurement of the policy.
    #[must_use]
    pub const fn extra(&self) -> Option<Extra> {
        match self {
            Self::MiasStp(policy) => Some(policy.metric.extra()),
            Self::MiasGuard(_) => Some(MiasGuard::EXTRA),
            Self::Coordinated(_) => Some(Coordinated::EXTRA),
            Self::MiasDuel(_) => Some(MiasDuel::EXTRA),
            Self::Maestro(_) => Some(Maestro::EXTRA),
            _ => None,
        }
    }

    /// Returns the search of a searching policy.
    #[cfg(feature = "search")]
    #[must_use]
    pub const fn searching(&self) -> Option<&Searching> {
        if let Self::Searching(searching) = self { Some(searching) } else { None }
    }

    /// Returns the search of a searching policy, to set its parameters and counts.
    #[cfg(feature = "search")]
    #[must_use]
    pub const fn searching_mut(&mut self) -> Option<&mut Searching> {
        if let Self::Searching(searching) = self { Some(searching) } else { None }
    }
}

/// Sets the deciding policy of a search by its code. It works in place, and groups policies by
/// type, so that the image has one copy.
#[cfg(feature = "search")]
fn decide_by(policy: &mut SearchPolicy, code: PolicyCode) {
    use PolicyCode as Code;
    match code {
        Code::CdSearch => *policy = SearchPolicy::CdSearch(CdSearch::new(Mode::Chosen)),
        Code::CdSearchPerformance => *policy = SearchPolicy::CdSearch(CdSearch::new(Mode::Performance)),
        Code::CdSearchPower => *policy = SearchPolicy::CdSearch(CdSearch::new(Mode::Power)),
        Code::MaestroSearch => *policy = SearchPolicy::MaestroSearch(MaestroSearch::new(false)),
        Code::CdSearchMaestro => *policy = SearchPolicy::MaestroSearch(MaestroSearch::new(true)),
        Code::FairShare => *policy = SearchPolicy::FairShare(FairShare::new(Slowdowns::Alone)),
        Code::FairShareModel => *policy = SearchPolicy::FairShare(FairShare::new(Slowdowns::Model)),
        Code::EffectiveBandwidth => *policy = SearchPolicy::EffectiveBandwidth(EffectiveBandwidth::new(EbMetric::Sum)),
        Code::EffectiveBandwidthFair => *policy = SearchPolicy::EffectiveBandwidth(EffectiveBandwidth::new(EbMetric::Ratio)),
        Code::EffectiveBandwidthHarmonic => *policy = SearchPolicy::EffectiveBandwidth(EffectiveBandwidth::new(EbMetric::Harmonic)),
        Code::MiasTrial => *policy = SearchPolicy::MiasTrial(MiasTrial::NEW),
        _ => *policy = SearchPolicy::GivenShares(GivenShares),
    }
}

impl Strapped for AnyPolicy {
    const IDLE: Self = Self::LeftOver(LeftOver);

    /// Reads the straps. A searching policy becomes Spatial in an image without searches, with a
    /// fault raised.
    #[inline(never)]
    fn read<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, settings: &Settings) -> Result<bool, B::Error> {
        let Some(code) = PolicyCode::from_code(read(bus, global::STRAP_POLICY)?) else { return Ok(false) };
        #[cfg(not(feature = "search"))]
        if code.searches() {
            mias_registers::bus::write(bus, global::FAULT_SET, mias_registers::fault::NO_SEARCH)?;
        }
        let fixed = read_fixed(bus)?;
        self.become_policy(code, gpu, settings, fixed);
        Ok(true)
    }
}

impl Policy for AnyPolicy {
    fn update_scheduled_kernels(&self, launched: &[Kernel]) -> KernelSet {
        each!(self, policy => policy.update_scheduled_kernels(launched))
    }

    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        each!(self, policy => policy.prepare(context, table))
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        each!(self, policy => policy.generate_configs(context, table))
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        each!(self, policy => policy.on_done_profiling(context, table))
    }

    fn counters(&self) -> CounterSet {
        each!(self, policy => policy.counters())
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        each!(self, policy => policy.score(table, index))
    }

    fn read_more<B: TryBus, const C: usize>(
        &self,
        table: &mut ConfigTable<C>,
        bus: &mut B,
        reading: &Reading<'_>,
        gpu: &GpuProperties,
    ) -> Result<(), B::Error> {
        match self.extra() {
            Some(extra) => crate::extra::read_extra(table, bus, reading, extra, gpu.dram_sectors),
            None => Ok(()),
        }
    }

    #[cfg(feature = "search")]
    fn search(&self) -> Option<&impl Search> {
        self.searching()
    }

    #[cfg(feature = "search")]
    fn search_mut(&mut self) -> Option<&mut impl Search> {
        self.searching_mut()
    }

    fn follows_drain(&self) -> bool {
        each!(self, policy => policy.follows_drain())
    }
}
