//! Detection of values taken over from another GPU: energies per event, and the coefficient of
//! the Linear metric. A copied file includes them; they are recognized by value.

use mias_hw_model::config::EnergyConfig;
use mias_hw_model::config::GpuConfig;

/// GPU with energies, the chip that they were measured for (sources.md D76), and the GPUs
/// with that chip.
const ENERGIES: [(&str, &str, &[&str]); 2] =
    [("rtx2060", "RTX 2060 SUPER", &["rtx2060", "rtx2060-accelsim", "rtx2060-hw"]), ("shieh16", "GTX 480", &["shieh16", "shieh16-lines"])];

/// Returns notes on the origin of this GPU's values, a sentence each. `word` is the name or
/// file that the user gave, and `gpus` are those built in.
pub fn notes(gpu: &GpuConfig, word: &str, gpus: &[GpuConfig]) -> Vec<String> {
    let mut notes: Vec<String> = energy(gpu, gpus).into_iter().collect();
    let scheduler = &gpu.scheduler;
    let same = |other: &&GpuConfig| {
        let other = &other.scheduler;
        (other.linear_coefficient_q16, other.linear_r2_permille) == (scheduler.linear_coefficient_q16, scheduler.linear_r2_permille)
    };
    let fit = format!("`mias gpu fit {word}` fits it");
    if scheduler.linear_r2_permille == 0 {
        notes.push(format!("Linear's coefficient is not fitted for this GPU (linear_r2_permille = 0): {fit}"));
    } else if let Some(owner) = gpus.iter().find(same).filter(|owner| owner.name != gpu.name) {
        notes.push(format!("Linear's coefficient is inherited from `{}`: {fit}", owner.name));
    }
    notes
}

fn energy(gpu: &GpuConfig, gpus: &[GpuConfig]) -> Option<String> {
    let Some(energy) = &gpu.energy else {
        return Some("no energy is reported: [energy] is missing".to_owned());
    };
    let of = |name: &str| gpus.iter().find(|gpu| gpu.name == name)?.energy.as_ref();
    let same = |(name, ..): &&(&str, &str, &[&str])| of(name).is_some_and(|other| per_event(other) == per_event(energy));
    let (_, chip, owners) = ENERGIES.iter().find(same)?;
    (!owners.contains(&gpu.name.as_str())).then(|| format!("energies per event are those of the {chip}, not of this GPU"))
}

/// Returns the energies of events, without background powers, which depend on the number of SMs.
fn per_event(energy: &EnergyConfig) -> EnergyConfig {
    EnergyConfig { constant_uw: 0, sm_active_uw: 0, sm_idle_uw: 0, sm_issue_uw: 0, ..energy.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    fn said(gpu: &GpuConfig) -> String {
        notes(gpu, &gpu.name, &gpus::built_in()).join("\n")
    }

    #[test]
    fn a_gpu_of_its_own_says_nothing() {
        assert_eq!(said(&gpus::load("rtx2060").unwrap()), "");
        assert_eq!(said(&gpus::load("rtx2060-accelsim").unwrap()), "");
    }

    #[test]
    fn what_is_anothers_is_said() {
        let a100 = said(&gpus::load("a100").unwrap());
        assert!(
            a100.contains("energies per event are those of the RTX 2060 SUPER") && a100.contains("`mias gpu fit a100` fits it"),
            "{a100}"
        );
        assert!(said(&gpus::load("zhao18").unwrap()).contains("those of the GTX 480"));
        assert!(!said(&gpus::load("shieh16").unwrap()).contains("energies"));
    }

    #[test]
    fn a_copy_takes_its_numbers_along() {
        let mut copy = GpuConfig { name: "mine".into(), ..gpus::load("rtx2060").unwrap() };
        let of_file = notes(&copy, "machines/my.toml", &gpus::built_in()).join("\n");
        assert!(of_file.contains("Linear's coefficient is inherited from `rtx2060`: `mias gpu fit machines/my.toml` fits it"), "{of_file}");
        copy.scheduler.linear_coefficient_q16 += 1;
        assert!(!said(&copy).contains("Linear") && said(&copy).contains("RTX 2060 SUPER"));
        copy.energy = None;
        assert_eq!(said(&copy), "no energy is reported: [energy] is missing");
    }
}
