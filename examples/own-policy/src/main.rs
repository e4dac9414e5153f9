//! `mias` with one policy more: everything that `mias` can do, this program can, and it knows [`BusyShare`] by name.

mod busy_share;

use busy_share::BusyShare;
use mias::custom_policy::Custom;
use std::process::ExitCode;

fn main() -> ExitCode {
    mias::cli::run_with(&[Custom::of::<BusyShare>()])
}
