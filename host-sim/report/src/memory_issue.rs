//! Effects of restricting memory instructions in a run (Dai et al. 2018, section 3; sources.md D123
//! and D139). Only if a GPU, an option or the firmware restricts any.

use mias_hw_model::sm::{IssueClass, IssueSlots, MemoryLimits};
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::table::{grouped, percent};

/// Formats text lines; `kernels` are the columns' names, in launch order.
pub(super) fn text(outcome: &Outcome, kernels: &[&str]) -> String {
    let Some(choices) = outcome.memory_choices.filter(|choices| choices.issues > 0) else { return String::new() };
    let contested = percent(Some(choices.contested as f64 / choices.issues as f64));
    let mut text = format!(
        "memory instructions: {} off-chip, {contested} of them with one of another kernel ready; {} of scheduler cycles held back\n",
        grouped(choices.issues),
        percent(Some(held(&outcome.sms.issue_slots))),
    );
    let limits: Vec<String> =
        outcome.memory_limits.iter().filter_map(|limits| Some(format!("{} {}", kernels.get(limits.slot)?, range(limits)))).collect();
    if !limits.is_empty() {
        text += &format!("limits of memory instructions in flight on an SM at the end: {}\n", limits.join(", "));
    }
    text
}

/// Returns the fraction of scheduler cycles in which warps were ready but not allowed to issue.
fn held(slots: &IssueSlots) -> f64 {
    slots[IssueClass::Held as usize] as f64 / slots.iter().sum::<u64>().max(1) as f64
}

/// Formats the limits of a kernel over the SMs that have TBs of it.
fn range(limits: &MemoryLimits) -> String {
    let any = match limits.unlimited {
        0 => String::new(),
        unlimited if unlimited == limits.sms => return "any number".to_owned(),
        unlimited => format!(", any number on {unlimited} of {} SMs", limits.sms),
    };
    match (limits.lowest, limits.highest) {
        (Some(lowest), Some(highest)) if lowest < highest => format!("{lowest} to {highest}{any}"),
        (Some(limit), _) => format!("{limit}{any}"),
        _ => "any number".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::sm::MemoryChoices;

    #[test]
    fn limits_are_said_as_ranges() {
        let limits = |unlimited, lowest, highest| MemoryLimits { slot: 1, sms: 4, unlimited, lowest, highest };
        assert_eq!(range(&limits(0, Some(3), Some(17))), "3 to 17");
        assert_eq!(range(&limits(0, Some(3), Some(3))), "3");
        assert_eq!(range(&limits(1, Some(3), Some(5))), "3 to 5, any number on 1 of 4 SMs");
        assert_eq!(range(&limits(4, None, None)), "any number");
    }

    #[test]
    fn nothing_is_said_where_nothing_is_held_back() {
        assert_eq!(text(&Outcome::default(), &["a"]), "");
        let mut outcome = Outcome { memory_choices: Some(MemoryChoices { issues: 4, contested: 1 }), ..Outcome::default() };
        outcome.sms.issue_slots[IssueClass::Held as usize] = 1;
        outcome.sms.issue_slots[IssueClass::Issued as usize] = 9;
        let one =
            "memory instructions: 4 off-chip, 25.0 % of them with one of another kernel ready; 10.0 % of scheduler cycles held back\n";
        assert_eq!(text(&outcome, &["a", "b"]), one);
        outcome.memory_limits = vec![MemoryLimits { slot: 1, sms: 1, unlimited: 0, lowest: Some(2), highest: Some(2) }];
        assert_eq!(text(&outcome, &["a", "b"]), format!("{one}limits of memory instructions in flight on an SM at the end: b 2\n"));
    }
}
