//! The CSV table agrees with the JSON document for any comparison, and its columns are those of the
//! text table.

use super::*;
use mias_lab::experiment::comparison::{KernelResult, Missing, PerObjective};
use mias_lab::experiment::gpu_runner::InPlace;
use mias_lab::experiment::policy::Policy;
use mias_lab::metrics::Metrics;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::{comparison_json, comparison_table};

const NAMES: [&str; 2] = ["mm", "a, \"b\""];

fn options(done: bool, latency: bool) -> Options {
    let end = if done { End::Done } else { End::Cycles(1) };
    Options { latency: if latency { Latency::Worst } else { Latency::Off }, ..Options::new(end) }
}

/// Generates a number as in reports: finite, of any size.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..10.0_f64, -1.0..1.0_f64, any::<f64>().prop_filter("JSON has no others", |value| value.is_finite())]
}

fn per_objective() -> impl Strategy<Value = PerObjective<Option<f64>>> {
    (option::of(number()), option::of(number())).prop_map(|(s, stp)| PerObjective { s, stp })
}

fn result(done: bool, latency: bool) -> impl Strategy<Value = PolicyResult> {
    let chosen =
        (option::of([0..9_u32, 0..9_u32]), option::of([0..9_u32, 0..9_u32]), prop::sample::select(vec![Policy::Spatial, Policy::MiasIpc]));
    let metrics = [option::of(number()), option::of(number()), option::of(number()), option::of(number())];
    let regrets = (per_objective(), per_objective(), option::of(number()));
    let kernels = prop::collection::vec((number(), option::of(number())), NAMES.len());
    (chosen, metrics, regrets, any::<[u64; 5]>(), kernels).prop_map(move |(chosen, metrics, regrets, cycles, kernels)| {
        let ((config, late, policy), [speedup, stp, antt, fairness]) = (chosen, metrics);
        let (decision_regret, end_to_end_regret, share) = regrets;
        PolicyResult {
            // A late configuration is not in effect.
            config: if late.is_some() { None } else { config.map(Vec::from) },
            metrics: Metrics { speedup, stp, antt, fairness },
            decision_regret,
            end_to_end_regret,
            transition_cycles: cycles[0],
            in_place: share.map(|share| InPlace { share, sms_short_of_it: 0 }),
            profile_cycles: cycles[1],
            placement_cycles: latency.then_some(cycles[4]),
            decision_cycles: latency.then_some(cycles[2]),
            makespan_cycles: done.then_some(cycles[3]),
            kernels: kernels
                .into_iter()
                .map(|(ipc, normalized_ipc)| KernelResult { ipc, normalized_ipc, latency: None, thrown_away: None })
                .collect(),
            too_late: late.is_some(),
            late_config: late.map(Vec::from),
            ..PolicyResult::of(policy)
        }
    })
}

fn comparison() -> impl Strategy<Value = (Comparison, Options)> {
    any::<[bool; 2]>().prop_flat_map(|[done, latency]| {
        let results = prop::collection::vec(result(done, latency), 0..4);
        (results, any::<bool>()).prop_map(move |(results, interrupted)| {
            let missing = Missing { policies: if interrupted { vec![Policy::LeftOver] } else { Vec::new() }, configs: Vec::new() };
            let oracle = PerObjective { s: None, stp: None };
            let comparison = Comparison { isolated: Vec::new(), results, s_null: None, sweep: Vec::new(), oracle, missing };
            (comparison, options(done, latency))
        })
    })
}

/// Parses the rows, each as cells by their heading without its unit.
fn read(text: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let name = |heading: &str| heading.rsplit_once(" (").map_or(heading, |(name, _)| name).to_owned();
    reader.records().map(|row| headings.iter().map(name).zip(row.unwrap().iter().map(str::to_owned)).collect()).collect()
}

/// Returns the JSON value for a column of the table; `null` if there is none.
fn of_json(row: &Value, column: &str) -> Value {
    let kernel = |prefix: &str, field: &str| {
        let at = NAMES.iter().position(|name| column.strip_prefix(prefix) == Some(name))?;
        Some(row["kernels"][at][field].clone())
    };
    let config = |config: &Value| {
        let tbs: Vec<String> = config.as_array()?.iter().map(ToString::to_string).collect();
        Some(tbs.join("-"))
    };
    match column {
        "policy" => row["policy"].clone(),
        "config" => match (config(&row["config"]), config(&row["too_late_config"])) {
            (_, Some(late)) => format!("({late})").into(),
            (Some(config), None) => config.into(),
            (None, None) => Value::Null,
        },
        "S" => row["speedup"].clone(),
        "STP" => row["stp"].clone(),
        "ANTT" => row["antt"].clone(),
        "fairness" => row["fairness"].clone(),
        "regret S" => row["regret"]["s"].clone(),
        "regret STP" => row["regret"]["stp"].clone(),
        "e2e S" => row["end_to_end_regret"]["s"].clone(),
        "e2e STP" => row["end_to_end_regret"]["stp"].clone(),
        "in place" => row["in_place"].clone(),
        "transition" => row["transition_cycles"].clone(),
        "profile" => row["profile_cycles"].clone(),
        "placement" => row["placement_cycles"].clone(),
        "decision" => row["decision_cycles"].clone(),
        "makespan" => row["makespan_cycles"].clone(),
        other => kernel("IPC ", "ipc").or_else(|| kernel("norm. ", "normalized_ipc")).unwrap_or_else(|| panic!("column {other}")),
    }
}

/// Returns whether a cell holds the value: the same number to the last bit, the same words, or
/// nothing.
fn holds(cell: &str, value: &Value) -> bool {
    match value {
        Value::Null => cell.is_empty(),
        Value::String(text) => cell == text,
        Value::Number(number) if number.is_u64() => cell.parse().ok() == number.as_u64(),
        Value::Number(number) => cell.parse().ok() == number.as_f64(),
        _ => false,
    }
}

proptest! {
    #[test]
    fn csv_and_json_say_the_same((comparison, options) in comparison()) {
        let gpu = mias_lab::gpus::load("rtx2060").unwrap();
        let json: Value = serde_json::from_str(&comparison_json::render(&comparison, &gpu, &[], options).unwrap()).unwrap();
        let rows = read(&table(&comparison, &NAMES, options).unwrap());
        let (results, missing) = (json["results"].as_array().unwrap(), json["missing"]["policies"].as_array().unwrap());
        prop_assert_eq!(rows.len(), results.len() + missing.len());
        for (row, result) in rows.iter().zip(results) {
            for (column, cell) in row {
                let value = of_json(result, column);
                prop_assert!(holds(cell, &value), "{}: `{}`, JSON has {}", column, cell, value);
            }
        }
        for (row, policy) in rows.iter().skip(results.len()).zip(missing) {
            prop_assert!(holds(&row[0].1, policy) && row[1..].iter().all(|(_, cell)| cell.is_empty()));
        }
    }

    /// CSV and text tables have the same columns in the same order; each except the name has a
    /// unit.
    #[test]
    fn the_columns_are_the_tables((comparison, options) in comparison()) {
        let csv = table(&comparison, &NAMES, options).unwrap();
        let headings = csv::Reader::from_reader(csv.as_bytes()).headers().unwrap().clone();
        prop_assert!(headings.iter().skip(1).all(|heading| heading.contains(" (") && heading.ends_with(')')), "{:?}", headings);
        let names: Vec<&str> = headings.iter().map(|heading| heading.rsplit_once(" (").map_or(heading, |(name, _)| name)).collect();
        prop_assert_eq!(names, comparison_table::headings(&NAMES, options));
    }
}
