//! A made-up folder of which every number follows by hand.

use super::*;

/// One kernel alone and one pair under two policies, exact and known to 1 %: A's interval holds the exact 10, B's (19.0, 0.5) not the exact 20; the pair ends early under both.
fn results(alone_b: &str, smk: &str) -> Results {
    let study = |precision: &str, alone: &str, policies: &str| {
        format!(
            r#"{{"experiment": "e", "setting": [["precision", "x{}"]], {precision} "cycles": 1000, "kernels": [{alone}], "groups": [{{"kernels": ["a", "b"], "policies": [{policies}]}}]}}"#,
            precision.len()
        )
    };
    let exact = study(
        "",
        r#"{"name": "a", "ipc": 10.0}, {"name": "b", "ipc": 20.0}"#,
        r#"{"policy": "smk", "ipc": [5.0, 10.0], "stp": 1.2}, {"policy": "spatial", "ipc": [4.0, 9.0], "stp": 0.9}, {"policy": "sequential", "derived": true, "ipc": [], "stp": 1.0}"#,
    );
    let known = study(
        r#""precision": "1 %","#,
        &format!(r#"{{"name": "a", "ipc": 10.1, "ipc_half_width": 0.2, "simulated_cycles": 500}}, {alone_b}"#),
        &format!(
            r#"{smk}, {{"policy": "spatial", "ipc": [4.0, 9.0], "stp": 1.1, "half_widths": {{"ipc": [0.1, 0.1], "metrics": {{"stp": 0.02}}}}, "simulated_cycles": 700}}, {{"policy": "sequential", "derived": true, "ipc": [], "stp": 1.0}}"#
        ),
    );
    serde_json::from_str(&format!(r#"{{"studies": [{exact}, {known}]}}"#)).unwrap()
}

const WIDE_B: &str = r#"{"name": "b", "ipc": 19.0, "ipc_half_width": 0.5, "simulated_cycles": 800}"#;

fn judged(results: &Results) -> Judged {
    assert!(results.studies[0].is_like(&results.studies[1]));
    Judged::of(&results.studies[1], &results.studies[0]).unwrap()
}

#[test]
fn intervals_errors_orders_and_verdicts_are_counted() {
    // SMK-P was simulated in full and is known to be below Spatial, by more than both reach: in full it is above. Spatial gains for certain, and in full it loses.
    let smk = r#"{"policy": "smk", "ipc": [5.0, 10.0], "stp": 1.0, "half_widths": {"ipc": [0.0, 0.0], "metrics": {"stp": 0.01}}}"#;
    let judged = judged(&results(WIDE_B, smk));
    assert_eq!((judged.runs, judged.in_full), (4, 1));
    assert!((judged.simulated - (0.5 + 0.8 + 1.0 + 0.7)).abs() < 1e-9);
    // a and b alone, and both under Spatial, which are exactly right.
    assert_eq!((judged.intervals, judged.hold), (4, 3));
    assert!((judged.error - (0.01 + 0.05)).abs() < 1e-9 && (judged.largest - 0.05).abs() < 1e-9);
    assert_eq!((judged.orders, judged.wrong_orders), (1, 1));
    assert_eq!((judged.verdicts, judged.wrong_verdicts), (1, 1));
}

#[test]
fn what_the_intervals_do_not_tell_apart_is_not_judged() {
    let smk = r#"{"policy": "smk", "ipc": [5.0, 10.0], "stp": 1.09, "half_widths": {"ipc": [0.1, 0.1], "metrics": {"stp": 0.1}}, "simulated_cycles": 600}"#;
    let judged = judged(&results(WIDE_B, smk));
    assert_eq!((judged.orders, judged.wrong_orders), (0, 0));
    // SMK-P may be on either side of 1; Spatial is not.
    assert_eq!((judged.verdicts, judged.wrong_verdicts), (1, 1));
}

/// A plan may have experiments without a window beside the windows that are judged, as `thesis` has.
#[test]
fn grids_that_run_to_their_end_have_no_window() {
    let text = r#"{"studies": [{"experiment": "makespan", "setting": [], "cycles": null, "kernels": [], "groups": []}]}"#;
    let results: Results = serde_json::from_str(text).unwrap();
    assert!(results.studies[0].cycles.is_none() && results.studies[0].precision.is_none());
}

#[test]
fn half_widths_in_another_form_are_refused() {
    let policy = r#"{"policy": "smk", "ipc": [5.0], "stp": 1.0, "half_widths": {"ipc": [0.1], "stp": 0.1}}"#;
    assert!(serde_json::from_str::<results::Policy>(policy).is_err_and(|error| error.to_string().contains("metrics")));
}

#[test]
fn a_run_that_is_missing_in_full_is_named() {
    let other = WIDE_B.replace(r#""b""#, r#""c""#);
    let smk = r#"{"policy": "smk", "ipc": [5.0, 10.0], "stp": 1.0}"#;
    let results = results(&other, smk);
    let error = Judged::of(&results.studies[1], &results.studies[0]).unwrap_err();
    assert!(error.to_string().contains("c was not run in full"), "{error}");
}
