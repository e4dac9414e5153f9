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
