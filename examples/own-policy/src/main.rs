//! `mias` with an additional policy: the program has all commands of `mias`, and accepts
//! [`BusyShare`] by name.

mod busy_share;

use busy_share::BusyShare;
use mias::custom_policy::Custom;
use std::process::ExitCode;

fn main() -> ExitCode {
    mias::cli::run_with(&[Custom::of::<BusyShare>()])
}
