//! Run-time choice among the policies of this crate, without `dyn`. The crate `mias-policies` adds
//! all others.

use mias_registers::bus::{TryBus, read};
use mias_registers::{PolicyCode, global};

use super::{Context, FixedConfig, KernelSet, LeftOver, Mias, Plan, Policy, Spatial, Strapped, Verdict};
use crate::configs::{ConfigTable, MAX_KERNELS, TbVector};
use crate::counters::CounterSet;
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::metric::{Factor, Ipc, IpmIpc, Linear, Score};

/// One of this crate's policies. The tag is a word of its own, so that [`ShippedPolicy::IDLE`] is
/// all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ShippedPolicy {
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
    /// Fixed configuration.
    FixedConfig(FixedConfig),
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
        }
    };
}

impl ShippedPolicy {
    /// Returns the policy of a code; none if this crate does not have it. `fixed` is for
    /// [`PolicyCode::FixedConfig`] only.
    #[must_use]
    pub fn new(code: PolicyCode, gpu: &GpuProperties, settings: &Settings, fixed: TbVector) -> Option<Self> {
        Some(match code {
            PolicyCode::LeftOver => Self::LeftOver(LeftOver),
            PolicyCode::Spatial => Self::Spatial(Spatial),
            PolicyCode::MiasIpc => Self::MiasIpc(Mias { metric: Ipc }),
            PolicyCode::MiasIpmIpc => Self::MiasIpmIpc(Mias { metric: IpmIpc }),
            PolicyCode::MiasFactor => Self::MiasFactor(Mias { metric: Factor }),
            PolicyCode::MiasLinear => {
                Self::MiasLinear(Mias { metric: Linear { coefficient: gpu.linear_coefficient, literal: settings.literal_linear } })
            }
            PolicyCode::FixedConfig => Self::FixedConfig(FixedConfig { vector: fixed }),
            _ => return None,
        })
    }
}

/// Reads the configuration of the straps.
///
/// # Errors
/// The bus failed.
pub fn read_fixed<B: TryBus>(bus: &mut B) -> Result<TbVector, B::Error> {
    let mut fixed = TbVector::default();
    for (kernel, offset) in (global::STRAP_FIXED..).step_by(4).enumerate().take(MAX_KERNELS) {
        fixed.set(kernel, u8::try_from(read(bus, offset)?).unwrap_or(u8::MAX));
    }
    Ok(fixed)
}

impl Strapped for ShippedPolicy {
    const IDLE: Self = Self::LeftOver(LeftOver);

    fn read<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, settings: &Settings) -> Result<bool, B::Error> {
        let Some(code) = PolicyCode::from_code(read(bus, global::STRAP_POLICY)?) else { return Ok(false) };
        let Some(policy) = Self::new(code, gpu, settings, read_fixed(bus)?) else { return Ok(false) };
        *self = policy;
        Ok(true)
    }
}

impl Policy for ShippedPolicy {
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

    fn follows_drain(&self) -> bool {
        each!(self, policy => policy.follows_drain())
    }
}
