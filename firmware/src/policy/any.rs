//! A policy chosen at run time, without `dyn`: what `table.rs` is made with.

/// Declares [`AnyPolicy`]: a variant for each type of policy. The tag is a word of its own, so that [`AnyPolicy::IDLE`] is all zero.
macro_rules! any_policy {
    ($(#[doc = $doc:literal] $(#[cfg($cfg:meta)])? $Kind:ident($Type:ty),)+) => {
        /// One of the policies.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum AnyPolicy {
            $(#[doc = $doc] $(#[cfg($cfg)])? $Kind($Type),)+
        }

        impl super::Policy for AnyPolicy {
            fn update_scheduled_kernels(&self, launched: &[crate::kernel::Kernel]) -> super::KernelSet {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.update_scheduled_kernels(launched),)+
                }
            }

            fn prepare<const C: usize>(&self, context: &super::Context<'_>, table: &mut crate::configs::ConfigTable<C>) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.prepare(context, table),)+
                }
            }

            fn generate_configs<const C: usize>(
                &self,
                context: &super::Context<'_>,
                table: &mut crate::configs::ConfigTable<C>,
            ) -> super::Plan {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.generate_configs(context, table),)+
                }
            }

            fn on_done_profiling<const C: usize>(
                &self,
                context: &super::Context<'_>,
                table: &mut crate::configs::ConfigTable<C>,
            ) -> super::Verdict {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.on_done_profiling(context, table),)+
                }
            }

            fn counters(&self) -> crate::counters::CounterSet {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.counters(),)+
                }
            }

            fn score<const C: usize>(&self, table: &crate::configs::ConfigTable<C>, index: usize) -> Option<crate::metric::Score> {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.score(table, index),)+
                }
            }

            #[cfg(feature = "search")]
            fn searches(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.searches(),)+
                }
            }

            #[cfg(feature = "search")]
            fn limits_warps(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.limits_warps(),)+
                }
            }

            #[cfg(feature = "search")]
            fn search(&self, context: &super::Context<'_>, search: &mut crate::search::Search) -> crate::search::Next {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.search(context, search),)+
                }
            }

            fn follows_drain(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$Kind(policy) => policy.follows_drain(),)+
                }
            }
        }
    };
}

/// Declares [`PolicyCode`] and [`AnyPolicy::new`]: of each code its number, its meaning, and the policy that it stands for.
macro_rules! policy_codes {
    (($machine:ident, $settings:ident, $fixed:ident) $($Code:ident = $number:literal, $meaning:literal: $policy:expr;)+) => {
        /// Policies, in [`crate::regs::global::STRAP_POLICY`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum PolicyCode {
            $(#[doc = $meaning] $Code = $number,)+
        }

        impl PolicyCode {
            /// All policies in the order of their codes.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$Code),+];

            /// The policy of a code.
            #[must_use]
            pub fn from_code(code: u32) -> Option<Self> {
                Self::ALL.into_iter().find(|policy| *policy as u32 == code)
            }

            /// What it stands for, in words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$Code => $meaning,)+
                }
            }

            /// As the register map's fingerprint has it, a line per code: `LeftOver = 0,`.
            pub(crate) const DEFINITIONS: [&'static str; Self::ALL.len()] = [$(concat!(stringify!($Code), " = ", $number, ",")),+];
        }

        impl AnyPolicy {
            /// A policy for a scheduler that has not started.
            pub const IDLE: Self = Self::LeftOver(LeftOver);

            /// The policy of a code. `fixed` is for [`PolicyCode::FixedConfig`] only.
            #[must_use]
            pub fn new(
                code: PolicyCode,
                $machine: &crate::machine::Machine,
                $settings: &crate::machine::Settings,
                $fixed: crate::configs::TbVector,
            ) -> Self {
                match code {
                    $(PolicyCode::$Code => $policy,)+
                }
            }
        }
    };
}

use super::AnyPolicy;
use super::PolicyCode;
use crate::bus::{TryBus, read};
use crate::configs::{MAX_KERNELS, TbVector};
use crate::machine::{Machine, Settings};
use crate::regs::global;

impl PolicyCode {
    /// Whether the policy searches for how many SMs each kernel needs.
    #[must_use]
    pub const fn searches(self) -> bool {
        matches!(
            self,
            Self::CdSearch
                | Self::CdSearchPerformance
                | Self::CdSearchPower
                | Self::GivenShares
                | Self::MaestroSearch
                | Self::CdSearchMaestro
                | Self::FairShare
                | Self::FairShareModel
                | Self::EffectiveBandwidth
                | Self::EffectiveBandwidthFair
                | Self::EffectiveBandwidthHarmonic
                | Self::MiasTrial
        )
    }
}

impl AnyPolicy {
    /// The policy that the straps ask for; none if the code is unknown. One that searches is Spatial in an image that cannot, with a fault
    /// raised.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B, machine: &Machine, settings: &Settings) -> Result<Option<Self>, B::Error> {
        let Some(code) = PolicyCode::from_code(read(bus, global::STRAP_POLICY)?) else { return Ok(None) };
        #[cfg(not(feature = "search"))]
        if code.searches() {
            crate::bus::write(bus, global::FAULT_SET, crate::regs::fault::NO_SEARCH)?;
        }
        let mut fixed = TbVector::default();
        for (kernel, offset) in (global::STRAP_FIXED..).step_by(4).enumerate().take(MAX_KERNELS) {
            fixed.set(kernel, u8::try_from(read(bus, offset)?).unwrap_or(u8::MAX));
        }
        Ok(Some(Self::new(code, machine, settings, fixed)))
    }
}
