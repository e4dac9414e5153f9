//! Conditions of runs: GPU, kernels and options, in captions and above the figures.

use super::super::text::{ending, groups, memory};
use super::thesis;
use mias_lab::evaluate::results::StudyResult;
use mias_lab::table::grouped;

/// Definition of the oracle, for any number of kernels (sources.md D6).
pub(super) const ORACLE: &str = "the best static run over all maximal configurations with TBs of at least two kernels";

/// Returns the differences to the thesis in GPU, window and inputs, for captions of the thesis'
/// figures.
pub(super) fn apart_from_thesis(study: &StudyResult) -> String {
    let mut differs = Vec::new();
    if study.gpu != thesis::GPU {
        differs.push(format!("GPU ({})", study.gpu));
    }
    if study.cycles != Some(thesis::WINDOW_CYCLES) {
        differs.push(format!("window ({})", ending(study)));
    }
    let other_inputs: Vec<&str> = study.kernels.iter().map(|kernel| kernel.name.as_str()).filter(|name| name.contains(':')).collect();
    if !other_inputs.is_empty() {
        differs.push(format!("inputs ({})", other_inputs.join(", ")));
    }
    match differs.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" Differs from the thesis in the {only}."),
        Some((last, others)) => format!(" Differs from the thesis in the {} and {last}.", others.join(", ")),
    }
}

/// Returns GPU and window, for captions.
pub(super) fn briefly(study: &StudyResult) -> String {
    if thesis::is_of(study) {
        return apart_from_thesis(study);
    }
    let setting = but_for(study, &["gpu", "cycles", "precision", "arrive"]);
    format!(" On {}, {}{}.", study.gpu, ending(study), one_of_several(study, ", one", &setting))
}

/// Returns the note that other settings exist, with the values of this one not mentioned yet. A
/// setting's keys are those that vary.
fn one_of_several(study: &StudyResult, one: &str, not_said: &str) -> String {
    match (study.setting.is_empty(), not_said) {
        (true, _) => String::new(),
        (false, "") => format!("{one} of several settings"),
        (false, _) => format!("{one} of several settings: {not_said}"),
    }
}

/// Returns GPU, kernels and options in full.
pub(super) fn fully(study: &StudyResult) -> String {
    let kernels: Vec<&str> = study.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let end = study.cycles.map_or_else(|| "until all kernels have completed".into(), |cycles| format!("{} core cycles", grouped(cycles)));
    let setting = but_for(study, &["gpu", "cycles", "relaunch", "counted", "profile-cycles", "transition", "ipc"]);
    let setting = one_of_several(study, " One", &setting);
    let setting = if setting.is_empty() { setting } else { setting + "." };
    let relaunch = match (&study.counted, study.relaunch) {
        (Some(_), true) => "completed kernels restart, and IPC is that of their first run, or of the window if it has not completed",
        (None, true) => "completed kernels restart",
        (_, false) => "each kernel runs once",
    };
    format!(
        "Kernels {} on {}; every run {end}, launch latency included; {relaunch}; profile {} cycles, transition {}, {} IPC{}. Isolated kernels run for the same time.{setting}",
        kernels.join(", "),
        study.gpu,
        grouped(study.profile_cycles.into()),
        study.transition,
        study.ipc_unit,
        memory(study)
    )
}

/// Returns GPUs, groups, ends and settings of an experiment, each once.
pub(super) fn of_settings(studies: &[&StudyResult]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for study in studies {
        let line = format!("{} on {}, {}", groups(study), study.gpu, ending(study));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let varied: Vec<String> = studies.iter().map(|study| setting(study)).filter(|setting| !setting.is_empty()).collect();
    let settings = if varied.is_empty() { String::new() } else { format!(" Settings: {}.", varied.join("; ")) };
    format!("{}.{settings}", lines.join("; "))
}

/// Returns keys and values of the varied parameters.
pub(super) fn setting(study: &StudyResult) -> String {
    but_for(study, &[])
}

/// Returns the setting without keys that a sentence already mentions.
fn but_for(study: &StudyResult, said: &[&str]) -> String {
    let others = study.setting.iter().filter(|(key, _)| !said.contains(&key.as_str()));
    others.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
}
