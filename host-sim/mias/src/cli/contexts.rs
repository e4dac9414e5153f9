//! What the options say of TBs beyond those that fit, and giving it to a machine.

use super::CliError;
use clap::{Args, ValueEnum};
use mias_hw_model::config::{GpuConfig, OversubscriptionConfig, OversubscriptionController, OversubscriptionMechanism};

/// TBs beyond those that fit an SM.
#[derive(Debug, Args)]
pub(super) struct ContextsArgs {
    /// Whether SMs hold more TBs than fit, with the contexts of those that wait on spare storage [default: as the GPU has it]
    #[arg(long, value_enum, value_name = "MECHANISM")]
    contexts: Option<Contexts>,
    /// Extra TBs that an SM may hold; without it as many as there is room for with virtual, and what the controller finds with the others
    #[arg(long, value_name = "N")]
    extra_tbs: Option<u32>,
    /// Who finds how many, without a number [default: the GPU's, or hardware]
    #[arg(long, value_enum, value_name = "WHO")]
    contexts_controller: Option<Controller>,
}

/// Who finds how many extra TBs an SM may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Controller {
    /// The hardware, at once
    Hardware,
    /// The firmware, from the same counts and in its own time
    Firmware,
}

/// Which contexts are switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Contexts {
    /// None: no more TBs than fit
    None,
    /// Slots of TBs all of whose warps wait for memory (Virtual Thread, Yoon et al. 2016)
    Virtual,
    /// Warps or TBs, whichever context limits (GPUDuet, Lin et al. 2018)
    Duet,
    /// The same, TBs only
    DuetTb,
}

/// Gives `gpu` what the options say.
pub(super) fn apply(args: &ContextsArgs, gpu: &mut GpuConfig) -> Result<(), CliError> {
    let before = gpu.sm.oversubscription;
    match args.contexts {
        Some(Contexts::None) => gpu.sm.oversubscription = None,
        Some(Contexts::Virtual) => give(gpu, OversubscriptionMechanism::Virtual),
        Some(Contexts::Duet) => give(gpu, OversubscriptionMechanism::Duet),
        Some(Contexts::DuetTb) => give(gpu, OversubscriptionMechanism::DuetTb),
        None => {}
    }
    if let Some(extra) = args.extra_tbs {
        let Some(contexts) = &mut gpu.sm.oversubscription else {
            let message = "`--extra-tbs` is of TBs beyond those that fit: add `--contexts duet`, `duet-tb` or `virtual`";
            return Err(CliError::User(message.into()));
        };
        contexts.extra = Some(extra);
    }
    if let Some(controller) = args.contexts_controller {
        let Some(contexts) = &mut gpu.sm.oversubscription else {
            let message = "`--contexts-controller` says who finds the number of extra TBs: add `--contexts duet` or `duet-tb`";
            return Err(CliError::User(message.into()));
        };
        contexts.controller = match controller {
            Controller::Hardware => OversubscriptionController::Hardware,
            Controller::Firmware => OversubscriptionController::Firmware,
        };
    }
    if gpu.sm.oversubscription == before {
        return Ok(());
    }
    gpu.check().map_err(|error| CliError::User(format!("`--contexts`: machine `{}`: {error}", gpu.name)))
}

/// The machine's other settings stay, if it has any.
fn give(gpu: &mut GpuConfig, mechanism: OversubscriptionMechanism) {
    gpu.sm.oversubscription =
        Some(OversubscriptionConfig { mechanism, ..gpu.sm.oversubscription.unwrap_or_else(|| OversubscriptionConfig::of(mechanism)) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(machine: &str, args: ContextsArgs) -> Result<Option<OversubscriptionConfig>, String> {
        let mut gpu = mias_lab::gpus::load(machine).expect("built in");
        match apply(&args, &mut gpu) {
            Ok(()) => Ok(gpu.sm.oversubscription),
            Err(CliError::User(message)) => Err(message),
            Err(_) => Err(String::new()),
        }
    }

    #[test]
    fn a_machine_gets_what_is_asked_for() {
        let args = |contexts, extra_tbs| ContextsArgs { contexts, extra_tbs, contexts_controller: None };
        let duet = OversubscriptionConfig::of(OversubscriptionMechanism::Duet);
        assert_eq!(applied("lin18", args(None, None)), Ok(None));
        assert_eq!(applied("lin18", args(Some(Contexts::Duet), None)), Ok(Some(duet)));
        assert_eq!(applied("lin18", args(Some(Contexts::Duet), Some(3))), Ok(Some(OversubscriptionConfig { extra: Some(3), ..duet })));
        assert_eq!(applied("lin18", args(Some(Contexts::None), None)), Ok(None));
        assert!(applied("lin18", args(None, Some(3))).unwrap_err().contains("add `--contexts duet`"));
        let by = |contexts, extra_tbs, controller| ContextsArgs { contexts_controller: Some(controller), ..args(contexts, extra_tbs) };
        let found = applied("lin18", by(Some(Contexts::Duet), None, Controller::Firmware));
        assert_eq!(found, Ok(Some(OversubscriptionConfig { controller: OversubscriptionController::Firmware, ..duet })));
        assert_eq!(applied("lin18", by(Some(Contexts::Duet), None, Controller::Hardware)), Ok(Some(duet)));
        let refused = |args| applied("lin18", args).unwrap_err();
        assert!(refused(by(None, None, Controller::Firmware)).contains("add `--contexts duet`"));
        for (mechanism, extra) in [(Contexts::Duet, Some(2)), (Contexts::Virtual, None)] {
            let message = refused(by(Some(mechanism), extra, Controller::Firmware));
            assert!(message.contains("sm.contexts.controller") && message.contains("leave it out"), "{message}");
        }
        assert!(applied("rtx2060-accelsim", args(Some(Contexts::Virtual), None)).unwrap_err().contains("give l1.carve_out = []"));
    }
}
