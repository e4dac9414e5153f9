//! Running commands, writing files, and a report that collects every failure before it gives a verdict.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The workspace root: the parent of this package.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// `program` with `args`, to be run in the workspace root.
pub(crate) fn command<S: AsRef<OsStr>>(program: impl AsRef<OsStr>, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Writes a file, given relative to the root, as a whole or not at all: beside it first, then in its place. Says so.
pub(crate) fn write_file(file: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Result<()> {
    let path = root().join(&file);
    let whole = || -> std::io::Result<()> {
        let mut new = tempfile::Builder::new();
        // As any other file that is written: less what the process masks.
        #[cfg(unix)]
        new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut new = new.tempfile_in(path.parent().unwrap_or(&path))?;
        new.write_all(text.as_ref())?;
        new.persist(&path)?;
        Ok(())
    };
    whole().with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {}", file.as_ref().display());
    Ok(())
}

/// The cargo that runs this program, with `args`.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args)
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Runs `command` with its output on the terminal; fails if it cannot start or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs `command` to its end and returns what it printed, whether or not it succeeded.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    command.output().with_context(|| format!("cannot start `{}`", shown(command)))
}

/// Standard output of `command`; fails, with its standard error, if it does not succeed.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        bail!("`{}` failed ({}): {}", shown(command), output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed something that is not UTF-8", shown(command)))
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The steps of one task. A failed step does not stop the next one; the verdict comes at the end.
#[derive(Default)]
pub(crate) struct Report {
    steps: Vec<(String, Result<(), String>, u64)>,
}

impl Report {
    /// Runs one step, notes how it ended, and says whether it succeeded.
    pub(crate) fn step(&mut self, name: &str, body: impl FnOnce() -> Result<()>) -> bool {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let outcome = body().map_err(|error| format!("{error:#}"));
        if let Err(error) = &outcome {
            eprintln!("FAILED: {error}");
        }
        let passed = outcome.is_ok();
        self.steps.push((name.to_owned(), outcome, start.elapsed().as_secs()));
        passed
    }

    /// Notes a step that could not run. It counts as a failure: nothing is passed over in silence.
    pub(crate) fn blocked(&mut self, name: &str, reason: &str) {
        self.step(name, || bail!("not run: {reason}"));
    }

    /// Prints the summary; fails if any step did.
    pub(crate) fn finish(self, task: &str) -> Result<()> {
        eprintln!("\n== summary of {task}");
        for (name, outcome, seconds) in &self.steps {
            match outcome {
                Ok(()) => eprintln!("  ok      {name} ({seconds} s)"),
                Err(error) => eprintln!("  FAILED  {name} ({seconds} s)\n{}", indented(error)),
            }
        }
        let failed = self.steps.iter().filter(|(_, outcome, _)| outcome.is_err()).count();
        if failed > 0 {
            bail!("{failed} of {} steps of {task} failed", self.steps.len());
        }
        Ok(())
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("          {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_does_not_stop_the_next_and_fails_the_report() {
        let mut report = Report::default();
        let mut ran = false;
        assert!(!report.step("first", || bail!("broken")));
        assert!(report.step("second", || {
            ran = true;
            Ok(())
        }));
        assert!(ran);
        let error = report.finish("the task").unwrap_err();
        assert_eq!(error.to_string(), "1 of 2 steps of the task failed");
    }

    #[test]
    fn a_step_that_could_not_run_fails_the_report() {
        let mut report = Report::default();
        report.blocked("image", "no target");
        assert!(report.finish("the task").is_err());
    }

    #[test]
    fn a_file_is_replaced_whole_or_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write_file(&file, "one").unwrap();
        write_file(&file, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        assert!(write_file(folder.path().join("none/file"), "three").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_command_that_does_not_succeed_is_an_error_that_names_it() {
        let error = stdout(&mut cargo(["no-such-subcommand"])).unwrap_err();
        assert!(error.to_string().contains("`cargo no-such-subcommand` failed"), "{error}");
    }
}
