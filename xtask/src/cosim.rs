//! Builds the images with a register block at the other end of a serial port. They are the default,
//! those with preemption, search or control of extra TBs, and one with an inverted comparison. Then
//! it runs the tests in which they decide in QEMU, with the GPU model on the host
//! (`host-sim/mias/tests/cosim/`).

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::targets::{IMAGES, TARGETS, Target};
use crate::util::{Report, cargo, run, target_dir};

/// Binary of the image.
const BINARY: &str = "mias-firmware-remote";
/// Optional parts of images, their folders in cargo's target directory, where `mias` searches
/// (`host-sim/lab/src/cosim/parts.rs`), and their features. Image names are the same.
const PARTS: [(&str, &str, &str); 3] = [
    ("preempts", "preempt", "preempt"),
    ("searches", "search", "preempt,search"),
    ("controls extra TBs and sets levels", "oversubscription", "preempt,search,oversubscription,levels"),
];
/// Compiler option that makes MIAS choose the worst configuration, to show that only the image
/// decides. It is no feature, so no dependent crate can enable it.
const INVERT: &str = "--cfg=mias_invert_comparison";
/// Environment variable with the path of the inverted image, for the tests.
const INVERTED_IMAGE: &str = "MIAS_INVERTED_IMAGE";

/// Builds the images together with those of `image`.
pub(crate) fn build(report: &mut Report) -> bool {
    let mut built = true;
    for target in &TARGETS {
        let core = target.board.core;
        for (does, folder, features) in PARTS {
            built &= report.step(&format!("{core} image for co-simulation that {does} links: no reachable panic"), || {
                build_apart(target, folder, &mut target.build(IMAGES, BINARY, Some(features))).map(drop)
            });
        }
        built &= report
            .step(&format!("{core} image for co-simulation links: no reachable panic"), || run(&mut target.build(IMAGES, BINARY, None)));
    }
    built
}

/// Adds the steps to the report of `test`.
pub(crate) fn steps(report: &mut Report) {
    let mut inverted = None;
    // Before the default image, which replaces it.
    let inverts = report.step("the image with an inverted comparison", || {
        let target = &TARGETS[0];
        let mut build = target.build(IMAGES, BINARY, None);
        build.args(["--config", &format!("target.{}.rustflags = [\"{INVERT}\"]", target.board.target)]);
        inverted = Some(build_apart(target, "inverted", &mut build)?);
        Ok(())
    });
    if !build(report) {
        report.blocked("co-simulation", "an image was not built");
    } else if let (true, Some(inverted)) = (inverts, inverted) {
        report.step("co-simulation: images in QEMU decide as the in-process firmware", || {
            run(cargo(["test", "--package", "mias", "--test", "cosim"]).env(INVERTED_IMAGE, inverted))
        });
    }
}

/// Builds the image by the command `build`, moves it into a separate `folder` laid out like a
/// target directory, and returns its path. Intermediate files stay in the common folder, so that
/// crates are compiled once.
fn build_apart(target: &Target, folder: &str, build: &mut Command) -> Result<PathBuf> {
    run(build)?;
    let folder = target.folder(&target_dir().join(folder));
    let (from, to) = (target.folder(&target_dir()).join(BINARY), folder.join(BINARY));
    fs::create_dir_all(&folder).and_then(|()| fs::copy(&from, &to)).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(to)
}
