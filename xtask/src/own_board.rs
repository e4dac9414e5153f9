//! Example of a custom board, `examples/own-board`: a package outside the workspace, to be copied,
//! and checked against `docs/porting/boards.md`. It is built for a Cortex-M4F and run in QEMU and
//! on the host; both outputs must be those of the page.

use anyhow::{Context, Result, ensure};

use crate::boards::CORTEX_M4F;
use crate::own_policy::check_versions;
use crate::util::{Report, cargo, command, root, run as run_command, stdout, target_dir};

/// Folder of the example, from the workspace root.
const FOLDER: &str = "examples/own-board";

/// Page that explains the example.
const PAGE: &str = "docs/porting/boards.md";

/// Beginning of the program's output on the page.
const OUTPUT: &str = "```text\nidle\n";

/// Timeout of the program in seconds: it takes less than one.
const TIME_OUT: &str = "60";

/// Adds the steps to the report of `ci` or `test`; without the target, only those on the host.
pub(crate) fn steps(report: &mut Report, has_target: bool) {
    let manifest = format!("{FOLDER}/Cargo.toml");
    report.step("the example board", || {
        check_versions(FOLDER)?;
        run_command(&mut cargo(["fmt", "--manifest-path", &manifest, "--check"]))?;
        // Built in the workspace's target folder, which already has the dependencies.
        run_command(cargo(["test", "--locked", "--manifest-path", &manifest, "--target-dir"]).arg(target_dir()))?;
        says_as_shown(&stdout(cargo(["run", "--quiet", "--locked", "--manifest-path", &manifest, "--target-dir"]).arg(target_dir()))?)
    });
    if has_target {
        report.step("the example board, in QEMU", || {
            let build = ["build", "--locked", "--release", "--manifest-path", &manifest, "--target", CORTEX_M4F.target, "--target-dir"];
            run_command(cargo(build).arg(target_dir()))?;
            let mut qemu = command("timeout", [TIME_OUT, CORTEX_M4F.qemu]);
            qemu.args(CORTEX_M4F.options).args(["-nographic", "-monitor", "none", "-serial", "none"]);
            qemu.args(["-semihosting-config", "enable=on,target=native", "-kernel"]);
            says_as_shown(&stdout(qemu.arg(target_dir().join(CORTEX_M4F.target).join("release/own-board")))?)
        });
    } else {
        report.blocked("the example board, in QEMU", "setup failed");
    }
}

/// Checks that the program's output is the one on the page.
fn says_as_shown(output: &str) -> Result<()> {
    let page = std::fs::read_to_string(root().join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let shown = shown(&page).with_context(|| format!("{PAGE} shows no output of the program"))?;
    ensure!(output == shown, "{PAGE} shows\n{shown}the program prints\n{output}");
    Ok(())
}

/// Returns the program's output on the page.
fn shown(page: &str) -> Option<&str> {
    let from = page.find(OUTPUT)? + "```text\n".len();
    let rest = page.get(from..)?;
    rest.get(..rest.find("```")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_what_stands_between_the_fences() {
        assert_eq!(shown("# P\n```text\nother\n```\n```text\nidle\nsteady\n```\nrest\n"), Some("idle\nsteady\n"));
        assert_eq!(shown("# P\n"), None);
    }

    #[test]
    fn the_page_shows_an_output_and_the_examples_packages_are_the_workspaces() {
        let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
        assert!(shown(&page).is_some_and(|output| output.contains("first decision")));
        check_versions(FOLDER).unwrap();
    }
}
