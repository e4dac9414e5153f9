//! What the options say of preemption in hardware, and giving it to a machine.

use super::CliError;
use clap::{Args, ValueEnum};
use mias_hw_model::config::{GpuConfig, ResumeOn, SwitchModel};
use mias_lab::choice::Choice;
use mias_lab::experiment::policy::Transition;

/// How TBs leave and come back where the firmware preempts.
#[derive(Debug, Args)]
pub(super) struct PreemptionArgs {
    /// How the context of a TB that is switched out is saved and restored [default: the GPU's, or traffic]
    #[arg(long, value_enum, value_name = "HOW")]
    switch: Option<Switch>,
    /// Where a TB goes on that was switched out [default: the GPU's, or any-sm]
    #[arg(long, value_enum, value_name = "WHERE")]
    resume: Option<Resume>,
    /// Who chooses which TBs leave, and in whose time [default: the GPU's, or firmware]
    #[arg(long, value_enum, value_name = "WHO")]
    selector: Option<Selector>,
}

/// Who chooses which TBs leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Selector {
    /// The microcontroller, as long as its instructions take
    Firmware,
    /// Hardware that chooses the same, as long as the GPU says (`sm.preemption.selector`)
    Hardware,
}

/// How a context is saved and restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It moves through L2 and DRAM
    Traffic,
    /// The TB stands still for its SM's share of DRAM bandwidth, and nothing moves (Shieh 2016)
    Stall,
}

/// Where a TB goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Resume {
    /// The first SM that has room
    AnySm,
    /// The SM that it left
    SameSm,
}

/// Gives `gpu` what a transition and the options take.
pub(super) fn apply(args: &PreemptionArgs, transition: Transition, gpu: &mut GpuConfig) -> Result<(), CliError> {
    if !transition.preempts() {
        let given = [("--switch", args.switch.is_some()), ("--resume", args.resume.is_some()), ("--selector", args.selector.is_some())];
        return match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                let name = transition.name();
                Err(CliError::User(format!(
                    "`{option}` is of TBs that are preempted, and the transition is `{name}`: add `--transition preempt`"
                )))
            }
            None => Ok(()),
        };
    }
    let mut config = gpu.sm.preemption.unwrap_or_default();
    match args.switch {
        Some(Switch::Traffic) => config.switch = SwitchModel::Traffic,
        Some(Switch::Stall) => config.switch = SwitchModel::Stall,
        None => {}
    }
    match args.resume {
        Some(Resume::AnySm) => config.resume = ResumeOn::AnySm,
        Some(Resume::SameSm) => config.resume = ResumeOn::SameSm,
        None => {}
    }
    match args.selector {
        Some(Selector::Firmware) => config.selector = None,
        Some(Selector::Hardware) => config.selector = Some(config.selector.unwrap_or_default()),
        None => {}
    }
    gpu.sm.preemption = Some(config);
    gpu.check().map_err(|error| CliError::User(format!("`--transition {}`: machine `{}`: {error}", transition.name(), gpu.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::config::{PreemptionConfig, SelectorConfig};

    const NONE: PreemptionArgs = PreemptionArgs { switch: None, resume: None, selector: None };

    fn gpu() -> GpuConfig {
        mias_lab::gpus::load("rtx2060").expect("built in")
    }

    #[test]
    fn a_machine_gets_what_is_asked_for_and_keeps_the_rest() {
        let preempt = Transition::find("preempt").expect("known");
        let mut given = gpu();
        assert!(apply(&NONE, preempt, &mut given).is_ok());
        assert_eq!(given.sm.preemption, Some(PreemptionConfig::default()));
        given.sm.preemption = Some(PreemptionConfig { warp_state_bytes: 64, resume: ResumeOn::SameSm, ..PreemptionConfig::default() });
        assert!(apply(&PreemptionArgs { switch: Some(Switch::Stall), ..NONE }, preempt, &mut given).is_ok());
        let both = PreemptionConfig { warp_state_bytes: 64, resume: ResumeOn::SameSm, switch: SwitchModel::Stall, selector: None };
        assert_eq!(given.sm.preemption, Some(both));
        let own = SelectorConfig { tb_cycles: 10, ..SelectorConfig::default() };
        for (asked, had, gets) in [
            (None, Some(own), Some(own)),
            (Some(Selector::Hardware), Some(own), Some(own)),
            (Some(Selector::Hardware), None, Some(SelectorConfig::default())),
            (Some(Selector::Firmware), Some(own), None),
        ] {
            given.sm.preemption = Some(PreemptionConfig { selector: had, ..both });
            assert!(apply(&PreemptionArgs { selector: asked, ..NONE }, preempt, &mut given).is_ok());
            assert_eq!(given.sm.preemption, Some(PreemptionConfig { selector: gets, ..both }));
        }
    }

    #[test]
    fn off_is_off() {
        let mut given = gpu();
        assert!(apply(&NONE, Transition::Ideal, &mut given).is_ok());
        assert_eq!(given, gpu());
        let said =
            apply(&PreemptionArgs { resume: Some(Resume::AnySm), ..NONE }, Transition::Drain, &mut given).expect_err("nobody leaves");
        assert!(
            said.to_string().contains("`--resume` is of TBs that are preempted, and the transition is `drain`: add `--transition preempt`")
        );
    }

    /// Sets of victims have 32 bits.
    #[test]
    fn a_machine_that_cannot_is_named() {
        let mut given = gpu();
        given.sm.tbs = 33;
        let said = apply(&NONE, Transition::find("preempt:flush").expect("known"), &mut given).expect_err("too many TBs").to_string();
        assert!(said.contains("`--transition preempt:flush`: machine `") && said.contains("must be at most 32"), "{said}");
    }
}
