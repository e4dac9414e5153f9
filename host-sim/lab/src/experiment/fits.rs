//! Whether a machine can do what policies ask of it: what the firmware would fall back from without anybody being told.

use super::options::Options;
use super::policy::Policy;
use mias_hw_model::config::GpuConfig;
use mias_registers::PolicyCode;

/// Refuses policies that give every kernel SMs of its own where there are fewer SMs than kernels: the firmware falls back to Left-over.
///
/// # Errors
/// Which policy, what it needs, and what to do.
pub fn check_sms(policies: &[Policy], kernels: usize, gpu: &GpuConfig) -> Result<(), String> {
    let kernels = u32::try_from(kernels).unwrap_or(u32::MAX);
    let had = gpu.sm.count;
    match policies.iter().find(|policy| policy.least_sms(kernels) > had) {
        Some(policy) => Err(format!(
            "{} needs {} SMs for {kernels} kernels, `{}` here has {had}; take fewer kernels, more SMs, or a policy that lets kernels share them",
            policy.name(),
            policy.least_sms(kernels),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Refuses gating that takes longer than SMs have to settle in a step of a search: the firmware leaves SMs empty in its place, which then leak
/// (sources.md D151).
///
/// # Errors
/// Which policy, both times, and what to do.
pub fn check_gating(policies: &[Policy], options: Options, gpu: &GpuConfig) -> Result<(), String> {
    let Some(gating) = &gpu.sm.power_gating else { return Ok(()) };
    let (wake, settles) = (gating.wake_cycles, options.search_cycles);
    match policies.iter().find(|policy| gates(**policy)).filter(|_| wake > settles) {
        Some(policy) => Err(format!(
            "{} gates SMs, which take {wake} cycles to wake (sm.power_gating.wake_cycles of `{}`) and have {settles} to settle in a step; \
             give search-cycles of {wake} or more, or a machine whose SMs wake sooner",
            policy.name(),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Whether a policy's search may end with SMs without power.
fn gates(policy: Policy) -> bool {
    matches!(
        policy.in_firmware().map(|named| named.code),
        Some(PolicyCode::CdSearch | PolicyCode::CdSearchPower | PolicyCode::CdSearchMaestro)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::machine::End;

    #[test]
    fn every_kernel_needs_an_sm_where_none_is_shared() {
        let mut gpu = crate::gpus::load("zhao18").unwrap();
        gpu.sm.count = 2;
        let all = [Policy::LeftOver, Policy::MiasIpc, Policy::Spatial, Policy::CdSearch];
        assert_eq!(check_sms(&all, 2, &gpu), Ok(()));
        assert_eq!(check_sms(&all[..2], 3, &gpu), Ok(()));
        let message = check_sms(&all, 3, &gpu).unwrap_err();
        assert!(message.starts_with("spatial needs 3 SMs for 3 kernels, `zhao18` here has 2; take fewer kernels"), "{message}");
    }

    /// A window of as many cycles is enough; one cycle less is not.
    #[test]
    fn sms_wake_while_a_step_settles() {
        let gpu = crate::gpus::load("zhao18").unwrap();
        let wake = gpu.sm.power_gating.as_ref().unwrap().wake_cycles;
        let settling = |search_cycles| Options { search_cycles, ..Options::new(End::Cycles(1)) };
        assert_eq!(check_gating(&[Policy::CdSearch], settling(wake), &gpu), Ok(()));
        let message = check_gating(&[Policy::Spatial, Policy::CdSearchPower], settling(wake - 1), &gpu).unwrap_err();
        assert!(message.starts_with("cd-search-power gates SMs, which take 1000 cycles to wake"), "{message}");
        assert_eq!(check_gating(&[Policy::FairShare, Policy::CdSearchPerformance], settling(1), &gpu), Ok(()));
    }
}
