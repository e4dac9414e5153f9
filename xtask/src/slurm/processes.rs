//! Processes identified by their environment in `/proc` (proc(5)), since Slurm's jobs are not child
//! processes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::util::stdout;

/// Process found in `/proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) parent: u32,
    /// Name of its program, or its own title, such as `slurmstepd: [1.batch]`.
    pub(super) name: String,
}

/// Returns processes whose environment has all of these variables, such as `SLURMD_NODENAME=n1`.
pub(super) fn with_environment(variables: &[String]) -> Vec<Process> {
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|&id| has_all(&fs::read(format!("/proc/{id}/environ")).unwrap_or_default(), variables)).filter_map(process).collect()
}

/// Returns the process with this id, if it exists.
pub(super) fn process(id: u32) -> Option<Process> {
    let folder = Path::new("/proc").join(id.to_string());
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let line = fs::read(folder.join("cmdline")).ok()?;
    let name = String::from_utf8_lossy(line.split(|&byte| byte == 0).next()?).into_owned();
    Some(Process { id, parent: parent(&status)?, name })
}

/// Parses the parent from the text of a process' status.
fn parent(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Returns whether a zero-separated environment has all of these variables.
fn has_all(environment: &[u8], variables: &[String]) -> bool {
    variables.iter().all(|variable| environment.split(|&byte| byte == 0).any(|one| one == variable.as_bytes()))
}

/// Kills processes. One that has ended already is no error.
pub(super) fn kill(processes: &[Process]) -> Result<()> {
    for process in processes {
        let killed = stdout(Command::new("kill").args(["-KILL", &process.id.to_string()]));
        if self::process(process.id).is_some_and(|now| now == *process) {
            killed?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn environments_are_searched_by_whole_variables() {
        let environment = b"A=1\0SLURMD_NODENAME=n10\0B=\0";
        assert!(has_all(environment, &["A=1".into(), "B=".into()]));
        assert!(!has_all(environment, &["SLURMD_NODENAME=n1".into()]), "n10 is another node");
        assert_eq!(parent("Name:\tsleep\nPid:\t7\nPPid:\t12\n"), Some(12));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_found_by_its_environment_and_killed() {
        let value = std::process::id().to_string();
        let mut child = Command::new("cat").env("MIAS_TEST_PROCESS", &value).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Its response shows that its environment is set: `spawn` may return before the new
        // program's is readable.
        child.stdin.as_mut().unwrap().write_all(b"!").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let found = with_environment(&[format!("MIAS_TEST_PROCESS={value}")]);
        assert_eq!(found.iter().map(|process| (process.id, process.parent)).collect::<Vec<_>>(), [(child.id(), std::process::id())]);
        kill(&found).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
