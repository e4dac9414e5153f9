//! Builds the images whose register block is at the other end of a serial port, the same that
//! preempt, search and control extra TBs, and one with a comparison inverted; then runs the tests
//! that let them decide in QEMU, beside the GPU model (`host-sim/mias/tests/cosim/`).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

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
        for (does, folder, features) in PARTS {
            built &= report.step(&format!("{core} image for co-simulation that {does} links: no reachable panic"), || {
                build_apart(target, folder, features).map(drop)
            });
        }
        built &= report
            .step(&format!("{core} image for co-simulation links: no reachable panic"), || run(&mut target.build(IMAGES, BINARY, None)));
    }
    built
}

/// The steps, for `test` to take them into its own report.
pub(crate) fn steps(report: &mut Report) {
    let mut inverted = None;
    // Before the usual image, which takes its place.
    let inverts = report.step("the image with a comparison inverted", || {
        inverted = Some(build_apart(&TARGETS[0], "inverted", INVERT)?);
        Ok(())
    });
    if !build(report) {
        report.blocked("co-simulation", "an image was not built");
    } else if let (true, Some(inverted)) = (inverts, inverted) {
        report.step("co-simulation: the images in QEMU decide as the firmware in process does", || {
            run(cargo(["test", "--package", "mias", "--test", "cosim"]).env(INVERTED_IMAGE, inverted))
        });
    }
}

/// Builds the image with `features` and puts it into a `folder` of its own, as a target directory
/// would have it: its path. What it is built from stays where all images' is, so that crates are
/// compiled once.
fn build_apart(target: &Target, folder: &str, features: &str) -> Result<PathBuf> {
    run(&mut target.build(IMAGES, BINARY, Some(features)))?;
    let folder = target.folder(&target_dir().join(folder));
    let (from, to) = (target.folder(&target_dir()).join(BINARY), folder.join(BINARY));
    fs::create_dir_all(&folder).and_then(|()| fs::copy(&from, &to)).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(to)
}
