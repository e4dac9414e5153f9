//! Mutated files: the schema must accept every file that is still readable.

use super::files::{Kind, gpu, kernel, own_plan, plan};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// One change of a value.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    /// Removes the value with its key.
    Drop,
    /// Replaces the value.
    Becomes(Value),
    /// Wraps the value in a list.
    Listed,
    /// Renames the value's key.
    Renamed(&'static str),
}

/// Path to a value: keys, and indices of elements.
pub(crate) type Path = Vec<String>;

/// Returns the paths to all values of a file.
pub(crate) fn paths(file: &Table) -> Vec<Path> {
    fn below(value: &Value, path: &Path, all: &mut Vec<Path>) {
        let inner: Vec<(String, &Value)> = match value {
            Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(number, value)| (number.to_string(), value)).collect(),
            _ => Vec::new(),
        };
        for (key, value) in inner {
            let path = [&path[..], &[key]].concat();
            all.push(path.clone());
            below(value, &path, all);
        }
    }
    let mut all = Vec::new();
    below(&Value::Table(file.clone()), &Vec::new(), &mut all);
    all
}

/// Returns the file with one value changed.
pub(crate) fn changed(file: &Table, path: &[String], mutation: &Mutation) -> Table {
    fn change(value: Value, path: &[String], mutation: &Mutation) -> Option<Value> {
        let Some((first, rest)) = path.split_first() else {
            return match mutation {
                Mutation::Drop => None,
                Mutation::Becomes(other) => Some(other.clone()),
                Mutation::Listed => Some(Value::Array(vec![value])),
                Mutation::Renamed(_) => Some(value),
            };
        };
        Some(match value {
            Value::Table(mut table) => {
                let inner = table.remove(first).expect("a key of the file");
                let key = if let (Mutation::Renamed(key), []) = (mutation, rest) { (*key).to_owned() } else { first.clone() };
                table.extend(change(inner, rest, mutation).map(|inner| (key, inner)));
                Value::Table(table)
            }
            Value::Array(mut list) => {
                let at: usize = first.parse().expect("a number");
                let inner = list.remove(at);
                if let Some(inner) = change(inner, rest, mutation) {
                    list.insert(at, inner);
                }
                Value::Array(list)
            }
            _ => panic!("{path:?} leads nowhere"),
        })
    }
    match change(Value::Table(file.clone()), path, mutation) {
        Some(Value::Table(table)) => table,
        other => panic!("{other:?} is no file"),
    }
}

/// Numbers around the ends of ranges.
const NUMBERS: [i64; 30] = [
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    31,
    32,
    33,
    39,
    40,
    57,
    64,
    65,
    100,
    128,
    256,
    257,
    513,
    1_000,
    4_096,
    4_097,
    131_072,
    (1 << 24) + 1,
    u32::MAX as i64,
    1 << 32,
    i64::MAX,
];

/// Words that are valid somewhere, and some that are not.
const WORDS: [&str; 20] = [
    "", "x", "size", "size / 2", "7", "drain", "reversed", "done", "off", "gto", "ipoly", "skip-one", "rtx2060", "thesis", "mm:64",
    "spatial", "u8", "f64", "random", "wrap",
];

/// Keys of some tables.
const KEYS: [&str; 8] = ["unit", "description", "step", "sm.count", "together", "until", "depth", "nothing"];

fn value() -> impl Strategy<Value = Value> {
    let plain = || {
        prop_oneof![
            4 => select(&NUMBERS[..]).prop_map(Value::Integer),
            4 => select(&WORDS[..]).prop_map(Value::from),
            1 => any::<bool>().prop_map(Value::Boolean),
            1 => select(vec![0.5, 2.0]).prop_map(Value::Float),
        ]
    };
    let range = |(from, more, step): (i64, i64, i64)| {
        Value::Table(
            [("from", from), ("to", from + more), ("step", step)].into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
        )
    };
    prop_oneof![
        6 => plain(),
        2 => prop::collection::vec(plain(), 0..3).prop_map(Value::Array),
        1 => (0..5_i64, 0..9_i64, 0..3_i64).prop_map(range),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        2 => Just(Mutation::Drop),
        6 => value().prop_map(Mutation::Becomes),
        1 => Just(Mutation::Listed),
        1 => select(&KEYS[..]).prop_map(Mutation::Renamed),
    ]
}

/// Checks that the schema accepts a readable file, or that the file at least cannot be used.
fn holds(kind: &Kind, file: &Table) -> Result<(), TestCaseError> {
    let fails_later = || kind.uses(file).is_err();
    prop_assert!(kind.takes(file) || kind.reads(file).is_err() || fails_later(), "{}\n{}", kind.complaints(file), file);
    Ok(())
}

/// Tests up to two changes of a file each.
fn mutated(kind: &Kind) {
    let changes = prop::collection::vec((any::<Index>(), mutation()), 1..3);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 500, ..ProptestConfig::default() });
    let case = |(which, changes): (Index, Vec<(Index, Mutation)>)| {
        let mut file = which.get(&kind.files).1.clone();
        for (at, mutation) in changes {
            let paths = paths(&file);
            if !paths.is_empty() {
                let path: &Path = at.get(&paths);
                file = changed(&file, path, &mutation);
            }
        }
        holds(kind, &file)
    };
    runner.run(&(any::<Index>(), changes), case).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn gpus_that_are_read_are_taken() {
    mutated(&gpu());
}

#[test]
fn plans_that_are_read_are_taken() {
    mutated(&plan());
    mutated(&own_plan());
}

#[test]
fn kernels_that_are_read_are_taken() {
    mutated(&kernel());
}

/// Checks that keys that are optional for the reader are optional for the schema: in every other
/// file, from this one on. Of a report's blocks, each kind of key is tested once.
fn may_be_left_out(from: usize) {
    for kind in [gpu(), plan(), kernel()] {
        for (name, file) in kind.files.iter().skip(from).step_by(2) {
            let mut seen = BTreeSet::new();
            for path in paths(file) {
                let words: Path = path.iter().filter(|key| key.parse::<usize>().is_err()).cloned().collect();
                let of_report = words.first().is_some_and(|first| first == "report");
                if seen.insert(words) || !of_report {
                    let less = changed(file, &path, &Mutation::Drop);
                    assert!(kind.takes(&less) || kind.uses(&less).is_err(), "{name} without {path:?}: {}", kind.complaints(&less));
                }
            }
        }
    }
}

/// Keys that may be left out are tested in two halves, which run in parallel.
#[test]
fn what_may_be_left_out_may_be_left_out() {
    may_be_left_out(0);
}

#[test]
fn what_may_be_left_out_of_the_other_files_may_be_left_out() {
    may_be_left_out(1);
}
