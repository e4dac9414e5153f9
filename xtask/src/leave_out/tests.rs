use super::results::Results;
use super::*;

/// A pair with three configurations: S 2, 1.9, 1 and STP 1, 1.25, 1.5. The rule's scores are speedup^2 progress as `predicted`.
fn group(kernels: [&str; 2], predicted: [(f64, f64); 3], chosen: [usize; 2]) -> Group {
    let outcome = [(2.0, 1.0), (1.9, 1.25), (1.0, 1.5)];
    let lost = |at: usize| format!(r#"{{"s": {}, "stp": {}}}"#, 1.0 - outcome[at].0 / 2.0, 1.0 - outcome[at].1 / 1.5);
    let scores = |of: &dyn Fn((f64, f64)) -> f64| {
        let entries: Vec<String> = predicted.iter().enumerate().map(|(at, &both)| format!("[[{at}, 1], {}]", of(both))).collect();
        format!(r#"{{"scores": [{}]}}"#, entries.join(", "))
    };
    let policy =
        |name: &str, regret: String, ranking: String| format!(r#"{{"policy": "{name}", "regret": {regret}, "ranking": {ranking}}}"#);
    let mut policies = METRICS.map(|metric| policy(metric, lost(1), "null".into())).to_vec();
    policies.push(policy(RULE, lost(chosen[0]), scores(&|(speedup, progress)| speedup.powi(2) * progress)));
    policies.push(policy(PROGRESS, lost(chosen[1]), scores(&|(_, progress)| progress)));
    let configurations: Vec<String> = outcome
        .iter()
        .enumerate()
        .map(|(at, (s, stp))| format!(r#"{{"config": [{at}, 1], "speedup": {s}, "stp": {stp}, "more": 0}}"#))
        .collect();
    let text = format!(
        r#"{{"studies": [{{"groups": [{{"kernels": ["{}", "{}"], "configurations": [{}], "policies": [{}]}}]}}]}}"#,
        kernels[0],
        kernels[1],
        configurations.join(", "),
        policies.join(", ")
    );
    let results: Results = serde_json::from_str(&text).unwrap();
    results.studies.into_iter().next().unwrap().groups.into_iter().next().unwrap()
}

/// Predicted as it comes out: S, then STP.
const TRUE: [(f64, f64); 3] = [(2.0, 1.0), (1.9, 1.25), (1.0, 1.5)];

#[test]
fn exponents_weigh_speedup_against_progress() {
    // speedup^2 progress: 4, 4.51, 1.5; speedup progress: 2, 2.375, 1.5.
    let judged = Judged::of(&group(["a", "b"], TRUE, [1, 2])).unwrap();
    let loses = |weight, s, stp| assert!(judged.regret(weight).is_near(Regret { s, stp }), "{weight:?}");
    loses(Weight::Speedup, 0.0, 1.0 / 3.0);
    loses(Weight::Exponent(1.0), 0.05, 1.0 / 6.0);
    loses(Weight::Exponent(0.0), 0.5, 0.0);
    // (2 / 1.9)^n > 1.25 from n = 4.35 on.
    loses(Weight::Exponent(8.0), 0.0, 1.0 / 3.0);
}

#[test]
fn scores_that_do_not_choose_as_the_firmware_did_are_refused() {
    let error = Judged::of(&group(["a", "b"], TRUE, [0, 2])).err().unwrap().to_string();
    assert!(error.starts_with("a + b: mias-roofline lost"), "{error}");
}

#[test]
fn where_the_rules_scored_different_configurations_the_firmwares_choice_stands() {
    let mut group = group(["a", "b"], TRUE, [0, 2]);
    group.forget_score(PROGRESS, 2);
    let judged = Judged::of(&group).unwrap();
    let loses = |weight, s, stp| assert!(judged.regret(weight).is_near(Regret { s, stp }), "{weight:?}");
    assert!(!judged.all_scored);
    loses(Weight::Exponent(2.0), 0.0, 1.0 / 3.0);
    loses(Weight::Exponent(0.0), 0.5, 0.0);
    // Of the first two.
    loses(Weight::Exponent(1.0), 0.05, 1.0 / 6.0);
}

#[test]
fn the_exponent_is_chosen_without_the_kernel_and_judged_with_it() {
    // In the first two every exponent but 8 loses 5 % of S and a sixth of STP, as the metrics do; 8 loses no S and a third of STP.
    let (first, second) = (group(["a", "b"], TRUE, [1, 2]), group(["a", "c"], TRUE, [1, 2]));
    // Where predictions are wrong, every exponent takes what is worst for S.
    let wrong = group(["b", "c"], [(1.0, 1.0), (1.0, 1.0), (2.0, 1.0)], [2, 0]);
    let judged: Vec<Judged> = [first, second, wrong].iter().map(|group| Judged::of(group).unwrap()).collect();
    assert_eq!(tables::choose(judged[..2].iter()), Some((2.0, true)));
    assert_eq!(tables::choose(judged[2..].iter()), Some((2.0, false)));
    let text = tables::left_out(&judged[..2]).unwrap();
    assert!(text.contains("| b | 2 | 5.00 / 16.67 | 5.00 (mias-ipm-ipc) | 16.67 (mias-ipm-ipc) |\n"), "{text}");
    assert!(tables::left_out(&judged).unwrap().contains("| a | 2 \\* | 5.00 / 16.67 |"));
}

#[test]
fn pairs_and_triples_have_columns_of_their_own() {
    let judged = [Judged::of(&group(["a", "b"], TRUE, [1, 2])).unwrap()];
    assert!(tables::exponents(&judged).ends_with("| progress alone | 50.00 / 0.00 | 0.00 / 0.00 | 50.00 / 0.00 |\n"));
}
