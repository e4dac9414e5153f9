//! A policy chosen at run time, without `dyn`.

use super::{
    Context, Coordinated, FixedConfig, KernelSet, LeftOver, Maestro, Mias, MiasGuard, MiasStp, Objective, Plan, Policy, Smk, Spatial,
    Verdict, WarpedSlicer,
};
use crate::bus::{Bus, read};
use crate::configs::{ConfigTable, MAX_KERNELS, TbVector};
use crate::counters::CounterSet;
use crate::kernel::Kernel;
use crate::machine::{Machine, Settings};
use crate::metric::roofline::Objective as Aim;
use crate::metric::{Factor, Ipc, IpmIpc, Linear, Progress, Score};
use crate::regs::{PolicyCode, global};

/// One of the policies. The tag is a word of its own, so that [`AnyPolicy::IDLE`] is all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AnyPolicy {
    /// Left-over.
    LeftOver(LeftOver),
    /// Spatial.
    Spatial(Spatial),
    /// MIAS deciding by IPC.
    MiasIpc(Mias<Ipc>),
    /// MIAS deciding by IPM*IPC.
    MiasIpmIpc(Mias<IpmIpc>),
    /// MIAS deciding by Factor.
    MiasFactor(Mias<Factor>),
    /// MIAS deciding by Linear.
    MiasLinear(Mias<Linear>),
    /// A given configuration.
    FixedConfig(FixedConfig),
    /// SMK-P.
    Smk(Smk),
    /// Warped-Slicer, in both variants.
    WarpedSlicer(WarpedSlicer),
    /// MIAS deciding by STP, or by what the whole GPU would do.
    MiasStp(MiasStp),
    /// MIAS with guard.
    MiasGuard(MiasGuard),
    /// The better of Spatial and SMK-P, as measured.
    Maestro(Maestro),
    /// Coordinated TB combination.
    Coordinated(Coordinated),
}

impl AnyPolicy {
    /// A policy for a scheduler that has not started.
    pub const IDLE: Self = Self::LeftOver(LeftOver);

    /// The policy of a code. `fixed` is for [`PolicyCode::FixedConfig`] only.
    #[must_use]
    pub fn new(code: PolicyCode, machine: &Machine, settings: &Settings, fixed: TbVector) -> Self {
        let stp = |whole| Self::MiasStp(MiasStp { metric: Progress { whole } });
        match code {
            PolicyCode::LeftOver => Self::LeftOver(LeftOver),
            PolicyCode::Spatial => Self::Spatial(Spatial),
            PolicyCode::MiasIpc => Self::MiasIpc(Mias { metric: Ipc }),
            PolicyCode::MiasIpmIpc => Self::MiasIpmIpc(Mias { metric: IpmIpc }),
            PolicyCode::MiasFactor => Self::MiasFactor(Mias { metric: Factor }),
            PolicyCode::MiasLinear => {
                Self::MiasLinear(Mias { metric: Linear { coefficient: machine.linear_coefficient, literal: settings.literal_linear } })
            }
            PolicyCode::FixedConfig => Self::FixedConfig(FixedConfig { vector: fixed }),
            PolicyCode::Smk => Self::Smk(Smk),
            PolicyCode::WarpedSlicer => Self::WarpedSlicer(WarpedSlicer { objective: Objective::Least }),
            PolicyCode::WarpedSlicerSum => Self::WarpedSlicer(WarpedSlicer { objective: Objective::Sum }),
            PolicyCode::MiasStp => stp(None),
            PolicyCode::MiasGuard => Self::MiasGuard(MiasGuard),
            PolicyCode::Maestro => Self::Maestro(Maestro),
            PolicyCode::Coordinated => Self::Coordinated(Coordinated),
            PolicyCode::MiasRoofline => stp(Some(Aim::Both)),
            PolicyCode::MiasRooflineStp => stp(Some(Aim::Stp)),
        }
    }

    /// The policy that the straps ask for; none if the code is unknown.
    pub fn read(bus: &mut impl Bus, machine: &Machine, settings: &Settings) -> Option<Self> {
        let code = PolicyCode::from_code(read(bus, global::STRAP_POLICY))?;
        let mut fixed = TbVector::default();
        for (kernel, offset) in (global::STRAP_FIXED..).step_by(4).enumerate().take(MAX_KERNELS) {
            fixed.set(kernel, u8::try_from(read(bus, offset)).unwrap_or(u8::MAX));
        }
        Some(Self::new(code, machine, settings, fixed))
    }
}

/// Calls the same operation of whichever policy it is.
macro_rules! each {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            AnyPolicy::LeftOver($policy) => $call,
            AnyPolicy::Spatial($policy) => $call,
            AnyPolicy::MiasIpc($policy) => $call,
            AnyPolicy::MiasIpmIpc($policy) => $call,
            AnyPolicy::MiasFactor($policy) => $call,
            AnyPolicy::MiasLinear($policy) => $call,
            AnyPolicy::FixedConfig($policy) => $call,
            AnyPolicy::Smk($policy) => $call,
            AnyPolicy::WarpedSlicer($policy) => $call,
            AnyPolicy::MiasStp($policy) => $call,
            AnyPolicy::MiasGuard($policy) => $call,
            AnyPolicy::Maestro($policy) => $call,
            AnyPolicy::Coordinated($policy) => $call,
        }
    };
}

impl Policy for AnyPolicy {
    fn update_scheduled_kernels(&self, launched: &[Kernel]) -> KernelSet {
        each!(self, policy => policy.update_scheduled_kernels(launched))
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

    fn follows_drain(&self) -> bool {
        each!(self, policy => policy.follows_drain())
    }
}
