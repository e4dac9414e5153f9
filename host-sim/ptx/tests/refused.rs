//! Tests of refused kernels: errors state the location and the cause.

use super::harness::{Device, program, row};
use mias_ptx::Arg;

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
