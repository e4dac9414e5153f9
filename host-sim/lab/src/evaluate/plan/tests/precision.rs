//! Tests of plans with overrides by `--set`.

use super::*;
use crate::experiment::parameters::{Assignments, PARAMETERS, Parameter};

/// Applies these words to the plan.
fn with_set(plan: &Plan, words: &[&str]) -> Result<Plan, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let known: Vec<&Parameter> = PARAMETERS.iter().collect();
    let mut asked = plan.clone();
    asked.set(&Assignments::parse(&words, &known)?, &words).map_err(|error| error.to_string())?;
    Ok(asked)
}

/// A precision on the command line applies to all settings, and settings that no longer differ are
/// merged.
#[test]
fn a_precision_for_all_leaves_none_of_the_plans_own() {
    let text = SOUND.replacen("[experiment.parameters]\n", "[experiment.parameters]\nprecision = [\"off\", \"1 %\"]\n", 1);
    let (written, plain) = (parse("my.toml", &text).unwrap(), parse("my.toml", SOUND).unwrap());
    let labels = |plan: &Plan| plan.experiments[0].settings.iter().map(|setting| setting.labels.clone()).collect::<Vec<_>>();
    assert_eq!(labels(&written).len(), 2 * labels(&plain).len());
    for (word, precision) in [("precision=2 %", "2 %".parse().ok()), ("precision=off", None)] {
        let asked = with_set(&written, &[word]).unwrap();
        assert_eq!(labels(&asked), labels(&plain));
        assert!(asked.experiments[0].settings.iter().all(|setting| setting.options.precision == precision));
        assert_ne!(asked.text, written.text);
    }
}

/// GPU keys are set alone and together. Names list them, and the error for an invalid one names the
/// experiment.
#[test]
fn keys_of_the_gpu_are_set_in_every_setting() {
    let plain = parse("my.toml", SOUND).unwrap();
    let set = with_set(&plain, &["l1.mshrs=77", "profile-cycles=1234"]).unwrap();
    for setting in &set.experiments[0].settings {
        assert_eq!((setting.gpu.l1.mshrs, setting.sharing.gpu.l1.mshrs, setting.options.profile_cycles), (77, 77, 1_234));
        assert!(setting.gpu_name.ends_with(" l1.mshrs=77"), "{}", setting.gpu_name);
    }
    let message = with_set(&plain, &["sm.count=1"]).unwrap_err();
    assert!(message.contains("spatial needs 2 SMs for 2 kernels"), "{message}");
}
