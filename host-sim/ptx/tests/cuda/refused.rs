//! What is not run says where and why.

use super::harness::{Device, program, row, text};
use mias_ptx::{Arg, Program};

fn refusal(name: &str) -> String {
    Program::parse(&format!("{name}.ptx"), &text(name), name).unwrap_err().to_string()
}

/// The line of the first text that contains `what`.
fn line(name: &str, what: &str) -> usize {
    text(name).lines().position(|line| line.contains(what)).unwrap() + 1
}

#[test]
fn calls_that_cannot_be_expanded() {
    let call = |name: &str| line(name, "call.uni");
    let (at, found) = (call("recursion"), refusal("recursion"));
    let place: Vec<&str> = found.splitn(3, ':').collect();
    assert!(place[0] == "recursion.ptx" && place[1].parse::<usize>().unwrap() >= at, "{found}");
    assert!(found.ends_with("unsupported recursion (write it as a loop): `_Z3fibi`"), "{found}");
}

#[test]
fn assertions_and_traps_name_the_thread() {
    for (entry, what) in [("asserts", "a failed assertion"), ("traps", "trap")] {
        let kernel = program("asserts", entry);
        let mut device = Device::default();
        let out = device.zeros(4 * 64);
        device.run(&kernel, row(1, 40), &[Arg::U64(out), Arg::I32(40)]).unwrap();
        assert_eq!(device.read_ints(out, 41), (0..40).chain([0]).collect::<Vec<_>>());
        let error = device.run(&kernel, row(1, 40), &[Arg::U64(out), Arg::I32(37)]).unwrap_err().to_string();
        assert!(error.starts_with("asserts.ptx:"), "{error}");
        assert!(error.ends_with(&format!("kernel `{entry}`, TB [0, 0, 0], thread [37, 0, 0]: stopped by {what}")), "{error}");
    }
}
