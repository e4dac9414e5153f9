//! The thirteen kernels of Dai et al. 2018 against table 2, by their traces: computations and
//! requests per memory instruction. Their sizes are quick to record and keep the proportions of the
//! default ones.

use super::profile::Profile;
use mias_workloads::kernels::Spec;

/// Line size of the GPU's caches (table 1).
const LINE_BYTES: u32 = 128;

/// Kernels with computations per memory instruction and requests per memory instruction (table 2).
const TABLE_2: [(&str, [f64; 2]); 13] = [
    ("cp:2,columns=6,rows=3", [4.0, 2.0]),
    ("hs:132", [7.0, 3.0]),
    ("dc:16", [5.0, 1.0]),
    ("pf:896,starts=2", [6.0, 2.0]),
    ("bp:64,hidden=128,patterns=2", [6.0, 2.0]),
    ("bs:131072,share=128", [4.0, 1.0]),
    ("st:512,rows=10,planes=6", [4.0, 1.0]),
    ("3m:64", [2.0, 1.0]),
    ("sv:7680", [3.0, 3.0]),
    ("cd:8640", [9.0, 6.0]),
    ("s2:2", [2.0, 2.0]),
    ("ks:512", [3.0, 17.0]),
    ("ax:512", [2.0, 11.0]),
];

/// Computations within 15 %; requests within 10 %, or rounded to the table's whole number.
#[test]
fn what_is_executed_per_memory_instruction_is_table_2() {
    let mut beyond = Vec::new();
    for (word, [computations, requests]) in TABLE_2 {
        let trace = Spec::parse(word).unwrap().prepare().unwrap().record().unwrap_or_else(|error| panic!("{error}"));
        let profile = Profile::of(&trace, LINE_BYTES);
        let found = [profile.compute_per_memory(), profile.requests_per_memory()].map(|rate| rate.expect("it accesses memory"));
        let computes = (found[0] / computations - 1.0).abs() <= 0.15;
        let asks = (found[1] / requests - 1.0).abs() <= 0.1 || (found[1].round() - requests).abs() < 0.5;
        if !computes || !asks {
            beyond.push(format!("{word}: {found:.2?} of {:?}", [computations, requests]));
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
