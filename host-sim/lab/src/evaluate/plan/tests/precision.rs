//! Plans whose precision the command line says, whatever they say themselves.

use super::*;

/// What the command line says of precision, all settings have, and those that differed in nothing else are one.
#[test]
fn a_precision_for_all_leaves_none_of_the_plans_own() {
    let text = SOUND.replacen("[experiment.parameters]\n", "[experiment.parameters]\nprecision = [\"off\", \"1 %\"]\n", 1);
    let (written, plain) = (parse("my.toml", &text).unwrap(), parse("my.toml", SOUND).unwrap());
    let labels = |plan: &Plan| plan.experiments[0].settings.iter().map(|setting| setting.labels.clone()).collect::<Vec<_>>();
    assert_eq!(labels(&written).len(), 2 * labels(&plain).len());
    for precision in ["2 %".parse().ok(), None] {
        let mut asked = written.clone();
        asked.set_precision(precision);
        assert_eq!(labels(&asked), labels(&plain));
        assert!(asked.experiments[0].settings.iter().all(|setting| setting.options.precision == precision));
        assert_ne!(asked.text, written.text);
    }
}
