//! Builds the images whose register block is at the other end of a serial port, the same that preempt, search and control extra TBs, and one with a comparison inverted;
//! then runs the tests that let them decide in QEMU, beside the GPU model (`host-sim/mias/tests/cosim.rs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::targets::{IMAGES, TARGETS, Target};
use crate::util::{Report, cargo, run, target_dir};

/// The image's binary.
const BINARY: &str = "mias-firmware-remote";
/// What images can do besides, the folder for them in cargo's target directory, where `mias` looks (`host-sim/lab/src/cosim/parts.rs`), and their
/// features: their names are the same.
const PARTS: [(&str, &str, &str); 3] = [
    ("preempts", "preempt", "preempt"),
    ("searches", "search", "preempt,search"),
    ("controls extra TBs and sets levels", "contexts", "preempt,search,contexts,levels"),
];
/// The feature that chooses the worst configuration.
const INVERT: &str = "invert-comparison";
/// Where the tests find the image built with it.
const INVERTED_IMAGE: &str = "MIAS_INVERTED_IMAGE";

/// The images, for `image` to build them beside its own.
pub(crate) fn build(report: &mut Report) -> bool {
    let mut built = true;
    for target in &TARGETS {
        let core = target.board.core;
        built &= report
            .step(&format!("{core} image for co-simulation links: no reachable panic"), || run(&mut image(target, &target_dir(), None)));
        for (does, folder, features) in PARTS {
            built &= report.step(&format!("{core} image for co-simulation that {does} links: no reachable panic"), || {
                run(&mut image(target, &target_dir().join(folder), Some(features)))
            });
        }
    }
    built
}

/// The steps, for `test` to take them into its own report.
pub(crate) fn steps(report: &mut Report) {
    if !build(report) {
        report.blocked("co-simulation", "an image was not built");
        return;
    }
    let folder = target_dir().join("inverted");
    let target = &TARGETS[0];
    let inverted = report.step("the image with a comparison inverted", || run(&mut image(target, &folder, Some(INVERT))));
    if inverted {
        report.step("co-simulation: the images in QEMU decide as the firmware in process does", || {
            run(cargo(["test", "--workspace", "--test", "cosim"]).env(INVERTED_IMAGE, path(target, &folder)))
        });
    }
}

fn image(target: &Target, folder: &Path, feature: Option<&str>) -> Command {
    let mut build = target.build(IMAGES, BINARY, feature);
    build.arg("--target-dir").arg(folder);
    build
}

fn path(target: &Target, folder: &Path) -> PathBuf {
    target.folder(folder).join(BINARY)
}
